import { describe, expect, it } from "vitest"
import { figureLines, terminal } from "../../src/channels/cli/figuresView.ts"
import { isUtf8 } from "../../src/env/locale.ts"
import { viewOf } from "../../src/channels/cli/turnView.ts"
import { largestOf } from "../../src/channels/sms/largest.ts"
import { figuresIn, figuresOf, rowsBehind } from "../../src/agents/figures.ts"
import type { Group, Page } from "../../src/domain/Page.ts"
import type { TurnEvent } from "../../src/wire/TurnEvent.ts"

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

const list = { entityTypeId: "deals", filters: [] }
const beside = (text: string, from: Page) =>
  figuresIn(text, [{ list, figures: figuresOf("Deals", from)! }]).map(({ figures }) => figures)

describe("Figures beside an answer", () => {
  const byStatus = page([group("open", 40), group("lost", 1200), group(undefined, 1)])
  const text = "Deals by status (1,241 in all):\n- open: 40\n- lost: 1,200\n- without status: 1\nThat is all."

  it("replace the lines of the text that list the same groups", () => {
    expect(beside(text, byStatus)).toMatchObject([{ title: "Deals by status", chart: "bar", lines: [1, 4] }])
    expect(beside(text.replace("1,200", "1,300"), byStatus)[0]).not.toHaveProperty("lines")
  })

  it.each([
    "Deals by status:\n- open: 40, because the season is over\n- lost: 1,200",
    "Deals by status:\n- open: 40\n- lost: 1,200\n- Call the others: they said no",
    "Deals by status:\n- Rosa should look at all of the open ones before Friday: 40\n- lost: 1,200"
  ])("leave a list whose items say more than the table would: %j", (said) => {
    expect(beside(said, byStatus)).toHaveLength(1)
    expect(beside(said, byStatus)[0]).not.toHaveProperty("lines")
  })

  it("are as many as the text lists, and absent from an answer that is about none of them", () => {
    const [figures] = beside("Deals by status:\n1. open: 40\n2. lost: 1,200\nThese are the first 2 of 3.", byStatus)
    expect(figures!.groups).toHaveLength(2)
    expect(beside("I can't say that.", byStatus)).toEqual([])
    expect(beside("Most are lost: 1,200.", byStatus)).toHaveLength(1)
  })

  it("have a line through four periods, and neither line nor bars for two columns or several currencies", () => {
    const months = ["2026-01", "2026-02", "2026-03", "2026-04"].map((month) => group(month, 1))
    const of = (from: Page) => figuresOf("Deals", from)!
    expect(of(page(months, { headings: ["by month due"] }))).toMatchObject({
      title: "Deals by month of due",
      chart: "line"
    })
    expect(of(page(months.slice(1), { headings: ["by month due"] })).chart).toBe("bar")
    expect(of(page(months, { headings: ["by month due", "by status"] }))).not.toHaveProperty("chart")
    expect(of(page(months, { several: true, headings: ["by status", "sum amount"] }))).not.toHaveProperty("chart")
    expect(of(page(months, { headings: ["by company.city", "avg amount"] })).title).toBe(
      "Average of amount of deals by company city"
    )
  })

  it("lead to the rows behind them, without conditions on groups", () => {
    const status = { columnId: "status", op: "eq", value: "open" } as const
    const having = [
      { columnId: "count", op: "gte", value: "2" },
      { columnId: "sum amount", op: "lt", value: "9" }
    ] as const
    expect(
      rowsBehind({ entityTypeId: "deals", filters: [status, ...having], selectColumns: ["by owner", "sum amount"] })
    ).toEqual({ entityTypeId: "deals", filters: [status] })
  })

  const events = (from: Page, said: string): ReadonlyArray<TurnEvent> => [
    ...beside(said, from).map((figures) => ({ _tag: "figures" as const, figures })),
    {
      _tag: "done",
      session: "s",
      text: said,
      references: [],
      usage: { model: "basic", steps: 1, inputTokens: 0, outputTokens: 0 },
      reference: "ABCD"
    }
  ]

  it("are drawn on a terminal in the place of the list; a pipe keeps the text", () => {
    const shownOn = (isTTY: boolean) => {
      let written = ""
      const view = viewOf({ isTTY, columns: 60, write: (part: string) => (written += part) } as never)
      for (const event of [{ _tag: "delta", text } as const, ...events(byStatus, text)]) view.show(event)
      return written.split("\u001b[J").at(-1)!.split("\n")
    }
    const drawn = shownOn(true)
    expect(drawn[0]).toBe("Deals by status (1,241 in all):")
    expect(drawn[1]).toBe("status  count")
    expect(drawn[3]).toMatch(/^lost     1200 {2}[█#]+$/)
    expect(drawn.slice(5)).toEqual(["That is all.", ""])
    expect(shownOn(false).join("\n")).toBe(`${text}\n`)
  })

  it("are the three largest in a text message", () => {
    const four = page([group("open", 4), group("lost", 12), group("won", 30), group("paused", 1)])
    const said = "Deals by status (47 in all):\n- open: 4\n- lost: 12\n- won: 30\n- paused: 1"
    expect(largestOf(said, events(four, said))).toBe(
      "Deals by status (47 in all):\n- open: 4\n- lost: 12\n- won: 30\nThe 3 largest of 4."
    )
    expect(largestOf(text, events(byStatus, text))).toBe(text)
  })
})
