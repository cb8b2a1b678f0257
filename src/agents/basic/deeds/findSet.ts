/**
 * Looks up the rows of a set. The conditions are those of questions, with the candidates of questions for what their words
 * mean; but a set is changed, so a name has to be one person's, a value has to be in one column, and text is compared whole.
 */
import { PEOPLE } from "../../../domain/EntityType.ts"
import { type Filter, MAX_LIMIT } from "../../../domain/Query.ts"
import { columnsFor, columnsNamed } from "../conceptColumns.ts"
import { anyOf, conditionChoices, negated, wordForms } from "../filterChoices.ts"
import type { Choice } from "../Choice.ts"
import type { Condition, Lookup } from "../Lookup.ts"
import { phraseOf } from "../phrases.ts"
import type { ContextType } from "../readConversation.ts"
import { called } from "../replies.ts"
import { both } from "../locate.ts"
import { count, find, inParallel, type Script } from "../script.ts"
import { written } from "../tokenize.ts"
import { plainValue } from "../../../domain/valueList.ts"
import { person, type Problem, problem, RANKS, type Row, type World } from "./rows.ts"
import {
  type About,
  type Alternatives,
  compared,
  eq,
  inColumn,
  isTime,
  kindOf,
  OVER,
  qualified,
  unclear,
  valued
} from "./setValues.ts"
import type { Word } from "./words.ts"

/** The rows of a set, at most as many as one step of a change may have. */
export interface Rows {
  readonly _tag: "Rows"
  readonly type: ContextType
  /** The person's own word for them. */
  readonly said: string
  readonly rows: ReadonlyArray<Row>
}

/** Words for whom a company sells to: where no status is called so, every row with a status is one. */
const CUSTOMERS = new Set("customer customers client clients deal deals account accounts".split(" "))
const isPersonal = (id: string, about: About): boolean => kindOf(id, about) === `→ ${PEOPLE}`
const isFound = (answer: Alternatives | Problem): answer is Alternatives => !("_tag" in answer)

/** The filters of a set; a row of it passes all of one of the `sets`. */
export interface SetFilters {
  readonly noun: Lookup["noun"]
  readonly sets: ReadonlyArray<Choice>
}

/** What the words of a set mean. What is cancelled lies `ahead`. */
export function* setFilters(lookup: Lookup, world: World, ahead: boolean): Script<SetFilters | Problem> {
  const { kind, type } = lookup.noun
  const about: About = {
    type,
    columns: world.vocabularies.find((each) => each.type.id === type.id)?.columns ?? [],
    world
  }
  const timed = lookup.conditions.some(({ _tag }) => _tag === "Time")
  const [kinds, found] = yield* both(
    kind === undefined ? inParallel<Alternatives | Problem>([]) : inParallel([ofKind(kind, about)]),
    inParallel(lookup.conditions.map((condition) => meant(condition, about)))
  )
  const all = [...kinds, ...found]
  const wrong = all.find((each): each is Problem => !isFound(each))
  if (wrong !== undefined) return wrong
  const [date] = columnsFor("date", about.columns)
  const future =
    ahead && !timed && date !== undefined && kindOf(date, about) === "time"
      ? [[[{ columnId: date, op: "gte", value: nowOf(about) } as const]]]
      : []
  const sets = [...all.filter(isFound), ...future].reduce<ReadonlyArray<ReadonlyArray<Filter>>>(
    (sets, alternatives) => sets.flatMap((set) => alternatives.map((choice) => [...set, ...choice])),
    [[]]
  )
  return sets.length > MAX_SETS ? unclear(type, "that") : { noun: lookup.noun, sets }
}

