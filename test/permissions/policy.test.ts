import { describe, expect, it } from "vitest"
import { administers, powersOf, problemText } from "../../src/permissions/Policy.ts"
import { readPolicy } from "../../src/permissions/readPolicy.ts"
import { catalog, file, policyOf, problemsOf, type RuleInput } from "./support.ts"

const problemOf = (rule: RuleInput) => problemsOf(file([rule]))
const whereProblem = (where: unknown, type = "people") => problemOf({ type, where })

describe("a policy file is refused with a correction for", () => {
  it.each<readonly [string, RuleInput, string]>([
    [
      "an unknown role",
      { role: "menber" },
      `rules[0].role: There is no role "menber". Known: member, manager, agent. Write: "member"`
    ],
    [
      "an unknown type",
      { type: "poeple" },
      `rules[0].type: There is no type "poeple". Known: people, companies, meetings. Write: "people"`
    ],
    ["an unknown effect", { effect: "permit" }, `rules[0].effect: There is no effect "permit". Known: allow, deny.`],
    ["an unknown action", { action: "reed" }, `Write: "read"`],
    ["an unknown column", { columns: ["fone"] }, `Write: "phone"`],
    ["a column of another type", { columns: ["attendees"] }, `There is no column of people "attendees".`],
    ["a star in a list", { columns: ["*"] }, `There is no column of people "*".`],
    [
      "an unknown name in where",
      { where: { statsu: "vip" } },
      `There is no column or operator "statsu" in people. Write: "status"`
    ],
    [
      "an unknown name behind a relation",
      { where: { company: { nmae: "Atlas" } } },
      `There is no column or operator "nmae" in companies. Write: "name"`
    ],
    ["an unknown comparison", { where: { level: { gtx: 5 } } }, `Write: "gt"`],
    ["an unknown key of a rule", { colums: ["name"] }, `Unknown property "colums". Write: "columns"`],
    [
      "an order comparison of text",
      { where: { status: { lt: "b" } } },
      `status (text) has no order: only eq and ne compare it.`
    ],
    ["null in a comparison", { where: { level: { gt: null } } }, `This is not a valid value of level (integer).`],
    [
      "a value of the wrong kind",
      { where: { level: "five" } },
      `This is not a valid value of level (integer). Write: 10`
    ],
    ["a boolean as text", { where: { secret: "true" } }, `Write: true`],
    ["an invalid phone number", { where: { phone: "call me" } }, `This is not a valid value of phone (phone).`],
    ["a date that does not exist", { where: { joined: "2026-02-30" } }, `This is not a valid value of joined (date).`],
    ["an unknown variable", { where: { status: "$you" } }, `"$you" is neither $me nor $attr.name.`],
    [
      "$me compared with a text column",
      { where: { name: "$me" } },
      `$me is a person, so name can't be compared with it.`
    ],
    ["a condition that is not an object", { where: null }, `A condition must be an object.`],
    ["an empty comparison", { where: { level: {} } }, `A condition must have at least one comparison.`],
    ["all without a list", { where: { all: {} } }, `\`all\` and \`any\` must be lists of conditions.`],
    ["no columns", { columns: [] }, `\`columns\` must be "*" or a list of at least one column.`],
    ["omitted columns", { columns: undefined }, `Write: "columns": "*"`],
    [
      "a time without an offset",
      { notAfter: "2027-01-01T00:00:00" },
      `\`notAfter\` must be a date (UTC) or a time with an offset.`
    ]
  ])("%s", (_, rule, message) => {
    expect(problemOf(rule).join("\n")).toContain(message)
  })

  it.each<readonly [string, object, string]>([
    ["an unknown type", { read: "peple", expect: [] }, `tests[0].read: There is no type "peple"`],
    ["no person", { as: 5, expect: [] }, `tests[0].as: \`as\` must be an e-mail address`],
    ["an unknown key", { expcet: [] }, `tests[0].expcet: Unknown property "expcet". Write: "expect"`],
    [
      "an update without values",
      { read: undefined, update: "people", allows: ["a"] },
      `tests[0].values: \`values\` must be an object`
    ],
    [
      "an update without an expectation",
      { read: undefined, update: "people", values: { phone: "1" } },
      `tests[0].allows: The test must have at least one expectation.`
    ],
    [
      "an update of an unknown column",
      { read: undefined, update: "people", values: { fone: "1" }, allows: [] },
      `There is no column of people "fone".`
    ],
    [
      "a value of the wrong form",
      { read: undefined, update: "people", values: { phone: ["1"], tags: "x" }, allows: [] },
      `tests[0].values.phone: This is not a valid value of phone (phone).`
    ],
    [
      "an expectation of rows for a new row",
      { read: undefined, create: "people", values: { name: "x" }, allows: ["a"] },
      `tests[0].allowed: \`allowed\` must say whether the row can be created.`
    ],
    ["two actions", { update: "people", values: { phone: "1" }, allows: [] }, `Unknown property "read"`],
    ["no expectation", {}, `tests[0].expect: The test must have at least one expectation.`],
    ["an unknown column", { shows: ["fone"] }, `Write: "phone"`],
    ["an unknown role", { roles: ["menber"], expect: [] }, `Write: "member"`],
    ["attributes without roles", { attributes: { a: 1 }, expect: [] }, `must also have \`roles\``],
    [
      "attributes of an invalid type",
      { roles: ["member"], attributes: { a: [] }, expect: [] },
      `\`attributes\` must be strings`
    ],
    ["ids that are not strings", { expect: [5] }, `\`expect\` must be a list of at most 1000 strings`],
    ["an expectation besides a denial", { denied: true, expect: ["a"] }, `must not have other expectations`],
    [
      "the property __proto__",
      JSON.parse(`{"__proto__": ["x"], "expect": []}`) as object,
      `Unknown property "__proto__"`
    ]
  ])("a test with %s", (_, test, message) => {
    const whole = { as: "lena@atlas.com", read: "people", ...test }
    const text = file([{}], { tests: [] }).replace(
      `"tests":[]`,
      `"tests":[${JSON.stringify(Object.hasOwn(test, "__proto__") ? test : whole)}]`
    )
    expect(problemsOf(text).join("\n")).toContain(message)
  })

  it("a rule id with control characters", () => {
    expect(problemOf({ id: "x\u001b[31m" })).toEqual([
      `rules[0].id: \`id\` must be a printable string of 1 to 200 characters. Write: "id": "…"`
    ])
  })

  it("roles that inherit themselves, directly or indirectly", () => {
    const cycle = problemsOf(
      file([], {
        roles: { a: { inherits: ["b"] }, b: { inherits: ["c"] }, c: { inherits: ["a"] }, member: { inherits: ["a"] } }
      })
    )
    expect(cycle.map((line) => line.split(":")[0])).toEqual(["roles.a", "roles.b", "roles.c"])
    expect(problemsOf(file([], { roles: { a: { inherits: ["a"] } } }))).toEqual([
      `roles.a: The role "a" inherits itself through "a".`
    ])
  })

  it.each(["yes", [], ["everything"], ["policy", "policy"], { policy: true }, null])(
    "a role whose `administers` is %j",
    (administers) => {
      expect(problemsOf(file([], { roles: { admin: { administers } } }))).toEqual([
        `roles.admin.administers: \`administers\` must be true, false or a list of members, policy, data, secrets. Write: "administers": ["members"]`
      ])
    }
  )

  it("a role that inherits an unknown role", () => {
    expect(problemsOf(file([], { roles: { member: { inherits: ["gest"] }, guest: {} } }))).toEqual([
      `roles.member.inherits: There is no role "gest". Known: member, guest. Write: "guest"`
    ])
  })

  it("a duplicate rule id, an unknown format version and invalid JSON", () => {
    expect(problemsOf(file([{ id: "x" }, { id: "x" }]))).toEqual([`rules[1].id: Duplicate rule id "x".`])
    expect(problemsOf(file([], { version: 2 }))[0]).toContain(`"version": 1`)
    expect(problemsOf(`{ "version": 1, }`)[0]).toContain("not valid JSON")
  })

  it("conditions nested too deep", () => {
    const nested = (depth: number): unknown => (depth === 0 ? { status: "vip" } : { not: nested(depth - 1) })
    expect(whereProblem(nested(30))).toEqual([])
    expect(whereProblem(nested(40)).join()).toContain("nested at most 32 levels")
    expect(
      whereProblem({ status: Array.from({ length: 40 }).reduce<unknown>((inner) => ({ not: inner }), "vip") }).join()
    ).toContain("nested at most 32 levels")
  })
})

