/**
 * Turns conditions and facts into filters. The meaning of a word depends on the organization's columns and values, so each
 * condition has several candidate filters, most likely first; a script counts the matches of each.
 */
import { PEOPLE } from "../../domain/EntityType.ts"
import { foldText } from "../../domain/keys.ts"
import { type Choice, type Columns, eq, like, range } from "./Choice.ts"
import { columnAndValue, columnsFor, columnsNamed } from "./conceptColumns.ts"
import type { Context } from "./readConversation.ts"
import { overdue, timeChoices } from "./dateFilters.ts"
import type { Fact } from "./Fact.ts"
import { type Concept, NOUN_FAMILIES } from "./lexicon.ts"
import { COUNTRY_NAMES, NATIONALITIES, STATES } from "./placeNames.ts"
import type { Condition, Named } from "./Lookup.ts"
import { comparedTo, comparison, timed } from "./numberFilters.ts"
import { plainValue } from "../../domain/valueList.ts"
import { timeAt } from "./readTime.ts"
import { isCategory } from "./deeds/vocabulary.ts"
import { tokenize, written } from "./tokenize.ts"

/** The ids of named entities, by name, where exactly one entity has the name. */
export type References = ReadonlyMap<string, { readonly id: string; readonly type: string }>

const MAX_CHOICES = 8

/** Whether a type has columns for places, so that "in Boston" can mean one. */
export const hasPlaceColumns = (columns: Columns): boolean =>
  (["city", "state", "country", "address"] as const).some((concept) => columnsFor(concept, columns).length > 0)

/** Prepositions before a place, or what is called like one. */
export const PLACED = /^(in|near|from)$/

const isExact = (choice: Choice): boolean => choice.every(({ op }) => op === "eq")
const exactFirst = (...all: ReadonlyArray<ReadonlyArray<Choice>>): ReadonlyArray<Choice> => [
  ...all.flatMap((choices) => choices.filter(isExact)),
  ...all.flatMap((choices) => choices.filter((choice) => !isExact(choice)))
]

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
  const byName = (
    slugs: ReadonlyArray<string>,
    name: string,
    focus: Pick<Named, "id" | "type"> = {}
  ): ReadonlyArray<Choice> => {
    const { id, type } = focus.id === undefined ? (references.get(name) ?? focus) : focus
    // The third customer isn't the third employee.
    const whole =
      id === undefined ? [] : slugs.filter((slug) => leadsTo(type, slug, columns)).map((slug) => eq(slug, id))
    return focus.id === undefined ? [...whole, ...slugs.map((slug) => like(slug, name))] : whole
  }
  /** A column and its value ("employee Ada Lovelace"), or else a name in one of these columns. */
  const valuedOr = (whose: Named, slugs: ReadonlyArray<string>) => {
    const name = written(whose.words)
    const valued = whose.id === undefined ? where(name, columns, context) : []
    return valued.length > 0 ? valued : slugs.length > 0 ? byName(slugs, name, whose) : byLeading(name, whose)
  }
  /** A whole name in any of the references comes before a part of one. */
  const byLeading = (name: string, whose: Named): ReadonlyArray<Choice> => {
    const slugs = [...createdThrough(columns, context), ...leading(columns)]
    return [...(whose.id === undefined ? slugs.map((slug) => eq(slug, name)) : []), ...byName(slugs, name, whose)]
  }
  const created = (name: string, { id }: Named) =>
    id === undefined ? createdThrough(columns, context).map((slug) => eq(slug, name)) : []
  switch (condition._tag) {
    case "Time":
      return timeChoices(condition, columns, context)
    case "Overdue":
      return overdue(of("due").slice(0, 2), of("status").slice(0, 1), context.today)
    case "With": {
      // "with software" is the product of that name before it is a part of a company's; "with Software" can be a company's whole name.
      const values = categories(condition, columns)
      const named = valuedOr(condition, of("attendees", "owner", "company").slice(0, 4))
      const either = condition.words[0]!.capital ? exactFirst(named, values) : [...values, ...named]
      return [...either, ...(condition.id === undefined ? town(written(condition.words), columns) : [])]
    }
    case "At": {
      const name = written(condition.words)
      const apart = condition.words.length > 1 && condition.id === undefined
      const valued = apart ? [...where(name, columns, context), ...beforeColumn(name, columns)] : []
      if (valued.length > 0) return valued
      const towns = condition.id === undefined ? town(name, columns) : []
      const theirs: ReadonlyArray<Concept> = /^(of|for)$/.test(condition.preposition) ? ["owner"] : []
      const firms = byName(of("company", "department", ...theirs, "attendees").slice(0, 4), name, condition)
      if (PLACED.test(condition.preposition))
        // "in Proposal", "in Training": a status, or another value, before the companies that only contain the word.
        return [
          ...towns,
          ...exactFirst(firms, created(name, condition), condition.id === undefined ? quality(name, columns) : [])
        ]
      // "leads for Software": the product before the companies that only contain the word.
      const values = /^(of|for)$/.test(condition.preposition) ? categories(condition, columns) : []
      if (firms.length === 0) return [...byLeading(name, condition), ...towns]
      return [...exactFirst(values, firms), ...towns]
    }
    case "Owned": {
      const owners = of("owner")
      return valuedOr(condition, owners)
    }
    case "Mine":
      return byName(
        of("attendees", "owner")
          .filter((slug) => leadsTo(PEOPLE, slug, columns))
          .slice(0, 2),
        context.person?.name ?? ""
      )
    case "Quality":
      return [
        ...createdThrough(columns, context)
          .filter((slug) => WORKS.test(slug))
          .map((slug) => eq(slug, condition.words)),
        ...quality(condition.words, columns)
      ]
    case "Where":
      return where(written(condition.words), columns, context)
    case "Currency": {
      const held = columnsNamed("currency", columns)
      return held.length === 0 ? [[]] : held.map((id) => eq(id, condition.code))
    }
    case "Length":
      return timed(columns).flatMap(({ id, perMinute }) => {
        const value = String(Number((condition.minutes * perMinute).toFixed(6)))
        // No track lasts three minutes to the millisecond.
        if (condition.how === undefined) return perMinute > 1 ? [] : [eq(id, value)]
        return comparedTo(id, condition.how, value)
      })
    case "Called":
      return [eq("name", condition.name), like("name", condition.name)]
    case "Part":
      if (condition.names !== undefined)
        return [[{ columnId: "name", op: "eq", value: condition.names.map(plainValue).join("|") }]]
      return [condition.begins ? beginning("name", condition.name) : like("name", condition.name)]
    case "Empty":
      return columnsNamed(condition.words, columns).map((columnId): Choice => [{ columnId, op: "ne", value: "*" }])
    case "Not":
    case "AnyOf":
    case "Related":
      return []
  }
}

