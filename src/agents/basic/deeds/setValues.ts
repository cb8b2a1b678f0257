/** Which filter the value of a condition means, where the columns of a set have it. */
import { PEOPLE } from "../../../domain/EntityType.ts"
import type { ListedColumn } from "../../../domain/Page.ts"
import type { Filter } from "../../../domain/Query.ts"
import { plainValue } from "../../../domain/valueList.ts"
import { uncapitalized } from "../../english.ts"
import { columnsFor } from "../conceptColumns.ts"
import type { Choice } from "../Choice.ts"
import { conditionChoices } from "../filterChoices.ts"
import type { Condition } from "../Lookup.ts"
import { phraseOf } from "../phrases.ts"
import type { ContextType } from "../readConversation.ts"
import { both } from "../locate.ts"
import { count, inParallel, type Script } from "../script.ts"
import { type Problem, problem, RANKS, type World } from "./rows.ts"

/** Filters of which rows pass at least one: "my meetings" are those that I own and those that I attend. */
export type Alternatives = ReadonlyArray<Choice>

/** States in which nothing is left to do, so that a due date doesn't matter any more. */
export const OVER = [
  "done",
  "completed",
  "complete",
  "closed",
  "finished",
  "cancelled",
  "canceled",
  "resolved",
  "archived",
  "paid",
  "won",
  "lost",
  "shipped",
  "delivered"
]
export const FINISHED = ["done", "completed", "complete", "finished"]
const OPEN = new Set(["open", "unfinished", "incomplete", "outstanding", "still open"])
/** Columns whose text is no value that several rows have. */
const PROSE = /^(name|notes?|description|details|comments?|summary|text|body)$/i

export const UNKNOWN = "I know of no"

export interface About {
  readonly type: ContextType
  readonly columns: ReadonlyArray<ListedColumn>
  readonly world: World
}

export const kindOf = (id: string, { columns }: About): string =>
  columns.find((column) => column.id === id)?.holds ?? "text"
export const isTime = (id: string, about: About): boolean => /^(date|time)$/.test(kindOf(id, about))
export const eq = (columnId: string, value: string): Choice => [{ columnId, op: "eq", value: plainValue(value) }]
export const unclear = (type: ContextType, phrase: string): Problem =>
  problem(
    RANKS.value,
    `I can't tell which ${uncapitalized(type.plural)} you mean by “${phrase}”, so I haven't drafted anything.`
  )

/** A value beside the name of its column: "low priority", "project Apollo". */
export const inColumn = (words: ReadonlyArray<string>, { columns }: About): ReadonlyArray<Choice> => {
  const named = (name: string) =>
    /^(stage|status|state|step|phase)$/i.test(name) ? columnsFor("status", columns) : ownColumns(name, columns)
  const [first, ...after] = words
  const before = words.slice(0, -1)
  if (after.length === 0) return []
  return [
    ...named(words.at(-1)!).map((column) => eq(column, before.join(" "))),
    ...named(first!).map((column) => eq(column, after.join(" ")))
  ]
}

/** Columns with this label to the letter. */
const ownColumns = (name: string, columns: ReadonlyArray<ListedColumn>): ReadonlyArray<string> =>
  columns
    .filter(({ id, name: label }) =>
      [id.replaceAll("_", " "), label.toLowerCase(), `${label.toLowerCase()}s`].includes(name.toLowerCase())
    )
    .map(({ id }) => id)

