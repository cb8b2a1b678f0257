/**
 * What takes back the calls of a change: for each one that is done, the action that it declares as its inverse. It is proposed
 * like any other change, with the values of the call and what the service answered, and nothing runs it by itself.
 */
import { Effect } from "effect"
import type { Database } from "../../../database/Database.ts"
import { orUnavailable } from "../../../database/execute.ts"
import type { ChangeCall, ChangeDocument } from "../../../domain/Change.ts"
import type { DeclaredAction } from "../../../domain/DeclaredAction.ts"
import { Decided, NotAllowed, type NotYet, type ProposalError, type Unavailable } from "../../../domain/errors.ts"
import type { ReadRows } from "../../actions/readRows.ts"
import type { EntityQueryService } from "../../EntityQueryService.ts"
import { type Caller, requireKnown } from "../callers.ts"
import { type Call, resolveCall } from "./Call.ts"
import { answeredFor, wholeResult } from "./later.ts"
import { calledActions, isPending, type Outcome, outcomesOf } from "./outboxRows.ts"
import { standingOf } from "./references.ts"

/** The inverse of a call that is done. */
export interface Inverse {
  readonly call: ChangeCall
  /** The name of the action that was done. */
  readonly name: string
  /** The slug of the action that takes it back. */
  readonly action: string
  readonly values: ReadonlyArray<{ readonly columnId: string; readonly value: string }>
}

/** The inverses of the calls that are done, the last one first. An answer without a value that an inverse takes leaves none. */
export const inversesOf = (
  outcomes: ReadonlyArray<Outcome>,
  calls: ReadonlyArray<ChangeCall>,
  actions: ReadonlyArray<DeclaredAction>
): ReadonlyArray<Inverse> =>
  outcomes
    .filter(({ state }) => state === "done")
    .toSorted((a, b) => b.step - a.step)
    .flatMap(({ result, step }): ReadonlyArray<Inverse> => {
      const call = calls[step]
      const action = actions.find(({ slug, version }) => slug === call?.action && version === call.version)
      const { inverse, name } = action ?? {}
      if (call === undefined || inverse === undefined || name === undefined) return []
      const entries = Object.entries(inverse.fields).map(([columnId, source]) => ({
        columnId,
        isAnswered: "result" in source,
        value:
          "result" in source
            ? wholeResult(result?.[source.result])
            : (saidOf(call, source.field) ?? answeredFor(call, source.field, outcomes))
      }))
      if (entries.some(({ isAnswered, value }) => isAnswered && value === undefined)) return []
      const values = entries.flatMap(({ columnId, value }) => (value === undefined ? [] : [{ columnId, value }]))
      return [{ call, name, action: inverse.action, values }]
    })

/** The value of a field; of a reference to an entity, its id. */
const saidOf = ({ refers = {}, values }: ChangeCall, slug: string): string | undefined => {
  const refer = refers[slug]
  return refer !== undefined && "entity" in refer ? refer.entity : values[slug]
}

/** What undoing a change proposes beside its rows, and what it leaves. */
export interface Undoing {
  readonly inverses: ReadonlyArray<Inverse>
  /** The names of actions that were or may have been done, and aren't taken back. */
  readonly remains: ReadonlyArray<string>
}

/** The inverses of an applied change. Fails where none of its parts can be taken back here. */
export const requireInverses = Effect.fnUntraced(function* (
  { calls = [], change, steps }: ChangeDocument,
  organizationId: bigint,
  { changes: sql }: Database["Service"]
): Effect.fn.Return<Undoing, Decided | Unavailable> {
  if (calls.length === 0) return { inverses: [], remains: [] }
  const outcomes = yield* orUnavailable(outcomesOf(sql, organizationId, change))
  const refuse = (message: string) => Effect.fail(new Decided({ message, state: "applied" }))
  if (outcomes.some(isPending)) return yield* refuse("It is still being sent. Undo it when that has come to an end.")
  const actions = yield* orUnavailable(calledActions(sql, organizationId, calls))
  const inverses = inversesOf(outcomes, calls, actions)
  const remains = outcomes
    .filter(({ state }) => state === "done" || state === "unknown")
    .flatMap(({ step }) => calls[step] ?? [])
    .filter((call) => !inverses.some((inverse) => inverse.call === call))
    .map(
      (call) =>
        actions.find(({ slug, version }) => slug === call.action && version === call.version)?.name ?? call.action
    )
  if (steps.length > 0 || inverses.length > 0) return { inverses, remains: [...new Set(remains)] }
  return yield* refuse(
    outcomes.some(({ state }) => state === "done" || state === "unknown")
      ? "Another system has done this: it can't be undone here."
      : "Nothing of this was done, so there is nothing to undo."
  )
})

/** The calls of an undo, for a person who may use those actions, and who still sees what the ones before were about. */
export const resolveInverses = Effect.fnUntraced(function* (
  inverses: ReadonlyArray<Inverse>,
  caller: Caller,
  queries: EntityQueryService["Service"],
  read: ReadRows
): Effect.fn.Return<ReadonlyArray<Call>, ProposalError | NotYet> {
  yield* requireKnown(
    inverses.map(({ action }) => action),
    caller
  )
  return yield* Effect.forEach(
    inverses,
    Effect.fnUntraced(function* ({ action: slug, call, name, values }) {
      const action = caller.actions.find((one) => one.slug === slug)
      const standings = Object.values(yield* standingOf(call, caller, queries))
      if (action === undefined || standings.some(({ _tag }) => _tag === "Hidden"))
        return yield* NotAllowed.of(`You may not take back “${name}”.`)
      return yield* resolveCall(action, { values }, caller, queries, read)
    })
  )
})
