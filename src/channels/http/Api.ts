/**
 * The HTTP API: paths, parameters, responses and problems of every endpoint. It loads no server code, so that a client
 * can import it. A new part adds its group to `Api` and its handlers in routes.ts.
 */
import * as HttpApi from "effect/http-api/HttpApi"
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as HttpApiSchema from "effect/http-api/HttpApiSchema"
import * as OpenApi from "effect/http-api/OpenApi"
import { MaxToolkit } from "../../tools/Toolkit.ts"
import { Name, NamedTurns, ResumeHeaders, Say, TurnEvents, Welcome } from "../../wire/chat.ts"
import { CsvFile, ExportQuery } from "../../wire/exports.ts"
import { Conversation, ConversationPage, ConversationsQuery, TurnsQuery } from "../../wire/conversations.ts"
import { Intake, TakenIn } from "../../wire/intake.ts"
import { Health } from "../../wire/health.ts"
import { EntityRecord } from "../../wire/lookup.ts"
import {
  BudgetSpent,
  InvalidInput,
  NoAnswer,
  NotAdmitted,
  NotAllowed,
  NotAuthenticated,
  NotFound,
  TooManyCalls,
  Unavailable,
  UnknownName
} from "../../wire/problems.ts"
import { Id } from "../../wire/scalars.ts"
import {
  MailLink,
  NewPasskey,
  Passkey,
  PasskeyAnswer,
  PasskeyOptions,
  Passkeys,
  SignIn,
  SignInWays,
  Session
} from "../../wire/session.ts"
import { SetUp } from "../../wire/setup.ts"
import { admin } from "./AdminApi.ts"
import { Admitted, Need } from "./admitted.ts"
import { changes } from "./ChangesApi.ts"
import { connections } from "./ConnectionsApi.ts"
import { imports } from "./ImportApi.ts"
import { policies } from "./PolicyApi.ts"
import { providers } from "./ProvidersApi.ts"
import { traces } from "./TracesApi.ts"

const { findEntities, listColumnsForType, listEntityTypes } = MaxToolkit.tools

type Json = Record<string, any>

/** With `Accept: text/plain` the response is the text that a model reads: a tab-separated table. */
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
  .annotate(Need, { scope: "tools", calls: 1, reads: true })
  .annotate(OpenApi.Description, "The three lookup tools that a model uses. Each call counts.")

const entities = HttpApiGroup.make("entities")
  .add(
    HttpApiEndpoint.get("get", "/v1/entities/:type/:id", {
      params: { type: Name, id: Id },
      success: EntityRecord,
      error: [InvalidInput, UnknownName, Unavailable]
    }).annotate(OpenApi.Summary, "One entity with all that this person may see of it")
  )
  .middleware(Admitted)
  .annotate(Need, { scope: "tools", calls: 1, reads: true })
  .annotate(OpenApi.Description, "Single entities, for people. Each call counts.")

const exports = HttpApiGroup.make("exports")
  .add(
    HttpApiEndpoint.post("export", "/v1/export", {
      payload: ExportQuery,
      success: CsvFile,
      error: [InvalidInput, UnknownName, Unavailable]
    }).annotate(OpenApi.Summary, "All entities of a type that match and that the caller may see, as a CSV file")
  )
  .middleware(Admitted)
  .annotate(Need, { scope: "export", calls: 1 })
  .annotate(OpenApi.Description, "What the caller may see as a file: at most 10,000 rows, ten files an hour.")

const chat = HttpApiGroup.make("chat")
  .add(
    HttpApiEndpoint.post("say", "/v1/chat", {
      payload: Say,
      success: TurnEvents,
      error: [InvalidInput, BudgetSpent, NoAnswer, Unavailable]
    }).annotate(OpenApi.Summary, "Ask a question and stream the answer"),
    HttpApiEndpoint.get("welcome", "/v1/welcome", { success: Welcome, error: [InvalidInput, Unavailable] }).annotate(
      OpenApi.Summary,
      "Example questions for this person"
    )
  )
  .middleware(Admitted)
  .annotate(Need, { scope: "chat", calls: 1 })
  .annotate(OpenApi.Description, "Talking with Max. Each turn counts as a call.")

