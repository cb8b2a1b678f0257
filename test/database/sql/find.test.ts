/** Golden statements for review; other tests of the suite execute each of these forms on a real Postgres. */
import { Result } from "effect"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { compileFind, compileBatch } from "../../../src/database/sql/find.ts"
import type { EntityType } from "../../../src/domain/EntityType.ts"
import type { Principal } from "../../../src/domain/Principal.ts"
import type { FindQuery } from "../../../src/domain/Query.ts"
import { plan } from "../../../src/permissions/PermissionEngine.ts"
import { readPolicy } from "../../../src/permissions/readPolicy.ts"
import { resolveLiterals } from "../../../src/services/lookup/resolve.ts"
import { systemCatalog } from "../../support/catalog.ts"

const policyText = JSON.stringify({
  version: 1,
  roles: { member: {}, admin: {}, host: {} },
  rules: [
    { id: "admin-people", effect: "allow", role: "admin", action: "read", type: "people", columns: "*" },
    { id: "admin-companies", effect: "allow", role: "admin", action: "read", type: "companies", columns: "*" },
    { id: "admin-meetings", effect: "allow", role: "admin", action: "read", type: "meetings", columns: "*" },
    {
      id: "own",
      effect: "allow",
      role: "member",
      action: "read",
      type: "people",
      columns: "*",
      where: { any: [{ owner: "$me" }, { company: { name: ["Atlas", "Borealis"] } }] }
    },
    {
      id: "names",
      effect: "allow",
      role: "member",
      action: "read",
      type: "people",
      columns: ["name"],
      where: { status: "staff" }
    },
    {
      id: "no-vip-phones",
      effect: "deny",
      role: "member",
      action: "read",
      type: "people",
      columns: ["phone"],
      where: { status: "vip" }
    },
    {
      id: "companies",
      effect: "allow",
      role: "member",
      action: "read",
      type: "companies",
      columns: ["name"],
      where: { not: { status: "secret" } }
    },
    {
      id: "hosted",
      effect: "allow",
      role: "host",
      action: "read",
      type: "meetings",
      columns: "*",
      where: { any: [{ owner: "$me" }, { attendees: "$me" }] }
    },
    {
      id: "meetings",
      effect: "allow",
      role: "member",
      action: "read",
      type: "meetings",
      columns: "*",
      where: { attendees: "$me" }
    },
    {
      id: "no-secret-meetings",
      effect: "deny",
      role: "member",
      action: "read",
      type: "meetings",
      columns: "*",
      where: { attendees: { not: { status: "staff" } } }
    }
  ]
})

const resolve = (role: string, query: FindQuery) => {
  const reading = readPolicy(policyText, systemCatalog)
  if (!("policy" in reading)) throw new Error(JSON.stringify(reading.problems))
  const principal: Principal = { organizationId: 1n, anchorEntityId: "bcd", roles: [role], attributes: {}, epoch: 7n }
  const planOf = (type: EntityType) => {
    const found = plan(reading.policy, systemCatalog, principal, type, "read", 0)
    return found._tag === "Granted" ? found : undefined
  }
  const resolved = resolveLiterals(query, {
    state: { catalog: systemCatalog, policy: reading.policy, policyHash: "" },
    planOf
  })
  if (Result.isFailure(resolved)) throw new Error(resolved.failure.message)
  return resolved.success
}

const compile = (role: string, query: FindQuery) => {
  const resolved = resolve(role, query)
  const { parameters, text } = compileFind(resolved, systemCatalog)
  return { pool: resolved.pool, text, parameters }
}

