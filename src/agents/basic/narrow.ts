/**
 * Resolves the conditions of a lookup to filters. Their candidates are counted first: a word that no row has as a value
 * means nothing here, and the lookup is declined instead of answered with nothing or with everything.
 */
import { uncapitalized } from "../english.ts"
import { PEOPLE } from "../../domain/EntityType.ts"
import type { Named, Page } from "../../domain/Page.ts"
import type { Filter } from "../../domain/Query.ts"
import type { Said } from "./browse.ts"
import { columnsNamed, labelOf } from "./conceptColumns.ts"
import { type Choice, conditionChoices, hasPlaceColumns, ordered, type References, wordForms } from "./filterChoices.ts"
import { COMPARATORS } from "./lexicon.ts"
import { eqName } from "./locate.ts"
import { Condition, type Lookup } from "./Lookup.ts"
import type { Context } from "./readConversation.ts"
import { called } from "./replies.ts"
import { count, find, inParallel, type Script } from "./script.ts"
import { suggestion } from "./suggest.ts"
import { folded, type Token, written } from "./tokenize.ts"

type Columns = ReadonlyArray<Named>

interface Narrowed {
  readonly filters: ReadonlyArray<Filter>
  readonly said: Said
}

interface Meant {
  readonly condition: Condition
  readonly choices: ReadonlyArray<Choice>
}

/** Candidates of one condition: a turn has few steps of few lookups. */
const MAX_CHOICES = 6

/** The condition itself, or the one that it negates or the ones that it joins. */
const parts = (condition: Condition): ReadonlyArray<Condition> =>
  condition._tag === "Not"
    ? parts(condition.of)
    : condition._tag === "AnyOf"
      ? condition.of.flatMap(parts)
      : [condition]