describe("a policy file can't reach inherited properties of objects (CVE-2026-1774)", () => {
  const names = ["__proto__", "constructor", "toString", "hasOwnProperty", "prototype"]

  it.each(names)("%s is not a column, type, relation or comparison", (name) => {
    const where = (text: string) => file([{}]).replace(`"columns":"*"`, `"columns":"*","where":${text}`)
    const key = JSON.stringify(name)
    for (const text of [
      where(`{${key}:"x"}`),
      where(`{${key}:{"name":"x"}}`),
      where(`{"company":{${key}:"x"}}`),
      where(`{"level":{${key}:5}}`),
      where(`{"any":[{${key}:null}]}`),
      file([{ columns: [name] }]),
      file([{ type: name }]),
      file([{ effect: name }]),
      file([{ action: name }]),
      file([{ role: name }])
    ])
      expect(problemsOf(text)).not.toEqual([])
  })

  it("__proto__ as a role, an attribute, or a key of the file is refused and changes no prototype", () => {
    const polluting =
      `{"version":1,"roles":{"__proto__":{"inherits":["member"]},"member":{}},"__proto__":{"polluted":true},` +
      `"rules":[{"id":"x","effect":"allow","role":"member","action":"read","type":"people","columns":"*","where":{"status":"$attr.__proto__"},"__proto__":{"polluted":true}}]}`
    const problems = problemsOf(polluting)
    expect(problems.some((line) => line.startsWith("roles."))).toBe(true)
    expect(problems.some((line) => line.startsWith("policy.__proto__"))).toBe(true)
    expect(problems.some((line) => line.startsWith("rules[0].__proto__"))).toBe(true)
    expect(problems.some((line) => line.includes("$attr.__proto__"))).toBe(true)
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined()
  })

  it("properties that a rule omits are not read from a polluted prototype", () => {
    const prototype = Object.prototype as Record<string, unknown>
    for (const [key, value] of Object.entries({
      where: { status: "vip" },
      tests: [],
      notAfter: "2020-01-01",
      roles: {}
    })) {
      prototype[key] = value
    }
    try {
      const { rules } = policyOf([{}])
      expect(rules[0]).toMatchObject({ where: { _tag: "Always" } })
      expect(Object.hasOwn(rules[0]!, "notAfter")).toBe(false)
    } finally {
      for (const key of ["where", "tests", "notAfter", "roles"]) delete prototype[key]
    }
  })

  it("a role may be called constructor", () => {
    const policy = policyOf([{ role: "constructor" }], { roles: { constructor: { inherits: ["member"] }, member: {} } })
    expect(policy.roles).toEqual({ constructor: ["constructor", "member"], member: ["member"] })
  })
})

