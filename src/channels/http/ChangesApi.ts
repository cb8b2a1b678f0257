/** The endpoints of changes: what can be done, proposing, deciding, and what came of it. */
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as HttpApiSchema from "effect/http-api/HttpApiSchema"
import * as OpenApi from "effect/http-api/OpenApi"
import {
  ActionId,
  Applied,
  ChangeEvents,
  ChangeId,
  ChangePage,
  ChangesQuery,
  Choosing,
  Confirm,
  Draft,
  FieldChoices,
  History,
  OpenAction,
  OpenActions,
  Pending,
  Preview,
  Propose
} from "../../wire/changes.ts"
import {
  Decided,
  Expired,
  InvalidInput,
  NotAllowed,
  NotYet,
  Stale,
  Unavailable,
  Unclear,
  UnknownName
} from "../../wire/problems.ts"
import { Name } from "../../wire/chat.ts"
import { Id } from "../../wire/scalars.ts"
import { Admitted, Need } from "./admitted.ts"

const params = { id: ChangeId }
/** Proposing counts as a call: it reads rows for the caller. */
const counted = { scope: "changes", calls: 1 } as const
/** A decision doesn't count, so that a program's calls can't keep a person from deciding. */
const deciding = { scope: "confirm", calls: 0 } as const
export const proposalErrors = [
  InvalidInput,
  NotAllowed,
  Unclear,
  UnknownName,
  Stale,
  Decided,
  NotYet,
  Unavailable
] as const
export const decisionErrors = [
  InvalidInput,
  NotAllowed,
  UnknownName,
  Stale,
  Expired,
  Decided,
  NotYet,
  Unavailable
] as const

export const changes = HttpApiGroup.make("changes")
  .add(
    HttpApiEndpoint.get("actions", "/v1/actions", { success: OpenActions, error: Unavailable }).annotate(
      OpenApi.Summary,
      "The actions that are open to this person, each with the JSON Schema of a step"
    ),
    HttpApiEndpoint.get("action", "/v1/actions/:id", {
      params: { id: ActionId },
      success: OpenAction,
      error: [InvalidInput, UnknownName, Unavailable]
    }).annotate(OpenApi.Summary, "One action that is open to this person"),
    HttpApiEndpoint.post("choices", "/v1/actions/:id/choices", {
      params: { id: ActionId },
      payload: Choosing,
      success: FieldChoices,
      error: [InvalidInput, NotAllowed, Unclear, UnknownName, Unavailable]
    })
      .annotate(OpenApi.Summary, "What this person can choose for a field of an action that stands for an entity")
      .annotate(Need, counted),
    HttpApiEndpoint.post("propose", "/v1/changes", { payload: Propose, success: Draft, error: proposalErrors })
      .annotate(OpenApi.Summary, "Propose a change; nothing is changed by it")
      .annotate(Need, counted),
    HttpApiEndpoint.get("list", "/v1/changes", {
      query: ChangesQuery,
      success: ChangePage,
      error: [InvalidInput, Unavailable]
    }).annotate(OpenApi.Summary, "Changes, newest first: what waits for this person, its own, or what is decided"),
    HttpApiEndpoint.get("preview", "/v1/changes/:id", {
      params,
      success: Preview,
      error: [InvalidInput, UnknownName, Unavailable]
    }).annotate(OpenApi.Summary, "What this person may see of a change, with the digest that confirms it"),
    HttpApiEndpoint.post("confirm", "/v1/changes/:id/confirm", {
      params,
      payload: Confirm,
      success: [Applied, Pending.pipe(HttpApiSchema.status(202))],
      error: decisionErrors
    })
      .annotate(OpenApi.Summary, "Confirm or approve what was shown; 202 says what it still needs")
      .annotate(Need, deciding),
    HttpApiEndpoint.post("reject", "/v1/changes/:id/reject", {
      params,
      success: HttpApiSchema.NoContent,
      error: decisionErrors
    })
      .annotate(OpenApi.Summary, "Reject a change: nothing is changed")
      .annotate(Need, deciding),
    HttpApiEndpoint.post("withdraw", "/v1/changes/:id/withdraw", {
      params,
      success: HttpApiSchema.NoContent,
      error: decisionErrors
    }).annotate(OpenApi.Summary, "Withdraw one's own change: nothing is changed"),
    HttpApiEndpoint.post("undo", "/v1/changes/:id/undo", { params, success: Draft, error: proposalErrors })
      .annotate(OpenApi.Summary, "Propose the inverse of an applied change, which is confirmed like any other")
      .annotate(Need, counted),
    HttpApiEndpoint.post("again", "/v1/changes/:id/again", { params, success: Draft, error: proposalErrors })
      .annotate(OpenApi.Summary, "Propose an expired or outdated change again, as the data is now")
      .annotate(Need, counted),
    HttpApiEndpoint.get("events", "/v1/changes/:id/events", {
      params,
      success: ChangeEvents,
      error: [InvalidInput, UnknownName, Unavailable]
    }).annotate(OpenApi.Summary, "What happened to a change, without values"),
    HttpApiEndpoint.get("history", "/v1/entities/:type/:id/history", {
      params: { type: Name, id: Id },
      success: History,
      error: [InvalidInput, UnknownName, Unavailable]
    })
      .annotate(OpenApi.Summary, "The applied changes of an entity, with what this person may see of it now")
      .annotate(Need, counted)
  )
  .middleware(Admitted)
  .annotate(Need, { scope: "changes", calls: 0 })
  .annotate(
    OpenApi.Description,
    "Changes are proposed, shown, confirmed and applied. The scope changes proposes and shows, the scope confirm decides."
  )
