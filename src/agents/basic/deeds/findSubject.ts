/** Looks up the row that a request is about: one row, or what is wrong with the words. */
import { PEOPLE } from "../../../domain/EntityType.ts"
import type { Entity } from "../../../domain/Page.ts"
import type { Filter } from "../../../domain/Query.ts"
import { foldText } from "../../../domain/keys.ts"
import { plainValue } from "../../../domain/valueList.ts"
import { columnsFor } from "../conceptColumns.ts"
import { both, eqName } from "../locate.ts"
import type { Context, ContextType } from "../readConversation.ts"
import { addDays } from "../readTime.ts"
import { columnsOf, count, find, inParallel, type Script } from "../script.ts"
import type { Subject } from "./Deed.ts"
import { clock } from "./moments.ts"
import { beginningsOf, isPartOf, isReworded } from "./reworded.ts"
import { isMistaken } from "./respelt.ts"
import {
  asksWhich,
  MAX_NAMESAKES,
  MAX_TRIED,
  namesakes,
  notFound,
  person,
  type Problem,
  problem,
  RANKS,
  type Row,
  rowOf,
  several,
  type World
} from "./rows.ts"
import { type Said, textOf, type Word } from "./words.ts"

/** The row that the words mean. */
export function* findSubject(
  subject: Subject,
  types: ReadonlyArray<ContextType>,
  world: World,
  isDeleted = false
): Script<Row | Problem> {
  switch (subject._tag) {
    case "It": {
      const focus = world.context.focus ?? []
      const [one] = focus
      const type = world.context.types.find(({ id }) => id === one?.type)
      return focus.length === 1 && one !== undefined && type !== undefined
        ? { _tag: "Row", type, id: one.id, name: one.name }
        : problem(RANKS.words, "Whom or what do you mean? Give me the name.")
    }
    case "Rows":
      return problem(RANKS.words, "These are several.")
    case "Named":
      return yield* byName(textOf(world.said, subject.words), types, world, subject.isDefinite === true, isDeleted)
    case "Described": {
      const row = yield* described(subject, types[0]!, world)
      return row._tag === "Problem" && row.rank === RANKS.missing && isTitleOnly(subject)
        ? yield* ofPart(textOf(world.said, subject.title!), types[0]!, row, world)
        : row
    }
  }
}

/** A row by its whole name in any of the types; a person also by a part of the name. */
function* byName(
  name: string,
  types: ReadonlyArray<ContextType>,
  world: World,
  isDefinite: boolean,
  isDeleted: boolean
): Script<Row | Problem> {
  const { isNear: mayBeNear, wanted } = world
  if (name.includes("@")) {
    const people = types.find(({ id }) => id === PEOPLE)
    const page =
      people &&
      (yield* find({
        entityTypeId: PEOPLE,
        filters: [{ columnId: "email", op: "eq", value: name }],
        limit: 2,
        selectColumns: wanted(people)
      }))
    return people !== undefined && page?.total === 1 ? rowOf(people, page.entities[0]!) : notFound(name)
  }
  const tried = types.slice(0, MAX_TRIED)
  const people = tried.find(({ id }) => id === PEOPLE)
  const rest = tried.filter((type) => type !== people)
  // In as many rounds of lookups as a search for the whole name alone.
  const length = beginningsOf(name).length
  const isLong = length >= (isDefinite ? 1 : MIN_PART)
  const [[person], elsewhere] = yield* both(
    inParallel(people === undefined ? [] : [namesakes(name, people, wanted(people))]),
    inParallel(rest.map((type) => (isLong ? loosely(name, type, wanted(type)) : wholly(name, type, wanted(type)))))
  )
  const others = elsewhere.flatMap(rowsIn)
  // A whole name counts before a part of one.
  const isWhole = (row: Row) => foldText(row.name) === foldText(name)
  const meant = [...(person === undefined ? [] : rowsIn(person)), ...others].filter(isWhole)
  if (meant.length > 0) return meant.length === 1 ? meant[0]! : several(meant, name)
  if (person !== undefined && rowsIn(person).length > 0) return person
  if (mayBeNear === true) {
    const near = (yield* inParallel(rest.map((type) => nearly(name, type, wanted(type))))).flat()
    return near.length === 1 ? near[0]! : notFound(name)
  }
  // "Close old tickets" and "delete login bugs" can mean several rows, "the old tickets" hardly.
  const mayBePart = isDefinite || (!isDeleted && !TELLS_WHICH.test(name))
  const found = others.filter((row) => isReworded(name, row.name) || (mayBePart && isPartOf(name, row.name)))
  const [first] = found
  const isValue = length === 1 && first !== undefined && (yield* isValueOf(name, first.type))
  const parts = isValue ? [] : found
  return parts.length === 0
    ? (person ?? notFound(name))
    : parts.length === 1
      ? { ...parts[0]!, isPart: true }
      : several(parts, name)
}

