/** Answers a question for figures: the columns that its words mean, one request for groups, and a reply that says what was counted. */
import type { FigureCell, Page } from "../../../domain/Page.ts"
import type { Filter, FindQuery } from "../../../domain/Query.ts"
import { foldText } from "../../../domain/keys.ts"
import { namesakes } from "../alternatives.ts"
import { columnsFor } from "../conceptColumns.ts"
import { both } from "../locate.ts"
import { targetOf } from "./columns.ts"
import type { References } from "../filterChoices.ts"
import { narrow } from "../narrow.ts"
import { idsOf } from "../references.ts"
import type { Context } from "../readConversation.ts"
import { among, numbered } from "../replies.ts"
import { columnsOf, find, inParallel, type Script } from "../script.ts"
import { written } from "../tokenize.ts"
import type { Asked } from "./Asked.ts"
import type { Columns, Spot } from "./columns.ts"
import { figureName, figureText, groupText, isEmptyGroup, measureOf, numeral, sharedName } from "./numerals.ts"
import { around, choices, chosen, Declined, type Found, measureIn, plural, spotsOf, stepOf } from "./resolveFigures.ts"
import {
  asSeen,
  bestReply,
  bounds,
  counted,
  failed,
  havingReply,
  inOrder,
  listed,
  MAX_GROUPS,
  none,
  noneHas,
  numberReply,
  placed,
  single,
  subject,
  tooMany
} from "./wording.ts"

/** Beyond any amount, to sort by a column. */
const BEYOND = "999999999999999"

/** The reply; undefined if the words after "by" name no column, so that another reading may fit. */
export function* figures(asked: Asked, context: Context): Script<string | undefined> {
  const { lookup } = asked.measure
  const { type } = lookup.noun
  const parts = asked.part ?? []
  const [columns, references] = yield* both(columnsOf(type.id), idsOf([...lookup.conditions, ...parts], context))
  const isFar = (known: ReadonlyMap<string, Columns>) =>
    asked.by.some((words) => spotsOf(words, type, columns, known, context, known.size === 1).length === 0)
  const [narrowed, known] = yield* both(narrow(lookup, columns, context, references), around(type, columns, isFar))
  const spots = asked.by.map((words) => spotsOf(words, type, columns, known, context))
  if (spots.some((meant) => meant.length === 0)) return undefined
  if (typeof narrowed === "string") return narrowed
  const noun = narrowed.noun ?? lookup.noun
  const found: Found = {
    asked,
    lookup: { ...lookup, noun },
    said: narrowed.said,
    filters: narrowed.filters,
    columns,
    type,
    ...(asked.besides === true ? { own: references.get(context.person?.name ?? "")?.id } : {})
  }
  const by = spots.map((meant) => chosen(meant, narrowed.filters))
  const several = by.findIndex((one) => one === undefined)
  if (several >= 0)
    return `I can't tell which ${written(asked.by[several]!)} you mean: ${choices(spots[several]!)}. Try “${plural(type)} by ${stepOf(spots[several]![0]!)}”.`
  const measured = measureIn(found)
  // "Total customers per rep" where nothing can be added up: their number.
  if (asked.measure.either === true && measured instanceof Declined && by.length > 0) {
    const counts: Found = { ...found, asked: { ...asked, measure: { ...asked.measure, figure: "count" } } }
    return yield* grouping(counts, undefined, by as ReadonlyArray<Spot>)
  }
  if (asked.measure.either === true) {
    if (measured instanceof Declined) return undefined
    return `I can't tell whether you mean how many there are or what they add up to. Try “how many ${plural(type)} are there” or “sum of ${measured!.label} of ${plural(type)}”.`
  }
  if (measured instanceof Declined) return measured.text
  if (asked.part !== undefined) return yield* sharing(found, measured, references, context)
  if (asked.rows !== undefined) return yield* sorted(found, measured!)
  return yield* grouping(found, measured, by as ReadonlyArray<Spot>)
}

