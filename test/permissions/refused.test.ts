/** Policy files that `readPolicy` refuses, with the exact problems that it reports. */
import { describe, expect, it } from "vitest"
import { MAX_POLICY_LENGTH } from "../../src/permissions/readPolicy.ts"
import { catalog, file, policyOf, problemsOf, type RuleInput } from "./support.ts"

const whereProblem = (where: unknown, type = "people") => problemsOf(file([{ type, where }]))
const wrap = (depth: number, inner: unknown, step: (inner: unknown) => unknown): unknown => {
  let found = inner
  for (let level = 0; level < depth; level++) found = step(found)
  return found
}

describe("a policy file is refused", () => {
  it("when it exceeds the maximum length", () => {
    const short = file([{}])
    const padded = (length: number) => short + " ".repeat(length - short.length)
    expect(problemsOf(padded(MAX_POLICY_LENGTH))).toEqual([])
    expect(problemsOf(padded(MAX_POLICY_LENGTH + 1))).toEqual([`policy: The file must be at most 1000 kB.`])
  })

  it("when it is not an object, or a property has the wrong type", () => {
    const fix = `{ "version": 1, "roles": {}, "rules": [] }`
    for (const none of [`[]`, `null`, `"policy"`, `5`])
      expect(problemsOf(none)).toEqual([`policy: The policy must be an object. Write: ${fix}`])
    const roles = `roles: \`roles\` must be an object. Write: "roles": { "member": { "inherits": [] } }`
    const rules = `rules: \`rules\` must be a list. Write: "rules": []`
    expect(problemsOf(`{ "version": 1 }`)).toEqual([roles, rules])
    expect(problemsOf(file([], { roles: [] }))).toEqual([roles])
    expect(problemsOf(file([], { rules: {} }))).toEqual([rules])
    expect(problemsOf(file([], { tests: {} }))).toEqual([`tests: \`tests\` must be a list. Write: "tests": []`])
    expect(problemsOf(`{ "version": 1, "roles": {}, "rules": [5] }`)).toEqual([`rules[0]: A rule must be an object.`])
    expect(problemsOf(`{ "version": "1", "roles": {}, "rules": [] }`)).toEqual([
      `version: \`version\` must be 1. Write: "version": 1`
    ])
    expect(problemsOf(file([], { $schema: "./x.json" }))).toEqual([])
    expect(problemsOf(file([], { rulez: [] }))).toEqual([`policy.rulez: Unknown property "rulez". Write: "rules"`])
    expect(problemsOf(file([], { zzzzzzzzz: 1 }))).toEqual([`policy.zzzzzzzzz: Unknown property "zzzzzzzzz".`])
  })

  it("when the name or definition of a role is invalid", () => {
    const says = (name: string, definition: unknown) => problemsOf(file([], { roles: { [name]: definition } }))
    const inherits = `roles.member: \`inherits\` must be a list of roles. Write: "member": { "inherits": [] }`
    for (const none of [null, 5, [], { inherits: "x" }, { inherits: [5] }, { inherits: {} }])
      expect(says("member", none)).toEqual([inherits])
    expect(says("member", { inherts: [] })).toEqual([
      `roles.member.inherts: Unknown property "inherts". Write: "inherits"`
    ])
    const name =
      "A role's name must begin with a lower-case letter, followed by at most 62 lower-case letters, digits, - and _."
    for (const none of ["Member", "1st", "", "a b", "x".repeat(64), "a\nb", "-a"])
      expect(says(none, {}).join(), none).toContain(name)
    for (const good of ["a", "a-b_1", "x".repeat(63)]) expect(says(good, {})).toEqual([])
    expect(problemsOf(file([{ role: "x" }], { roles: {} }))).toEqual([`rules[0].role: There is no role "x".`])
  })

  it("when a rule lacks a required property", () => {
    for (const key of ["id", "effect", "action", "role", "type"]) {
      const line = `rules[0].${key}: \`${key}\` must be a printable string of 1 to 200 characters. Write: "${key}": "…"`
      for (const none of ["", 5, null, "x".repeat(201), "a\u0007"])
        expect(problemsOf(file([{ [key]: none }])), `${key} ${String(none)}`).toEqual([line])
    }
    expect(problemsOf(file([{ id: "x".repeat(200) }]))).toEqual([])
  })

  it("when it has too many rules or tests, reporting at most 50 problems", () => {
    const rules = (count: number) => Array.from({ length: count }, (): RuleInput => ({ columns: ["name"] }))
    expect(problemsOf(file(rules(10_000)))).toEqual([])
    expect(problemsOf(file(rules(10_001)))).toEqual([`rules: \`rules\` must have at most 10000 entries.`])
    const tests = (count: number) => Array.from({ length: count }, () => ({ as: "a@b.c", read: "people", expect: [] }))
    expect(problemsOf(file([{}], { tests: tests(200) }))).toEqual([])
    expect(problemsOf(file([{}], { tests: tests(201) }))).toEqual([`tests: \`tests\` must have at most 200 entries.`])
    expect(problemsOf(file(Array.from({ length: 60 }, () => ({ role: "no-such-role" })))).length).toBe(50)
  })

  it("when a time bound is ambiguous or does not exist", () => {
    const at = (notAfter: unknown) => problemsOf(file([{ notAfter }]))
    const line = `rules[0].notAfter: \`notAfter\` must be a date (UTC) or a time with an offset. Write: "notAfter": "2027-01-01T00:00:00Z"`
    for (const none of [5, null, "tomorrow", "2027-01-01T00:00", "2027-13-01", "2027-01-01 Z"])
      expect(at(none), String(none)).toEqual([line])
    const read = (notBefore: string) => policyOf([{ notBefore }]).rules[0]!.notBefore
    expect(read("2027-01-01")).toBe(Date.UTC(2027, 0, 1))
    expect(read("2027-01-01T02:30:00+02:00")).toBe(Date.UTC(2027, 0, 1, 0, 30))
    expect(read("2027-01-01T00:00:00.5Z")).toBe(Date.UTC(2027, 0, 1) + 500)
  })
})