/** The ids of the names in conditions, where exactly one entity has the name. */
export function* idsOf(conditions: ReadonlyArray<Condition>, context: Context): Script<References> {
  const wanted = conditions.flatMap(parts).flatMap((condition): ReadonlyArray<{ name: string; types: ReadonlyArray<string> }> => {
    switch (condition._tag) {
      case "With":
      case "Owned":
        return condition.id === undefined ? [{ name: written(condition.words), types: [PEOPLE] }] : []
      case "At":
        return condition.id === undefined
          ? [{ name: written(condition.words), types: /^(of|for)$/.test(condition.preposition) ? ["companies", PEOPLE] : ["companies"] }]
          : []
      case "Mine":
        return context.person?.name === undefined ? [] : [{ name: context.person.name, types: [PEOPLE] }]
      default:
        return []
    }
  }) // prettier-ignore
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

/** Whether a condition's words are values, which must exist. */
const isOpen = (condition: Condition): boolean => {
  switch (condition._tag) {
    case "With":
    case "At":
    case "Owned":
    case "Quality":
      return true
    case "Where":
      return !Object.keys(COMPARATORS).some((words) => ` ${folded(condition.words)} `.includes(` ${words} `))
    default:
      return false
  }
}

/** "with last contact in October": a column and the time after it are one condition. */
const joined = (conditions: ReadonlyArray<Condition>, columns: Columns): ReadonlyArray<Condition> =>
  conditions.flatMap((condition, at): ReadonlyArray<Condition> => {
    const [before, next] = [conditions[at - 1], conditions[at + 1]]
    const labels = (one: Condition | undefined) =>
      one?._tag === "With" && one.id === undefined
        ? columnsNamed(written(one.words), columns).map((id) => labelOf(id, columns).toLowerCase())
        : []
    if (condition._tag === "Time" && labels(before).length > 0) return [{ ...condition, by: labels(before) }]
    return next?._tag === "Time" && labels(condition).length > 0 ? [] : [condition]
  })

/** The filters, or the reply that declines. */
export function* narrow(
  lookup: Lookup,
  columns: Columns,
  context: Context,
  references: References
): Script<Narrowed | string> {
  const { kind, type } = lookup.noun
  const conditions = joined(lookup.conditions, columns)
  const listAll = `list ${called(type.plural, type, 2)}`
  const unsupported = (phrase: string) =>
    `I can't narrow ${uncapitalized(type.plural)} down by “${phrase}”. Ask without it: “${listAll}”.`
  const meant = [...(kind === undefined ? [] : [Condition.Quality({ words: kind })]), ...conditions].map(
    (condition): Meant => ({
      condition,
      choices: conditionChoices(condition, columns, context, references).slice(0, MAX_CHOICES)
    })
  )
  const order =
    lookup.order === undefined || conditions.some(({ _tag }) => _tag === "Time")
      ? undefined
      : ordered(lookup.order, columns, context).slice(0, MAX_CHOICES)
  if (order?.length === 0 || (lookup.order !== undefined && order === undefined && lookup.limit === undefined))
    return unsupported(lookup.order!)
  const counted = [...(order === undefined ? [] : [order]), ...meant.map(({ choices }) => choices)]
  const isCounted = (at: number) => counted[at]!.length > 1 || (order === undefined || at > 0) && isOpen(meant[at - (order === undefined ? 0 : 1)]!.condition) // prettier-ignore
  const pages = yield* inParallel(
    counted.map((choices, at) =>
      inParallel(isCounted(at) ? choices.map((filters) => count({ entityTypeId: type.id, filters })) : [])
    )
  )
  const filters: Array<Filter> = []
  const said: Array<Said[number]> = []
  if (order !== undefined) {
    // The first range sorts the result, so the order's own range comes first.
    const possible = pages[0]!.findIndex((page) => page !== undefined)
    if (possible < 0 && order.length > 1) return unsupported(lookup.order!)
    filters.push(...order[Math.max(0, possible)]!)
  }
  for (const [index, { choices, condition }] of meant.entries()) {
    const at = index + (order === undefined ? 0 : 1)
    const isKind = kind !== undefined && index === 0
    const own = pages[at]!
    const hit = own.findIndex((page) => page !== undefined && page.total > 0)
    const possible = isCounted(at) ? own.findIndex((page) => page !== undefined) : choices.length - 1
    const phrase = phraseOf(condition)
    if (condition._tag === "Mine" && !references.has(context.person?.name ?? "")) return unsupported("yours")
    if (possible < 0 || isPlaceless(condition, columns, hit, own)) {
      return isKind ? unknownKind(kind, listAll) : unsupported(phrase)
    }
    if (hit < 0 && isOpen(condition) && !isReferred(condition, references)) {
      if (isKind) return unknownKind(kind, listAll)
      const name = nameIn(condition)
      const near = name === undefined ? undefined : yield* suggestion(name, nameTypes(condition), context)
      const meantWas = near === undefined ? "" : ` Did you mean ${near}?`
      return `I know of no “${name === undefined ? phrase : written(name)}” here, so I can't narrow ${uncapitalized(type.plural)} down by it.${meantWas === "" ? ` Ask without it: “${listAll}”.` : meantWas}`
    }
    const used = hit >= 0 ? hit : possible
    filters.push(...choices[used]!)
    if (isKind) said.push({ before: false, text: otherWord(kind, choices[used]!) })
    else said.push(...sayingOf(condition, choices, used, columns))
  }
  return { filters, said }
}

const unknownKind = (kind: string, listAll: string): string =>
  `I don't know which people are ${kind} here. Try “${listAll}”.`

/** A name that leads to one entity exists, whether or not any row refers to it. */
const isReferred = (condition: Condition, references: References): boolean =>
  "words" in condition &&
  typeof condition.words !== "string" &&
  (("id" in condition && condition.id !== undefined) || references.has(written(condition.words)))

/** "deals in Boston" where deals have no place, and no company is called so. */
const isPlaceless = (
  condition: Condition,
  columns: Columns,
  hit: number,
  pages: ReadonlyArray<Page | undefined>
): boolean =>
  condition._tag === "At" && condition.preposition === "in" && hit < 0 && !hasPlaceColumns(columns) && pages.length > 0

const nameIn = (condition: Condition): ReadonlyArray<Token> | undefined =>
  condition._tag === "With" || condition._tag === "At" || condition._tag === "Owned" ? condition.words : undefined

const nameTypes = (condition: Condition): ReadonlyArray<string> =>
  condition._tag === "At" && !/^(of|for)$/.test(condition.preposition) ? ["companies"] : [PEOPLE, "companies"]

/** The status that a word stands for, if it is another word: "clients" are people with the status customer. */
const otherWord = (word: string, choice: Choice): string => {
  const [filter] = choice
  return filter === undefined || wordForms(word).slice(0, 2).includes(filter.value) ? "" : `with status ${filter.value}`
}

/** The dates that a question means without naming them. */
const OBVIOUS = /^(starts?|date|when|day)$/

const sayingOf = (condition: Condition, choices: ReadonlyArray<Choice>, used: number, columns: Columns): Said => {
  const phrase = phraseOf(condition)
  switch (condition._tag) {
    case "Mine":
      return []
    case "Quality":
      return [
        { before: true, text: phrase },
        { before: false, text: otherWord(condition.words, choices[used]!) }
      ]
    case "Overdue":
      return [{ before: true, text: phrase }]
    case "Time": {
      // Which date was meant, where a type has several.
      const others = new Set(choices.flat().map(({ columnId }) => columnId)).size > 1
      const label = uncapitalized(labelOf(choices[used]![0]!.columnId, columns))
      return [{ before: false, text: others && !OBVIOUS.test(label) ? `${phrase} by ${label}` : phrase }]
    }
    case "Called":
      return [
        { before: false, text: choices[used]![0]!.op === "ilike" ? `with “${condition.name}” in the name` : phrase }
      ]
    default:
      return [{ before: false, text: phrase }]
  }
}

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
      return COMPARATORS[folded(condition.words.slice(0, -1))] === undefined
        ? `with ${written(condition.words)}`
        : written(condition.words)
    case "Called":
      return `called ${condition.name}`
    case "Part":
      return condition.begins
        ? `with a name that begins with “${condition.name}”`
        : `with “${condition.name}” in the name`
    case "Empty":
      return `without ${condition.words}`
    case "Not":
      return condition.of._tag === "Empty" ? `with ${condition.of.words}` : `not ${phraseOf(condition.of)}`
    case "AnyOf":
      return condition.of.map(phraseOf).join(" or ")
  }
}
