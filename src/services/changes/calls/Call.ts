/** The calls of a change: declared actions with checked values, each a request to another system after the change is applied. */
import { Effect, Result } from "effect"
import type { ChangeCall } from "../../../domain/Change.ts"
import type { CallValues, DeclaredAction } from "../../../domain/DeclaredAction.ts"
import { InvalidInput } from "../../../domain/errors.ts"
import { readValues } from "../../actions/fieldValues.ts"
import type { ReadRows } from "../../actions/readRows.ts"
import { addressOf } from "../../actions/template.ts"
import type { EntityQueryService } from "../../EntityQueryService.ts"
import type { Caller } from "../callers.ts"
import { canonicalJson } from "../document.ts"
import { requireFillable } from "../writePointers.ts"
import { resolveReferences } from "./references.ts"

/** What a step that names a declared action says. */
interface CallInput {
  readonly entityIds?: ReadonlyArray<string> | undefined
  readonly values?: ReadonlyArray<{ readonly columnId: string; readonly value: string }> | undefined
  /** The actions that have read values, by the field's slug. */
  readonly sources?: Readonly<Record<string, string>> | undefined
  /** What is filled in before it is sent. */
  readonly later?: ChangeCall["later"]
}

export interface Call {
  readonly action: DeclaredAction
  readonly values: CallValues
  /** The entities that values were found for. */
  readonly refers?: ChangeCall["refers"]
  /** What is filled in before it is sent, from answers to earlier calls. */
  readonly later?: ChangeCall["later"]
}

/** What a call does, for comparison. */
export const callSignature = ({ action, later, values }: Call) => [
  "call",
  action.slug,
  values,
  ...(later === undefined ? [] : [later])
]

/** A call as a document has it. */
export const documented = ({ action, later, refers, values }: Call): ChangeCall => ({
  action: action.slug,
  version: action.version,
  values,
  ...(refers === undefined ? {} : { refers }),
  ...(later === undefined ? {} : { later })
})

/** The call of a document, in the version of the action that is in force; undefined when the caller may not use it any more. */
export const callOf = (
  { action: slug, later, refers, values }: ChangeCall,
  { actions }: Pick<Caller, "actions">
): Call | undefined => {
  const action = actions.find((one) => one.slug === slug)
  const parts = { ...(refers === undefined ? {} : { refers }), ...(later === undefined ? {} : { later }) }
  return action && { action, values, ...parts }
}

/** Resolves a step that names a declared action. */
export const resolveCall = Effect.fnUntraced(function* (
  action: DeclaredAction,
  { entityIds = [], later = {}, sources = {}, values = [] }: CallInput,
  caller: Caller,
  queries: EntityQueryService["Service"],
  readRows: ReadRows
) {
  if (entityIds.length > 0) return yield* InvalidInput.of(`${action.slug} takes no entityIds.`)
  yield* requireFillable(later, action)
  const known = action.fields.filter(({ slug }) => !Object.hasOwn(later, slug))
  const given = yield* Effect.fromResult(readValues(known, values, caller.catalog.organization))
  const found = yield* resolveReferences(known, given, caller, queries, readRows)
  const { executor } = action
  // What is filled in later is checked in its place then.
  const open = Object.fromEntries(Object.keys(later).map((slug) => [slug, "0"]))
  const address = executor._tag === "Http" ? addressOf(executor.url, { ...found.values, ...open }) : undefined
  if (address !== undefined && Result.isFailure(address))
    return yield* InvalidInput.of(`${action.slug} can't be sent with these values: ${address.failure}.`)
  const from = Object.entries(sources).filter(([slug]) => found.refers?.[slug] === undefined)
  const call: Call = { action, ...found, ...(Object.keys(later).length === 0 ? {} : { later }) }
  if (from.length === 0) return call
  const read = Object.fromEntries(from.map(([slug, source]) => [slug, { action: source, name: "" }]))
  return { ...call, refers: { ...read, ...found.refers } }
})

const isSame = (call: Call) => (each: Call) => canonicalJson(callSignature(each)) === canonicalJson(callSignature(call))

/** Adds a call, unless the same is there. */
export const withCall = (calls: ReadonlyArray<Call>, call: Call): ReadonlyArray<Call> =>
  calls.some(isSame(call)) ? calls : [...calls, call]

/** The place of a call, or of the same one that was there before. */
export const placeOfCall = (calls: ReadonlyArray<Call>, call: Call): number => calls.findIndex(isSame(call))
