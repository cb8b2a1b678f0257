/**
 * The interface over HTTP, declared: paths, what they take and answer, and every problem they can come to. Nothing here
 * runs on the server, so that a client can load it. Further parts add their group to `Api` and its handlers in routes.ts.
 */
import { Context, Schema } from "effect"
import * as HttpApi from "effect/http-api/HttpApi"
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as HttpApiMiddleware from "effect/http-api/HttpApiMiddleware"
import * as HttpApiSchema from "effect/http-api/HttpApiSchema"
import * as OpenApi from "effect/http-api/OpenApi"
import type { CurrentPrincipal } from "../../domain/Principal.ts"
import type { Scope } from "../../services/Credentials.ts"
import { MaxToolkit } from "../../tools/Toolkit.ts"
import type { CurrentCaller } from "./authenticate.ts"
import {
  InvalidInput,
  NotAdmitted,
  NotAuthenticated,
  NotInScope,
  TooManyCalls,
  Unavailable,
  UnknownName
} from "./problems.ts"

/** What the endpoints of a group ask of whoever calls: a scope, and whether a call counts against the limits. */
export const Need = Context.Reference<{ readonly scope?: Scope; readonly calls: 0 | 1 }>("max/channels/http/Need", {
  defaultValue: () => ({ calls: 0 })
})

/** Lets in whom the credential of the request lets in, before anything else of the request is read. */
export class Admitted extends HttpApiMiddleware.Service<Admitted, { provides: CurrentPrincipal | CurrentCaller }>()(
  "max/channels/http/Admitted",
  { error: [NotAuthenticated, NotAdmitted, NotInScope, TooManyCalls, Unavailable] }
) {}

const { findEntities, listColumnsForType, listEntityTypes } = MaxToolkit.tools

type Json = Record<string, any>

/** An `Accept` of text/plain gets what a model reads: a table with tabs. */
const orText = OpenApi.annotations({
  transform: (operation: Json) => ({
    ...operation,
    responses: {
      ...operation["responses"],
      200: {
        ...operation["responses"][200],
        content: { ...operation["responses"][200].content, "text/plain": { schema: { type: "string" } } }
      }
    }
  })
})

const tools = HttpApiGroup.make("tools")
  .add(
    HttpApiEndpoint.post("listEntityTypes", "/v1/tools/listEntityTypes", {
      payload: listEntityTypes.parametersSchema,
      success: listEntityTypes.successSchema,
      error: [InvalidInput, Unavailable]
    })
      .annotate(OpenApi.Summary, listEntityTypes.description!)
      .annotateMerge(orText),
    HttpApiEndpoint.post("listColumnsForType", "/v1/tools/listColumnsForType", {
      payload: listColumnsForType.parametersSchema,
      success: listColumnsForType.successSchema,
      error: [InvalidInput, UnknownName, Unavailable]
    })
      .annotate(OpenApi.Summary, listColumnsForType.description!)
      .annotateMerge(orText),
    HttpApiEndpoint.post("findEntities", "/v1/tools/findEntities", {
      payload: findEntities.parametersSchema,
      success: findEntities.successSchema,
      error: [InvalidInput, UnknownName, Unavailable]
    })
      .annotate(OpenApi.Summary, findEntities.description!)
      .annotateMerge(orText)
  )
  .middleware(Admitted)
  .annotate(Need, { scope: "tools", calls: 1 })
  .annotate(OpenApi.Description, "The three tools that a model has, called directly. Each call counts.")

const Whoever = Schema.Struct({
  /** The slug. */
  organization: Schema.String,
  roles: Schema.Array(Schema.String),
  scopes: Schema.Array(Schema.String),
  by: Schema.Literals(["token", "session", "provider"])
})

const session = HttpApiGroup.make("session")
  .add(
    HttpApiEndpoint.get("whoAmI", "/v1/session", { success: Whoever })
      .middleware(Admitted)
      .annotate(OpenApi.Summary, "Who the credential of this request lets in"),
    HttpApiEndpoint.post("signIn", "/v1/session", {
      payload: Schema.Struct({ code: Schema.String.check(Schema.isMaxLength(200)) }),
      success: HttpApiSchema.NoContent,
      error: [InvalidInput, NotAuthenticated, Unavailable]
    }).annotate(OpenApi.Summary, "Turn the code of a sign-in link into a session cookie, once"),
    HttpApiEndpoint.delete("signOut", "/v1/session", { success: HttpApiSchema.NoContent, error: [Unavailable] })
      .middleware(Admitted)
      .annotate(OpenApi.Summary, "End the session of this request's cookie")
  )
  .annotate(OpenApi.Description, "Signing in and out with a browser.")

const Ok = Schema.Struct({ status: Schema.Literal("ok") })

const health = HttpApiGroup.make("health")
  .add(
    HttpApiEndpoint.get("live", "/healthz", { success: Ok }).annotate(OpenApi.Summary, "The process answers"),
    HttpApiEndpoint.get("ready", "/readyz", { success: Ok, error: Unavailable }).annotate(
      OpenApi.Summary,
      "The database answers and has the schema that this Max needs"
    )
  )
  .annotate(OpenApi.Description, "For whatever watches the server. No credential, no limit.")

const security = {
  token: { type: "http", scheme: "bearer", description: "A token of max token create, or of an identity provider." },
  session: { type: "apiKey", in: "cookie", name: "__Host-max", description: "The cookie of a sign-in." }
}

export class Api extends HttpApi.make("max")
  .add(tools)
  .add(session)
  .add(health)
  .annotate(HttpApi.PayloadParseOptions, { onExcessProperty: "error" })
  .annotateMerge(
    OpenApi.annotations({
      title: "Max",
      version: "1",
      description: "Ask about your organization and get what you may see.",
      transform: (specification: Json) => ({
        ...specification,
        components: { ...specification["components"], securitySchemes: security },
        security: Object.keys(security).map((name) => ({ [name]: [] }))
      })
    })
  ) {}
