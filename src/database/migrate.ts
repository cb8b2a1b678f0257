/** Migrates the schema under a lock, and creates the roles that reads and writes run as. */
import type { PgClient } from "@effect/sql-pg"
import { Effect, Redacted } from "effect"
import type { SqlError } from "effect/sql"
import { createHash, createHmac, pbkdf2Sync, randomBytes } from "node:crypto"
import { ConfigurationError } from "../domain/errors.ts"
import { moves } from "./migrations/0041_moves.ts"
import { migrations, PRELUDE, SCHEMA_VERSION } from "./migrations/index.ts"
import { identifier } from "./sql/SqlWriter.ts"

/** The state of a database before a migration. */
export interface Inspection {
  readonly serverVersion: number
  readonly database: string
  /** The newest migration applied, 0 for none. */
  readonly schemaVersion: number
  readonly rolesExist: boolean
  readonly changeRoleExists: boolean
  /** Whether the server is a standby, or is being recovered. */
  readonly inRecovery: boolean
}

export interface Roles {
  readonly read: string
  readonly app: string
  /** Writes the rows of a change. It can't log in; the app role switches to it within a transaction. */
  readonly change: string
}

/** Roles are global to a server and an installation is one database, so role names include a hash of the database name. */
export const rolesOf = (database: string): Roles => {
  const suffix = createHash("sha256").update(database).digest("hex").slice(0, 8)
  return { read: `max_read_${suffix}`, app: `max_app_${suffix}`, change: `max_change_${suffix}` }
}

/**
 * The password of a role, derived from the owner's so that there is one secret to configure. An owner without a
 * password (a trusted socket) gives roles without one.
 */
export const rolePassword = (ownerPassword: Redacted.Redacted<string> | undefined, role: string) =>
  ownerPassword === undefined
    ? undefined
    : Redacted.make(createHmac("sha256", Redacted.value(ownerPassword)).update(`max role ${role}`).digest("base64url"))

export const inspect = Effect.fnUntraced(function* (owner: PgClient.PgClient) {
  const [server] = yield* owner<{ version: number; database: string; migrated: boolean; inRecovery: boolean }>`
    SELECT current_setting('server_version_num')::int / 10000 AS version, current_database()::text AS database,
      to_regclass('max.migrations') IS NOT NULL AS migrated, pg_is_in_recovery() AS "inRecovery"`
  const roles = rolesOf(server!.database)
  const existing = yield* owner<{ name: string }>`
    SELECT rolname::text AS name FROM pg_roles WHERE rolname IN (${roles.read}, ${roles.app}, ${roles.change})`
  const exists = (role: string) => existing.some(({ name }) => name === role)
  const [latest] = server!.migrated
    ? yield* owner<{ id: number }>`SELECT coalesce(max(id), 0)::int AS id FROM max.migrations`
    : [{ id: 0 }]
  const inspection: Inspection = {
    serverVersion: server!.version,
    database: server!.database,
    schemaVersion: latest!.id,
    rolesExist: exists(roles.read) && exists(roles.app),
    changeRoleExists: exists(roles.change),
    inRecovery: server!.inRecovery
  }
  return inspection
})

/** Fails when this version can't use the database; the message names the command that repairs it. */
export const requireCurrent = (inspection: Inspection): Effect.Effect<void, ConfigurationError> =>
  inspection.serverVersion >= OLDEST_SERVER && inspection.schemaVersion < SCHEMA_VERSION
    ? refuse("The database isn't migrated for this Max. Run: max migrate (max migrate --print shows the statements)")
    : refuseNewer(inspection)

/** The oldest supported Postgres, and the newest tested one. */
export const OLDEST_SERVER = 15
export const NEWEST_SERVER = 18

/** Fails when a migration wouldn't make the database usable: the server is too old, or the schema is of a newer Max. */
export const refuseNewer = (inspection: Inspection): Effect.Effect<void, ConfigurationError> =>
  inspection.serverVersion < OLDEST_SERVER
    ? refuse(`This is Postgres ${inspection.serverVersion}. Max needs ${OLDEST_SERVER} or newer.`)
    : inspection.schemaVersion > SCHEMA_VERSION
      ? refuse(
          "The database was migrated by a newer Max. Update this Max to that version, or restore a backup from before"
        )
      : Effect.void

const refuse = (message: string) => Effect.fail(ConfigurationError.of(message))

const LOCK_KEY = 7_236_911_207

/** Waits for concurrent schema changes, and excludes others until the transaction ends. */
export const holdMigrations = (owner: PgClient.PgClient): Effect.Effect<void, SqlError.SqlError> =>
  Effect.asVoid(owner`SELECT pg_advisory_xact_lock(${LOCK_KEY})`)

