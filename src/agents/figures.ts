/** Groups and figures beside an answer: made from a lookup's result, and shown if the answer's text is about them. */
import type { Group, Page } from "../domain/Page.ts"
import type { Figures, PresentedList } from "../domain/Presented.ts"
import { BUCKETS, type FindQuery } from "../domain/Query.ts"

/** Groups of one card, and cards beside one answer. */
const MAX_GROUPS = 25
const MAX_CARDS = 2
/** Periods from which a line shows more than bars. */
const LINE = 4
/** Between the label and the figures of an item. */
const SEPARATORS = [": ", " – ", " — ", " - "]
/** Words of an item's label that are no words of its group. */
const MAX_OTHERS = 4

const NAMES: Readonly<Record<string, string>> = {
  sum: "sum",
  avg: "average",
  min: "lowest",
  max: "highest",
  distinct: "number of different values"
}
const isKey = (heading: string): boolean => heading.startsWith("by ")
const spoken = (path: string): string => path.split("@", 1)[0]!.replaceAll(/[._]/g, " ")

/** "by month due": the period and the column. */
const keyOf = (heading: string) => {
  const [first = "", ...rest] = heading.slice(3).split(" ")
  const bucket = rest.length > 0 && (BUCKETS as ReadonlyArray<string>).includes(first) ? first : undefined
  return { bucket, path: bucket === undefined ? heading.slice(3) : rest.join(" ") }
}

/** "Sum of amount of deals by month of due". */
const titleOf = (plural: string, headings: ReadonlyArray<string>): string => {
  const figures = headings.filter((heading) => !isKey(heading)).map((heading) => heading.split(" "))
  const counted = figures.map(([name = "", ...path]) => `${NAMES[name] ?? name} of ${spoken(path.join(" "))}`)
  const by = headings.filter(isKey).map((heading) => {
    const { bucket, path } = keyOf(heading)
    return bucket === undefined ? spoken(path) : `${bucket} of ${spoken(path)}`
  })
  const noun = plural.toLowerCase()
  const what = counted.length === 0 ? noun : `${counted.join(" and ")} of ${noun}`
  return `${what.slice(0, 1).toUpperCase()}${what.slice(1)} by ${by.join(" and ")}`
}

const chartOf = ({ headings = [], groups = [], several }: Page): Figures["chart"] => {
  const keys = headings.filter(isKey)
  if (keys.length !== 1 || several === true) return undefined
  return keyOf(keys[0]!).bucket !== undefined && groups.length >= LINE ? "line" : "bar"
}

/** The card of a page; undefined for a page without groups, or with one only, which the answer's sentence states. */
export const figuresOf = (plural: string, page: Page): Figures | undefined => {
  const { groups = [], groupsTotal, headings = [], limited, several, total } = page
  if (page.tooMany === true || groups.length < 2 || !headings.some(isKey)) return undefined
  const chart = chartOf(page)
  return {
    title: titleOf(plural, headings),
    headings,
    groups: groups.slice(0, MAX_GROUPS),
    total,
    ...(groupsTotal === undefined ? {} : { groupsTotal }),
    ...(limited === true ? { limited } : {}),
    ...(several === true ? { several } : {}),
    ...(chart === undefined ? {} : { chart })
  }
}

/** The rows that were counted: the query without its conditions on groups. */
export const rowsBehind = ({ entityTypeId, filters, selectColumns = [] }: FindQuery): PresentedList => {
  const headings = new Set(["count", ...selectColumns])
  return {
    entityTypeId,
    filters: filters
      .filter(({ columnId }) => !headings.has(columnId))
      .map(({ columnId, op, value }) => ({ columnId, op, value }))
  }
}

const ITEM = /^ {0,3}(?:\d{1,3}[.)]|[-*+])\s+(\S.*)$/

const numbersIn = (text: string): ReadonlyArray<number> =>
  (text.match(/\d[\d,]*(?:\.\d+)?/g) ?? []).map((number) => Number(number.replaceAll(",", "")))

/** Whether a text states the group's count or one of its figures, an average by its rounded value. */
const states = (text: string, { count, figures = [] }: Group): boolean => {
  const values = [count, ...figures.flat().map(({ value }) => Math.abs(Number(value)))]
  return numbersIn(text).some((number) => values.some((value) => Math.abs(value - number) < 0.01))
}

const wordsIn = (text: string): ReadonlyArray<string> => text.toLowerCase().match(/\p{L}[\p{L}\p{M}]*/gu) ?? []

/** Whether an item is a label and figures, with no other words that a table would lose. */
const saysNoMore = (item: string, title: string, { figures = [], keys }: Group): boolean => {
  const at = Math.max(...SEPARATORS.map((separator) => item.lastIndexOf(separator)))
  if (at < 0) return false
  const [label, rest] = [item.slice(0, at), item.slice(at)]
  const units = figures.flat().map(({ unit = "" }) => unit)
  const known = new Set(["and", "nothing", ...wordsIn(title), ...units.flatMap(wordsIn)])
  const named = new Set(keys.flatMap(({ value = "" }) => wordsIn(value)))
  // Beside its words a label has those of a period or of an empty key: "week 7, 2026", "without a status".
  const isLabel = wordsIn(label).filter((word) => !named.has(word)).length <= MAX_OTHERS
  return isLabel && wordsIn(rest).every((word) => known.has(word))
}

/** The first list of a text, if its items state the first groups in their order, and nothing else. */
const listed = (text: string, { groups, title }: Figures): Figures["lines"] => {
  const lines = text.split("\n")
  const first = lines.findIndex((line) => ITEM.test(line))
  if (first < 0) return undefined
  const rest = lines.slice(first).findIndex((line) => !ITEM.test(line))
  const end = rest < 0 ? lines.length : first + rest
  const items = lines.slice(first, end)
  const isWhole =
    items.length <= groups.length &&
    items.every((item, index) => states(item, groups[index]!) && saysNoMore(item, title, groups[index]!))
  return isWhole && items.length > 1 ? [first, end] : undefined
}

/** Whether a text names a group or states one of its figures. */
const isAbout = (text: string, groups: ReadonlyArray<Group>): boolean => {
  const folded = text.toLowerCase()
  const isNamed = (group: Group) =>
    group.keys.some(({ value = "" }) => value !== "" && folded.includes(value.toLowerCase()))
  return groups.some((group) => isNamed(group) && states(text, group)) || groups.every((group) => states(text, group))
}

/** The cards of an answer: those of the latest lookups that its text is about. A list in the text shows as many groups. */
export const figuresIn = (
  text: string,
  found: ReadonlyArray<{ readonly figures: Figures; readonly list: PresentedList }>
) =>
  found
    .flatMap(({ figures, list }) => {
      const lines = listed(text, figures)
      if (lines !== undefined)
        return [{ list, figures: { ...figures, groups: figures.groups.slice(0, lines[1] - lines[0]), lines } }]
      return isAbout(text, figures.groups) ? [{ list, figures }] : []
    })
    .slice(-MAX_CARDS)
