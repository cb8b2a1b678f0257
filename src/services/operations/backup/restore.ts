/**
 * Parts → database, in one transaction: the schema that the rows are from, the rows, what they add up to, and then the
 * migrations since. Whatever goes wrong, and whenever, the database is as it was before.
 */
import type { PgClient } from "@effect/sql-pg"
import { Effect, type Redacted, Stream } from "effect"
import { appendAudit, OPERATOR } from "../../../database/audit.ts"
import { holdMigrations, inspect, migrate, pendingStatements, refuseNewer } from "../../../database/migrate.ts"
import { SCHEMA_VERSION } from "../../../database/migrations/index.ts"
import { identifier, qualified } from "../../../database/sql/SqlWriter.ts"
import { OperatorError } from "../../../domain/errors.ts"
import { define, MANAGED } from "../../catalog/physicalColumns.ts"
import { texts } from "../../import/statements.ts"
import { type Contents, FORMAT, type Part } from "./Part.ts"
import { holdStill, sumOf } from "./snapshot.ts"
import { columnsOf, nameOf, readShapes, type TableShape, tableStatements } from "./TableShape.ts"

/** A database that rows go into, on its owner's connection. */
export interface Target {
  readonly owner: PgClient.PgClient
  readonly password: Redacted.Redacted<string> | undefined
}

export interface Restored {
  readonly takenAt: string
  readonly tables: number
  readonly rows: number
  readonly organizations: number
  /** Tables that aren't Max's, that types are read from: their rows weren't in the backup. */
  readonly elsewhere: ReadonlyArray<string>
  readonly withoutRoles?: string
}

/** Fills an empty database with a backup's parts, checks every sum, and brings the schema up to date. */
export const restoreInto = Effect.fn("Backup.restore")(function* <E, R>(
  { owner, password }: Target,
  parts: Stream.Stream<Part, E, R>
) {
  const { filled, restored } = yield* owner.withTransaction(
    Effect.gen(function* () {
      const filled = yield* fill(owner, parts)
      const { withoutRoles } = yield* migrate(owner, password)
      const restored: Restored = {
        takenAt: filled.takenAt,
        tables: filled.tables.length,
        rows: filled.rows,
        organizations: yield* beginAnew(owner),
        elsewhere: yield* readElsewhere(owner),
        ...(withoutRoles === undefined ? {} : { withoutRoles })
      }
      return { filled, restored }
    })
  )
  // Statistics, and what an index answers for by itself, are for speed alone: a failure here doesn't undo what was restored.
  yield* Effect.ignore(define(owner, [`VACUUM (ANALYZE) ${filled.tables.map(qualified).join(", ")}`]))
  return restored
})

/** Restores the rows into the schema that they are from, and no further; inside a transaction. */
export const fill = Effect.fnUntraced(function* <E, R>(owner: PgClient.PgClient, parts: Stream.Stream<Part, E, R>) {
  yield* holdStill(owner)
  let filling: Filling | undefined
  let ended = false
  const damaged = () =>
    new OperatorError({ message: "The backup isn't whole: its parts aren't in order. Nothing was restored." })
  yield* Stream.runForEach(parts, (part) =>
    Effect.gen(function* () {
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
      const there = yield* sumOf(owner, shape)
      if (there.rows !== part.rows || there.checksum !== part.checksum)
        return yield* new OperatorError({
          message: `${nameOf(shape)} has ${there.rows} rows where the backup has ${part.rows}, or other values. Nothing was restored.`
        })
      done.set(part.table, part.rows)
    })
  )
  if (filling === undefined || !ended)
    return yield* new OperatorError({ message: "The backup isn't whole: its end is missing. Nothing was restored." })
  const { contents, done } = filling as Filling
  return { takenAt: contents.takenAt, tables: contents.tables, rows: sum(done.values()) }
})

interface Filling {
  readonly contents: Contents
  /** How many rows a table that is complete has. */
  readonly done: Map<number, number>
  /** What is defined when all rows are there. */
  readonly indexes: ReadonlyArray<string>
}

const sum = (numbers: Iterable<number>): number => [...numbers].reduce((all, one) => all + one, 0)

