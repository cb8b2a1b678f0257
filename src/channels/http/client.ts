/** A typed client of a Max server. Loads nothing that the server needs: the interface's declaration and `fetch`. */
import { Effect } from "effect"
import { FetchHttpClient, HttpClient, HttpClientRequest } from "effect/http"
import * as HttpApiClient from "effect/http-api/HttpApiClient"
import { Api } from "./Api.ts"

export { Api } from "./Api.ts"
export {
  InvalidInput,
  NotAdmitted,
  NotAuthenticated,
  NotInScope,
  TooManyCalls,
  Unavailable,
  UnknownName
} from "./problems.ts"

export interface Connection {
  /** Where the server is, such as https://max.example.com. */
  readonly url: string
  /** A token of `max token create` or of an identity provider. */
  readonly token: string
}

/** The client as effects, over an `HttpClient` that is given. Errors are the problems that the endpoint declares. */
export const make = ({ token, url }: Connection) =>
  HttpApiClient.make(Api, {
    baseUrl: url,
    transformClient: HttpClient.mapRequest(HttpClientRequest.bearerToken(token))
  })

type Client = Effect.Success<ReturnType<typeof make>>
type Tools = Client["tools"]

/** The three tools as promises; they reject with the problem that the server answered with. */
export const connect = (connection: Connection) => {
  const client = make(connection).pipe(Effect.provide(FetchHttpClient.layer))
  const call = <A, E>(use: (tools: Tools) => Effect.Effect<A, E>): Promise<A> =>
    Effect.runPromise(Effect.flatMap(client, ({ tools }) => use(tools)))
  return {
    listEntityTypes: () => call((tools) => tools.listEntityTypes({ payload: {} })),
    listColumnsForType: (input: Parameters<Tools["listColumnsForType"]>[0]["payload"]) =>
      call((tools) => tools.listColumnsForType({ payload: input })),
    findEntities: (input: Parameters<Tools["findEntities"]>[0]["payload"]) =>
      call((tools) => tools.findEntities({ payload: input }))
  }
}
