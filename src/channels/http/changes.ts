/** The endpoints of changes: each is one call of `Changes` as the caller. */
import { Effect } from "effect"
import { HttpServerResponse } from "effect/http"
import * as HttpApiBuilder from "effect/http-api/HttpApiBuilder"
import { UnknownName } from "../../domain/errors.ts"
import { quoted } from "../../domain/text.ts"
import { Changes as ChangeService } from "../../services/changes/Changes.ts"
import { describeAction } from "../../services/changes/describeAction.ts"
import { stepsOf } from "../../services/changes/steps.ts"
import type {
  Applied,
  ChangeEvents,
  ChangePage,
  Draft,
  FieldChoices,
  History,
  OpenAction,
  OpenActions,
  Pending,
  Preview
} from "../../wire/changes.ts"
import { Api } from "./Api.ts"
import { CurrentCaller } from "./authenticate.ts"
import { json } from "./json.ts"
import { orProblem } from "./problems.ts"

const PAGE_SIZE = 20

/** The credential of this request, which stays with what it proposes and decides, and whether it is an administrator's. */
export const via = Effect.map(CurrentCaller, ({ credentialId, scopes }) => ({
  channel: "http",
  credentialId,
  administers: scopes.includes("admin")
}))

export const Changes = HttpApiBuilder.group(
  Api,
  "changes",
  Effect.fnUntraced(function* (handlers) {
    const changes = yield* ChangeService
    return handlers.handleAll({
      actions: () =>
        orProblem(
          Effect.map(changes.actions, (actions) => json<OpenActions>({ actions: actions.map(describeAction) }))
        ),
      action: ({ params: { id } }) =>
        orProblem(
          Effect.flatMap(changes.actions, (actions) => {
            const found = actions.find(({ action }) => action.slug === id)
            return found === undefined
              ? Effect.fail(new UnknownName({ message: `There is no action ${quoted(id)}.` }))
              : Effect.succeed(json<OpenAction>(describeAction(found)))
          })
        ),
      choices: ({ params: { id }, payload }) =>
        orProblem(
          Effect.map(changes.choices({ actionId: id, ...payload }), (choices) => json<FieldChoices>({ choices }))
        ),
      propose: ({ payload: { key, steps } }) =>
        orProblem(
          Effect.gen(function* () {
            const read = yield* Effect.fromResult(stepsOf(steps))
            return json<Draft>(yield* changes.propose({ steps: read, key, via: yield* via }))
          })
        ),
      list: ({ query: { after, limit = PAGE_SIZE, list = "waiting", proposer, session, state, type } }) =>
        orProblem(
          Effect.gen(function* () {
            // One more than the page shows whether another page follows.
            const found = yield* changes.list({
              which: list === "waiting" ? "me" : list,
              sessionId: session,
              type,
              proposer,
              state,
              after,
              limit: limit + 1
            })
            const page = found.slice(0, limit)
            const next = found.length > limit ? page.at(-1)?.changeId : undefined
            return json<ChangePage>({ changes: page, ...(next === undefined ? {} : { next }) })
          })
        ),
      preview: ({ params: { id } }) =>
        orProblem(
          Effect.map(
            Effect.flatMap(via, (by) => changes.preview(id, by)),
            (preview) => json<Preview>(preview)
          )
        ),
      confirm: ({ params: { id }, payload: { digest, rows } }) =>
        orProblem(
          Effect.gen(function* () {
            const outcome = yield* changes.confirm({ changeId: id, digest, rows, via: yield* via })
            return outcome._tag === "Applied"
              ? json<Applied>(outcome)
              : HttpServerResponse.setStatus(json<Pending>(outcome), 202)
          })
        ),
      reject: ({ params: { id } }) =>
        orProblem(
          Effect.as(
            Effect.flatMap(via, (by) => changes.reject(id, by)),
            HttpServerResponse.empty()
          )
        ),
      withdraw: ({ params: { id } }) =>
        orProblem(
          Effect.as(
            Effect.flatMap(via, (by) => changes.withdraw(id, by)),
            HttpServerResponse.empty()
          )
        ),
      undo: ({ params: { id } }) =>
        orProblem(
          Effect.map(
            Effect.flatMap(via, (by) => changes.undo(id, by)),
            (draft) => json<Draft>(draft)
          )
        ),
      again: ({ params: { id } }) =>
        orProblem(
          Effect.map(
            Effect.flatMap(via, (by) => changes.again(id, by)),
            (draft) => json<Draft>(draft)
          )
        ),
      events: ({ params: { id } }) =>
        orProblem(Effect.map(changes.events(id), (events) => json<ChangeEvents>({ events }))),
      history: ({ params: { id, type } }) =>
        orProblem(Effect.map(changes.history(type, id), (entries) => json<History>({ entries })))
    })
  })
)
