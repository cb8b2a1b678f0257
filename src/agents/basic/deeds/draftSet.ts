/** Drafts a change of a set of rows: one draft, with the same values for each row. */
import { foldText } from "../../../domain/keys.ts"
import { type Filter, MAX_LIMIT } from "../../../domain/Query.ts"
import { plainValue } from "../../../domain/valueList.ts"
import { both } from "../locate.ts"
import type { ContextType } from "../readConversation.ts"
import { called } from "../replies.ts"
import { find, inParallel, MAX_PARALLEL, type Script } from "../script.ts"
import { type Deed, Subject } from "./Deed.ts"
import { actionOf, type Draft, valuesOf } from "./Draft.ts"
import { shiftedCell, targetOf } from "./draftCells.ts"
import { findSet, type Rows, type SetFilters, setFilters } from "./findSet.ts"
import { findSubject } from "./findSubject.ts"
import { type Problem, problem, RANKS, type Row, type World } from "./rows.ts"
import { isPartOf } from "./reworded.ts"
import { textOf, type Word } from "./words.ts"
import { type Cell, settle, type Target } from "./settle.ts"

/** A change of a set: the same values for each row. */
export function* draftOfSet(
  deed: Exclude<Deed, { _tag: "Create" }>,
  subject: Extract<Subject, { _tag: "Rows" }>,
  world: World
): Script<Draft | Problem> {
  const { type } = subject.lookup.noun
  const actionId = actionOf(deed, type)
  if (deed._tag === "Shift") return yield* shiftOfSet(deed, subject, actionId, world)
  const ahead = deed._tag === "Delete" && CANCELS.test(world.said.text)
  const settling = deed._tag === "Delete" ? inParallel<Cell | Problem>([]) : cellsOfSet(deed, type, actionId, world)
  const [cells, [filters]] = yield* both(settling, inParallel([filtersOf(subject, world, ahead)]))
  const wrong = cells.find((each) => each._tag === "Problem") ?? ("sets" in filters! ? undefined : filters)
  if (wrong !== undefined || !("sets" in filters!)) return wrong ?? problem(RANKS.words, "")
  const settled = cells.filter((each) => each._tag === "Cell")
  const was = wasIn(settled)
  const found = yield* findSet(filters, was, world)
  if (found._tag === "Problem") return found
  const set = left(found, subject, world)
  if (set._tag === "Problem") return set
  const entityIds = set.rows.map(({ id }) => id).sort()
  if (deed._tag === "Delete") return { _tag: "Draft", actionId, entityIds, set }
  const values = valuesOf(settled)
  return typeof values === "string" ? problem(RANKS.value, values) : { _tag: "Draft", actionId, entityIds, values, set }
}

/** What the words of a set mean, in the reading that means rows. */
function* filtersOf(
  { lookup, otherwise }: Extract<Subject, { _tag: "Rows" }>,
  world: World,
  ahead: boolean
): Script<SetFilters | Problem> {
  const each = [lookup, ...(otherwise === undefined ? [] : [otherwise])]
  const [meant, other] = yield* inParallel(each.map((one) => setFilters(one, world, ahead)))
  return other !== undefined && "sets" in other && !("sets" in meant!) ? other : meant!
}

/** Moves the time of each row of a set by as much: rows of one time are one call. */
function* shiftOfSet(
  deed: Extract<Deed, { _tag: "Shift" }>,
  subject: Extract<Subject, { _tag: "Rows" }>,
  actionId: string,
  world: World
): Script<Draft | Problem> {
  const filters = yield* filtersOf(subject, world, false)
  if (!("sets" in filters)) return filters
  const found = yield* findSet(filters, [], world)
  const set = found._tag === "Problem" ? found : left(found, subject, world)
  return set._tag === "Problem" ? set : yield* shiftOf(deed, set, actionId, world)
}

function* shiftOf(
  deed: Extract<Deed, { _tag: "Shift" }>,
  set: Rows,
  actionId: string,
  world: World
): Script<Draft | Problem> {
  const values = new Map<string, ReadonlyArray<string>>()
  for (const row of set.rows) {
    const target = yield* targetOf(row, actionId, world)
    if (target._tag === "Problem") return target
    const cell = shiftedCell(deed, target)
    if (cell._tag === "Problem") return cell
    const value = `${cell.column}=${cell.value}`
    values.set(value, [...(values.get(value) ?? []), row.id])
  }
  const [first, ...further] = [...values].map(([value, ids]) => ({
    actionId,
    entityIds: ids.toSorted(),
    values: [value]
  }))
  return further.length >= MAX_PARALLEL
    ? problem(
        RANKS.several,
        "Those have too many different times to move all of them at once. I haven't drafted anything."
      )
    : { _tag: "Draft", ...first!, set, ...(further.length === 0 ? {} : { further }) }
}

