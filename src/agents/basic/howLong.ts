/** "How long is my next meeting": how long one row takes. */
import { uncapitalized } from "../english.ts"
import { startAndEnd } from "./dateFilters.ts"
import { timed } from "./numberFilters.ts"
import { both } from "./locate.ts"
import type { Intent } from "./Intent.ts"
import { narrow } from "./narrow.ts"
import type { Context } from "./readConversation.ts"
import { idsOf } from "./references.ts"
import { among, called, nameOf, numbered, unclear } from "./replies.ts"
import { columnsOf, find, type Script } from "./script.ts"
import { rowsTitled } from "./titled.ts"

const MOMENT = /^(\d{4}-\d{2}-\d{2})[ T](\d{2}):(\d{2})/

/** Minutes between two times of one day, after the hour in which clocks change. */
const between = (start: unknown, end: unknown): number | undefined => {
  const [from, to] = [start, end].map((value) => (typeof value === "string" ? MOMENT.exec(value) : null))
  if (!from || !to || from[1] !== to[1] || Number(from[2]) < 4) return undefined
  const minutes = (Number(to[2]) - Number(from[2])) * 60 + Number(to[3]) - Number(from[3])
  return minutes < 0 ? undefined : minutes
}

export function* howLong(of: Intent, context: Context): Script<string> {
  const titled = of._tag === "Titled" ? yield* rowsTitled(of, context) : undefined
  const lookup = of._tag === "Browse" ? of.lookup : titled
  if (lookup === undefined) return unclear(context)
  const { type } = lookup.noun
  const [columns, references] = yield* both(columnsOf(type.id), idsOf(lookup.conditions, context))
  const narrowed = yield* narrow(lookup, columns, context, references)
  if (typeof narrowed === "string") return narrowed
  const { end, start } = startAndEnd(columns)
  const [unit] = timed(columns)
  const first = narrowed.filters.find(({ op }) => op === "gte" || op === "lt")?.columnId ?? start
  const shown = unit === undefined ? [start, end] : [unit.id, start]
  if (unit === undefined && end === undefined)
    return `I can't tell how long ${uncapitalized(type.plural)} take. Try “list ${called(type.plural, type, 2)}”.`
  const page = yield* find({
    entityTypeId: type.id,
    filters: narrowed.filters,
    limit: 5,
    selectColumns: [...new Set([...shown, first].filter((id) => id !== undefined))]
  })
  if (page === undefined || page.total === 0)
    return `I found no such ${uncapitalized(type.name)}${among(page?.limited, type)}.`
  const [row] = page.entities
  const isFirst = (one: typeof row) =>
    lookup.order === undefined || one?.columns?.[first ?? ""] === row?.columns?.[first ?? ""]
  const same = page.entities.filter(isFirst)
  if (same.length > 1)
    return `I can't tell which of these you mean. Ask for one by its day and time, or for “my next ${uncapitalized(type.name)}”:\n${numbered(
      { ...page, entities: same },
      columns,
      [first, ...shown].filter((id) => id !== undefined)
    )}`
  const cells = row!.columns ?? {}
  const when =
    start === undefined
      ? ""
      : ` (${numbered({ ...page, entities: [row!] }, columns, [start]).replace(/^1\. .*? — /, "")})`
  if (unit !== undefined) {
    const value = cells[unit.id]
    const label = columns.find(({ id }) => id === unit.id)!.name.toLowerCase()
    return value === undefined || value === null
      ? `I can't see how long ${nameOf(row!)} takes.`
      : `${nameOf(row!)}${when}: ${label} ${String(value)}.`
  }
  const minutes = between(cells[start!], cells[end!])
  const times = numbered({ ...page, entities: [row!] }, columns, [start!, end!]).replace(/^1\. /, "")
  return minutes === undefined ? `${times}.` : `${times}: ${minutes} minutes.`
}
