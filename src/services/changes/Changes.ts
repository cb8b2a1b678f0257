/**
 * Governed changes: a change is proposed, shown, confirmed, applied, undone and recorded. The service knows no channel. Nothing
 * is applied but by a person's confirmation of the digest that belongs to what the person saw.
 */
import type { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer } from "effect"
import type { SqlError } from "effect/sql"
import { Database } from "../../database/Database.ts"
import { orUnavailable } from "../../database/execute.ts"
import type { ChangeSummary, HistoryEntry, Preview } from "../../domain/Change.ts"
import {
  Decided,
  type DecisionError,
  type NotAdmitted,
  NotAllowed,
  NotInScope,
  NotYet,
  type ProposalError,
  type Unavailable,
  type UnknownName
} from "../../domain/errors.ts"
import { CurrentPrincipal, type Principal } from "../../domain/Principal.ts"
import { makeReadRows } from "../actions/readRows.ts"
import { OrganizationState } from "../catalog/OrganizationState.ts"
import { EntityQueryService } from "../EntityQueryService.ts"
import { IdentityResolver } from "../members/IdentityResolver.ts"
import { OrgEntityStore } from "../OrgEntityStore.ts"
import { Policies } from "../policies/Policies.ts"
import { repeatable, repeated, replaceBy } from "./again.ts"
import { awaited } from "./calls/awaited.ts"
import { requireInverses, resolveInverses } from "./calls/inverses.ts"
import { readAction, type ReadResult } from "./calls/readAction.ts"
import { makeCallers, openActions, type OpenAction } from "./callers.ts"
import { type Choice, choicesFor, type Choosing } from "./choices.ts"
import * as decisions from "./decisions.ts"
import { makeDrafting, prepareSteps } from "./drafting.ts"
import { historyOf } from "./history.ts"
import { countCall } from "./limits.ts"
import { submits } from "./level.ts"
import { listChanges, type ListQuery } from "./listing.ts"
import { noChange } from "./propose.ts"
import { type Publishable, publicationOf, replacedFile, requireGoverning } from "./publishing.ts"
import { type ChangeEntry, openDrafts, readChange, readEvents, recordShown, type Via } from "./records.ts"
import type { ChangeSettings, Draft, Proposal } from "./Proposal.ts"
import { reject, withdraw } from "./rejections.ts"
import type { StepInput } from "./resolve.ts"
import { tidy, type Tidied } from "./retain.ts"
import { inverseOf, requireStanding, undoable } from "./undo.ts"

export type { Confirmed, Decision } from "./decisions.ts"
export type { OpenAction } from "./callers.ts"
export type { ChangeSettings, Draft, Proposal } from "./Proposal.ts"
export { PUBLISH } from "./apply.ts"
export type { Publishable } from "./publishing.ts"
export type { ChangeEntry, Via } from "./records.ts"

const OFF = new NotInScope({ message: "Changes are switched off here." })

export class Changes extends Context.Service<
  Changes,
  {
    /** The actions that are open to the caller, with the columns that it may set; none while changes are switched off. */
    readonly actions: Effect.Effect<ReadonlyArray<OpenAction>, NotAdmitted | Unavailable, CurrentPrincipal>
    /** Proposes a change. Nothing is changed by it. */
    readonly propose: (proposal: Proposal) => Effect.Effect<Draft, ProposalError | Decided | NotYet, CurrentPrincipal>
    /** Proposes to publish a policy file over the version that it was made from; it waits for another person at once. */
    readonly proposePolicy: (
      publication: Publishable & { readonly via: Via }
    ) => Effect.Effect<Draft, ProposalError | DecisionError, CurrentPrincipal>
    /** The file that a change publishes, for persons who may change the policy. */
    readonly policyFile: (changeId: string, via: Via) => Effect.Effect<string, DecisionError, CurrentPrincipal>
    /** Runs an action that only reads. */
    readonly read: (step: StepInput) => Effect.Effect<ReadResult, ProposalError | NotYet, CurrentPrincipal>
    /** What can be chosen for a field of an action that stands for an entity. */
    readonly choices: (choosing: Choosing) => Effect.Effect<ReadonlyArray<Choice>, ProposalError, CurrentPrincipal>
    /** Opens drafts in the transaction that keeps their turn: the `keeping` of `Sessions.save`. */
    readonly opening: (
      principal: Principal,
      via: Via,
      changeIds: ReadonlyArray<string>
    ) => (
      sql: PgClient.PgClient,
      turn: { readonly sessionId: string; readonly position: number } | undefined
    ) => Effect.Effect<void, SqlError.SqlError>
    /** What the caller may see of a change, with the digest that confirms it. */
    readonly preview: (changeId: string, via: Via) => Effect.Effect<Preview, DecisionError, CurrentPrincipal>
    /** The caller's yes to a digest, as the proposer or as the second person. */
    readonly confirm: (
      decision: decisions.Decision
    ) => Effect.Effect<decisions.Confirmed, DecisionError, CurrentPrincipal>
    readonly reject: (changeId: string, via: Via) => Effect.Effect<void, DecisionError, CurrentPrincipal>
    readonly withdraw: (changeId: string, via: Via) => Effect.Effect<void, DecisionError, CurrentPrincipal>
    /** Proposes the inverse of an applied change, as a change with a confirmation of its own. */
    readonly undo: (
      changeId: string,
      via: Via
    ) => Effect.Effect<Draft, ProposalError | Decided | NotYet, CurrentPrincipal>
    /** Proposes what a change proposed that has expired, or whose rows have changed: as a new change, with a preview of now. */
    readonly again: (
      changeId: string,
      via: Via
    ) => Effect.Effect<Draft, ProposalError | Decided | NotYet, CurrentPrincipal>
    /** Changes, newest first. */
    readonly list: (query: ListQuery) => Effect.Effect<ReadonlyArray<ChangeSummary>, DecisionError, CurrentPrincipal>
    /** What happened to a change that the caller may know of, the oldest first. */
    readonly events: (changeId: string) => Effect.Effect<ReadonlyArray<ChangeEntry>, DecisionError, CurrentPrincipal>
    /** The applied changes of an entity, newest first. */
    readonly history: (
      entityTypeId: string,
      entityId: string
    ) => Effect.Effect<ReadonlyArray<HistoryEntry>, NotAdmitted | UnknownName | Unavailable, CurrentPrincipal>
    /** Marks expired changes and erases values whose time is over. */
    readonly tidy: (organizationId: bigint) => Effect.Effect<Tidied, Unavailable>
  }
