import { describe, expect, it } from "vitest"
import { figureLines, terminal } from "../../src/channels/cli/figuresView.ts"
import { isUtf8 } from "../../src/env/locale.ts"
import type { Group, Page } from "../../src/domain/Page.ts"

const group = (
  value: string | undefined,
  count: number,
  ...amounts: ReadonlyArray<readonly [string, string]>
): Group => ({
  keys: [value === undefined ? {} : { value }],
  count,
  ...(amounts.length === 0 ? {} : { figures: [amounts.map(([amount, unit]) => ({ value: amount, unit, of: count }))] })
})
const page = (groups: ReadonlyArray<Group>, more: Partial<Page> = {}): Page => ({
  total: groups.reduce((sum, { count }) => sum + count, 0),
  entities: [],
  groups,
  groupsTotal: groups.length,
  headings: ["by status"],
  ...more
})
const sums = { headings: ["by status", "sum amount"] }
const wide = { width: 80, blocks: true }

describe("The terminal's view of figures", () => {
  it("aligns numbers on the right and draws one bar per group", () => {
    expect(figureLines(page([group("open", 40), group("lost", 10), group(undefined, 1)]), wide)).toEqual([
      "status  count",
      `open       40  ${"█".repeat(30)}`,
      "lost       10  ███████▌",
      "(none)      1  ▊",
      "51 found in 3 groups."
    ])
  })

  it("draws ASCII bars for a pipe and for a locale that is not UTF-8", () => {
    const lines = figureLines(page([group("open", 4), group("lost", 2)]), { width: 80, blocks: false })
    expect(lines.slice(1, 3)).toEqual([`open        4  ${"#".repeat(30)}`, `lost        2  ${"#".repeat(15)}`])
    expect(terminal({ isTTY: false })).toEqual({ width: 80, blocks: false })
    expect(isUtf8({ LANG: "en_US.UTF-8" })).toBe(true)
    expect(isUtf8({ LC_ALL: "C", LANG: "en_US.UTF-8" })).toBe(false)
    expect(isUtf8({})).toBe(false)
  })

  it("keeps each line within the terminal, and leaves bars out where there is no room", () => {
    const figures = page([group("open", 40), group("lost", 10)])
    for (const width of [20, 24, 40])
      for (const line of figureLines(figures, { width, blocks: true }).slice(0, -1))
        expect(line.length).toBeLessThanOrEqual(width)
    expect(figureLines(figures, { width: 14, blocks: true })[1]).toBe("open       40")
  })

  it("draws no bars across currencies, and prints one line for each currency", () => {
    const groups = [group("open", 3, ["1204.50", "EUR"], ["88.00", "USD"]), group("lost", 1, ["5.00", "EUR"])]
    expect(figureLines(page(groups, { ...sums, several: true }), wide)).toEqual([
      "status  count   sum amount",
      "open        3  1204.50 EUR",
      "                 88.00 USD",
      "lost        1     5.00 EUR",
      "4 found in 2 groups. Several currencies: ordered by count."
    ])
  })

  it("draws negative values with other characters than positive ones", () => {
    const groups = page([group("in", 1, ["10", "EUR"]), group("out", 1, ["-5", "EUR"])], sums)
    expect(figureLines(groups, { width: 80, blocks: false }).slice(1, 3)).toEqual([
      `in          1      10 EUR  ${"#".repeat(30)}`,
      `out         1      -5 EUR  ${"-".repeat(15)}`
    ])
  })

  it("prints the ids of groups only where two have the same name", () => {
    const named = (value: string, id: string): Group => ({ keys: [{ value, id }], count: 1 })
    const text = figureLines(page([named("Rosa", "e1"), named("Ada", "e2"), named("Ada", "e3")]), wide).join("\n")
    expect(text).toContain("Ada (e2)")
    expect(text).toContain("Ada (e3)")
    expect(text).not.toContain("e1")
  })

  it("says that permissions narrow the figures, and that too many rows match", () => {
    expect(figureLines(page([group("open", 1)], { limited: true }), wide).at(-1)).toBe(
      "1 found in 1 group among what you can see."
    )
    expect(figureLines({ total: 100_000, entities: [], tooMany: true }, wide)).toEqual([
      "More than 100000 match: too many to add up at once. Name a period or another condition."
    ])
  })

  it("replaces control characters in a group's name", () => {
    expect(figureLines(page([group("a\u001b[31mb", 1)]), wide).join("\n")).not.toContain("\u001b")
  })
})
