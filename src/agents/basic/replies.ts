/** Composes basic mode's sentences from results, without internal vocabulary. */
import { foldText } from "../../domain/keys.ts"
import type { Entity, Named, Page, ReferenceCell } from "../../domain/Page.ts"
import { labelOf } from "./conceptColumns.ts"
import type { Context, ContextType } from "./readConversation.ts"
import { GENERIC_PERSON_NOUNS } from "./lexicon.ts"
import { PEOPLE } from "../../domain/EntityType.ts"
import { uncapitalized } from "../english.ts"

type Columns = ReadonlyArray<Named>

export const and = (parts: ReadonlyArray<string>, word = "and"): string =>
  parts.length < 2 ? parts.join("") : `${parts.slice(0, -1).join(", ")} ${word} ${parts.at(-1)!}`

const NEVER_SAID = /\b(entity|entities|ids?|columns?|tables?|filters?|database|query|queries|records?|schemas?)\b/i

/** Columns whose labels contain no internal vocabulary. */
export const offerable = (columns: Columns): Columns => columns.filter(({ name }) => !NEVER_SAID.test(name))

const MONTH_DAY = new Intl.DateTimeFormat("en-US", { dateStyle: "long", timeZone: "UTC" })
const WEEK_DAY = new Intl.DateTimeFormat("en-US", { dateStyle: "full", timeZone: "UTC" })
const CLOCK = new Intl.DateTimeFormat("en-US", { timeStyle: "short", timeZone: "UTC" })
const DATED = /^(\d{4}-\d{2}-\d{2})(?:[ T](\d{2}):(\d{2})(?::\d{2}(?:\.\d+)?)?)?$/

/** Formats a date: "November 24, 2026"; a timestamp also gets the day of the week. */
const dated = (text: string): string => {
  const match = DATED.exec(text)
  if (match === null) return text
  const [, date, hour, minute] = match
  if (hour === undefined) return MONTH_DAY.format(new Date(`${date}T00:00:00Z`))
  const at = new Date(`${date}T${hour}:${minute}:00Z`)
  const day = WEEK_DAY.format(at)
  return hour === "00" && minute === "00" ? day : `${day}, ${CLOCK.format(at).replace("\u202f", " ")}`
}

/** Formats a cell; empty if it has no visible value. A reference becomes its name. */
export const cell = (value: unknown): string => {
  if (value === undefined || value === null) return ""
  if (Array.isArray(value)) return and(value.map(cell).filter((part) => part !== ""))
  if (typeof value === "boolean") return value ? "yes" : "no"
  if (typeof value === "object") return "more" in value ? "others" : ((value as ReferenceCell).name ?? "")
  return dated(String(value))
}

export const nameOf = (entity: Entity): string => entity.displayName ?? "a person whose name you can't see"

const ENDINGS: ReadonlyArray<readonly [RegExp, string]> = [
  [/people$/i, "person"],
  [/ies$/i, "y"],
  [/(ss|x|ch|sh)es$/i, "$1"],
  [/([^s])s$/i, "$1"]
]
const singular = (word: string): string => {
  const [ending, one] = ENDINGS.find(([ending]) => ending.test(word)) ?? []
  return ending === undefined ? word : word.replace(ending, one!)
}

/** The noun for a count, in the person's word or the organization's. */
export const called = (said: string, type: ContextType, count: number): string => {
  const word = foldText(said)
  if (GENERIC_PERSON_NOUNS.has(word)) return count === 1 ? "person" : "people"
  // "Clear my calendar" says where they are.
  const own =
    word === foldText(type.name) || word === foldText(type.plural) || /^(calendar|schedule|agenda)$/.test(word)
  if (own) return uncapitalized(count === 1 ? type.name : type.plural)
  const one = singular(word)
  return count === 1
    ? one
    : one === "person"
      ? "people"
      : one === word && !word.endsWith("s") && word !== "staff"
        ? `${word}s`
        : word
}

