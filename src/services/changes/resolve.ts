/**
 * Steps as callers write them → units: names resolve among the visible ones, values become texts, and references are looked
 * up through the caller's own plan. A hidden name and an unknown one give the same error.
 */
import { Effect } from "effect"
import { actionBySlug, MAX_CHANGE_ROWS } from "../../domain/Action.ts"
import { READ } from "../../domain/DeclaredAction.ts"
import { sourceSlugs } from "../../domain/derived.ts"
import { columnBySlug, type Column, type EntityType, typeByKey } from "../../domain/EntityType.ts"
import { atField, InvalidInput, NotAllowed, UnknownName } from "../../domain/errors.ts"
import { quoted } from "../../domain/text.ts"
import { parseId, showId } from "../../domain/values.ts"
import type { ReadRows } from "../actions/readRows.ts"
import { partsOf } from "../cells/cellWriter.ts"
import type { EntityQueryService } from "../EntityQueryService.ts"
import { unknownName } from "../lookup/unknownName.ts"
import { visibleColumns } from "../lookup/visible.ts"
import { type Call, placeOfCall, resolveCall, withCall } from "./calls/Call.ts"
import { type Caller, openAction, openActions, requireKnown } from "./callers.ts"
import { canonicalJson } from "./document.ts"
import { findTarget } from "./findTarget.ts"
import { idForNew } from "./made.ts"
import { type SetCell, signatureOf, type Unit } from "./Unit.ts"
import { checkText, limitProblem, validate } from "./validate.ts"
import { followed, type Places, type Pointer, requireKnownBefore } from "./writePointers.ts"

/** A step as a caller writes it. */
export interface StepInput {
  /** The action's slug. */
  readonly actionId: string
  /** The rows; none for a create. */
  readonly entityIds?: ReadonlyArray<string> | undefined
  /** Texts by column slug; an empty one empties the cell. */
  readonly values?: ReadonlyArray<{ readonly columnId: string; readonly value: string }> | undefined
  /** The actions that have read values, by column slug. */
  readonly sources?: Readonly<Record<string, string>> | undefined
  /** Values that earlier steps make, by column slug. */
  readonly pointers?: Readonly<Record<string, Pointer>> | undefined
  /** Its place in the proposal, which pointers name. */
  readonly place?: number | undefined
}

/** The error for a row that doesn't exist or is hidden. */
export const noEntity = (type: EntityType, id: string): UnknownName =>
  new UnknownName({ message: `There is no ${type.name.toLowerCase()} with the id ${quoted(id)}.` })

/** What a change is made of. */
export interface Prepared {
  readonly units: ReadonlyArray<Unit>
  readonly calls: ReadonlyArray<Call>
}

/** Resolves steps into units and calls, after those of an earlier draft that they extend. */
export const resolveAll = Effect.fnUntraced(function* (
  steps: ReadonlyArray<StepInput>,
  before: Prepared,
  caller: Caller,
  queries: EntityQueryService["Service"],
  read: ReadRows
) {
  yield* requireKnown(
    steps.map(({ actionId }) => actionId),
    caller
  )
  const declared = (step: StepInput) => caller.actions.find(({ slug }) => slug === step.actionId)
  const onRows = steps.filter((step) => declared(step) === undefined)
  const places = placesOf(before)
  let { calls, units } = before
  for (const step of steps) {
    const action = declared(step)
    // Its place among the calls is known in its turn; until then, rows point at it in vain.
    if (action !== undefined && step.place !== undefined) places.set(step.place, { call: calls.length, action })
  }
  // Rows are written before calls are sent.
  if (onRows.length > 0 || (steps.length === 0 && calls.length === 0))
    units = yield* resolveSteps(onRows, units, places, caller, queries)
  for (const step of steps) {
    const action = declared(step)
    if (action === undefined) continue
    if (action.category === READ)
      return yield* InvalidInput.of(`${action.slug} only reads, so it is no step of a change.`)
    const { later, values } = yield* followed(step.pointers ?? {}, places)
    const given = { ...step, values: [...(step.values ?? []), ...values], later }
    const call = yield* resolveCall(action, given, caller, queries, read)
    calls = withCall(calls, call)
    if (step.place !== undefined) places.set(step.place, { call: placeOfCall(calls, call), action })
  }
  if (units.length + calls.length > MAX_CHANGE_ROWS)
    return yield* InvalidInput.of(`A change has at most ${MAX_CHANGE_ROWS} rows.`)
  return { units, calls } satisfies Prepared
})