const query = (
  { filters, type }: Found,
  selectColumns: ReadonlyArray<string>,
  ...more: ReadonlyArray<Filter>
): FindQuery => ({ entityTypeId: type.id, filters: [...filters, ...more], selectColumns, limit: MAX_GROUPS })

const heading = ({ bucket, path }: Spot): string => `by ${bucket === undefined ? "" : `${bucket} `}${path}`

/** The condition on groups, or the order from the lowest. */
const onGroups = ({ asked }: Found, head: string): ReadonlyArray<Filter> => {
  const order: ReadonlyArray<Filter> =
    asked.best?.upwards === true ? [{ columnId: head, op: "gte", value: head === "count" ? "0" : `-${BEYOND}` }] : []
  if (asked.having === undefined) return order
  const { op, strict, value } = bounds(asked.having)
  const next = head === "count" ? String(Number(value) + 1) : `${value}${value.includes(".") ? "" : "."}0000001`
  // "Up" sorts the lowest first, so a lower bound has an upper one beside it.
  return [...order, { columnId: head, op, value: strict ? next : value }]
}

/** Without the group of the asker. */
const besides = ({ own }: Found, page: Page): Page => {
  const groups = page.groups?.filter(({ keys }) => own === undefined || keys[0]?.id !== own)
  const left = (page.groups?.length ?? 0) - (groups?.length ?? 0)
  return left === 0 ? page : { ...page, groups: groups!, groupsTotal: (page.groupsTotal ?? left) - left }
}

/** With the figure in the unit that was asked for, with two decimals. */
const converted = (page: Page, measured: Spot | undefined): Page => {
  const times = measured?.times
  if (times === undefined) return page
  const cell = (one: FigureCell): FigureCell => ({
    ...one,
    value: String(Number((Number(one.value) * times).toFixed(2)))
  })
  const groups = page.groups?.map((group) =>
    group.figures === undefined ? group : { ...group, figures: group.figures.map((cells) => cells.map(cell)) }
  )
  return groups === undefined ? page : { ...page, groups }
}

function* grouping(asking: Found, measured: Spot | undefined, by: ReadonlyArray<Spot>): Script<string> {
  const { asked } = asking
  const { figure } = asked.measure
  const head = measured === undefined ? "count" : `${figure} ${measured.path}`
  const words = [...by.map(heading), ...(measured === undefined ? [] : [head])]
  // Rows without a key are no group.
  const named: ReadonlyArray<Filter> = asked.number === true ? [{ columnId: by[0]!.path, op: "eq", value: "*" }] : []
  const filters = [...onGroups(asking, head), ...named]
  const all = yield* find(query(asking, words, ...filters))
  if (all === undefined) return failed(asking)
  const found = asSeen(asking, all)
  if (all.tooMany === true) return tooMany(found, all)
  const page = converted(besides(found, all), measured)
  const groups = page.groups ?? []
  const limited = among(page.limited, found.type)
  if (page.total === 0 || (groups.length === 0 && asked.having === undefined)) return `${none(found)}${limited}.`
  if (asked.number === true) return numberReply(found, by, page)
  // Nothing has a host: by the people in them.
  const guests = groups.length > 0 && groups.every(isEmptyGroup) ? yield* byGuests(found, measured, by) : undefined
  if (guests !== undefined) return guests
  if (by.length === 0) return `${single(found, measured!, page)}${yield* namesakes(found.filters, found.columns)}`
  if (asked.having !== undefined) {
    const some = groups.length > 0 || filters.length === 0 ? page : yield* find({ ...query(found, words), limit: 2 })
    if (some?.groups?.every(isEmptyGroup) === true) return (yield* byGuests(found, measured, by)) ?? noneHas(found, by)
    return havingReply(found, measured, by, page)
  }
  const isPeriod = by.some(({ bucket }) => bucket !== undefined)
  if (asked.best === undefined || (page.several === true && figure !== "count"))
    return listed(found, measured, by, page, groups)
  if (!isPeriod) return bestReply(found, measured, by, page, groups)
  if (page.nextCursorEntityId === undefined)
    return bestReply(found, measured, by, page, inOrder(groups, figure, asked.best.upwards))
  // Only the last periods came: ask for those that reach the best of them.
  const [first] = inOrder(groups, figure, asked.best.upwards)
  const most = first && measureOf(first, figure)
  if (most === undefined || asked.best.upwards || asked.best.nth !== undefined)
    return `I can't compare that many periods at once. Name a year, such as “in ${groupText(groups.at(-1)!, by).slice(-4)}”.`
  const best = yield* find(query(found, words, { columnId: head, op: "gte", value: String(most) }))
  if (best?.groups === undefined || best.nextCursorEntityId !== undefined) return failed(found)
  return bestReply(found, measured, by, page, inOrder(best.groups, figure, false))
}