/** Makes the tables that the rows go into, or fails when there is anything in them. */
const prepare = Effect.fnUntraced(function* (owner: PgClient.PgClient, contents: Contents) {
  if (contents.format > FORMAT || contents.schemaVersion > SCHEMA_VERSION)
    return yield* new OperatorError({
      message: "The backup was made by a newer Max. Update this one to that version"
    })
  yield* holdMigrations(owner)
  const { schemaVersion } = yield* Effect.tap(inspect(owner), refuseNewer)
  if (schemaVersion > contents.schemaVersion)
    return yield* new OperatorError({
      message: `The backup is from schema version ${contents.schemaVersion}, and this database is prepared for version ${schemaVersion} already. Restore into a new database, without max migrate: restoring prepares it.`
    })
  yield* define(owner, pendingStatements(schemaVersion, contents.schemaVersion))
  // Nobody makes an organization meanwhile.
  yield* define(owner, ["LOCK TABLE max.organizations IN SHARE ROW EXCLUSIVE MODE"])
  const wanted = new Set(contents.tables.map(nameOf))
  const made = new Map(
    (yield* readShapes(owner)).map((shape) => [nameOf(shape), shape] as const).filter(([name]) => wanted.has(name))
  )
  yield* makeEmpty(owner, [...made.values()])
  // Rows go in faster without them, and they are made from what is there now, not from what the file says.
  const secondary = yield* owner.unsafe<{ name: string; definition: string }>(SECONDARY, [
    texts([...made.values()].map(qualified))
  ]).unprepared
  yield* define(
    owner,
    secondary.map(({ name }) => `DROP INDEX ${name}`)
  )
  const indexes = secondary.map(({ definition }) => definition)
  const [trigrams] = yield* owner<{ schema: string }>`
    SELECT n.nspname::text AS schema FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace WHERE e.extname = 'pg_trgm'`
  for (const shape of contents.tables) {
    const known = made.get(nameOf(shape))
    if (known === undefined) {
      const statements = yield* tableStatements(shape, trigrams?.schema)
      yield* define(owner, [statements.table])
      indexes.push(...statements.indexes)
    } else if (columnsOf(known) !== columnsOf(shape)) {
      return yield* new OperatorError({
        message: `The backup's ${nameOf(shape)} has other columns than schema version ${contents.schemaVersion} has. Nothing was restored.`
      })
    }
  }
  const filling: Filling = { contents, done: new Map(), indexes }
  return filling
})

/** The indexes of Max's tables that hold nothing together. */
const SECONDARY = `SELECT i.indexrelid::regclass::text AS name, pg_get_indexdef(i.indexrelid) AS definition
  FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid
  WHERE c.oid = ANY($1::text[]::regclass[]) AND c.relkind = 'r' AND NOT i.indisunique`

/** What a database is prepared with is in the catalog, of organization 0, and goes; anything else is somebody's. */
const makeEmpty = Effect.fnUntraced(function* (owner: PgClient.PgClient, shapes: ReadonlyArray<TableShape>) {
  for (const shape of shapes) {
    const prepared = shape.schema === "builder" ? "organization_id = 0" : "false"
    const [row] = yield* owner.unsafe<{ taken: boolean }>(
      `SELECT EXISTS (SELECT FROM ${qualified(shape)} WHERE NOT (${prepared})) AS taken`
    ).unprepared
    if (row!.taken)
      return yield* new OperatorError({
        message:
          "There is data of Max's in this database already, and only an empty one can be filled: take a new database, or a new folder for Max's own."
      })
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

/**
 * Ends whatever was planned from an earlier life of this database, which may have come further than the backup did:
 * epochs go on from the clock, where counting one by one never gets.
 */
const beginAnew = Effect.fnUntraced(function* (owner: PgClient.PgClient) {
  const organizations = yield* owner<{ id: bigint }>`
    UPDATE max.organizations SET epoch = greatest(epoch + 1, (extract(epoch FROM clock_timestamp()) * 1000)::bigint)
    RETURNING organization_id AS id`
  for (const { id } of organizations)
    yield* appendAudit(owner, id, "changes", [
      { actor: OPERATOR, action: "organization.restored", subject: String(id) }
    ])
  return organizations.length
})

const readElsewhere = (owner: PgClient.PgClient) =>
  Effect.map(
    owner<{ name: string }>`
      SELECT DISTINCT v.relation_schema || '.' || v.relation_table AS name FROM builder.entity_type_versions v
      WHERE v.relation_schema <> ${MANAGED} OR to_jsonb(v)->>'mapping' IS NOT NULL ORDER BY 1`,
    (rows) => rows.map(({ name }) => name)
  )
