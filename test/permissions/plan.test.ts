import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import type { Catalog } from "../../src/domain/EntityType.ts"
import { all, ALWAYS, any, Bound, none, type Operand, type Predicate } from "../../src/domain/Predicate.ts"
import { plan } from "../../src/permissions/PermissionEngine.ts"
import { MAX_PLAN_PARAMETERS } from "../../src/permissions/permissionPlan.ts"
import { catalog, granted, lena, meaningOf, NOW, people, planOf, policyOf, type RuleInput } from "./support.ts"

const ALL = { _tag: "Always" }
const status = (op: "eq" | "ne", value: string) => Bound.Compare({ column: "status", side: "value", op, value })

/** The catalog after people gained a column. */
const grown: Catalog = {
  ...catalog,
  types: catalog.types.map((type) =>
    type === people
      ? {
          ...people,
          version: 2,
          columns: [...people.columns, { ...people.columns[4]!, key: "salary-key", slug: "salary" }]
        }
      : type
  )
}

describe("allow and deny", () => {
  it("nothing is visible without an allow", () => {
    expect(planOf([])).toMatchObject({ _tag: "Denied", reason: "no-rule" })
    expect(planOf([{}], {}, { as: "companies" })).toMatchObject({ _tag: "Denied", reason: "no-rule" })
    expect(planOf([{ action: "update" }])).toMatchObject({ _tag: "Denied", reason: "no-rule" })
    expect(planOf([{ role: "manager" }])).toMatchObject({ _tag: "Denied", reason: "no-rule" })
  })

  it("a policy of denials alone denies everything (Cerbos #917, CASL #170)", () => {
    expect(planOf([{ effect: "deny", where: { status: "vip" } }])).toMatchObject({ _tag: "Denied", reason: "no-rule" })
    expect(planOf([{ effect: "deny", columns: ["phone"] }])).toMatchObject({ _tag: "Denied", reason: "no-rule" })
  })

  it("a deny overrides an allow in any order", () => {
    const allow: RuleInput = { id: "a" }
    const deny: RuleInput = { id: "d", effect: "deny", where: { status: "vip" } }
    expect(granted(planOf([allow, deny])).where).toEqual(status("ne", "vip"))
    expect(granted(planOf([deny, allow])).where).toEqual(status("ne", "vip"))
    expect(planOf([{ effect: "deny" }, allow, { id: "b" }])).toMatchObject({
      _tag: "Denied",
      reason: "nothing-visible"
    })
  })

  it("the order and repetition of rules don't change a plan", () => {
    const pool: ReadonlyArray<RuleInput> = [
      { where: { status: "a" } },
      { where: { owner: "$me" }, columns: ["name", "phone"] },
      { where: { company: { name: "Atlas" } }, role: "manager" },
      { effect: "deny", where: { status: "vip" } },
      { effect: "deny", columns: ["phone"], where: { level: { gt: 3 } } },
      { effect: "deny", columns: ["name"], where: { not: { owner: { company: { name: "Atlas" } } } } },
      { columns: ["email"], notAfter: "2026-07-01" },
      { where: { any: [] } },
      { where: { all: [] }, columns: ["status"] }
    ]
    fc.assert(
      fc.property(
        fc.subarray([...pool], { minLength: 1 }),
        fc.array(fc.nat(100), { minLength: 20, maxLength: 20 }),
        (rules, picks) => {
          const repeated = [...rules, ...picks.slice(0, picks[0]! % 5).map((pick) => rules[pick % rules.length]!)]
          const shuffled = repeated
            .map((rule, index) => ({ rule, at: (picks[index % 20]! * 31) % 17 }))
            .sort((a, b) => a.at - b.at)
            .map(({ rule }) => rule)
          expect(meaningOf(planOf(shuffled, { roles: ["manager"] }))).toEqual(
            meaningOf(planOf(rules, { roles: ["manager"] }))
          )
        }
      ),
      { numRuns: 300, seed: 1 }
    )
  })

  it("every deny applies on its own", () => {
    const denials = [
      { effect: "deny", where: { status: "vip" } },
      { effect: "deny", where: { status: "lead" } }
    ]
    expect(granted(planOf([{}, ...denials])).where).toEqual(all(status("ne", "vip"), status("ne", "lead")))
    const cells = denials.map((rule) => ({ ...rule, columns: ["phone"] }))
    expect(granted(planOf([{}, ...cells])).cells.get("phone-key")).toEqual(
      all(status("ne", "vip"), status("ne", "lead"))
    )
  })

  it("a deny with columns hides cells and no rows", () => {
    const made = granted(planOf([{}, { effect: "deny", columns: ["phone"], where: { status: "vip" } }]))
    expect(made.where).toEqual(ALL)
    expect(made.cells.get("phone-key")).toEqual(status("ne", "vip"))
    expect(made.cells.get("email-key")).toEqual(ALL)
    expect(granted(planOf([{}, { effect: "deny", columns: ["phone"] }])).cells.has("phone-key")).toBe(false)
  })

  it("a column is visible on the rows of the rules that show it, not on the union of all rules", () => {
    const made = granted(
      planOf([
        { columns: ["name"], where: { status: "a" } },
        { columns: ["name", "phone"], where: { status: "b" } }
      ])
    )
    expect(made.where).toEqual(any(status("eq", "a"), status("eq", "b")))
    expect(made.cells.get("name")).toEqual(ALL)
    expect(made.cells.get("phone-key")).toEqual(status("eq", "b"))
    expect(made.cells.has("email-key")).toBe(false)
  })

  it("rules with unusual or equal ids stay distinct", () => {
    for (const between of ["", ",", " ", "|"]) {
      const rule = (id: string, columns: ReadonlyArray<string>) => ({ id, columns, where: { status: id } })
      const made = granted(
        planOf([
          rule("a", ["name"]),
          rule(`b${between}c`, ["name"]),
          rule(`a${between}b`, ["phone"]),
          rule("c", ["phone"])
        ])
      )
      expect(made.cells.get("name")).toEqual(any(status("eq", "a"), status("eq", `b${between}c`)))
      expect(made.cells.get("phone-key")).toEqual(any(status("eq", `a${between}b`), status("eq", "c")))
    }
  })

  it("an allow with a star covers the columns at publication, so a later column is hidden (WaveHouse #223)", () => {
    const policy = policyOf([{}])
    expect(granted(planOf(policy)).cells.size).toBe(people.columns.length)
    const later = granted(planOf(policy, {}, { of: grown }))
    expect(later.cells.has("salary-key")).toBe(false)
    expect(later.cells.size).toBe(people.columns.length)
  })

  it("a deny with a star hides the row with its later columns (CVE-2022-21646)", () => {
    const policy = policyOf([{ effect: "deny", where: { status: "vip" } }, {}])
    const salary = { ...policy.rules[1]!, id: "salary", columns: ["salary-key"] }
    const made = granted(planOf({ ...policy, rules: [...policy.rules, salary] }, {}, { of: grown }))
    expect(made.where).toEqual(status("ne", "vip"))
    expect(made.cells.get("salary-key")).toEqual(ALL)
    const everywhere = policyOf([{ effect: "deny" }, {}])
    expect(planOf({ ...everywhere, rules: [...everywhere.rules, salary] }, {}, { of: grown })).toMatchObject({
      _tag: "Denied"
    })
  })

  it("a rule about a removed column denies", () => {
    const shrunk: Catalog = {
      ...catalog,
      types: catalog.types.map((type) =>
        type === people ? { ...type, columns: type.columns.filter(({ slug }) => slug !== "level") } : type
      )
    }
    expect(planOf(policyOf([{}, { effect: "deny", where: { level: 5 } }]), {}, { of: shrunk })).toMatchObject({
      _tag: "Denied"
    })
    expect(planOf(policyOf([{}, { effect: "deny", where: { not: { level: 5 } } }]), {}, { of: shrunk })).toMatchObject({
      _tag: "Denied"
    })
    expect(
      planOf(policyOf([{ where: { any: [{ level: 5 }, { not: { level: null } }] } }]), {}, { of: shrunk })
    ).toMatchObject({ _tag: "Denied" })
  })

  it("a plan is limited exactly when it can hide a row", () => {
    expect(granted(planOf([{}])).limited).toBe(false)
    expect(granted(planOf([{ columns: ["name"], where: { status: "a" } }, {}])).limited).toBe(false)
    expect(granted(planOf([{ where: { status: "a" } }])).limited).toBe(true)
    expect(granted(planOf([{}, { effect: "deny", where: { status: "a" } }])).limited).toBe(true)
    const actor = { id: "bot", roles: ["agent"], attributes: {} }
    const some = { where: { status: "a" } }
    expect(granted(planOf([{}, { role: "agent", ...some }], { actor })).limited).toBe(true)
    expect(granted(planOf([some, { role: "agent" }], { actor })).limited).toBe(true)
    expect(granted(planOf([{}, { role: "agent" }], { actor })).limited).toBe(false)
  })
})

