/** Questions for rows by what they are called: "sync ups with Luis", "when was the last board meeting", "how many Jordans". */
import { PEOPLE } from "../../domain/EntityType.ts"
import { foldText } from "../../domain/keys.ts"
import { plainValue } from "../../domain/valueList.ts"
import { browse } from "./browse.ts"
import { isValue } from "./conditionParts.ts"
import { Intent } from "./Intent.ts"
import { eqName } from "./locate.ts"
import { Condition, type Lookup, nounAt, peopleOf } from "./Lookup.ts"
import { byLength, startsWith } from "./patterns.ts"
import type { Context, ContextType } from "./readConversation.ts"
import { readConditions } from "./readLookup.ts"
import { columnsOf, count, find, inParallel, type Script } from "./script.ts"
import { type Token, written } from "./tokenize.ts"

const COUNTING = byLength(["how many", "number of", "the number of", "count"])
const LEADS = byLength(
  "list|show|show me|give me|find|any|which|what are|what is|what was|when is|when was|when are|when were|do i have|did i have|have i got|are there any".split(
    "|"
  )
)
const DETERMINERS = new Set(["the", "all", "any", "a", "an", "our", "my"])
const ORDERS = { last: "latest", latest: "latest", next: "next", first: "first" } as const
/** Words that begin what follows a title. */
const JOINS = new Set(["of", "for", "with", "in", "on", "at"])
const MAX_TITLE = 5
const MAX_TYPES = 5

type Titled = Extract<Intent, { _tag: "Titled" }>

/** A question for rows by their title; undefined if the message is only words that can be a name. */
export const readTitled = (tokens: ReadonlyArray<Token>, otherwise: Intent, context: Context): Titled | undefined => {
  const counting = COUNTING.find((words) => startsWith(tokens, words))
  const lead = counting ?? LEADS.find((words) => startsWith(tokens, words))
  let rest = tokens.slice(lead?.length ?? 0)
  // "My", "all my", "all of my".
  const mine = rest.slice(0, 3).find(({ word }) => word !== "all" && word !== "of")?.word === "my"
  let order: Titled["order"]
  while (rest.length > 1) {
    const { word } = rest[0]!
    const found = Object.hasOwn(ORDERS, word) ? ORDERS[word as keyof typeof ORDERS] : undefined
    if (found === undefined && !DETERMINERS.has(word)) break
    order ??= found
    rest = rest.slice(1)
  }
  for (let length = Math.min(MAX_TITLE, rest.length); length > 0; length--) {
    const title = rest.slice(0, length)
    // "Client Appreciation Gala" is a name, although it begins with a noun.
    const isName = title.length > 1 && title.every(({ capital }) => capital)
    if (!isValue(title, context) || (!isName && nounAt(title, context) !== undefined)) continue
    if ([title[0]!, title.at(-1)!].some(({ word }) => JOINS.has(word))) continue
    const conditions = readConditions(rest.slice(length), context)
    if (conditions === undefined) continue
    const asks = lead !== undefined || mine || order !== undefined || conditions.length > 0 || isPlural(title)
    if (!asks || (counting !== undefined && order !== undefined)) return undefined
    return Intent.Titled({
      mode: counting === undefined ? "list" : "count",
      title,
      conditions: [...(mine ? [Condition.Mine()] : []), ...conditions],
      ...(order === undefined ? {} : { order }),
      otherwise
    })
  }
  return undefined
}

/** "Feedback discussions": several rows rather than a name. */
export const isPlural = (title: ReadonlyArray<Token>): boolean =>
  title.every(({ capital }) => !capital) && /[^s]s$/.test(title.at(-1)!.word)

/** The title as it is said, and in the singular. */
const singular = (title: string): string => title.replace(/(?<=[^s])s$/, "")

