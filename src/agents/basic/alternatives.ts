/** "Raj or Lena": values of one column, of which a row has any. A part of a name becomes the ids of those who are called so. */
import { foldText } from "../../domain/keys.ts"
import type { ListedColumn, Named, Page } from "../../domain/Page.ts"
import { type Filter, MAX_ALTERNATIVES, MAX_LIMIT } from "../../domain/Query.ts"
import type { Choice } from "./Choice.ts"
import { and, nameOf } from "./replies.ts"
import { find, inParallel, type Script } from "./script.ts"

type Columns = ReadonlyArray<Named & Pick<ListedColumn, "holds">>

/** Entities with one part of a name that a reply names. */
const MAX_NAMESAKES = 8

/** The entities that a filter on a reference means; undefined if it is no such filter, or means too many. */
export function* meantBy(choice: Choice, columns: Columns): Script<Page["entities"] | undefined> {
  const page = yield* referredBy(choice, columns)
  return page === undefined || page.total === 0 || page.total > page.entities.length ? undefined : page.entities
}

/** Whose rows were counted, where a part of a name is that of several: " “Patel” is Anaya Patel and Raj Patel." */
export function* namesakes(filters: ReadonlyArray<Filter>, columns: Columns): Script<string> {
  const named = filters.filter(({ op, value }) => op === "ilike" && !value.includes("|"))
  // Counted first: the one person whom a name means isn't asked about.
  const counts = yield* inParallel(named.map((filter) => referredBy([filter], columns, { limit: 0 })))
  const parts = named.filter((_, at) => (counts[at]?.total ?? 0) > 1)
  const found = yield* inParallel(parts.map((filter) => meantBy([filter], columns)))
  return parts
    .flatMap(({ value }, at) => {
      const names = [...new Set((found[at] ?? []).map(nameOf))]
      return names.length > 1 ? [` “${value}” is ${and(names)}.`] : []
    })
    .join("")
}

/** The first entities that a filter on a reference means, or on the names of a type; undefined if it is no such filter. */
function* referredBy(
  [filter, ...others]: Choice,
  columns: Columns,
  { limit = MAX_NAMESAKES, type }: { readonly limit?: number; readonly type?: string } = {}
): Script<Page | undefined> {
  const named = type !== undefined && filter?.columnId === "name" ? `→ ${type}` : undefined
  const holds = named ?? columns.find(({ id }) => id === filter?.columnId)?.holds
  if (filter === undefined || others.length > 0 || holds?.startsWith("→ ") !== true) return undefined
  const columnId = filter.op === "ilike" ? "name" : "id"
  return yield* find({ entityTypeId: holds.slice(2), filters: [{ ...filter, columnId }], limit })
}

function* byIds(choice: Choice, columns: Columns): Script<Choice> {
  const [filter] = choice
  const entities = filter?.op === "ilike" ? yield* meantBy(choice, columns) : undefined
  if (filter === undefined || entities === undefined) return choice
  return [{ ...filter, op: "eq", value: entities.map(({ entityId }) => entityId).join("|") }]
}

/** Choices that can be joined or negated, because they compare whole values. */
export const wholes = (choices: ReadonlyArray<Choice>, columns: Columns): Script<ReadonlyArray<Choice>> =>
  inParallel(choices.map((choice) => byIds(choice, columns)))

const inWords = (text: string) => ` ${foldText(text).replace(/[^\p{L}\p{N}]+/gu, " ")}`

/** Whether a text is a word of no name that has it: "with men" doesn't mean Kofi Mensah. */
export function* isInsideWords(choice: Choice, columns: Columns, type: string): Script<boolean> {
  const [filter] = choice
  const entities = filter?.op === "ilike" ? ((yield* referredBy(choice, columns, { type }))?.entities ?? []) : []
  return (
    entities.length > 0 &&
    entities.every((entity) => !`${inWords(nameOf(entity))} `.includes(`${inWords(filter!.value)} `))
  )
}

/**
 * A part of a name as it begins words: "in Berlin" doesn't mean Cyberlink, and "with Ida" means Ida Vogel but not Noor
 * Almeida. Undefined if no entity is left; "many" if they are too many for one filter.
 */
function* atWord(
  choice: Choice,
  columns: Columns,
  type?: string
): Script<{ readonly choice: Choice; readonly isKnown: boolean } | "many" | undefined> {
  const [filter] = choice
  const page =
    filter?.op === "ilike"
      ? yield* referredBy(choice, columns, { limit: MAX_LIMIT, ...(type === undefined ? {} : { type }) })
      : undefined
  if (filter === undefined || page === undefined) return { choice, isKnown: false }
  const meant = page.entities.filter((entity) => inWords(nameOf(entity)).includes(inWords(filter.value)))
  if (meant.length === page.entities.length) return { choice, isKnown: meant.length > 0 }
  if (page.total > page.entities.length || meant.length > MAX_ALTERNATIVES) return "many"
  if (meant.length === 0) return undefined
  const columnId = filter.columnId === "name" ? "id" : filter.columnId
  return { choice: [{ columnId, op: "eq", value: meant.map(({ entityId }) => entityId).join("|") }], isKnown: true }
}

/** The choices, of which those that compare a part of a name compare it with the beginnings of words. */
export function* atWords(choices: ReadonlyArray<Choice>, columns: Columns, type?: string): Script<AtWords> {
  const found = yield* inParallel(choices.map((choice) => atWord(choice, columns, type)))
  return {
    choices: found.flatMap((one) => (one === undefined || one === "many" ? [] : [one.choice])),
    isTooMany: found.includes("many"),
    isKnown: found.some((one) => one !== undefined && one !== "many" && one.isKnown)
  }
}

export interface AtWords {
  readonly choices: ReadonlyArray<Choice>
  /** Entities are called so, but more than one filter can mean. */
  readonly isTooMany: boolean
  /** Entities are called so, whether or not any row refers to them. */
  readonly isKnown: boolean
}

/** For each of several parts the candidates that have rows; the candidates of the first column that all of them have. */
export const inOneColumn = (
  parts: ReadonlyArray<{ readonly choices: ReadonlyArray<Choice>; readonly hits: ReadonlyArray<number> }>
): ReadonlyArray<number> | undefined => {
  const columnOf = (choices: ReadonlyArray<Choice>, hit: number) => choices[hit]?.[0]?.columnId
  const [first, ...others] = parts
  for (const hit of first?.hits ?? []) {
    const column = columnOf(first!.choices, hit)
    const same = others.map(({ choices, hits }) => hits.find((one) => columnOf(choices, one) === column))
    if (same.every((one) => one !== undefined)) return [hit, ...same]
  }
  return undefined
}