describe("negation", () => {
  it.each([
    ["eq", "ne"],
    ["ne", "eq"],
    ["lt", "gte"],
    ["lte", "gt"],
    ["gt", "lte"],
    ["gte", "lt"]
  ] as const)("of %s is %s, and a double negation cancels out", (op, opposite) => {
    const level = (of: typeof op | typeof opposite) =>
      Bound.Compare({ column: "level-key", side: "value", op: of, value: "5" })
    const where = { level: { [op]: 5 } }
    expect(granted(planOf([{ where: { not: where } }])).where).toEqual(level(opposite))
    expect(granted(planOf([{ where: { level: { not: where.level } } }])).where).toEqual(level(opposite))
    expect(granted(planOf([{ where: { not: { not: where } } }])).where).toEqual(level(op))
    expect(granted(planOf([{}, { effect: "deny", where }])).where).toEqual(level(opposite))
  })
})

describe("roles", () => {
  it("a role has the rules of the roles that it inherits, but not vice versa", () => {
    expect(planOf([{ role: "member" }], { roles: ["manager"] })._tag).toBe("Granted")
    expect(planOf([{ role: "manager" }], { roles: ["member"] })._tag).toBe("Denied")
    expect(planOf([{ role: "manager" }, { role: "member", effect: "deny" }], { roles: ["manager"] })._tag).toBe(
      "Denied"
    )
  })

  it.each(["unknown", "constructor", "__proto__", "toString", "hasOwnProperty", ""])(
    "a role called %j that the policy doesn't have grants nothing",
    (role) => {
      expect(planOf([{}], { roles: [role] })).toMatchObject({ _tag: "Denied", reason: "no-rule" })
    }
  )

  it("a principal without roles has no access", () => {
    expect(planOf([{}], { roles: [] })).toMatchObject({ _tag: "Denied", reason: "no-rule" })
  })
})

