/** Turns the words of a value into the text of a cell: its kind, its closed list, the spelling that rows already have. */
import { foldText } from "../../../domain/keys.ts"
import { uncapitalized } from "../../english.ts"
import { labelOf } from "../conceptColumns.ts"
import { type Filter, MAX_LIMIT } from "../../../domain/Query.ts"
import { plainValue } from "../../../domain/valueList.ts"
import { both } from "../locate.ts"
import type { ContextType } from "../readConversation.ts"
import { and } from "../replies.ts"
import { find, inParallel, type Script } from "../script.ts"
import type { Setting } from "./Deed.ts"
import { changed, changeOf } from "./amounts.ts"
import { FINISHED } from "./setValues.ts"
import { type Problem, person, problem, RANKS, type World } from "./rows.ts"
import { lengthAt } from "./lengths.ts"
import { calendarOf, clock, eitherDay, momentOf } from "./moments.ts"
import {
  columnOfConcept,
  columnOfPhrase,
  contactOf,
  type Field,
  isCategory,
  statusColumns,
  type Vocabulary
} from "./vocabulary.ts"
import { type Said, textOf, type Word } from "./words.ts"

type Words = ReadonlyArray<Word>

/** A cell to set, and what the person says that it was. */
export interface Cell {
  readonly _tag: "Cell"
  readonly column: string
  readonly value: string
  /** How it is said. */
  readonly shown: string
  readonly was?: string
  /** The time that `was` means. */
  readonly wasTime?: string
  readonly isReference?: true
}

export interface Target {
  readonly vocabulary: Vocabulary
  readonly fields: ReadonlyArray<Field>
  /** The cells of the row so far, by column; empty for a new row. */
  readonly cells: Readonly<Record<string, unknown>>
  /** Whether the lookups of the rows themselves need the room: other values aren't looked up in advance. */
  readonly isSet?: true
}

const isTime = ({ kind }: Field): boolean => kind === "date" || kind === "timestamp"

const cell = (column: string, value: string, shown = value): Cell => ({ _tag: "Cell", column, value, shown })
const badValue = (text: string): Problem => problem(RANKS.value, text)

/** The cell of a setting. */
export function* settle(setting: Setting, target: Target, world: World): Script<Cell | Problem> {
  const settled = yield* settleValue(setting, target, world)
  if (settled._tag === "Problem" || setting.was === undefined) return settled
  const field = target.fields.find(({ id }) => id === settled.column)
  const before = field !== undefined && isTime(field) ? inTime(field, setting.was, target, world) : undefined
  const isLong = settled.column === columnOfConcept("length", target.vocabulary.columns)
  const long = isLong ? lengthAt(setting.was) : undefined
  return {
    ...settled,
    was: textOf(world.said, setting.was),
    ...(field?.kind === "reference" || field?.kind === "references" ? { isReference: true as const } : {}),
    ...(before?._tag === "Cell" ? { wasTime: before.value } : {}),
    ...(long?.length === setting.was.length ? { wasTime: String(long.value) } : {})
  }
}

function* settleValue(setting: Setting, target: Target, world: World): Script<Cell | Problem> {
  const { columns } = target.vocabulary
  switch (setting._tag) {
    case "Column":
      return yield* inColumn(columnOfPhrase(setting.column, columns)!, setting.value, target, world)
    case "Concept":
      return yield* inColumn(columnOfConcept(setting.concept, columns)!, setting.value, target, world)
    case "Value": {
      const kind = setting.kind === undefined ? undefined : columnOfPhrase(setting.kind, columns)
      if (kind !== undefined) return yield* inColumn(kind, setting.value, target, world)
      return yield* byValue(setting.value, setting.kind !== undefined, target, world)
    }
  }
}

/** Words that begin no name, unless it is quoted: they belong to what stands before it. */
const NOT_A_NAME = new Set([
  "after",
  "before",
  "like",
  "than",
  "on",
  "at",
  "in",
  "for",
  "with",
  "off",
  "out",
  "over",
  "to",
  "from",
  "by"
])

