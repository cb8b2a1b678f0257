/** Checks that the database roles of reads and writes have exactly their privileges. */
import { Effect, Exit } from "effect"
import { connectAs } from "../../../database/Database.ts"
import { faultOf } from "../../../database/fault.ts"
import { rolesOf } from "../../../database/migrate.ts"
import { SCHEMA_VERSION } from "../../../database/migrations/index.ts"
import { identifier } from "../../../database/sql/SqlWriter.ts"
import { compareWrites } from "../../mapping/writeGrants.ts"
import { type Check, fail, type Finding, ok, type Examined, some, warn } from "./Finding.ts"

export const roles: Check = Effect.fnUntraced(function* (database) {
  const { inspection, owner } = database
  const [me] = yield* owner<{ name: string; makes: boolean }>`
      SELECT rolname::text AS name, rolcreaterole OR rolsuper AS makes FROM pg_roles WHERE rolname = current_user`
  if (inspection.rolesExist) return yield* checkPrivileges(database)
  const prepared = inspection.schemaVersion > 0
  if (me!.makes)
    return prepared
      ? [fail("roles", "The roles of reads and writes are missing: everything runs as the owner.", "max migrate")]
      : [ok("roles", "max migrate may create the roles of reads and writes.")]
  return [
    warn(
      "roles",
      `${me!.name} may not create roles, so lookups ${prepared ? "run" : "would run"} as the owner: only a session setting makes them read-only, not a privilege.`,
      `ALTER ROLE ${identifier(me!.name)} CREATEROLE; (as an administrator, before max migrate; NOCREATEROLE after it)`
    )
  ]
})

const checkPrivileges = Effect.fnUntraced(function* (database: Examined) {
  const { inspection, owner } = database
  const names = rolesOf(inspection.database)
  const found = yield* owner.unsafe<Rights>(RIGHTS, [names.read, names.app, names.change]).unprepared
  const findings: Array<Finding> = []
  for (const rights of found) {
    const powers = powersOf(rights, rights.name === names.app ? names.change : undefined)
    if (powers.length > 0)
      findings.push(
        fail(
          "roles",
          `${rights.name} has more rights than it should: it is ${powers.join(", ")}.`,
          ...mendingOf(rights, rights.name === names.app ? names.change : undefined)
        )
      )
  }
  if (!found.some(({ name }) => name === names.change))
    findings.push(
      fail(
        "roles",
        "The role that writes changes is missing: changes are written as the role of other writes.",
        "max migrate"
      )
    )
  const changer = found.find(({ name }) => name === names.change)
  // Outside of Max's own schemas, the mappings decide what it may write.
  const writes = inspection.schemaVersion < SCHEMA_VERSION ? undefined : yield* compareWrites(owner)
  if (writes !== undefined && writes.excess.length > 0)
    findings.push(
      fail(
        "roles",
        `The role of changes may write what no mapping asks for: ${some(writes.excess)}.`,
        ...writes.revokes.map((statement) => `${statement.replace(' FROM "', ' FROM PUBLIC, "')};`)
      )
    )
  const writable = changer?.writable.filter((name) => writes === undefined || /^(max|builder)\./.test(name)) ?? []
  if (writable.length > 0)
    findings.push(
      fail(
        "roles",
        `The role of changes may write into ${some(writable)}.`,
        ...writable
          .slice(0, 5)
          .map(
            (table) => `REVOKE INSERT, UPDATE, DELETE, TRUNCATE ON ${table} FROM PUBLIC, ${identifier(names.change)};`
          )
      )
    )
  const reader = found.find(({ name }) => name === names.read)!
  if (reader.writable.length > 0)
    findings.push(
      fail(
        "roles",
        `The reading role may write into ${some(reader.writable)}.`,
        ...reader.writable
          .slice(0, 5)
          .map((table) => `REVOKE INSERT, UPDATE, DELETE, TRUNCATE ON ${table} FROM PUBLIC, ${identifier(names.read)};`)
      )
    )
  if (reader.creatable.length > 0)
    findings.push(
      warn(
        "roles",
        `The reading role may create tables in ${some(reader.creatable)}.`,
        ...reader.creatable.map((name) => `REVOKE CREATE ON SCHEMA ${name} FROM PUBLIC, ${identifier(names.read)};`)
      )
    )
  const writeFinding = yield* attemptWrite(database, names.read)
  if (writeFinding !== undefined) findings.push(writeFinding)
  if ((yield* Effect.exit(Effect.scoped(connectAs(database.from, names.app)))).pipe(Exit.isFailure))
    findings.push(fail("roles", `${names.app} can't log in: nothing can be written.`, "max migrate"))
  return findings.length > 0
    ? findings
    : [ok("roles", `Lookups run as ${names.read}, which can only read: a write was attempted and refused.`)]
})

