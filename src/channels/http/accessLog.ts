/**
 * The access log: a line for each request with the template of its route in place of the path. It has no query, header or
 * address, and no id of a row.
 */
import { type Context, Effect, References, Stream } from "effect"
import { HttpBody, HttpServerResponse } from "effect/http"

type Response = HttpServerResponse.HttpServerResponse

/** The status of a request whose client disconnected before the response, as in nginx's log. */
const DISCONNECTED = 499

/** Adds the lines to an application's response; a stream's line is logged at its end. */
export const withAccessLog = <R>(
  response: Effect.Effect<Response, never, R>,
  method: string,
  route: string
): Effect.Effect<Response, never, R> =>
  Effect.withFiber(({ context }) => {
    const began = performance.now()
    // In the request's context, so that a stream's line has its trace, too.
    const log = (status: number, bytes: number) =>
      Effect.logInfo("A request").pipe(
        Effect.annotateLogs({ method, route, status, bytes, ms: Math.round((performance.now() - began) * 10) / 10 }),
        Effect.provideService(References.MinimumLogLevel, "Info"),
        Effect.provideContext(context as Context.Context<never>)
      )
    return response.pipe(
      Effect.flatMap((sent) => {
        const { body } = sent
        if (body._tag !== "Stream")
          return Effect.as(log(sent.status, "contentLength" in body ? (body.contentLength ?? 0) : 0), sent)
        let bytes = 0
        const counted = body.stream.pipe(
          Stream.tap((chunk) => Effect.sync(() => void (bytes += chunk.length))),
          Stream.ensuring(Effect.suspend(() => log(sent.status, bytes)))
        )
        return Effect.succeed(
          HttpServerResponse.setBody(sent, HttpBody.stream(counted, body.contentType, body.contentLength))
        )
      }),
      Effect.onInterrupt(() => log(DISCONNECTED, 0))
    )
  })
