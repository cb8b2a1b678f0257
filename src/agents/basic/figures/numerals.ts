/** Words the figures of a result: the groups that were asked for, and what was counted. */
import { foldText } from "../../../domain/keys.ts"
import type { FigureCell, Group, GroupKey } from "../../../domain/Page.ts"
import type { Figure } from "../../../domain/Query.ts"
import { MONTH_NAMES } from "../../english.ts"
import { and } from "../replies.ts"
import type { Spot } from "./columns.ts"

/** Groups of a list. */
export const MAX_SHOWN = 10

const WHOLE = new Intl.NumberFormat("en-US", { maximumFractionDigits: 2 })

/** A number as it is in the result, grouped; an average with two decimals. */
export const numeral = (value: string, figure: "count" | Figure = "count"): string => {
  if (figure === "avg") return WHOLE.format(Number(value))
  const [, sign = "", whole = "0", decimals] = /^(-?)(\d+)(?:\.(\d+))?$/.exec(value) ?? []
  const grouped = `${sign}${BigInt(whole).toLocaleString("en-US")}`
  return decimals === undefined ? grouped : `${grouped}.${decimals}`
}

const cellText = ({ unit, value }: FigureCell, figure: Figure): string =>
  `${numeral(value, figure)}${unit === undefined ? "" : ` ${unit}`}`

/** The first figure of a group; amounts in several currencies stand side by side. */
export const figureText = ({ count, figures }: Group, figure: "count" | Figure): string => {
  if (figure === "count") return numeral(String(count))
  const cells = figures?.[0] ?? []
  return cells.length === 0 ? "nothing" : and(cells.map((cell) => cellText(cell, figure)))
}

const monthName = (number: number): string => {
  const name = MONTH_NAMES[number - 1] ?? String(number)
  return name.slice(0, 1).toUpperCase() + name.slice(1)
}

const DAY = new Intl.DateTimeFormat("en-US", { dateStyle: "long", timeZone: "UTC" })

const periodText = (value: string): string => {
  const [, year, month, day] = /^(\d{4})-(\d{2})(?:-(\d{2}))?$/.exec(value) ?? []
  if (day !== undefined) return DAY.format(new Date(`${value}T00:00:00Z`))
  if (month !== undefined) return `${monthName(Number(month))} ${year}`
  const [, of, kind, number] = /^(\d{4})-([QW])(\d+)$/.exec(value) ?? []
  if (kind === undefined) return value
  return kind === "Q" ? `Q${number} ${of}` : `week ${number}, ${of}`
}

const keyText = ({ id, value }: GroupKey, { bucket, label }: Spot): string => {
  if (value === undefined) return id === undefined ? `without ${label}` : "without a name"
  return bucket === undefined ? value : periodText(value)
}

export const groupText = ({ keys }: Group, by: ReadonlyArray<Spot>): string =>
  keys.map((key, index) => keyText(key, by[index]!)).join(", ")

/** Whether the group holds the rows that show nothing in one of its columns. */
export const isEmptyGroup = ({ keys }: Group): boolean =>
  keys.some(({ id, value }) => value === undefined && id === undefined)

export const lines = (
  groups: ReadonlyArray<Group>,
  by: ReadonlyArray<Spot>,
  figure: "count" | Figure,
  withShare: boolean
): string =>
  groups
    .map((group) => {
      const share = withShare && group.share !== undefined && group.share > 0 ? `, ${group.share}%` : ""
      return `- ${groupText(group, by)}: ${figureText(group, figure)}${share}`
    })
    .join("\n")

/** The comparable figure of a group; undefined if it has none, or several currencies. */
export const measureOf = ({ count, figures }: Group, figure: "count" | Figure): number | undefined => {
  if (figure === "count") return count
  const cells = figures?.[0] ?? []
  return cells.length === 1 ? Number(cells[0]!.value) : undefined
}

export const sharedName = (value: string, { keys }: Group): boolean =>
  keys.length === 1 && (keys[0]!.id === value || foldText(keys[0]!.value ?? "") === foldText(value))

const NAMES: Readonly<Record<Figure, string>> = {
  sum: "sum",
  avg: "average",
  min: "lowest",
  max: "highest",
  distinct: "different"
}

/** "average total", "sum of quantity". */
export const figureName = (figure: Figure, label: string): string =>
  figure === "sum" ? `sum of ${label}` : `${NAMES[figure]} ${label}`

export const bigger = (figure: "count" | Figure, upwards: boolean): string =>
  figure === "count" ? (upwards ? "fewest" : "most") : upwards ? "lowest" : "highest"
