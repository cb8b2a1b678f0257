/** Golden statements of changes for review; test/conformance/writes.test.ts executes each of these forms on a real Postgres. */
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { assignedLinks } from "../../../src/database/sql/assignments.ts"
import { compilableWrite } from "../../../src/database/sql/compilable.ts"
import type { Statement } from "../../../src/database/sql/ResolvedQuery.ts"
import type { Assignment, RowChange } from "../../../src/database/sql/RowChange.ts"
import {
  compileDelete,
  compileInsert,
  compileLock,
  compilePropose,
  compileRestore,
  compileSeen,
  compileUpdate,
  compileVerify
} from "../../../src/database/sql/write.ts"
import {
  type Column,
  columnBySlug,
  type EntityType,
  Storage,
  targetOf,
  typeBySlug
} from "../../../src/domain/EntityType.ts"
import { ALWAYS, Bound } from "../../../src/domain/Predicate.ts"
import type { Principal } from "../../../src/domain/Principal.ts"
import { plan } from "../../../src/permissions/PermissionEngine.ts"
import { readPolicy } from "../../../src/permissions/readPolicy.ts"
import { planWrite, type WriteAction } from "../../../src/permissions/WritePlan.ts"
import { systemCatalog as catalog } from "../../support/catalog.ts"
import { laidOut } from "../../support/goldenStatements.ts"

const rule = (id: string, action: string, type: string, more: object = {}) => ({
  id,
  effect: "allow",
  role: "rep",
  action,
  type,
  columns: "*",
  ...more
})
const policyText = JSON.stringify({
  version: 1,
  roles: { rep: {} },
  rules: [
    rule("see", "read", "people", { where: { owner: "$me" } }),
    rule("see-names", "read", "people", { columns: ["name"], where: { company: { name: "Atlas" } } }),
    rule("see-companies", "read", "companies", { columns: ["name", "phone"] }),
    rule("see-company-names", "read", "companies", { columns: ["status"], where: { name: { not: "Zeta" } } }),
    rule("see-meetings", "read", "meetings", { where: { attendees: "$me" } }),
    rule("own", "update", "people", { columns: ["phone", "status", "company"], where: { owner: "$me" } }),
    rule("hand-over", "update", "people", {
      columns: ["owner"],
      where: { owner: "$me" },
      becomes: { owner: { company: { name: "Atlas" } } }
    }),
    rule("won-stays", "update", "people", { effect: "deny", columns: ["status"], where: { status: "Won" } }),
    rule("adds", "create", "people", { where: { owner: "$me" } }),
    rule("removes", "delete", "people", { where: { owner: "$me", status: { not: "Won" } } }),
    rule("renames", "update", "companies", { columns: ["phone", "email"] }),
    rule("plans", "create", "meetings", { where: { attendees: "$me" } }),
    rule("moves", "update", "meetings", { where: { attendees: "$me" }, becomes: { attendees: { status: "staff" } } }),
    rule("cancels", "delete", "meetings", { where: { owner: "$me" } })
  ]
})

const reading = readPolicy(policyText, catalog)
if (!("policy" in reading)) throw new Error(JSON.stringify(reading.problems))
const { policy } = reading
const principal: Principal = { organizationId: 1n, anchorEntityId: "bcd", roles: ["rep"], attributes: {}, epoch: 7n }

const seenOf = (type: EntityType) => {
  const found = plan(policy, catalog, principal, type, "read", 0)
  if (found._tag === "Denied") throw new Error(found.reason)
  return found
}

const assigned = (type: EntityType, values: Readonly<Record<string, ReadonlyArray<string | null>>>) =>
  Object.entries(values).map(([slug, texts]): Assignment => {
    const column = columnBySlug(type, slug)!
    const target = targetOf(catalog, column)
    return { column, texts, ...(target === undefined ? {} : { target: { type: target, where: seenOf(target).where } }) }
  })

