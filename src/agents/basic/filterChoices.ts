/**
 * Turns conditions and facts into filters. The meaning of a word depends on the organization's columns and values, so each
 * condition has several candidate filters, most likely first; a script counts the matches of each.
 */
import type { Named } from "../../domain/Page.ts"
import type { Filter } from "../../domain/Query.ts"
import { columnsFor, columnAndValue } from "./conceptColumns.ts"
import type { Context } from "./readConversation.ts"
import type { Fact } from "./Fact.ts"
import { type Concept, STATES } from "./lexicon.ts"
import type { Condition } from "./readLookup.ts"
import { addDays, timeAt } from "./readTime.ts"
import { tokenize, written } from "./tokenize.ts"

/** Filters that form one candidate. */
export type Choice = ReadonlyArray<Filter>

/** The ids of named entities, by name, where exactly one entity has the name. */
export type References = ReadonlyMap<string, { readonly id: string }>

type Columns = ReadonlyArray<Named>
const MAX_CHOICES = 8

const eq = (columnId: string, value: string): Choice => [{ columnId, op: "eq", value }]
const like = (columnId: string, value: string): Choice => [{ columnId, op: "ilike", value }]

/** Whether a type has columns for places, so that "in Boston" can mean one. */
export const hasPlaceColumns = (columns: Columns): boolean =>
  (["city", "state", "country", "address"] as const).some((concept) => columnsFor(concept, columns).length > 0)

/** The candidate filters of a condition; empty if no column fits it. */
export const conditionChoices = (
  condition: Condition,
  columns: Columns,
  context: Context,
  references: References
): ReadonlyArray<Choice> => all(condition, columns, context, references).slice(0, MAX_CHOICES)

const all = (
  condition: Condition,
  columns: Columns,
  context: Context,
  references: References
): ReadonlyArray<Choice> => {
  const of = (...concepts: ReadonlyArray<Concept>) => [
    ...new Set(concepts.flatMap((concept) => columnsFor(concept, columns)))
  ]
  const byName = (slugs: ReadonlyArray<string>, name: string): ReadonlyArray<Choice> => {
    const id = references.get(name)?.id
    return [...(id === undefined ? [] : slugs.map((slug) => eq(slug, id))), ...slugs.map((slug) => like(slug, name))]
  }
  switch (condition._tag) {
    case "Time":
      return of("date", "due").map((slug) => range(slug, condition.when))
    case "Overdue":
      return overdue(of("due").slice(0, 2), of("status").slice(0, 1), context.today)
    case "With": {
      const name = written(condition.words)
      const valued = where(name, columns, context)
      return valued.length > 0 ? valued : byName(of("attendees", "owner", "company").slice(0, 4), name)
    }
    case "At": {
      const name = written(condition.words)
      const valued = condition.words.length > 1 ? where(name, columns, context) : []
      if (valued.length > 0) return valued
      const towns = town(name, columns)
      const theirs: ReadonlyArray<Concept> = /^(of|for)$/.test(condition.preposition) ? ["owner"] : []
      const firms = byName(of("company", "department", ...theirs, "attendees").slice(0, 3), name)
      return /^(in|near|from)$/.test(condition.preposition) ? [...towns, ...firms] : [...firms, ...towns]
    }
    case "Owned":
      return byName(of("owner"), written(condition.words))
    case "Mine":
      return byName(of("attendees", "owner").slice(0, 2), context.person?.name ?? "")
    case "Quality":
      return quality(condition.words, columns)
    case "Where":
      return where(written(condition.words), columns, context)
    case "Called":
      return [eq("name", condition.name), like("name", condition.name)]
  }
}

/** Due before today and still open, if there is a status. */
const overdue = (dates: ReadonlyArray<string>, status: ReadonlyArray<string>, today: string): ReadonlyArray<Choice> =>
  [...status.flatMap((slug) => ["overdue", "open", "unpaid"].map((value) => eq(slug, value))), []].flatMap((state) =>
    dates.map((slug): Choice => [{ columnId: slug, op: "lt", value: today }, ...state])
  )

const range = (columnId: string, when: { readonly from?: string; readonly to?: string }): Choice => [
  ...(when.from === undefined ? [] : [{ columnId, op: "gte" as const, value: when.from }]),
  ...(when.to === undefined ? [] : [{ columnId, op: "lt" as const, value: when.to }])
]

/** Filters that sort by date: upcoming entities first, or the latest. */
export const ordered = (order: "latest" | "next", columns: Columns, today: string): ReadonlyArray<Choice> =>
  columnsFor("date", columns)
    .slice(0, MAX_CHOICES)
    .map((columnId) => [
      order === "next"
        ? { columnId, op: "gte" as const, value: today }
        : { columnId, op: "lt" as const, value: addDays(today, 1) }
    ])

