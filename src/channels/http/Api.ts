/**
 * The interface over HTTP, declared: paths, what they take and answer, and every problem they can come to. Nothing here
 * runs on the server, so that a client can load it. Further parts add their group to `Api` and its handlers in routes.ts.
 */
import { Schema } from "effect"
import * as HttpApi from "effect/http-api/HttpApi"
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as HttpApiSchema from "effect/http-api/HttpApiSchema"
import * as OpenApi from "effect/http-api/OpenApi"
import * as Sse from "effect/encoding/Sse"
import { Choice, TurnEvent } from "../../wire/TurnEvent.ts"
import { Presented } from "../../domain/Presented.ts"
import { MaxToolkit } from "../../tools/Toolkit.ts"
import { admin } from "./AdminApi.ts"
import { Admitted, Need } from "./admitted.ts"
import {
  BudgetSpent,
  InvalidInput,
  NoAnswer,
  NotAuthenticated,
  NotFound,
  TooManyCalls,
  Unavailable,
  UnknownName
} from "../../wire/problems.ts"
import { traces } from "./TracesApi.ts"

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
  .annotate(Need, { scope: "tools", calls: 1, reads: true })
  .annotate(OpenApi.Description, "The three tools that a model has, called directly. Each call counts.")

const { optionalKey } = Schema
const Name = Schema.String.check(Schema.isPattern(/^[A-Za-z0-9_-]{1,64}$/))

const said = {
  /** The conversation to go on with; without it, or with one that isn't the person's, a new one begins. */
  conversation: optionalKey(Name),
  /** A name of the client's own for this turn: it then goes on when the connection is lost, and can be listened to again. */
  turn: optionalKey(Name),
  /** How many turns of the conversation stay; once there is an answer, it takes the place of the others. */
  after: optionalKey(Schema.Int.check(Schema.isGreaterThanOrEqualTo(0)))
}

/** What can be asked here, by example, in the organization's own words. */
const Welcome = Schema.Struct({
  organization: Schema.String,
  person: optionalKey(Schema.String),
  /** Whether rules answer, or a language model. */
  mode: Schema.Literals(["basic", "model"]),
  /** What can be looked up: "people", "meetings". */
  kinds: Schema.Array(Schema.String),
  examples: Schema.Array(Schema.Struct({ about: Schema.String, questions: Schema.Array(Schema.String) }))
})

/** A turn's event with its number, as server-sent events carry it. */
const Events = HttpApiSchema.StreamSse({
  events: Schema.Struct({ ...Sse.EventEncoded.fields, data: Schema.fromJsonString(TurnEvent) })
})

const chat = HttpApiGroup.make("chat")
  .add(
    HttpApiEndpoint.post("say", "/v1/chat", {
      payload: Schema.Union([
        Schema.Struct({ text: Schema.String, ...said }),
        /** The handle of a choice that was offered. */
        Schema.Struct({ choice: Schema.String, ...said })
      ]),
      success: Events,
      error: [InvalidInput, BudgetSpent, NoAnswer, Unavailable]
    }).annotate(OpenApi.Summary, "Say something and listen to the answer"),
    HttpApiEndpoint.get("welcome", "/v1/welcome", { success: Welcome, error: [InvalidInput, Unavailable] }).annotate(
      OpenApi.Summary,
      "What this person can ask, by example"
    )
  )
  .middleware(Admitted)
  .annotate(Need, { scope: "chat", calls: 1 })
  .annotate(OpenApi.Description, "Talking with Max. Each turn counts as a call.")

const summary = {
  id: Schema.String,
  /** What was asked first. */
  title: Schema.String,
  createdAt: Schema.String,
  updatedAt: Schema.String
}

/** A turn that is kept; what was answered before the policy or the membership changed isn't shown. */
const KeptTurn = Schema.Struct({
  /** From 1 on. */
  position: Schema.Int,
  asked: Schema.String,
  at: Schema.String,
  reference: Schema.String,
  answered: optionalKey(Schema.String),
  references: optionalKey(Schema.Array(Presented)),
  /** Of the conversation's last turn: what can be chosen from now. */
  choices: optionalKey(Schema.Array(Choice))
})

/** A turn with a name that can be listened to. */
const HeldTurn = Schema.Struct({
  turn: Schema.String,
  asked: optionalKey(Schema.String),
  choice: optionalKey(Schema.String),
  conversation: optionalKey(Schema.String),
  after: optionalKey(Schema.Int),
  /** It is being answered; otherwise it has ended within the last minute. */
  answering: Schema.Boolean
})

const MAX_PAGE = 200
const Limit = optionalKey(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: MAX_PAGE })))

const conversations = HttpApiGroup.make("conversations")
  .add(
    HttpApiEndpoint.get("resume", "/v1/chat/:turn", {
      params: { turn: Name },
      headers: { "last-event-id": optionalKey(Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))) },
      success: Events,
      error: [InvalidInput, NotFound, NoAnswer, Unavailable]
    }).annotate(OpenApi.Summary, "Listen again to a turn that has a name, after the event that was heard last"),
    HttpApiEndpoint.delete("stop", "/v1/chat/:turn", {
      params: { turn: Name },
      success: HttpApiSchema.NoContent,
      error: [InvalidInput, NotFound, Unavailable]
    }).annotate(OpenApi.Summary, "Stop a turn that has a name, and the model's work with it"),
    HttpApiEndpoint.get("held", "/v1/chat", { success: Schema.Struct({ turns: Schema.Array(HeldTurn) }) }).annotate(
      OpenApi.Summary,
      "The person's own turns that have a name and can be listened to, on whichever device they began"
    ),
    HttpApiEndpoint.get("list", "/v1/conversations", {
      query: {
        /** Words that one of its questions has. */
        search: optionalKey(Schema.String.check(Schema.isMaxLength(200))),
        /** `next` of the page before. */
        after: optionalKey(Name),
        limit: Limit
      },
      success: Schema.Struct({
        conversations: Schema.Array(Schema.Struct({ ...summary, turns: Schema.Int })),
        next: optionalKey(Schema.String)
      }),
      error: [InvalidInput, Unavailable]
    }).annotate(OpenApi.Summary, "The person's own conversations, the latest first, a hundred at a time"),
    HttpApiEndpoint.get("get", "/v1/conversations/:id", {
      params: { id: Name },
      query: {
        /** Turns in front of this position. */
        before: optionalKey(Schema.Int.check(Schema.isGreaterThanOrEqualTo(1))),
        limit: Limit
      },
      success: Schema.Struct({ ...summary, turns: Schema.Array(KeptTurn) }),
      error: [InvalidInput, NotFound, Unavailable]
    }).annotate(OpenApi.Summary, "What was said in a conversation last, oldest first, a hundred turns at a time"),
    HttpApiEndpoint.delete("remove", "/v1/conversations/:id", {
      params: { id: Name },
      success: HttpApiSchema.NoContent,
      error: [InvalidInput, NotFound, Unavailable]
    }).annotate(OpenApi.Summary, "Delete a conversation")
  )
  .middleware(Admitted)
  .annotate(Need, { scope: "chat", calls: 0 })
  .annotate(OpenApi.Description, "What was said, for whoever said it.")

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
      error: [InvalidInput, NotAuthenticated, TooManyCalls, Unavailable]
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

/** What isn't declared isn't taken: it would be a misspelt name. */
export const PARSING = { onExcessProperty: "error" } as const

export class Api extends HttpApi.make("max")
  .add(tools)
  .add(chat)
  .add(conversations)
  .add(traces)
  .add(admin)
  .add(session)
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