/** Whether a column can hold the ids of a type: it leads there, or it isn't known where. */
const leadsTo = (type: string | undefined, slug: string, columns: Columns): boolean => {
  const holds = columns.find(({ id }) => id === slug)?.holds
  return type === undefined || holds?.startsWith("→ ") !== true || holds === `→ ${type}`
}

/** A value of a category, such as a status or a product, in at most two words. */
const categories = (
  { id, words }: Pick<Extract<Condition, { _tag: "With" }>, "id" | "words">,
  columns: Columns
): ReadonlyArray<Choice> =>
  id !== undefined || words.length > 2
    ? []
    : columns
        .filter((column) => column.holds === undefined && isCategory(column))
        .slice(0, 2)
        .map((column) => eq(column.id, written(words)))

/** What people make: the tracks by Metallica are those of its albums, before the ones on an album that is called so. */
const WORKS = /^(album|record|release|book|work)/i
const CREATORS = /^(artist|author|band|writer)$/i
const createdThrough = (columns: Columns, { types }: Context): ReadonlyArray<string> => {
  const creators = types.filter(({ name }) => CREATORS.test(name))
  if (columns.some(({ holds }) => creators.some(({ id }) => holds === `→ ${id}`))) return []
  return creators.flatMap(({ name }) => leading(columns).map((slug) => `${slug}.${foldText(name)}`))
}

/** The references of a type that has no other column for a name: "albums by Queen", "tracks on Big Ones". */
const leading = (columns: Columns): ReadonlyArray<string> =>
  columns
    .filter(({ holds }) => holds?.startsWith("→ ") === true)
    .map(({ id }) => id)
    .slice(0, 3)

/** In the order of names, from the text to the one after all that begin with it. */
const beginning = (columnId: string, text: string): Choice => {
  const letters = [...foldText(text)]
  const after = String.fromCodePoint(letters.at(-1)!.codePointAt(0)! + 1)
  return [
    { columnId, op: "gte", value: letters.join("") },
    { columnId, op: "lt", value: [...letters.slice(0, -1), after].join("") }
  ]
}