/** Where meetings say no host: by the people in them. */
function* byGuests(found: Found, measured: Spot | undefined, by: ReadonlyArray<Spot>): Script<string | undefined> {
  const { columns, type } = found
  const column = columns.find(({ id }) => id === columnsFor("attendees", columns)[0])
  const isOfHosts = by.length === 1 && columnsFor("owner", columns).includes(by[0]!.path)
  if (type.id !== "meetings" || column === undefined || !isOfHosts) return undefined
  return yield* grouping(found, measured, [{ path: column.id, label: column.name.toLowerCase(), column }])
}

/** The share of some rows: a group of the column that they differ in. */
function* sharing(found: Found, measured: Spot | undefined, references: References, context: Context): Script<string> {
  const { asked, columns } = found
  const { lookup } = asked.measure
  const all = { ...lookup, conditions: [...lookup.conditions, ...asked.part!] }
  const narrowed = yield* narrow(all, columns, context, references)
  if (typeof narrowed === "string") return narrowed
  const before = new Set(found.filters.map((one) => JSON.stringify(one)))
  const own = narrowed.filters.filter((one) => !before.has(JSON.stringify(one)))
  const [filter] = own
  const those: Found = {
    ...found,
    lookup: { ...all, noun: narrowed.noun ?? lookup.noun },
    said: narrowed.said,
    filters: narrowed.filters
  }
  const isNamed =
    filter?.op === "ilike" && columns.some((one) => one.id === filter.columnId && targetOf(one) !== undefined)
  if (own.length !== 1 || filter === undefined || !(filter.op === "eq" || isNamed) || /[|*]|\.\./.test(filter.value))
    return yield* quotient(found, those, measured)
  const head = measured === undefined ? [] : [`${asked.measure.figure} ${measured.path}`]
  const page = yield* find(query(found, [`by ${filter.columnId}`, ...head]))
  if (page?.groups === undefined || page.several === true)
    return page?.tooMany === true ? tooMany(found, page) : failed(found)
  const seen = asSeen(found, page)
  if (page.total === 0) return `${none(seen)}${among(page.limited, found.type)}.`
  const named = page.groups.filter(
    (one) => isNamed && foldText(one.keys[0]?.value ?? "").includes(foldText(filter.value))
  )
  const group = isNamed
    ? named.length === 1
      ? named[0]
      : undefined
    : page.groups.find((one) => sharedName(filter.value, one))
  if (group?.share === undefined) return failed(found)
  const label = columns.find(({ id }) => id === filter.columnId)?.name.toLowerCase() ?? filter.columnId
  const what = measured === undefined ? subject(seen, 2) : `${figureName("sum", measured.label)} of ${subject(seen, 2)}`
  const numbers =
    measured === undefined
      ? `${numeral(String(group.count))} of ${numeral(String(page.total))}`
      : figureText(group, "sum")
  return `Share of ${what} with ${label} ${groupText(group, [{ path: filter.columnId, label, column: columns[0]! }])}${among(page.limited, found.type)}: ${group.share}% (${numbers}).`
}

