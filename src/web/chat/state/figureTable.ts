/** Groups and figures as a table: one row per group, or one per currency of a group. */
import type { ShownFigures } from "../../../wire/conversations.ts"

export interface FigureRow {
  readonly keys: ReadonlyArray<string>
  readonly numbers: ReadonlyArray<string>
  /** What the row's bar or point shows. */
  readonly value: number
}

export interface FigureTable {
  readonly keys: ReadonlyArray<string>
  readonly numbers: ReadonlyArray<string>
  readonly rows: ReadonlyArray<FigureRow>
}

type Group = ShownFigures["groups"][number]

const WHOLE = new Intl.NumberFormat()
const ROUNDED = new Intl.NumberFormat(undefined, { maximumFractionDigits: 2 })
const FIGURES: Readonly<Record<string, string>> = {
  sum: "sum of",
  avg: "average",
  min: "lowest",
  max: "highest",
  distinct: "different"
}
const spoken = (path: string): string => path.split("@", 1)[0]!.replaceAll(/[._]/g, " ")
const capital = (text: string): string => text.slice(0, 1).toUpperCase() + text.slice(1)

/** Exact decimal text, grouped as the reader's language does; averages are rounded. */
const numberText = (value: string, figure: string): string => {
  if (figure === "avg") return ROUNDED.format(Number(value))
  const [, sign = "", whole, decimals] = /^(-?)(\d+)(?:\.(\d+))?$/.exec(value) ?? []
  if (whole === undefined) return value
  const separator = ROUNDED.formatToParts(1.5).find(({ type }) => type === "decimal")?.value ?? "."
  return `${sign}${WHOLE.format(BigInt(whole))}${decimals === undefined ? "" : separator + decimals}`
}

/** A number that a chart can draw: the difference of two is finite. */
const MOST = 1e300
const drawable = (value = "0"): number => Math.max(-MOST, Math.min(MOST, Number(value) || 0))

const MONTH = new Intl.DateTimeFormat(undefined, { month: "short", year: "numeric", timeZone: "UTC" })
const DAY = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short", year: "numeric", timeZone: "UTC" })

const periodText = (value: string): string => {
  if (/^\d{4}-\d{2}$/.test(value)) return MONTH.format(new Date(`${value}-01T00:00:00Z`))
  if (/^\d{4}-\d{2}-\d{2}$/.test(value)) return DAY.format(new Date(`${value}T00:00:00Z`))
  const [, year, quarter, week] = /^(\d{4})-(?:Q(\d)|W(\d+))$/.exec(value) ?? []
  if (year === undefined) return value
  return quarter === undefined ? `Week ${week}, ${year}` : `Q${quarter} ${year}`
}

const PERIOD = /^by (hour|weekday|day|week|month|quarter|year) /

export const tableOf = ({ groups, headings }: ShownFigures): FigureTable => {
  const by = headings.filter((heading) => heading.startsWith("by "))
  const figures = headings.filter((heading) => !heading.startsWith("by ")).map((heading) => heading.split(" "))
  const hasShare = groups.some(({ share }) => share !== undefined)
  const isPeriod = by.map((heading) => PERIOD.test(heading))
  const keyText = ({ keys }: Group, index: number): string => {
    const { id, value } = keys[index]!
    if (value === undefined) return id === undefined ? "None" : "Without a name"
    return isPeriod[index] === true ? periodText(value) : value
  }
  const rowsOf = (group: Group): ReadonlyArray<FigureRow> => {
    const lines = Math.max(1, ...(group.figures ?? []).map(({ length }) => length))
    return Array.from({ length: lines }, (_, line) => ({
      keys: by.map((_, index) => (line === 0 ? keyText(group, index) : "")),
      numbers: [
        line === 0 ? WHOLE.format(group.count) : "",
        ...(hasShare ? [line === 0 && group.share !== undefined ? `${group.share} %` : ""] : []),
        ...figures.map(([figure = ""], index) => {
          const cell = group.figures?.[index]?.[line]
          return cell === undefined
            ? ""
            : `${numberText(cell.value, figure)}${cell.unit === undefined ? "" : ` ${cell.unit}`}`
        })
      ],
      value: figures.length === 0 ? group.count : drawable(group.figures?.[0]?.[line]?.value)
    }))
  }
  return {
    keys: by.map((heading) => capital(spoken(heading.replace(PERIOD, "").replace(/^by /, "")))),
    numbers: [
      "Count",
      ...(hasShare ? ["Share"] : []),
      ...figures.map(([name = "", ...path]) => capital(`${FIGURES[name] ?? name} ${spoken(path.join(" "))}`))
    ],
    rows: groups.flatMap(rowsOf)
  }
}