describe("time", () => {
  const at = (rule: RuleInput, now: number) => planOf([rule], {}, { now })
  const noon = Date.UTC(2026, 5, 1, 12)

  it("a rule is in force from notBefore until just before notAfter", () => {
    const rule = { notBefore: "2026-06-01T12:00:00Z", notAfter: "2026-06-01T15:00:00+02:00" }
    expect([noon - 1, noon, noon + 3_599_999, noon + 3_600_000].map((now) => at(rule, now)._tag)).toEqual([
      "Denied",
      "Granted",
      "Granted",
      "Denied"
    ])
  })

  it("a plan expires when the next rule begins or ends, even if it denies", () => {
    expect(at({ notAfter: "2026-06-01T13:00:00Z" }, noon).expiresAt).toBe(noon + 3_600_000)
    expect(at({ notBefore: "2026-06-01T13:00:00Z" }, noon)).toMatchObject({
      _tag: "Denied",
      expiresAt: noon + 3_600_000
    })
    expect(at({ notAfter: "2026-05-01" }, noon)).toMatchObject({ _tag: "Denied", expiresAt: Infinity })
    expect(at({}, noon).expiresAt).toBe(Infinity)
    expect(planOf([{}, { effect: "deny", notBefore: "2026-06-01T12:00:00.001Z" }], {}, { now: noon }).expiresAt).toBe(
      noon + 1
    )
  })

  it("a rule of another role doesn't affect the expiry", () => {
    expect(planOf([{}, { role: "manager", notAfter: "2026-06-02" }], {}, { now: noon }).expiresAt).toBe(Infinity)
  })

  it("a plan for a principal and an actor expires with the earlier of both", () => {
    const rules = [{ notAfter: "2026-06-03" }, { role: "agent", notAfter: "2026-06-02" }]
    expect(planOf(rules, { actor: { id: "x", roles: ["agent"], attributes: {} } }, { now: noon }).expiresAt).toBe(
      Date.UTC(2026, 5, 2)
    )
  })
})