function* inColumn(column: string, words: Words, target: Target, world: World): Script<Cell | Problem> {
  const { fields, vocabulary } = target
  const field = fields.find(({ id }) => id === column)
  const label = uncapitalized(labelOf(column, vocabulary.columns))
  if (field === undefined)
    return problem(RANKS.refused, `I can't change the ${label} of ${vocabulary.type.plural.toLowerCase()} for you.`)
  if (words.length === 0) return cell(column, "", "empty")
  const typed = textOf(world.said, words)
  switch (field.kind) {
    case "text":
    case "list":
      if (column === "name" && words[0]!.quoted !== true && NOT_A_NAME.has(words[0]!.text))
        return problem(RANKS.words, "Write the name in quotation marks.")
      return column === "name"
        ? cell(column, typed)
        : yield* inText(field, typed, label, words[0]!.quoted === true, target)
    case "phone":
      return /^\+?[\d\s().-]{5,30}$/.test(typed) ? cell(column, typed) : badValue(`“${typed}” isn't a phone number.`)
    case "email":
      return /^[^\s@]+@[^\s@]+$/.test(typed) ? cell(column, typed) : badValue(`“${typed}” isn't an e-mail address.`)
    case "integer":
    case "number":
      return inNumber(field, words, typed, target, world.said)
    case "boolean": {
      const truth = /^(yes|true|on|done|y)$/i.test(typed)
        ? "true"
        : /^(no|false|off|not done|n)$/i.test(typed)
          ? "false"
          : undefined
      return truth === undefined ? badValue(`The ${label} is yes or no.`) : cell(column, truth)
    }
    case "date":
    case "timestamp":
      return inTime(field, words, target, world)
    case "reference":
    case "references":
      return yield* inReference(field, words, target, world)
    default:
      return badValue(`I can't set the ${label}.`)
  }
}

/** A text: one of the closed list; a status only if rows have it; otherwise as it is said, or as rows spell it. */
function* inText(
  field: Field,
  typed: string,
  label: string,
  isQuoted: boolean,
  { isSet, vocabulary }: Target
): Script<Cell | Problem> {
  const { columns, type } = vocabulary
  if (field.values !== undefined) {
    const own = field.values.find((value) => foldText(value) === foldText(typed))
    return own === undefined
      ? badValue(`“${typed}” isn't a ${label}. It is one of ${and(field.values.slice(0, 12), "or")}.`)
      : cell(field.id, own)
  }
  const isStatus = statusColumns(columns).includes(field.id) || isCategory(field)
  if (isQuoted) return cell(field.id, (yield* spelling(field.id, typed, type.id)) ?? typed)
  if (!isStatus) {
    const own = yield* spelling(field.id, typed, type.id)
    if (own !== undefined) return cell(field.id, own)
    const part: Filter = { columnId: field.id, op: "ilike", value: plainValue(typed) }
    const [shared, fuller] = yield* both(
      valuesOn(field.id, type.id),
      find({ entityTypeId: type.id, filters: [part], limit: 1, selectColumns: [field.id] })
    )
    const longer = fuller?.entities[0]?.columns?.[field.id]
    // "Delmar", where rows have "Delmar Furniture".
    if (typeof longer === "string" && longer.length <= MAX_LABEL && isPartOf(typed, longer))
      return badValue(`Do you mean “${longer}”? Use quotation marks if you mean “${typed}”.`)
    if (!isShared(shared)) return cell(field.id, typed)
  }
  const [spelled, [some]] = yield* both(
    spelling(field.id, typed, type.id),
    inParallel(isSet === true ? [] : [valuesOn(field.id, type.id)])
  )
  if (spelled !== undefined) return cell(field.id, spelled)
  const unknown = badValue(
    `“${typed}” isn't a ${label} that I can see on any of the ${type.plural.toLowerCase()}. Use quotation marks if you mean it.`
  )
  return some === undefined ? unknown : { ...unknown, next: listing(field.id, type, some) }
}

/** Values of a column on rows that the person may see, other than the known ones; not all if there are more rows. */
function* valuesOn(column: string, entityTypeId: string, known: ReadonlyArray<string> = []): Script<Values> {
  const others: ReadonlyArray<Filter> =
    known.length === 0 ? [] : [{ columnId: column, op: "ne", value: known.map(plainValue).join("|") }]
  const filters: ReadonlyArray<Filter> = [{ columnId: column, op: "eq", value: "*" }, ...others]
  const page = yield* find({ entityTypeId, filters, limit: MAX_LIMIT, selectColumns: [column] })
  const values = (page?.entities ?? []).map((entity) =>
    column === "status" ? entity.status : entity.columns?.[column]
  )
  return {
    values: [...new Set(values.filter((value) => typeof value === "string"))],
    rows: values.length,
    all: page !== undefined && page.total <= MAX_LIMIT
  }
}

