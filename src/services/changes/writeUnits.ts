/** Locks the rows of a change, compares them with what was shown, writes them, and judges them again. */
import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import type { SqlError } from "effect/sql"
import type { Statement } from "../../database/sql/ResolvedQuery.ts"
import {
  type Assignment,
  changedColumns,
  type LockedRow,
  type RowChange,
  type SeenRow,
  type VerifiedRow,
  type WrittenRow
} from "../../database/sql/RowChange.ts"
import { carriedCounts, carriedOf, type CarriedRow, compileCarried } from "../../database/sql/carriedRows.ts"
import { compileWritable } from "../../database/sql/mappedWrite.ts"
import {
  compileDelete,
  compileInsert,
  compileLock,
  compileRestore,
  compileSeen,
  compileUpdate,
  compileVerify
} from "../../database/sql/write.ts"
import type { Catalog, Column, EntityType } from "../../domain/EntityType.ts"
import { NotAllowed, NotYet, Stale } from "../../domain/errors.ts"
import { printable } from "../../domain/text.ts"
import { type Bits, decide } from "../../permissions/decide.ts"
import { requireCreatedSeen, requireSeen, type Rows } from "./approverSees.ts"
import type { Caller } from "./callers.ts"
import { refused, unwritable } from "./evaluate.ts"
import { type Made, rowDigest } from "./made.ts"
import { taken } from "./taken.ts"
import { showText } from "./show.ts"
import { assignmentsOf, type Group, groupsOf, mayDangle, rowChangeOf, shownOf, type Unit } from "./Unit.ts"

/** A group as one writer's plans see it. */
interface Planned {
  readonly group: Group
  readonly change: RowChange
  readonly assignments: ReadonlyArray<Assignment>
  readonly writer: Caller
  /** The bits of the rows before, by id. */
  readonly before: Map<string, Bits["before"]>
}

/** The most cells that are said to differ. */
const MAX_DIFFERENCES = 8
const MOVED = "What you looked at isn't there any more: nothing was changed."
const OTHERWISE = "The database made something else of it: nothing was changed."
/** What came of a cell can be a text that the person may not see. */
const otherwise = (columns: ReadonlyArray<Column>): string =>
  columns.length === 0
    ? OTHERWISE
    : `The database made something else of ${columns.map(({ name }) => name).join(", ")}: nothing was changed.`
/** Deferred constraints and triggers of mapped tables run now, as the narrow role, and not when it was left. */
const DEFERRED = "SET CONSTRAINTS ALL IMMEDIATE"
const NO_LONGER = ({ pluralName }: EntityType) =>
  `You may not change ${pluralName.toLowerCase()} any more: nothing was changed.`

/**
 * Writes the units of a change; returns the rows that were added to mapped tables. Every writer must be permitted all of it, and the approver must see all of it. Fails without
 * an order among what it has done: the caller's transaction rolls back.
 */
export const writeUnits = Effect.fnUntraced(function* (
  units: ReadonlyArray<Unit>,
  writers: ReadonlyArray<Caller>,
  approver: Caller | undefined,
  sql: PgClient.PgClient
): Effect.fn.Return<Made, Stale | NotAllowed | NotYet | SqlError.SqlError> {
  const created = units.filter(({ op }) => op === "create").map(({ id }) => id)
  const groups = groupsOf(units)
  const planned: Array<Planned> = []
  const differences: Array<string> = []
  for (const group of groups) for (const writer of writers) planned.push(yield* plan(group, created, writer))
  const rows = <Row extends object>({ parameters, text }: Statement) => sql.unsafe<Row>(text, parameters)
  const mapped = groups.filter(({ units: [{ type }] }) => type.mapping !== undefined)
  yield* requireWritable(mapped, rows)
  for (const one of planned) {
    if (one.group.units[0].op === "create") continue
    const shown = shownOf(one.group, changedColumns(one.change))
    const locked = yield* rows<LockedRow>(compileLock(one.change, shown, one.writer.catalog))
    for (const unit of one.group.units) differences.push(...(yield* compareUnit(unit, locked, one, units.length > 1)))
  }
  if (differences.length > 0) {
    // With several writers, each compares.
    const said = [...new Set(differences)].slice(0, MAX_DIFFERENCES).join(" ")
    return yield* Stale.of(`${said} Nothing was changed.`)
  }
  for (const group of groups) yield* requireCarried(group, planned[0]!.writer, rows)
  for (const one of planned) yield* requireTargets(one, created, rows)
  if (approver !== undefined) for (const group of groups) yield* requireSeen(group, approver, rows)
  const given = new Map<string, string>()
  for (const group of groups) {
    const written = yield* write(
      group,
      planned.find((one) => one.group === group)!,
      rows
    )
    const [{ id, op, type }] = group.units
    if (op === "create" && type.mapping !== undefined) given.set(id, written[0]!.id!)
  }
  if (mapped.length > 0) {
    const onlyDeletes = mapped.every(({ units: [{ op }] }) => op === "delete")
    yield* taken(sql.unsafe(DEFERRED), onlyDeletes)
    // Again, because only the locks of the writes keep the relations as they are.
    yield* requireWritable(mapped, rows)
  }
  for (const one of planned) yield* verify(one, given, rows)
  if (approver !== undefined) for (const group of groups) yield* requireCreatedSeen(group, given, approver, rows)
  return yield* madeOf(planned, given, rows)
})