/** The share of rows that aren't a group: their number, or what they add up to, and that of all. */
function* quotient(found: Found, those: Found, measured: Spot | undefined): Script<string> {
  const { figure } = found.asked.measure
  if (measured !== undefined && figure !== "sum") return failed(found)
  const ask = (one: Found) => find(query(one, measured === undefined ? ["count"] : [`sum ${measured.path}`]))
  const [all, some] = yield* inParallel([ask(found), ask(those)])
  if (all === undefined || some === undefined || all.several === true) return failed(found)
  if (all.tooMany === true || some.tooMany === true) return tooMany(found, all)
  const valueOf = (page: Page) =>
    measured === undefined ? page.total : page.groups?.[0] === undefined ? 0 : (measureOf(page.groups[0], "sum") ?? 0)
  const [whole, part] = [valueOf(all), valueOf(some)]
  const limited = among(all.limited, found.type)
  const seen = asSeen(those, some)
  if (all.total === 0 || whole <= 0 || part < 0) return `${none(asSeen(found, all))}${limited}.`
  const of = measured === undefined ? "" : `${figureName("sum", measured.label)} of `
  const percent = Math.round((100 * part) / whole)
  return `Share of ${of}${subject(seen, 2)}${limited}: ${percent}% (${numeral(String(part))} of ${numeral(String(whole))}).`
}

/** Rows in the order of a column. */
function* sorted(asking: Found, measured: Spot): Script<string> {
  const { asked, columns, filters, type } = asking
  const isDate = measured.column.holds !== "number"
  const { limit: most = 5, nth, upwards: asks } = asked.rows!
  const limit = nth ?? most
  const upwards = asks ?? isDate
  const order: Filter = isDate
    ? { columnId: measured.path, op: upwards ? "gte" : "lt", value: upwards ? "1000-01-01" : "9999-01-01" }
    : { columnId: measured.path, op: upwards ? "gte" : "lt", value: `${upwards ? "-" : ""}${BEYOND}` }
  const size = Math.min(limit, MAX_GROUPS)
  const page = yield* find({
    entityTypeId: type.id,
    filters: [order, ...filters],
    limit: Math.min(size + 1, MAX_GROUPS),
    selectColumns: [measured.path]
  })
  if (page === undefined) return failed(asking)
  const found = asSeen(asking, page)
  if (page.total === 0) return `${none(found)} with a value for ${measured.label}${among(page.limited, type)}.`
  const shown = { ...page, entities: page.entities.slice(0, size) }
  const [last, next] = [shown.entities.at(-1), page.entities[size]]
  const value = (entity: typeof last) => JSON.stringify(entity?.columns?.[measured.path])
  const only = last?.columns?.[measured.path]
  if (isDate && size === 1 && next !== undefined && value(next) === value(last) && typeof only === "string") {
    const same: Filter = { columnId: measured.path, op: "eq", value: only }
    const all = yield* find({
      entityTypeId: type.id,
      filters: [...filters, same],
      limit: MAX_GROUPS,
      selectColumns: [measured.path]
    })
    if (all === undefined || all.total > all.entities.length) return failed(found)
    return `${upwards ? "Earliest" : "Latest"} ${measured.label} of ${counted(found, page.total, page.totalIsLowerBound === true ? "+" : "")}${among(page.limited, type)}, the same of ${all.total}:\n${numbered(all, columns, [measured.path])}`
  }
  const ties = next !== undefined && value(next) === value(last) ? ` Others have the same ${measured.label}.` : ""
  const first = upwards ? (isDate ? "Earliest" : "Lowest") : isDate ? "Latest" : "Highest"
  // "The second shortest": that one, unless others have its value.
  const isAlone = shown.entities.length === nth && new Set(page.entities.map(value)).size === page.entities.length
  const items = numbered(isAlone ? { ...shown, entities: [last!] } : shown, columns, [measured.path])
  const lead = `${isAlone ? placed(nth!, first) : first} ${measured.label} of ${counted(found, page.total, page.totalIsLowerBound === true ? "+" : "")}${among(page.limited, type)}`
  return shown.entities.length === 1 || isAlone
    ? `${lead}: ${items.replace(/^1\. /, "")}.${ties}`
    : `${lead}:\n${items}${ties === "" ? "" : `\n${ties.trim()}`}`
}
