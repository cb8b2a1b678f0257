/** The endpoints for the model and the phone line: each is one call of `Connections` with the caller's principal. */
import { Effect } from "effect"
import { HttpServerResponse } from "effect/http"
import * as HttpApiBuilder from "effect/http-api/HttpApiBuilder"
import type { OperatorError } from "../../domain/errors.ts"
import type { Principal } from "../../domain/Principal.ts"
import { Connections } from "../../services/administration/Connections.ts"
import type { LineTests, ModelConnection, PhoneLine } from "../../wire/admin/connections.ts"
import { respond } from "./administrator.ts"
import { Api } from "./Api.ts"
import { json } from "./json.ts"
import type { PublicError } from "./problems.ts"

const done = (act: (administrator: Principal) => Effect.Effect<void, PublicError | OperatorError>) =>
  respond((administrator) => Effect.as(act(administrator), HttpServerResponse.empty()))

export const Connecting = HttpApiBuilder.group(
  Api,
  "connections",
  Effect.fnUntraced(function* (handlers) {
    const connections = yield* Connections
    return handlers.handleAll({
      model: () => respond((by) => Effect.map(connections.model(by), (model) => json<ModelConnection>(model))),
      setModel: ({ payload }) => done((by) => connections.setModel(by, payload)),
      setModelKey: ({ payload }) => done((by) => connections.setModelKey(by, payload)),
      removeModelKey: () => done(connections.removeModelKey),
      line: () => respond((by) => Effect.map(connections.line(by), (line) => json<PhoneLine>(line))),
      setLine: ({ payload }) => done((by) => connections.setLine(by, payload)),
      addNumber: ({ payload }) => done((by) => connections.addNumber(by, payload)),
      removeNumber: ({ payload }) => done((by) => connections.removeNumber(by, payload.phone)),
      lineTests: () => respond((by) => Effect.map(connections.lineTests(by), (tests) => json<LineTests>(tests))),
      testLine: ({ payload }) => done((by) => connections.testLine(by, payload.line))
    })
  })
)
