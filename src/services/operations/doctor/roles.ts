/** The walls: whether the roles that lookups and writes run as can do no more than they should. */
import { Effect, Exit } from "effect"
import { connectAs } from "../../../database/Database.ts"
import { faultOf } from "../../../database/fault.ts"
import { rolesOf } from "../../../database/migrate.ts"
import { identifier } from "../../../database/sql/SqlWriter.ts"
import { type Check, fail, type Finding, ok, type Patient, some, warn } from "./Finding.ts"

export const roles: Check = (patient) =>
  Effect.gen(function* () {
    const { inspection, owner } = patient
    const [me] = yield* owner<{ name: string; makes: boolean }>`
      SELECT rolname::text AS name, rolcreaterole OR rolsuper AS makes FROM pg_roles WHERE rolname = current_user`
    if (inspection.rolesExist) return yield* walls(patient)
    const prepared = inspection.schemaVersion > 0
    if (me!.makes)
      return prepared
        ? [
            fail(
              "roles",
              "The roles that lookups and writes run as are missing: everything runs as the owner.",
              "max migrate"
            )
          ]
        : [ok("roles", "max migrate may make the roles that lookups and writes run as.")]
    return [
      warn(
        "roles",
        `${me!.name} may not create roles, so lookups ${prepared ? "run" : "would run"} as the owner: they are read-only by a setting alone, and the wall behind it is missing.`,
        `ALTER ROLE ${identifier(me!.name)} CREATEROLE; (as an administrator, before max migrate; NOCREATEROLE after it)`
      )
    ]
  })

const walls = Effect.fnUntraced(function* (patient: Patient) {
  const { inspection, owner } = patient
  const names = rolesOf(inspection.database)
  const found = yield* owner.unsafe<Rights>(RIGHTS, [names.read, names.app]).unprepared
  const findings: Array<Finding> = []
  for (const rights of found) {
    const powers = powersOf(rights)
    if (powers.length > 0)
      findings.push(
        fail("roles", `${rights.name} is more than it should be: ${powers.join(", ")}.`, ...mendingOf(rights))
      )
  }
  const reader = found.find(({ name }) => name === names.read)!
  if (reader.writable.length > 0)
    findings.push(
      fail(
        "roles",
        `Lookups could write into ${some(reader.writable)}.`,
        ...reader.writable
          .slice(0, 5)
          .map((table) => `REVOKE INSERT, UPDATE, DELETE, TRUNCATE ON ${table} FROM PUBLIC, ${identifier(names.read)};`)
      )
    )
  if (reader.creatable.length > 0)
    findings.push(
      warn(
        "roles",
        `Lookups could make tables in ${some(reader.creatable)}.`,
        ...reader.creatable.map((name) => `REVOKE CREATE ON SCHEMA ${name} FROM PUBLIC, ${identifier(names.read)};`)
      )
    )
  const tried = yield* tryToWrite(patient, names.read)
  if (tried !== undefined) findings.push(tried)
  if ((yield* Effect.exit(Effect.scoped(connectAs(patient.from, names.app)))).pipe(Exit.isFailure))
    findings.push(fail("roles", `${names.app} can't log in: nothing can be written.`, "max migrate"))
  return findings.length > 0
    ? findings
    : [ok("roles", `Lookups run as ${names.read}, which can read and nothing else; it was tried.`)]
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
        AND has_table_privilege(r.oid, c.oid, 'INSERT, UPDATE, DELETE, TRUNCATE') ORDER BY 1 LIMIT 20) AS writable,
    ARRAY(SELECT quote_ident(n.nspname) FROM pg_namespace n
      WHERE n.nspname !~ '^pg_' AND has_schema_privilege(r.oid, n.oid, 'CREATE') ORDER BY 1) AS creatable
  FROM pg_roles r WHERE r.rolname IN ($1, $2) ORDER BY r.rolname = $2`

const powersOf = (rights: Rights): ReadonlyArray<string> => [
  ...(rights.super ? ["a superuser"] : []),
  ...(rights.bypass ? ["allowed past row-level security or to replicate"] : []),
  ...(rights.creates ? ["allowed to create roles or databases"] : []),
  ...(rights.owns ? ["the owner of tables"] : []),
  ...(rights.members.length > 0 ? [`a member of ${rights.members.join(", ")}`] : [])
]

const mendingOf = ({ members, name, owns }: Rights): ReadonlyArray<string> => [
  "max migrate",
  ...members.map((group) => `REVOKE ${identifier(group)} FROM ${identifier(name)};`),
  ...(owns ? [`REASSIGN OWNED BY ${identifier(name)} TO CURRENT_USER;`] : [])
]

/** Tries what no lookup does, in a transaction that asks to be writable: of no row, and taken back. */
const tryToWrite = (patient: Patient, role: string) =>
  Effect.scoped(
    Effect.gen(function* () {
      const reader = yield* connectAs(patient.from, role)
      if (patient.inspection.schemaVersion === 0) return undefined
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
  ).pipe(
    Effect.catchTag("SqlError", (error) =>
      Effect.succeed(
        fail("roles", `${role} can't log in, ${faultOf(error).reason}: nothing can be looked up.`, "max migrate")
      )
    )
  )
