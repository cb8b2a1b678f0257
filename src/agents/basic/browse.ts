/** Lists and counts with conditions. Candidate filters are counted first; the answer uses the first that matches. */
import { uncapitalized } from "../english.ts"
import { PEOPLE } from "../../domain/EntityType.ts"
import type { Named, Page } from "../../domain/Page.ts"
import type { Filter } from "../../domain/Query.ts"
import { type Choice, conditionChoices, hasPlaceColumns, ordered } from "./filterChoices.ts"
import type { Context } from "./readConversation.ts"
import { eqName, both } from "./locate.ts"
import { Condition, type Lookup } from "./readLookup.ts"
import { columnsOf, count, find, type Script, inParallel } from "./script.ts"
import { written } from "./tokenize.ts"
import { distinguishing } from "./describeSubject.ts"
import { among, amount, called, differing, ON_REQUEST, numbered } from "./replies.ts"

const MAX_SHOWN = 5
const MAX_READ = 25
const MAX_CHOICES = 6

/** The filters of all conditions, or the first condition that has no meaning here. */
interface Narrowed {
  readonly filters: ReadonlyArray<Filter>
  readonly unsupported?: Condition
}

export function* browse(mode: "list" | "count", lookup: Lookup, skip: number, context: Context): Script<string> {
  const { noun } = lookup
  const { type } = noun
  const conditions = [
    ...(noun.kind === undefined ? [] : [Condition.Quality({ words: noun.kind })]),
    ...lookup.conditions
  ]
  const [columns, references] = yield* both(columnsOf(type.id), idsOf(conditions, context))
  const { filters, unsupported } = yield* narrow(lookup, conditions, columns, context, references)
  if (unsupported !== undefined) {
    return `I can't narrow ${uncapitalized(type.plural)} down by “${phraseOf(unsupported)}”. Ask without it: “list ${called(noun.said, type, 2)}”.`
  }
  if (mode === "count") {
    const page = yield* count({ entityTypeId: type.id, filters })
    return page === undefined ? cannot(lookup) : page.total === 0 ? nothing(lookup, page) : `${there(lookup, page)}.`
  }
  const times = filters.filter(({ op }) => op === "gte" || op === "lt").map(({ columnId }) => columnId)
  const asked = filters
    .map(({ columnId }) => columnId)
    .filter((id) => id !== "id" && id !== "name" && id !== "attendees")
  const shown = distinguishing(type, columns, [...new Set([...times, ...asked])]).slice(
    0,
    type.id === PEOPLE ? Math.max(3, asked.length) : 4
  )
  const size = lookup.limit ?? (lookup.order === "next" || (lookup.order === "latest" && isOne(lookup)) ? 1 : MAX_SHOWN)
  const limit = Math.min(MAX_READ, size + skip)
  const page = yield* find({ entityTypeId: type.id, filters, limit, selectColumns: shown })
  if (page === undefined) return cannot(lookup)
  if (page.total === 0) return nothing(lookup, page)
  const rest = { ...page, entities: page.entities.slice(skip) }
  if (rest.entities.length === 0) return `That's all I can list: narrow it down to see others, for example by name.`
  const shownCells = rest.entities.length > 1 ? differing(rest, shown.filter((id) => asked.includes(id) || !ON_REQUEST.test(id))) : shown.filter((id) => !ON_REQUEST.test(id)) // prettier-ignore
  const items = numbered(rest, columns, shownCells)
  if (lookup.order !== undefined && rest.entities.length === 1)
    return `The ${lookup.order} one: ${items.replace(/^1\. /, "")}.`
  if (page.total === 1) return `${there(lookup, page)}: ${items.replace(/^1\. /, "")}.`
  const left = page.total > skip + rest.entities.length
  const range = skip === 0 ? (left ? ` The first ${rest.entities.length}:` : "") : ` The next ${rest.entities.length}:`
  return `${there(lookup, page)}.${range}\n${items}${left && limit < MAX_READ ? "\nSay “more” for the next ones, or a number for one of them." : ""}`
}

const isOne = ({ noun }: Lookup): boolean => called(noun.said, noun.type, 1) === uncapitalized(noun.said) || noun.said.toLowerCase() === noun.type.name.toLowerCase() // prettier-ignore

/** The ids of the names in conditions, where exactly one entity has the name. */
function* idsOf(
  conditions: ReadonlyArray<Condition>,
  context: Context
): Script<ReadonlyMap<string, { readonly id: string }>> {
  const wanted = conditions.flatMap((condition): ReadonlyArray<{ name: string; types: ReadonlyArray<string> }> => {
    switch (condition._tag) {
      case "With":
      case "Owned":
        return [{ name: written(condition.words), types: [PEOPLE] }]
      case "At":
        return [
          {
            name: written(condition.words),
            types:
              condition.preposition === "of" || condition.preposition === "for" ? ["companies", PEOPLE] : ["companies"]
          }
        ]
      case "Mine":
        return context.person?.name === undefined ? [] : [{ name: context.person.name, types: [PEOPLE] }]
      default:
        return []
    }
  })
  const tries = wanted.flatMap(({ name, types }) =>
    types.filter((id) => context.types.some((type) => type.id === id)).map((type) => ({ name, type }))
  )
  if (tries.length === 0) return new Map()
  const pages = yield* inParallel(
    tries.map(({ name, type }) => find({ entityTypeId: type, filters: eqName(name), limit: 2 }))
  )
  return new Map(
    tries.flatMap(({ name }, index) => {
      const page = pages[index]
      return page?.total === 1 ? [[name, { id: page.entities[0]!.entityId }] as const] : []
    })
  )
}

