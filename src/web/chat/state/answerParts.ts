/** Divides an answer for the page: its list of entities becomes rows, which replace the list in the text. */
import type { Cell, Reference, ShownFigures } from "../../../wire/conversations.ts"
import { clock, dateValue } from "../../shared/time.ts"

export interface Row {
  /** Undefined for an item beyond the entities that are stored with the answer. */
  readonly reference: Reference | undefined
  /** The item as it is written. */
  readonly text: string
  /** The item's values if they say all that the item says. */
  readonly cells?: ReadonlyArray<ShownCell>
}

export interface ShownCell {
  readonly kind: string
  readonly label: string
  readonly isObvious: boolean
  readonly value: string
  /** A phone number or e-mail address as written. */
  readonly raw: string
}

export interface AnswerParts {
  readonly before: string
  readonly rows: ReadonlyArray<Row>
  /** They replace their list in the text. */
  readonly figures: ReadonlyArray<ShownFigures>
  readonly after: string
  /** Whether the answer offers the next rows. */
  readonly hasMore: boolean
}

const ITEM = /^ {0,3}(?:\d{1,3}[.)]|[-*+])\s+(\S.*)$/
/** Basic mode's hint below a list that goes on; the page shows a button instead. */
const MORE = /^Say “more”.*$/m

interface List {
  readonly items: ReadonlyArray<string>
  readonly first: number
  /** The line after the list. */
  readonly end: number
}

/** The first list of a text, unless its items have paragraphs or lists of their own. */
const listIn = (lines: ReadonlyArray<string>): List | undefined => {
  const first = lines.findIndex((line) => ITEM.test(line))
  if (first < 0) return undefined
  const items: Array<string> = []
  let end = first
  for (let at = first; at < lines.length; at++) {
    const line = lines[at]!
    const item = ITEM.exec(line)?.[1]
    if (item !== undefined) items.push(item)
    else if (/^\s+\S/.test(line)) return undefined
    else if (line.trim() !== "") break
    if (item !== undefined) end = at + 1
  }
  return { items, first, end }
}

const folded = (text: string): string =>
  ` ${text
    .normalize("NFKC")
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\p{M}@+]+/gu, " ")
    .trim()} `

/** How many of an entity's values a folded text contains. */
const valuesIn = (text: string, { cells = [], status }: Reference): number =>
  [...cells.map(({ value }) => value), ...(status === undefined ? [] : [status])].filter((value) =>
    text.includes(folded(value))
  ).length

/** The entities of the items; undefined unless each of the first items names one. Values tell namesakes apart. */
const matched = (items: ReadonlyArray<string>, references: ReadonlyArray<Reference>) => {
  const free = [...references]
  const found = items.map((item) => {
    const text = folded(item)
    const [best] = free
      .filter(({ name = "" }) => name.trim() !== "" && text.includes(folded(name)))
      .toSorted((a, b) => valuesIn(text, b) - valuesIn(text, a))
    if (best !== undefined) free.splice(free.indexOf(best), 1)
    return best
  })
  const gap = found.indexOf(undefined)
  const isComplete = found.length > 1 && found[0] !== undefined
  return isComplete && (gap < 0 || found.slice(gap).every((one) => one === undefined)) ? found : undefined
}

const OBVIOUS = /^(start|date|when|day|company|city|town|e-?mail|phone|address|location|attendees|owner)$/i
/** Words around values, and the words of dates, which the page writes in its own way. */
const FILLER = new Set(
  "a an and at by from has in is of on status the to with am pm january february march april may june july august september october november december jan feb mar apr jun jul aug sep sept oct nov dec monday tuesday wednesday thursday friday saturday sunday mon tue wed thu fri sat sun".split(
    " "
  )
)

const isDate = (kind: string): boolean => kind === "date" || kind === "timestamp"

/** Whether name, status and cells say every word of an item. */
const saysAll = (item: string, { cells = [], name = "", status = "" }: Reference): boolean => {
  const values = cells.flatMap(({ kind, name: label, value }) => [label, ...(isDate(kind) ? [] : value.split(", "))])
  const rest = [name, status, ...values]
    .map(folded)
    .filter((value) => value.trim() !== "")
    .toSorted((a, b) => b.length - a.length)
    // Each space may end one value and begin the next.
    .reduce((text, value) => text.replaceAll(value.replaceAll(" ", "  "), "  "), folded(item).replaceAll(" ", "  "))
  const digits = cells.filter(({ kind }) => isDate(kind)).flatMap(({ value }) => value.match(/\d+/g) ?? [])
  const isDated = digits.length > 0
  return rest
    .trim()
    .split(/\s+/)
    .every((word) => word === "" || FILLER.has(word) || (isDated && /^\d{1,4}$/.test(word)))
}

/** A date in a row: without the year if it is this year's, and with the day of the week. */
const shortDateValue = (text: string, now = new Date()): string => {
  const match = /^(\d{4})-(\d{2})-(\d{2})(?:[ T](\d{2}):(\d{2}))?/.exec(text)
  if (match === null) return dateValue(text)
  const [, year, month, day, hour, minute] = match
  // The organization's own time, which must not be converted.
  const at = new Date(Number(year), Number(month) - 1, Number(day), Number(hour ?? 0), Number(minute ?? 0))
  const date = new Intl.DateTimeFormat(undefined, {
    weekday: "short",
    day: "numeric",
    month: "short",
    ...(at.getFullYear() === now.getFullYear() ? {} : { year: "numeric" as const })
  }).format(at)
  return hour === undefined || `${hour}${minute}` === "0000" ? date : `${date}, ${clock(at)}`
}

const shownCell = ({ kind, name, value }: Cell, person: string | undefined): ReadonlyArray<ShownCell> => {
  const others = value.split(", ").filter((one) => one !== person)
  // The asker's own name says nothing among the names of others.
  const told = others.length === 0 || !value.includes(", ") ? value : others.join(", ")
  if (told === person) return []
  return [
    {
      kind,
      label: name,
      isObvious: OBVIOUS.test(name),
      value: isDate(kind) ? shortDateValue(told) : told,
      raw: told
    }
  ]
}

/** The parts of a complete answer; `person` is the asker's own name. */
export const partsOfAnswer = (
  text: string,
  references: ReadonlyArray<Reference>,
  person: string | undefined,
  figures: ReadonlyArray<ShownFigures> = []
): AnswerParts => {
  const hasMore = MORE.test(text)
  const whole = { before: text.replace(MORE, "").trim(), rows: [], figures, after: "", hasMore }
  const lines = text.split("\n")
  const [from, to] = figures.find((one) => one.lines !== undefined)?.lines ?? []
  if (from !== undefined)
    return { ...whole, before: lines.slice(0, from).join("\n").trim(), after: lines.slice(to).join("\n").trim() }
  const list = listIn(lines)
  const found = list === undefined ? undefined : matched(list.items, references)
  if (list === undefined || found === undefined) return whole
  const { end, first, items } = list
  const isCovered = items.every((item, index) => found[index] !== undefined && saysAll(item, found[index]!))
  return {
    before: lines.slice(0, first).join("\n").trim(),
    rows: items.map((item, index) => ({
      reference: found[index],
      text: item,
      ...(isCovered ? { cells: (found[index]!.cells ?? []).flatMap((cell) => shownCell(cell, person)) } : {})
    })),
    figures,
    after: lines.slice(end).join("\n").replace(MORE, "").trim(),
    hasMore
  }
}
