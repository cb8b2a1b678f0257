/**
 * Conditions on rows of another type: "customers with an open invoice", "invoices of customers in Berlin". They become one
 * filter on a path, because each filter on rows that lead here holds for some row, not all of them for the same one.
 */
import { uncapitalized } from "../english.ts"
import type { ListedColumn, Named } from "../../domain/Page.ts"
import type { Filter } from "../../domain/Query.ts"
import { columnsFor, columnsNamed } from "./conceptColumns.ts"
import type { Choice } from "./Choice.ts"
import type { References } from "./filterChoices.ts"
import { Condition, type Lookup, nounAt } from "./Lookup.ts"
import type { Context, ContextType } from "./readConversation.ts"
import { addDays } from "./spans.ts"
import { idsOf } from "./references.ts"
import { columnsOf, type Script } from "./script.ts"
import { tokenize } from "./tokenize.ts"

type Related = Extract<Condition, { _tag: "Related" }>
type Columns = ReadonlyArray<Named & Pick<ListedColumn, "holds">>
type Narrow = (
  lookup: Lookup,
  columns: Columns,
  context: Context,
  references: References
) => Script<{ readonly filters: ReadonlyArray<Filter> } | string>

/** "Customers with a company", where that is another word for a customer and also a column: a value in it. */
const valued = ({ lookup, none }: Related, type: ContextType, columns: Columns): Condition | undefined => {
  const words = lookup.noun.said.toLowerCase()
  const isText = columns.some(({ holds, id, name }) => holds === undefined && [id, name.toLowerCase()].includes(words))
  const isOwn = (lookup.noun.type.id === type.id || isText) && lookup.conditions.length === 0
  if (!isOwn || columnsNamed(words, columns).length === 0) return undefined
  return none ? Condition.Empty({ words }) : Condition.Not({ of: Condition.Empty({ words }) })
}

/** "Without a meeting" where no column is called so: rows of that type. */
export const unread = (
  conditions: ReadonlyArray<Condition>,
  type: ContextType,
  columns: Columns,
  context: Context
): ReadonlyArray<Condition> =>
  conditions.map((condition) => {
    if (condition._tag === "Related") return valued(condition, type, columns) ?? condition
    if (condition._tag !== "Empty" || columnsNamed(condition.words, columns).length > 0) return condition
    const words = tokenize(condition.words)
    const found = nounAt(words, context)
    return found === undefined || found.length < words.length
      ? condition
      : Condition.Related({
          lookup: { noun: found.noun, conditions: [] },
          none: true,
          said: `without ${condition.words}`
        })
  })

interface Found {
  readonly condition: Condition
  readonly choices: ReadonlyArray<Choice>
  readonly times: ReadonlyArray<Condition>
}

/** The reply words the times apart. */
const withoutTimes = (said: string, times: ReadonlyArray<Condition>): string =>
  times.reduce((text, one) => (one._tag === "Time" ? text.replace(` ${one.when.said}`, "") : text), said)

/** The filter on a path, with the times that are those of the rows themselves; or the reply that declines. */
export function* relate(
  { lookup, none, said }: Related,
  type: ContextType,
  columns: Columns,
  context: Context,
  narrow: Narrow
): Script<Found | string> {
  const other = lookup.noun.type
  const theirs = yield* columnsOf(other.id)
  const path = pathTo(type, columns, other, theirs)
  // "Invoices of customers in 2024" are the invoices of 2024, "customers with an invoice in 2024" have one of 2024.
  const isOwn = path !== undefined && !path.includes("@") && columnsFor("date", columns).length > 0
  const times = lookup.conditions.filter((one) => isOwn && one._tag === "Time" && one.by === undefined)
  const conditions = lookup.conditions.filter((one) => !times.includes(one))
  const references = yield* idsOf(conditions, context)
  const narrowed = yield* narrow({ ...lookup, conditions }, theirs, context, references)
  if (typeof narrowed === "string") return narrowed
  const filter = path === undefined ? undefined : along(path, narrowed.filters, none)
  return filter === undefined
    ? `I can't narrow ${uncapitalized(type.plural)} down by “${said}”. Ask for one thing at a time.`
    : { condition: Condition.Related({ lookup, none, said: withoutTimes(said, times) }), choices: [[filter]], times }
}

/** The reference between two types, from the row or to it; undefined if several could be meant. A responsible person is another relation. */
const pathTo = (type: ContextType, columns: Columns, other: ContextType, theirs: Columns): string | undefined => {
  const leading = (to: ContextType, from: Columns) => {
    const owners = new Set(columnsFor("owner", from))
    return from.filter(({ holds, id }) => holds === `→ ${to.id}` && !owners.has(id)).map(({ id }) => id)
  }
  const paths = [...leading(other, columns), ...leading(type, theirs).map((id) => `${other.id}@${id}`)]
  return type.id !== other.id && paths.length === 1 ? paths[0] : undefined
}

/** One filter on the path; undefined if the conditions need several. */
const along = (path: string, filters: ReadonlyArray<Filter>, none: boolean): Filter | undefined => {
  const [first, second, ...others] = filters
  const op = none ? "ne" : "eq"
  if (first === undefined) return { columnId: path, op, value: "*" }
  const columnId = `${path}.${first.columnId}`
  if (second === undefined) {
    if (first.op === "eq") return { columnId, op, value: first.value }
    if (first.op === "gte") return { columnId, op, value: `${first.value}..` }
    return none || first.op === "ne" ? undefined : { ...first, columnId }
  }
  // A time is one range of whole days.
  const isDays = first.columnId === second.columnId && first.op === "gte" && second.op === "lt"
  if (others.length > 0 || !isDays || !DAY.test(first.value) || !DAY.test(second.value)) return undefined
  return { columnId, op, value: `${first.value}..${addDays(second.value, -1)}` }
}
const DAY = /^\d{4}-\d{2}-\d{2}$/