/** Rows whose name differs in one letter of one word. */
function* nearly(name: string, type: ContextType, wanted: ReadonlyArray<string>): Script<ReadonlyArray<Row>> {
  const words = foldText(name).split(" ")
  const parts = beginningsOf(name)
  const [first] = parts
  const last = parts.at(-1)
  if (words.length < 2 || first === undefined || last === undefined || first === last) return []
  // One of the two is spelt as it is in the row.
  const pages = yield* inParallel(
    [first, last].map((value) =>
      find({
        entityTypeId: type.id,
        filters: [{ columnId: "name", op: "ilike", value }],
        limit: MAX_NAMESAKES,
        selectColumns: wanted
      })
    )
  )
  if (pages.some((page) => page === undefined || asksWhich(page))) return []
  const found = new Map(pages.flatMap((page) => page!.entities).map((entity) => [entity.entityId, entity]))
  return [...found.values()]
    .filter(({ displayName }) => isMisspelt(words, foldText(displayName ?? "").split(" ")))
    .map((entity) => rowOf(type, entity))
}

const isMisspelt = (said: ReadonlyArray<string>, words: ReadonlyArray<string>): boolean => {
  const other = said.flatMap((word, at) => (word === words[at] ? [] : [at]))
  const [at] = other
  return (
    said.length === words.length &&
    other.length === 1 &&
    /^\p{L}{5,}$/u.test(words[at!]!) &&
    /^\p{L}{4,}$/u.test(said[at!]!) &&
    isMistaken(said[at!]!, words[at!]!)
  )
}

const rowsIn = (found: Row | Problem): ReadonlyArray<Row> => (found._tag === "Row" ? [found] : (found.choices ?? []))

/** Rows of a type with exactly this name. */
function* wholly(name: string, type: ContextType, wanted: ReadonlyArray<string>): Script<Row | Problem> {
  const page = yield* find({ entityTypeId: type.id, filters: eqName(name), limit: 8, selectColumns: wanted })
  const rows = (page?.entities ?? []).map((entity) => rowOf(type, entity))
  return rows.length === 1 ? rows[0]! : rows.length === 0 ? notFound(name) : several(rows, name)
}

/** Rows of a type with this name, with its words in another order or form, or with it in their names. */
function* loosely(name: string, type: ContextType, wanted: ReadonlyArray<string>): Script<Row | Problem> {
  const filters = beginningsOf(name).map((value): Filter => ({ columnId: "name", op: "ilike", value }))
  const page = yield* find({ entityTypeId: type.id, filters, limit: MAX_NAMESAKES, selectColumns: wanted })
  if (page === undefined || asksWhich(page)) return yield* wholly(name, type, wanted)
  const rows = page.entities.map((entity) => rowOf(type, entity))
  const found = rows.filter((row) => isPartOf(name, row.name))
  return found.length === 0 ? notFound(name) : several(found, name)
}

/** Words that tell some rows from others rather than name one. */
const TELLS_WHICH = /\b(old|new|open|closed|late|last|next|other|same|first|all|any|some|big|small|urgent)\b/i
/** Fewer words are no name that a row is known by, without "the". */
const MIN_PART = 2

type Described = Extract<Subject, { _tag: "Described" }>

/** "The logo task": a title before the noun, and nothing else. */
const isTitleOnly = ({ fuller, mine, moment, order, people }: Described): boolean =>
  fuller !== undefined && !mine && moment === undefined && order === undefined && people.length === 0

/** The one row with the words in its name, where no row has them as a value: "the review task" can be one in review. */
function* ofPart(text: string, type: ContextType, missing: Problem, world: World): Script<Row | Problem> {
  const [[named], [isValue]] = yield* both(
    inParallel([loosely(text, type, world.wanted(type))]),
    inParallel([isValueOf(text, type)])
  )
  const rows = rowsIn(named!)
  if (rows.length === 0 || isValue!) return missing
  return rows.length === 1 ? { ...rows[0]!, isPart: true } : several(rows, text)
}

/** Whether rows have the words as a value, or that can't be told. */
function* isValueOf(text: string, type: ContextType): Script<boolean> {
  const columns = yield* columnsOf(type.id)
  const values = columns.filter(({ holds, id }) => id !== "name" && (holds === undefined || holds === "list"))
  const value = [text, `in ${text}`].map(plainValue).join("|")
  const pages = yield* inParallel(
    values
      .slice(0, MAX_TRIED)
      .map(({ id }) => count({ entityTypeId: type.id, filters: [{ columnId: id, op: "eq", value }] }))
  )
  return pages.some((page) => page === undefined || page.total > 0)
}