/** The rows of one type that are called so; undefined if there are none. */
export function* rowsTitled({ conditions, order, title }: Titled, context: Context): Script<Lookup | undefined> {
  const name = written(title)
  const names = [...new Set([singular(name), name])]
  const types = context.types.filter(({ id }) => id !== PEOPLE && id !== "companies").slice(0, MAX_TYPES)
  const people = peopleOf(context)
  // "how many Jordans": people with that name.
  const persons = people !== undefined && title.length === 1 && title[0]!.capital && name.endsWith("s") ? [people] : []
  const tries = [
    ...types.flatMap((type) => names.map((name) => ({ type, name, filters: eqName(name) }))),
    ...persons.map((type) => ({
      type,
      name: names[0]!,
      filters: [{ columnId: "name", op: "ilike" as const, value: names[0]! }]
    }))
  ]
  const pages = yield* inParallel(tries.map(({ filters, type }) => count({ entityTypeId: type.id, filters })))
  const hit = tries.find((_, index) => (pages[index]?.total ?? 0) > 0)
  const said = order === undefined ? "plural" : "name"
  const ordering = order === undefined ? {} : { order, limit: 1 }
  if (hit === undefined) {
    const found = (yield* endingSo(name, types)) ?? (yield* columnCalled(name, conditions, context))
    return (
      found && {
        noun: { type: found.type, said: found.type[said] },
        conditions: found.conditions(conditions),
        ...ordering
      }
    )
  }
  return {
    noun: { type: hit.type, said: order === undefined ? hit.type.plural : hit.type.name },
    conditions: [Condition.Called({ name: hit.name }), ...conditions],
    ...(order === undefined ? {} : { order, limit: 1 })
  }
}

interface Meant {
  readonly type: ContextType
  readonly conditions: (others: ReadonlyArray<Condition>) => ReadonlyArray<Condition>
}

/** A filter has at most 20 alternatives. */
const MAX_NAMES = 20
const MAX_READ = 25
const MIN_WORD = 4

/** "Workshops": rows of one type whose names end with that word, as in "Leadership workshop"; the last word says what it is. */
function* endingSo(title: string, types: ReadonlyArray<ContextType>): Script<Meant | undefined> {
  const word = singular(title)
  if (word === title || word.length < MIN_WORD) return undefined
  const pages = yield* inParallel(
    types.map(({ id }) =>
      find({ entityTypeId: id, filters: [{ columnId: "name", op: "ilike", value: word }], limit: MAX_READ })
    )
  )
  const found = types.flatMap((type, index) => {
    const page = pages[index]
    const end = ` ${foldText(word)}`
    const all = (page?.entities ?? []).flatMap(({ displayName }) => displayName ?? [])
    const names = [...new Set(all.filter((one) => foldText(one).endsWith(end)))]
    return names.length === 0 ? [] : [{ type, names, page: page!, isAll: names.length === new Set(all).size }]
  })
  const [first] = found
  if (first === undefined || found.length > 1 || first.names.length > MAX_NAMES) return undefined
  const { isAll, names, page, type } = first
  const condition = Condition.Part({ name: word, begins: false, names })
  if (page.total > page.entities.length) {
    const value = names.map(plainValue).join("|")
    const same = yield* count({ entityTypeId: type.id, filters: [{ columnId: "name", op: "eq", value }] })
    if (!isAll || same?.total !== page.total || page.totalIsLowerBound === true) return undefined
  }
  return { type, conditions: (others) => [condition, ...others] }
}

/** "Follow-ups in December": the rows of the one type that has such a date, by that date. */
function* columnCalled(
  title: string,
  conditions: ReadonlyArray<Condition>,
  context: Context
): Script<Meant | undefined> {
  const times = conditions.filter(({ _tag }) => _tag === "Time")
  if (times.length !== 1) return undefined
  const label = foldText(singular(title).replaceAll("-", " "))
  const types = context.types.slice(0, MAX_TYPES)
  const columns = yield* inParallel(types.map(({ id }) => columnsOf(id)))
  const found = types.filter((_, index) =>
    columns[index]!.some(
      ({ holds, id, name }) =>
        /^(date|time)$/.test(holds ?? "") && [id, name].some((one) => foldText(one.replaceAll("_", " ")) === label)
    )
  )
  if (found.length !== 1) return undefined
  return {
    type: found[0]!,
    conditions: (others) => others.map((one) => (one._tag === "Time" ? { ...one, by: [label] } : one))
  }
}

/** Answers with the rows that are called so; undefined if there are none. */
export function* titled(intent: Titled, context: Context): Script<string | undefined> {
  const lookup = yield* rowsTitled(intent, context)
  return lookup && (yield* browse(intent.mode, lookup, 0, context))
}