describe("reading a policy file", () => {
  it("returns all tests of the file", () => {
    const tests = [
      { as: "lena@atlas.com", read: "people", expect: ["c-1"] },
      { as: "otto@atlas.com", read: "meetings", denied: true }
    ]
    const readings = [file([{}]), file([{}], { tests: [] }), file([{}], { tests })].map((text) =>
      readPolicy(text, catalog)
    )
    const read = readings.map((reading) => ("tests" in reading ? reading.tests : undefined))
    expect(read.slice(0, 2)).toEqual([[], []])
    expect(read[2]).toMatchObject([
      { as: "lena@atlas.com", type: "people", path: "tests[0]" },
      { as: "otto@atlas.com", type: "meetings-type", path: "tests[1]" }
    ])
  })

  it("replaces every slug by its immutable key", () => {
    expect(
      policyOf([{ type: "meetings", columns: ["start"], where: { attendees: { company: { owner: "$me" } } } }]).rules[0]
    ).toMatchObject({
      type: "meetings-type",
      columns: ["start-key"],
      where: {
        _tag: "Related",
        relation: "attendees-key",
        where: {
          _tag: "Related",
          relation: "company-key",
          where: { _tag: "Compare", column: "owner-key", op: "eq", operand: { _tag: "Me" } }
        }
      }
    })
  })

  it("expands the star of an allow to the current columns, but not the star of a deny", () => {
    const { rules } = policyOf([{}, { effect: "deny" }])
    expect(rules.map((rule) => rule.columns)).toEqual([catalog.types[0]!.columns.map((column) => column.key), "*"])
  })

  it("expands role inheritance transitively", () => {
    expect(policyOf([], { roles: { a: { inherits: ["b"] }, b: { inherits: ["c"] }, c: {} } }).roles).toEqual({
      a: ["a", "b", "c"],
      b: ["b", "c"],
      c: ["c"]
    })
  })

  it("lets exactly the roles administer that declare it or inherit one that does", () => {
    const roles = {
      boss: { inherits: ["admin"] },
      admin: { administers: true },
      member: { administers: false },
      guest: {}
    }
    const policy = policyOf([], { roles })
    expect(policy.administering).toEqual(["boss", "admin"])
    for (const [held, may] of [
      [["boss"], true],
      [["member", "admin"], true],
      [["member", "guest"], false],
      [["no-such-role"], false],
      [[], false]
    ] as const) {
      expect(administers(policy, held)).toBe(may)
    }
    expect(Object.hasOwn(policyOf([]), "administering")).toBe(false)
  })

  it("gives a role the powers that it names and those of the roles that it inherits; true gives none", () => {
    const policy = policyOf([], {
      roles: {
        boss: { inherits: ["clerk"], administers: ["policy"] },
        clerk: { administers: ["members"] },
        reader: { administers: true },
        heir: { inherits: ["clerk", "reader"] },
        member: {}
      }
    })
    expect(policy.administering).toEqual(["boss", "clerk", "reader", "heir"])
    expect(policy.powers).toEqual({ boss: ["members", "policy"], clerk: ["members"], heir: ["members"] })
    expect(powersOf(policy, ["reader", "boss", "__proto__"])).toEqual(["members", "policy"])
    expect(powersOf(policy, ["reader", "member", "constructor"])).toEqual([])
  })

  it("lets no role administer through a polluted prototype", () => {
    const prototype = Object.prototype as Record<string, unknown>
    Object.assign(prototype, { administers: true, administering: ["member"] })
    try {
      const policy = policyOf([], { roles: { member: {} } })
      expect(Object.hasOwn(policy, "administering")).toBe(false)
      expect(administers(policy, ["member"])).toBe(false)
    } finally {
      for (const key of ["administers", "administering"]) delete prototype[key]
    }
  })

  it("reads a doubled leading dollar sign as a literal one", () => {
    expect(policyOf([{ where: { name: "$$me" } }]).rules[0]!.where).toMatchObject({
      operand: { _tag: "Literal", value: "$me" }
    })
  })
})

