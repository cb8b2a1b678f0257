/** What the person who approves must see of a change: every cell that it touches, as the rows are before and, where they are new, after. */
import { Effect } from "effect"
import type { SqlError } from "effect/sql"
import type { Statement } from "../../database/sql/ResolvedQuery.ts"
import type { SeenRow, VerifiedRow } from "../../database/sql/RowChange.ts"
import { compileSeen, compileVerify } from "../../database/sql/write.ts"
import type { Column } from "../../domain/EntityType.ts"
import { NotAllowed } from "../../domain/errors.ts"
import type { Granted } from "../../permissions/permissionPlan.ts"
import type { WriteGranted } from "../../permissions/WritePlan.ts"
import type { Caller } from "./callers.ts"
import type { Group, Unit } from "./Unit.ts"

/** Runs a statement of the transaction that applies a change. */
export type Rows = <Row extends object>(statement: Statement) => Effect.Effect<ReadonlyArray<Row>, SqlError.SqlError>

const UNREADABLE = "You can't see everything that this changes, so you can't approve it."

/** The columns that a unit of a document touches. */
const touched = ({ step, type }: Unit): ReadonlyArray<Column> =>
  type.columns.filter(({ key }) => Object.hasOwn(step!.before, key) || Object.hasOwn(step!.after, key))

/** Requires that the approver sees every cell that is changed, as the rows are before. */
export const requireSeen = Effect.fnUntraced(function* ({ units }: Group, approver: Caller, rows: Rows) {
  const [{ op, type }] = units
  const read = approver.readOf(type)
  if (read === undefined) return yield* NotAllowed.of(UNREADABLE)
  if (op === "create") return
  const ids = units.map(({ id }) => id)
  const seen = yield* rows<SeenRow>(compileSeen(type, ids, touched(units[0]), read, approver.catalog))
  if (seen.length !== units.length || seen.some(({ visible }) => visible.includes(false)))
    return yield* NotAllowed.of(UNREADABLE)
})

/** Requires that the approver sees every cell of the rows that are created, as they are now. */
export const requireCreatedSeen = Effect.fnUntraced(function* (
  { units }: Group,
  given: ReadonlyMap<string, string>,
  approver: Caller,
  rows: Rows
) {
  const [unit] = units
  if (unit.op !== "create") return
  const masks = readingOf(unit, approver.readOf(unit.type)!)
  const [row] = yield* rows<VerifiedRow>(
    compileVerify(unit.type, [given.get(unit.id) ?? unit.id], [], masks, approver.catalog)
  )
  if (row === undefined || row.bits_after.includes(false)) return yield* NotAllowed.of(UNREADABLE)
})

/** A read plan as judgements on a new row. */
export const readingOf = (unit: Unit, { cells, where }: Granted): WriteGranted => ({
  _tag: "Granted",
  action: "create",
  before: [],
  after: [where, ...touched(unit).map(({ key }) => cells.get(key) ?? { _tag: "Never" as const })],
  parties: [],
  columns: [],
  whole: false,
  expiresAt: Infinity
})
