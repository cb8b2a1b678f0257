/**
 * Restores parts into a database in one transaction: creates the schema of the backup, inserts the rows, checks their
 * sums, and migrates. A failure at any point rolls everything back.
 */
import type { PgClient } from "@effect/sql-pg"
import { Effect, type Redacted, Stream } from "effect"
import { OPERATOR } from "../../../database/audit.ts"
import { raiseEpoch } from "../../../database/epoch.ts"
import { holdMigrations, inspect, migrate, pendingStatements, refuseNewer } from "../../../database/migrate.ts"
import { SCHEMA_VERSION } from "../../../database/migrations/index.ts"
import { identifier, qualified } from "../../../database/sql/SqlWriter.ts"
import { refreshStatistics } from "../../../database/statistics.ts"
import { OperatorError } from "../../../domain/errors.ts"
import { define, MANAGED } from "../../catalog/physicalColumns.ts"
import { texts } from "../../import/statements.ts"
import { grantAll } from "../../mapping/writeGrants.ts"
import { type Contents, FORMAT, type Part } from "./Part.ts"
import { fixSettings, sumOf } from "./snapshot.ts"
import { columnsOf, nameOf, readShapes, type TableShape, tableStatements } from "./TableShape.ts"

/** The database to restore into, with its owner's connection. */
export interface Target {
  readonly owner: PgClient.PgClient
  readonly password: Redacted.Redacted<string> | undefined
}

export interface Restored {
  readonly takenAt: string
  readonly tables: number
  readonly rows: number
  readonly organizations: number
  /** Foreign tables that types are mapped to; a backup contains none of their rows. */
  readonly elsewhere: ReadonlyArray<string>
  readonly withoutRoles?: string
}

/** Fills an empty database with a backup's parts, checks every sum, and migrates the schema. */
export const restoreInto = Effect.fn("Backup.restore")(function* <E, R>(
  { owner, password }: Target,
  parts: Stream.Stream<Part, E, R>
) {
  const { filled, restored } = yield* Effect.gen(function* () {
    const filled = yield* fill(owner, parts)
    const { withoutRoles } = yield* migrate(owner, password)
    yield* expireChanges(owner)
    const restored: Restored = {
      takenAt: filled.takenAt,
      tables: filled.tables.length,
      rows: filled.rows,
      organizations: yield* raiseEpochs(owner),
      elsewhere: yield* readForeignTables(owner),
      ...(withoutRoles === undefined ? {} : { withoutRoles })
    }
    return { filled, restored }
  }).pipe(owner.withTransaction)
  // Mapped relations whose rights this user may not grant are unavailable; doctor names them.
  yield* Effect.ignore(grantAll(owner))
  // Both only affect speed: a failure here doesn't undo the restore.
  yield* Effect.ignore(define(owner, [`VACUUM ${filled.tables.map(qualified).join(", ")}`]))
  yield* Effect.ignore(refreshStatistics(owner, filled.tables))
  return restored
})

/** Restores the rows into the backup's schema version, without migrating; call it in a transaction. */
export const fill = Effect.fnUntraced(function* <E, R>(owner: PgClient.PgClient, parts: Stream.Stream<Part, E, R>) {
  yield* fixSettings(owner)
  let filling: Filling | undefined
  let ended = false
  const damaged = () => OperatorError.of("The backup is invalid: its parts are out of order. Nothing was restored.")
  yield* Stream.runForEach(
    parts,
    Effect.fnUntraced(function* (part) {
      if (ended || (part._tag === "Contents") !== (filling === undefined)) return yield* damaged()
      if (part._tag === "Contents") {
        filling = yield* prepare(owner, part)
        return
      }
      const { contents, done, indexes } = filling!
      if (part._tag === "End") {
        if (done.size !== contents.tables.length || part.rows !== sum(done.values())) return yield* damaged()
        yield* define(owner, indexes)
        ended = true
        return
      }
      const shape = contents.tables[part.table]
      if (shape === undefined || done.has(part.table)) return yield* damaged()
      if (part._tag === "Rows") {
        yield* insertRows(owner, shape, part.rows)
        return
      }
      const restored = yield* sumOf(owner, shape)
      if (restored.rows !== part.rows || restored.checksum !== part.checksum)
        return yield* OperatorError.of(
          `${nameOf(shape)} has ${restored.rows} rows where the backup has ${part.rows}, or other values. Nothing was restored.`
        )
      done.set(part.table, part.rows)
    })
  )
  if (filling === undefined || !ended)
    return yield* OperatorError.of("The backup is incomplete: its end is missing. Nothing was restored.")
  const { contents, done } = filling as Filling
  return { takenAt: contents.takenAt, tables: contents.tables, rows: sum(done.values()) }
})

interface Filling {
  readonly contents: Contents
  /** The number of rows of each completed table. */
  readonly done: Map<number, number>
  /** The statements to run after all rows are inserted. */
  readonly indexes: ReadonlyArray<string>
}

const sum = (numbers: Iterable<number>): number => [...numbers].reduce((all, one) => all + one, 0)

