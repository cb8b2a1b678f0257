import { it } from "@effect/vitest"
import { PgClient } from "@effect/sql-pg"
import { Effect, Redacted } from "effect"
import { Reactivity } from "effect/reactivity"
import { randomBytes } from "node:crypto"
import { describe, expect } from "vitest"
import { sourceOf } from "../../../src/database/DatabaseSource.ts"
import { migrate, pendingStatements, rolesOf } from "../../../src/database/migrate.ts"
import { SCHEMA_VERSION } from "../../../src/database/migrations/index.ts"
import { sumOf } from "../../../src/services/operations/backup/snapshot.ts"
import { readShapes } from "../../../src/services/operations/backup/TableShape.ts"
import { examine, type Finding } from "../../../src/services/operations/Doctor.ts"
import { freshDatabase, migratedDatabase } from "../../support/database.ts"

const live = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.scoped(effect).pipe(Effect.provide(Reactivity.layer))
const connect = (url: string) => PgClient.make({ url: Redacted.make(url), maxConnections: 2 })
const passwordOf = (url: string) => Redacted.make(decodeURIComponent(new URL(url).password))
const examined = (url: string) =>
  examine({
    location: { databaseUrl: Redacted.make(url), dataDir: "/nowhere", stateDir: "/nowhere" },
    source: Effect.sync(() => sourceOf({ url: Redacted.make(url) })),
    sealingKey: Effect.undefined,
    searchConnections: 8
  })
const notOk = (findings: ReadonlyArray<Finding>) =>
  findings.filter(({ check, status }) => status !== "ok" && check !== "organizations")
const found = (findings: ReadonlyArray<Finding>, check: string) => findings.find((finding) => finding.check === check)!

/** Applies a finding's remedy: SQL as the owner, or `max migrate`. */
const mend = (url: string, { mend: lines }: Finding) =>
  Effect.flatMap(connect(url), (owner) =>
    Effect.forEach(lines ?? [], (line): Effect.Effect<unknown, unknown> => {
      if (line === "max migrate") return migrate(owner, passwordOf(url))
      return line.endsWith(";") ? owner.unsafe(line.slice(0, -1)).unprepared : Effect.void
    })
  )

/** Breakages, each with the check that must report it and its status. */
const BREAKAGES: ReadonlyArray<
  readonly [what: string, check: string, status: string, sql: (read: string, app: string) => ReadonlyArray<string>]
> = [
  ["the reading role may write", "roles", "fail", (read) => [`GRANT INSERT ON data.people TO ${read}`]],
  ["PUBLIC may write", "roles", "fail", () => ["GRANT UPDATE ON data.people TO PUBLIC"]],
  [
    "the role of changes may write a table of another program",
    "roles",
    "fail",
    (read) => [
      "CREATE TABLE public.others (id int, secret text)",
      `GRANT UPDATE (secret) ON public.others TO ${read.replace("read", "change")}`
    ]
  ],
  ["the reading role may create tables", "roles", "warn", (read) => [`GRANT CREATE ON SCHEMA data TO ${read}`]],
  ["the reading role bypasses row-level security", "roles", "fail", (read) => [`ALTER ROLE ${read} BYPASSRLS`]],
  ["the reading role has another password", "roles", "fail", (read) => [`ALTER ROLE ${read} PASSWORD 'another'`]],
  ["the writing role can't log in", "roles", "fail", (_, app) => [`ALTER ROLE ${app} NOLOGIN`]],
  [
    "an index is missing",
    "indexes",
    "warn",
    () => [
      "DROP INDEX data.people_organization_id_phone_k_id_idx",
      "DROP INDEX data.people_organization_id_name_k_phone_k_email_k_idx"
    ]
  ],
  [
    "an index of a link table is missing",
    "indexes",
    "warn",
    () => [
      "ALTER TABLE data.meeting_attendees DROP CONSTRAINT meeting_attendees_pkey",
      "DROP INDEX data.meeting_attendees_organization_id_person_id_meeting_id_idx"
    ]
  ],
  [
    "statistics are missing",
    "statistics",
    "warn",
    () => [
      "ALTER TABLE data.people SET (autovacuum_enabled = off)",
      "INSERT INTO data.people (organization_id, id, name, name_k) SELECT 1, g, 'x' || g, 'x' || g FROM generate_series(1, 12000) g"
    ]
  ],
  ["an extension is missing", "extensions", "fail", () => ["DROP EXTENSION pg_trgm CASCADE"]],
  [
    "the indexes of a dropped extension are missing",
    "indexes",
    "warn",
    () => ["DROP EXTENSION pg_trgm CASCADE", "CREATE EXTENSION pg_trgm WITH SCHEMA max"]
  ]
]

