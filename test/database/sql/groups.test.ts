/** Golden statements of groups and figures; test/conformance/figures.test.ts executes these forms on a real Postgres. */
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { compileGroups } from "../../../src/database/sql/groups.ts"
import type { GroupPath, ResolvedGroups } from "../../../src/database/sql/ResolvedGroups.ts"
import { type Column, type EntityType, Storage } from "../../../src/domain/EntityType.ts"
import { ALWAYS, Bound, NEVER } from "../../../src/domain/Predicate.ts"
import { systemCatalog } from "../../support/catalog.ts"
import { agents, catalog, tickets } from "../../support/mappedCatalog.ts"

const people = systemCatalog.types[0]!
const companies = systemCatalog.types[1]!
const meetings = systemCatalog.types[2]!

const open = Bound.Compare({ column: "status", side: "value", op: "eq", value: "open" })
const notAnn = Bound.Compare({ column: "name", side: "value", op: "ne", value: "Ann" })
const of = (type: EntityType, key: string): Column => type.columns.find((one) => one.key === key)!
const path = (type: EntityType, key: string, more: Partial<GroupPath> = {}): GroupPath => ({
  steps: [],
  at: type,
  column: of(type, key),
  mask: ALWAYS,
  ...more
})
const derived = (type: EntityType, as: "product" | "since", ...keys: ReadonlyArray<string>): GroupPath => ({
  ...path(type, keys[0]!),
  column: {
    key: "d_one",
    slug: "one",
    name: "One",
    kind: "number",
    storage: Storage.Value({ column: "d_one" }),
    derived: { as, of: keys, sources: keys.map((key) => of(type, key)) }
  }
})
const by = (one: GroupPath, bucket?: ResolvedGroups["by"][number]["bucket"]) => ({ path: one, bucket })
const agent = (name: Bound, where: Bound = ALWAYS) => path(tickets, "agent", { target: { type: agents, where, name } })

const groups = (type: EntityType, more: Partial<ResolvedGroups> = {}): ResolvedGroups => ({
  type,
  plan: ALWAYS,
  filters: [],
  by: [],
  figures: [],
  money: new Set(),
  having: [],
  upwards: false,
  limited: false,
  limit: 25,
  cursor: undefined,
  headings: [],
  label: "test",
  ...more
})

const company = { relation: of(people, "company"), mask: open, to: companies, where: open }
const ownersCompany = path(companies, "status", {
  mask: open,
  steps: [company]
})

/** What the company of a person belongs to, under conditions at every step. */
const companysOwner = path(companies, "owner", {
  mask: open,
  steps: [company],
  target: { type: people, where: open, name: ALWAYS }
})

