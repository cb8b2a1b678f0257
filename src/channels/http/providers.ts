/** The endpoints for identity providers: each is one call of `Providers` with the caller's principal. */
import { Effect } from "effect"
import { HttpServerResponse } from "effect/http"
import * as HttpApiBuilder from "effect/http-api/HttpApiBuilder"
import { Providers } from "../../services/administration/Providers.ts"
import type * as Wire from "../../wire/admin/providers.ts"
import { respond } from "./administrator.ts"
import { Api } from "./Api.ts"
import { json } from "./json.ts"

export const Providing = HttpApiBuilder.group(
  Api,
  "providers",
  Effect.fnUntraced(function* (handlers) {
    const providers = yield* Providers
    return handlers.handleAll({
      providers: () => respond((by) => Effect.map(providers.list(by), (listed) => json<Wire.Providers>(listed))),
      tryToken: ({ payload }) =>
        respond((by) => Effect.map(providers.try(by, payload), (tried) => json<Wire.TriedToken>(tried))),
      tryNewProvider: ({ payload }) =>
        respond((by) => Effect.map(providers.tryNew(by, payload), (tried) => json<Wire.TriedToken>(tried))),
      addProvider: ({ payload }) => respond((by) => Effect.as(providers.add(by, payload), HttpServerResponse.empty())),
      setProviderSecret: ({ payload }) =>
        respond((by) => Effect.as(providers.replaceSecret(by, payload), HttpServerResponse.empty())),
      removeProvider: ({ payload }) =>
        respond((by) => Effect.as(providers.remove(by, payload), HttpServerResponse.empty()))
    })
  })
)