/** The places of a draft's own steps, which come before those that continue it. */
const placesOf = ({ calls, units }: Prepared): Places =>
  new Map([...units, ...calls.map(({ action }, call) => ({ call, action }))].entries())

/** Resolves steps into units, after the units of an earlier draft that they extend. */
const resolveSteps = Effect.fnUntraced(function* (
  steps: ReadonlyArray<StepInput>,
  before: ReadonlyArray<Unit>,
  places: Places,
  caller: Caller,
  queries: EntityQueryService["Service"]
) {
  let units = before
  if (steps.length === 0) return yield* InvalidInput.of("A change has at least one step.")
  for (const step of steps) {
    const { later, values } = yield* followed(step.pointers ?? {}, places)
    yield* requireKnownBefore(later, { slug: step.actionId })
    const given = { ...step, values: [...(step.values ?? []), ...values] }
    for (const unit of yield* resolveStep(given, units, caller, queries)) {
      units = yield* merged(units, unit)
      if (step.place !== undefined) places.set(step.place, units.find(isSame(unit)) ?? unit)
    }
    if (units.length > MAX_CHANGE_ROWS) return yield* InvalidInput.of(`A change has at most ${MAX_CHANGE_ROWS} rows.`)
  }
  return units
})

const isSame = (unit: Unit) => (each: Unit) =>
  (each.id === unit.id || each.op === "create") && canonicalJson(signatureOf(each)) === canonicalJson(signatureOf(unit))

/** Adds a unit, unless it is there already; a second update of a row joins the first, because a row is written once. */
const merged = (units: ReadonlyArray<Unit>, unit: Unit): Effect.Effect<ReadonlyArray<Unit>, InvalidInput> => {
  if (units.some(isSame(unit))) return Effect.succeed(units)
  const other = units.find(({ id, type }) => id === unit.id && type.key === unit.type.key)
  if (other === undefined) return Effect.succeed([...units, unit])
  const twice = unit.cells.find(({ column }) => other.cells.some((cell) => cell.column.key === column.key))
  if (other.op !== "update" || unit.op !== "update")
    return Effect.fail(InvalidInput.of(`One change does one thing to a ${unit.type.name.toLowerCase()}.`))
  if (twice !== undefined) return Effect.fail(InvalidInput.of(`${twice.column.slug} is set twice.`))
  const cells = unit.type.columns.flatMap(({ key }) =>
    [...other.cells, ...unit.cells].filter(({ column }) => column.key === key)
  )
  const { step: _, ...rest } = other
  return Effect.succeed(units.map((each) => (each === other ? { ...rest, cells } : each)))
}

const resolveStep = Effect.fnUntraced(function* (
  step: StepInput,
  units: ReadonlyArray<Unit>,
  caller: Caller,
  queries: EntityQueryService["Service"]
) {
  const action = actionBySlug(caller.catalog, step.actionId)
  const open = action && openAction(action, caller)
  const type = action && typeByKey(caller.catalog, action.subject.type)
  if (action === undefined || open === undefined || type === undefined) {
    const known = openActions(caller).map((each) => each.action.slug)
    return yield* unknownName(step.actionId, `There is no action ${quoted(step.actionId)}.`, known)
  }
  const { op } = action.executor
  const named = [...new Set(step.entityIds ?? [])]
  if (op === "create" && named.length > 0)
    return yield* InvalidInput.of(`${action.slug} takes no entityIds: it gives the id.`)
  if (op !== "create" && named.length === 0) return yield* InvalidInput.of(`${action.slug} needs entityIds.`)
  if (named.length > action.subject.most)
    return yield* InvalidInput.of(`${action.slug} takes at most ${action.subject.most} entityIds.`)
  const cells = yield* resolveCells(step, type, op === "create", open.columns, units, caller, queries)
  if (op === "delete" && cells.length > 0) return yield* InvalidInput.of(`${action.slug} takes no values.`)
  if (op !== "delete" && cells.length === 0) return yield* InvalidInput.of(`${action.slug} needs values.`)
  const missing = op === "create" ? action.fields.find(isMissing(cells)) : undefined
  if (missing !== undefined)
    return yield* atField(missing.slug)(InvalidInput.of(`${action.slug} needs ${missing.slug}.`))
  if (op === "create") return [{ action, op, type, id: idForNew(type), cells }] satisfies ReadonlyArray<Unit>
  const found: Array<Unit> = []
  for (const text of named) {
    const id = parseId(text, type.mapping?.id.type)
    if (id === undefined) return yield* noEntity(type, text)
    found.push({ action, op, type, id, cells })
  }
  return found
})

