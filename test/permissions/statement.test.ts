/** Invariants of every statement's text, checked for many policies. */
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { compileFind } from "../../src/database/sql/find.ts"
import { columnBySlug, DISPLAY_NAME, STATUS, targetOf, typeBySlug } from "../../src/domain/EntityType.ts"
import { encodeId } from "../../src/domain/ids.ts"
import { ALWAYS, NEVER } from "../../src/domain/Predicate.ts"
import type { ResolvedQuery, SelectedColumn } from "../../src/database/sql/ResolvedQuery.ts"
import { plan } from "../../src/permissions/PermissionEngine.ts"
import { problemText } from "../../src/permissions/Policy.ts"
import { readPolicy } from "../../src/permissions/readPolicy.ts"
import { catalog } from "../conformance/catalog.ts"
import { generousPolicy, NOW } from "../conformance/generators.ts"
import { type PolicyJson } from "../conformance/oracle.ts"
import { floorOf, partOf } from "../conformance/setting.ts"
import { FIRST_ID, TYPE_NAMES, type TypeName } from "../conformance/world.ts"

/** Marks every literal of a policy, to detect literals in the text of a statement. */
const MARK = "'; DROP TABLE x; -- MARK"
const marked = (json: unknown): unknown =>
  Array.isArray(json)
    ? json.map(marked)
    : typeof json === "object" && json !== null
      ? Object.fromEntries(
          Object.entries(json).map(([name, inner]) => [
            name,
            ["name", "status", "note"].includes(name) && typeof inner === "string" ? MARK : marked(inner)
          ])
        )
      : json

const statementFor = (
  file: PolicyJson,
  typeName: TypeName,
  hops: "subplan" | "array",
  more: Partial<ResolvedQuery> = {}
) => {
  const reading = readPolicy(
    JSON.stringify({
      ...file,
      rules: file.rules.map((rule) => ({ ...rule, ...(rule.where === undefined ? {} : { where: marked(rule.where) }) }))
    }),
    catalog
  )
  if ("problems" in reading) throw new Error(reading.problems.map(problemText).join("\n"))
  const principal = {
    organizationId: 7n,
    anchorEntityId: encodeId(FIRST_ID),
    roles: ["manager"],
    attributes: { word: MARK },
    epoch: 1n
  }
  const planOf = (slug: string) => {
    const made = plan(reading.policy, catalog, principal, typeBySlug(catalog, slug)!, "read", NOW)
    return made._tag === "Granted" ? made : undefined
  }
  const granted = planOf(typeName)
  if (granted === undefined) return undefined
  const type = typeBySlug(catalog, typeName)!
  const select = type.columns.flatMap((column): ReadonlyArray<SelectedColumn> => {
    const target = targetOf(catalog, column)
    const other = target && planOf(target.slug)
    const mask = granted.cells.get(column.key)
    if (mask === undefined || (target !== undefined && other === undefined)) return []
    return [
      {
        column,
        mask,
        ...(other === undefined
          ? {}
          : { target: { type: target!, where: other.where, name: other.cells.get(DISPLAY_NAME) ?? NEVER } })
      }
    ]
  })
  return compileFind(
    {
      type,
      plan: granted.where,
      filters: [],
      limit: 5,
      select,
      hops,
      pool: "search",
      label: "test",
      name: granted.cells.get(DISPLAY_NAME) ?? NEVER,
      status: granted.cells.get(STATUS) ?? NEVER,
      ...more
    },
    catalog
  )
}

const statements = fc.record({
  file: generousPolicy,
  type: fc.constantFrom(...TYPE_NAMES),
  hops: fc.constantFrom("subplan" as const, "array" as const),
  cursor: fc.option(fc.constant("31"))
})

describe("every statement", () => {
  it("restricts each table that it reads to the organization, by its alias", () => {
    let reads = 0
    fc.assert(
      fc.property(statements, ({ cursor, file, hops, type }) => {
        const statement = statementFor(file, type, hops, cursor === null ? {} : { cursor })
        const asked = new Map<string, number>()
        for (const [, , alias] of statement?.text.matchAll(/(?:FROM|JOIN) ("data"\."\w+"|max\.\w+) (\w+)/g) ?? []) {
          reads += 1
          asked.set(alias!, (asked.get(alias!) ?? 0) + 1)
        }
        for (const [alias, times] of asked) {
          const said = statement!.text.split(` ${alias}.organization_id = $1::bigint`).length - 1
          expect(said, `${alias} is read ${times} times in ${statement!.text}`).toBe(times)
        }
        // Fails if a table is read in a form that the expression above doesn't match.
        expect(statement?.text.match(/"data"\./g)?.length ?? 0).toBe(
          [...(statement?.text.matchAll(/(?:FROM|JOIN) "data"\./g) ?? [])].length
        )
      }),
      { numRuns: partOf(400), seed: 5 }
    )
    expect(reads).toBeGreaterThanOrEqual(floorOf(2000))
  })

  it("binds every value of policies and attributes as a parameter", () => {
    let bound = 0
    fc.assert(
      fc.property(statements, ({ file, hops, type }) => {
        const statement = statementFor(file, type, hops)
        if (statement === undefined) return
        expect(statement.text).not.toContain("DROP TABLE")
        expect(statement.text.replaceAll(/'YYYY-MM-DD( HH24:MI:SS)?'/g, "")).not.toContain("'")
        if (statement.parameters.flat().includes(MARK)) bound += 1
      }),
      { numRuns: partOf(400), seed: 6 }
    )
    expect(bound).toBeGreaterThanOrEqual(floorOf(50))
  })

  it("binds exactly the parameters in its text, for both shapes of hops and with a cursor", () => {
    fc.assert(
      fc.property(statements, ({ cursor, file, hops, type }) => {
        const statement = statementFor(file, type, hops, cursor === null ? {} : { cursor })
        if (statement === undefined) return
        const placeholders = new Set([...statement.text.matchAll(/\$(\d+)::/g)].map(([, number]) => Number(number)))
        expect([...placeholders].sort((a, b) => a - b)).toEqual(statement.parameters.map((_, index) => index + 1))
      }),
      { numRuns: partOf(200), seed: 7 }
    )
  })

  it("is refused when it shows a reference without the target's plan", () => {
    const type = typeBySlug(catalog, "people")!
    const query: ResolvedQuery = {
      type,
      plan: ALWAYS,
      filters: [],
      limit: 5,
      hops: "subplan",
      pool: "search",
      label: "test",
      name: NEVER,
      status: NEVER,
      select: [{ column: columnBySlug(type, "company")!, mask: ALWAYS }]
    }
    expect(() => compileFind(query, catalog)).toThrow(/./)
  })

  it("is refused when it names an unknown column", () => {
    const type = typeBySlug(catalog, "people")!
    const query: ResolvedQuery = {
      type,
      plan: { _tag: "IsNull", column: "salary", negated: false },
      filters: [],
      limit: 5,
      hops: "subplan",
      pool: "search",
      label: "test",
      name: NEVER,
      status: NEVER,
      select: []
    }
    expect(() => compileFind(query, catalog)).toThrow("a column that the type doesn't have")
  })
})