describe("size", () => {
  const values = (count: number) => Array.from({ length: count }, (_, index) => `v${index}`)

  it("a plan with too many parameters is denied, not truncated", () => {
    expect(planOf([{ where: { status: values(MAX_PLAN_PARAMETERS) } }])._tag).toBe("Granted")
    expect(planOf([{ where: { status: values(MAX_PLAN_PARAMETERS + 1) } }])).toMatchObject({
      _tag: "Denied",
      reason: "too-large"
    })
  })

  it("the parameters of masks and of the actor's plan count", () => {
    const half = values(MAX_PLAN_PARAMETERS / 2)
    expect(
      planOf([{ where: { status: half } }, { effect: "deny", columns: ["phone"], where: { status: [...half, "x"] } }])
    ).toMatchObject({ _tag: "Denied", reason: "too-large" })
    expect(
      planOf([{ where: { status: half } }, { role: "agent", where: { name: [...half, "x"] } }], {
        actor: { id: "x", roles: ["agent"], attributes: {} }
      })
    ).toMatchObject({ _tag: "Denied", reason: "too-large" })
  })
})

describe("a plan with an actor", () => {
  const actor = (roles: ReadonlyArray<string>, attributes = {}) => ({ actor: { id: "bot", roles, attributes } })

  it("shows the rows and cells that both may see", () => {
    const rules: ReadonlyArray<RuleInput> = [
      { where: { status: "a" }, columns: ["name", "phone"] },
      { role: "agent", where: { level: 5 }, columns: ["phone", "email"] },
      { role: "agent", effect: "deny", columns: ["phone"], where: { secret: true } }
    ]
    const made = granted(planOf(rules, actor(["agent"])))
    const level = Bound.Compare({ column: "level-key", side: "value", op: "eq", value: "5" })
    expect(made.where).toEqual(all(status("eq", "a"), level))
    expect([...made.cells.keys()]).toEqual(["phone-key"])
    expect(made.cells.get("phone-key")).toEqual(
      Bound.Compare({ column: "secret-key", side: "value", op: "ne", value: true })
    )
    expect(made.limited).toBe(true)
  })

  it("is denied if either is denied, and never adds the actor's rights to the principal", () => {
    expect(planOf([{}], actor(["agent"]))).toMatchObject({ _tag: "Denied" })
    expect(planOf([{ role: "agent" }], actor(["agent"]))).toMatchObject({ _tag: "Denied" })
    expect(planOf([{ role: "manager" }], { ...actor(["manager"]), roles: ["member"] })).toMatchObject({
      _tag: "Denied"
    })
  })

  it("binds $me to the principal, and to no row for the actor", () => {
    const mine = { where: { owner: "$me" } }
    expect(planOf([{}, { role: "agent", ...mine }], actor(["agent"]))).toMatchObject({ _tag: "Denied" })
    expect(planOf([{}, { role: "agent" }, { role: "agent", effect: "deny", ...mine }], actor(["agent"]))).toMatchObject(
      { _tag: "Denied" }
    )
    expect(granted(planOf([mine, { role: "agent" }], actor(["agent"]))).where).toMatchObject({
      _tag: "Compare",
      column: "owner-key"
    })
  })

  it("uses each party's own attributes", () => {
    const rules: ReadonlyArray<RuleInput> = [
      { where: { status: "$attr.team" } },
      { role: "agent", where: { name: "$attr.team" } }
    ]
    expect(planOf(rules, { ...actor(["agent"]), attributes: { team: "red" } })).toMatchObject({ _tag: "Denied" })
    expect(planOf(rules, actor(["agent"], { team: "red" }))).toMatchObject({ _tag: "Denied" })
    expect(
      granted(planOf(rules, { ...actor(["agent"], { team: "blue" }), attributes: { team: "red" } })).where
    ).toEqual(all(status("eq", "red"), Bound.Compare({ column: "name", side: "value", op: "eq", value: "blue" })))
  })
})

