/** The endpoints of the policy editor: each is one call of `PolicyEditor` with the caller's principal. */
import { Effect } from "effect"
import type { HttpServerResponse } from "effect/http"
import * as HttpApiBuilder from "effect/http-api/HttpApiBuilder"
import { PolicyEditor } from "../../services/administration/PolicyEditor.ts"
import { NotAllowed } from "../../domain/errors.ts"
import { Changes, PUBLISH } from "../../services/changes/Changes.ts"
import type {
  PolicyCheck,
  PolicyDocument,
  PolicyProposal,
  PolicyProposals,
  PolicySimulation,
  ProposedPolicy,
  PublishedPolicy
} from "../../wire/admin/policyEditor.ts"
import type { PolicyGrid } from "../../wire/admin/policyGrid.ts"
import { ambiguousPerson, personOf, respond } from "./administrator.ts"
import { Api } from "./Api.ts"
import { via } from "./changes.ts"
import { json } from "./json.ts"
import { orProblem, type PublicError } from "./problems.ts"

/** As changes are answered, except that the caller's scopes are enough: what is refused is the act. */
const inPerson = <R>(effect: Effect.Effect<HttpServerResponse.HttpServerResponse, PublicError, R>) =>
  orProblem(Effect.catchTag(effect, "NotInScope", ({ message }) => Effect.fail(NotAllowed.of(message))))

export const PolicyEditing = HttpApiBuilder.group(
  Api,
  "policies",
  Effect.fnUntraced(function* (handlers) {
    const editor = yield* PolicyEditor
    const changes = yield* Changes

    const document = (version?: number) =>
      respond((administrator) =>
        Effect.map(editor.document(administrator, version), (found) => json<PolicyDocument>(found))
      )

    return handlers.handleAll({
      document: () => document(),
      version: ({ params }) => document(params.version),
      check: ({ payload }) =>
        respond((administrator) =>
          Effect.map(editor.check(administrator, payload.document), (checked) => json<PolicyCheck>(checked))
        ),
      grid: ({ payload: { document, edit, type } }) =>
        respond((administrator) =>
          Effect.map(editor.grid(administrator, document, type, edit), (grid) => json<PolicyGrid>(grid))
        ),
      simulate: ({ payload }) =>
        respond((administrator) => {
          const isAboutOne = payload.id !== undefined || payload.identifier !== undefined
          const person = personOf(payload)
          return isAboutOne && person === undefined
            ? Effect.succeed(ambiguousPerson)
            : Effect.map(editor.simulate(administrator, payload.document, person), (found) =>
                json<PolicySimulation>(found)
              )
        }),
      publish: ({ payload }) =>
        respond((administrator) =>
          Effect.map(editor.publish(administrator, payload.document, payload.replacing), ({ version }) =>
            json<PublishedPolicy>({ version })
          )
        ),
      proposals: () =>
        inPerson(
          Effect.gen(function* () {
            const waiting = yield* changes.list({ which: "me", limit: 100 })
            const own = yield* changes.list({ which: "mine", state: "waiting", limit: 100 })
            const proposals = [...waiting, ...own].filter(({ actionIds }) => actionIds.includes(PUBLISH))
            return json<PolicyProposals>({ proposals })
          })
        ),
      propose: ({ payload: { document: text, replacing: replaces } }) =>
        inPerson(
          Effect.gen(function* () {
            const { changeId } = yield* changes.proposePolicy({ text, replaces, via: yield* via })
            return json<ProposedPolicy>({ changeId })
          })
        ),
      proposal: ({ params: { id } }) =>
        inPerson(
          Effect.gen(function* () {
            const by = yield* via
            const document = yield* changes.policyFile(id, by)
            return json<PolicyProposal>({ document, preview: yield* changes.preview(id, by) })
          })
        )
    })
  })
)
