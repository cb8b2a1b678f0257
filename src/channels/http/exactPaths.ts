/**
 * A fast path for endpoints of the declared API: a request whose URL is exactly an endpoint's path runs its handler without
 * the router, which costs more than a fifth of a lookup's CPU (docs/adr/0013). The router serves other spellings of a path,
 * such as one with a query, with the same handlers.
 */
import { Context, Effect } from "effect"
import { type HttpServerError, HttpServerRequest, type HttpServerResponse } from "effect/http"
import { CurrentPrincipal } from "../../domain/Principal.ts"
import { Need } from "./admitted.ts"
import { admitting } from "./authenticate.ts"

type Request = HttpServerRequest.HttpServerRequest
type Response = HttpServerResponse.HttpServerResponse

/** Handles a request of an admitted caller, including its body. */
export type RawHandler = (
  request: Request
) => Effect.Effect<Response, HttpServerError.HttpServerError, CurrentPrincipal>

interface Group {
  readonly annotations: Context.Context<never>
  readonly endpoints: Readonly<
    Record<string, { readonly identifier: string; readonly method: string; readonly path: string }>
  >
}

/** Answers requests for exactly the paths of a group, and leaves others to the router. */
export const exactPaths = Effect.fnUntraced(function* (
  { annotations, endpoints }: Group,
  handlers: Readonly<Record<string, RawHandler>>
) {
  const admitted = yield* admitting
  const need = Context.get(annotations, Need)
  const exact = new Map(
    Object.values(endpoints).map(({ identifier, method, path }) => {
      const handle = handlers[identifier]!
      const answer = admitted(
        ({ principal }, request) => Effect.provideService(handle(request), CurrentPrincipal, principal),
        need
      )
      return [path, { method, answer: Effect.interruptible(answer) }]
    })
  )
  return <E, R>(router: Effect.Effect<Response, E, R>) =>
    HttpServerRequest.HttpServerRequest.use(
      (
        request
      ): Effect.Effect<Response, E | HttpServerError.HttpServerError, R | HttpServerRequest.HttpServerRequest> => {
        const endpoint = exact.get(request.url)
        return endpoint?.method === request.method ? endpoint.answer : router
      }
    )
})
