/**
 * Resolves the conditions of a lookup to filters. Their candidates are counted first: a word that no row has as a value
 * means nothing here, and the lookup is declined instead of answered with nothing or with everything.
 */
import { uncapitalized } from "../english.ts"
import { apart } from "./adjectives.ts"
import { type AtWords, atWords, inOneColumn, isInsideWords, wholes } from "./alternatives.ts"
import { PEOPLE } from "../../domain/EntityType.ts"
import { foldText } from "../../domain/keys.ts"
import type { ListedColumn, Named, Page } from "../../domain/Page.ts"
import type { Filter } from "../../domain/Query.ts"
import { columnAndValue, columnsFor, columnsNamed, labelOf } from "./conceptColumns.ts"
import { anyOf, conditionChoices, hasPlaceColumns, negated, PLACED, type References } from "./filterChoices.ts"
import { type Choice, eq } from "./Choice.ts"
import { ordered } from "./dateFilters.ts"
import { COMPARATORS, PERSON_NOUNS, VAGUE } from "./lexicon.ts"
import { Condition, type Lookup, type Noun, personTypes } from "./Lookup.ts"
import type { Context, ContextType } from "./readConversation.ts"
import { otherWord, phraseOf, type Said, sayingOf } from "./phrases.ts"
import { parts } from "./references.ts"
import { relate, unread } from "./related.ts"
import { called } from "./replies.ts"
import { count, inParallel, type Script } from "./script.ts"
import { suggestion } from "./suggest.ts"
import { folded, type Token, tokenize, written } from "./tokenize.ts"

type Columns = ReadonlyArray<Named & Pick<ListedColumn, "holds">>

interface Narrowed {
  /** The noun without its kind, where no status is called so and another one is asked for. */
  readonly noun?: Noun
  readonly filters: ReadonlyArray<Filter>
  readonly said: Said
}

interface Meant extends AtWords {
  readonly condition: Condition
}

/** Candidates of one condition: a turn has few steps of few lookups. */
const MAX_CHOICES = 6

const inName = (value: string): Choice => [{ columnId: "name", op: "ilike", value }]