function* narrow(
  lookup: Lookup,
  conditions: ReadonlyArray<Condition>,
  columns: ReadonlyArray<Named>,
  context: Context,
  references: ReadonlyMap<string, { readonly id: string }>
): Script<Narrowed> {
  const { kind, type } = lookup.noun
  const meant: Array<{ readonly condition?: Condition; readonly choices: ReadonlyArray<Choice> }> = [
    // The first range filter sorts the result, so the order's own range comes first.
    ...(lookup.order === undefined || conditions.some(({ _tag }) => _tag === "Time")
      ? []
      : [{ choices: ordered(lookup.order, columns, context.today) }]),
    ...conditions.map((condition) => ({
      condition,
      choices:
        condition._tag === "Quality" && condition.words === kind
          ? kindChoices(kind)
          : conditionChoices(condition, columns, context, references)
    }))
  ].map((one) => ({ ...one, choices: one.choices.slice(0, MAX_CHOICES) }))
  const open = meant.filter(({ choices }) => choices.length > 1)
  const answers = yield* inParallel(
    open.flatMap(({ choices }) => choices.map((filters) => count({ entityTypeId: type.id, filters })))
  )
  const filters: Array<Filter> = []
  let at = 0
  for (const { choices, condition } of meant) {
    const pages: ReadonlyArray<Page | undefined> = choices.length > 1 ? answers.slice(at, (at += choices.length)) : []
    const hit = pages.findIndex((page) => page !== undefined && page.total > 0)
    const possible = choices.length === 1 ? 0 : hit >= 0 ? hit : pages.findIndex((page) => page !== undefined)
    // An optional condition: "customers" is often only a word for people.
    const optional =
      condition === undefined || condition._tag === "Mine" || (condition._tag === "Quality" && condition.words === kind)
    if (optional && hit < 0 && condition?._tag === "Quality") continue
    const placeless =
      condition?._tag === "At" &&
      condition.preposition === "in" &&
      hit < 0 &&
      !hasPlaceColumns(columns) &&
      pages.length > 0
    const single =
      choices.length === 1 && condition?._tag === "At" && condition.preposition === "in" && !hasPlaceColumns(columns)
    if (possible < 0 || placeless || single) {
      if (optional) continue
      return { filters, unsupported: condition }
    }
    filters.push(...choices[possible]!)
  }
  return { filters }
}

/** A kind of person as a status: "customers", "customer". */
const kindChoices = (kind: string): ReadonlyArray<Choice> =>
  [kind.replace(/s$/, ""), kind].map((value) => [{ columnId: "status", op: "eq", value }])

const phraseOf = (condition: Condition): string => {
  switch (condition._tag) {
    case "Time":
      return condition.when.said
    case "Overdue":
      return "overdue"
    case "With":
      return `with ${written(condition.words)}`
    case "At":
      return `${condition.preposition} ${written(condition.words)}`
    case "Owned":
      return `by ${written(condition.words)}`
    case "Mine":
      return "yours"
    case "Quality":
      return condition.words
    case "Where":
      return /^(over|above|under|below|more|less|at|greater)$/.test(condition.words[0]!.word)
        ? written(condition.words)
        : `with ${written(condition.words)}`
    case "Called":
      return `called ${condition.name}`
  }
}

/** Describes a lookup in plain words: "open deals in Boston since March". */
const described = ({ conditions, noun }: Lookup, total: number): string => {
  const before = conditions.filter(({ _tag }) => _tag === "Quality" || _tag === "Overdue").map(phraseOf)
  const after = conditions
    .filter(({ _tag }) => _tag !== "Quality" && _tag !== "Overdue" && _tag !== "Mine")
    .map(phraseOf)
  return [...before, called(noun.said, noun.type, total), ...after].join(" ")
}

const there = (lookup: Lookup, page: Page): string => {
  const mine = lookup.conditions.some(({ _tag }) => _tag === "Mine")
  const lead = mine ? "You have" : page.total === 1 ? "There is" : "There are"
  return `${lead} ${amount(page)} ${described(lookup, page.total)}${mine ? "" : among(page.limited, lookup.noun.type)}`
}

const nothing = (lookup: Lookup, page: Page): string => {
  const mine = lookup.conditions.some(({ _tag }) => _tag === "Mine")
  const fewer = lookup.conditions.slice(0, -1)
  const wider = described({ ...lookup, conditions: fewer }, 2)
  const next =
    lookup.conditions.length === 0
      ? ""
      : ` Try it wider: “list ${mine && fewer.some(({ _tag }) => _tag === "Mine") ? "my " : ""}${wider}”.`
  return `${mine ? "You have" : "I found"} no ${described(lookup, 2)}${mine ? "" : among(page.limited, lookup.noun.type)}.${next}`
}

const cannot = ({ noun }: Lookup): string =>
  `I can't look that up the way you put it. Try “list ${called(noun.said, noun.type, 2)}” with one thing at a time.`