const isPartOf = (typed: string, value: string): boolean => ` ${foldText(value)} `.includes(` ${foldText(typed)} `)

/** Whether rows have few values in common, whatever the column is called: a new one is more likely a mistake. */
const isShared = ({ rows, values }: Values): boolean => rows >= MIN_ROWS && values.length * 3 <= rows
const MIN_ROWS = 9
/** The longest value that is more than prose. */
const MAX_LABEL = 40

interface Values {
  readonly values: ReadonlyArray<string>
  /** The rows that were read. */
  readonly rows: number
  readonly all: boolean
}
const MAX_LISTED = 12

/** The values that there are, as far as two lookups find them. */
function* listing(column: string, type: ContextType, some: Values): Script<string> {
  if (some.values.length === 0) return ""
  const more = some.all ? { values: [], rows: 0, all: true } : yield* valuesOn(column, type.id, some.values)
  const values = [...some.values, ...more.values.filter((value) => !some.values.includes(value))].sort()
  const all = more.all && values.length <= MAX_LISTED
  return ` ${all ? "There are" : "There are, for example,"} ${and(values.slice(0, MAX_LISTED))}.`
}

/** A value as rows spell it: "qualified" is "Qualified", "review" is "In review", and "finished" the one word that rows have for it. */
function* spelling(column: string, typed: string, entityTypeId: string): Script<string | undefined> {
  const forms = FINISHED.includes(foldText(typed)) ? FINISHED : [plainValue(typed), plainValue(`in ${typed}`)]
  const page = yield* find({
    entityTypeId,
    filters: [{ columnId: column, op: "eq", value: forms.join("|") }],
    limit: MAX_LIMIT,
    selectColumns: [column]
  })
  const spelled = new Set(
    (page?.entities ?? [])
      .map((entity) => (column === "status" ? entity.status : entity.columns?.[column]))
      .filter((value) => typeof value === "string")
  )
  const own = [...spelled].find((value) => foldText(value) === foldText(typed))
  // If there are more rows than were read, they may have another word.
  return own ?? (spelled.size === 1 && page!.total <= MAX_LIMIT ? [...spelled][0] : undefined)
}

const inNumber = (
  { id: column, kind }: Field,
  words: Words,
  typed: string,
  { cells, vocabulary }: Target,
  said: Said
): Cell | Problem => {
  const isLength = column === columnOfConcept("length", vocabulary.columns)
  const length = isLength ? lengthAt(words) : undefined
  if (length?.length === words.length) return cell(column, String(length.value), typed)
  const isNegative = /(?:^|\s)[-−–][$€£]?$/.test(said.text.slice(0, words[0]!.start))
  const number = `${isNegative ? "-" : ""}${typed.replace(/^[$€£]\s?/, "").replace(/(?<=\d),(?=\d{3})/g, "")}`
  if (!/^-?\d+(\.\d+)?$/.test(number)) return badValue(`“${typed}” isn't a number.`)
  const change = changeOf(words, said)
  if (change === undefined) return cell(column, number, isNegative ? number : typed)
  const value = changed(Number(cells[column] ?? Number.NaN), Number(number), change)
  const label = uncapitalized(labelOf(column, vocabulary.columns))
  return value === undefined || (kind === "integer" && !Number.isInteger(value))
    ? badValue(`I can't tell what the ${label} is to be then. Give me the new one, such as “the ${label} is 500”.`)
    : cell(column, String(value))
}

/** "next Friday" on a Thursday is tomorrow or in the week that comes. */
const eitherOf = (words: Words, typed: string, context: World["context"]): Problem | undefined => {
  const days = eitherDay(words, calendarOf(context))
  return days && problem(RANKS.several, `“${typed}” can be ${days[0]} or ${days[1]}. Say the date.`)
}