/** "annual summary meetings", "dental companies", "minutes spent in sync ups": rows that are called so, unless they are people. */
const titles = (condition: Condition, { id }: ContextType): ReadonlyArray<Choice> => {
  if (id === PEOPLE) return []
  if (condition._tag === "Quality") return VAGUE.has(condition.words) ? [] : [inName(condition.words)]
  return id !== "companies" && condition._tag === "At" && condition.preposition === "in" && condition.id === undefined
    ? [inName(folded(condition.words).replace(/(?<=[^s])s$/, ""))]
    : []
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

/** "status won or lost", "Raj or Lena": two values of a column, or two names. */
const eitherOf = (words: ReadonlyArray<Token>, columns: Columns): Condition | undefined => {
  const at = words.findIndex(({ word }) => word === "or")
  const names = [words.slice(0, at), words.slice(at + 1)]
  const found =
    at < 0
      ? undefined
      : columnAndValue(
          words.slice(0, at).map(({ text }) => text),
          columns
        )
  if (at < 1 || at === words.length - 1 || names[1]!.some(({ word }) => word === "or")) return undefined
  if (found === undefined) return Condition.AnyOf({ of: names.map((one) => Condition.With({ words: one })) })
  const column = words.slice(0, at - found.rest.length)
  return Condition.AnyOf({
    of: [words.slice(0, at), [...column, ...words.slice(at + 1)]].map((words) => Condition.Where({ words }))
  })
}

/** "with last contact in October": a column and the time after it are one condition. */
const joined = (conditions: ReadonlyArray<Condition>, columns: Columns): ReadonlyArray<Condition> =>
  conditions.flatMap((condition, at): ReadonlyArray<Condition> => {
    const [before, next] = [conditions[at - 1], conditions[at + 1]]
    const labels = (one: Condition | undefined) =>
      one?._tag === "With" && one.id === undefined
        ? columnsNamed(written(one.words), columns).map((id) => labelOf(id, columns).toLowerCase())
        : []
    // "Meetings without Akira": no column is called so.
    if (condition._tag === "Empty" && columnsNamed(condition.words, columns).length === 0)
      return [Condition.Not({ of: Condition.With({ words: tokenize(condition.words) }) })]
    const either = condition._tag === "Where" ? eitherOf(condition.words, columns) : undefined
    if (either !== undefined) return [either]
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
  const choicesOf = (condition: Condition) =>
    [...conditionChoices(condition, columns, context, references), ...titles(condition, type)].slice(0, MAX_CHOICES)
  const ask = (filters: Choice) => count({ entityTypeId: type.id, filters })
  const all = yield* apart(joined(unread(lookup.conditions, type, columns, context), columns), choicesOf, ask)
  const related = yield* inParallel(
    all.flatMap((one) => (one._tag === "Related" ? [relate(one, type, columns, context, narrow)] : []))
  )
  const declined = related.find((one) => typeof one === "string")
  if (declined !== undefined) return declined
  const found = related.filter((one) => typeof one === "object")
  const plainly = all.filter(({ _tag }) => _tag !== "Related")
  const conditions = [...plainly, ...found.flatMap(({ condition, times }) => [condition, ...times])]
  const listAll = `list ${called(type.plural, type, 2)}`
  const unsupported = (phrase: string) =>
    `I can't narrow ${uncapitalized(type.plural)} down by “${phrase}”. Ask without it: “${listAll}”.`
  const stated = [...(kind === undefined ? [] : [Condition.Quality({ words: kind })]), ...conditions]
  const isKind = (condition: Condition) => kind !== undefined && condition === stated[0]
  /** The choices of a follow-up that are of the column which the condition before was about. */
  const inSameColumn = function* (condition: Condition, all: ReadonlyArray<Choice>): Script<ReadonlyArray<Choice>> {
    const before = "instead" in condition && condition.instead !== undefined ? choicesOf(condition.instead) : undefined
    if (before === undefined || before.length === 0) return all
    const pages = yield* inParallel(before.map(ask))
    const hit = before[pages.findIndex((page) => (page?.total ?? 0) > 0)]
    const of = new Set((hit === undefined ? before : [hit]).flatMap((choice) => choice.map(({ columnId }) => columnId)))
    return all.filter((choice) => choice.every(({ columnId }) => of.has(columnId)))
  }
  const persons = new Set(personTypes(context).map(({ id }) => `→ ${id}`))
  const meant = function* (condition: Condition): Script<Meant> {
    const all = found.find((one) => one.condition === condition)?.choices ?? choicesOf(condition)
    const choices = yield* inSameColumn(condition, all)
    const isPlaced = condition._tag === "At" && PLACED.test(condition.preposition)
    const isName = nameIn(condition)?.length === 1 && !isReferred(condition, references)
    const isCapital = !isUncapitalized(condition)
    // "At energy" can mean a company, whose name is often several words in one; "with Ida" means no Almeida.
    const isOfAny = isPlaced || (condition._tag !== "At" && isCapital)
    const strict = columns.filter(({ holds }) => isOfAny || persons.has(holds ?? ""))
    const called = condition._tag === "Called" && persons.has(`→ ${type.id}`) ? type.id : undefined
    const words = yield* atWords(choices, isName || isPlaced ? strict : [], called)
    return { ...words, condition, isKnown: words.isKnown && isName && isCapital && stated.includes(condition) }
  }
  const leaves = yield* inParallel(stated.flatMap(parts).map(meant))
  // "Except Ada" where no row is called so.
  const excluded = new Set(stated.flatMap((one) => (one._tag === "Not" ? parts(one.of) : [])))
  const order = lookup.order === undefined ? [] : ordered(lookup.order, columns, context).slice(0, MAX_CHOICES)
  const isCounted = ({ choices, condition }: Meant) => choices.length > 1 || isOpen(condition)
  const ranges = rangesOf([...order, ...leaves.flatMap((leaf) => (leaf.condition._tag === "Part" ? [] : leaf.choices))])
  const [owner] = type.id === PEOPLE ? columnsFor("owner", columns) : []
  /** The person of a condition as someone's own, such as a customer. */
  function* asOwned({ condition }: Meant): Script<Page | undefined> {
    const name = nameIn(condition)
    if (owner === undefined || name === undefined || !isReferred(condition, references)) return undefined
    return yield* ask([...eq("name", written(name)), { columnId: owner, op: "eq", value: "*" }])
  }
  const [texts, inOrder, theirs, ...counted] = yield* inParallel([
    // Text has an order, too, but no dates or amounts: a column that can be searched for a part is text.
    inParallel(ranges.map((columnId) => ask([{ columnId, op: "ilike", value: "zzz" }]))),
    inParallel(order.map(ask)),
    inParallel(leaves.map(asOwned)),
    ...leaves.map((leaf) => inParallel(isCounted(leaf) ? leaf.choices.map(ask) : []))
  ])
  const isText = (choice: Choice) =>
    rangesOf([choice]).some((columnId) => texts![ranges.indexOf(columnId)] !== undefined)
  const filters: Array<Filter> = []
  const timed = conditions.find(({ _tag }) => _tag === "Time")
  const said: Array<Said[number]> = []
  if (lookup.order !== undefined) {
    // The first range sorts the result, so the order's own range comes first; another time would have to be sorted by.
    const possible = inOrder!.findIndex((page, at) => page !== undefined && !isText(order[at]!))
    if (possible < 0 || (timed !== undefined && lookup.order === "next")) return unsupported(lookup.order)
    if (timed === undefined) filters.push(...order[possible]!)
  }
  // "won customers" where no status is customer: people who are won.
  const isStated =
    conditions.some(({ _tag }) => _tag === "Quality") || (isOfCustomers(kind) && conditions.some(isServed))
  let plain = false
  const used = new Map<Condition, Used>()
  const hits = ({ choices, condition }: Meant, pages: ReadonlyArray<Page | undefined>): ReadonlyArray<number> =>
    [...pages.keys()].filter(
      (at) => (pages[at]?.total ?? 0) > 0 && (condition._tag === "Part" || !isText(choices[at]!))
    )
  // The employees of another company are the people there, and none of one's own.
  const companies = new Set(columnsFor("company", columns))
  const isOfCompany = (leaf: Meant, index: number) =>
    hits(leaf, counted[index]!).some((at) => leaf.choices[at]!.some(({ columnId }) => companies.has(columnId)))
  const isTheirs = kind !== undefined && STAFF.test(kind) && excluded.size === 0 && leaves.some(isOfCompany)
  for (const [index, leaf] of leaves.entries()) {
    const { choices, condition } = leaf
    const pages = counted[index]!
    const fits = (at: number) => condition._tag === "Part" || !isText(choices[at]!)
    const all = hits(leaf, pages)
    const several = condition._tag === "Quality" ? categoriesAmong(all, choices, columns) : []
    const hit = several.toSorted((a, b) => pages[b]!.total - pages[a]!.total)[0] ?? all[0] ?? -1
    const only = choices.length === 1 && fits(0) ? 0 : -1
    const possible = isCounted(leaf) ? pages.findIndex((page, at) => page !== undefined && fits(at)) : only
    if (condition._tag === "Mine" && !references.has(context.person?.name ?? "")) return unsupported("yours")
    if (isKind(condition) && (isTheirs || (isStated && hit < 0))) {
      plain = true
      continue
    }
    // "Customers" where no status is called so: the people whom someone looks after.
    const owned = isKind(condition) && hit < 0 && CUSTOMERS.test(kind!) ? columnsFor("owner", columns)[0] : undefined
    const served = owned === undefined ? undefined : yield* ask([{ columnId: owned, op: "eq", value: "*" }])
    if (served !== undefined && served.total > 0) {
      plain = true
      filters.push({ columnId: owned!, op: "eq", value: "*" })
      said.push({ before: false, text: `with ${uncapitalized(labelOf(owned!, columns))}` })
      continue
    }
    if (possible < 0 || isPlaceless(condition, columns, hit, pages)) {
      return isKind(condition) ? unknownKind(kind!, listAll) : unsupported(phraseOf(condition))
    }
    const isExcluded = condition._tag === "Called" && excluded.has(condition)
    const referred = isReferred(condition, references)
    if (hit < 0 && leaf.isTooMany) return unsupported(phraseOf(condition))
    // Someone who is known, and no column leads there: "invoices of Ada" where they belong to customers.
    if (hit < 0 && referred && !isById(condition, choices, references)) return unsupported(phraseOf(condition))
    if (hit < 0 && "instead" in condition && condition.instead !== undefined) return unsupported(phraseOf(condition))
    if (hit < 0 && (isExcluded || isOpen(condition)) && !referred && !leaf.isKnown) {
      return isKind(condition)
        ? unknownKind(kind!, listAll)
        : yield* unknownWord(condition, type, columns, listAll, context)
    }
    // "Ada's customers" where Ada is one herself: she has none, or someone at her company is meant.
    if (hit < 0 && (theirs![index]?.total ?? 0) > 0) return unsupported(phraseOf(condition))
    // "The company of Ada": hers, where none belongs to her.
    if (hit < 0 && type.id === "companies" && nameIn(condition) !== undefined) return unsupported(phraseOf(condition))
    // Meetings with no one aren't those that have no owner, and "people without staff" aren't those either.
    if (condition._tag === "Empty" && isOfPeople(condition.words, type)) return unsupported(phraseOf(condition))
    const isPart = isUncapitalized(condition) || (type.id === "companies" && condition._tag === "Quality")
    if (hit >= 0 && isPart && (yield* isInsideWords(choices[hit]!, columns, type.id)))
      return yield* unknownWord(condition, type, columns, listAll, context)
    used.set(condition, { choices, used: hit >= 0 ? hit : possible, isOneOfSeveral: several.length > 0 })
  }
  for (const condition of plain ? conditions : stated) {
    const alternatives = parts(condition).map((leaf) => leaves.findIndex((one) => one.condition === leaf))
    const common = inOneColumn(
      alternatives.map((at) => ({ choices: leaves[at]!.choices, hits: hits(leaves[at]!, counted[at]!) }))
    )
    const own = parts(condition).map((leaf, at) => ({
      ...used.get(leaf)!,
      ...(alternatives.length > 1 && common !== undefined ? { used: common[at]! } : {})
    }))
    const meant = own.map(({ choices, used }) => choices[used]!)
    const isJoined = condition._tag === "AnyOf" || condition._tag === "Not"
    const choice = combined(condition, isJoined ? yield* wholes(meant, columns) : meant)
    if (choice === undefined) return unsupported(phraseOf(condition))
    if (choice.some((filter) => filters.some((other) => excludes(filter, other))))
      return unsupported(phraseOf(condition))
    if (condition._tag === "Time" && isBirthday(condition, choice, context)) return unsupported(phraseOf(condition))
    if (condition._tag === "Time" && condition.latest !== undefined) {
      const { columnId } = choice[0]!
      const later = yield* ask([{ columnId, op: "gte", value: condition.latest }])
      if (later === undefined || later.total > 0) return unsupported(phraseOf(condition))
    }
    // "first meeting in October": the range of the time sorts, too, so it comes first.
    if (condition === timed && lookup.order !== undefined)
      filters.unshift(...(lookup.order === "latest" ? choice.toReversed() : choice))
    else filters.push(...choice)
    if (isKind(condition)) said.push({ before: false, text: otherWord(kind!, choice) })
    else said.push(...sayingOf(condition, own[0]!.choices, own[0]!.used, columns))
    // "Pop tracks" where an album is called so, too.
    if (own[0]!.isOneOfSeveral)
      said.push({
        before: false,
        text: `by ${uncapitalized(labelOf(meant[0]![0]!.columnId.split(".").at(-1)!, columns))}`
      })
  }
  return { filters, said, ...(plain ? { noun: { type, said: type.plural } } : {}) }
}

interface Used {
  readonly choices: ReadonlyArray<Choice>
  readonly used: number
  /** Rows of other columns have the value, too, so the answer names the column. */
  readonly isOneOfSeveral: boolean
}

/** The choices of a word that is a value of several columns, none of them a status: the one with most rows is meant. */
const categoriesAmong = (
  hits: ReadonlyArray<number>,
  choices: ReadonlyArray<Choice>,
  columns: Columns
): ReadonlyArray<number> => {
  const filters = hits.map((at) => choices[at]!)
  const ids = new Set(filters.map(([first]) => first!.columnId))
  const isPlain = filters.every(
    ([first, ...others]) => others.length === 0 && first!.op === "eq" && first!.value !== "true"
  )
  return ids.size > 1 && isPlain && !columnsFor("status", columns).some((id) => ids.has(id)) ? hits : []
}

/**
 * Whether no row can pass both filters: "lost customers" where both are a status, "last week and this week". It was meant
 * otherwise. Several people can attend one meeting.
 */
const excludes = (one: Filter, other: Filter): boolean => {
  if (one.columnId !== other.columnId || one.columnId === "attendees" || one.columnId === "name") return false
  if (one.op === "eq" && other.op === "eq") return one.value !== other.value
  const [from, to] = one.op === "gte" ? [one, other] : [other, one]
  return from.op === "gte" && to.op === "lt" && /^\d{4}-/.test(from.value) && from.value >= to.value
}

const combined = (condition: Condition, choices: ReadonlyArray<Choice>): Choice | undefined => {
  if (condition._tag === "AnyOf") return anyOf(choices)
  if (condition._tag !== "Not") return choices[0]
  const of = condition.of._tag === "AnyOf" ? anyOf(choices) : choices[0]
  return of && negated(of)
}

/** Customers are whom someone looks after, or whom one has been in touch with. */
const isOfCustomers = (kind: string | undefined): boolean => kind !== undefined && CUSTOMERS.test(kind)
const CUSTOMERS = /^(customer|client)s?$/i
const STAFF = /^(?:employees?|staff|workers?|personnel)$/i
const isServed = (condition: Condition): boolean =>
  condition._tag === "Mine" ||
  condition._tag === "Owned" ||
  (condition._tag === "With" && condition.words.every(({ capital }) => capital)) ||
  (condition._tag === "At" && /^(of|for)$/.test(condition.preposition)) ||
  (condition._tag === "Time" && condition.by?.some((label) => /contact|follow/.test(label)) === true)

/** The columns of the ranges in choices. */
const rangesOf = (choices: ReadonlyArray<Choice>): ReadonlyArray<string> => [
  ...new Set(choices.flat().flatMap(({ columnId, op }) => (op === "gte" || op === "lt" ? [columnId] : [])))
]

/** The reply about a word that is no value, with a name that is like it. */
function* unknownWord(
  condition: Condition,
  type: ContextType,
  columns: Columns,
  listAll: string,
  context: Context
): Script<string> {
  const name = nameIn(condition)
  const near = name === undefined ? undefined : yield* suggestion(name, nameTypes(condition), context)
  // It is known, and no column leads there: "meetings with Cedar Labs" where meetings have no company. Or it is a column.
  const said = name === undefined ? phraseOf(condition) : written(name)
  if ((near !== undefined && foldText(near) === foldText(said)) || columnsNamed(said, columns).length > 0)
    return `I can't narrow ${uncapitalized(type.plural)} down by “${phraseOf(condition)}”. Ask without it: “${listAll}”.`
  const next = near === undefined ? `Ask without it: “${listAll}”.` : `Did you mean ${near}?`
  return `I know of no “${said}” here, so I can't narrow ${uncapitalized(type.plural)} down by it. ${next}`
}

const unknownKind = (kind: string, listAll: string): string =>
  `I don't know which people are ${kind} here. Try “${listAll}”.`

/** A name in small letters, which can be another word. */
const isUncapitalized = (condition: Condition): boolean =>
  (condition._tag === "With" || condition._tag === "Owned" || condition._tag === "At") &&
  condition.id === undefined &&
  condition.words.every(({ capital }) => !capital)

/** A name that leads to one entity exists, whether or not any row refers to it. */
const isReferred = (condition: Condition, references: References): boolean =>
  "words" in condition &&
  typeof condition.words !== "string" &&
  (("id" in condition && condition.id !== undefined) || references.has(written(condition.words)))

const isById = (condition: Condition, choices: ReadonlyArray<Choice>, references: References): boolean => {
  const id = "id" in condition ? condition.id : undefined
  const name = nameIn(condition)
  const meant = id ?? (name && references.get(written(name))?.id)
  return choices.flat().some(({ value }) => value === meant)
}

/** Whether it says which people are left out, rather than which column is empty. */
const isOfPeople = (words: string, { id }: ContextType): boolean =>
  (id === "meetings" && words === "owner") || (id === PEOPLE && PERSON_NOUNS.has(words))

/** "Who has a birthday in August": of any year, while no one is born in this one. */
const isBirthday = ({ when }: Extract<Condition, { _tag: "Time" }>, [filter]: Choice, { today }: Context): boolean =>
  /birth|born/i.test(filter?.columnId ?? "") && (when.from ?? when.to ?? "") >= today.slice(0, 4)

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
