/** Resolved requests for groups and figures, each whole, and the messages of refused ones, without a database. */
import { Result } from "effect"
import { describe, expect, it } from "vitest"
import type { GroupPath, ResolvedGroups } from "../../../src/database/sql/ResolvedGroups.ts"
import { type Catalog, type Column, type EntityType, Storage } from "../../../src/domain/EntityType.ts"
import { ALWAYS, Bound } from "../../../src/domain/Predicate.ts"
import type { Filter, FindQuery } from "../../../src/domain/Query.ts"
import { asksForGroups, resolveGroups } from "../../../src/services/lookup/resolveGroups.ts"
import type { Visible } from "../../../src/services/lookup/visible.ts"
import { agents, catalog as plain, tickets as some } from "../../support/mappedCatalog.ts"
import { policyOf } from "../../permissions/support.ts"

const more = (key: string, kind: Column["kind"]): Column => ({
  key: `${key}-key`,
  slug: key,
  name: key,
  kind,
  storage: Storage.Value({ column: key })
})
/** With a column that has the name of a period, one more amount, and none with the name `count`. */
const tickets: EntityType = {
  ...some,
  columns: [
    ...some.columns.map((column) => (column.key === "count" ? { ...column, slug: "rank" } : column)),
    more("day", "text"),
    { ...some.columns.find(({ key }) => key === "fee")!, key: "tax", slug: "tax" }
  ]
}
const people = plain.types.find(({ slug }) => slug === "people")!
const companies = plain.types.find(({ slug }) => slug === "companies")!
const toTickets = (key: string): Column => ({
  ...more(key, "reference"),
  storage: Storage.One({ column: key, target: tickets.key })
})
/** A type with a column `count`, and two references to tickets. */
const shelves: EntityType = {
  ...tickets,
  key: "shelves",
  slug: "shelves",
  columns: [more("count", "integer"), toTickets("first"), toTickets("second")]
}
const catalog: Catalog = { ...plain, types: [people, companies, agents, tickets, shelves] }

const compare = (column: string, op: "eq" | "gte" | "lt", is: string, side: "value" | "key" = "value") =>
  Bound.Compare({ column, side, op, value: is })
const OPEN = compare("status", "eq", "open", "key")
const OURS = compare("name", "eq", "ours", "key")

interface Plan {
  readonly where?: Bound
  readonly limited?: boolean
  /** The masks of the columns that aren't shown on every row; `undefined` for a hidden one. */
  readonly masks?: Readonly<Record<string, Bound | undefined>>
}
const visibleAs = (plans: Readonly<Record<string, Plan>> = {}, hidden: ReadonlyArray<string> = []): Visible => ({
  state: { catalog, policy: policyOf([]), policyHash: "" },
  planOf: ({ columns, slug }) => {
    if (hidden.includes(slug)) return undefined
    const { limited = false, masks = {}, where = ALWAYS } = plans[slug] ?? {}
    const cells = columns.flatMap(({ key }) => {
      const mask = key in masks ? masks[key] : ALWAYS
      return mask === undefined ? [] : [[key, mask] as const]
    })
    return { _tag: "Granted", where, limited, cells: new Map(cells), ruleIds: [], expiresAt: Infinity }
  }
})
const everything = visibleAs()

type Asking = Partial<FindQuery> & { readonly by?: ReadonlyArray<string> }
const ask = ({ by, ...query }: Asking, visible: Visible = everything, most?: number) =>
  resolveGroups({ entityTypeId: "tickets", filters: [], selectColumns: by, ...query }, visible, most)
const resolved = (...asked: Parameters<typeof ask>) => {
  const found = ask(...asked)
  if (Result.isFailure(found)) throw new Error(found.failure.message)
  return found.success
}
const refused = (...asked: Parameters<typeof ask>): string => {
  const found = ask(...asked)
  if (Result.isSuccess(found)) throw new Error("It was resolved")
  return `${found.failure._tag}: ${found.failure.message}`
}
const filter = (columnId: string, op: Filter["op"], value: string): Filter => ({ columnId, op, value })