/** Formats a total; "more than 1,000" for a lower bound. */
export const amount = (page: Pick<Page, "total" | "totalIsLowerBound">): string =>
  `${page.totalIsLowerBound === true ? "more than " : ""}${page.total.toLocaleString("en-US")}`

/** A qualification for results that may be incomplete for this person. */
export const among = (limited: boolean | undefined, type: ContextType): string =>
  limited === true ? ` among the ${uncapitalized(type.plural)} you can see` : ""

/** A value with its label. A label that ends in a digit gets a colon, so that it does not run into the value. */
const labelled = (id: string, text: string, columns: Columns): string =>
  id === "attendees"
    ? `with ${text}`
    : `${uncapitalized(labelOf(id, columns))}${/\d$/.test(labelOf(id, columns)) ? ":" : ""} ${text}`

/** The columns whose values differ between the entities, or all of them if none does. */
export const differing = (page: Page, shown: ReadonlyArray<string>): ReadonlyArray<string> => {
  const apart = shown.filter((id) => new Set(page.entities.map((entity) => cell(entity.columns?.[id]))).size > 1)
  const discreet = apart.filter((id) => !ON_REQUEST.test(id))
  return discreet.length > 0 ? discreet : apart.length > 0 ? apart : shown
}

/** One line of a list: name, distinguishing cells and status. */
const line = (entity: Entity, columns: Columns, shown: ReadonlyArray<string>): string => {
  const cells = shown.flatMap((id) => {
    const text = cell(entity.columns?.[id])
    if (text === "" || id === "name" || id === "status") return []
    return [OBVIOUS_LABEL.test(labelOf(id, columns)) ? text : labelled(id, text, columns)]
  })
  const parts = [...cells, ...(entity.status === undefined ? [] : [`status ${entity.status}`])]
  return parts.length === 0 ? nameOf(entity) : `${nameOf(entity)} — ${parts.join("; ")}`
}
/** Labels that are obvious from the value. */
const OBVIOUS_LABEL = /^(start|date|when|day|company|city|town|e-?mail|phone|address|location)$/i

export const numbered = (page: Page, columns: Columns, shown: ReadonlyArray<string>, from = 0): string =>
  page.entities.map((entity, index) => `${index + 1 + from}. ${line(entity, columns, shown)}`).join("\n")