const CASES: Readonly<Record<string, ResolvedGroups>> = {
  "groups-by-status": groups(people, { by: [by(path(people, "status", { mask: open }))], plan: open, filters: [open] }),
  "groups-by-two-references": groups(people, {
    plan: Bound.Some({ relation: "company", where: open }),
    by: [
      by(path(people, "owner", { target: { type: people, where: ALWAYS, name: ALWAYS } })),
      by(path(people, "company", { target: { type: companies, where: ALWAYS, name: ALWAYS } }))
    ]
  }),
  "groups-by-nameless-references": groups(tickets, {
    by: [by(path(tickets, "agent", { target: { type: { ...agents, columns: [] }, where: ALWAYS, name: ALWAYS } }))]
  }),
  "groups-by-reference": groups(people, {
    by: [by(path(people, "owner", { mask: open, target: { type: people, where: open, name: open } }))],
    limit: 2,
    cursor: "0".repeat(32)
  }),
  "groups-by-list": groups(meetings, {
    by: [by(path(meetings, "attendees", { mask: open, target: { type: people, where: open, name: ALWAYS } }))],
    plan: open,
    filters: [open],
    figures: [{ figure: "sum", path: path(tickets, "count") }]
  }),
  "groups-by-mapped-list-and-month": groups(tickets, {
    by: [
      by(path(tickets, "watchers", { target: { type: agents, where: notAnn, name: ALWAYS } })),
      by(path(tickets, "opened"), "month")
    ]
  }),
  "groups-distinct-references": groups(people, {
    by: [by(path(people, "owner", { target: { type: people, where: open, name: ALWAYS } }))],
    figures: [
      { figure: "distinct", path: path(people, "company", { target: { type: companies, where: open, name: NEVER } }) }
    ]
  }),
  "groups-by-path": groups(people, {
    by: [by(ownersCompany)],
    figures: [{ figure: "distinct", path: ownersCompany }],
    having: [{ of: 0, op: "gte", value: "2" }],
    upwards: true
  }),
  "groups-by-two-paths": groups(people, {
    by: [by(path(companies, "status", { steps: [company] })), by(companysOwner)]
  }),
  "groups-by-months-of-a-path": groups(people, {
    by: [by(path(meetings, "start", { steps: [{ ...company, to: meetings, where: ALWAYS }] }), "month")]
  }),
  "groups-distinct-by-a-path": groups(people, {
    by: [by(path(people, "owner", { target: { type: people, where: open, name: ALWAYS } })), by(companysOwner)],
    figures: [{ figure: "distinct", path: path(people, "name") }]
  }),
  "groups-of-mapped-amounts": groups(tickets, {
    by: [by(agent(notAnn, notAnn)), by(path(tickets, "status"))],
    figures: [
      { figure: "sum", path: path(tickets, "fee", { mask: open }) },
      { figure: "avg", path: path(tickets, "fee", { mask: open }) },
      { figure: "max", path: path(tickets, "due") }
    ],
    money: new Set([0, 1]),
    having: [
      { of: "count", op: "lt", value: "9" },
      { of: 0, op: "eq", value: "1.5" }
    ]
  }),
  "groups-without-names": groups(tickets, { by: [by(agent(NEVER))] }),
  "groups-by-two-periods": groups(tickets, {
    by: [by(path(tickets, "opened"), "month"), by(path(tickets, "due"), "weekday")],
    figures: [
      { figure: "min", path: path(tickets, "opened") },
      { figure: "avg", path: path(tickets, "weight") }
    ]
  }),
  "groups-by-hours": groups(meetings, { by: [by(path(meetings, "start"), "hour")] }),
  "groups-by-weeks": groups(tickets, { by: [by(path(tickets, "due"), "week")] }),
  "groups-in-one": groups(tickets, {
    figures: [
      { figure: "sum", path: path(tickets, "count") },
      { figure: "distinct", path: path(tickets, "weight") },
      { figure: "distinct", path: path(tickets, "name") },
      { figure: "distinct", path: path(tickets, "opened") }
    ],
    limit: 0
  }),
  "groups-by-contacts": groups(people, { by: [by(path(people, "phone")), by(path(people, "email"))] }),
  "groups-by-numbers": groups(tickets, { by: [by(path(tickets, "weight")), by(path(tickets, "count"))] }),
  "groups-of-derived-amounts": groups(tickets, {
    figures: [{ figure: "sum", path: derived(tickets, "product", "fee", "count") }],
    money: new Set([0])
  }),
  "groups-by-derived-years": groups(meetings, { by: [by(derived(meetings, "since", "start"))] })
}

const laidOut = (one: ResolvedGroups): string => {
  const { mapped, parameters, relations, text } = compileGroups(one, catalog)
  return [
    `-- ${mapped === true ? "mapped" : "managed"}: ${(relations ?? []).join(", ")}`,
    ...parameters.map((value, index) => `-- $${index + 1} = ${String(value)}`),
    text.replace(/ (WITH|[dsrwo] AS|SELECT|FROM|LEFT JOIN|WHERE|AND|GROUP BY|ORDER BY)\b/g, "\n$1"),
    ""
  ].join("\n")
}

describe("the statement of groups", () => {
  for (const [name, one] of Object.entries(CASES)) {
    it(`matches its golden file: ${name}`, async () => {
      await expect(laidOut(one)).toMatchFileSnapshot(join("golden", `${name}.sql`))
    })
  }

  it("isn't compiled from what can't be grouped or added up", () => {
    const many = of(meetings, "attendees")
    const through = path(people, "status", { steps: [{ relation: many, mask: ALWAYS, to: people, where: ALWAYS }] })
    expect(() => compileGroups(groups(meetings, { by: [by(through)] }), catalog)).toThrow("by one reference")
    const references = path(meetings, "attendees", { target: { type: people, where: ALWAYS, name: ALWAYS } })
    const different = [{ figure: "distinct" as const, path: references }]
    expect(() => compileGroups(groups(meetings, { figures: different }), catalog)).toThrow("by one reference")
    expect(() => compileGroups(groups(meetings, { by: [by(path(meetings, "attendees"))] }), catalog)).toThrow(
      "leads nowhere"
    )
    const amounts = [
      { figure: "sum" as const, path: path(tickets, "fee") },
      { figure: "distinct" as const, path: path(tickets, "weight") }
    ]
    expect(() => compileGroups(groups(tickets, { figures: amounts, money: new Set([0]) }), catalog)).toThrow(
      "added up over currencies"
    )
    const plain = [{ figure: "sum" as const, path: path(tickets, "weight") }]
    expect(() => compileGroups(groups(tickets, { figures: plain, money: new Set([0]) }), catalog)).toThrow(
      "has no currency"
    )
    const large = Bound.Contains({ column: "name", text: "x".repeat(10) })
    const all = Bound.All({ of: Array.from({ length: 100_000 }, () => large) })
    expect(() => compileGroups(groups(people, { plan: all }), catalog)).toThrow("too large")
  })
})