/** The row of a description, which has to be the only one, or the first by its time. */
function* described(subject: Described, type: ContextType, world: World): Script<Row | Problem> {
  const { context, said, vocabularies } = world
  const columns = vocabularies.find((each) => each.type.id === type.id)?.columns ?? []
  const [date] = columnsFor("date", columns)
  const guests = columnsFor("attendees", columns)[0]
  const owner = columnsFor("owner", columns)[0]
  if (date === undefined) return problem(RANKS.words, `I can't tell ${type.plural.toLowerCase()} apart by time.`)
  const fields = world.fields.get(`${type.id}.update`)
  const isDay = typeof fields !== "string" && fields?.find(({ id }) => id === date)?.kind === "date"
  const when = range(subject, context, date, isDay)
  if (typeof when === "string") return problem(RANKS.words, when)
  const who = yield* inParallel([
    ...subject.people.map((words) => person(words, world)),
    ...(subject.mine ? [person([ME], world)] : [])
  ])
  const lost = who.find((each) => each._tag === "Problem")
  if (lost !== undefined) return lost
  const ids = who.flatMap((each) => (each._tag === "Row" ? [each.id] : []))
  const others = ids.slice(0, subject.people.length)
  if (others.length > 0 && guests === undefined) return problem(RANKS.words, "I can't tell who is there.")
  const titles = [subject.title, subject.fuller].flatMap((words) =>
    words === undefined ? [] : [eqName(textOf(said, words))]
  )
  const base: ReadonlyArray<Filter> = [
    ...when,
    ...others.map((id): Filter => ({ columnId: guests!, op: "eq", value: id }))
  ]
  const me = subject.mine ? ids.at(-1) : undefined
  const mine =
    me === undefined
      ? []
      : [owner, guests].flatMap((columnId): ReadonlyArray<Filter> =>
          columnId === undefined ? [] : [{ columnId, op: "eq", value: me }]
        )
  const owned = mine.length === 0 ? [base] : mine.map((filter) => [...base, filter])
  const sets = titles.length === 0 ? owned : titles.flatMap((title) => owned.map((filters) => [...filters, ...title]))
  const pages = yield* inParallel(
    sets.map((filters) =>
      find({
        entityTypeId: type.id,
        filters,
        limit: 8,
        selectColumns: [...new Set([date, ...world.wanted(type)])].slice(0, 5)
      })
    )
  )
  const found = new Map(pages.flatMap((page) => page?.entities ?? []).map((entity) => [entity.entityId, entity]))
  const timeOf = (entity: Entity) => String(entity.columns?.[date] ?? "")
  const sign = subject.order === "last" ? -1 : 1
  const sorted = [...found.values()].sort((a, b) => sign * timeOf(a).localeCompare(timeOf(b)))
  const name = phraseOf(subject, type, said)
  const [one, two] = sorted
  if (one === undefined) return problem(RANKS.missing, `I couldn't find ${name}.`)
  const single = subject.order === undefined ? sorted.length === 1 : two === undefined || timeOf(one) !== timeOf(two)
  return single
    ? rowOf(type, one)
    : several(
        sorted.map((entity) => rowOf(type, entity)),
        name
      )
}

const ME: Word = { text: "me", word: "me", after: "", capital: false, start: 0, end: 0 }

/** The range of times of a description; a text if it can't be looked up. */
const range = (subject: Described, context: Context, date: string, isDay: boolean): ReadonlyArray<Filter> | string => {
  const { moment, order } = subject
  const gte = (value: string): Filter => ({ columnId: date, op: "gte", value })
  const lt = (value: string): Filter => ({ columnId: date, op: "lt", value })
  const now =
    isDay || context.time === undefined || context.time === "00:00"
      ? context.today
      : `${context.today}T${context.time}:00`
  if (moment !== undefined) {
    const day = moment.day ?? context.today
    if (moment.time !== undefined && isDay) return "These have a day, but no time of day."
    const from = moment.time === undefined ? day : `${day}T${clock(moment.time)}:00`
    const to = moment.time === undefined ? addDays(day, 1) : `${day}T${clock(moment.time)}:59`
    const ordered = order === "last" ? [lt(to), gte(from)] : [gte(from), lt(to)]
    return order === "next" && now > from && now < to ? [gte(now), lt(to)] : ordered
  }
  switch (order) {
    case "next":
      return [gte(now)]
    case "last":
      return [lt(now)]
    case "first":
      return "On which day? Tell me the date, such as “my first meeting on May 3”."
    default:
      return []
  }
}

const phraseOf = ({ moment, order, people, title }: Described, type: ContextType, said: Said): string =>
  [
    order === undefined ? "a" : `the ${order}`,
    type.name.toLowerCase(),
    ...(title === undefined ? [] : [`called “${textOf(said, title)}”`]),
    ...(people.length === 0 ? [] : [`with ${people.map((words) => textOf(said, words)).join(" and ")}`]),
    ...(moment?.day === undefined ? [] : [`on ${moment.day}`]),
    ...(moment?.time === undefined ? [] : [`at ${clock(moment.time)}`])
  ].join(" ")