/** Presents one entity: its places first, then the other cells. `lead` begins the sentence. */
export const present = (
  entity: Entity,
  type: ContextType,
  columns: Columns,
  shown: ReadonlyArray<string>,
  lead = `${nameOf(entity)} is`
): string => {
  const text = (id: string) => cell(entity.columns?.[id])
  const visible = shown.filter((id) => !ON_REQUEST.test(id) && text(id) !== "")
  const places = (type.id === PEOPLE ? PERSON_AT : type.id === "meetings" ? MEETING_AT : []).flatMap(
    ([label, preposition]) => {
      const id = visible.find((one) => label.test(one))
      return id === undefined ? [] : [{ id, words: `${preposition} ${text(id)}` }]
    }
  )
  const rest = [
    ...(entity.status === undefined ? [] : [`status ${entity.status}`]),
    ...visible.filter((id) => places.every((place) => place.id !== id)).map((id) => labelled(id, text(id), columns))
  ]
  const name = lead.replace(/ is$|'re$/, "")
  if (places.length > 0) return `${[`${lead} ${places.map(({ words }) => words).join(" ")}`, ...rest].join(", ")}.`
  if (rest.length > 0) return `${name}: ${rest.join(", ")}.`
  return lead.startsWith("You") ? `${lead}.` : `I found ${name}.`
}

/** Columns that place an entity, with their prepositions. */
const PERSON_AT: ReadonlyArray<readonly [RegExp, string]> = [
  [/company|employer|organi[sz]ation/, "at"],
  [/city|town/, "in"]
]
const MEETING_AT: ReadonlyArray<readonly [RegExp, string]> = [
  [/^start$/, "on"],
  [/^attendees$/, "with"],
  [/^company$/, "at"]
]

/** Columns that are shown on request only. */
export const ON_REQUEST = /phone|mobile|mail|note/

/** Offers the on-request columns that have a value. */
export const offer = (entity: Entity, columns: Columns, shown: ReadonlyArray<string>): string => {
  const held = offerable(columns)
    .filter(({ id }) => shown.includes(id) && ON_REQUEST.test(id) && cell(entity.columns?.[id]) !== "")
    .map(({ name }) => uncapitalized(name))
  return held.length === 0 ? "" : ` Ask me for the ${and(held, "or")} if you need it.`
}

/** Three example questions in the organization's own words. */
const examples = (context: Context): ReadonlyArray<string> => {
  const plural = (type: ContextType | undefined) => (type === undefined ? undefined : uncapitalized(type.plural))
  const people = context.types.find(({ id }) => id === PEOPLE)
  const meetings = context.types.find(({ id }) => id === "meetings")
  const own =
    context.types.find(({ id }) => id !== PEOPLE && id !== "meetings" && id !== "companies") ??
    context.types.find(({ id }) => id !== PEOPLE && id !== "meetings")
  return [
    ...(people === undefined ? [] : [`“who is ${context.person?.name ?? "Ada Lovelace"}”`]),
    ...(meetings === undefined ? [] : [`“what is my next ${uncapitalized(meetings.name)}”`]),
    ...[own ?? people].flatMap((type) =>
      type === undefined ? [] : [`“how many ${plural(type)!} are there”`, `“list ${plural(type)!}”`]
    )
  ].slice(0, 3)
}

export const example = (context: Context): string => examples(context)[0] ?? "“help”"

/** Says what basic mode can't do, and what it can instead. */
export const cannotDo = (of: "send" | "change", context: Context): string => {
  const person = context.person?.name ?? "Ada Lovelace"
  return of === "send"
    ? `I can't write, send or call. I can tell you how: “how do I reach ${person}”.`
    : `I can't do that in basic mode: I only look things up. ${tryThese(context)}`
}

/** The reply for hidden and nonexistent things alike, so that it does not reveal which. */
export const notForYou = (context: Context): string => {
  const kinds = context.types.map(({ plural }) => uncapitalized(plural))
  return kinds.length === 0
    ? "That's not something I can look up for you."
    : `That's not something I can look up for you. What I can look up: ${and(kinds)}.`
}

/** Names the types that couldn't be read for an answer that looks in all of them. */
export const unreadable = (types: ReadonlyArray<ContextType>): string =>
  types.length === 0
    ? ""
    : ` I can't read ${and(types.map(({ plural }) => uncapitalized(plural)))} right now, so I haven't looked there.`

export const tryThese = (context: Context): string => {
  const these = examples(context)
  return these.length === 0
    ? "There is nothing here that I may look up for you. An administrator can change that."
    : `Try ${and(these, "or")}.`
}

/** What each reply to a message begins with that isn't understood. */
export const UNCLEAR = "I didn't understand that"

/** What the replies that answer nothing begin with; those in other languages name the one that is understood. */
const DECLINES =
  /^(?:I can't |I didn't understand|I don't know |I know of no |That's not something I can look up|One question at a time|Groups, sums and averages are turned off)|\(English\)/

/** Whether a reply answers nothing, for the count of declined questions. */
export const declines = (reply: string): boolean => DECLINES.test(reply)

export const unclear = (context: Context): string =>
  `${UNCLEAR}: I'm in basic mode and know a small set of questions in English. ${tryThese(context)}`

export const greeting = (context: Context): string =>
  `Hello${context.person?.name === undefined ? "" : ` ${context.person.name}`}! I'm Max, in basic mode: no language model is connected, so I understand simple questions in English. ${tryThese(context)}`
