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

describe("lintPolicy about changes", () => {
  const see = { id: "see", columns: ["name", "status", "owner", "phone"] }
  const update = { id: "update", action: "update", columns: ["phone"], where: { owner: "$me" } }

  it("reports nothing for changes of what the role sees", () => {
    expect(
      warnings([
        { id: "all" },
        update,
        {
          id: "hand",
          action: "update",
          columns: ["owner"],
          where: { owner: "$me" },
          becomes: { owner: { status: "a" } }
        },
        { id: "add", action: "create", where: { owner: "$me" } },
        { id: "drop", action: "delete", where: { owner: "$me" } }
      ])
    ).toEqual([])
  })

  it("reports columns that the role may change and can't see", () => {
    expect(warnings([see, { ...update, columns: ["phone", "email"] }])).toEqual([
      "rules[1] (update): No effect on email of people: member can't see it, and only what is seen can be changed. Write: max policy grant member people.email"
    ])
    expect(warnings([see, { id: "drop", action: "delete" }]).join()).toContain(
      "No effect: member can't see company, email, level, secret, joined, tags or score of people, and only a row that is seen whole can be deleted."
    )
    expect(
      warnings([
        { id: "all", role: "manager" },
        { ...update, role: "manager" }
      ])
    ).toEqual([])
  })

  it("reports conditions on what the role can't see, also through a relation", () => {
    expect(warnings([see, { ...update, where: { secret: true } }])).toEqual([
      "rules[1] (update): This rule looks at secret of people, which member can't see: each change that it allows or refuses tells something about it."
    ])
    expect(
      warnings([{ id: "all" }, { ...update, where: { owner: "$me" }, becomes: { company: { name: "Atlas" } } }])
    ).toEqual([
      "rules[1] (update): This rule looks at name of companies, which member can't see: each change that it allows or refuses tells something about it."
    ])
  })

  it("reports columns that the role may set to any value and that its own permissions depend on", () => {
    const rules = [
      { id: "see", where: { any: [{ status: "open" }, { owner: "$me" }] } },
      { ...update, columns: ["status"], where: { level: 1 } }
    ]
    expect(warnings(rules)).toEqual([
      `rules[1] (update): member may set status of people to any value, and the rule see looks at it: with the value changes what member may do. Write: "becomes": { "status": … }`
    ])
    expect(warnings([rules[0]!, { ...rules[1]!, becomes: { owner: "$me", status: ["open", "lost"] } }])).toEqual([])
    // The row stays the person's own, which shows it whatever its status.
    expect(warnings([rules[0]!, { ...rules[1]!, where: { level: 1, owner: "$me" } }])).toEqual([])
  })

  it("compares conditions of the row afterwards when it looks for rules without effect", () => {
    const open = { id: "open", action: "update", columns: ["phone"], where: { owner: "$me" }, becomes: {} }
    expect(warnings([{ id: "all" }, update, open]).join()).toContain(
      "rules[1] (update): No effect: the rule open of member already allows all of this"
    )
    expect(warnings([{ id: "all" }, update, { ...open, becomes: { owner: null } }])).toEqual([])
  })

  it("reports a condition that no row can become, and attributes that no member has", () => {
    const never = { ...update, becomes: { all: [{ status: "a" }, { status: "b" }] } }
    expect(warnings([{ id: "all" }, never])[0]).toMatch(/^rules\[1\] \(update\)\.becomes: No row can match/)
    const assignments = { roles: new Set(["member", "manager", "agent"]), attributes: new Set<string>() }
    expect(
      warnings([{ id: "all" }, { ...update, becomes: { owner: "$me", status: "$attr.x" } }], {}, assignments).join()
    ).toContain("No member has the attribute x")
  })

  it("keeps rules about different actions apart", () => {
    const run = (id: string, name: string, effect = "allow") => ({ id, name, effect, action: "invoke" })
    expect(warnings([run("a", "remind"), run("b", "call")])).toEqual([])
    expect(warnings([run("a", "remind"), run("b", "call", "deny")]).join()).toContain("has nothing to deny")
  })
})