/** The statements that migrate a database from one version to another. */
export const pendingStatements = (from: number, to = SCHEMA_VERSION): ReadonlyArray<string> => [
  ...(from === 0 ? PRELUDE : []),
  ...migrations
    .filter((migration) => migration.id > from && migration.id <= to)
    .flatMap(({ id, name, statements }) => [
      ...statements(),
      `INSERT INTO max.migrations (id, name) VALUES (${id}, '${name}')`
    ])
]

interface Migrated {
  readonly from: number
  readonly to: number
  /** Present when the roles couldn't be created; says why. */
  readonly withoutRoles?: string
}

/** Applies pending migrations and creates the roles, in one transaction under a lock. */
export const migrate = Effect.fn("Database.migrate")(function* (
  owner: PgClient.PgClient,
  ownerPassword: Redacted.Redacted<string> | undefined
) {
  return yield* Effect.gen(function* () {
    yield* holdMigrations(owner)
    const inspection = yield* inspect(owner)
    yield* refuseNewer(inspection)
    yield* refuseWhileMoving(owner, inspection)
    for (const statement of pendingStatements(inspection.schemaVersion)) yield* owner.unsafe(statement).unprepared
    const withoutRoles = yield* makeRoles(owner, inspection, ownerPassword)
    const migrated: Migrated = {
      from: inspection.schemaVersion,
      to: SCHEMA_VERSION,
      ...(withoutRoles === undefined ? {} : { withoutRoles })
    }
    return migrated
  }).pipe(owner.withTransaction)
})

/** During a move both databases have one schema, and the fence refuses a migration's updates, too. */
const refuseWhileMoving = Effect.fnUntraced(function* (owner: PgClient.PgClient, { schemaVersion }: Inspection) {
  if (schemaVersion < FIRST_WITH_MOVES || schemaVersion === SCHEMA_VERSION) return
  const [move] = yield* owner<{ slug: string }>`SELECT slug FROM max.moves WHERE incoming OR cleaned_at IS NULL LIMIT 1`
  if (move !== undefined)
    return yield* ConfigurationError.of(
      `The organization ${move.slug} is being moved. Finish or undo that first, and clean up after it (max doctor).`
    )
})

const FIRST_WITH_MOVES = moves.id

/** Idempotent statements that create the roles and set their attributes and privileges. */
export const roleStatements = (
  database: string,
  roles: Roles,
  password: (role: string) => Redacted.Redacted<string> | undefined
): ReadonlyArray<string> => [...definitionsOf(roles, password), ...grantsOf(database, roles), ...changeGrantsOf(roles)]

/** Settings of a role, for connections that can't state their own. */
const SEARCHES = {
  statement_timeout: "5s",
  lock_timeout: "250ms",
  plan_cache_mode: "force_custom_plan",
  random_page_cost: "1.1"
}
const TRANSACTIONS = { jit: "off", default_transaction_isolation: "read committed" }

/**
 * Needs CREATEROLE. Attributes of superusers are removed from a role that has them only: their removal needs a superuser even
 * where nothing changes.
 */
const definitionsOf = (
  { app, change, read }: Roles,
  password: (role: string) => Redacted.Redacted<string> | undefined
): ReadonlyArray<string> => [
  ...[read, app, change].flatMap((name) => [
    `DO $$ BEGIN IF NOT EXISTS (SELECT 1 FROM pg_roles WHERE rolname = '${name}') THEN CREATE ROLE ${identifier(name)}; END IF; END $$`,
    `DO $$ BEGIN IF EXISTS (SELECT 1 FROM pg_roles WHERE rolname = '${name}' AND (rolsuper OR rolcreatedb OR rolcreaterole OR rolreplication OR rolbypassrls)) ` +
      `THEN ALTER ROLE ${identifier(name)} NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS; END IF; END $$`
  ]),
  ...[read, app].flatMap((name) => {
    const secret = password(name)
    return [
      `ALTER ROLE ${identifier(name)} LOGIN PASSWORD ${secret === undefined ? "NULL" : `'${scramVerifier(Redacted.value(secret))}'`}`,
      `ALTER ROLE ${identifier(name)} SET search_path = pg_catalog, pg_temp`
    ]
  }),
  `ALTER ROLE ${identifier(read)} SET default_transaction_read_only = on`,
  // Connections through PgBouncer have these from their role. Others override them when they start.
  ...Object.entries(SEARCHES).map(([name, value]) => `ALTER ROLE ${identifier(read)} SET ${name} = '${value}'`),
  ...[read, app].flatMap((name) =>
    Object.entries(TRANSACTIONS).map(([setting, value]) => `ALTER ROLE ${identifier(name)} SET ${setting} = '${value}'`)
  ),
  `ALTER ROLE ${identifier(change)} NOLOGIN PASSWORD NULL`,
  `GRANT ${identifier(change)} TO ${identifier(app)}`
]

