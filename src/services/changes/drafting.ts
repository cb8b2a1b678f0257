/** How a change is drafted: by the caller's newest state, counted, and made again when its plan was stale. */
import { Effect } from "effect"
import { orUnavailable } from "../../database/execute.ts"
import { type Decided, NotAllowed, NotYet, type ProposalError } from "../../domain/errors.ts"
import type { Principal } from "../../domain/Principal.ts"
import { unavailable } from "../../observability/failures.ts"
import type { ReadRows } from "../actions/readRows.ts"
import type { OrganizationState } from "../catalog/OrganizationState.ts"
import { readAction } from "./calls/readAction.ts"
import { withCalls } from "./calls/showCalls.ts"
import type { Caller } from "./callers.ts"
import type { Deciders } from "./decisions.ts"
import { countCall } from "./limits.ts"
import { resolvePointers } from "./pointers.ts"
import { previewOf } from "./preview.ts"
import type { ChangeSettings, Draft, Proposal } from "./Proposal.ts"
import { noChange, preparedOf, propose, type Proposed, type Proposing } from "./propose.ts"
import { type Publishable, proposePublication, withPublication } from "./publishing.ts"
import { readChange, type Stored, type Via } from "./records.ts"
import { resolveAll } from "./resolve.ts"
import { tidy } from "./retain.ts"
import type { Unit } from "./Unit.ts"

const MAX_ATTEMPTS = 3
const TIDY_MS = 3_600_000
const BUSY = "Permissions are being changed right now. Try again in a minute."

const NOTHING = { units: [], calls: [] }

/** The steps of a proposal after those of the change that it continues, with their pointers at what earlier steps read replaced. */
export const prepareSteps = Effect.fnUntraced(function* (
  { atLeast, continues, drafted, key, reference, sessionId, steps, via }: Proposal,
  caller: Caller,
  readRows: ReadRows,
  { database, queries }: Deciders
) {
  const { anchorEntityId, organizationId } = caller.principal
  const before =
    continues === undefined ? undefined : yield* orUnavailable(readChange(database.changes, organizationId, continues))
  if (continues !== undefined && before?.proposer_id !== anchorEntityId) return yield* noChange
  const earlier = before === undefined ? NOTHING : yield* preparedOf(before, caller)
  const first = earlier.units.length + earlier.calls.length
  const pointed = yield* resolvePointers(steps, first, caller, (step) =>
    readAction(step, caller, queries, readRows, database)
  )
  const { calls, units } = yield* resolveAll(pointed.steps, earlier, caller, queries, readRows)
  const state = drafted === true ? ("drafted" as const) : ("open" as const)
  return {
    units,
    how: { via, calls, state, sessionId, reference, key, atLeast, continues: before } satisfies Proposing,
    reads: pointed.reads.map(({ action, rows }) => ({ actionId: action.slug, rows }))
  }
})

/** What drafting needs besides the parts that decisions need. */
export interface Drafting extends Deciders {
  readonly states: OrganizationState["Service"]
  readonly days: ChangeSettings["days"]
}

export const makeDrafting = (drafting: Drafting) => {
  const { callerOf, database, days, identities, limits, queries, states } = drafting

  /** The caller by the cached state, if it is of the caller's epoch; a stale plan is found by the statements. */
  const callerFor = Effect.fnUntraced(function* (principal: Principal, fresh = false) {
    const state = states.cached(principal.organizationId)
    return callerOf(
      !fresh && state?.catalog.epoch === principal.epoch ? { principal, state } : yield* identities.readmit(principal)
    )
  })

  const tidied = new Map<bigint, number>()
  /** Tidies an organization's changes, once an hour. */
  const tidyAtTimes = (organizationId: bigint) =>
    Effect.suspend(() => {
      const now = performance.now()
      if (now - (tidied.get(organizationId) ?? -Infinity) < TIDY_MS) return Effect.void
      tidied.set(organizationId, now)
      return Effect.ignore(tidy(organizationId, days, database))
    })

  /** Proposes what `prepare` makes of the caller, again from fresh state when its plan was stale. */
  const proposing = Effect.fnUntraced(function* (
    principal: Principal,
    prepare: (
      caller: Caller
    ) => Effect.Effect<
      { readonly units: ReadonlyArray<Unit>; readonly how: Proposing },
      ProposalError | Decided | NotYet
    >,
    fresh = false
  ): Effect.fn.Return<Draft, ProposalError | Decided | NotYet> {
    if (principal.anchorEntityId === "") return yield* NotAllowed.of("Only an identified member can propose changes.")
    yield* tidyAtTimes(principal.organizationId)
    // Nothing is answered before the call is counted: by this, or by the statement that stores it.
    const counted = yield* Effect.cached(
      orUnavailable(countCall(database.admission, principal.organizationId, principal.anchorEntityId, limits))
    )
    let drifted = false
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      const caller = yield* callerFor(principal, fresh || attempt > 0)
      const started = performance.now()
      const { how, units } = yield* prepare(caller).pipe(Effect.tapCause(() => counted))
      const resolvedMs = performance.now() - started
      const proposed = yield* propose(units, how, caller, database, limits, resolvedMs, counted).pipe(
        Effect.catchTag("StalePlan", ({ isMapped }): Effect.Effect<Proposed | undefined> => {
          drifted = isMapped
          if (isMapped) states.suspect(principal.organizationId)
          return Effect.undefined
        })
      )
      if (proposed !== undefined) return yield* draftOf(proposed, caller)
    }
    yield* counted
    return yield* drifted ? unavailable("drift") : NotYet.of(BUSY)
  })

  const draftOf = ({ judged, known, stored }: Proposed, caller: Caller) =>
    Effect.map(
      withCalls(previewOf(stored, caller, judged), stored, caller, queries, database, judged?.document),
      (preview): Draft => ({ changeId: stored.change_id, known, preview })
    )

  /** What a caller is shown of a change. */
  const shown = (stored: Stored, caller: Caller, via: Via) =>
    Effect.flatMap(withCalls(previewOf(stored, caller), stored, caller, queries, database), (preview) =>
      withPublication(preview, stored, caller, via, drafting)
    )

  /** Proposes what `of` makes of the caller: a policy file that is published over a version. */
  const publicationBy = Effect.fnUntraced(function* <E>(
    principal: Principal,
    via: Via,
    of: (caller: Caller) => Effect.Effect<Publishable, E>
  ) {
    const caller = yield* callerFor(principal, true)
    const { known, stored } = yield* proposePublication(yield* of(caller), via, caller, drafting)
    return { changeId: stored.change_id, known, preview: yield* shown(stored, caller, via) } satisfies Draft
  })

  return { callerFor, proposing, publicationBy, shown }
}