/** The rows of a set, of which `was` is so now. */
export function* findSet({ noun, sets }: SetFilters, was: Choice, world: World): Script<Rows | Problem> {
  const { said, type } = noun
  const wanted = world.wanted(type).slice(0, MAX_COLUMNS)
  const pages = yield* inParallel(
    sets.map((filters) =>
      find({ entityTypeId: type.id, filters: [...filters, ...was], limit: MAX_LIMIT, selectColumns: wanted })
    )
  )
  if (pages.some((page) => page === undefined)) return unclear(type, "that")
  const rows = new Map(
    pages
      .flatMap((page) => page!.entities)
      .map((entity): [string, Row] => [
        entity.entityId,
        {
          _tag: "Row",
          type,
          id: entity.entityId,
          name: entity.displayName ?? "",
          cells: { name: entity.displayName, status: entity.status, ...entity.columns }
        }
      ])
  )
  const total = Math.max(rows.size, ...pages.map((page) => page!.total))
  if (total > MAX_LIMIT)
    return problem(
      RANKS.several,
      `That's ${pages.some((page) => page!.totalIsLowerBound) ? "more than " : ""}${total} ${called(said, type, total)}, and a change has at most ${MAX_LIMIT}. Narrow it down, and I'll draft it.`
    )
  return rows.size === 0
    ? problem(RANKS.missing, `I found no such ${called(said, type, 2)}, so I haven't drafted anything.`)
    : { _tag: "Rows", type, said, rows: [...rows.values()] }
}

const MAX_COLUMNS = 5
const MAX_SETS = 4

const nowOf = ({ world: { context } }: About): string =>
  context.time === undefined || context.time === "00:00" ? context.today : `${context.today}T${context.time}:00`

/** "leads": people with that status. */
function* ofKind(kind: string, about: About): Script<Alternatives | Problem> {
  const [status] = columnsFor("status", about.columns)
  if (status === undefined) return unclear(about.type, kind)
  const [said, one = said, ...others] = wordForms(kind)
  const tries = [[said!, one!], others]
    .filter((words) => words.length > 0)
    .map((words): Choice => [{ columnId: status, op: "eq", value: [...new Set(words)].map(plainValue).join("|") }])
  const pages = yield* inParallel(tries.map((filters) => count({ entityTypeId: about.type.id, filters })))
  const hit = tries.find((_, at) => (pages[at]?.total ?? 0) > 0)
  if (hit !== undefined) return [hit]
  return CUSTOMERS.has(kind) ? [[{ columnId: status, op: "eq", value: "*" }]] : unclear(about.type, kind)
}

/** What a condition means: one filter, or alternatives. */
function* meant(condition: Condition, about: About): Script<Alternatives | Problem> {
  const { columns, type, world } = about
  const none = unclear(type, phraseOf(condition))
  switch (condition._tag) {
    case "Mine": {
      const name = world.context.person?.name
      const who =
        name === undefined ? undefined : yield* person([word(name)], { ...world, said: { text: name, words: [] } })
      return who?._tag === "Row" ? theirs(who.id, ["owner", "attendees"], about, none) : none
    }
    case "Owned":
      return yield* personal(condition, ["owner"], about)
    case "With":
      return yield* named(
        condition,
        isPossessive(condition, world) ? ["owner", "attendees"] : ["attendees", "owner"],
        about
      )
    case "At":
      return /^(of|for|from)$/.test(condition.preposition)
        ? yield* named(condition, ["owner", "attendees"], about)
        : yield* valued(
            condition.words.map(({ text }) => text),
            condition.preposition,
            about
          )
    case "Quality":
      return yield* qualified(condition.words.split(" "), about)
    case "Time":
      return timed(condition, about)
    case "Overdue": {
      const [due] = columnsFor("due", columns).filter((id) => isTime(id, about))
      const [status] = columnsFor("status", columns)
      const open: Choice = status === undefined ? [] : [{ columnId: status, op: "ne", value: OVER.join("|") }]
      return due === undefined ? none : [[{ columnId: due, op: "lt", value: world.context.today }, ...open]]
    }
    case "Where":
      return yield* compared(condition, about)
    case "Called":
      return [eq("name", condition.name)]
    case "Currency":
    case "Length":
    case "Related":
      return none
    case "Part":
      return conditionChoices(condition, columns, world.context, new Map())
    case "Empty": {
      const [columnId] = columnsNamed(condition.words, columns)
      return columnId === undefined ? none : [[{ columnId, op: "ne", value: "*" }]]
    }
    case "Not": {
      const of = yield* meant(condition.of, about)
      if (!isFound(of)) return of
      const not = of.length === 1 ? negated(of[0]!) : undefined
      return not === undefined ? none : [not]
    }
    case "AnyOf": {
      const of = yield* inParallel(condition.of.map((each) => meant(each, about)))
      const wrong = of.find((each): each is Problem => !isFound(each))
      if (wrong !== undefined) return wrong
      const either = of.every((each) => (each as Alternatives).length === 1)
        ? anyOf(of.map((each) => (each as Alternatives)[0]!))
        : undefined
      return either === undefined ? none : [either]
    }
  }
}