const grantsOf = (database: string, roles: Roles): ReadonlyArray<string> => {
  const read = identifier(roles.read)
  const app = identifier(roles.app)
  return [
    `GRANT CONNECT ON DATABASE ${identifier(database)} TO ${read}, ${app}`,
    `GRANT USAGE ON SCHEMA max, builder, data TO ${read}, ${app}`,
    `GRANT SELECT ON ALL TABLES IN SCHEMA builder, data TO ${read}`,
    `GRANT SELECT ON max.organizations, max.memberships, max.identifiers, max.policies, max.actions, max.data_versions, max.moves TO ${read}`,
    `GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA builder, data TO ${app}`,
    `GRANT SELECT, INSERT, UPDATE, DELETE ON max.organizations, max.memberships, max.identifiers TO ${app}`,
    `GRANT SELECT, INSERT, UPDATE ON max.data_versions TO ${app}`,
    `GRANT SELECT ON max.moves TO ${app}`,
    `GRANT SELECT, INSERT ON max.policies, max.actions, max.audit_log TO ${app}`,
    `GRANT SELECT, INSERT, UPDATE, DELETE ON max.traces, max.traced_statements TO ${app}`,
    `GRANT SELECT, INSERT, UPDATE, DELETE ON max.sessions, max.turns, max.turn_names, max.usage, max.spending TO ${app}`,
    `GRANT SELECT, INSERT, UPDATE, DELETE ON max.credentials, max.identity_providers, max.calls, max.passkeys, max.challenge_keys, max.spent_challenges, max.secrets, max.model_settings, max.question_settings, max.unclear_questions TO ${app}`,
    `GRANT SELECT, INSERT, UPDATE, DELETE ON max.sms_settings, max.sms_numbers, max.sms_senders, max.sms_inbox, max.sms_outbox, max.sms_days, max.sms_codes TO ${app}`,
    `GRANT SELECT, INSERT, UPDATE, DELETE ON max.changes, max.change_steps, max.change_outbox, max.approver_webhooks, max.approver_notices TO ${app}`,
    `GRANT SELECT, INSERT ON max.change_events TO ${app}`,
    `ALTER DEFAULT PRIVILEGES IN SCHEMA data GRANT SELECT ON TABLES TO ${read}`,
    `ALTER DEFAULT PRIVILEGES IN SCHEMA data GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO ${app}`
  ]
}

const changeGrantsOf = (roles: Roles): ReadonlyArray<string> => {
  const change = identifier(roles.change)
  return [
    // Of max, the functions that compare mapped relations with their mapping; it has no right to a table there.
    `GRANT USAGE ON SCHEMA max, data TO ${change}`,
    `GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA data TO ${change}`,
    `ALTER DEFAULT PRIVILEGES IN SCHEMA data GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO ${change}`
  ]
}

/** Defines and grants the roles; only grants if the owner may no longer create roles. Says why there are none. */
const makeRoles = Effect.fnUntraced(function* (
  owner: PgClient.PgClient,
  { changeRoleExists, database, rolesExist }: Inspection,
  ownerPassword: Redacted.Redacted<string> | undefined
) {
  const [me] = yield* owner<{ makes: boolean }>`
    SELECT rolcreaterole OR rolsuper AS makes FROM pg_roles WHERE rolname = current_user`
  if (!me!.makes && !rolesExist)
    return "The database's user may not create roles: reads run as that user, read-only by a session setting only."
  const roles = rolesOf(database)
  const statements = me!.makes
    ? roleStatements(database, roles, (role) => rolePassword(ownerPassword, role))
    : [...grantsOf(database, roles), ...(changeRoleExists ? changeGrantsOf(roles) : [])]
  yield* Effect.forEach(statements, (statement) => owner.unsafe(statement).unprepared, { discard: true })
  return me!.makes || changeRoleExists
    ? undefined
    : "The database's user may not create roles: changes are written as the role of other writes."
})

/** The SCRAM-SHA-256 verifier of a password (RFC 5803), so that the password itself appears in no server log. */
const scramVerifier = (password: string): string => {
  const salt = randomBytes(16)
  const iterations = 4096
  const salted = pbkdf2Sync(password, salt, iterations, 32, "sha256")
  const hmac = (key: Buffer, text: string) => createHmac("sha256", key).update(text).digest()
  const storedKey = createHash("sha256").update(hmac(salted, "Client Key")).digest("base64")
  return `SCRAM-SHA-256$${iterations}:${salt.toString("base64")}$${storedKey}:${hmac(salted, "Server Key").toString("base64")}`
}