const changeOf = (
  slug: string,
  action: WriteAction,
  ids: ReadonlyArray<string>,
  values: Readonly<Record<string, ReadonlyArray<string | null>>> = {}
): RowChange => {
  const type = typeBySlug(catalog, slug)!
  const write = planWrite(policy, catalog, principal, type, action, 0)
  if (write._tag === "Denied") throw new Error(write.reason)
  return { type, ids, assignments: assigned(type, values), read: seenOf(type), write }
}

const status = changeOf("people", "update", ["11", "12"], { status: ["Qualified", "qualified"] })
const owner = changeOf("people", "update", ["11"], { owner: ["13"], phone: [null, null] })
const adds = changeOf("people", "create", ["14"], {
  name: ["Ada", "ada"],
  owner: ["2081"],
  email: ["Ada@example.com", "ada@example.com"]
})
const removes = changeOf("people", "delete", ["11"])
const moves = changeOf("meetings", "update", ["21"], { start: ["2026-03-31T14:00"], attendees: ["11", "12"] })
const invites = changeOf("meetings", "update", ["21"], { attendees: ["11"] })
const plans = changeOf("meetings", "create", ["22"], {
  name: ["Review", "review"],
  start: ["2026-03-31T14:00:00.000000Z"],
  attendees: ["11"]
})
const cancels = changeOf("meetings", "delete", ["21", "22"])
const hidden = changeOf("companies", "update", ["31"], { phone: ["555", null], email: [null, null] })
/** Its owner and its company are created by the same change. */
const linked = changeOf("people", "update", ["11"], { owner: ["14"], company: ["32"] })
const together = {
  ...linked,
  assignments: linked.assignments.map((one) => ({ ...one, target: { ...one.target!, created: ["14", "32"] } }))
}
/** Of a type that an organization has defined. */
const amount: Column = {
  key: "amount",
  slug: "amount",
  name: "Amount",
  kind: "number",
  storage: Storage.Value({ column: "amount" })
}
const everything = typeBySlug(catalog, "meetings")!.columns

const STATEMENTS: Readonly<Record<string, Statement>> = {
  "propose-update": compilePropose(status, catalog),
  "propose-update-with-the-proposer": compilePropose(status, catalog, { type: owner.type, id: "13", read: owner.read }),
  "propose-update-of-references": compilePropose(owner, catalog),
  "propose-update-of-links": compilePropose(moves, catalog),
  "propose-update-of-a-hidden-cell": compilePropose(hidden, catalog),
  "propose-update-to-a-created-row": compilePropose(together, catalog),
  "propose-create": compilePropose(adds, catalog),
  "propose-create-with-links": compilePropose(plans, catalog),
  "propose-delete": compilePropose(removes, catalog),
  "lock-update": compileLock(
    status,
    [
      { id: "11", before: ["Lost"], name: "Taylor" },
      { id: "12", before: [null], name: null }
    ],
    catalog
  ),
  "lock-update-of-references": compileLock(owner, [{ id: "11", before: ["12", null], name: "Taylor" }], catalog),
  "lock-delete": compileLock(
    removes,
    [{ id: "11", before: removes.type.columns.map(() => null), name: "Taylor", row: `{"id": 11}` }],
    catalog
  ),
  seen: compileSeen(owner.type, ["11"], [owner.assignments[0]!.column], owner.read, catalog),
  create: compileInsert(adds.type, "14", adds.assignments, catalog),
  "create-with-links": compileInsert(plans.type, "22", plans.assignments, catalog),
  update: compileUpdate(status.type, status.ids, status.assignments, catalog),
  "update-of-links": compileUpdate(moves.type, moves.ids, moves.assignments, catalog),
  "update-of-links-only": compileUpdate(invites.type, invites.ids, invites.assignments, catalog),
  delete: compileDelete(cancels.type, cancels.ids, catalog),
  restore: compileRestore(moves.type, "21", `{"id": 21}`, invites.assignments, catalog),
  "verify-a-number": compileVerify(moves.type, moves.ids, [amount], moves.write, catalog),
  verify: compileVerify(moves.type, moves.ids, everything.slice(-1), moves.write, catalog)
}

