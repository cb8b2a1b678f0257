/** The cells that a request sets in one row: what it changes, moves or makes longer, from what the row has now. */
import { foldText } from "../../../domain/keys.ts"
import { cell as shownCell } from "../replies.ts"
import { find, inParallel, type Script } from "../script.ts"
import type { Deed, Setting } from "./Deed.ts"
import { type Problem, problem, RANKS, type Row, type World } from "./rows.ts"
import { shifted } from "./moments.ts"
import { type Cell, settle, type Target } from "./settle.ts"
import { columnOfConcept, columnOfPhrase, type Vocabulary } from "./vocabulary.ts"

export type Updating = Exclude<Deed, { _tag: "Create" | "Delete" }>

/** The row's cells that the change depends on. */
export function* targetOf(
  row: Row,
  actionId: string,
  world: World
): Script<(Target & { readonly _tag: "Target" }) | Problem> {
  const vocabulary = world.vocabularies.find(({ type }) => type.id === row.type.id)!
  const fields = world.fields.get(actionId)
  if (fields === undefined || typeof fields === "string")
    return problem(RANKS.refused, fields ?? "I can't change that.")
  if (row.cells !== undefined) return { _tag: "Target", vocabulary, fields, cells: row.cells }
  const page = yield* find({
    entityTypeId: row.type.id,
    filters: [{ columnId: "id", op: "eq", value: row.id }],
    limit: 1,
    selectColumns: world.wanted(row.type)
  })
  const entity = page?.entities[0]
  return {
    _tag: "Target",
    vocabulary,
    fields,
    cells: { name: entity?.displayName, status: entity?.status, ...entity?.columns }
  }
}

export const columnOf = (setting: Setting, { columns }: Vocabulary): string | undefined => {
  switch (setting._tag) {
    case "Column":
      return columnOfPhrase(setting.column, columns)
    case "Concept":
      return columnOfConcept(setting.concept, columns)
    case "Value":
      return setting.kind === undefined ? undefined : columnOfPhrase(setting.kind, columns)
  }
}

export function* cellsOf(deed: Updating, target: Target, world: World): Script<ReadonlyArray<Cell | Problem>> {
  switch (deed._tag) {
    case "Update": {
      const cells = yield* inParallel(deed.settings.map((setting) => settle(setting, target, world)))
      return cells.map((each) => (each._tag === "Cell" ? standing(each, target) : each))
    }
    case "Shift":
      return [shiftedCell(deed, target)]
    case "Stretch": {
      const column = columnOfConcept("length", target.vocabulary.columns)!
      const minutes = Number(target.cells[column]) + deed.minutes
      return [
        Number.isInteger(minutes) && minutes > 0
          ? { _tag: "Cell", column, value: String(minutes), shown: `${minutes} minutes` }
          : problem(RANKS.value, "I can't see how long it is now.")
      ]
    }
  }
}

/** A cell, if it was what the person says that it was. */
const standing = (cell: Cell, { cells }: Target): Cell | Problem => {
  if (cell.was === undefined) return cell
  const now = shownCell(cells[cell.column])
  const same =
    foldText(now) === foldText(cell.was) ||
    foldText(now).split(" ").includes(foldText(cell.was)) ||
    (cell.wasTime !== undefined && minuteOf(cells[cell.column]).startsWith(minuteOf(cell.wasTime)))
  return same
    ? cell
    : problem(
        RANKS.value,
        `It isn't “${cell.was}” now${now === "" ? "" : `, but “${now}”`}. I haven't drafted anything.`
      )
}

/** A time to its minute, or a date alone. */
const minuteOf = (time: unknown): string => (typeof time === "string" ? time.replace(" ", "T").slice(0, 16) : "")

const DAY = 1440

export const shiftedCell = (
  deed: Extract<Deed, { _tag: "Shift" }>,
  { cells, fields, vocabulary }: Target
): Cell | Problem => {
  const column =
    deed.column === undefined
      ? columnOfConcept("date", vocabulary.columns)
      : columnOfPhrase(deed.column, vocabulary.columns)
  const kind = fields.find(({ id }) => id === column)?.kind
  const now = cells[column ?? ""]
  if (column === undefined || typeof now !== "string" || (kind !== "date" && kind !== "timestamp"))
    return problem(RANKS.value, "I can't see a time that I could move.")
  if (kind === "date" && deed.minutes % DAY !== 0)
    return problem(RANKS.value, "That is a day without a time: I can move it by days.")
  const moved = shifted(now, deed.minutes)
  return { _tag: "Cell", column, value: kind === "date" ? moved.slice(0, 10) : moved, shown: moved.slice(0, 16) }
}