/** Formats a statement with one clause per line. */
const laidOut = ({ pool, parameters, text }: ReturnType<typeof compile>): string =>
  [
    `-- pool: ${pool}`,
    ...parameters.map(
      (value, index) =>
        `-- $${index + 1} = ${JSON.stringify(value, (_, part: unknown) => (typeof part === "bigint" ? `${part}n` : part))}`
    ),
    text.replace(
      / (WITH|, m AS|, c AS|SELECT \(SELECT g|FROM \(SELECT count|LEFT JOIN|WHERE|AND (?!p\.id = k)|ORDER BY|LIMIT)/g,
      "\n$1"
    ),
    ""
  ].join("\n")

const find = (entityTypeId: string, more: Partial<FindQuery> = {}): FindQuery => ({
  entityTypeId,
  filters: [],
  ...more
})

const CASES: Readonly<Record<string, readonly [string, FindQuery]>> = {
  "admin-phone-eq": [
    "admin",
    find("people", { filters: [{ columnId: "phone", op: "eq", value: "(212) 555-0100" }], selectColumns: ["email"] })
  ],
  "admin-phone-count": [
    "admin",
    find("people", { filters: [{ columnId: "phone", op: "eq", value: "(212) 555-0100" }], limit: 0 })
  ],
  "admin-everything": ["admin", find("people")],
  "admin-count": ["admin", find("people", { filters: [{ columnId: "status", op: "eq", value: "Lead" }], limit: 0 })],
  "member-email-eq-masked-phone": [
    "member",
    find("people", { filters: [{ columnId: "email", op: "eq", value: "A@b" }], selectColumns: ["phone", "company"] })
  ],
  "member-name-contains": ["member", find("people", { filters: [{ columnId: "name", op: "ilike", value: "50%_Á" }] })],
  "member-name-begins": ["member", find("people", { filters: [{ columnId: "name", op: "ilike", value: "ad" }] })],
  "member-company-contains": [
    "member",
    find("people", { filters: [{ columnId: "company", op: "ilike", value: "atlas" }] })
  ],
  "member-company-eq": [
    "member",
    find("people", { filters: [{ columnId: "company", op: "eq", value: "jbcdefghijklm" }] })
  ],
  "member-company-eq-name": [
    "member",
    find("people", { filters: [{ columnId: "company", op: "eq", value: "Atlas" }] })
  ],
  "member-next-page": ["member", find("people", { cursorEntityId: "bcd", limit: 25 })],
  "host-meetings-before-next-page": [
    "host",
    find("meetings", { filters: [{ columnId: "start", op: "lt", value: "2026-03" }], cursorEntityId: "bcd" })
  ],
  "host-status-eq": ["host", find("meetings", { filters: [{ columnId: "status", op: "eq", value: "held" }] })],
  "member-meetings-from": [
    "member",
    find("meetings", {
      filters: [{ columnId: "start", op: "gte", value: "2026-03" }],
      selectColumns: ["start", "attendees"]
    })
  ],
  "member-meetings-before-next-page": [
    "member",
    find("meetings", { filters: [{ columnId: "start", op: "lt", value: "2026-03-31T14:00" }], cursorEntityId: "bcd" })
  ],
  "member-status-ne-any-of": [
    "member",
    find("people", { filters: [{ columnId: "status", op: "ne", value: "lead|vip" }] })
  ],
  "member-without-company": ["member", find("people", { filters: [{ columnId: "company", op: "ne", value: "*" }] })],
  "member-company-path": [
    "member",
    find("people", { filters: [{ columnId: "company.name", op: "eq", value: "Atlas" }] })
  ],
  "member-no-meeting-since": [
    "member",
    find("people", { filters: [{ columnId: "meetings@attendees.start", op: "ne", value: "2026-11-01.." }] })
  ],
  "admin-names-from": ["admin", find("people", { filters: [{ columnId: "name", op: "gte", value: "M" }], limit: 2 })],
  "admin-meetings-on-a-day": [
    "admin",
    find("meetings", {
      filters: [
        { columnId: "start", op: "eq", value: "2026-03-31" },
        { columnId: "attendees", op: "ilike", value: "ada" }
      ]
    })
  ]
}

describe("the statement", () => {
  for (const [name, [role, query]] of Object.entries(CASES)) {
    it(`matches its golden file: ${name}`, async () => {
      await expect(laidOut(compile(role, query))).toMatchFileSnapshot(join("golden", `${name}.sql`))
    })
  }

  for (const name of ["member-email-eq-masked-phone", "admin-phone-count"]) {
    it(`matches its golden file in its batch form: ${name}`, async () => {
      const { shared, text } = compileBatch(resolve(...CASES[name]!), systemCatalog)
      const formatted = `-- the same for all of them: ${[...shared].map((index) => `$${index + 1}`).join(", ")}\n${text}\n`
      await expect(formatted).toMatchFileSnapshot(join("golden", `${name}-several.sql`))
    })
  }

  it("binds every value, and holds none in its text", () => {
    for (const [role, query] of Object.values(CASES)) {
      const { text } = compile(role, query)
      expect(text.replace(/\/\*[^*]*\*\//, "")).not.toMatch(/Atlas|Borealis|staff|vip|secret|lead|2026|212/i)
    }
  })

  it("restricts every table to the organization", () => {
    for (const [role, query] of Object.values(CASES)) {
      const { text } = compile(role, query)
      const tables = [...text.matchAll(/"data"\."\w+" (\w+)/g)].map((match) => match[1]!)
      expect(tables.length).toBeGreaterThan(0)
      for (const alias of tables) expect(text).toContain(`${alias}.organization_id = $1::bigint`)
    }
  })
})