/** The rows that were added to mapped tables, as they are now. */
const madeOf = Effect.fnUntraced(function* (
  planned: ReadonlyArray<Planned>,
  given: ReadonlyMap<string, string>,
  rows: Rows
) {
  const made: Record<string, Made[string]> = {}
  for (const { change, group, writer } of planned) {
    const [{ id }] = group.units
    const entity = given.get(id)
    if (entity === undefined) continue
    const columns = changedColumns({ ...change, write: { action: "delete" } })
    const [row] = yield* rows<VerifiedRow>(
      compileVerify(change.type, [entity], columns, { ...change.write, after: [] }, writer.catalog)
    )
    made[id] = { entity, row: rowDigest(columns, row!.after) }
  }
  return made
})

const plan = (group: Group, created: ReadonlyArray<string>, writer: Caller): Effect.Effect<Planned, NotAllowed> => {
  const [{ op, type }] = group.units
  const read = writer.readOf(type)
  const write = writer.writeOf(type, op)
  if (read === undefined || write === undefined) {
    return Effect.fail(NotAllowed.of(NO_LONGER(type)))
  }
  return Effect.try({
    try: () => {
      const assignments = assignmentsOf(group, writer.catalog, writer.readOf, created)
      return { group, assignments, change: rowChangeOf(group, { read, write }, assignments), writer, before: new Map() }
    },
    // A relation leads to a type that the writer doesn't see any more.
    catch: () => NotAllowed.of(NO_LONGER(type))
  })
}

/**
 * Requires that a locked row is what was shown, and that the writer still sees what it changes. Returns the cells that differ,
 * in words.
 */
const compareUnit = Effect.fnUntraced(function* (
  unit: Unit,
  locked: ReadonlyArray<LockedRow>,
  { before, change, writer }: Planned,
  several: boolean
) {
  const row = locked.find(({ id }) => id === unit.id)
  if (row === undefined || row.organization_id !== writer.catalog.organization.id) return yield* Stale.of(MOVED)
  const columns = changedColumns(change)
  const name = row.name === null ? undefined : printable(row.name)
  const hidden = columns.find((_, index) => row.visible[index] !== true)
  if (hidden !== undefined) return yield* refused([{ column: hidden.key, because: "row" }], unit, name)
  const differences = columns.flatMap((column, index) =>
    row.same[index] === true
      ? []
      : [differenceOf(unit, column, row.before[index] ?? null, several ? name : undefined, writer.catalog)]
  )
  if (differences.length > 0) return differences
  if (!row.same_name) return yield* Stale.of(`It is called ${name ?? "something else"} now: nothing was changed.`)
  if (!row.same_row) return yield* Stale.of(`${name ?? "The row"} has changed since you looked: nothing was changed.`)
  const gone = columns.some(
    (column, index) => row.targets[index] === false && !mayDangle(unit, column, writer.catalog, writer.readOf)
  )
  if (gone) return yield* Stale.of(MOVED)
  before.set(unit.id, row.bits_before)
  return []
})

/** Requires that a writer still sees what a new row refers to. A restored row gets the references back that it had. */
const requireTargets = Effect.fnUntraced(function* (
  { assignments, group, writer }: Planned,
  created: ReadonlyArray<string>,
  rows: Rows
) {
  const [{ op, restores }] = group.units
  if (op !== "create" || restores !== undefined) return
  for (const { target, texts } of assignments) {
    const ids = texts.filter((id): id is string => id !== null && !created.includes(id))
    if (target === undefined || ids.length === 0) continue
    const read = writer.readOf(target.type)!
    const seen = yield* rows<SeenRow>(compileSeen(target.type, ids, [], read, writer.catalog))
    if (seen.length !== new Set(ids).size) return yield* Stale.of(MOVED)
  }
})

