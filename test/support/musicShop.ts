/** Chinook, a music shop's public sample database, mapped with columns that may be changed: its tables are another program's. */
import { Effect } from "effect"
import { readFileSync } from "node:fs"
import type { Organization } from "../../src/domain/EntityType.ts"
import { IdentityResolver } from "../../src/services/members/IdentityResolver.ts"
import { Mappings } from "../../src/services/mapping/Mappings.ts"
import {
  type MappingFile,
  readMappingFile,
  type TypeEntry,
  type WriteEntry
} from "../../src/services/mapping/mappingFile.ts"
import { makeOrganization } from "./atlas.ts"
import { as, forgetLimits } from "./changes.ts"
import { fixture } from "./fixtures.ts"
import { asExistingPerson, byHand, policyFor, runScript } from "./mappedTables.ts"

const CHINOOK = readFileSync(fixture("chinook", "Chinook_PostgreSql.sql"), "utf8")
export const JANE = "jane@chinookcorp.com"
export const STEVE = "steve@chinookcorp.com"
export const NOT_TAKEN = "The database doesn't take this value: nothing was changed."

export const rule = (id: string, role: string, action: string, type: string, columns: unknown, where?: object) => ({
  id,
  effect: "allow",
  role,
  action,
  type,
  columns,
  ...(where === undefined ? {} : { where })
})

/** Agents see and change their own customers; the boss all. */
export const POLICY = {
  version: 1,
  roles: { boss: {}, agent: {} },
  rules: [
    rule("people", "boss", "read", "people", "*"),
    rule("colleagues", "agent", "read", "people", ["name"]),
    rule("all", "boss", "read", "customers", "*"),
    rule("change-all", "boss", "update", "customers", "*"),
    rule("delete-all", "boss", "delete", "customers", "*"),
    rule("add-all", "boss", "create", "customers", ["first_name", "last_name", "email", "phone", "city"], {
      any: [{ city: null }, { not: { city: "Lima" } }]
    }),
    rule("invoices", "boss", "read", "invoices", "*"),
    rule("change-invoices", "boss", "update", "invoices", "*"),
    rule("own", "agent", "read", "customers", "*", { support_rep: "$me" }),
    rule("change-own", "agent", "update", "customers", ["phone", "email"], { support_rep: "$me" })
  ]
}

export const WRITES: Readonly<Record<string, WriteEntry>> = {
  customers: { columns: ["phone", "email", "company", "city"] },
  invoices: { columns: ["total", "invoice_date", "billing_city"] }
}

let proposed: MappingFile | undefined

/** Maps the shop's tables, `writes` of them to be changed. */
export const mapShop = Effect.fnUntraced(function* (
  organization: Organization,
  writes: Readonly<Record<string, WriteEntry>> = WRITES,
  wheres: Readonly<Record<string, NonNullable<TypeEntry["where"]>>> = {}
) {
  const mappings = yield* Mappings
  const tables = ["customer", "employee", "invoice"].map((table) => `public.${table}`)
  proposed ??= (yield* mappings.propose(organization, tables, true)).file
  const file = proposed
  const types = file.types.map((entry) => ({
    ...entry,
    // The name is put together from these.
    columns:
      entry.type === "customers"
        ? { ...entry.columns, first_name: { from: "first_name" }, last_name: { from: "last_name" } }
        : entry.columns,
    ...(wheres[entry.type] === undefined ? {} : { where: wheres[entry.type]! }),
    ...(writes[entry.type] === undefined ? {} : { write: writes[entry.type]! })
  }))
  return yield* mappings.apply(organization, yield* readMappingFile(JSON.stringify({ ...file, types })))
})

const shop = Effect.fnUntraced(function* () {
  const identities = yield* IdentityResolver
  const organization = yield* makeOrganization("shop")
  yield* runScript(CHINOOK)
  yield* mapShop(organization)
  yield* policyFor(organization, POLICY)
  const member = Effect.fnUntraced(function* (email: string, role: string) {
    const reader = yield* asExistingPerson(organization, email, role)
    const { principal } = yield* identities.admit(organization, { kind: "email", key: email })
    return { ...reader, ...(yield* as(principal)) }
  })
  return { organization, jane: yield* member(JANE, "boss"), steve: yield* member(STEVE, "agent") }
})

type Shop = Effect.Success<ReturnType<typeof shop>>

/** The text of a customer's row. */
export const customer = (id: number) => byHand(`SELECT c::text AS id FROM customer c WHERE customer_id = ${id}`)

/** The rights on a relation, as `\dp` shows them, of the role that applies changes. */
export const rightsOn = Effect.fnUntraced(function* (relation: string) {
  return yield* byHand(`SELECT x.line AS id FROM (
    SELECT '' || acl.privilege_type AS line FROM pg_class c, aclexplode(c.relacl) acl, pg_roles r
      WHERE c.oid = '${relation}'::regclass AND r.oid = acl.grantee AND r.rolname LIKE 'max\\_change\\_%'
    UNION ALL SELECT acl.privilege_type || ' (' || string_agg(a.attname::text, ', ' ORDER BY a.attname) || ')' FROM pg_attribute a, aclexplode(a.attacl) acl, pg_roles r
      WHERE a.attrelid = '${relation}'::regclass AND NOT a.attisdropped AND r.oid = acl.grantee AND r.rolname LIKE 'max\\_change\\_%' AND acl.privilege_type <> 'SELECT'
      GROUP BY acl.privilege_type) x ORDER BY 1`)
})

export const failing = <A, R>(effect: Effect.Effect<A, unknown, R>) =>
  Effect.flip(effect) as Effect.Effect<{ _tag: string; message: string }, A, R>

/** The shop of a test file, made once, without the limits of its earlier tests. */
export const openedShop = () => {
  let at: Shop | undefined
  return Effect.gen(function* () {
    at ??= yield* shop()
    yield* forgetLimits(at.organization)
    return at
  })
}

const trigger = (body: string, when: string) =>
  `CREATE FUNCTION public.touch() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN ${body.replaceAll("'", "''")} RETURN NEW; END';\n` +
  `CREATE TRIGGER touch ${when} ON public.customer FOR EACH ROW EXECUTE FUNCTION public.touch();\n`
export const withTrigger = <A, E, R>(body: string, use: Effect.Effect<A, E, R>, when = "BEFORE UPDATE") =>
  Effect.acquireUseRelease(
    runScript(trigger(body, when)),
    () => use,
    () => Effect.orDie(runScript("DROP TRIGGER touch ON public.customer;\nDROP FUNCTION public.touch();\n"))
  )