/** Rows with a value in a column, which has to be the only one where rows have it; a status counts before the others. */
export function* valued(
  words: ReadonlyArray<string>,
  preposition: string | undefined,
  about: About
): Script<Alternatives | Problem> {
  const { columns, type } = about
  const plain = words.length > 1 && /^ones?$/i.test(words.at(-1)!) ? words.slice(0, -1) : words
  const text = plain.join(" ")
  const beside = inColumn(plain, about)
  const status = columnsFor("status", columns).slice(0, 1)
  const never = new Set(
    (["phone", "email", "zip", "address", "handle"] as const).flatMap((concept) => columnsFor(concept, columns))
  )
  const open = columns
    .filter(
      ({ holds, id, name }) =>
        (holds === undefined || holds === "list" || (holds.startsWith("→") && holds !== `→ ${PEOPLE}`)) &&
        !never.has(id) &&
        !PROSE.test(name) &&
        !status.includes(id)
    )
    .map(({ id }) => id)
  const truths = columns
    .filter(
      ({ holds, id, name }) =>
        holds === "true or false" && [id.replaceAll("_", " "), name.toLowerCase()].includes(text.toLowerCase())
    )
    .map(({ id }) => eq(id, "true"))
  const forms = [
    ...(preposition === undefined ? [] : [`${preposition} ${text}`]),
    ...new Set([text, text.replaceAll("-", " ")])
  ]
  const form = forms.map(plainValue).join("|")
  const folded = text.toLowerCase()
  const finished = preposition === undefined && FINISHED.includes(folded)
  const states = preposition === "of" ? [] : status.map((id): Choice => [{ columnId: id, op: "eq", value: form }])
  const others = [...truths, ...open.map((id): Choice => [{ columnId: id, op: "eq", value: form }])]
  let hits: ReadonlyArray<Choice> = []
  const same = finished ? status.map((id): Choice => [{ columnId: id, op: "eq", value: FINISHED.join("|") }]) : []
  // Few candidates are counted in one step, because a turn has few steps.
  const later = [...others, ...same]
  const phases =
    beside.length > 0
      ? [beside]
      : states.length + later.length <= MAX_TOGETHER
        ? [[...states, ...later]]
        : [states, later]
  for (const tries of phases) {
    const pages = yield* inParallel(
      tries.slice(0, MAX_TRIED).map((filters) => count({ entityTypeId: type.id, filters }))
    )
    hits = tries.filter((_, at) => (pages[at]?.total ?? 0) > 0)
    if (hits.length > 0) break
  }
  // No column has the word as a value: rows may be called so, such as "all annual summary meetings".
  if (hits.length === 0 && preposition === undefined) {
    const value = [text, `${text} ${type.name}`].map(plainValue).join("|")
    const names: Choice = [{ columnId: "name", op: "eq", value }]
    const page = yield* count({ entityTypeId: type.id, filters: names })
    if ((page?.total ?? 0) > 0) return [names]
  }
  const [hit] = hits
  if (hit !== undefined && (hits.length === 1 || states.includes(hit))) return [hit]
  // Where no status is called open, what isn't over is.
  if (hit === undefined && preposition === undefined && OPEN.has(folded) && status[0] !== undefined)
    return [[{ columnId: status[0], op: "ne", value: OVER.join("|") }]]
  return hit === undefined
    ? problem(
        RANKS.missing,
        `${UNKNOWN} “${text}” among the ${uncapitalized(type.plural)}, so I haven't drafted anything.`
      )
    : unclear(type, text)
}

const MAX_TRIED = 8
const MAX_TOGETHER = 4

/** A value before a noun, or two of them: "low priority Website tasks". */
export function* qualified(words: ReadonlyArray<string>, about: About): Script<Alternatives | Problem> {
  const pairs = words.slice(1).map((_, at) => [words.slice(0, at + 1), words.slice(at + 1)] as const)
  const labelled = (half: ReadonlyArray<string>) =>
    inColumn(half, about).some(([filter]) => filter?.value === half.slice(0, -1).join(" "))
  // A turn has few steps: a value that names its column divides the words at once, and others only where no row has them as one.
  const named = labelled(words) ? [] : pairs.filter((pair) => pair.some(labelled))
  const whole = named.length > 0 ? undefined : yield* valued(words, undefined, about)
  if (whole !== undefined && (!("_tag" in whole) || words.length !== 2)) return whole
  const found = yield* inParallel(
    (named.length > 0 ? named : pairs).map(([first, second]) =>
      both(valued(first, undefined, about), valued(second, undefined, about))
    )
  )
  const hits = found.flatMap(([first, second]) =>
    "_tag" in first || "_tag" in second ? [] : [first.flatMap((one) => second.map((other) => [...one, ...other]))]
  )
  return hits.length === 1 ? hits[0]! : (whole ?? (yield* valued(words, undefined, about)))
}

/** "status is lead", "amount over 500": the first candidate that the column takes. */
export function* compared(
  condition: Extract<Condition, { _tag: "Where" }>,
  about: About
): Script<Alternatives | Problem> {
  const { columns, type, world } = about
  const fits = ({ columnId, op }: Filter) =>
    op === "eq" || (op !== "ilike" && (kindOf(columnId, about) === "number" || isTime(columnId, about)))
  const choices = conditionChoices(condition, columns, world.context, new Map()).filter((choice) => choice.every(fits))
  const pages = yield* inParallel(choices.map((filters) => count({ entityTypeId: type.id, filters })))
  const columnIds = new Set(choices.flat().map(({ columnId }) => columnId))
  const hit = choices.find((_, at) => (pages[at]?.total ?? 0) > 0)
  return hit === undefined || columnIds.size > 1 ? unclear(type, phraseOf(condition)) : [hit]
}
