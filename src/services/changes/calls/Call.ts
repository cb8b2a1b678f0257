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
import { resolveReferences } from "./references.ts"

/** What a step that names a declared action says. */
interface CallInput {
  readonly entityIds?: ReadonlyArray<string> | undefined
  readonly values?: ReadonlyArray<{ readonly columnId: string; readonly value: string }> | undefined
  /** The actions that have read values, by the field's slug. */
  readonly sources?: Readonly<Record<string, string>> | undefined
}

export interface Call {
  readonly action: DeclaredAction
  readonly values: CallValues
  /** The entities that values were found for. */
  readonly refers?: ChangeCall["refers"]
}

/** What a call does, for comparison. */
export const callSignature = ({ action, values }: Call) => ["call", action.slug, values]

/** A call as a document has it. */
export const documented = ({ action, refers, values }: Call): ChangeCall => ({
  action: action.slug,
  version: action.version,
  values,
  ...(refers === undefined ? {} : { refers })
})

/** The call of a document, in the version of the action that is in force; undefined when the caller may not use it any more. */
export const callOf = (
  { action: slug, refers, values }: ChangeCall,
  { actions }: Pick<Caller, "actions">
): Call | undefined => {
  const action = actions.find((one) => one.slug === slug)
  return action && { action, values, ...(refers === undefined ? {} : { refers }) }
}

/** Resolves a step that names a declared action. */
export const resolveCall = Effect.fnUntraced(function* (
  action: DeclaredAction,
  { entityIds = [], sources = {}, values = [] }: CallInput,
  caller: Caller,
  queries: EntityQueryService["Service"],
  readRows: ReadRows
) {
  if (entityIds.length > 0) return yield* InvalidInput.of(`${action.slug} takes no entityIds.`)
  const given = yield* Effect.fromResult(readValues(action.fields, values, caller.catalog.organization))
  const found = yield* resolveReferences(action.fields, given, caller, queries, readRows)
  const { executor } = action
  const address = executor._tag === "Http" ? addressOf(executor.url, found.values) : undefined
  if (address !== undefined && Result.isFailure(address))
    return yield* InvalidInput.of(`${action.slug} can't be sent with these values: ${address.failure}.`)
  const from = Object.entries(sources).filter(([slug]) => found.refers?.[slug] === undefined)
  if (from.length === 0) return { action, ...found } satisfies Call
  const read = Object.fromEntries(from.map(([slug, source]) => [slug, { action: source, name: "" }]))
  return { action, ...found, refers: { ...read, ...found.refers } } satisfies Call
})

/** Adds a call, unless the same is there. */
export const withCall = (calls: ReadonlyArray<Call>, call: Call): ReadonlyArray<Call> =>
  calls.some((each) => canonicalJson(callSignature(each)) === canonicalJson(callSignature(call)))
    ? calls
    : [...calls, call]
