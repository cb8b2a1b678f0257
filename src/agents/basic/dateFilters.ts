/** Candidate filters of dates: at a time, overdue, and those that sort by date. */
import { type Choice, type Columns, eq, range } from "./Choice.ts"
import { columnsFor, columnsLabelled } from "./conceptColumns.ts"
import type { Condition, Lookup } from "./Lookup.ts"
import type { Context } from "./readConversation.ts"
import { addDays } from "./spans.ts"

export const startAndEnd = (columns: Columns): { readonly start?: string; readonly end?: string } =>
  Object.fromEntries(
    ["start", "end"].flatMap((label) =>
      columns
        .filter(({ id, name }) => id === label || name.toLowerCase() === label)
        .slice(0, 1)
        .map(({ id }) => [label, id])
    )
  )

/** By the named columns or by any date; under way at that time where there are a start and an end. */
export const timeChoices = (
  { by, overlaps, when }: Extract<Condition, { _tag: "Time" }>,
  columns: Columns,
  { time, today }: Context
): ReadonlyArray<Choice> => {
  const { end, start } = startAndEnd(columns)
  if (
    overlaps === true &&
    when.days === undefined &&
    start !== undefined &&
    end !== undefined &&
    when.from !== undefined &&
    when.to !== undefined
  )
    return [
      [
        { columnId: end, op: "gte", value: `${when.from}${when.from.includes("T") ? "" : "T00:00"}:01`.slice(0, 19) },
        { columnId: start, op: "lt", value: when.to }
      ]
    ]
  // What has a start is at a time when it starts: an end would be found where nothing starts then.
  const dates = [...columnsFor("date", columns), ...columnsFor("due", columns)]
  const slugs =
    by === undefined
      ? [...new Set(dates)].filter((slug) => start === undefined || slug !== end)
      : columnsLabelled(by, columns)
  // "Leads in October": due then, last contacted then, or something else that no column says?
  const loose = [...columnsFor("due", columns), ...columnsLabelled(["last contact"], columns)]
  if (by === undefined && slugs.length > 1 && slugs.every((slug) => loose.includes(slug))) return []
  // A date without a time of day compares with today.
  const isMoment = (slug: string) => columns.some(({ holds, id }) => id === slug && holds === "time")
  // "Meetings until Friday" are those from now on, unlike what is due by then.
  if (when.ahead === true && start !== undefined && when.to !== undefined && when.to >= today)
    return [range(start, { from: today, to: when.to })]
  // "Meetings since Monday" are those that have begun.
  if (when.since === true && start !== undefined && when.from !== undefined && when.from <= today)
    return [range(start, { from: when.from, to: time === undefined ? addDays(today, 1) : `${today}T${time}` })]
  return slugs.map((slug) =>
    range(
      slug,
      when.now === undefined || time === undefined || !isMoment(slug)
        ? when
        : { ...when, [when.now]: `${today}T${time}` }
    )
  )
}

/** States in which nothing is due any more. */
const CLOSED = "won|lost|paid|done|completed|complete|finished|closed|cancelled|canceled|resolved|rejected|withdrawn"

/** Due before today and still open, if there is a status. */
export const overdue = (
  dates: ReadonlyArray<string>,
  status: ReadonlyArray<string>,
  today: string
): ReadonlyArray<Choice> =>
  [
    ...status.flatMap((slug) => ["overdue", "open", "unpaid"].map((value) => eq(slug, value))),
    status.map((columnId) => ({ columnId, op: "ne" as const, value: CLOSED }))
  ].flatMap((state) => dates.map((slug): Choice => [{ columnId: slug, op: "lt", value: today }, ...state]))

/** Dates by which one row is before another, unlike a due date or a last contact. */
const BEGUN =
  "start|starts|starts at|date|when|day|invoice date|order date|ordered on|created|created at|created on|issued".split(
    "|"
  )
const DAWN = "0001-01-01"

/** Filters that sort by date: upcoming entities first, or the latest. A date without a time of day compares with today. */
export const ordered = (
  order: NonNullable<Lookup["order"]>,
  columns: Columns,
  context: Context
): ReadonlyArray<Choice> => {
  if (order === "first")
    return columnsLabelled(BEGUN, columns).map((columnId) => [{ columnId, op: "gte", value: DAWN }])
  const now = context.time === undefined ? [] : [`${context.today}T${context.time}`]
  const [op, day] = order === "next" ? (["gte", context.today] as const) : (["lt", addDays(context.today, 1)] as const)
  // A date that something is due on, or of a last contact, doesn't say which row is the latest one.
  const others =
    order === "latest" ? [...columnsFor("due", columns), ...columnsLabelled(["last contact"], columns)] : []
  return columnsFor("date", columns)
    .filter((columnId) => !others.includes(columnId))
    .flatMap((columnId) => [...now, day].map((value): Choice => [{ columnId, op, value }]))
}