const columnOf = (type: EntityType, slug: string): Column => type.columns.find((one) => one.slug === slug)!
const path = (slug: string, rest: Partial<GroupPath> = {}): GroupPath => ({
  steps: [],
  at: tickets,
  column: columnOf(tickets, slug),
  mask: ALWAYS,
  target: undefined,
  ...rest
})
const groups = (rest: Partial<ResolvedGroups> & { readonly onGroups?: ReadonlyArray<Filter> } = {}) => ({
  type: tickets,
  plan: ALWAYS,
  filters: [],
  by: [],
  figures: [],
  money: new Set(),
  having: [],
  upwards: false,
  onGroups: [],
  limited: false,
  limit: 25,
  cursor: undefined,
  headings: [],
  label: "tickets",
  ...rest
})

describe("a request", () => {
  it("asks for groups with one word of groups or figures, or with count alone", () => {
    const asks = (...selectColumns: ReadonlyArray<string>) =>
      asksForGroups({ entityTypeId: "tickets", filters: [], selectColumns })
    const words = ["by", "sum", "avg", "min", "max", "distinct"]
    for (const yes of [
      ["count"],
      ["name", "by status"],
      ["by status", "name"],
      ["  By \t month due"],
      ...words.map((word) => [`${word} x`])
    ])
      expect(asks(...yes), yes.join()).toBe(true)
    for (const no of [
      [],
      ["name"],
      ["count", "name"],
      ["Count"],
      ["by"],
      ["by "],
      ["bystatus"],
      ["hobby x"],
      ["total x"],
      ...words
    ])
      expect(asks(...[no].flat()), String(no)).toBe(false)
    expect(asksForGroups({ entityTypeId: "tickets", filters: [] })).toBe(false)
  })

  it("for nothing but the count has no groups and no figures", () => {
    expect(resolved({ by: ["count"] })).toEqual(groups())
    expect(resolved({})).toEqual(groups())
  })

  it("is resolved whole: groups and figures with their masks, conditions on rows under theirs, and conditions on groups", () => {
    const visible = visibleAs({
      tickets: { where: OPEN, limited: true, masks: { fee: OPEN, agent: OURS, status: OURS } },
      agents: { where: OURS, masks: { name: OPEN } }
    })
    const onGroups = [filter(" count", "gte", " 2 "), filter("sum  fee", "lt", "-1.5"), filter("avg weight", "eq", "3")]
    const cursor = "0123456789abcdef".repeat(2)
    expect(
      resolved(
        {
          by: ["count", " BY  Month   due", "by agent", "Sum fee", "avg weight", "sum  fee", "Sum fee"].slice(0, 5),
          filters: [onGroups[0]!, filter("status", "eq", "new"), onGroups[1]!, filter("day", "ne", "x"), onGroups[2]!],
          limit: 7,
          cursorEntityId: cursor
        },
        visible
      )
    ).toEqual(
      groups({
        plan: OPEN,
        limited: true,
        filters: [
          { _tag: "All", of: [OURS, compare("status", "eq", "new", "key")] },
          { _tag: "NotTrue", of: compare("day-key", "eq", "x", "key") }
        ] as never,
        by: [
          { path: path("due"), bucket: "month" },
          {
            path: path("agent", { mask: OURS, target: { type: agents, where: OURS, name: OPEN } }),
            bucket: undefined
          }
        ],
        figures: [
          { figure: "sum", path: path("fee", { mask: OPEN }) },
          { figure: "avg", path: path("weight") }
        ],
        money: new Set([0]),
        having: [
          { of: "count", op: "gte", value: "2" },
          { of: 0, op: "lt", value: "-1.5" },
          { of: 1, op: "eq", value: "3" }
        ],
        upwards: true,
        onGroups,
        limit: 7,
        cursor,
        headings: ["by month due", "by agent", "sum fee", "avg weight"],
        label: "tickets by month due by agent sum fee avg weight status:eq day:ne"
      })
    )
    expect(resolved({ filters: [filter("count", "lt", "5")], by: ["by status"] })).toMatchObject({
      upwards: false,
      having: [{ of: "count", op: "lt", value: "5" }]
    })
  })

  it("follows references to the column of a group, and names a column that has the name of a period", () => {
    const visible = visibleAs({ tickets: { masks: { agent: OPEN } }, agents: { where: OURS, masks: { name: OPEN } } })
    const { by, headings, label } = resolved(
      { by: ["by agent.name", "by day"], filters: [filter("agent.name", "eq", "Al")] },
      visible
    )
    expect(by).toEqual([
      {
        bucket: undefined,
        path: path("name", {
          at: agents,
          column: columnOf(agents, "name"),
          mask: OPEN,
          steps: [{ relation: columnOf(tickets, "agent"), mask: OPEN, to: agents, where: OURS }]
        })
      },
      { bucket: undefined, path: path("day") }
    ])
    expect([headings, label]).toEqual([["by agent.name", "by day"], "tickets by agent.name by day agent.name:eq"])
    const periods = ["hour", "weekday", "day", "week", "month", "quarter", "year"]
    for (const bucket of periods)
      expect(resolved({ by: [`by ${bucket.toUpperCase()} opened`] })).toMatchObject({
        by: [{ bucket }],
        headings: [`by ${bucket} opened`]
      })
  })

  it("takes each figure of the kinds of columns that it is for", () => {
    const taken = {
      sum: ["fee", "rank", "weight"],
      avg: ["fee", "rank", "weight"],
      min: ["fee", "rank", "weight", "due", "opened"],
      max: ["fee", "rank", "weight", "due", "opened"],
      distinct: ["name", "status", "agent", "due", "opened", "fee", "rank"]
    }
    for (const [figure, columns] of Object.entries(taken))
      for (const column of columns)
        expect(resolved({ by: [`${figure} ${column}`] }), `${figure} ${column}`).toEqual(
          groups({
            figures: [
              {
                figure: figure as never,
                path: path(column, column === "agent" ? { target: { type: agents, where: ALWAYS, name: ALWAYS } } : {})
              }
            ],
            money: new Set(column === "fee" && figure !== "distinct" ? [0] : []),
            headings: [`${figure} ${column}`],
            label: `tickets ${figure} ${column}`
          })
        )
  })

  it("asks about a column count as about any other, where the type shows one", () => {
    const asked = { entityTypeId: "shelves", filters: [filter("count", "gte", "5")], by: ["by count"] }
    expect(resolved(asked)).toMatchObject({
      having: [],
      upwards: false,
      filters: [compare("count-key", "gte", "5")],
      label: "shelves by count count:gte"
    })
    const hidden = visibleAs({ shelves: { masks: { "count-key": undefined } } })
    expect(resolved({ ...asked, by: ["count"] }, hidden)).toMatchObject({
      having: [{ of: "count", op: "gte", value: "5" }],
      filters: []
    })
  })

  it("is limited where rows, or cells on the way of a group, a figure or a filter, can be hidden, and only then", () => {
    const limited = (asked: Asking, plans: Readonly<Record<string, Plan>> = {}) =>
      resolved(asked, visibleAs(plans)).limited
    const byStatus = { by: ["by status"] }
    const all = { by: ["by status", "sum fee"], filters: [filter("agent.name", "eq", "Al"), filter("day", "eq", "x")] }
    expect(limited(all)).toBe(false)
    expect(limited(all, { tickets: { masks: { weight: OPEN } }, people: { limited: true } })).toBe(false)
    expect(limited(byStatus, { tickets: { limited: true } })).toBe(true)
    expect(limited(byStatus, { tickets: { masks: { status: OPEN } } })).toBe(true)
    expect(limited({ by: ["by name", "sum fee"] }, { tickets: { masks: { fee: OPEN } } })).toBe(true)
    expect(limited({ by: ["by agent"] }, { agents: { limited: true } })).toBe(true)
    expect(limited(all, { agents: { limited: true } })).toBe(true)
    expect(limited(all, { tickets: { masks: { "day-key": OPEN } } })).toBe(true)
    expect(limited({ ...all, filters: all.filters.slice(1) }, { agents: { limited: true } })).toBe(false)
  })

  it("takes as many filters, columns, groups and rows as its limits say, and no more", () => {
    const filters = (count: number) => Array.from({ length: count }, () => filter("status", "eq", "new"))
    expect(resolved({ by: ["by status"], filters: filters(10) }).filters).toHaveLength(10)
    expect(refused({ by: ["by status"], filters: filters(11) })).toBe("InvalidInput: At most 10 filters.")
    const five = ["by status", "by name", "min weight", "max weight", "avg weight"]
    expect(resolved({ by: [...five, "count", "by  status"] }).headings).toEqual(five)
    expect(refused({ by: [...five, "min rank"] })).toBe("InvalidInput: At most 5 columns can be selected.")
    expect(refused({ by: ["by status", "by name", "by day"] })).toBe("InvalidInput: Group by at most 2 columns.")
    for (const limit of [0, 25]) expect(resolved({ by: ["by status"], limit }).limit).toBe(limit)
    for (const limit of [-1, 26, 1.5, Number.NaN])
      expect(refused({ by: ["by status"], limit })).toBe("InvalidInput: limit must be an integer from 0 to 25.")
    expect(resolved({ by: ["by status"] }, everything, 500).limit).toBe(500)
    expect(refused({ by: ["by status"], limit: 501 }, everything, 500)).toBe(
      "InvalidInput: limit must be an integer from 0 to 500."
    )
    for (const cursorEntityId of ["a".repeat(31), "a".repeat(33), "A".repeat(32), "g".repeat(32), ""])
      expect(refused({ by: ["by status"], cursorEntityId }), cursorEntityId).toBe(
        "InvalidInput: cursorEntityId is not a nextCursorEntityId of an earlier page."
      )
  })

  it("is refused in words where a word, a period, a figure or a condition on groups doesn't fit", () => {
    const NO_WORD = `InvalidInput: With groups, select "by X" or a figure ("sum X", "avg X", "min X", "max X", "distinct X"), not a column.`
    const oneColumn = (word: string, name: string) =>
      `InvalidInput: ${word} is for one column: "${word} ${name}"; of a date "by hour|weekday|day|week|month|quarter|year X".`
    const HAVING = "InvalidInput: A filter on groups names count or a figure that is selected."
    const number = (name: string) => `InvalidInput: The value for ${name} is a number, such as 42.`
    const having = (columnId: string, op: Filter["op"] = "eq", value = "1") => ({
      by: ["by status", "sum weight", "max due", "distinct due"],
      filters: [filter(columnId, op, value)]
    })
    const cases: ReadonlyArray<readonly [Asking, string]> = [
      [{ by: ["by status", "name"] }, NO_WORD],
      [{ by: ["by"] }, NO_WORD],
      [{ by: ["by century due"] }, oneColumn("by", "due")],
      [{ by: ["by name status"] }, oneColumn("by", "status")],
      [{ by: ["by month due opened"] }, oneColumn("by", "opened")],
      [{ by: ["MAX month due"] }, oneColumn("max", "due")],
      [{ by: ["sum weight fee"] }, oneColumn("sum", "fee")],
      [{ by: ["by month status"] }, `InvalidInput: status is not a date: "by status".`],
      [{ by: ["by hour due"] }, "InvalidInput: due has no hours."],
      [{ by: ["sum name"] }, "InvalidInput: sum is for numbers, and name isn't one."],
      [{ by: ["avg due"] }, "InvalidInput: avg is for numbers, and due isn't one."],
      [{ by: ["min name"] }, "InvalidInput: min is for numbers and dates, and name is neither."],
      [{ by: ["max agent"] }, "InvalidInput: max is for numbers and dates, and agent is neither."],
      [{ by: ["by watchers.name"] }, "InvalidInput: watchers.name can hold several values: name a column with one."],
      [{ by: ["distinct watchers"] }, "InvalidInput: watchers can hold several values: name a column with one."],
      [{ by: ["by id"] }, "InvalidInput: Name a column, not id."],
      [{ by: ["sum fee", "max tax"] }, "InvalidInput: Ask for amounts of one column at a time."],
      [
        { entityTypeId: "shelves", by: ["sum first.fee", "max second.fee"] },
        "InvalidInput: Ask for amounts of one column at a time."
      ],
      [{ by: ["sum fee", "distinct name"] }, "InvalidInput: Ask for distinct and for amounts separately."],
      [having("sum fee"), HAVING],
      [having("by status"), HAVING],
      [having(" max  weight"), HAVING],
      [having("max due"), "InvalidInput: max due can't be a filter: it is a date."],
      [having("count", "ne"), "InvalidInput: A filter on groups is eq, gte or lt."],
      [having("sum weight", "ilike"), "InvalidInput: A filter on groups is eq, gte or lt."],
      ...["many", "", "1.", ".5", "1e5", "--1", "+1", "1 2", "1.2.3", "9".repeat(31), `1.${"9".repeat(11)}`].map(
        (value) => [having("sum weight", "gte", value), number("sum weight")] as const
      ),
      [having("count", "gte", "x"), number("count")],
      [
        { entityTypeId: "tickers", by: ["by status"] },
        `UnknownName: There is no type "tickers". Did you mean tickets?`
      ],
      [{ by: ["by statos"] }, `UnknownName: There is no column "statos" in tickets. Did you mean status?`],
      [
        { by: ["by status"], filters: [filter("statos", "eq", "1")] },
        `UnknownName: There is no column "statos" in tickets. Did you mean status?`
      ],
      [
        { by: ["by status"], filters: [filter("weight", "eq", "heavy")] },
        "InvalidInput: weight is a number, such as 42."
      ]
    ]
    for (const [asked, message] of cases) expect(refused(asked), JSON.stringify(asked)).toBe(message)
    // Amounts of one column, and distinct values without amounts.
    expect(resolved({ by: ["sum fee", "max fee", "avg weight"] }).money).toEqual(new Set([0, 1]))
    expect(resolved({ entityTypeId: "shelves", by: ["sum first.fee", "max first.fee"] }).money).toEqual(new Set([0, 1]))
    expect(resolved({ by: ["distinct fee", "distinct tax"] }).money).toEqual(new Set())
    for (const value of ["0", "-7", " 12.5 ", "9".repeat(30), `-1.${"9".repeat(10)}`])
      expect(resolved(having("distinct due", "lt", value)).having).toEqual([{ of: 2, op: "lt", value: value.trim() }])
  })

  it("resolves its names before its values, and a hidden name as an unknown one", () => {
    const unfit = [filter("weight", "eq", "heavy")]
    expect(refused({ by: ["by nothing"], filters: unfit, limit: 99 })).toContain("UnknownName")
    expect(refused({ by: ["by status"], filters: [...unfit, filter("nothing", "eq", "1")] })).toContain("UnknownName")
    const narrow = visibleAs({ tickets: { masks: { status: undefined } } }, ["agents", "companies"])
    const told = (asked: (name: string) => Asking, name: string) =>
      refused(asked(name), narrow).replace(`"${name.split(".")[0]}"`, "…")
    const grouped = (name: string) => ({ by: [`by ${name}`] })
    const filtered = (name: string) => ({ by: ["by name"], filters: [filter(name, "eq", "1")] })
    for (const asked of [grouped, filtered])
      for (const [hidden, unknown] of [
        ["status", "zzzzzz"],
        ["agent", "zzzzzz"],
        ["agent.name", "zzzzzz.name"]
      ] as const)
        expect(told(asked, hidden)).toBe(told(asked, unknown))
    const typed = (entityTypeId: string) => ({ entityTypeId, by: ["by name"] })
    expect(told(typed, "companies")).toBe(told(typed, "zzzzzz"))
  })
})
