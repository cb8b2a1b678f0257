import { describe, expect, it } from "vitest"
import { administers, problemText } from "../../src/permissions/Policy.ts"
import { readPolicy } from "../../src/permissions/readPolicy.ts"
import { catalog, file, policyOf, problemsOf, type RuleInput } from "./support.ts"

const problemOf = (rule: RuleInput) => problemsOf(file([rule]))
const whereProblem = (where: unknown, type = "people") => problemOf({ type, where })

describe("a policy file is refused with a corrected line", () => {
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
      `There is nothing called "statsu" in people. Write: "status"`
    ],
    [
      "an unknown name behind a relation",
      { where: { company: { nmae: "Atlas" } } },
      `There is nothing called "nmae" in companies. Write: "name"`
    ],
    ["an unknown comparison", { where: { level: { gtx: 5 } } }, `Write: "gt"`],
    ["an unknown key of a rule", { colums: ["name"] }, `There is no "colums" here. Write: "columns"`],
    [
      "an order that text hasn't",
      { where: { status: { lt: "b" } } },
      `status has no order: it can be compared with eq and ne only.`
    ],
    ["null in a comparison", { where: { level: { gt: null } } }, `This isn't a value that level (integer) can have.`],
    [
      "a value of the wrong kind",
      { where: { level: "five" } },
      `This isn't a value that level (integer) can have. Write: 10`
    ],
    ["a boolean as text", { where: { secret: "true" } }, `Write: true`],
    ["a phone that is none", { where: { phone: "call me" } }, `This isn't a value that phone (phone) can have.`],
    [
      "a date that doesn't exist",
      { where: { joined: "2026-02-30" } },
      `This isn't a value that joined (date) can have.`
    ],
    ["a variable that doesn't exist", { where: { status: "$you" } }, `"$you" is neither $me nor $attr.name.`],
    ["$me in a column of text", { where: { name: "$me" } }, `$me is a person, and name isn't.`],
    ["a condition that is no object", { where: null }, `A condition is an object.`],
    ["an empty comparison", { where: { level: {} } }, `This condition says nothing.`],
    ["all without a list", { where: { all: {} } }, `all and any have a list of conditions.`],
    ["no columns", { columns: [] }, `A rule says which columns it is about; leaving them out would mean none or all.`],
    ["columns left out", { columns: undefined }, `Write: "columns": "*"`],
    [
      "a time without an offset",
      { notAfter: "2027-01-01T00:00:00" },
      `A point in time is a date (UTC) or has an offset.`
    ]
  ])("%s", (_, rule, message) => {
    expect(problemOf(rule).join("\n")).toContain(message)
  })

  it.each<readonly [string, object, string]>([
    ["an unknown type", { read: "peple", expect: [] }, `tests[0].read: There is no type "peple"`],
    ["nobody", { as: 5, expect: [] }, `tests[0].as: A test says as whom it reads`],
    ["an unknown key", { expcet: [] }, `tests[0].expcet: There is no "expcet" here. Write: "expect"`],
    ["no expectation", {}, `tests[0].expect: This test expects nothing in particular.`],
    ["an unknown column", { shows: ["fone"] }, `Write: "phone"`],
    ["an unknown role", { roles: ["menber"], expect: [] }, `Write: "member"`],
    ["attributes without roles", { attributes: { a: 1 }, expect: [] }, `says its roles, too`],
    ["attributes that are no values", { roles: ["member"], attributes: { a: [] }, expect: [] }, `Attributes are texts`],
    ["ids that are no texts", { expect: [5] }, `expect is a list of at most 1000 texts`],
    ["more than a denial", { denied: true, expect: ["a"] }, `there is nothing else to expect`],
    [
      "a key that objects inherit",
      JSON.parse(`{"__proto__": ["x"], "expect": []}`) as object,
      `There is no "__proto__" here`
    ]
  ])("a test with %s", (_, test, message) => {
    const whole = { as: "lena@atlas.com", read: "people", ...test }
    const text = file([{}], { tests: [] }).replace(
      `"tests":[]`,
      `"tests":[${JSON.stringify(Object.hasOwn(test, "__proto__") ? test : whole)}]`
    )
    expect(problemsOf(text).join("\n")).toContain(message)
  })

  it("a rule whose id would reach a terminal", () => {
    expect(problemOf({ id: "x\u001b[31m" })).toEqual([`rules[0].id: A rule has an id. Write: "id": "…"`])
  })

  it("roles that inherit themselves, directly or by way of others", () => {
    const cycle = problemsOf(
      file([], {
        roles: { a: { inherits: ["b"] }, b: { inherits: ["c"] }, c: { inherits: ["a"] }, member: { inherits: ["a"] } }
      })
    )
    expect(cycle.map((line) => line.split(":")[0])).toEqual(["roles.a", "roles.b", "roles.c"])
    expect(problemsOf(file([], { roles: { a: { inherits: ["a"] } } }))).toEqual([
      `roles.a: The role "a" inherits itself by way of "a".`
    ])
  })

  it("a role that administers in other words than true or false", () => {
    expect(problemsOf(file([], { roles: { admin: { administers: "yes" } } }))).toEqual([
      `roles.admin.administers: A role administers or doesn't. Write: "administers": true`
    ])
  })

  it("a role that inherits one that doesn't exist", () => {
    expect(problemsOf(file([], { roles: { member: { inherits: ["gest"] }, guest: {} } }))).toEqual([
      `roles.member.inherits: There is no role "gest". Known: member, guest. Write: "guest"`
    ])
  })

  it("two rules with one id, another version of the format, text that isn't JSON", () => {
    expect(problemsOf(file([{ id: "x" }, { id: "x" }]))).toEqual([`rules[1].id: Two rules have the id "x".`])
    expect(problemsOf(file([], { version: 2 }))[0]).toContain(`"version": 1`)
    expect(problemsOf(`{ "version": 1, }`)[0]).toContain("This isn't JSON")
  })

  it("conditions nested deeper than anybody can read", () => {
    const nested = (depth: number): unknown => (depth === 0 ? { status: "vip" } : { not: nested(depth - 1) })
    expect(whereProblem(nested(30))).toEqual([])
    expect(whereProblem(nested(40)).join()).toContain("nested deeper than")
    expect(
      whereProblem({ status: Array.from({ length: 40 }).reduce<unknown>((inner) => ({ not: inner }), "vip") }).join()
    ).toContain("nested deeper than")
  })
})

