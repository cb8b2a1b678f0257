/** The endpoints of the page /traces: recorded traces of the caller's organization. */
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as OpenApi from "effect/http-api/OpenApi"
import { InvalidInput, NotFound, Unavailable } from "../../wire/problems.ts"
import * as Wire from "../../wire/traces.ts"
import { Admitted, Need } from "./admitted.ts"

export const traces = HttpApiGroup.make("traces")
  .add(
    HttpApiEndpoint.get("list", "/v1/traces", {
      query: Wire.TracesQuery,
      success: Wire.TraceList,
      error: [InvalidInput, Unavailable]
    }).annotate(OpenApi.Summary, "Stored traces, newest first, with a histogram of their durations"),
    HttpApiEndpoint.get("live", "/v1/traces/live", {
      query: Wire.TraceFilter,
      success: Wire.TraceLines,
      error: [InvalidInput, Unavailable]
    }).annotate(OpenApi.Summary, "New traces as they are stored; the stream ends after five minutes, then reconnect"),
    HttpApiEndpoint.get("findings", "/v1/traces/findings", {
      query: Wire.FindingsQuery,
      success: Wire.Findings,
      error: [InvalidInput, Unavailable]
    }).annotate(OpenApi.Summary, "Anomalies in the traces, each with a command that acts on it"),
    HttpApiEndpoint.get("top", "/v1/traces/top", {
      query: Wire.TraceFilter,
      success: Wire.TopSpans,
      error: [InvalidInput, Unavailable]
    }).annotate(OpenApi.Summary, "Spans by name, ordered by self time"),
    HttpApiEndpoint.get("compare", "/v1/traces/compare", {
      query: Wire.ComparisonQuery,
      success: Wire.TraceComparison,
      error: [InvalidInput, NotFound, Unavailable]
    }).annotate(OpenApi.Summary, "Two traces compared span by span, the largest difference first"),
    HttpApiEndpoint.get("get", "/v1/traces/:id", {
      params: { id: Wire.TraceId },
      success: Wire.Trace,
      error: [InvalidInput, NotFound, Unavailable]
    }).annotate(OpenApi.Summary, "A trace by reference or id: its spans, their self time and the critical path")
  )
  .middleware(Admitted)
  .annotate(Need, { scope: "traces", calls: 0 })
  .annotate(OpenApi.Description, "Recorded traces of the caller's organization, for credentials with the scope traces.")
