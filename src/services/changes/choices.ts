/** The entities that can be chosen for a field of an action: each found through the caller's own plan, or read in the other system. */
import { Effect } from "effect"
import type { ActionField, CallValues } from "../../domain/DeclaredAction.ts"
import { typeByKey, typeBySlug } from "../../domain/EntityType.ts"
import { type ProposalError, UnknownName } from "../../domain/errors.ts"
import { quoted } from "../../domain/text.ts"
import type { ReadRows } from "../actions/readRows.ts"
import type { EntityQueryService } from "../EntityQueryService.ts"
import { type Caller, openActions } from "./callers.ts"
import { candidatesOf } from "./calls/candidates.ts"
import { resolveReferences } from "./calls/references.ts"
import { searchTargets } from "./findTarget.ts"

/** What a person has typed so far, in a field of an action. */
export interface Choosing {
  /** The action's slug. */
  readonly actionId: string
  /** The field's slug. */
  readonly field: string
  /** A part of what names it; nothing lists the first ones. */
  readonly text: string
  /** The values of other fields, which a field within another needs. */
  readonly values?: CallValues | undefined
}

/** One entity: `value` is what the field takes, and `name` is what the person reads. */
export interface Choice {
  readonly value: string
  readonly name: string
}

type Queries = EntityQueryService["Service"]

export const choicesFor = Effect.fnUntraced(function* (
  { actionId, field: slug, text, values = {} }: Choosing,
  caller: Caller,
  queries: Queries,
  read: ReadRows
): Effect.fn.Return<ReadonlyArray<Choice>, ProposalError> {
  const open = openActions(caller).find(({ action }) => action.slug === actionId)
  if (open === undefined) return yield* new UnknownName({ message: `There is no action ${quoted(actionId)}.` })
  if (open.type !== undefined) {
    const field = open.action.fields.find((one) => one.slug === slug && open.columns.includes(one.key))
    const target = field?.target === undefined ? undefined : typeByKey(caller.catalog, field.target)
    if (target === undefined) return yield* noField(slug)
    return yield* searchTargets({ text, target }, caller, queries)
  }
  const { fields } = open.action
  const field = fields.find((one) => one.slug === slug && one.kind === "reference")
  if (field === undefined) return yield* noField(slug)
  if (field.from !== undefined) {
    // The other system is asked with what would be sent, so the references beside it are found first.
    const beside = fields.filter(({ from, slug: one }) => from === undefined && values[one] !== undefined)
    const known = yield* resolveReferences(beside, values, caller, queries, read)
    return yield* candidatesOf({ from: field.from, label: slug, text }, known.values, caller, read)
  }
  const target = typeBySlug(caller.catalog, field.target ?? "")
  if (target === undefined) return []
  const also = field.sends === undefined ? [] : [field.sends]
  const { within } = field
  if (within === undefined) return yield* searchTargets({ text, target, also }, caller, queries)
  const { refers = {} } = yield* resolveReferences(outerOf(fields, within.field), values, caller, queries, read)
  const parent = refers[within.field]
  if (parent === undefined || !("entity" in parent)) return []
  const among = [{ columnId: within.column, op: "eq" as const, value: parent.entity }]
  return yield* searchTargets({ text, target, also, among }, caller, queries)
})

const noField = (slug: string) =>
  new UnknownName({ message: `There is no field ${quoted(slug)} that stands for an entity.` })

/** A reference with those that it lies within. */
const outerOf = (
  fields: ReadonlyArray<ActionField>,
  slug: string,
  inner: ReadonlyArray<ActionField> = []
): ReadonlyArray<ActionField> => {
  const field = fields.find((one) => one.slug === slug)
  if (field === undefined || inner.includes(field)) return inner
  return field.within === undefined ? [...inner, field] : outerOf(fields, field.within.field, [...inner, field])
}
