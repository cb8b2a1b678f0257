/**
 * What this process counts and measures, for a Prometheus. It is about everybody on this server, so that no person's
 * credential and no organization's token is good for it: it has a secret of its own, and without one nobody reads it.
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

const off = problem("NotFound", "Metrics aren't served: MAX_METRICS_TOKEN lets a Prometheus read them.")

export const metrics = Effect.gen(function* () {
  const { metricsToken } = yield* Env
  const measures = yield* Effect.serviceOption(Measures)
  const expected = metricsToken === undefined ? undefined : digest(`Bearer ${Redacted.value(metricsToken)}`)
  return (request: HttpServerRequest.HttpServerRequest) =>
    Effect.sync(() => {
      if (expected === undefined || Option.isNone(measures)) return off
      const given = digest(request.headers["authorization"] ?? "")
      return timingSafeEqual(given, expected)
        ? HttpServerResponse.text(measures.value.prometheus(), {
            contentType: "text/plain; version=0.0.4; charset=utf-8"
          })
        : problemOf(NotAuthenticated.error)
    })
})
