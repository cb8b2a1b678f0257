/**
 * The metrics of this process for Prometheus. They cover every organization, so the endpoint accepts only a dedicated
 * secret, `MAX_METRICS_TOKEN`, and no person's or organization's credential; without the setting it is off.
 */
import { Effect, Option, Redacted } from "effect"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import { createHash, timingSafeEqual } from "node:crypto"
import { NotAuthenticated } from "../../domain/errors.ts"
import { Env } from "../../env.ts"
import { Measures } from "../../observability/Measures.ts"
import { problem, problemOf } from "./problems.ts"

export const METRICS_ROUTE = { method: "GET", path: "/metrics" } as const

const digest = (text: string) => createHash("sha256").update(text).digest()

const off = problem("NotFound", "Metrics are off: set MAX_METRICS_TOKEN to serve them to Prometheus.")

export const metrics = Effect.gen(function* () {
  const { metricsToken } = yield* Env
  const measures = yield* Effect.serviceOption(Measures)
  const expected = metricsToken === undefined ? undefined : digest(`Bearer ${Redacted.value(metricsToken)}`)
  return (request: HttpServerRequest.HttpServerRequest) =>
    Effect.sync(() => {
      if (expected === undefined || Option.isNone(measures)) return off
      const presented = digest(request.headers["authorization"] ?? "")
      return timingSafeEqual(presented, expected)
        ? HttpServerResponse.text(measures.value.prometheus(), {
            contentType: "text/plain; version=0.0.4; charset=utf-8"
          })
        : problemOf(NotAuthenticated.error)
    })
})
