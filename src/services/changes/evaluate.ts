/**
 * Units → steps of a document: one statement per group computes what the caller sees of the rows, what they would become and
 * whether the policy permits it. It runs as the reading role, locks nothing and fires no trigger.
 */
import { Effect } from "effect"
import { carriedCounts, carriedOf, type CarriedRow, compileCarried } from "../../database/sql/carriedRows.ts"
import { changedColumns, type ProposedRow } from "../../database/sql/RowChange.ts"
import { compilePropose } from "../../database/sql/write.ts"
import type { ChangeStep } from "../../domain/Change.ts"
import { type Column, DISPLAY_NAME, type EntityType } from "../../domain/EntityType.ts"
import { InvalidInput, NotAllowed, NotYet, Unavailable, type UnknownName } from "../../domain/errors.ts"
import { printable } from "../../domain/text.ts"
import { decide, type Refusals } from "../../permissions/decide.ts"
import type { WriteAction } from "../../permissions/WritePlan.ts"
import { type Caller, ownPerson } from "./callers.ts"
import { compiled } from "./reader.ts"
import { noEntity, shownIdOf } from "./resolve.ts"
import { cut } from "./show.ts"
import { assignmentsOf, type Group, groupsOf, mayDangle, rowChangeOf, type Unit } from "./Unit.ts"

/** The state that the caller's plans were made from is over, or a mapped relation that they look at isn't as it was mapped. */
export class StalePlan {
  readonly _tag = "StalePlan"
  readonly isMapped: boolean

  constructor(isMapped = false) {
    this.isMapped = isMapped
  }
}

export interface Evaluated {
  /** In the order of the units, without cells that wouldn't change. */
  readonly steps: ReadonlyArray<ChangeStep>
  /** The name of the caller's own row, if the caller may see it. */
  readonly proposerName: string | undefined
}

export const evaluate = Effect.fnUntraced(function* (
  units: ReadonlyArray<Unit>,
  caller: Caller
): Effect.fn.Return<Evaluated, StalePlan | NotAllowed | NotYet | InvalidInput | UnknownName | Unavailable> {
  const created = units.filter(({ op }) => op === "create").map(({ id }) => id)
  const steps = new Map<Unit, ChangeStep>()
  let proposerName: string | undefined
  for (const group of groupsOf(units)) {
    const evaluated = yield* evaluateGroup(group, created, caller)
    for (const [unit, step] of evaluated.steps) steps.set(unit, step)
    proposerName = evaluated.proposerName
  }
  const inOrder = units.flatMap((unit) => steps.get(unit) ?? [])
  return inOrder.length > 0
    ? { steps: inOrder, proposerName }
    : yield* InvalidInput.of("Nothing would change: the values are there already.")
})

const evaluateGroup = Effect.fnUntraced(function* (group: Group, created: ReadonlyArray<string>, caller: Caller) {
  const [first] = group.units
  const { op, type } = first
  const read = caller.readOf(type)
  const write = caller.writeOf(type, op)
  if (read === undefined || write === undefined)
    return yield* NotAllowed.of(`You may not ${VERBS[op]} ${type.pluralName.toLowerCase()}.`)
  const assignments = yield* compiled(() => assignmentsOf(group, caller.catalog, caller.readOf, created))
  const change = rowChangeOf(group, { read, write }, assignments)
  const columns = changedColumns(change)
  const statement = yield* compiled(() => compilePropose(change, caller.catalog, ownPerson(caller)))
  const rows = yield* caller.read<ProposedRow>(statement)
  if (rows[0]?.fresh !== true) return yield* Effect.fail(new StalePlan(statement.mapped === true))
  if (rows[0].writable === false) return yield* NotYet.of(unwritable(type))
  const byId = new Map(rows.map((row) => [row.id, row]))
  const counted = new Map<string, CarriedRow>()
  if (op === "delete" && carriedOf(type).length > 0) {
    const counting = yield* compiled(() =>
      compileCarried(
        type,
        rows.flatMap(({ id }) => id ?? []),
        caller.catalog
      )
    )
    for (const row of yield* caller.read<CarriedRow>(counting)) counted.set(row.id, row)
  }
  const steps: Array<readonly [Unit, ChangeStep]> = []
  for (const unit of group.units) {
    const row = byId.get(unit.id)
    if (row === undefined) return yield* noEntity(type, shownIdOf(unit))
    // The organization is in every condition; a row of another one is a bug, and must not be changed.
    if (row.organization_id !== caller.catalog.organization.id) return yield* Unavailable.error
    const step = yield* stepOf(unit, row, columns, caller)
    if (step === undefined) continue
    const carried = carriedCounts(type, counted.get(unit.id))
    steps.push([unit, Object.keys(carried).length === 0 ? step : { ...step, carried }])
  }
  const [{ proposer }] = rows as [ProposedRow]
  return { steps, proposerName: proposer === null || proposer === undefined ? undefined : cut(proposer) }
})