const intake = HttpApiGroup.make("intake")
  .add(
    HttpApiEndpoint.post("take", "/v1/intake", {
      payload: Intake,
      success: TakenIn,
      error: [InvalidInput, BudgetSpent, NoAnswer, Unavailable]
    }).annotate(
      OpenApi.Summary,
      "Hand in a ticket or an e-mail: it is answered once, and its changes wait for approval"
    )
  )
  .middleware(Admitted)
  .annotate(Need, { scope: "changes", calls: 1 })
  .annotate(
    OpenApi.Description,
    "Messages of other systems. The integration's member proposes, and another member approves; the author is neither."
  )

const conversations = HttpApiGroup.make("conversations")
  .add(
    HttpApiEndpoint.get("resume", "/v1/chat/:turn", {
      params: { turn: Name },
      headers: ResumeHeaders,
      success: TurnEvents,
      error: [InvalidInput, NotFound, NoAnswer, Unavailable]
    }).annotate(OpenApi.Summary, "Resume the events of a named turn after the last one received"),
    HttpApiEndpoint.delete("stop", "/v1/chat/:turn", {
      params: { turn: Name },
      success: HttpApiSchema.NoContent,
      error: [InvalidInput, NotFound, Unavailable]
    }).annotate(OpenApi.Summary, "Stop a named turn and cancel its model call"),
    HttpApiEndpoint.get("held", "/v1/chat", { success: NamedTurns }).annotate(
      OpenApi.Summary,
      "The person's named turns that can be resumed, from any device"
    ),
    HttpApiEndpoint.get("list", "/v1/conversations", {
      query: ConversationsQuery,
      success: ConversationPage,
      error: [InvalidInput, Unavailable]
    }).annotate(OpenApi.Summary, "The person's own conversations, latest first, 100 per page"),
    HttpApiEndpoint.get("get", "/v1/conversations/:id", {
      params: { id: Name },
      query: TurnsQuery,
      success: Conversation,
      error: [InvalidInput, NotFound, Unavailable]
    }).annotate(OpenApi.Summary, "The latest turns of a conversation, oldest first, 100 per page"),
    HttpApiEndpoint.delete("remove", "/v1/conversations/:id", {
      params: { id: Name },
      success: HttpApiSchema.NoContent,
      error: [InvalidInput, NotFound, Unavailable]
    }).annotate(OpenApi.Summary, "Delete a conversation")
  )
  .middleware(Admitted)
  .annotate(Need, { scope: "chat", calls: 0 })
  .annotate(OpenApi.Description, "Stored conversations; each person reaches only their own.")

const session = HttpApiGroup.make("session")
  .add(
    HttpApiEndpoint.get("whoAmI", "/v1/session", { success: Session })
      .middleware(Admitted)
      .annotate(OpenApi.Summary, "The organization, roles and scopes of this request's credential"),
    HttpApiEndpoint.post("signIn", "/v1/session", {
      payload: SignIn,
      success: HttpApiSchema.NoContent,
      error: [InvalidInput, NotAuthenticated, TooManyCalls, Unavailable]
    }).annotate(OpenApi.Summary, "Exchange the one-time code of a sign-in link for a session cookie"),
    HttpApiEndpoint.get("ways", "/v1/session/ways", { success: SignInWays }).annotate(
      OpenApi.Summary,
      "Whether the sign-in page offers links by mail"
    ),
    HttpApiEndpoint.post("mailLink", "/v1/session/mail", {
      payload: MailLink,
      success: HttpApiSchema.NoContent,
      error: [InvalidInput, TooManyCalls]
    }).annotate(
      OpenApi.Summary,
      "Mail a sign-in link to this address, if it is a member's; the answer is always the same"
    ),
    HttpApiEndpoint.post("beginPasskey", "/v1/session/passkey/begin", {
      success: PasskeyOptions,
      error: [NotAllowed, Unavailable]
    }).annotate(OpenApi.Summary, "What a browser needs to sign in with a passkey"),
    HttpApiEndpoint.post("finishPasskey", "/v1/session/passkey", {
      payload: PasskeyAnswer,
      success: HttpApiSchema.NoContent,
      error: [InvalidInput, NotAuthenticated, NotAdmitted, TooManyCalls, Unavailable]
    }).annotate(OpenApi.Summary, "Exchange a passkey's answer for a session cookie"),
    HttpApiEndpoint.delete("signOut", "/v1/session", { success: HttpApiSchema.NoContent, error: [Unavailable] })
      .middleware(Admitted)
      .annotate(OpenApi.Summary, "End the session of this request's cookie")
  )
  .annotate(OpenApi.Description, "Signing in and out with a browser.")