/** The rows of a set without the excepted ones; a problem if a name is none of theirs, or if the person counts other than there are. */
const left = (
  found: Rows,
  { count, except = [] }: Extract<Subject, { _tag: "Rows" }>,
  world: World
): Rows | Problem => {
  const several = (rows: number) => called(found.said, found.type, rows)
  const kept = except.map((words) => ofName(words, found.rows, world))
  const unknown = except.find((_, at) => kept[at] === undefined)
  if (unknown !== undefined)
    return problem(
      RANKS.missing,
      `None of those ${several(2)} is called “${textOf(world.said, unknown)}”. I haven't drafted anything.`
    )
  const rows = found.rows.filter((row) => !kept.includes(row))
  if (rows.length === 0)
    return problem(RANKS.missing, `Nothing is left of those ${several(2)}. I haven't drafted anything.`)
  if (count !== undefined && rows.length !== count) {
    const be = rows.length === 1 ? "is" : "are"
    return problem(
      RANKS.several,
      `There ${be} ${rows.length} ${several(rows.length)} like that, and you said ${count}. I haven't drafted anything.`
    )
  }
  return { ...found, rows }
}

/** A change of several rows that are named one by one. */
export function* draftOfEach(
  deed: Exclude<Deed, { _tag: "Create" }>,
  names: ReadonlyArray<ReadonlyArray<Word>>,
  types: ReadonlyArray<ContextType>,
  world: World
): Script<Draft | Problem> {
  const found = yield* inParallel(
    names.map((words) => {
      const isDefinite = isLedByThe(words, world)
      return findSubject(
        Subject.Named({ words, ...(isDefinite && { isDefinite }) }),
        types,
        world,
        deed._tag === "Delete"
      )
    })
  )
  const wrong = found.find((each) => each._tag === "Problem")
  if (wrong !== undefined) return wrong
  const rows = found.filter((each) => each._tag === "Row")
  const { type } = rows[0]!
  const entityIds = [...new Set(rows.map(({ id }) => id))].sort()
  if (rows.some((row) => row.type.id !== type.id) || entityIds.length < rows.length)
    return problem(RANKS.words, "Those aren't several rows of one kind. I haven't drafted anything.")
  const actionId = actionOf(deed, type)
  const set = { _tag: "Rows", type, said: type.plural.toLowerCase(), rows } as const
  if (deed._tag === "Delete") return { _tag: "Draft", actionId, entityIds, set }
  if (deed._tag === "Shift") return yield* shiftOf(deed, set, actionId, world)
  const cells = yield* cellsOfSet(deed, type, actionId, world)
  const unsettled = cells.find((each) => each._tag === "Problem")
  if (unsettled !== undefined) return unsettled
  const settled = cells.filter((each) => each._tag === "Cell")
  const was = wasIn(settled)
  const all = rows.map(({ name }) => plainValue(name)).join("|")
  const still =
    was.length === 0
      ? undefined
      : yield* find({
          entityTypeId: type.id,
          filters: [{ columnId: "name", op: "eq", value: all }, ...was],
          limit: MAX_LIMIT
        })
  if (was.length > 0 && !entityIds.every((id) => still?.entities.some(({ entityId }) => entityId === id)))
    return problem(
      RANKS.value,
      `Not all of them are “${settled.find((cell) => cell.was !== undefined)!.was!}” now. I haven't drafted anything.`
    )
  const values = valuesOf(settled)
  return typeof values === "string" ? problem(RANKS.value, values) : { _tag: "Draft", actionId, entityIds, values, set }
}

/** "The budget and the wiki": each with its article. */
const isLedByThe = ([first]: ReadonlyArray<Word>, { said: { words } }: World): boolean => {
  const at = words.findIndex(({ start }) => start === first!.start)
  return at > 0 && words[at - 1]!.quoted !== true && /^(the|my|our)$/.test(words[at - 1]!.word)
}

/** The one row with exactly this name. */
const ofName = (words: ReadonlyArray<Word>, rows: ReadonlyArray<Row>, { said }: World): Row | undefined => {
  const text = textOf(said, words)
  const named = rows.filter(({ name }) => foldText(name) === foldText(text))
  if (named.length > 0) return named.length === 1 ? named[0] : undefined
  // "The wiki update", "the login bug": words of the name, also in another form.
  const alike = rows.filter(({ name }) => isPartOf(text, name))
  return alike.length === 1 ? alike[0] : undefined
}

const wasIn = (cells: ReadonlyArray<Cell>): ReadonlyArray<Filter> =>
  cells.flatMap(({ column, isReference, was, wasTime }) =>
    was === undefined
      ? []
      : [
          {
            columnId: column,
            ...(isReference === true ? { op: "ilike", value: was } : { op: "eq", value: plainValue(wasTime ?? was) })
          }
        ]
  )

export const CANCELS = /\b(cancel|cancell?ed|cancell?ing|call(ed)? off)\b/i

/** The cells to set, which don't depend on what a row has. */
function* cellsOfSet(
  deed: Exclude<Deed, { _tag: "Create" | "Delete" }>,
  type: ContextType,
  actionId: string,
  world: World
): Script<ReadonlyArray<Cell | Problem>> {
  const fields = world.fields.get(actionId)
  if (fields === undefined || typeof fields === "string")
    return [problem(RANKS.refused, fields ?? "I can't change that.")]
  if (deed._tag !== "Update")
    return [
      problem(
        RANKS.words,
        "I can set one value for all of them, but not make each longer by as much. I haven't drafted anything."
      )
    ]
  const vocabulary = world.vocabularies.find((each) => each.type.id === type.id)!
  const target: Target = { vocabulary, fields, cells: {}, isSet: true }
  return yield* inParallel(deed.settings.map((setting) => settle(setting, target, world)))
}
