/** Golden statements over mapped relations, and the bounds and the cache of statements. */
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { compileFind } from "../../../src/database/sql/find.ts"
import { type Condition, Parameter } from "../../../src/database/sql/Parameter.ts"
import { prepare } from "../../../src/database/sql/prepared.ts"
import type { ResolvedQuery, SelectedColumn, Statement } from "../../../src/database/sql/ResolvedQuery.ts"
import type { EntityType } from "../../../src/domain/EntityType.ts"
import { ALWAYS, any, Bound, NEVER } from "../../../src/domain/Predicate.ts"
import { systemCatalog } from "../../support/catalog.ts"
import { agents, catalog, tickets } from "../../support/mappedCatalog.ts"

const open = Bound.Compare({ column: "status", side: "value", op: "eq", value: "open" })
const of = (type: EntityType, key: string) => type.columns.find((one) => one.key === key)!
const selected = (type: EntityType, key: string, target?: SelectedColumn["target"]): SelectedColumn => ({
  column: of(type, key),
  mask: ALWAYS,
  ...(target === undefined ? {} : { target })
})
const query = (type: EntityType, more: Partial<ResolvedQuery> = {}): ResolvedQuery => ({
  type,
  plan: ALWAYS,
  filters: [],
  limit: 5,
  hops: "subplan",
  pool: "search",
  label: "test",
  name: ALWAYS,
  status: ALWAYS,
  select: [],
  ...more
})
const visible = { type: agents, where: ALWAYS, name: ALWAYS }
/** An agent who has an agent. */
const led: EntityType = { ...agents, columns: [...agents.columns, of(tickets, "agent")] }
const people = systemCatalog.types[0]!
const companies = systemCatalog.types[1]!
const meetings = systemCatalog.types[2]!
/** The cell of what a reference leads to. */
const behind = (
  [from, key, to]: readonly [EntityType, string, EntityType],
  end: SelectedColumn,
  shown: { readonly mask?: Bound; readonly where?: Bound } = {}
): SelectedColumn => ({
  ...end,
  through: { steps: [{ relation: of(from, key), mask: ALWAYS, to, where: ALWAYS, ...shown }], at: to }
})

const CASES: Readonly<Record<string, ResolvedQuery>> = {
  "mapped-everything": query(tickets, {
    plan: open,
    status: NEVER,
    select: [
      ...["fee", "opened", "due"].map((key) => selected(tickets, key)),
      selected(tickets, "agent", visible),
      selected(tickets, "watchers", { ...visible, name: NEVER })
    ]
  }),
  "mapped-next-page-by-time": query(tickets, {
    plan: open,
    order: { column: of(tickets, "opened"), mask: open, descending: true },
    cursor: "11111111-2222-3333-4444-555555555555",
    name: open
  }),
  "mapped-next-page": query(agents, { cursor: "11111111-2222-3333-4444-555555555555" }),
  "mapped-name-under-a-mask": query(tickets, {
    select: [
      ...["count", "weight"].map((key) => selected(tickets, key)),
      selected(tickets, "agent", {
        ...visible,
        name: Bound.Compare({ column: "name", side: "value", op: "ne", value: "Ann" })
      })
    ]
  }),
  "mapped-count": query(agents, { limit: 0 }),
  "mapped-for-several-reasons": query(tickets, {
    hops: "array",
    plan: any(open, Bound.Compare({ column: "status", side: "value", op: "eq", value: "new" }))
  }),
  "managed-names-of-targets": query(people, {
    plan: open,
    order: { column: of(people, "name"), mask: ALWAYS, descending: false },
    select: [
      selected(people, "owner", { type: people, where: open, name: open }),
      { ...selected(people, "company", { type: companies, where: ALWAYS, name: NEVER }), mask: open }
    ]
  }),
  "managed-cells-of-paths": query(people, {
    select: [
      behind([people, "owner", people], selected(people, "phone")),
      behind([people, "owner", people], { ...selected(people, "phone"), mask: open }, { mask: open, where: open }),
      behind([people, "owner", people], selected(people, "company", { type: companies, where: open, name: open })),
      behind([people, "owner", people], {
        ...selected(people, "company", { type: { ...companies, columns: [] }, where: ALWAYS, name: ALWAYS }),
        mask: open
      })
    ]
  }),
  "mapped-cells-of-paths": query(tickets, {
    select: [
      behind([tickets, "agent", agents], selected(agents, "name")),
      behind([tickets, "agent", led], selected(led, "agent", visible))
    ]
  }),
  "managed-next-page-of-many": query(meetings, {
    cursor: "77",
    order: { column: of(meetings, "start"), mask: open, descending: false },
    select: [selected(meetings, "attendees", { type: people, where: open, name: ALWAYS })]
  })
}

