/** A policy file as a grid: what it shows, and that an edit changes the meant cells and nothing else. */
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { type Catalog, type EntityType, typeBySlug } from "../../src/domain/EntityType.ts"
import { draftPolicy, ownRows, ownedRows } from "../../src/permissions/draftPolicy.ts"
import type { PolicyDocument, RuleDocument } from "../../src/permissions/policyDocument.ts"
import {
  editGrid,
  GRID_ACTIONS,
  gridColumns,
  type GridAction,
  type GridEdit,
  type GridReach,
  policyGrid
} from "../../src/permissions/policyGrid.ts"
import { readPolicy } from "../../src/permissions/readPolicy.ts"
import { catalog as base, file, type RuleInput } from "./support.ts"

const [people, companies, meetings] = base.types as readonly [EntityType, EntityType, EntityType]
const notes: EntityType = {
  ...companies,
  key: "notes-type",
  slug: "notes",
  columns: [...companies.columns.slice(0, 2), { ...people.columns[4]!, key: "text-key", slug: "text" }]
}
const catalog: Catalog = { ...base, types: [people, companies, meetings, notes] }
const ROLES = ["member", "manager", "agent"]

const gridOf = (document: PolicyDocument, of: Catalog = catalog) => {
  const reading = readPolicy(JSON.stringify(document), of)
  if ("problems" in reading) throw new Error(JSON.stringify(reading.problems))
  return of.types.flatMap((type) =>
    policyGrid(document, reading.policy, of, type).map((table) => ({ ...table, type: type.slug }))
  )
}

/** Each cell by its role, action, type and column. */
const cellsOf = (document: PolicyDocument, of: Catalog = catalog) =>
  new Map(
    gridOf(document, of).flatMap(({ action, roles, type }) =>
      roles.flatMap(({ cells, role }) =>
        cells.map((cell, at) => {
          const column = gridColumns(typeBySlug(of, type)!, action)[at]!
          return [[role, action, type, column].join(" "), cell] as const
        })
      )
    )
  )

const documentOf = (rules: ReadonlyArray<RuleInput>) => JSON.parse(file(rules)) as PolicyDocument

const edited = (document: PolicyDocument, edit: GridEdit, of: Catalog = catalog): PolicyDocument => {
  const result = editGrid(document, of, edit)
  if ("problems" in result) throw new Error(JSON.stringify(result.problems))
  return result.document
}

const reversed = (where: unknown): unknown => {
  const { any } = where as { any?: ReadonlyArray<unknown> }
  return any === undefined ? where : { any: any.toReversed() }
}

const wheres = (type: EntityType): ReadonlyArray<unknown> =>
  [
    ownRows(type, catalog, "own"),
    ownRows(type, catalog, "company"),
    ownedRows(type, catalog),
    {},
    { any: [] },
    { status: "vip" },
    { any: [{ status: "vip" }, { name: "x" }] },
    { not: { status: "vip" } }
  ].filter((where) => where !== undefined)

/** Any rule of a readable file: those of the grid, and those that it can't say. */
const ruleArbitrary = fc.constantFrom(...catalog.types).chain((type) =>
  fc
    .record({
      effect: fc.constantFrom("allow", "allow", "allow", "deny"),
      role: fc.constantFrom(...ROLES),
      action: fc.constantFrom(...GRID_ACTIONS),
      columns: fc.oneof(
        fc.constant("*"),
        fc.shuffledSubarray(
          type.columns.map(({ slug }) => slug),
          { minLength: 1 }
        )
      ),
      where: fc.option(fc.tuple(fc.constantFrom(...wheres(type)), fc.boolean()), { nil: undefined, freq: 4 }),
      until: fc.option(fc.constant("2027-01-01"), { nil: undefined, freq: 8 }),
      becomes: fc.option(fc.constant({}), { nil: undefined, freq: 8 })
    })
    .map(({ becomes, until, where, ...rule }): RuleInput => ({
      ...rule,
      type: type.slug,
      ...(rule.action === "delete" ? { columns: "*" } : {}),
      ...(where === undefined ? {} : { where: where[1] ? reversed(where[0]) : where[0] }),
      ...(until === undefined ? {} : { notAfter: until }),
      ...(becomes === undefined || rule.action !== "update" || rule.effect === "deny" ? {} : { becomes })
    }))
)
const documentArbitrary = fc.array(ruleArbitrary, { maxLength: 30 }).map(documentOf)