describe("doctor", () => {
  it.live("reports no problem in a healthy database", () =>
    live(
      Effect.gen(function* () {
        const findings = yield* examined(yield* migratedDatabase)
        expect(notOk(findings)).toEqual([])
        expect(found(findings, "roles").message).toContain("a write was attempted and refused")
        expect(found(findings, "organizations")).toMatchObject({
          status: "warn",
          mend: [expect.stringContaining("max init")]
        })
      })
    )
  )

  it.live("reports each breakage with a remedy that repairs it", () =>
    live(
      Effect.gen(function* () {
        for (const [what, check, status, breakages] of BREAKAGES) {
          const url = yield* migratedDatabase
          const owner = yield* connect(url)
          const names = rolesOf(new URL(url).pathname.slice(1))
          for (const sql of breakages(names.read, names.app)) yield* owner.unsafe(sql).unprepared
          const broken = found(yield* examined(url), check)
          expect([broken.status, broken.check], what).toEqual([status, check])
          yield* mend(url, broken)
          expect(found(yield* examined(url), check).status, `${what}: ${broken.mend?.join(" ")}`).toBe("ok")
        }
      })
    )
  )

  it.live("reports an unmigrated database and one of another version, with the remedy", () =>
    live(
      Effect.gen(function* () {
        const url = yield* freshDatabase
        const owner = yield* connect(url)
        expect(found(yield* examined(url), "schema")).toMatchObject({
          status: "fail",
          mend: expect.arrayContaining(["max migrate"])
        })
        expect(yield* owner`SELECT to_regnamespace('max') IS NULL AS untouched`).toEqual([{ untouched: true }])
        for (const statement of pendingStatements(0, 1)) yield* owner.unsafe(statement).unprepared
        expect(found(yield* examined(url), "schema")).toMatchObject({
          status: "fail",
          mend: expect.arrayContaining(["max migrate"])
        })
        yield* migrate(owner, passwordOf(url))
        expect(found(yield* examined(url), "schema").status).toBe("ok")
        yield* owner`INSERT INTO max.migrations (id, name) VALUES (${SCHEMA_VERSION + 1}, 'from the future')`
        expect(found(yield* examined(url), "schema")).toMatchObject({
          status: "fail",
          mend: [expect.stringContaining("git pull")]
        })
      })
    )
  )

  it.live("reports missing roles with the statement for an administrator when the user may not create roles", () =>
    live(
      Effect.gen(function* () {
        const url = new URL(yield* freshDatabase)
        const admin = yield* connect(url.href)
        const [user, password] = [`limited_${randomBytes(4).toString("hex")}`, randomBytes(8).toString("hex")]
        yield* Effect.acquireRelease(
          admin.unsafe(`CREATE ROLE ${user} LOGIN NOSUPERUSER NOCREATEROLE PASSWORD '${password}'`).unprepared,
          () =>
            Effect.ignore(
              admin
                .unsafe(`DROP OWNED BY ${user} CASCADE`)
                .unprepared.pipe(Effect.andThen(admin.unsafe(`DROP ROLE ${user}`).unprepared))
            )
        )
        yield* admin.unsafe(`GRANT ALL ON DATABASE ${url.pathname.slice(1)} TO ${user}`).unprepared
        url.username = user
        url.password = password
        const before = yield* examined(url.href)
        expect(found(before, "roles").status).toBe("warn")
        yield* migrate(yield* connect(url.href), Redacted.make(password))
        const findings = yield* examined(url.href)
        expect(found(findings, "roles")).toMatchObject({
          status: "warn",
          message: expect.stringContaining("may not create roles"),
          mend: [expect.stringContaining(`ALTER ROLE "${user}" CREATEROLE;`)]
        })
        expect(notOk(findings).map(({ check }) => check)).toEqual(["roles"])
      })
    )
  )

  it.live("reports why a database is unreachable, without its password", () =>
    live(
      Effect.gen(function* () {
        const real = new URL(yield* migratedDatabase)
        const wrong = new URL(real)
        wrong.password = "not-the-password"
        const missing = new URL(real)
        missing.pathname = "/no_such_database"
        for (const [url, word] of [
          [wrong.href, "refused this user or password"],
          [missing.href, "no database of that name"],
          ["postgres://max:s3cret@127.0.0.1:9/none", "nothing listens at this address"],
          ["postgres://max:s3cret@no-such-host.invalid/none", "host"]
        ] as const) {
          const findings = yield* examined(url)
          expect(findings).toMatchObject([
            { check: "connection", status: "fail", message: expect.stringContaining(word) }
          ])
          expect(findings[0]!.mend).not.toHaveLength(0)
          expect(JSON.stringify(findings)).not.toMatch(/s3cret|not-the-password/)
        }
      })
    )
  )

  it.live("is read-only", () =>
    live(
      Effect.gen(function* () {
        const url = yield* migratedDatabase
        const owner = yield* connect(url)
        const state = Effect.gen(function* () {
          const shapes = yield* readShapes(owner)
          return [shapes, yield* Effect.forEach(shapes, (shape) => sumOf(owner, shape))]
        })
        const before = yield* state
        yield* examined(url)
        expect(yield* state).toEqual(before)
      })
    )
  )
})