/** Creates the tables of the rows; fails when one has rows already. */
const prepare = Effect.fnUntraced(function* (owner: PgClient.PgClient, contents: Contents) {
  if (contents.format > FORMAT || contents.schemaVersion > SCHEMA_VERSION)
    return yield* OperatorError.of("The backup is from a newer Max. Update this Max to that version")
  yield* holdMigrations(owner)
  const { schemaVersion } = yield* Effect.tap(inspect(owner), refuseNewer)
  if (schemaVersion > contents.schemaVersion)
    return yield* OperatorError.of(
      `The backup is from schema version ${contents.schemaVersion}, and this database already has version ${schemaVersion}. Restore into a new database, without max migrate: the restore migrates it.`
    )
  yield* define(owner, pendingStatements(schemaVersion, contents.schemaVersion))
  // Excludes the concurrent creation of an organization.
  yield* define(owner, ["LOCK TABLE max.organizations IN SHARE ROW EXCLUSIVE MODE"])
  const wanted = new Set(contents.tables.map(nameOf))
  const created = new Map(
    (yield* readShapes(owner)).map((shape) => [nameOf(shape), shape] as const).filter(([name]) => wanted.has(name))
  )
  yield* makeEmpty(owner, [...created.values()])
  // Inserting is faster without indexes. Their definitions come from this database, not from the file.
  const secondary = yield* owner.unsafe<{ name: string; definition: string }>(SECONDARY, [
    texts([...created.values()].map(qualified))
  ]).unprepared
  yield* define(
    owner,
    secondary.map(({ name }) => `DROP INDEX ${name}`)
  )
  const indexes = secondary.map(({ definition }) => definition)
  const [trigrams] = yield* owner<{ schema: string }>`
    SELECT n.nspname::text AS schema FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace WHERE e.extname = 'pg_trgm'`
  for (const shape of contents.tables) {
    const existing = created.get(nameOf(shape))
    if (existing === undefined) {
      const statements = yield* tableStatements(shape, trigrams?.schema)
      yield* define(owner, [statements.table])
      indexes.push(...statements.indexes)
    } else if (columnsOf(existing) !== columnsOf(shape)) {
      return yield* OperatorError.of(
        `The backup's ${nameOf(shape)} has other columns than schema version ${contents.schemaVersion} has. Nothing was restored.`
      )
    }
  }
  const filling: Filling = { contents, done: new Map(), indexes }
  return filling
})

/** The non-unique indexes of the tables: those that enforce nothing. */
const SECONDARY = `SELECT i.indexrelid::regclass::text AS name, pg_get_indexdef(i.indexrelid) AS definition
  FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid
  WHERE c.oid = ANY($1::text[]::regclass[]) AND c.relkind = 'r' AND NOT i.indisunique`

/** Deletes the system types that migrations insert (organization 0 of the catalog); fails when there are other rows. */
const makeEmpty = Effect.fnUntraced(function* (owner: PgClient.PgClient, shapes: ReadonlyArray<TableShape>) {
  for (const shape of shapes) {
    const fromMigrations = shape.schema === "builder" ? "organization_id = 0" : "false"
    const [row] = yield* owner.unsafe<{ taken: boolean }>(
      `SELECT EXISTS (SELECT FROM ${qualified(shape)} WHERE NOT (${fromMigrations})) AS taken`
    ).unprepared
    if (row!.taken)
      return yield* OperatorError.of(
        "A restore needs an empty database, and this one contains Max's data: use a new database, or a new folder for the embedded Postgres."
      )
    if (shape.schema === "builder") yield* define(owner, [`DELETE FROM ${qualified(shape)}`])
  }
})

const insertRows = (owner: PgClient.PgClient, shape: TableShape, rows: ReadonlyArray<string>) => {
  const table = qualified(shape)
  const columns = shape.columns
    .filter(({ generated }) => !generated)
    .map(({ name }) => identifier(name))
    .join(", ")
  return owner.unsafe(
    `/* max restore */ INSERT INTO ${table} (${columns}) SELECT ${columns} FROM unnest($1::text[]::${table}[]) rows`,
    [texts(rows)]
  )
}

/** Gives every organization a new epoch, which invalidates every plan that a running process made before the restore. */
const raiseEpochs = Effect.fnUntraced(function* (owner: PgClient.PgClient) {
  const organizations = yield* owner<{ id: bigint }>`SELECT organization_id AS id FROM max.organizations`
  for (const { id } of organizations)
    yield* raiseEpoch(owner, id, [{ actor: OPERATOR, action: "organization.restored", subject: String(id) }])
  return organizations.length
})

/**
 * Expires every open change, because it was decided on data as it was after the backup; drafts belong to turns that are lost. What
 * waited to be sent may have been sent since the backup.
 */
const expireChanges = (owner: PgClient.PgClient) =>
  define(owner, [
    "DELETE FROM max.changes WHERE state = 'drafted'",
    "UPDATE max.changes SET state = 'expired', decided_at = now() WHERE state IN ('open', 'waiting')",
    "UPDATE max.change_outbox SET state = 'unknown', unsure = true, error = 'restored', lease = NULL, leased_until = NULL WHERE state IN ('queued', 'trying')"
  ])

const readForeignTables = (owner: PgClient.PgClient) =>
  Effect.map(
    owner<{ name: string }>`
      SELECT DISTINCT v.relation_schema || '.' || v.relation_table AS name FROM builder.entity_type_versions v
      WHERE v.relation_schema <> ${MANAGED} OR to_jsonb(v)->>'mapping' IS NOT NULL ORDER BY 1`,
    (rows) => rows.map(({ name }) => name)
  )