describe("a condition is refused", () => {
  it("when it is nested more than 32 levels deep, through any operator", () => {
    const deep = [`rules[0].where`, "Conditions must be nested at most 32 levels deep."]
    for (const [step, inner] of [
      [(of: unknown) => ({ not: of }), { status: "vip" }],
      [(of: unknown) => ({ all: [of] }), { status: "vip" }],
      [(of: unknown) => ({ any: [of] }), { status: "vip" }]
    ] as const) {
      expect(whereProblem(wrap(32, inner, step))).toEqual([])
      const [problem] = whereProblem(wrap(33, inner, step))
      expect(problem).toContain(deep[0]!)
      expect(problem).toContain(deep[1]!)
    }
    expect(whereProblem({ status: wrap(32, "vip", (of) => ({ not: of })) })).toEqual([])
    // The limit also holds around an empty condition and behind a relation.
    expect(whereProblem(wrap(33, {}, (of) => ({ not: of })))[0]).toContain(deep[1]!)
    expect(whereProblem({ owner: wrap(31, { status: "vip" }, (of) => ({ not: of })) })).toEqual([])
    expect(whereProblem({ owner: wrap(32, { status: "vip" }, (of) => ({ not: of })) })[0]).toContain(deep[1]!)
    expect(whereProblem({ status: wrap(33, "vip", (of) => ({ not: of })) })[0]).toContain(deep[1]!)
  })

  it("when it follows more than eight relations in a row", () => {
    const over = (hops: number) => wrap(hops, { status: "vip" }, (of) => ({ owner: of }))
    const line = "A condition must follow at most 8 relations in a row."
    expect(whereProblem(over(8))).toEqual([])
    expect(whereProblem(over(9))).toEqual([`rules[0].where${".owner".repeat(9)}: ${line}`])
    // The limit counts each chain separately.
    expect(whereProblem({ any: [over(8), over(8), { company: over(7) }] })).toEqual([])
    expect(whereProblem({ all: [over(8), { not: over(9) }] }).length).toBe(1)
  })

  it("with a message that names the path, the problem and a correction", () => {
    const cases: ReadonlyArray<readonly [unknown, string]> = [
      ["vip", `rules[0].where: A condition must be an object. Write: { "name": … }`],
      [{ any: "vip" }, `rules[0].where.any: \`all\` and \`any\` must be lists of conditions. Write: [ … ]`],
      [{ all: ["vip"] }, `rules[0].where.all[0]: A condition must be an object. Write: { "name": … }`],
      [{ zzzzzz: 1 }, `rules[0].where.zzzzzz: There is no column or operator "zzzzzz" in people.`],
      [
        { level: { eq: 1, zzzzzz: 1 } },
        `rules[0].where.level: There is no comparison "zzzzzz". Known: eq, ne, lt, lte, gt, gte, not.`
      ],
      [{ level: {} }, `rules[0].where.level: A condition must have at least one comparison. Write: { "eq": 10 }`],
      [
        { name: { gt: "a" } },
        `rules[0].where.name.gt: name (text) has no order: only eq and ne compare it. Write: { "eq": "vip" }`
      ],
      [
        { owner: { lt: "bcd" } },
        `rules[0].where.owner.lt: owner (reference) has no order: only eq and ne compare it. Write: { "eq": "$me" }`
      ],
      [{ company: "$me" }, `rules[0].where.company: $me is a person, so company can't be compared with it.`],
      [{ level: "$me" }, `rules[0].where.level: $me is a person, so level can't be compared with it. Write: 10`],
      [
        { name: "$Attr.x" },
        `rules[0].where.name: "$Attr.x" is neither $me nor $attr.name. Write $$ for a literal value that begins with $. Write: "$attr.region"`
      ],
      [{ name: "$attr.x y" }, `rules[0].where.name: "$attr.x y" is neither $me nor $attr.name.`],
      [{ score: [5, "x"] }, `rules[0].where.score: This is not a valid value of score (number). Write: 9.5`],
      [
        { email: { not: 5 } },
        `rules[0].where.email.not: This is not a valid value of email (email). Write: "ada@example.com"`
      ],
      [{ phone: "x" }, `rules[0].where.phone: This is not a valid value of phone (phone). Write: "+14155550100"`],
      [{ joined: "x" }, `Write: "2027-01-31"`],
      [{ secret: 1 }, `Write: true`],
      [{ tags: 5 }, `Write: "vip"`],
      [{ owner: "Lena Fischer" }, `Write: "$me"`]
    ]
    for (const [where, line] of cases) expect(whereProblem(where).join("\n")).toContain(line)
    expect(whereProblem({ start: 5 }, "meetings").join()).toContain(`Write: "2027-01-31T09:00:00Z"`)
    expect(whereProblem({ attendees: 5 }, "meetings").join()).toContain(`Write: "$me"`)
  })

  it("when part of it would be ignored", () => {
    expect(whereProblem({ level: { not: 5, gt: 3 } }).join()).toContain(`There is no comparison "not"`)
    expect(whereProblem({ owner: { eq: "$me", status: "vip" } }).join()).toContain(
      `There is no column or operator "eq"`
    )
    expect(whereProblem({ name: "$x$attr.region" }).join()).toContain("is neither $me nor $attr.name")
  })

  it("when it compares a column with null, an object or a list", () => {
    for (const column of ["name", "phone", "email", "level", "score", "secret", "joined", "tags", "owner"])
      for (const none of [null, {}, []])
        expect(whereProblem({ [column]: { eq: none } }), `${column} ${JSON.stringify(none)}`).not.toEqual([])
    expect(whereProblem({ status: [null] })).not.toEqual([])
    expect(whereProblem({ status: [["vip"]] })).not.toEqual([])
  })

  it("when the target type of a relation does not exist", () => {
    const of = { ...catalog, types: catalog.types.filter(({ slug }) => slug !== "companies") }
    expect(problemsOf(file([{ where: { company: { name: "Atlas" } } }]), of)).toEqual([
      `rules[0].where.company: The target type of company doesn't exist.`
    ])
  })
})

