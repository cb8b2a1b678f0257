import { describe, expect, it } from "vitest"
import { lintPolicy, type Assignments } from "../../src/permissions/lint.ts"
import { problemText } from "../../src/permissions/Policy.ts"
import { catalog, NOW, policyOf, type RuleInput } from "./support.ts"

const warnings = (rules: ReadonlyArray<RuleInput>, more: object = {}, assignments?: Assignments) =>
  lintPolicy(policyOf(rules, more), catalog, NOW, assignments).map(problemText)

describe("lintPolicy", () => {
  it("reports nothing for a policy without anomalies", () => {
    expect(
      warnings([
        { where: { owner: "$me" } },
        { columns: ["name"] },
        { columns: ["name", "phone"], where: { status: "a" } },
        { effect: "deny", where: { status: "vip" } },
        { effect: "deny", columns: ["phone"], where: { level: { gt: 3, lte: 5 } } },
        { role: "agent", columns: ["name"], notBefore: "2026-01-01", notAfter: "2027-01-01" },
        { where: { all: [{ status: ["a", "b"] }, { status: ["b", "c"] }, { joined: { gte: "2026-01-01" } }] } },
        { where: { not: { all: [{ status: "a" }, { status: "b" }] } }, columns: ["email"] }
      ])
    ).toEqual([])
  })

  it.each<readonly [string, RuleInput["where"]]>([
    ["two values", { all: [{ status: "a" }, { status: "b" }] }],
    ["two values in nested conditions", { all: [{ status: "a" }, { all: [{ level: 3 }, { status: ["b", "c"] }] }] }],
    ["two different phone numbers", { all: [{ phone: "+14155550100" }, { phone: "(415) 555-0101" }] }],
    ["empty and not empty", { all: [{ status: null }, { status: "a" }] }],
    ["an empty relation that leads to a row", { all: [{ company: null }, { company: { name: "Atlas" } }] }],
    ["above and below", { level: { gt: 10, lt: 9 } }],
    ["days in the wrong order", { joined: { gte: "2026-02-01", lt: "2026-01-01" } }],
    ["an empty list", { status: [] }],
    ["any of no conditions", { any: [] }],
    ["behind a relation", { owner: { any: [] } }],
    ["every alternative", { any: [{ any: [] }, { all: [{ level: 1 }, { level: 2 }] }] }],
    ["a negated tautology", { not: { all: [] } }]
  ])("reports a rule that no row can match: %s", (_, where) => {
    expect(warnings([{ where }])).toEqual([
      expect.stringMatching(/^rules\[0\] \(r0\)\.where: No row can match this condition: .*Write: /)
    ])
  })

  it("accepts two spellings of one phone number", () => {
    expect(warnings([{ where: { all: [{ phone: "+14155550100" }, { phone: "(415) 555-0100" }] } }])).toEqual([])
  })

  it("reports a duplicate rule", () => {
    expect(
      warnings([
        { id: "a", columns: ["name", "phone"] },
        { id: "b", columns: ["phone", "name"] }
      ])
    ).toEqual(["rules[1] (b): This rule duplicates rules[0] (a). Remove it."])
  })

  it("reports rules that other rules shadow", () => {
    expect(warnings([{ id: "all" }, { id: "some", columns: ["name"], where: { status: "a" } }])).toEqual([
      "rules[1] (some): No effect: the rule all of member already allows all of this (name of people). Remove it."
    ])
    expect(warnings([{ id: "some", role: "manager", columns: ["name"] }, { id: "all" }])[0]).toContain(
      "No effect: the rule all of member"
    )
    expect(warnings([{ id: "no", effect: "deny" }, { id: "yes" }])).toEqual([
      expect.stringContaining(
        "rules[1] (yes): No effect: the rule no of member denies everything that this rule allows"
      )
    ])
    expect(
      warnings([
        {},
        { effect: "deny", where: { status: "a" } },
        { effect: "deny", columns: ["phone"], where: { all: [{ status: "a" }, { level: 3 }] } }
      ])
    ).toEqual([expect.stringContaining("already denies all of this (phone of people)")])
    expect(warnings([{ effect: "deny", columns: ["phone"] }])).toEqual([
      `rules[0] (r0): Nothing allows member to read people, so this rule has nothing to deny. Remove it, or make it an allow.`
    ])
    // A deny has an effect when its role inherits the allow, or when an inheriting role has one.
    expect(warnings([{}, { effect: "deny", role: "manager", where: { status: "a" } }])).toEqual([])
    expect(warnings([{ role: "manager" }, { effect: "deny", where: { status: "a" } }])).toEqual([])
  })

  it("reports expired rules and rules that end before they begin", () => {
    expect(warnings([{ notAfter: "2026-01-01" }])).toEqual([
      expect.stringContaining("This rule ended on 2026-01-01 (UTC). Remove it, or extend it.")
    ])
    expect(warnings([{ notBefore: "2027-02-01", notAfter: "2027-01-01" }])).toEqual([
      expect.stringContaining("ends before it begins")
    ])
  })

  it("reports roles and attributes that no member has", () => {
    const assigned = (roles: ReadonlyArray<string>, attributes: ReadonlyArray<string> = []): Assignments => ({
      roles: new Set(roles),
      attributes: new Set(attributes)
    })
    const rules = [{}, { role: "agent" }, { where: { status: "$attr.region" }, type: "companies" }]
    expect(warnings(rules, {}, assigned(["manager"], ["region"]))).toEqual([
      "roles.agent: No member has the role agent yet, so its rule has no effect. Write: max member add EMAIL --role agent"
    ])
    expect(warnings(rules, {}, assigned(["member", "agent"]))).toEqual([
      expect.stringContaining("No member has the attribute region, and a missing attribute denies.")
    ])
  })

  it("reports a negation inside a many-relation, which means not all instead of none", () => {
    expect(warnings([{ type: "meetings", where: { attendees: { not: { status: "vip" } } } }])).toEqual([
      `rules[0] (r0).where.attendees: This condition is true if at least one of attendees doesn't match. To require that none matches, move "not" outside. Write: "not": { "attendees": { … } }`
    ])
    expect(warnings([{ type: "meetings", where: { not: { attendees: { status: "vip" } } } }])).toEqual([])
    expect(warnings([{ where: { owner: { not: { status: "vip" } } } }])).toEqual([])
  })
})