>()("max/services/Changes") {
  static readonly layer = (settings: ChangeSettings) =>
    Layer.effect(
      Changes,
      Effect.gen(function* () {
        const database = yield* Database
        const identities = yield* IdentityResolver
        const queries = yield* EntityQueryService
        const states = yield* OrganizationState
        const callerOf = makeCallers(yield* OrgEntityStore)
        const sql = database.changes
        const { approvalHours, enabled, limits } = settings
        const readRows = makeReadRows(settings.reading)
        const policies = yield* Policies
        const deciders: decisions.Deciders = {
          database,
          limits,
          policies,
          identities,
          callerOf,
          queries,
          approvalHours,
          suspect: states.suspect
        }

        const principalOf = CurrentPrincipal.use((principal) =>
          enabled ? Effect.succeed(principal) : Effect.fail(OFF)
        )

        const { callerFor, proposing, publicationBy, shown } = makeDrafting({
          ...deciders,
          states,
          days: settings.days
        })

        return Changes.of({
          actions: Effect.suspend(() =>
            enabled
              ? CurrentPrincipal.use((principal) => Effect.map(callerFor(principal), openActions))
              : Effect.succeed([])
          ),

          propose: Effect.fn("Changes.propose")(function* (proposal) {
            const principal = yield* principalOf
            let reads: Draft["reads"] = []
            const draft = yield* proposing(
              principal,
              (caller) =>
                Effect.map(prepareSteps(proposal, caller, readRows, deciders), (prepared) => {
                  reads = prepared.reads
                  return prepared
                }),
              // No statement on rows finds that the plan of a declared action is stale, so it is made from fresh state.
              proposal.steps.some(({ actionId }) => !actionId.includes("."))
            )
            return reads.length === 0 ? draft : { ...draft, reads }
          }),

          proposePolicy: Effect.fn("Changes.proposePolicy")(function* ({ replaces, text, via }) {
            const principal = yield* principalOf
            const draft = yield* publicationBy(principal, via, () => Effect.succeed({ replaces, text }))
            const { changeId, known, preview } = draft
            if (preview.state !== "open" || preview.digest === undefined) return draft
            yield* decisions.confirm(principal, { changeId, digest: preview.digest, via }, deciders)
            const stored = yield* decisions.requireChange(principal, changeId, database)
            return { changeId, known, preview: yield* shown(stored, yield* callerFor(principal), via) }
          }),

          policyFile: Effect.fn("Changes.policyFile")(function* (changeId, via) {
            const principal = yield* principalOf
            const stored = yield* decisions.requireChange(principal, changeId, database)
            yield* requireGoverning(yield* callerFor(principal, true), via)
            const publication = publicationOf(stored)
            return publication === undefined ? yield* noChange : publication.text
          }),

          read: Effect.fn("Changes.read")(function* (step) {
            const principal = yield* principalOf
            if (principal.anchorEntityId === "") return yield* NotAllowed.of("Only an identified member can do that.")
            const { anchorEntityId, organizationId } = principal
            yield* orUnavailable(countCall(database.admission, organizationId, anchorEntityId, limits))
            return yield* readAction(step, yield* callerFor(principal, true), queries, readRows, database)
          }),

          choices: Effect.fn("Changes.choices")(function* (choosing) {
            const principal = yield* principalOf
            const { anchorEntityId, organizationId } = principal
            if (anchorEntityId === "") return yield* NotAllowed.of("Only an identified member can do that.")
            yield* orUnavailable(countCall(database.admission, organizationId, anchorEntityId, limits))
            return yield* choicesFor(choosing, yield* callerFor(principal, true), queries, readRows)
          }),

          opening: (principal, via, changeIds) => (client, turn) =>
            enabled
              ? openDrafts(
                  client,
                  principal.organizationId,
                  principal.anchorEntityId,
                  via,
                  changeIds,
                  turn,
                  submits(via.channel) ? approvalHours : undefined
                )
              : Effect.void,

          preview: Effect.fn("Changes.preview")(function* (changeId, via) {
            const principal = yield* principalOf
            const stored = yield* decisions.requireChange(principal, changeId, database)
            // From fresh state: a preview must not show what a role has lost by now.
            const caller = yield* callerFor(principal, true)
            const preview = yield* shown(stored, caller, via)
            if (preview.digest !== undefined) yield* recordShown(sql, principal, stored, via)
            return preview
          }),

          confirm: Effect.fn("Changes.confirm")(function* (decision) {
            const principal = yield* principalOf
            const confirmed = yield* decisions.confirm(principal, decision, deciders)
            if (confirmed._tag !== "Applied" || confirmed.receipt.calls === undefined) return confirmed
            const receipt = yield* awaited(principal, decision.changeId, confirmed.receipt, database)
            return { ...confirmed, receipt }
          }),

          reject: Effect.fn("Changes.reject")(function* (changeId, via) {
            return yield* reject(yield* principalOf, changeId, via, database)
          }),

          withdraw: Effect.fn("Changes.withdraw")(function* (changeId, via) {
            return yield* withdraw(yield* principalOf, changeId, via, database)
          }),

          undo: Effect.fn("Changes.undo")(function* (changeId, via) {
            const principal = yield* principalOf
            const stored = yield* orUnavailable(readChange(sql, principal.organizationId, changeId))
            const { made, sessionId, undone } = yield* undoable(stored, principal.anchorEntityId)
            const { publishes } = undone
            if (publishes !== undefined)
              return yield* publicationBy(principal, via, (caller) =>
                replacedFile(stored!, publishes, caller, deciders)
              )
            const { inverses, remains } = yield* requireInverses(undone, principal.organizationId, database)
            return yield* proposing(
              principal,
              (caller) =>
                Effect.gen(function* () {
                  const units = yield* inverseOf(undone, caller)
                  return {
                    units,
                    how: {
                      via,
                      calls: yield* resolveInverses(inverses, caller, queries, readRows),
                      state: "open" as const,
                      undoes: changeId,
                      remains,
                      // The inverse belongs to the conversation of what it undoes.
                      sessionId,
                      check: (steps) => requireStanding(steps, undone, made, caller)
                    }
                  }
                }),
              inverses.length > 0
            )
          }),

          again: Effect.fn("Changes.again")(function* (changeId, via) {
            const principal = yield* principalOf
            const stored = yield* orUnavailable(readChange(sql, principal.organizationId, changeId))
            const document = yield* repeatable(stored, principal.anchorEntityId)
            const { publishes } = document
            const draft = yield* publishes === undefined
              ? proposing(principal, (caller) => repeated(document, stored!, caller, via), true)
              : publicationBy(principal, via, () => Effect.succeed(publishes))
            yield* orUnavailable(replaceBy(sql, principal.organizationId, stored!, draft.changeId))
            return draft
          }),

          list: Effect.fn("Changes.list")(function* (query) {
            const principal = yield* principalOf
            return yield* listChanges(query, yield* callerFor(principal), database)
          }),

          events: Effect.fn("Changes.events")(function* (changeId) {
            const principal = yield* principalOf
            const stored = yield* decisions.requireChange(principal, changeId, database)
            return yield* orUnavailable(readEvents(sql, principal.organizationId, stored.change_id))
          }),

          history: Effect.fn("Changes.history")(function* (entityTypeId, entityId) {
            const principal = yield* CurrentPrincipal
            return yield* historyOf(entityTypeId, entityId, yield* callerFor(principal, true), database)
          }),

          tidy: Effect.fn("Changes.tidy")((organizationId) => tidy(organizationId, settings.days, database))
        })
      })
    )
}
