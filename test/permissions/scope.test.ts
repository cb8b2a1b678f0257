import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import type { ScopeGrant } from "../../src/domain/Principal.ts"
import { checkRow, type CheckedRow } from "../../src/permissions/checkRow.ts"
import { readScope } from "../../src/permissions/ToolScope.ts"
import { catalog, granted, lena, meaningOf, NOW, people, planOf, policyOf } from "./support.ts"

const scopeOf = (...parts: ReadonlyArray<string>): ReadonlyArray<ScopeGrant> => {
  const reading = readScope(parts, catalog)
  if ("problems" in reading) throw new Error(reading.problems.join("\n"))
  return reading.scope
}

describe("a tool scope", () => {
  it("keeps access to the types and columns that it names and denies the rest", () => {
    const rules = [{}, { type: "companies" }]
    expect(planOf(rules, { scope: scopeOf("people") })._tag).toBe("Granted")
    expect(planOf(rules, { scope: scopeOf("people") }, { as: "companies" })).toMatchObject({ reason: "out-of-scope" })
    expect(planOf(rules, { scope: [] })).toMatchObject({ _tag: "Denied", reason: "out-of-scope" })
    expect(planOf(rules, { scope: scopeOf("people:update") })).toMatchObject({ reason: "out-of-scope" })
    expect([...granted(planOf(rules, { scope: scopeOf("people.name", "people.phone") })).cells.keys()]).toEqual([
      "name",
      "phone-key"
    ])
  })

  it("grants nothing: a missing rule still denies, and masks stay", () => {
    expect(planOf([], { scope: scopeOf("people") })).toMatchObject({ reason: "no-rule" })
    const rules = [{ columns: ["name"] }, { columns: ["phone"], where: { status: "vip" } }]
    expect(meaningOf(planOf(rules, { scope: scopeOf("people") }))).toEqual(meaningOf(planOf(rules)))
    expect(granted(planOf(rules, { scope: scopeOf("people.email") })).cells.size).toBe(0)
  })

  it("narrows the principal and its actor", () => {
    const actor = { id: "a", roles: ["agent"], attributes: {} }
    const rules = [{}, { role: "agent", columns: ["name", "phone"] }]
    expect([...granted(planOf(rules, { actor, scope: scopeOf("people.phone", "people.email") })).cells.keys()]).toEqual(
      ["phone-key"]
    )
  })

  it("has the same effect on the plan as on the oracle", () => {
    const columns = ["name", "phone-key", "email-key"]
    const grantOf = fc.record({
      type: fc.constantFrom("people", "companies-type", "__proto__"),
      action: fc.constantFrom("read", "update"),
      columns: fc.oneof(fc.constant("*" as const), fc.subarray(columns))
    })
    const rules = [{ columns: ["name", "phone"] }, { columns: ["email"], where: { status: "vip" } }]
    const policy = policyOf(rules)
    fc.assert(
      fc.property(
        fc.array(grantOf, { maxLength: 4 }),
        fc.constantFrom("vip", "lead"),
        fc.boolean(),
        (scope, status, acted) => {
          const principal = {
            ...lena,
            scope,
            ...(acted ? { actor: { id: "a", roles: ["member"], attributes: {} } } : {})
          }
          const row: CheckedRow = { values: { status, name: "x" }, related: () => [] }
          const verdict = checkRow(policy, catalog, principal, people, "read", row, NOW)
          const made = planOf(policy, principal)
          const cells =
            made._tag === "Denied"
              ? []
              : [...made.cells].filter(([, mask]) => mask._tag === "Always" || status === "vip").map(([key]) => key)
          expect({ visible: made._tag === "Granted", cells }).toEqual({
            visible: verdict.visible,
            cells: [...verdict.cells]
          })
        }
      ),
      { numRuns: 500, seed: 3 }
    )
  })

  it("is refused with suggestions when a part is invalid", () => {
    expect(readScope(["peple", "people.fone", "people:reed", "", "people.name.x"], catalog)).toEqual({
      problems: [
        `There is no type "peple". Did you mean people?`,
        `There is no column of people "fone". Did you mean phone?`,
        `There is no action "reed". Did you mean read?`,
        `There is no type "". Known: people, companies, meetings.`,
        expect.stringContaining("There is no type")
      ]
    })
    expect(readScope(["x.people.name"], catalog)).toMatchObject({ problems: [expect.stringContaining("no type")] })
  })
  it.each<readonly [string, ReadonlyArray<string>, string]>([
    [
      "one part of 1 MB",
      ["a.".repeat(500_000)],
      `Each part of a tool scope has at most 200 characters: "${"a.".repeat(19)}a…".`
    ],
    [
      "100,000 parts",
      Array.from({ length: 100_000 }, () => "peple"),
      "A tool scope has at most 1000 parts, not 100000."
    ]
  ])("is refused with the limit that it exceeds, for %s", (_, parts, problem) => {
    expect(readScope(parts, catalog)).toEqual({ problems: [problem] })
  })

  it("reports the first twenty of its problems", () => {
    const reading = readScope(
      Array.from({ length: 1000 }, (__, at) => `peple${at}`),
      catalog
    )
    expect("problems" in reading && reading.problems).toHaveLength(20)
  })
})
