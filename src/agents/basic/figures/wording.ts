/** Replies about figures: one figure, a list of groups, the first of them, or those that meet a condition. */
import { perMinuteIn } from "../../durations.ts"
import { described } from "../browse.ts"
import { COMPARATORS } from "../lexicon.ts"
import { uncapitalized } from "../../english.ts"
import type { Group, Page } from "../../../domain/Page.ts"
import type { Figure } from "../../../domain/Query.ts"
import { among, and } from "../replies.ts"
import type { Asked } from "./Asked.ts"
import type { Spot } from "./columns.ts"
import { example, type Found } from "./resolveFigures.ts"
import {
  bigger,
  figureName,
  figureText,
  groupText,
  isEmptyGroup,
  lines,
  MAX_SHOWN,
  measureOf,
  numeral
} from "./numerals.ts"

/** Groups of a page. */
export const MAX_GROUPS = 25

/** Whether a comparison includes its number, and its direction. */
export const bounds = ({
  compared,
  value
}: NonNullable<Asked["having"]>): {
  readonly op: "eq" | "gte" | "lt"
  readonly value: string
  readonly strict: boolean
} => {
  const how = compared === "exactly" ? undefined : COMPARATORS[compared]
  const op = how === undefined ? "eq" : how === "more" || how === "least" ? "gte" : "lt"
  return { op, value, strict: how === "more" || how === "most" }
}

export const tooMany = (found: Found, page: Page): string =>
  `That is too much to add up at once: more than ${numeral(String(page.total))} ${subject(found, 2)}. Name a period or another condition.`

const isYours = ({ lookup }: Found): boolean => lookup.conditions.some(({ _tag }) => _tag === "Mine")

/** With conditions as they hold of a page: where values are hidden, one without a phone may have one. */
export const asSeen = (found: Found, { limited }: Pick<Page, "limited">): Found => ({
  ...found,
  said: found.said.map((one) => (limited === true && one.limited !== undefined ? { ...one, text: one.limited } : one))
})

/** "open deals in 2026". */
export const subject = (found: Found, count: number): string =>
  `${isYours(found) ? "your " : ""}${described(found.lookup, found.said, count)}`

/** "I found no deals", "You have no open deals". */
export const none = (found: Found): string =>
  `${isYours(found) ? "You have" : "I found"} no ${described(found.lookup, found.said, 2)}`

/** "Your 3 open deals", "12 invoices in 2023". */
export const counted = (found: Found, total: number, more = ""): string => {
  const number = `${numeral(String(total))}${more}`
  return isYours(found)
    ? `your ${number} ${described(found.lookup, found.said, total)}`
    : `${number} ${described(found.lookup, found.said, total)}`
}

export const failed = ({ columns, type }: Found): string =>
  `I can't work that out for ${uncapitalized(type.plural)}. Try ${example(type, columns)}.`

const the = (text: string): string => (text.startsWith("your ") ? text : `the ${text}`)

const capitalized = (text: string): string => text.slice(0, 1).toUpperCase() + text.slice(1)

export const single = (found: Found, measured: Spot, page: Page): string => {
  const figure = found.asked.measure.figure as Figure
  const [group] = page.groups!
  const text = figureText(group!, figure)
  const of = group!.figures?.[0]?.reduce((sum, cell) => sum + cell.of, 0) ?? 0
  const limited = among(page.limited, found.type)
  if (text === "nothing") return `None of ${the(counted(found, page.total))}${limited} has a ${measured.label}.`
  if (figure === "distinct")
    return `${text} different ${text === "1" ? "value" : "values"} of ${measured.label} among ${the(counted(found, page.total))}${limited}.`
  const lead = `${capitalized(figureName(figure, measured.label))} of ${counted(found, page.total)}${limited}`
  const rest = of < page.total ? ` Only ${numeral(String(of))} of them ${of === 1 ? "has" : "have"} one.` : ""
  return `${lead}: ${text}${inHours(measured, group!, figure)}.${rest}`
}

const LONG = 120

/** ", or 73.5 hours", after minutes that are hard to picture. */
const inHours = ({ label, times }: Spot, { figures }: Group, figure: Figure): string => {
  const minutes = Number(figures?.[0]?.[0]?.value)
  return figure === "sum" && times === undefined && perMinuteIn(label) === 1 && minutes > LONG
    ? `, or ${numeral(String(minutes / 60), "avg")} hours`
    : ""
}