const laidOut = (one: ResolvedQuery): string => {
  const { parameters, text } = compileFind(one, catalog)
  return [
    ...parameters.map((value, index) => `-- $${index + 1} = ${String(value)}`),
    text.replace(
      / (WITH|, m AS|, c AS|SELECT \(SELECT g|FROM \(SELECT count|LEFT JOIN|WHERE|AND (?!p\.id = k)|ORDER BY|LIMIT)/g,
      "\n$1"
    ),
    ""
  ].join("\n")
}

describe("the statement of a query over mapped relations", () => {
  for (const [name, one] of Object.entries(CASES)) {
    it(`matches its golden file: ${name}`, async () => {
      await expect(laidOut(one)).toMatchFileSnapshot(join("golden", `${name}.sql`))
    })
  }

  it("restricts every table to the organization's rows under the mapping's conditions, with bound values", () => {
    for (const [name, one] of Object.entries(CASES).filter(([key]) => key.startsWith("mapped"))) {
      const { parameters, text } = compileFind(one, catalog)
      const reads = [...text.matchAll(/FROM "host"\."(?:agents|tickets)"/g)].length
      expect(reads, name).toBeGreaterThan(0)
      expect([...text.matchAll(/"tenant" = \$\d+::text AND \w+\."gone" = \$/g)].length, name).toBeGreaterThanOrEqual(
        reads
      )
      expect(parameters).toContain("acme")
      expect(text).not.toContain("acme")
    }
  })

  it("names the relations that it reads, and tells whether any of them is mapped", () => {
    const [managed, mapped] = ["managed-names-of-targets", "mapped-everything"].map((name) =>
      compileFind(CASES[name]!, catalog)
    )
    expect([managed!.relations, managed!.mapped]).toEqual([['"data"."people"', '"data"."companies"'], undefined])
    expect(mapped!.relations).toEqual(expect.arrayContaining(['"host"."tickets"', '"host"."watch"', '"host"."agents"']))
    expect(mapped!.mapped).toBe(true)
  })

  it("is refused when a path to a cell leads through many rows", () => {
    const many = behind([meetings, "attendees", people], selected(people, "name"))
    expect(() => compileFind(query(meetings, { select: [many] }), catalog)).toThrow("leads to several rows")
  })

  it("is refused when it exceeds the bound on its length", () => {
    const longest = 2 * 1024 * 1024
    const bare = compileFind(query(people, { label: "" }), catalog).text.length
    const fits = query(people, { label: "x".repeat(longest - bare) })
    expect(compileFind(fits, catalog).text.length).toBe(longest)
    expect(() => compileFind({ ...fits, label: `${fits.label}x` }, catalog)).toThrow("too large")
  })

  it("is compiled once per shape, with each query's own values, and every time without a cache", () => {
    const cache = new Map<string, Statement>()
    const byName: Condition = { _tag: "Compare", column: "name", side: "key", op: "eq", value: new Parameter(0, false) }
    const named = (value: string, more: Partial<ResolvedQuery> = {}) =>
      query(people, { filters: [byName], compared: [byName], values: [value], statements: cache, ...more })
    const first = prepare(named("ann"), catalog)
    expect(first.parameters).toContain("ann")
    const [shape] = cache.keys()
    expect(cache.size).toBe(1)
    expect(cache.get(shape!)!.parameters.some((parameter) => parameter instanceof Parameter)).toBe(true)
    expect(prepare(named("bob"), catalog)).toMatchObject({
      text: first.text,
      parameters: first.parameters.map((parameter) => (parameter === "ann" ? "bob" : parameter))
    })
    // The cached statement is the one that runs.
    cache.set(shape!, { text: "SELECT 1", parameters: [new Parameter(0, false), 5] })
    expect(prepare(named("eve"), catalog)).toEqual({ text: "SELECT 1", parameters: ["eve", 5] })
    expect(prepare(named("ann", { statements: undefined }), catalog)).toEqual(first)
    expect(cache.size).toBe(1)
    expect(() => prepare(named("ann", { values: [] }), catalog)).toThrow("no value")
    const plain = query(people)
    expect(prepare(plain, catalog)).toEqual(compileFind(plain, catalog))
  })
})
