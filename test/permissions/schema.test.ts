import { Ajv } from "ajv"
import { readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { describe, expect, it } from "vitest"
import { policySchema } from "../../src/permissions/policySchema.ts"
import starter from "../../src/services/policies/starter-policy.json" with { type: "json" }
import { systemCatalog } from "../support/catalog.ts"
import { catalog, file, problemsOf, type RuleInput } from "./support.ts"

const root = join(dirname(fileURLToPath(import.meta.url)), "..", "..")
const validator = (schema: object) => {
  const validate = new Ajv({ strict: false }).compile(schema)
  return (document: unknown) => validate(document)
}
const general = validator(policySchema())
const own = validator(policySchema(catalog, ["member", "manager", "agent"]))
const parsed = (rules: ReadonlyArray<RuleInput>, more: object = {}): unknown => JSON.parse(file(rules, more))

describe("the JSON Schema of a policy file", () => {
  it("equals the file that the package ships", () => {
    expect(JSON.parse(readFileSync(join(root, "policy.schema.json"), "utf8"))).toEqual(policySchema())
  })

  it("accepts policies that readPolicy accepts", () => {
    const good: ReadonlyArray<unknown> = [
      parsed([]),
      parsed([{}], { $schema: "./policy.schema.json" }),
      parsed([
        { where: { any: [{ owner: "$me" }, { company: { name: "Atlas" } }, { status: ["a", "b"] }, { phone: null }] } },
        { effect: "deny", columns: ["phone"], where: { not: { level: { gte: 3, lt: 9 } } } },
        { where: { owner: { not: { company: { not: { name: { ne: "x" } } } } } }, notAfter: "2027-01-01" },
        { type: "meetings", where: { attendees: "$me", start: { not: null } } },
        { where: { id: "$me" } }
      ]),
      parsed(
        [
          { action: "update", columns: ["phone"], where: { owner: "$me" }, becomes: {} },
          { action: "create", columns: ["name"] },
          { action: "delete" },
          { action: "invoke", name: "send_reminder" }
        ],
        {
          confirm: [
            { action: "delete", type: "people", by: "second", approvers: ["manager"] },
            { action: "update", type: "people", columns: ["owner"], above: 5, by: "twice" },
            { action: "invoke", name: "send_reminder", type: "people", by: "once" }
          ]
        }
      ),
      parsed([{}], {
        roles: { member: { inherits: [] }, manager: { inherits: ["member"], administers: ["policy"] } },
        confirm: [{ action: "publish", by: "second", approvers: ["manager"] }]
      }),
      parsed([{}], {
        tests: [
          { as: "lena@atlas.com", read: "people", expect: ["a"], shows: ["phone"] },
          { as: "lena@atlas.com", roles: ["member"], attributes: { region: "west" }, read: "companies", denied: true },
          {
            as: "lena@atlas.com",
            update: "people",
            values: { status: "won", owner: null },
            allows: ["a"],
            refuses: []
          },
          { as: "lena@atlas.com", create: "people", values: { name: "x", tags: ["a"] }, allowed: false },
          { as: "lena@atlas.com", delete: "people", refuses: ["a"] }
        ]
      })
    ]
    for (const document of good) {
      expect(problemsOf(JSON.stringify(document))).toEqual([])
      expect([general(document), own(document)]).toEqual([true, true])
    }
    expect(general(starter)).toBe(true)
    expect(validator(policySchema(systemCatalog))(starter)).toBe(true)
  })

  it("rejects policies that readPolicy refuses", () => {
    const bad: ReadonlyArray<unknown> = [
      parsed([], { version: 2 }),
      parsed([{ type: "peple" }]),
      parsed([{ effect: "permit" }]),
      parsed([{ columns: ["fone"] }]),
      parsed([{ type: "companies", columns: ["phone"] }]),
      parsed([{ columns: [] }]),
      parsed([{ colums: "*" }]),
      parsed([{ where: { statuss: "vip" } }]),
      parsed([{ where: { company: { nam: "x" } } }]),
      parsed([{ where: { level: { gtx: 3 } } }]),
      parsed([{ where: { any: {} } }]),
      parsed([{ action: "update", becomes: { statuss: "vip" } }]),
      parsed([{ action: "invoke", name: "Send reminder" }]),
      parsed([{}], { confirm: {} }),
      parsed([{}], { confirm: [{ action: "publish", by: "second" }] }),
      parsed([{}], { confirm: [{ action: "publish", by: "twice", approvers: ["manager"] }] }),
      parsed([{}], { confirm: [{ action: "publish", type: "people", by: "second", approvers: ["manager"] }] }),
      parsed([{}], { confirm: [{ action: "read", type: "people", by: "once" }] }),
      parsed([{}], { confirm: [{ action: "update", type: "people", by: "thrice" }] }),
      parsed([{}], { confirm: [{ action: "update", type: "people", columns: ["fone"], by: "twice" }] }),
      parsed([{}], { confirm: [{ action: "update", type: "people", above: 0, by: "twice" }] }),
      parsed([{}], { tests: [{ as: "x", read: "people", update: "people", values: { phone: "1" }, allows: [] }] }),
      parsed([{}], { tests: [{ as: "x", read: "people", expcet: [] }] }),
      parsed([{}], { tests: [{ as: "x", read: "people", shows: ["fone"] }] })
    ]
    for (const document of bad) {
      expect(problemsOf(JSON.stringify(document)), JSON.stringify(document)).not.toEqual([])
      expect(own(document), JSON.stringify(document)).toBe(false)
    }
  })
})