describe("a policy file with an impossible value is refused", () => {
  it("for a time that does not exist", () => {
    expect(problemOf({ notAfter: "2027-02-31" })).not.toEqual([])
    expect(problemOf({ notBefore: "2027-04-31T00:00:00Z" })).not.toEqual([])
  })

  it("for $me compared with a column that holds no people", () => {
    expect(whereProblem({ company: "$me" })).not.toEqual([])
    expect(whereProblem({ id: "$me" }, "companies")).not.toEqual([])
    expect(whereProblem({ id: "$me" })).toEqual([])
    expect(whereProblem({ owner: "$me" }, "companies")).toEqual([])
    expect(whereProblem({ attendees: "$me" }, "meetings")).toEqual([])
  })

  it("for a reference to a malformed id", () => {
    expect(whereProblem({ owner: "lena@atlas.com" })).not.toEqual([])
    expect(whereProblem({ owner: ["Lena Fischer"] })).not.toEqual([])
    expect(whereProblem({ attendees: "lena@atlas.com" }, "meetings")).not.toEqual([])
  })

  it("for a time with an impossible offset", () => {
    expect(whereProblem({ start: { gt: "2026-01-01T00:00:00+99:99" } }, "meetings")).not.toEqual([])
  })
})

describe("a duplicate key in a policy file", () => {
  const where = (condition: string) =>
    `{"version":1,"roles":{"member":{}},"rules":[{"id":"r","effect":"allow","role":"member","action":"read","type":"people","columns":"*","where":${condition}}]}`
  const messages = (text: string) => {
    const reading = readPolicy(text, catalog)
    return "problems" in reading ? reading.problems.map(problemText).join() : ""
  }

  it("is refused in any spelling, because JSON.parse would drop the first value", () => {
    expect(messages(where(`{"status":"a","status":"b"}`))).toContain(`Duplicate key "status"`)
    expect(messages(where(`{"status":"a", "st\\u0061tus" : "b"}`))).toContain(`Duplicate key "status"`)
    expect(messages(where(`{"any":[{"status":"a"},{"not":{"name":"x","name":"y"}}]}`))).toContain(
      `Duplicate key "name"`
    )
    // Brackets inside strings don't count.
    expect(messages(where(`{"name":"{","name":"y"}`))).toContain(`Duplicate key "name"`)
    expect(messages(where(`{"name":["}"],"name":"y"}`))).toContain(`Duplicate key "name"`)
    expect(messages(where(`{"name":"x\\"","status":"a","status":"b"}`))).toContain(`Duplicate key "status"`)
    expect(messages(where(`{"company":{"name":"x"},"company":{"status":"a"}}`))).toContain(`Duplicate key "company"`)
  })

  it("is accepted in different objects and inside strings", () => {
    expect(messages(where(`{"any":[{"status":"a"},{"status":"b"},{"name":"\\"status\\": x, \\"status\\": {"}]}`))).toBe(
      ""
    )
    expect(messages(where(`{"company":{"status":"a"},"status":"b"}`))).toBe("")
  })
})
