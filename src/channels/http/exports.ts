/** Exports over HTTP: a CSV file, streamed page by page. */
import { Effect, Stream } from "effect"
import { HttpServerResponse } from "effect/http"
import * as HttpApiBuilder from "effect/http-api/HttpApiBuilder"
import { Exports } from "../../services/exports/Exports.ts"
import { Api } from "./Api.ts"
import { CurrentCaller } from "./authenticate.ts"
import { orProblem } from "./problems.ts"

export const Exporting = HttpApiBuilder.group(
  Api,
  "exports",
  Effect.fnUntraced(function* (handlers) {
    const exports = yield* Exports
    return handlers.handleAll({
      export: ({ payload: { filters = [], ...query } }) =>
        orProblem(
          Effect.gen(function* () {
            const { expiresAt } = yield* CurrentCaller
            const { text } = yield* exports.begin({ ...query, filters, expiresAt })
            return HttpServerResponse.stream(Stream.encodeText(text), {
              contentType: "text/csv; charset=utf-8; header=present",
              headers: { "content-disposition": `attachment; filename="${query.entityTypeId}.csv"` }
            })
          })
        )
    })
  })
)