/** Concepts that an adjective never describes. */
const NOT_QUALITIES: ReadonlyArray<Concept> = ["phone", "email", "zip", "address", "owner", "company", "attendees", "date", "due", "handle"] // prettier-ignore

/** "open": a status, then a boolean column of that name, then a value of any other column. */
const quality = (words: string, columns: Columns): ReadonlyArray<Choice> => {
  const status = columnsFor("status", columns).slice(0, 2)
  const excluded = new Set(NOT_QUALITIES.flatMap((concept) => columnsFor(concept, columns)))
  const others = columns.map(({ id }) => id).filter((id) => id !== "name" && !status.includes(id) && !excluded.has(id))
  const booleans = columns.filter(({ id, name }) => id === words || name.toLowerCase() === words)
  return [
    ...status.map((id) => eq(id, words)),
    ...booleans.map(({ id }) => eq(id, "true")),
    ...others.map((id) => eq(id, words))
  ]
}

const MORE = /^(?:is |are |was )?(?:over|above|more than|greater than|at least|>=?)\s+/i
const LESS = /^(?:is |are |was )?(?:under|below|less than|at most|<=?)\s+/i

const where = (said: string, columns: Columns, context: Context): ReadonlyArray<Choice> => {
  const text = said.replace(/^(the|an?) (?=\S+ \S)/i, "")
  const amounts = columnsFor("amount", columns)
  const bare = MORE.test(text) || LESS.test(text)
  const found = bare ? { columns: amounts, rest: [text] } : columnAndValue(text.split(" "), columns)
  if (found === undefined) return []
  const rest = found.rest.join(" ").replace(/^(the )?(is|are|was|of|equals|=|being)\s+/i, "")
  const time = timeAt(tokenize(rest), context.today)
  return found.columns.flatMap((slug): ReadonlyArray<Choice> => {
    const value = rest
      .replace(MORE, "")
      .replace(LESS, "")
      .replace(/^[$€£]/, "")
      .replace(/(?<=\d),(?=\d{3})/g, "")
    if (MORE.test(rest)) return [[{ columnId: slug, op: "gte", value }]]
    if (LESS.test(rest)) return [[{ columnId: slug, op: "lt", value }]]
    const timed = time !== undefined && time.length === tokenize(rest).length ? [range(slug, time.when)] : []
    return [...timed, eq(slug, rest), like(slug, rest)]
  })
}

export const town = (name: string, columns: Columns): ReadonlyArray<Choice> => {
  const lower = name.toLowerCase()
  const other = STATES[lower] ?? Object.keys(STATES).find((short) => STATES[short] === lower)
  const cities = columnsFor("city", columns).map((slug) => eq(slug, name))
  const states = columnsFor("state", columns).flatMap((slug) => [
    eq(slug, name),
    ...(other === undefined ? [] : [eq(slug, other)])
  ])
  const zips = /\d/.test(name) ? columnsFor("zip", columns).map((slug) => eq(slug, name)) : []
  const addresses = columnsFor("address", columns).map((slug) => like(slug, name))
  const countries = columnsFor("country", columns).map((slug) => eq(slug, name))
  return other === undefined
    ? [...zips, ...cities, ...(cities.length === 0 ? addresses : []), ...countries, ...states]
    : name.length === 2
      ? [...states, ...cities]
      : [...cities, ...states, ...addresses]
}

/** The candidate filters of a fact; empty if no visible column fits it. */
export const factChoices = ({ concept, values }: Fact, columns: Columns): ReadonlyArray<Choice> => {
  const own = columnsFor(concept, columns)
  const addresses = columnsFor("address", columns)
  const exactly = values.flatMap((value) => own.map((slug) => eq(slug, value)))
  switch (concept) {
    case "zip": {
      const whole = own.length > 0 ? own : addresses
      return [...exactly, ...whole.map((slug) => like(slug, values.at(-1)!))].slice(0, MAX_CHOICES)
    }
    case "city": {
      const [name, ...shorter] = values
      return [...town(name!, columns), ...shorter.flatMap((value) => town(value, columns).slice(0, 1))].slice(
        0,
        MAX_CHOICES
      )
    }
    case "state":
      return [...exactly, ...addresses.flatMap((slug) => values.slice(0, 1).map((value) => like(slug, value)))]
    case "address":
      return addresses.map((slug) => like(slug, values[0]!))
    default:
      return exactly
  }
}