/** The filter of everything else; undefined if the choice has no negation. Empty counts as something else. */
export const negated = ([filter, ...others]: Choice): Choice | undefined => {
  if (filter === undefined || others.length > 0) return undefined
  if (filter.op === "ne") return [{ ...filter, op: "eq" }]
  return filter.op === "eq" ? [{ ...filter, op: "ne" }] : undefined
}

/** One filter for several values of one column; undefined if they are of several columns. */
export const anyOf = (choices: ReadonlyArray<Choice>): Choice | undefined => {
  const filters = choices.flat()
  const [first] = filters
  return first !== undefined &&
    filters.length === choices.length &&
    filters.every(({ columnId, op }) => op === "eq" && columnId === first.columnId)
    ? [{ ...first, value: filters.map(({ value }) => value).join("|") }]
    : undefined
}

/** Concepts that an adjective never describes. */
const NOT_QUALITIES: ReadonlyArray<Concept> = [
  "phone",
  "email",
  "zip",
  "address",
  "owner",
  "company",
  "attendees",
  "date",
  "due",
  "handle"
]

/** "open": a status, then a boolean column of that name, then a value of any other column. */
const quality = (words: string, columns: Columns): ReadonlyArray<Choice> => {
  const status = columnsFor("status", columns).slice(0, 2)
  const excluded = new Set(NOT_QUALITIES.flatMap((concept) => columnsFor(concept, columns)))
  const others = columns.map(({ id }) => id).filter((id) => id !== "name" && !status.includes(id) && !excluded.has(id))
  const booleans = columns.filter(({ id, name }) => id === words || name.toLowerCase() === words)
  return [
    ...beforeColumn(words, columns),
    ...wordForms(words).flatMap((word) => status.map((id) => eq(id, word))),
    ...booleans.map(({ id }) => eq(id, "true")),
    ...others.map((id) => eq(id, words)),
    ...(NATIONALITIES[words] ?? []).flatMap((name) => columnsFor("country", columns).map((id) => eq(id, name)))
  ]
}

/** A value before its column: "the proposal stage", "high priority". */
const beforeColumn = (said: string, columns: Columns): ReadonlyArray<Choice> => {
  const words = said.split(" ")
  const [value, last] = [words.slice(0, -1).join(" "), words.at(-1)!]
  return value === "" ? [] : columnsNamed(last, columns).map((id) => eq(id, value))
}

/** The words for a kind of people or a status: as said, in the singular, and the other words of its family. */
export const wordForms = (said: string): ReadonlyArray<string> => {
  const one = said.replace(/s$/, "")
  const family = NOUN_FAMILIES.find((words) => words.has(one) || words.has(said))
  return [...new Set([said, one, ...(family ?? [])])]
}

const where = (said: string, columns: Columns, context: Context): ReadonlyArray<Choice> => {
  const text = said.replace(/^(the|an?) (?=\S+ \S)/i, "")
  const amounts = columnsFor("amount", columns)
  const bare = comparison(text) !== undefined
  const found = bare ? { columns: amounts, rest: [text] } : columnAndValue(text.split(" "), columns)
  if (found === undefined) return []
  const rest = found.rest.join(" ").replace(/^(the )?(is|are|was|were|of|equals|=|being)\s+/i, "")
  const compared = comparison(rest)
  const time = timeAt(tokenize(rest), context.today)
  const timed = time !== undefined && time.length === tokenize(rest).length
  return found.columns.flatMap((slug): ReadonlyArray<Choice> => {
    if (compared !== undefined) {
      const value = compared.value.replace(/^[$€£]/, "").replace(/(?<=\d),(?=\d{3})/g, "")
      return /^\d+(\.\d+)?$/.test(value) ? comparedTo(slug, compared.how, value) : []
    }
    return [...(timed ? [range(slug, time.when)] : []), eq(slug, rest), like(slug, rest)]
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
  const names = [name, ...(COUNTRY_NAMES.find((all) => all.has(lower)) ?? [])]
  const countries = columnsFor("country", columns).flatMap((slug) => [...new Set(names)].map((one) => eq(slug, one)))
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
      // "Ada Lovelace from Cedar Labs": a company's whole name.
      const firms = columnsFor("company", columns).map((slug) => eq(slug, name!))
      const towns = [...town(name!, columns), ...shorter.flatMap((value) => town(value, columns).slice(0, 1))]
      return [...towns.slice(0, MAX_CHOICES - firms.length), ...firms]
    }
    case "state":
      return [...exactly, ...addresses.flatMap((slug) => values.slice(0, 1).map((value) => like(slug, value)))]
    case "address":
      return addresses.map((slug) => like(slug, values[0]!))
    default:
      return exactly
  }
}
