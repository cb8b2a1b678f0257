/** A typed client of a Max server. It loads the API declaration and `fetch`, and no code of the server. */
import { Effect, Stream } from "effect"
import { FetchHttpClient, HttpClient, HttpClientRequest } from "effect/http"
import * as HttpApiClient from "effect/http-api/HttpApiClient"
import type { TurnEvent } from "../../wire/TurnEvent.ts"
import { Api } from "./Api.ts"

export type { TurnEvent } from "../../wire/TurnEvent.ts"
export { Api } from "./Api.ts"
export {
  BudgetSpent,
  InvalidInput,
  NoAnswer,
  NotAdmitted,
  NotAuthenticated,
  NotFound,
  NotInScope,
  TooManyCalls,
  Unavailable,
  UnknownName
} from "../../wire/problems.ts"

export interface Connection {
  /** The server's base URL, such as https://max.example.com. */
  readonly url: string
  /** A token from `max token create` or from an identity provider. */
  readonly token: string
}

/** The client as effects; requires an `HttpClient`. Errors are the problems that the endpoint declares. */
export const make = ({ token, url }: Connection) =>
  HttpApiClient.make(Api, {
    baseUrl: url,
    transformClient: HttpClient.mapRequest(HttpClientRequest.bearerToken(token))
  })

type Client = Effect.Success<ReturnType<typeof make>>
type Tools = Client["tools"]

/** A message: text or the handle of a choice, and the conversation to continue. */
export type Said = Parameters<Client["chat"]["say"]>[0]["payload"]

/**
 * The tools and conversations as promises, which reject with the server's problem. A turn is an async iterable of its
 * events. Ending the iteration cancels the turn, unless it has a name (`turn`): `resume` continues listening to a named
 * turn, and `stop` cancels it.
 */
export const connect = (connection: Connection) => {
  const client = make(connection).pipe(Effect.provide(FetchHttpClient.layer))
  const call = <A, E>(use: (client: Client) => Effect.Effect<A, E>): Promise<A> =>
    Effect.runPromise(Effect.flatMap(client, use))
  const listen = <E1, E2>(
    use: (client: Client) => Effect.Effect<Stream.Stream<{ readonly data: TurnEvent }, E1>, E2>
  ): AsyncIterable<TurnEvent> =>
    Stream.toAsyncIterable(Stream.map(Stream.unwrap(Effect.flatMap(client, use)), ({ data }) => data))
  return {
    listEntityTypes: (input: Parameters<Tools["listEntityTypes"]>[0]["payload"] = {}) =>
      call(({ tools }) => tools.listEntityTypes({ payload: input })),
    listColumnsForType: (input: Parameters<Tools["listColumnsForType"]>[0]["payload"]) =>
      call(({ tools }) => tools.listColumnsForType({ payload: input })),
    findEntities: (input: Parameters<Tools["findEntities"]>[0]["payload"]) =>
      call(({ tools }) => tools.findEntities({ payload: input })),
    chat: (said: Said) => listen(({ chat }) => chat.say({ payload: said })),
    /** The events of a named turn after the first `heard` of them. */
    resume: (turn: string, heard = 0) =>
      listen(({ conversations }) => conversations.resume({ params: { turn }, headers: { "last-event-id": heard } })),
    /** Cancels a named turn. A turn that has already finished stays in its conversation. */
    stop: (turn: string) => call(({ conversations }) => conversations.stop({ params: { turn } })),
    conversations: {
      list: (query: Parameters<Client["conversations"]["list"]>[0]["query"] = {}) =>
        call(({ conversations }) => conversations.list({ query })),
      get: (id: string, query: Parameters<Client["conversations"]["get"]>[0]["query"] = {}) =>
        call(({ conversations }) => conversations.get({ params: { id }, query })),
      delete: (id: string) => call(({ conversations }) => conversations.remove({ params: { id } }))
    }
  }
}