describe("the statement of a change", () => {
  for (const [name, statement] of Object.entries(STATEMENTS)) {
    it(`matches its golden file: ${name}`, async () => {
      await expect(laidOut(statement)).toMatchFileSnapshot(join("golden", "write", `${name}.sql`))
    })
  }

  it("binds every value, and holds none in its text", () => {
    for (const { text } of Object.values(STATEMENTS))
      expect(text.replace(/\/\*[^*]*\*\//, "")).not.toMatch(/Atlas|staff|won|lost|qualified|taylor|ada\b|review|2026/i)
  })

  it("restricts every table to the organization, and none is mapped", () => {
    for (const [name, { mapped, text }] of Object.entries(STATEMENTS)) {
      expect(mapped, name).toBeUndefined()
      const aliases = [...text.matchAll(/(?:FROM|JOIN|UPDATE|INTO) "data"\."\w+"(?: AS)? (\w+)/g)].map(
        (match) => match[1]!
      )
      expect(aliases.length, name).toBeGreaterThan(0)
      for (const alias of aliases)
        expect(
          text.includes(`${alias}.organization_id = $1::bigint`) ||
            /INSERT INTO "data"\."\w+" AS p \(?(organization_id|SELECT r)/.test(text),
          `${name}: ${alias}`
        ).toBe(true)
    }
  })

  it("locks the rows that it changes, and only those, without waiting", () => {
    for (const [name, { text }] of Object.entries(STATEMENTS)) {
      expect(text.endsWith(" FOR UPDATE OF p NOWAIT"), name).toBe(name.startsWith("lock"))
      expect(/\b(INSERT|UPDATE|DELETE)\b (?!OF)/.test(text.replace(/\/\*[^*]*\*\//, "")), name).toBe(
        /^(create|update|delete|restore)/.test(name)
      )
    }
  })

  it("isn't compiled from a plan of more than 64 kB, or one that no longer fits the catalog", () => {
    const { type, write } = status
    expect(compilableWrite(write, type, catalog)).toBe(write)
    const hop = (at: number) =>
      Bound.Some({
        relation: "owner",
        where: Bound.Compare({ column: "status", side: "value", op: "eq", value: `${at}` })
      })
    const sized = (count: number) => ({ ...write, after: Array.from({ length: count }, (_, at) => hop(at)) })
    expect(compilableWrite(sized(100), type, catalog)._tag).toBe("Granted")
    expect(compilableWrite(sized(700), type, catalog)).toMatchObject({ reason: "too-large" })
    const broken = { ...sized(50), before: [Bound.Some({ relation: "other", where: ALWAYS })] }
    expect(compilableWrite(broken, type, catalog)).toMatchObject({ reason: "not-bindable" })
  })

  it("isn't compiled for a mapped type, nor for a relation without the plan of its target", () => {
    const mapped = {
      ...status.type,
      mapping: { id: { column: "id", type: "bigint" as const }, where: [], unique: true }
    }
    expect(() => compileUpdate(mapped, ["11"], status.assignments, catalog)).toThrow("read only")
    const blind = owner.assignments.map(({ column, texts }) => ({ column, texts }))
    expect(() => compilePropose({ ...owner, assignments: blind }, catalog)).toThrow("without a plan of its target")
    const short = status.assignments.map((assignment) => ({ ...assignment, texts: ["Won"] }))
    expect(() => compileUpdate(status.type, ["11"], short, catalog)).toThrow("doesn't fit its column")
  })
})

it("the links that a change assigns are those of the changed row and relation only", () => {
  const [{ column }] = invites.assignments as [Assignment]
  // A context without a writer: nothing may be written.
  expect(assignedLinks(invites.assignments, {} as never)(column, "b")).toBeUndefined()
  expect(assignedLinks([], {} as never)(column, "a")).toBeUndefined()
  expect(() => assignedLinks(invites.assignments, {} as never)(column, "a")).toThrow(TypeError)
})