describe("the planner is total", () => {
  it("an unexpected type, role or predicate is denied instead of throwing", () => {
    const broken = { ...policyOf([{}]), rules: [{ ...policyOf([{}]).rules[0]!, where: { _tag: "Nonsense" } as never }] }
    expect(planOf(broken)._tag).toBe("Denied")
    expect(plan(policyOf([{}]), catalog, lena, { ...people, key: "other" }, "read", NOW)).toMatchObject({
      _tag: "Denied",
      reason: "no-rule"
    })
    expect(planOf([{}], { roles: undefined as never })).toMatchObject({ _tag: "Denied", reason: "not-bindable" })
  })

  it("the predicate Never matches no row, and its negation matches every row", () => {
    const said = (where: Predicate) => planOf({ ...policyOf([{}]), rules: [{ ...policyOf([{}]).rules[0]!, where }] })
    const never: Predicate = { _tag: "Never" }
    expect(said(never)).toMatchObject({ _tag: "Denied", reason: "nothing-visible" })
    expect(granted(said({ _tag: "Not", of: never })).where).toEqual(ALL)
  })

  it("a condition on a removed column is unknown and denies in allows and denies", () => {
    const [rule] = policyOf([{}]).rules
    const operand: Operand = { _tag: "Literal", value: "a" }
    const conditions: ReadonlyArray<Predicate> = [
      { _tag: "In", column: "gone", operands: [] },
      { _tag: "In", column: "gone", operands: [operand] },
      { _tag: "In", column: "gone", operands: [{ _tag: "Attribute", name: "none" }] },
      { _tag: "IsNull", column: "gone" },
      { _tag: "Compare", column: "gone", op: "eq", operand },
      { _tag: "Related", relation: "gone", where: { _tag: "Always" } }
    ]
    for (const where of conditions) {
      const not: Predicate = { _tag: "Not", of: where }
      for (const one of [where, not]) {
        expect(planOf({ ...policyOf([{}]), rules: [{ ...rule!, where: one }] })).toMatchObject({
          reason: "nothing-visible"
        })
        expect(
          planOf({ ...policyOf([{}]), rules: [rule!, { ...rule!, effect: "deny", columns: "*", where: one }] })
        ).toMatchObject({ reason: "nothing-visible" })
      }
    }
  })

  it("conditions that misuse a relation, $me or a removed type are unknown", () => {
    const without: Catalog = { ...catalog, types: catalog.types.filter(({ slug }) => slug !== "companies") }
    const operand: Operand = { _tag: "Literal", value: "bcd" }
    const conditions: ReadonlyArray<readonly [string, Predicate]> = [
      ["meetings", { _tag: "Compare", column: "attendees-key", op: "eq", operand }],
      ["meetings", { _tag: "In", column: "attendees-key", operands: [operand] }],
      ["meetings", { _tag: "Compare", column: "name", op: "eq", operand: { _tag: "Me" } }],
      ["meetings", { _tag: "IsNull", column: "attendees-key" }],
      ["people", { _tag: "Related", relation: "company-key", where: { _tag: "Always" } }]
    ]
    for (const [as, where] of conditions) {
      const [rule] = policyOf([{ type: as }]).rules
      for (const one of [where, { _tag: "Not", of: where } satisfies Predicate]) {
        for (const rules of [
          [{ ...rule!, where: one }],
          [rule!, { ...rule!, effect: "deny" as const, columns: "*" as const, where: one }]
        ]) {
          expect(planOf({ ...policyOf([]), rules }, {}, { as, of: without })).toMatchObject({
            reason: "nothing-visible"
          })
        }
      }
    }
  })

  it("a missing attribute behind two relations makes a deny hide every candidate row", () => {
    const where = { attendees: { company: { status: "$attr.team" } } }
    const rules = [{ type: "meetings" }, { type: "meetings", effect: "deny", where }]
    expect(granted(planOf(rules, {}, { as: "meetings" })).where).toEqual(none("attendees-key", ALWAYS))
  })
})

describe("a comparison by search key", () => {
  it("applies to phone numbers and e-mail addresses only", () => {
    const side = (where: object) => {
      const { where: bound } = granted(planOf([{ where }]))
      return bound._tag === "Compare" || bound._tag === "In" ? bound.side : bound._tag
    }
    expect([
      side({ phone: "+14155550100" }),
      side({ email: "Ann@X.org" }),
      side({ email: ["a@b.c", "d@e.f"] })
    ]).toEqual(["key", "key", "key"])
    expect([side({ status: "vip" }), side({ level: 5 }), side({ owner: "$me" }), side({ tags: "a" })]).toEqual([
      "value",
      "value",
      "value",
      "value"
    ])
  })
})

describe("a reference inside a negated many-relation", () => {
  it("counts as a possible match unless its target certainly doesn't match", () => {
    const { where } = granted(
      planOf(
        [{ type: "meetings", where: { not: { attendees: { company: { name: "Atlas" } } } } }],
        {},
        { as: "meetings" }
      )
    )
    const other = Bound.Compare({ column: "name", side: "value", op: "ne", value: "Atlas" })
    expect(where).toEqual(none("attendees-key", none("company-key", other)))
  })
})