describe("a policy file can't reach what objects inherit (CVE-2026-1774)", () => {
  const names = ["__proto__", "constructor", "toString", "hasOwnProperty", "prototype"]

  it.each(names)("%s is no column, no type, no relation and no comparison", (name) => {
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

  it("what a rule leaves out isn't taken from a prototype that somebody polluted", () => {
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

  it("a role that is called constructor is a role like any other", () => {
    const policy = policyOf([{ role: "constructor" }], { roles: { constructor: { inherits: ["member"] }, member: {} } })
    expect(policy.roles).toEqual({ constructor: ["constructor", "member"], member: ["member"] })
  })
})

describe("publishing", () => {
  it("comes with the tests that the file has, all of them", () => {
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

  it("replaces every name by its key, so that a slug never decides what a rule is about", () => {
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

  it("expands the star of an allow to the columns that there are, and never that of a deny", () => {
    const { rules } = policyOf([{}, { effect: "deny" }])
    expect(rules.map((rule) => rule.columns)).toEqual([catalog.types[0]!.columns.map((column) => column.key), "*"])
  })

  it("expands what roles inherit, over several steps", () => {
    expect(policyOf([], { roles: { a: { inherits: ["b"] }, b: { inherits: ["c"] }, c: {} } }).roles).toEqual({
      a: ["a", "b", "c"],
      b: ["b", "c"],
      c: ["c"]
    })
  })

  it("lets those roles administer that say so and those that inherit one, and no others", () => {
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
      [["nobody"], false],
      [[], false]
    ] as const) {
      expect(administers(policy, held)).toBe(may)
    }
    expect(Object.hasOwn(policyOf([]), "administering")).toBe(false)
  })

  it("lets nobody administer through a prototype that was written to", () => {
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

  it("reads a value that begins with a dollar sign when it is doubled", () => {
    expect(policyOf([{ where: { name: "$$me" } }]).rules[0]!.where).toMatchObject({
      operand: { _tag: "Literal", value: "$me" }
    })
  })
})

describe("a policy file that would not mean what it says is refused", () => {
  it("a point in time that doesn't exist", () => {
    expect(problemOf({ notAfter: "2027-02-31" })).not.toEqual([])
    expect(problemOf({ notBefore: "2027-04-31T00:00:00Z" })).not.toEqual([])
  })

  it("$me where no person can stand", () => {
    expect(whereProblem({ company: "$me" })).not.toEqual([])
    expect(whereProblem({ id: "$me" }, "companies")).not.toEqual([])
    expect(whereProblem({ id: "$me" })).toEqual([])
    expect(whereProblem({ owner: "$me" }, "companies")).toEqual([])
    expect(whereProblem({ attendees: "$me" }, "meetings")).toEqual([])
  })

  it("a reference to what can't be an id", () => {
    expect(whereProblem({ owner: "lena@atlas.com" })).not.toEqual([])
    expect(whereProblem({ owner: ["Lena Fischer"] })).not.toEqual([])
    expect(whereProblem({ attendees: "lena@atlas.com" }, "meetings")).not.toEqual([])
  })

  it("a time with an offset that no place has", () => {
    expect(whereProblem({ start: { gt: "2026-01-01T00:00:00+99:99" } }, "meetings")).not.toEqual([])
  })
})

describe("a key that stands twice in one object", () => {
  const where = (condition: string) =>
    `{"version":1,"roles":{"member":{}},"rules":[{"id":"r","effect":"allow","role":"member","action":"read","type":"people","columns":"*","where":${condition}}]}`
  const messages = (text: string) => {
    const reading = readPolicy(text, catalog)
    return "problems" in reading ? reading.problems.map(problemText).join() : ""
  }

  it("is refused, however it is written, because the first would be dropped", () => {
    expect(messages(where(`{"status":"a","status":"b"}`))).toContain(`"status" stands twice`)
    expect(messages(where(`{"status":"a", "st\\u0061tus" : "b"}`))).toContain(`"status" stands twice`)
    expect(messages(where(`{"any":[{"status":"a"},{"not":{"name":"x","name":"y"}}]}`))).toContain(`"name" stands twice`)
    // What is in a text opens and closes nothing.
    expect(messages(where(`{"name":"{","name":"y"}`))).toContain(`"name" stands twice`)
    expect(messages(where(`{"name":["}"],"name":"y"}`))).toContain(`"name" stands twice`)
  })

  it("may stand in different objects, and in texts", () => {
    expect(messages(where(`{"any":[{"status":"a"},{"status":"b"},{"name":"\\"status\\": x, \\"status\\": {"}]}`))).toBe(
      ""
    )
  })
})
