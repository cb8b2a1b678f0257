/** Groups and figures for a terminal: an aligned table, with one bar per group as wide as the terminal allows. */
import type { FigureCell, Group, GroupKey, Page } from "../../domain/Page.ts"
import { printable } from "../../domain/text.ts"
import { isUtf8 } from "../../env.ts"

export interface Terminal {
  readonly width: number
  /** False draws bars of ASCII characters: for a pipe, and for a terminal whose locale is not UTF-8. */
  readonly blocks: boolean
}

const WIDEST_BAR = 30
const NARROWEST_BAR = 4
const EIGHTHS = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"]

/** The terminal of standard output. */
export const terminal = ({ columns, isTTY }: { columns?: number; isTTY?: boolean } = process.stdout): Terminal => ({
  width: columns ?? 80,
  blocks: isTTY === true && isUtf8()
})

/** A header and the groups: numbers on the right, with a bar per group where there is room for one. */
export const tableLines = (
  { groups = [], headings = [], several }: Pick<Page, "groups" | "headings" | "several">,
  { blocks, width }: Terminal
): ReadonlyArray<string> => {
  const keys = headings.filter((heading) => heading.startsWith("by ")).map((heading) => heading.slice(3))
  const figures = headings.filter((heading) => !heading.startsWith("by "))
  const ratios = (["share", "change"] as const).filter((name) => groups.some((group) => group[name] !== undefined))
  const rows = groups.flatMap((group) => groupRows(group, groups, ratios, figures.length))
  const table = aligned([[...keys, "count", ...ratios, ...figures], ...rows.map(({ cells }) => cells)], keys.length)
  // Amounts in several currencies have no common scale.
  const room = Math.min(WIDEST_BAR, width - (table[0]?.length ?? 0) - 2)
  const drawn = keys.length > 0 && several !== true && room >= NARROWEST_BAR
  const most = Math.max(...rows.map(({ value }) => Math.abs(value)))
  const lines = drawn
    ? table.map((line, row) => (row === 0 ? line : `${line}  ${bar(rows[row - 1]!.value / most, room, blocks)}`))
    : table
  return rows.length === 0 ? [] : lines.map((line) => line.trimEnd())
}

/** The lines of a page of groups: a header, the groups, and what was counted. */
export const figureLines = (page: Page, shown: Terminal): ReadonlyArray<string> => {
  const { groupsTotal = 0, headings = [], limited, nextCursorEntityId, several, tooMany, total } = page
  const seen = limited === true ? " among what you can see" : ""
  if (tooMany === true)
    return [`More than ${total} match${seen}: too many to add up at once. Name a period or another condition.`]
  const inGroups = !headings.some((heading) => heading.startsWith("by "))
    ? ""
    : ` in ${groupsTotal} ${groupsTotal === 1 ? "group" : "groups"}`
  const currencies = several === true ? " Several currencies: ordered by count." : ""
  return [
    ...tableLines(page, shown),
    `${total} found${inGroups}${seen}.${currencies}`,
    ...(nextCursorEntityId === undefined ? [] : [`More: --after ${nextCursorEntityId}`])
  ]
}

/** One row per group and currency; `value` is what the row's bar shows. */
const groupRows = (
  group: Group,
  all: ReadonlyArray<Group>,
  ratios: ReadonlyArray<"share" | "change">,
  figures: number
) => {
  const cells = group.figures ?? []
  const lines = Math.max(1, ...cells.map(({ length }) => length))
  return Array.from({ length: lines }, (_, line) => ({
    cells: [
      ...(line > 0
        ? [...group.keys, "", ...ratios].map(() => "")
        : [
            ...group.keys.map((key, index) => keyText(key, index, all)),
            String(group.count),
            ...ratios.map((name) => (group[name] === undefined ? "" : `${group[name]}%`))
          ]),
      ...Array.from({ length: figures }, (_, index) => figureText(cells[index]?.[line]))
    ].map(printable),
    // A first figure that is a date has no length.
    value: figures === 0 ? group.count : Number(cells[0]?.[line]?.value ?? 0) || 0
  }))
}

/** An entity's name, with its id only where another group has the same name. */
const keyText = ({ id, value }: GroupKey, index: number, all: ReadonlyArray<Group>): string => {
  if (id === undefined) return value ?? "(none)"
  if (value === undefined) return id
  const namesakes = all.some(({ keys }) => keys[index]?.value === value && keys[index].id !== id)
  return namesakes ? `${value} (${id})` : value
}

const figureText = (cell: FigureCell | undefined): string =>
  cell === undefined ? "" : cell.unit === undefined ? cell.value : `${cell.value} ${cell.unit}`

/** Pads keys on the right and numbers on the left. */
const aligned = (rows: ReadonlyArray<ReadonlyArray<string>>, keys: number): ReadonlyArray<string> => {
  const length = (text: string) => [...text].length
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => length(row[column]!))))
  return rows.map((row) =>
    row
      .map((cell, column) => {
        const padding = " ".repeat(widths[column]! - length(cell))
        return column < keys ? cell + padding : padding + cell
      })
      .join("  ")
  )
}

/** A bar for a part of the largest value; a negative part is drawn with lighter characters. */
const bar = (part: number, room: number, blocks: boolean): string => {
  if (part === 0 || Number.isNaN(part)) return ""
  const length = Math.abs(part) * room
  const whole = Math.max(1, Math.round(length))
  if (!blocks) return (part < 0 ? "-" : "#").repeat(whole)
  if (part < 0) return "░".repeat(whole)
  const eighths = Math.max(1, Math.round(length * 8))
  return "█".repeat(Math.floor(eighths / 8)) + EIGHTHS[eighths % 8]!
}
