import { it } from "@effect/vitest"
import { PgClient } from "@effect/sql-pg"
import { Effect, Exit, Redacted, Scope, Stream } from "effect"
import { Reactivity } from "effect/reactivity"
import type { SqlError } from "effect/sql"
import { createHash } from "node:crypto"
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { gunzipSync, gzipSync } from "node:zlib"
import { afterAll, beforeAll, describe, expect } from "vitest"
import { connectOwner } from "../../../src/database/Database.ts"
import { sourceOf } from "../../../src/database/DatabaseSource.ts"
import { migrate } from "../../../src/database/migrate.ts"
import { SCHEMA_VERSION } from "../../../src/database/migrations/index.ts"
import { OperatorError } from "../../../src/domain/errors.ts"
import { backup, move, restore } from "../../../src/services/operations/Backup.ts"
import type { Part } from "../../../src/services/operations/backup/Part.ts"
import { sumOf, withSnapshot } from "../../../src/services/operations/backup/snapshot.ts"
import { nameOf, readShapes } from "../../../src/services/operations/backup/TableShape.ts"
import { restoreInto } from "../../../src/services/operations/backup/restore.ts"
import { copyOf, freshDatabase, migratedDatabase } from "../../support/database.ts"
import { fixture } from "../../support/fixtures.ts"

const folder = mkdtempSync(join(tmpdir(), "max-backup-"))
const scope = Scope.makeUnsafe()

const released = fixture("0001", "data.backup")

const live = <A, E>(effect: Effect.Effect<A, E, Scope.Scope | Reactivity.Reactivity>) =>
  Effect.scoped(effect).pipe(Effect.provide(Reactivity.layer))
const connect = (url: string) => connectOwner(sourceOf({ url: Redacted.make(url) }))

/** The name of a database with two organizations; each test uses a copy. */
let source: string
beforeAll(async () => {
  const url = await Effect.runPromise(Scope.provide(freshDatabase, scope))
  await Effect.runPromise(live(Effect.flatMap(connect(url), (target) => restore(target, released))))
  source = new URL(url).pathname.slice(1)
})
afterAll(async () => {
  await Effect.runPromise(Scope.close(scope, Exit.void))
  rmSync(folder, { recursive: true, force: true })
})

const filled = Effect.suspend(() => Effect.flatMap(copyOf(source), connect))
const empty = Effect.flatMap(freshDatabase, connect)

/** All data that a restored database must share with its source; excludes the audit record of the restore. */
const contentOf = Effect.fnUntraced(function* (owner: PgClient.PgClient) {
  const shapes = yield* readShapes(owner)
  const content: Record<string, unknown> = {}
  for (const shape of shapes) {
    const changes = ["max.audit_log", "max.organizations"].includes(nameOf(shape))
    content[nameOf(shape)] = {
      shape: { ...shape, indexes: shape.indexes.map((index) => JSON.stringify(index)).sort() },
      sum: changes ? undefined : yield* sumOf(owner, shape)
    }
  }
  return content
})

const hasNothing = (owner: PgClient.PgClient) =>
  Effect.map(owner<{ nothing: boolean }>`SELECT to_regnamespace('max') IS NULL AS nothing`, ([row]) => row!.nothing)

const refused = <A, E>(effect: Effect.Effect<A, E>) =>
  Effect.map(Effect.flip(effect), (error) => {
    expect(error).toBeInstanceOf(OperatorError)
    return (error as OperatorError).message
  })

type Line = { [name: string]: any }

/** Rewrites the lines of a backup; `forged` also writes a matching checksum. */
const altered = (path: string, change: (lines: Array<Line>) => ReadonlyArray<Line>, forged: boolean) => {
  const [checksum, ...lines] = gunzipSync(readFileSync(path)).toString().trimEnd().split("\n").toReversed()
  const changed = change(lines.toReversed().map((line) => JSON.parse(line) as Line)).map(
    (line) => `${JSON.stringify(line)}\n`
  )
  const sum = JSON.stringify({ sha256: createHash("sha256").update(changed.join("")).digest("hex") })
  const to = join(folder, "altered.backup")
  writeFileSync(to, gzipSync(`${changed.join("")}${forged ? sum : checksum}\n`))
  return to
}

/** Rewrites the shapes of organizations' managed tables in a backup. */
const ownTables = (change: (table: Line) => void) => (lines: Array<Line>) => {
  for (const table of lines[0]!["tables"]) if (table.table.startsWith("t_")) change(table)
  return lines
}