const editArbitrary = fc.constantFrom(...gridOf(documentOf([]))).chain(({ action, reaches, type }) =>
  fc.record({
    role: fc.constantFrom(...ROLES),
    type: fc.constant(type),
    action: fc.constant(action),
    reach: fc.constantFrom(...reaches.map(({ reach }) => reach)),
    columns: fc.option(fc.shuffledSubarray([...gridColumns(typeBySlug(catalog, type)!, action)], { minLength: 1 }), {
      nil: undefined
    })
  })
)
const asEdit = ({
  columns,
  ...edit
}: { columns: ReadonlyArray<string> | undefined } & Omit<GridEdit, "columns">): GridEdit =>
  columns === undefined ? edit : { ...edit, columns }

/** The rules that the grid can't say. */
const othersOf = (document: PolicyDocument): ReadonlyArray<RuleDocument> => {
  const others = new Set(
    gridOf(document).flatMap(({ roles }) => roles.flatMap(({ cells }) => cells.flatMap((cell) => cell.others)))
  )
  return document.rules.filter((_, index) => others.has(index))
}

describe("a policy file as a grid", () => {
  it("changes nothing when a cell is set to what it is", () => {
    fc.assert(
      fc.property(documentArbitrary, (document) => {
        for (const [key, { reach }] of cellsOf(document)) {
          const [role, action, type, column] = key.split(" ") as [string, GridAction, string, string]
          const same = editGrid(document, catalog, { role, action, type, columns: [column], reach })
          expect(same).toEqual({ document })
        }
      }),
      { numRuns: 100 }
    )
  })

  it("changes exactly the cells that are set, and no rule that it can't say", () => {
    fc.assert(
      fc.property(
        documentArbitrary,
        fc.array(editArbitrary.map(asEdit), { minLength: 1, maxLength: 6 }),
        (made, edits) => {
          let document = made
          for (const edit of edits) {
            const [before, others] = [cellsOf(document), othersOf(document)]
            document = edited(document, edit)
            const type = typeBySlug(catalog, edit.type)!
            const meant = new Set(
              (edit.columns ?? gridColumns(type, edit.action)).map((column) =>
                [edit.role, edit.action, edit.type, column].join(" ")
              )
            )
            const after = cellsOf(document)
            expect([...after.keys()]).toEqual([...before.keys()])
            expect(othersOf(document)).toEqual(others)
            for (const [key, cell] of after) {
              expect([key, cell.reach]).toEqual([key, meant.has(key) ? edit.reach : before.get(key)!.reach])
            }
            expect(new Set(document.rules.map(({ id }) => id)).size).toBe(document.rules.length)
            const { rules, ...rest } = document
            expect(rest).toEqual({ version: made.version, roles: made.roles })
            expect(rules.every(({ columns }) => columns.length > 0)).toBe(true)
          }
        }
      ),
      { numRuns: 150 }
    )
  })

  it("says all of a generated first policy, and none of its rules is left to the file", () => {
    const document = draftPolicy(
      {
        roles: [
          { role: "member", reach: "company" },
          { role: "rep", reach: "own" },
          { role: "reader", reach: "all" }
        ],
        private: ["people.phone"]
      },
      catalog
    )
    expect(othersOf(document)).toEqual([])
    const cells = cellsOf(document)
    const reach = (key: string) => cells.get(key)?.reach
    expect(
      Object.fromEntries(
        ["admin", "member", "rep", "reader"].map((role) => [
          role,
          [
            reach(`${role} read people phone`),
            reach(`${role} read people name`),
            reach(`${role} read companies name`),
            reach(`${role} update people phone`),
            reach(`${role} update people owner`),
            reach(`${role} create people owner`),
            reach(`${role} delete people *`)
          ]
        ])
      )
    ).toEqual({
      admin: ["all", "all", "all", "all", "all", "all", "all"],
      member: ["company", "company", "company", "own", "none", "own", "none"],
      rep: ["own", "own", "own", "own", "none", "own", "none"],
      reader: ["own", "all", "all", "own", "none", "own", "none"]
    })
  })

  it("shows what a role inherits and which other rules concern a cell, in the order of the file", () => {
    const document = documentOf([
      { columns: ["name", "phone"] },
      { columns: ["status"], where: { status: "vip" } },
      { effect: "deny", columns: ["phone"], where: { status: "vip" } },
      { role: "manager", columns: ["status"], where: { any: [{ owner: "$me" }, { id: "$me" }] } },
      { columns: ["email"], notAfter: "2027-01-01" },
      { action: "update", columns: ["email"], becomes: {} }
    ])
    const cells = cellsOf(document)
    expect(cells.get("manager read people phone")).toEqual({ reach: "none", inherited: "all", others: [2] })
    expect(cells.get("manager read people status")).toEqual({ reach: "own", inherited: "none", others: [1] })
    expect(cells.get("member read people phone")).toEqual({ reach: "all", inherited: "none", others: [2] })
    expect(cells.get("member read people email")).toEqual({ reach: "none", inherited: "none", others: [4] })
    expect(cells.get("member update people email")).toEqual({ reach: "none", inherited: "none", others: [5] })
    expect(cells.get("agent read people name")).toEqual({ reach: "none", inherited: "none", others: [] })
  })

  it("extends the rule that is there, takes columns out of wider ones, and adds a rule at the end where none is", () => {
    const rules = (
      reach: GridReach,
      columns: ReadonlyArray<string> | undefined,
      from = documentOf([{ columns: "*" }])
    ) => edited(from, asEdit({ role: "member", action: "read", type: "notes", reach, columns })).rules.slice(1)
    const added = {
      id: "member-all-notes",
      effect: "allow",
      role: "member",
      action: "read",
      type: "notes",
      columns: ["text"]
    }
    expect(rules("all", ["text"])).toEqual([added])
    expect(rules("all", undefined)).toEqual([{ ...added, columns: "*" }])
    const wide = documentOf([{ columns: "*" }, { type: "notes", columns: "*" }])
    expect(rules("all", ["name"], wide)).toEqual(wide.rules.slice(1))
    expect(rules("none", ["name"], wide)).toMatchObject([{ id: "r1", columns: ["status", "text"] }])
    expect(rules("none", undefined, wide)).toEqual([])
    const taken = documentOf([{ columns: "*" }, { id: "member-all-notes", type: "companies" }])
    expect(rules("all", ["text"], taken).at(-1)).toMatchObject({ id: "member-all-notes-2" })
  })

  it("offers own rows only where a row can name its person, and changes only where the mapping allows them", () => {
    const reaches = new Map(
      gridOf(documentOf([])).map(({ action, reaches: known, type }) => [
        `${action} ${type}`,
        known.map(({ reach }) => reach)
      ])
    )
    expect(reaches.get("read people")).toEqual(["none", "own", "company", "all"])
    expect(reaches.get("read meetings")).toEqual(["none", "own", "all"])
    expect(reaches.get("update meetings")).toEqual(["none", "all"])
    expect(reaches.get("read notes")).toEqual(["none", "all"])
    const mapping = { id: { column: "id", type: "bigint" as const }, where: [], unique: true }
    const actions = (write?: object) => {
      const type = { ...notes, mapping: { ...mapping, ...(write === undefined ? {} : { write }) } } as EntityType
      return gridOf(documentOf([]), { ...base, types: [people, type] })
        .filter((table) => table.type === "notes")
        .map(({ action }) => action)
    }
    expect(actions()).toEqual(["read"])
    expect(actions({ columns: ["text-key"] })).toEqual(["read", "update"])
    expect(actions({ columns: [], create: { needed: [], sequences: [] }, delete: true })).toEqual([...GRID_ACTIONS])
  })

  it("refuses an edit of what isn't there, and says what is", () => {
    const edit: GridEdit = { role: "member", action: "read", type: "notes", columns: ["text"], reach: "all" }
    const problems = (change: Partial<GridEdit>) => {
      const result = editGrid(documentOf([]), catalog, { ...edit, ...change })
      return "problems" in result ? result.problems.map(({ message }) => message) : []
    }
    expect(problems({})).toEqual([])
    expect(problems({ role: "membr" })).toEqual(['There is no role "membr". Known: member, manager, agent.'])
    expect(problems({ role: "__proto__" })).toEqual(['There is no role "__proto__". Known: member, manager, agent.'])
    expect(problems({ type: "note" })[0]).toContain('There is no type "note".')
    expect(problems({ columns: ["texts"] })[0]).toContain('There is no column of notes "texts".')
    expect(problems({ reach: "own" })).toEqual(["Rows of notes name no person who could own them."])
  })
})