/** The step of a unit; undefined when nothing would change. */
const stepOf = Effect.fnUntraced(function* (
  unit: Unit,
  row: ProposedRow,
  columns: ReadonlyArray<Column>,
  caller: Caller
) {
  const { action, op, type } = unit
  const write = caller.writeOf(type, op)!
  const changed = columns.flatMap((column, index) =>
    op === "update" && row.before[index] === row.after[index] && row.visible[index] === true ? [] : [{ column, index }]
  )
  if (changed.length === 0 && op === "update") return undefined
  const hidden = changed.find(({ index }) => row.visible[index] !== true)
  const name = row.name === null ? undefined : printable(row.name)
  if (hidden !== undefined) return yield* refused([{ column: hidden.column.key, because: "row" }], unit, name)
  const target = changed.find(
    ({ column, index }) => row.targets[index] === false && !mayDangle(unit, column, caller.catalog, caller.readOf)
  )
  if (target !== undefined)
    return yield* InvalidInput.of(`${target.column.slug}: there is no such ${targetName(target.column, caller)}.`)
  const keys = changed
    .filter(({ index }) => op !== "create" || row.after[index] !== null)
    .map(({ column }) => column.key)
  const refusals = decide(write, keys, { before: row.bits_before, after: row.bits_after })
  if (refusals.length > 0) return yield* refused(refusals, unit, name)
  const texts = (of: ReadonlyArray<string | null>) =>
    Object.fromEntries(changed.map(({ column, index }) => [column.key, of[index] ?? null]))
  const step: ChangeStep = {
    action: action.key,
    version: action.version,
    type: type.key,
    typeVersion: type.version,
    entity: unit.id,
    before: op === "create" ? {} : texts(row.before),
    after: op === "delete" ? {} : texts(row.after),
    // The stored name, as the lock compares it.
    // A mapped name can be put together from what is set.
    shown: op === "create" && type.mapping === undefined ? {} : { [DISPLAY_NAME]: row.name },
    ...(row.row === null ? (unit.restores === undefined ? {} : { row: unit.restores }) : { row: row.row })
  }
  return step
})

/** The words for a mapped type whose relation isn't as it was mapped, or would make more of a change than was shown. */
export const unwritable = ({ pluralName }: EntityType): string =>
  `${pluralName} can't be changed now: their table isn't as it was mapped, or passes changes on to other tables. They are read as before.`

const VERBS: Readonly<Record<WriteAction, string>> = { create: "add", update: "change", delete: "delete" }

/** The words for what the policy refuses; they name only what the caller sees. */
export const refused = (
  [refusal]: Refusals,
  { op, type }: Pick<Unit, "op" | "type">,
  name: string | undefined
): NotAllowed => {
  const one = name ?? `this ${type.name.toLowerCase()}`
  const column = type.columns.find(({ key }) => key === refusal?.column)
  if (op === "delete") return NotAllowed.of(`You may not delete ${one}.`)
  if (op === "create") {
    return NotAllowed.of(
      refusal?.because === "value" || column === undefined
        ? `You may not add ${aOrAn(type)} like that.`
        : `You may not set ${column.slug} of ${type.slug}.`
    )
  }
  return NotAllowed.of(
    refusal?.because === "value"
      ? `You may not change ${column?.slug ?? "it"} of ${one} to that.`
      : `You may not change ${column?.slug ?? "anything"} of ${one}.`
  )
}

const aOrAn = ({ name }: EntityType): string => `${/^[aeiou]/i.test(name) ? "an" : "a"} ${name.toLowerCase()}`

const targetName = ({ storage }: Column, { catalog }: Caller): string =>
  catalog.types.find(({ key }) => storage._tag !== "Value" && key === storage.target)?.name.toLowerCase() ?? "entity"