const word = (text: string): Word => ({ text, word: text, after: "", capital: true, start: 0, end: text.length })

type Spoken = Extract<Condition, { _tag: "With" | "At" | "Owned" }>

/** "Akira's leads", not "leads with Akira". */
const isPossessive = ({ words }: Spoken, { said }: World): boolean => {
  const end = (words.at(-1) as Word | undefined)?.end
  return said.words.find(({ start }) => start >= (end ?? Number.POSITIVE_INFINITY))?.word === "'s"
}

const theirs = (
  id: string,
  concepts: ReadonlyArray<"owner" | "attendees">,
  about: About,
  none: Problem
): Alternatives | Problem => {
  const columns = concepts.flatMap((concept) =>
    columnsFor(concept, about.columns)
      .filter((column) => isPersonal(column, about))
      .slice(0, 1)
  )
  return columns.length === 0 ? none : [...new Set(columns)].map((column) => eq(column, id))
}

/** The rows of one person. */
function* personal(
  condition: Spoken,
  concepts: ReadonlyArray<"owner" | "attendees">,
  about: About
): Script<Alternatives | Problem> {
  const { world } = about
  const none = unclear(about.type, phraseOf(condition))
  if (condition.id !== undefined) return theirs(condition.id, concepts, about, none)
  const who = yield* person(condition.words as ReadonlyArray<Word>, world)
  if (who._tag === "Row") return theirs(who.id, concepts, about, none)
  // A choice among several people isn't a choice of rows.
  const { choices = [] } = who
  return choices.length === 0
    ? who
    : problem(
        RANKS.several,
        `Several people match “${written(condition.words)}”: give me the whole name. I haven't drafted anything.`
      )
}

/** A person, or a value: "with Kofi", "with low priority", "for Apollo". */
function* named(
  condition: Spoken,
  concepts: ReadonlyArray<"owner" | "attendees">,
  about: About
): Script<Alternatives | Problem> {
  const words = condition.words.map(({ text }) => text)
  if (inColumn(words, about).length > 0) return yield* valued(words, undefined, about)
  const [who, value] = yield* both(
    inParallel([personal(condition, concepts, about)]),
    inParallel([valued(words, "of", about)])
  )
  const [someone, something] = [who[0]!, value[0]!]
  if (isFound(someone) && isFound(something)) return unclear(about.type, phraseOf(condition))
  // With the people who are there, where that is known; "Akira's meetings" are all of his.
  if (isFound(someone)) return isPossessive(condition, about.world) ? someone : someone.slice(0, 1)
  return isFound(something) ? something : someone
}

/** Within a time, by the column that is named, or by the type's own: the start of a meeting, when a task is due. */
const timed = (condition: Extract<Condition, { _tag: "Time" }>, about: About): Alternatives | Problem => {
  const { columns, type, world } = about
  const { when } = condition
  const choices = conditionChoices(condition, columns, world.context, new Map()).filter(
    (choice) => choice.length > 0 && choice.every(({ columnId }) => isTime(columnId, about))
  )
  const [first] = choices
  const column = first?.[0]?.columnId
  if (first === undefined || column === undefined) return unclear(type, when.said)
  const isDay = kindOf(column, about) === "date"
  if (isDay && first.some(({ value }) => value.includes("T")))
    return problem(RANKS.value, "These have a day, but no time of day.")
  // Of several dates none is meant by itself, unless it is the one that such rows are about.
  const others = new Set(choices.flat().map(({ columnId }) => columnId))
  if (
    condition.by === undefined &&
    others.size > 1 &&
    !/^(starts?|date|when|due|due_date|due_on|deadline)$/.test(column)
  )
    return unclear(type, when.said)
  const now = when.said === "coming up" && !isDay ? nowOf(about) : undefined
  return [first.map((filter) => (now !== undefined && filter.op === "gte" ? { ...filter, value: now } : filter))]
}
