import { describe, expect, it } from "vitest"
import { lintPolicy, type Assignments } from "../../src/permissions/lint.ts"
import { problemText } from "../../src/permissions/Policy.ts"
import { catalog, NOW, policyOf, type RuleInput } from "./support.ts"

const found = (rules: ReadonlyArray<RuleInput>, more: object = {}, held?: Assignments) =>
  lintPolicy(policyOf(rules, more), catalog, NOW, held).map(problemText)

describe("a policy that can be published is told what is odd about it", () => {
  it("nothing, when nothing is", () => {
    expect(
      found([
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
    ["two values at once", { all: [{ status: "a" }, { status: "b" }] }],
    ["two values at once, deeper", { all: [{ status: "a" }, { all: [{ level: 3 }, { status: ["b", "c"] }] }] }],
    [
      "phones that are written differently and aren't the same",
      { all: [{ phone: "+14155550100" }, { phone: "(415) 555-0101" }] }
    ],
    ["empty and not", { all: [{ status: null }, { status: "a" }] }],
    ["empty and led anywhere", { all: [{ company: null }, { company: { name: "Atlas" } }] }],
    ["above and below", { level: { gt: 10, lt: 9 } }],
    ["days in the wrong order", { joined: { gte: "2026-02-01", lt: "2026-01-01" } }],
    ["one of nothing", { status: [] }],
    ["any of nothing", { any: [] }],
    ["behind a relation", { owner: { any: [] } }],
    ["every way", { any: [{ any: [] }, { all: [{ level: 1 }, { level: 2 }] }] }],
    ["the opposite of always", { not: { all: [] } }]
  ])("a rule that no row can match: %s", (_, where) => {
    expect(found([{ where }])).toEqual([
      expect.stringMatching(/^rules\[0\] \(r0\)\.where: No row can match this: .*Write: /)
    ])
  })

  it("phones that are one number are no contradiction", () => {
    expect(found([{ where: { all: [{ phone: "+14155550100" }, { phone: "(415) 555-0100" }] } }])).toEqual([])
  })

  it("a rule that stands twice", () => {
    expect(
      found([
        { id: "a", columns: ["name", "phone"] },
        { id: "b", columns: ["phone", "name"] }
      ])
    ).toEqual(["rules[1] (b): This says the same as rules[0] (a). Write: nothing: take it out"])
  })

  it("rules that others make pointless", () => {
    expect(found([{ id: "all" }, { id: "some", columns: ["name"], where: { status: "a" } }])).toEqual([
      "rules[1] (some): Without effect: all, which member has, allows all of this already (name of people). Write: nothing: take it out"
    ])
    expect(found([{ id: "some", role: "manager", columns: ["name"] }, { id: "all" }])[0]).toContain(
      "Without effect: all, which member has"
    )
    expect(found([{ id: "no", effect: "deny" }, { id: "yes" }])).toEqual([
      expect.stringContaining("rules[1] (yes): Without effect: no, which member has, denies all of what this allows")
    ])
    expect(
      found([
        {},
        { effect: "deny", where: { status: "a" } },
        { effect: "deny", columns: ["phone"], where: { all: [{ status: "a" }, { level: 3 }] } }
      ])
    ).toEqual([expect.stringContaining("denies all of this already (phone of people)")])
    expect(found([{ effect: "deny", columns: ["phone"] }])).toEqual([
      `rules[0] (r0): Nothing allows member to read people, so this has nothing to deny. Write: "effect": "allow", if that was meant; else take it out`
    ])
    // A deny for those above who inherit the allow has something to deny, and a role that only inherits has, too.
    expect(found([{}, { effect: "deny", role: "manager", where: { status: "a" } }])).toEqual([])
    expect(found([{ role: "manager" }, { effect: "deny", where: { status: "a" } }])).toEqual([])
  })

  it("rules that are over, and rules that end before they begin", () => {
    expect(found([{ notAfter: "2026-01-01" }])).toEqual([
      expect.stringContaining("This rule ended on 2026-01-01 (UTC).")
    ])
    expect(found([{ notBefore: "2027-02-01", notAfter: "2027-01-01" }])).toEqual([
      expect.stringContaining("ends before it begins")
    ])
  })

  it("roles that nobody has, and attributes that nobody has", () => {
    const held = (roles: ReadonlyArray<string>, attributes: ReadonlyArray<string> = []): Assignments => ({
      roles: new Set(roles),
      attributes: new Set(attributes)
    })
    const rules = [{}, { role: "agent" }, { where: { status: "$attr.region" }, type: "companies" }]
    expect(found(rules, {}, held(["manager"], ["region"]))).toEqual([
      "roles.agent: No member has the role agent yet, so its rule does nothing for anybody. Write: max member add EMAIL --role agent"
    ])
    expect(found(rules, {}, held(["member", "agent"]))).toEqual([
      expect.stringContaining("No member has the attribute region, and what is missing denies.")
    ])
  })

  it("a not inside a relation to many, which means somebody and not nobody", () => {
    expect(found([{ type: "meetings", where: { attendees: { not: { status: "vip" } } } }])).toEqual([
      `rules[0] (r0).where.attendees: This is true as soon as one of attendees is not so, whatever the others are. If none of them may be so, the "not" goes outside. Write: "not": { "attendees": { … } }`
    ])
    expect(found([{ type: "meetings", where: { not: { attendees: { status: "vip" } } } }])).toEqual([])
    expect(found([{ where: { owner: { not: { status: "vip" } } } }])).toEqual([])
  })
})