/** A day, a time of day on the day that the row has, or both. */
const inTime = (
  field: Field,
  words: Words,
  { cells, vocabulary }: Target,
  { context, said }: World
): Cell | Problem => {
  const moment = momentOf(words, calendarOf(context))
  const typed = textOf(said, words)
  const now = typeof cells[field.id] === "string" ? String(cells[field.id]) : undefined
  if (moment === undefined)
    return eitherOf(words, typed, context) ?? badValue(`I don't understand the time “${typed}”.`)
  if (moment.until !== undefined) return badValue("Give me one time, not a range.")
  const day = moment.day ?? now?.slice(0, 10)
  if (field.kind === "date") {
    return moment.time !== undefined || day === undefined
      ? badValue(`The ${labelOf(field.id, vocabulary.columns).toLowerCase()} is a day, without a time.`)
      : cell(field.id, day)
  }
  const time = moment.time === undefined ? now?.slice(11, 16) : clock(moment.time)
  if (day === undefined || time === undefined) return badValue(`I need the day and the time, not only “${typed}”.`)
  return cell(field.id, `${day} ${time}:00`, `${day} ${time}`)
}

/** A person by name; what leads elsewhere is left to the tool, which looks it up by what identifies it. */
function* inReference(field: Field, words: Words, { vocabulary }: Target, world: World): Script<Cell | Problem> {
  const { columns } = vocabulary
  const personal = [columnOfConcept("owner", columns), columnOfConcept("attendees", columns)].includes(field.id)
  if (!personal) return cell(field.id, textOf(world.said, words))
  const who = yield* person(words, world)
  return who._tag === "Problem" ? who : { ...cell(field.id, who.id, who.name), isReference: true }
}

const MAX_COLUMNS = 6
export const UNKNOWN_VALUE = "I don't know"

/** A value that names no column: a person is the owner, a time the date, anything else what a closed list or a row has. */
function* byValue(words: Words, isState: boolean, target: Target, world: World): Script<Cell | Problem> {
  const { fields, isSet, vocabulary } = target
  const { columns, type } = vocabulary
  const typed = textOf(world.said, words)
  const contact = contactOf(words)
  const reached = contact === undefined ? undefined : columnOfConcept(contact, columns)
  if (reached !== undefined) return yield* inColumn(reached, words, target, world)
  const listed = fields.flatMap(({ id, values = [] }) => {
    const own = values.find((value) => foldText(value) === foldText(typed))
    return own === undefined ? [] : [cell(id, own)]
  })
  if (listed.length > 0)
    return listed.length === 1 ? listed[0]! : badValue(`“${typed}” can be several things. Name the one you mean.`)
  const status = statusColumns(columns)
  const open = fields.filter((field) => field.kind === "text" && field.values === undefined && field.id !== "name")
  const likely = open.filter((field) => status.includes(field.id) || isCategory(field))
  const own = isSet === true ? likely.find(({ id }) => status.includes(id)) : undefined
  const state = own && (yield* spelling(own.id, typed, type.id))
  if (state !== undefined) return cell(own!.id, state)
  const asked = likely.filter((field) => field !== own).slice(0, MAX_COLUMNS)
  const [found, some] = yield* both(
    inParallel(asked.map(({ id }) => spelling(id, typed, type.id))),
    status[0] === undefined || isSet === true ? inParallel<Values>([]) : inParallel([valuesOn(status[0], type.id)])
  )
  const hits = found.flatMap((spelled, index) => (spelled === undefined ? [] : [cell(asked[index]!.id, spelled)]))
  const stateHit = hits.find(({ column }) => status.includes(column))
  if (stateHit !== undefined) return stateHit
  if (hits.length > 1) return badValue(`“${typed}” can be several things. Name the one you mean.`)
  if (hits[0] !== undefined) return hits[0]
  const date = columnOfConcept("date", columns)
  const moment = isState ? undefined : momentOf(words, calendarOf(world.context))
  const field = fields.find(({ id }) => id === date)
  if (moment !== undefined && field !== undefined) return inTime(field, words, target, world)
  const either = isState || field === undefined ? undefined : eitherOf(words, typed, world.context)
  if (either !== undefined) return either
  const known = status[0] === undefined ? "" : ` as a ${uncapitalized(labelOf(status[0], columns))}`
  const unknown = badValue(
    `${UNKNOWN_VALUE} “${typed}”${known}: none of the ${type.plural.toLowerCase()} that I can see has it.`
  )
  return some[0] === undefined ? unknown : { ...unknown, next: listing(status[0]!, type, some[0]) }
}