const passkeys = HttpApiGroup.make("passkeys")
  .add(
    HttpApiEndpoint.get("list", "/v1/passkeys", { success: Passkeys, error: [NotAllowed, Unavailable] }).annotate(
      OpenApi.Summary,
      "The caller's passkeys"
    ),
    HttpApiEndpoint.post("begin", "/v1/passkeys/begin", {
      success: PasskeyOptions,
      error: [NotAllowed, Unavailable]
    }).annotate(OpenApi.Summary, "What a browser needs to make a passkey, within an hour after the sign-in"),
    HttpApiEndpoint.post("add", "/v1/passkeys", {
      payload: NewPasskey,
      success: Passkey,
      error: [InvalidInput, NotAllowed, Unavailable]
    }).annotate(OpenApi.Summary, "Store the passkey that a browser made"),
    HttpApiEndpoint.delete("remove", "/v1/passkeys/:id", {
      params: { id: Name },
      success: HttpApiSchema.NoContent,
      error: [InvalidInput, NotAllowed, UnknownName, Unavailable]
    }).annotate(OpenApi.Summary, "End a passkey of the caller")
  )
  .middleware(Admitted)
  .annotate(Need, { calls: 0 })
  .annotate(OpenApi.Description, "Passkeys, with which a person signs in at this address. They need a browser session.")

const setup = HttpApiGroup.make("setup")
  .add(
    HttpApiEndpoint.post("finish", "/v1/setup", {
      payload: SetUp,
      success: HttpApiSchema.NoContent,
      error: [InvalidInput, NotAuthenticated, TooManyCalls, Unavailable]
    }).annotate(OpenApi.Summary, "Make the first organization and sign its first administrator in, with a set-up link")
  )
  .annotate(
    OpenApi.Description,
    "The first run. It needs the link that max serve prints while there is no organization."
  )

const health = HttpApiGroup.make("health")
  .add(
    HttpApiEndpoint.get("live", "/healthz", { success: Health }).annotate(OpenApi.Summary, "The process is running"),
    HttpApiEndpoint.get("ready", "/readyz", { success: Health, error: Unavailable }).annotate(
      OpenApi.Summary,
      "The database is reachable and has the schema that this version of Max requires"
    )
  )
  .annotate(OpenApi.Description, "Liveness and readiness probes. They need no credential and have no limit.")

const security = {
  token: {
    type: "http",
    scheme: "bearer",
    description: "A token created by max token create or issued by an identity provider."
  },
  session: { type: "apiKey", in: "cookie", name: "__Host-max", description: "The cookie of a browser session." }
}

/** Rejects undeclared keys, which are usually misspelt names. */
export const PARSING = { onExcessProperty: "error" } as const

export class Api extends HttpApi.make("max")
  .add(tools)
  .add(entities)
  .add(exports)
  .add(chat)
  .add(intake)
  .add(conversations)
  .add(changes)
  .add(traces)
  .add(admin)
  .add(imports)
  .add(policies)
  .add(connections)
  .add(providers)
  .add(session)
  .add(passkeys)
  .add(setup)
  .add(health)
  .annotate(HttpApi.PayloadParseOptions, PARSING)
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