describe("a condition is parsed", () => {
  const read = (where: unknown, type = "people") => policyOf([{ type, where }]).rules[0]!.where
  const compared = (column: string, op: string, value: unknown) => ({
    _tag: "Compare",
    column,
    op,
    operand: { _tag: "Literal", value }
  })

  it("into the smallest equivalent predicate", () => {
    expect(read({})).toEqual({ _tag: "All", of: [] })
    expect(read({ status: "vip" })).toEqual(compared("status", "eq", "vip"))
    expect(read({ status: "vip", level: 5 })).toEqual({
      _tag: "All",
      of: [compared("status", "eq", "vip"), compared("level-key", "eq", 5)]
    })
    expect(read({ level: { gte: 1, lt: 5 } })).toEqual({
      _tag: "All",
      of: [compared("level-key", "gte", 1), compared("level-key", "lt", 5)]
    })
    expect(read({ joined: { gt: "2026-01-01" } })).toEqual(compared("joined-key", "gt", "2026-01-01"))
    expect(read({ score: { lte: 9.5 } })).toEqual(compared("score-key", "lte", 9.5))
    expect(read({ status: { ne: "vip" } })).toEqual(compared("status", "ne", "vip"))
    expect(read({ status: null })).toEqual({ _tag: "IsNull", column: "status" })
    expect(read({ level: { not: null } })).toEqual({ _tag: "Not", of: { _tag: "IsNull", column: "level-key" } })
    expect(read({ level: { not: 5 } })).toEqual({ _tag: "Not", of: compared("level-key", "eq", 5) })
    expect(read({ status: ["a", "$attr.x", "$$b"] })).toEqual({
      _tag: "In",
      column: "status",
      operands: [
        { _tag: "Literal", value: "a" },
        { _tag: "Attribute", name: "x" },
        { _tag: "Literal", value: "$b" }
      ]
    })
    expect(read({ any: [{ secret: true }, { not: { secret: false } }] })).toEqual({
      _tag: "Any",
      of: [compared("secret-key", "eq", true), { _tag: "Not", of: compared("secret-key", "eq", false) }]
    })
  })

  it("over single relations, many-relations and the row's own id", () => {
    const me = { _tag: "Compare", column: "id", op: "eq", operand: { _tag: "Me" } }
    expect(read({ id: "$me" })).toEqual(me)
    expect(read({ owner: "$me" })).toEqual({ ...me, column: "owner-key" })
    expect(read({ owner: { eq: "$me" } })).toEqual({ ...me, column: "owner-key" })
    expect(read({ owner: {} })).toEqual({ _tag: "Related", relation: "owner-key", where: { _tag: "All", of: [] } })
    expect(read({ owner: { not: "$me" } })).toEqual({ _tag: "Not", of: { ...me, column: "owner-key" } })
    expect(read({ attendees: "$me" }, "meetings")).toEqual({ _tag: "Related", relation: "attendees-key", where: me })
    expect(read({ attendees: { status: "vip" } }, "meetings")).toEqual({
      _tag: "Related",
      relation: "attendees-key",
      where: compared("status", "eq", "vip")
    })
    expect(read({ attendees: { not: { status: "vip" } } }, "meetings")).toEqual({
      _tag: "Related",
      relation: "attendees-key",
      where: { _tag: "Not", of: compared("status", "eq", "vip") }
    })
  })
})