/** What a list is about: "Open deals by owner (34 among the deals you can see)". */
const title = (found: Found, measured: Spot | undefined, by: ReadonlyArray<Spot>, page: Page): string => {
  const { figure } = found.asked.measure
  const of = subject(found, 2)
  const what = figure === "count" ? of : `${figureName(figure, measured!.label)} of ${of}`
  const groups = and(
    by.map(({ bucket, label }) =>
      bucket === undefined ? label : `${bucket}${label === "start" || label === "date" ? "" : ` of ${label}`}`
    )
  )
  return `${capitalized(what)} by ${groups} (${numeral(String(page.total))} in all${among(page.limited, found.type)})`
}

export const listed = (
  found: Found,
  measured: Spot | undefined,
  by: ReadonlyArray<Spot>,
  page: Page,
  groups: ReadonlyArray<Group>
): string => {
  const { asked } = found
  const { figure } = asked.measure
  const isPeriod = by.some(({ bucket }) => bucket !== undefined)
  // Periods are short and come in the order of time: all of a page are shown.
  const most = asked.best?.limit ?? (isPeriod ? MAX_GROUPS : MAX_SHOWN)
  const shown = groups.slice(0, most)
  const total = page.groupsTotal ?? groups.length
  const rest =
    shown.length < total && asked.best?.limit === undefined
      ? isPeriod
        ? `\nThese are the last ${shown.length}: name a year to see earlier ones.`
        : `\nThese are the first ${shown.length} of ${numeral(String(total))}.`
      : ""
  const next = groups[most]
  const ties =
    asked.best?.limit !== undefined &&
    next !== undefined &&
    measureOf(next, figure) === measureOf(shown.at(-1)!, figure)
      ? "\nOthers have as much as the last one."
      : ""
  const currencies =
    page.several === true ? "\nThe amounts are in several currencies, so they aren't added up or ranked." : ""
  const withShare = figure === "count" || (figure === "sum" && page.several !== true)
  return `${title(found, measured, by, page)}:\n${lines(shown, by, figure, withShare && !isPeriod)}${ties}${rest}${currencies}`
}

/** No row leads anywhere: whether anything has as many can't be told. */
export const noneHas = (found: Found, [by]: ReadonlyArray<Spot>): string =>
  `I can't tell: I see no ${by!.label} on ${subject(found, 2)}. Try ${example(found.type, found.columns)}.`

export const bestReply = (
  found: Found,
  measured: Spot | undefined,
  by: ReadonlyArray<Spot>,
  page: Page,
  ordered: ReadonlyArray<Group>
): string => {
  const { asked } = found
  const { figure } = asked.measure
  const { limit, upwards } = asked.best!
  const named = ordered.filter((group) => !isEmptyGroup(group))
  const empty = ordered.find(isEmptyGroup)
  if (named.length === 0) return `None of ${the(counted(found, page.total))} has a ${by[0]!.label}.`
  if (limit !== 1) return listed(found, measured, by, page, named)
  // The most or the fewest of one says nothing.
  if (ordered.length === 1 && figure === "count" && by[0]!.bucket === undefined)
    return `I can't compare by ${by[0]!.label}: ${the(counted(found, page.total))}${among(page.limited, found.type)} ${page.total === 1 ? "has" : "all have"} the same, ${groupText(named[0]!, by)}.`
  const { nth } = asked.best!
  if (nth !== undefined) return placedReply(found, measured, by, page, named, nth)
  const top = measureOf(named[0]!, figure)
  const same = named.filter((group) => measureOf(group, figure) === top)
  if (same.length > MAX_SHOWN)
    return `${same.length >= MAX_GROUPS ? "Many" : same.length} share the ${bigger(figure, upwards)} ${subject(found, 2)}: ${figureText(same[0]!, figure)} each. Name another condition.`
  const who = and(same.map((group) => groupText(group, by)))
  const what =
    figure === "count"
      ? `${isYours(found) ? "of " : ""}${subject(found, 2)}`
      : `${figureName(figure, measured!.label)} of ${subject(found, 2)}`
  const limited = among(page.limited, found.type)
  const count = figure === "count" ? `, ${same.length > 1 ? "of" : "of"} ${numeral(String(page.total))} in all` : ""
  const without =
    empty === undefined || upwards ? "" : ` There are also those ${groupText(empty, by)}: ${figureText(empty, figure)}.`
  const none = upwards && figure === "count" ? " Those that have none aren't compared." : ""
  const dimension = by[0]!.bucket === undefined ? ` (by ${by[0]!.label})` : ""
  return `${who} ${same.length > 1 ? "have" : "has"} the ${bigger(figure, upwards)} ${what}${limited}${dimension}: ${figureText(same[0]!, figure)}${same.length > 1 ? " each" : ""}${count}.${without}${none}`
}