/** Requires that a deletion takes along what was shown; the locks on the rows keep others from coming to lead to them. */
const requireCarried = Effect.fnUntraced(function* ({ units }: Group, { catalog }: Caller, rows: Rows) {
  const [{ op, type }] = units
  if (op !== "delete" || carriedOf(type).length === 0) return
  const counted = yield* rows<CarriedRow>(
    compileCarried(
      type,
      units.map(({ id }) => id),
      catalog
    )
  )
  for (const { id, step } of units) {
    const now = carriedCounts(
      type,
      counted.find((row) => row.id === id)
    )
    const { carried = {} } = step!
    for (const name of new Set([...Object.keys(now), ...Object.keys(carried)])) {
      const [was, is] = [carried[name] ?? 0, now[name] ?? 0]
      if (was !== is)
        return yield* Stale.of(
          `When you looked, ${was} rows of ${name} would have gone along or changed; now ${is} would. Nothing was changed.`
        )
    }
  }
})

/** Both texts, as the writer may see them; of a reference only that it differs, because its id says nothing. */
const differenceOf = (
  { step }: Unit,
  column: Column,
  now: string | null,
  of: string | undefined,
  catalog: Catalog
): string => {
  const cell = of === undefined ? column.name : `${column.name} of ${of}`
  if (column.storage._tag !== "Value") return `${cell} has changed since you looked.`
  const shown = (text: string | null) => showText(column, text, catalog) ?? "empty"
  const was = shown(step!.before[column.key] ?? null)
  return `${cell} was ${was} when you looked; it is ${shown(now)} now.`
}

const write = Effect.fnUntraced(function* ({ units }: Group, { assignments, writer }: Planned, rows: Rows) {
  const [{ id, op, restores, type }] = units
  const ids = units.map((unit) => unit.id)
  const links = assignments.filter(({ column }) => column.storage._tag === "Many")
  const writing = rows<Partial<WrittenRow>>(
    op === "delete"
      ? compileDelete(type, ids, writer.catalog)
      : op === "update"
        ? compileUpdate(type, ids, assignments, writer.catalog)
        : restores === undefined
          ? compileInsert(type, id, assignments, writer.catalog)
          : compileRestore(type, id, restores, links, writer.catalog)
  )
  const written = yield* type.mapping === undefined ? writing : taken(writing, op === "delete")
  // A writable table has one row of an id: another row of it would be one that wasn't shown.
  if (written.length !== units.length) return yield* Stale.of(OTHERWISE)
  const isGiven = op === "create" && type.mapping !== undefined
  for (const unit of units) {
    const row = isGiven ? written[0] : written.find((one) => one.id === unit.id)
    const others = assignments.filter(
      ({ column }, index) =>
        row?.after !== undefined && column.storage._tag !== "Many" && row.after[index] !== unit.step!.after[column.key]
    )
    if (row === undefined || row.gone === false || others.length > 0)
      return yield* Stale.of(otherwise(others.map(({ column }) => column)))
  }
  return written
})

/** Requires that mapped relations are as they were mapped, and carry a change no further. */
const requireWritable = Effect.fnUntraced(function* (groups: ReadonlyArray<Group>, rows: Rows) {
  for (const { units } of groups) {
    const [{ cells, op, type }] = units
    const columns = cells.map(({ column }) => column)
    const [row] = yield* rows<{ writable: boolean }>(compileWritable(type, op, columns))
    if (row?.writable !== true) return yield* NotYet.of(`${unwritable(type)} Nothing was changed.`)
  }
})

/** Judges the rows as they are now, and compares them with what was confirmed. */
const verify = Effect.fnUntraced(function* (
  { before, change, group, writer }: Planned,
  given: ReadonlyMap<string, string>,
  rows: Rows
) {
  const { type, write: plan } = change
  const columns = changedColumns(change)
  const after =
    plan.action === "delete"
      ? []
      : yield* rows<VerifiedRow>(
          compileVerify(
            type,
            change.ids.map((id) => given.get(id) ?? id),
            columns,
            plan,
            writer.catalog
          )
        )
  for (const unit of group.units) {
    const row = after.find(({ id }) => id === (given.get(unit.id) ?? unit.id))
    if (plan.action !== "delete") {
      const others = columns.filter(({ key }, index) => row?.after[index] !== unit.step!.after[key])
      if (row?.organization_id !== writer.catalog.organization.id || others.length > 0)
        return yield* Stale.of(otherwise(row === undefined ? [] : others))
    }
    const keys = columns.map(({ key }) => key)
    const refusals = decide(plan, keys, { before: before.get(unit.id), after: row?.bits_after })
    if (refusals.length > 0) {
      const name = unit.step!.shown["name"] ?? null
      return yield* refused(refusals, unit, name === null ? undefined : printable(name))
    }
  }
})