interface Rights {
  readonly name: string
  readonly super: boolean
  readonly bypass: boolean
  readonly creates: boolean
  readonly members: ReadonlyArray<string>
  readonly owns: boolean
  readonly writable: ReadonlyArray<string>
  readonly creatable: ReadonlyArray<string>
}

const RIGHTS = `SELECT r.rolname::text AS name, r.rolsuper AS super, r.rolbypassrls OR r.rolreplication AS bypass,
    r.rolcreaterole OR r.rolcreatedb AS creates,
    ARRAY(SELECT g.rolname::text FROM pg_auth_members m JOIN pg_roles g ON g.oid = m.roleid WHERE m.member = r.oid) AS members,
    EXISTS (SELECT FROM pg_class c WHERE c.relowner = r.oid) AS owns,
    ARRAY(SELECT c.oid::regclass::text FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
      WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND n.nspname !~ '^pg_' AND n.nspname <> 'information_schema'
        AND (r.rolname <> $3 OR n.nspname <> 'data') AND has_table_privilege(r.oid, c.oid, 'INSERT, UPDATE, DELETE, TRUNCATE') ORDER BY 1 LIMIT 20) AS writable,
    ARRAY(SELECT quote_ident(n.nspname) FROM pg_namespace n
      WHERE n.nspname !~ '^pg_' AND has_schema_privilege(r.oid, n.oid, 'CREATE') ORDER BY 1) AS creatable
  FROM pg_roles r WHERE r.rolname IN ($1, $2, $3) ORDER BY r.rolname = $2`

/** The groups of a role beyond the one that it should have. */
const excessOf = ({ members }: Rights, intended: string | undefined) => members.filter((group) => group !== intended)

const powersOf = (rights: Rights, intended: string | undefined): ReadonlyArray<string> => [
  ...(rights.super ? ["a superuser"] : []),
  ...(rights.bypass ? ["allowed to bypass row-level security or to replicate"] : []),
  ...(rights.creates ? ["allowed to create roles or databases"] : []),
  ...(rights.owns ? ["the owner of tables"] : []),
  ...(excessOf(rights, intended).length > 0 ? [`a member of ${excessOf(rights, intended).join(", ")}`] : [])
]

const mendingOf = (rights: Rights, intended: string | undefined): ReadonlyArray<string> => [
  "max migrate",
  ...excessOf(rights, intended).map((group) => `REVOKE ${identifier(group)} FROM ${identifier(rights.name)};`),
  ...(rights.owns ? [`REASSIGN OWNED BY ${identifier(rights.name)} TO CURRENT_USER;`] : [])
]

/** Attempts an UPDATE that matches no row, in a transaction set to READ WRITE, as no lookup does. */
const attemptWrite = (database: Examined, role: string) =>
  Effect.gen(function* () {
    const reader = yield* connectAs(database.from, role)
    if (database.inspection.schemaVersion === 0) return undefined
    const failure = yield* reader
      .withTransaction(
        Effect.gen(function* () {
          yield* reader.unsafe("SET TRANSACTION READ WRITE").unprepared
          yield* reader.unsafe("UPDATE data.people SET name = name WHERE false").unprepared
        })
      )
      .pipe(Effect.flip, Effect.option)
    return failure._tag === "Some" && faultOf(failure.value).code === "42501"
      ? undefined
      : fail("roles", `${role} can write: an UPDATE wasn't refused.`, "max migrate")
  })
    .pipe(Effect.scoped)
    .pipe(
      Effect.catchTag("SqlError", (error) =>
        Effect.succeed(
          fail("roles", `${role} can't log in, ${faultOf(error).reason}: nothing can be looked up.`, "max migrate")
        )
      )
    )