/** How many groups there are: the different people of meetings. */
export const numberReply = (
  found: Found,
  [by]: ReadonlyArray<Spot>,
  { groups = [], groupsTotal, limited, total }: Page
): string =>
  `There are ${numeral(String(groupsTotal ?? groups.length))} different ${by!.label} in ${counted(found, total)}${among(limited, found.type)}.`

const PLACES = ["", "first", "second", "third", "fourth", "fifth"]
/** "Second lowest". */
export const placed = (nth: number, order: string): string => {
  const place = PLACES[nth]!
  return `${place.charAt(0).toUpperCase()}${place.slice(1)} ${order.toLowerCase()}`
}

/** The group at a place; the groups up to there where others have as much. */
const placedReply = (
  found: Found,
  measured: Spot | undefined,
  by: ReadonlyArray<Spot>,
  page: Page,
  named: ReadonlyArray<Group>,
  nth: number
): string => {
  const { best, measure } = found.asked
  const { figure } = measure
  const near = named.slice(0, nth + 1).map((group) => measureOf(group, figure))
  if (named.length < nth || new Set(near).size < near.length)
    return listed(
      { ...found, asked: { ...found.asked, best: { upwards: best!.upwards, limit: nth + 1 } } },
      measured,
      by,
      page,
      named
    )
  const what = figure === "count" ? subject(found, 2) : `${figureName(figure, measured!.label)} of ${subject(found, 2)}`
  const one = named[nth - 1]!
  const dimension = by[0]!.bucket === undefined ? ` (by ${by[0]!.label})` : ""
  return `${groupText(one, by)} has the ${PLACES[nth]!} ${bigger(figure, best!.upwards)} ${isYours(found) && figure === "count" ? "of " : ""}${what}${among(page.limited, found.type)}${dimension}: ${figureText(one, figure)}. Before that: ${and(named.slice(0, nth - 1).map((group) => `${groupText(group, by)} with ${figureText(group, figure)}`))}.`
}

export const havingReply = (found: Found, measured: Spot | undefined, by: ReadonlyArray<Spot>, page: Page): string => {
  const { having, measure } = found.asked
  if (page.several === true && measure.figure !== "count")
    return `I can't compare amounts in several currencies. Try “${figureName(measure.figure, measured!.label)} of ${subject(found, 2)} by ${by[0]!.label}”.`
  const groups = (page.groups ?? []).filter((group) => !isEmptyGroup(group))
  const words = `${having!.compared} ${numeral(having!.value)}`
  const what =
    measure.figure === "count"
      ? subject(found, 2)
      : `${figureName(measure.figure, measured!.label)} of ${subject(found, 2)}`
  const limited = among(page.limited, found.type)
  if (groups.length === 0)
    return `No ${by[0]!.label} has ${measure.figure === "count" ? `${words} ${subject(found, Number(having!.value))}` : `a ${what} of ${words}`}${limited}.`
  const ordered = found.asked.best === undefined ? inOrder(groups, measure.figure, false) : groups
  const shown = ordered.slice(0, MAX_SHOWN)
  const rest =
    shown.length === groups.length
      ? ""
      : page.nextCursorEntityId === undefined
        ? `\nThese are the first ${shown.length} of ${groups.length}.`
        : `\nThese are the first ${shown.length} of more than ${groups.length}.`
  const below =
    bounds(having!).op === "lt" && measure.figure === "count" ? "\nThose that have none aren't among them." : ""
  return `${capitalized(what)} by ${by[0]!.label}, where it is ${words}${limited}:\n${lines(shown, by, measure.figure, false)}${rest}${below}`
}

export const inOrder = (
  groups: ReadonlyArray<Group>,
  figure: "count" | Figure,
  upwards: boolean
): ReadonlyArray<Group> =>
  groups
    .filter((group) => measureOf(group, figure) !== undefined)
    .toSorted((a, b) => (measureOf(b, figure)! - measureOf(a, figure)!) * (upwards ? -1 : 1))