describe("a backup", () => {
  it.live("restores all data, including organizations' managed tables, and raises every epoch", () =>
    live(
      Effect.gen(function* () {
        const from = yield* filled
        const to = yield* empty
        const file = join(folder, "whole.backup")
        const epochs = (owner: PgClient.PgClient) =>
          owner<{ epoch: bigint }>`SELECT epoch FROM max.organizations ORDER BY slug`
        const made = yield* backup(from.owner, file, { force: false })
        expect(statSync(file).mode & 0o777).toBe(0o600)
        expect(statSync(file).size).toBe(made.bytes)
        const done = yield* restore(to, file)
        expect(done).toMatchObject({ rows: made.rows, tables: made.tables, organizations: 2, elsewhere: [] })
        expect(yield* contentOf(to.owner)).toEqual(yield* contentOf(from.owner))
        const [before, after] = [yield* epochs(from.owner), yield* epochs(to.owner)]
        expect(after.every(({ epoch }, index) => epoch > before[index]!.epoch)).toBe(true)
        expect(
          yield* to.owner`SELECT count(*)::int AS n FROM max.audit_log WHERE action = 'organization.restored'`
        ).toEqual([{ n: 4 }])
      })
    )
  )

  it.live("restores every value exactly, independent of the servers' date formats", () =>
    live(
      Effect.gen(function* () {
        const from = yield* filled
        const to = yield* empty
        for (const [{ owner }, style] of [
          [from, "German"],
          [to, "SQL, MDY"]
        ] as const) {
          const [row] = yield* owner<{ name: string }>`SELECT current_database()::text AS name`
          yield* owner.unsafe(`ALTER DATABASE ${row!.name} SET datestyle = '${style}'`).unprepared
          yield* owner.unsafe(`ALTER DATABASE ${row!.name} SET timezone = 'Asia/Kathmandu'`).unprepared
          yield* owner.unsafe(`ALTER DATABASE ${row!.name} SET bytea_output = 'escape'`).unprepared
        }
        yield* from.owner`CREATE TABLE data.t_odd (organization_id bigint NOT NULL, id bigint NOT NULL, name text NOT NULL,
          name_k text COLLATE "C" NOT NULL, c1 text[], c2 numeric, c3 timestamptz, c4 jsonb, c5 bytea, c6 date, c7 boolean NOT NULL DEFAULT true,
          c8 double precision, PRIMARY KEY (organization_id, id))`
        const texts = [
          "",
          " ",
          "\\N",
          "(",
          ",",
          '"',
          "\\",
          "a\nb\r\tc",
          "NULL",
          "{}",
          "\u0001\u007f\u2028é😀",
          "x".repeat(3_000_000)
        ]
        for (const [id, text] of texts.entries()) {
          yield* from.owner`INSERT INTO data.t_odd (organization_id, id, name, name_k, c1, c2, c3, c4, c5, c6, c8)
            VALUES (7, ${id}::int, ${text}, ${text}, ARRAY[${text}::text, NULL], ${"-00123456789012345678901234567890.12345000"}::numeric,
              ${"2025-11-02 05:59:59.123456+00"}::timestamptz, ${JSON.stringify({ text, deep: [1.0, null] })}::jsonb,
              convert_to(${text}::text, 'UTF8'), '0001-01-01'::date, 0.1::float8 + ${id}::int)`
        }
        yield* from.owner`INSERT INTO data.t_odd (organization_id, id, name, name_k, c2, c3, c4, c6, c8)
          VALUES (7, -1, '', '', NULL, 'infinity', 'null', '-infinity', '-Infinity')`
        yield* restore(
          to,
          yield* Effect.tap(Effect.succeed(join(folder, "odd.backup")), (file) =>
            backup(from.owner, file, { force: false })
          )
        )
        const rows = (owner: PgClient.PgClient) =>
          owner<{ whole: string }>`SELECT json_agg(t ORDER BY id)::text AS whole FROM data.t_odd t`
        expect(yield* rows(to.owner)).toEqual(yield* rows(from.owner))
      })
    )
  )

  it.live("is one snapshot, without later writes", () =>
    live(
      Effect.gen(function* () {
        const from = yield* filled
        const to = yield* empty
        const [before] = yield* from.owner<{ n: number }>`SELECT count(*)::int AS n FROM max.audit_log`
        const done = yield* withSnapshot(from.owner, (_, parts) =>
          restoreInto(
            to,
            Stream.tap(parts, (part: Part) =>
              part._tag === "Contents"
                ? // Another connection, as another process would have it.
                  Effect.scoped(
                    Effect.flatMap(PgClient.make(from.owner.config), (other) =>
                      Effect.all([
                        other`INSERT INTO max.audit_log SELECT organization_id, chain, sequence + 100, at, actor, action, subject, details, hash FROM max.audit_log`,
                        other`DELETE FROM max.identifiers`
                      ])
                    )
                  ).pipe(Effect.provide(Reactivity.layer))
                : Effect.void
            )
          )
        )
        expect(yield* to.owner`SELECT count(*)::int AS n FROM max.audit_log WHERE sequence > 100`).toEqual([{ n: 0 }])
        expect(yield* to.owner`SELECT count(*)::int AS n FROM max.audit_log`).toEqual([
          { n: before!.n + done.organizations }
        ])
        expect(yield* to.owner`SELECT count(*)::int > 0 AS there FROM max.identifiers`).toEqual([{ there: true }])
      })
    )
  )

  it.live("is refused when it is truncated or altered at any byte, and leaves nothing", () =>
    live(
      Effect.gen(function* () {
        const from = yield* filled
        const to = yield* empty
        const file = join(folder, "to-damage.backup")
        yield* backup(from.owner, file, { force: false })
        const bytes = readFileSync(file)
        const damaged = join(folder, "damaged.backup")
        for (let part = 0; part < 12; part++) {
          const at = Math.floor((bytes.length * part) / 12)
          writeFileSync(damaged, bytes.subarray(0, at))
          expect(yield* refused(restore(to, damaged)), `cut at ${at}`).toMatch(/truncated|isn't a backup/)
          const flipped = Buffer.from(bytes)
          flipped[at]! ^= 0x10
          writeFileSync(damaged, flipped)
          // Some bytes of the gzip header are never read and may differ.
          if (at > 10)
            expect(yield* refused(restore(to, damaged)), `flipped at ${at}`).toMatch(/altered|truncated|isn't a backup/)
        }
        for (const [what, change] of [
          [
            "a value",
            (lines) => lines.map((line) => JSON.parse(JSON.stringify(line).replace("ada@harbor", "eve@harbor")))
          ],
          [
            "a row less",
            (lines) => lines.map((line) => (line["rows"]?.length > 1 ? { ...line, rows: line["rows"].slice(1) } : line))
          ],
          ["a table less", (lines) => lines.filter((line) => line["table"] !== 3)],
          ["twice", (lines) => [...lines, ...lines]]
        ] satisfies ReadonlyArray<readonly [string, (lines: Array<Line>) => ReadonlyArray<Line>]>)
          expect(yield* refused(restore(to, altered(file, change, false))), what).toContain("was altered")
        expect(yield* hasNothing(to.owner)).toBe(true)
        yield* restore(to, file)
      })
    )
  )

  it.live("creates only tables, and only with matching sums, when it was forged", () =>
    live(
      Effect.gen(function* () {
        const to = yield* empty
        const file = join(folder, "to-forge.backup")
        yield* backup((yield* filled).owner, file, { force: false })
        for (const [what, change, expected] of [
          [
            "a row less",
            (lines) =>
              lines.map((line) =>
                line["_tag"] === "Rows" && line["rows"].length > 1 ? { ...line, rows: line["rows"].slice(1) } : line
              ),
            /rows where the backup has/
          ],
          [
            "a value",
            (lines) => lines.map((line) => JSON.parse(JSON.stringify(line).replace("ada@harbor", "eve@harbor"))),
            /or other values/
          ],
          [
            "a value that is none",
            (lines) => lines.map((line) => (line["_tag"] === "Rows" ? { ...line, rows: ["(x)"] } : line)),
            /Nothing was restored/
          ],
          ["no sums", (lines) => lines.filter((line) => line["_tag"] !== "Sum"), /out of order/],
          [
            "a sum twice",
            (lines) => lines.flatMap((line) => (line["_tag"] === "Sum" ? [line, line] : [line])),
            /out of order/
          ],
          ["no end", (lines) => lines.slice(0, -1), /end is missing/],
          ["more after the end", (lines) => [...lines, lines.at(-1)!], /out of order/],
          ["another order", (lines) => [lines[1]!, lines[0]!, ...lines.slice(2)], /out of order|isn't a backup/],
          ["a newer format", (lines) => [{ ...lines[0]!, format: 2 }, ...lines.slice(1)], /newer Max/],
          ["a newer schema", (lines) => [{ ...lines[0]!, schemaVersion: 9999 }, ...lines.slice(1)], /newer Max/],
          [
            "other columns",
            (lines) => {
              lines[0]!["tables"][0].columns.pop()
              return lines
            },
            /other columns/
          ],
          [
            "a type",
            ownTables((table) => (table["columns"][2].type = "text); DROP TABLE max.x; --")),
            /doesn't create/
          ],
          [
            "an expression",
            ownTables((table) => (table["columns"][2].fallback = "pg_read_file('x')")),
            /doesn't create/
          ],
          [
            "a string that ends",
            ownTables((table) => (table["columns"][2].fallback = "'a'::text, x int DEFAULT pg_sleep(9)")),
            /doesn't create/
          ],
          [
            "a kind of index",
            ownTables((table) => (table["indexes"][0].method = "btree (id); DROP TABLE max.x; --")),
            /doesn't create/
          ],
          ["a table elsewhere", ownTables((table) => (table["schema"] = "public")), /doesn't create/],
          [
            "a name",
            ownTables((table) => (table["columns"][2].name = 'x" int); DROP TABLE max.x; --')),
            /Nothing was restored/
          ],
          ["something else", () => [{ hello: 1 }], /isn't a backup/]
        ] satisfies ReadonlyArray<readonly [string, (lines: Array<Line>) => ReadonlyArray<Line>, RegExp]>)
          expect(yield* refused(restore(to, altered(file, change, true))), what).toMatch(expected)
        expect(yield* hasNothing(to.owner)).toBe(true)
        yield* restore(to, file)
      })
    )
  )

  it.live("is restored only into an empty database, unmigrated or of the same schema", () =>
    live(
      Effect.gen(function* () {
        const full = yield* filled
        const before = yield* contentOf(full.owner)
        expect(yield* refused(restore(full, released))).toContain("already has version")
        const file = join(folder, "current.backup")
        yield* backup(full.owner, file, { force: false })
        expect(yield* refused(restore(full, file))).toContain("needs an empty database")
        expect(yield* contentOf(full.owner)).toEqual(before)
        const prepared = yield* Effect.flatMap(migratedDatabase, connect)
        expect(yield* refused(restore(prepared, released))).toContain("without max migrate")
        yield* restore(prepared, file)
        expect(yield* contentOf(prepared.owner)).toEqual(before)
        const newer = yield* Effect.flatMap(migratedDatabase, connect)
        yield* newer.owner`INSERT INTO max.migrations (id, name) VALUES (${SCHEMA_VERSION + 1}, 'from the future')`
        for (const failure of [
          yield* Effect.flip(restore(newer, file)),
          yield* Effect.flip(backup(newer.owner, `${file}.2`, { force: false }))
        ])
          expect(String((failure as { message: string }).message)).toContain("newer Max")
        expect(yield* refused(backup((yield* empty).owner, `${file}.3`, { force: false }))).toContain("no Max data")
      })
    )
  )

  it.live("leaves foreign tables unchanged in the source and in the target", () =>
    live(
      Effect.gen(function* () {
        const from = yield* filled
        const to = yield* empty
        for (const { owner } of [from, to])
          for (const statement of [
            "CREATE SCHEMA IF NOT EXISTS data",
            "CREATE TABLE data.orders (id bigint PRIMARY KEY, total numeric)",
            "CREATE INDEX orders_total ON data.orders (total)",
            "CREATE TABLE data.tenants (organization_id bigint PRIMARY KEY, name text)",
            "CREATE INDEX tenants_name ON data.tenants (name)",
            "INSERT INTO data.tenants VALUES (0, 'ours')"
          ])
            yield* owner.unsafe(statement).unprepared
        yield* from.owner`INSERT INTO data.orders VALUES (1, 2)`
        yield* to.owner`INSERT INTO data.orders VALUES (7, 8)`
        yield* from.owner`DROP TABLE data.tenants`
        const file = join(folder, "beside.backup")
        yield* backup(from.owner, file, { force: false })
        yield* restore(to, file)
        expect(yield* to.owner`SELECT id FROM data.orders`).toEqual([{ id: 7n }])
        expect(yield* to.owner`SELECT name FROM data.tenants`).toEqual([{ name: "ours" }])
        expect(
          yield* to.owner`SELECT to_regclass('data.orders_total') IS NOT NULL AND to_regclass('data.tenants_name') IS NOT NULL AS there`
        ).toEqual([{ there: true }])
        const taken = yield* empty
        yield* taken.owner.unsafe("CREATE SCHEMA data").unprepared
        yield* taken.owner.unsafe("CREATE TABLE data.people (organization_id bigint PRIMARY KEY, name text)").unprepared
        yield* taken.owner`INSERT INTO data.people VALUES (1, 'theirs')`
        expect(yield* refused(restore(taken, file))).toContain("a table of that name exists already")
        expect(yield* taken.owner`SELECT name FROM data.people`).toEqual([{ name: "theirs" }])
      })
    )
  )

  it.live("is restored once when two processes restore it concurrently", () =>
    live(
      Effect.gen(function* () {
        const url = yield* freshDatabase
        const targets = yield* Effect.all([connect(url), connect(url)])
        const exits = yield* Effect.forEach(targets, (target) => Effect.exit(restore(target, released)), {
          concurrency: 2
        })
        expect(exits.map(({ _tag }) => _tag).sort()).toEqual(["Failure", "Success"])
        expect(yield* targets[0].owner`SELECT count(*)::int AS n FROM max.organizations`).toEqual([{ n: 2 }])
      })
    )
  )

  it.live("leaves nothing when the connection is lost during a restore, and reports it", () =>
    live(
      Effect.gen(function* () {
        const from = yield* filled
        const to = yield* empty
        const other = yield* PgClient.make(to.owner.config)
        const cut = (at: string) =>
          withSnapshot(from.owner, (_, parts): Effect.Effect<unknown, unknown> =>
            restoreInto(
              to,
              Stream.tap(parts, (part: Part): Effect.Effect<unknown, SqlError.SqlError> =>
                part._tag === at
                  ? other`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`
                  : Effect.void
              )
            )
          )
        for (const at of ["Contents", "Rows", "Sum", "End"]) {
          expect((yield* Effect.exit(cut(at)))._tag, at).toBe("Failure")
          expect(yield* hasNothing(other), at).toBe(true)
        }
        yield* move(from.owner, to)
      })
    )
  )
})

describe("a backup file", () => {
  it.live("is created atomically and overwrites nothing without --force", () =>
    live(
      Effect.gen(function* () {
        const { owner } = yield* filled
        const here = join(folder, "files")
        mkdirSync(here)
        mkdirSync(join(here, "folder"))
        writeFileSync(join(here, "precious"), "precious")
        for (const [name, expected] of [
          ["precious", "it exists already. --force"],
          ["folder", "it is a folder"],
          ["missing/x", "no such file or folder"],
          ["precious/x", "no such file or folder"],
          [`${"x".repeat(300)}`, "too long"]
        ] as const)
          expect(yield* refused(backup(owner, join(here, name), { force: false })), name).toContain(expected)
        expect(yield* refused(backup(owner, join(here, "folder"), { force: true }))).toContain("it is a folder")
        expect(yield* refused(backup(owner, "/dev/null", { force: true }))).toContain("exists already")
        expect(readdirSync(here).sort()).toEqual(["folder", "precious"])
        expect(readFileSync(join(here, "precious"), "utf8")).toBe("precious")
        yield* backup(owner, join(here, "precious"), { force: true })
        expect(readdirSync(here).sort()).toEqual(["folder", "precious"])
        yield* restore(yield* empty, join(here, "precious"))
      })
    )
  )

  it.live("is refused in one line when it can't be read", () =>
    live(
      Effect.gen(function* () {
        const to = yield* empty
        writeFileSync(join(folder, "text"), "id,name\n1,x\n")
        writeFileSync(join(folder, "nothing"), "")
        for (const [path, expected] of [
          [join(folder, "none"), "no such file"],
          [folder, "folder"],
          [join(folder, "text"), "isn't a backup"],
          [join(folder, "nothing"), "isn't a backup"]
        ] as const)
          expect(yield* refused(restore(to, path)), path).toContain(expected)
        expect(yield* hasNothing(to.owner)).toBe(true)
      })
    )
  )
})

describe("move", () => {
  it.live("copies all data and leaves the source unchanged", () =>
    live(
      Effect.gen(function* () {
        const from = yield* filled
        const to = yield* empty
        const before = yield* contentOf(from.owner)
        const done = yield* move(from.owner, to)
        expect(done.organizations).toBe(2)
        expect(yield* contentOf(to.owner)).toEqual(before)
        expect(yield* contentOf(from.owner)).toEqual(before)
        expect(yield* from.owner`SELECT count(*)::int AS n FROM max.organizations WHERE epoch > 1000000000000`).toEqual(
          [{ n: 2 }]
        )
      })
    )
  )

  it.live("refuses the same database and a non-empty one", () =>
    live(
      Effect.gen(function* () {
        const url = yield* freshDatabase
        const from = yield* connect(url)
        yield* restore(from, released)
        expect(yield* refused(move(from.owner, yield* connect(url)))).toContain("nothing to move")
        expect(yield* refused(move(from.owner, yield* filled))).toContain("needs an empty database")
        expect(yield* refused(move((yield* empty).owner, yield* empty))).toContain("no Max data")
        const target = yield* empty
        yield* migrate(target.owner, target.password)
        yield* move(from.owner, target)
      })
    )
  )
})