const isMissing =
  (cells: ReadonlyArray<SetCell>) =>
  ({ key, needed }: { readonly key: string; readonly needed: boolean }) =>
    needed && !cells.some(({ column }) => column.key === key)

const resolveCells = Effect.fnUntraced(function* (
  { actionId, values = [] }: StepInput,
  type: EntityType,
  creates: boolean,
  settable: ReadonlyArray<string>,
  units: ReadonlyArray<Unit>,
  caller: Caller,
  queries: EntityQueryService["Service"]
) {
  const plan = caller.readOf(type)!
  const visible = visibleColumns({ type, plan }, caller.view)
  const cells = new Map<string, SetCell>()
  for (const { columnId, value } of values) {
    const column = columnBySlug(type, columnId)
    const computed = visible.find(({ derived, slug }) => derived !== undefined && slug === columnId)
    if (computed !== undefined)
      return yield* atField(columnId)(
        InvalidInput.of(`${columnId} is computed, and nothing sets it: change ${sourceSlugs(computed).join(" or ")}.`)
      )
    if (column === undefined || !visible.includes(column)) {
      return yield* unknownName(
        columnId,
        `There is no column ${quoted(columnId)} in ${type.slug}.`,
        visible.map(({ slug }) => slug)
      )
    }
    // A delete sets nothing: the caller gets the error for values, not one for the column.
    if (!settable.includes(column.key) && !actionId.endsWith(".delete"))
      return yield* NotAllowed.of(`You may not ${creates ? "set" : "change"} ${column.slug} of ${type.slug}.`)
    if (cells.has(column.key)) return yield* InvalidInput.of(`${column.slug} is set twice.`)
    const at = <A, E, R>(checked: Effect.Effect<A, E, R>) => Effect.mapError(checked, atField(column.slug))
    const text = yield* at(Effect.fromResult(checkText(column, value)))
    // A new row's cells are empty already.
    if (creates && text === undefined) continue
    const texts =
      column.storage._tag === "Value"
        ? yield* at(Effect.fromResult(validate(column, text, caller.catalog.organization)))
        : yield* at(resolveTargets(column, text, units, caller, queries))
    const problem = limitProblem(column, texts[0] ?? null, type.mapping?.write?.limits?.[column.key] ?? {})
    if (problem !== undefined) return yield* at(Effect.fail(InvalidInput.of(`${column.slug} ${problem}.`)))
    cells.set(column.key, { column, texts })
  }
  return type.columns.flatMap(({ key }) => cells.get(key) ?? [])
})

/** The ids that a relation is set to, in their bound form and order. */
const resolveTargets = Effect.fnUntraced(function* (
  column: Column,
  text: string | undefined,
  units: ReadonlyArray<Unit>,
  caller: Caller,
  queries: EntityQueryService["Service"]
) {
  if (column.storage._tag === "Value") throw new Error("A value has no target")
  const many = column.storage._tag === "Many"
  if (text === undefined) return many ? [] : [null]
  const target = typeByKey(caller.catalog, column.storage.target)!
  const parts = many ? partsOf(text) : [text.trim()]
  if (typeof parts === "string") return yield* InvalidInput.of(`${column.slug}: ${parts}.`)
  const ids = new Set<string>()
  for (const part of parts) ids.add(yield* resolveTarget(column, part, target, units, caller, queries))
  return [...ids].toSorted((a, b) => (BigInt(a) < BigInt(b) ? -1 : 1))
})

/** An entity by its id, by what identifies it, or by a part of its name; each through the caller's plan. */
const resolveTarget = Effect.fnUntraced(function* (
  column: Column,
  text: string,
  target: EntityType,
  units: ReadonlyArray<Unit>,
  caller: Caller,
  queries: EntityQueryService["Service"]
) {
  const idType = target.mapping?.id.type
  const id = parseId(text, idType)
  // The id of a new row of a mapped table isn't known before the database gives it.
  const isNew = (unit: Unit) => unit.op === "create" && unit.type.key === target.key && unit.id === id
  if (idType === undefined && units.some(isNew)) return id!
  const { entityId } = yield* findTarget({ label: column.slug, text, target }, caller, queries)
  return parseId(entityId, idType)!
})

/** The id of a unit's row as callers see it. */
export const shownIdOf = ({ id, type }: Pick<Unit, "id" | "type">): string => showId(id, type.mapping?.id.type)
