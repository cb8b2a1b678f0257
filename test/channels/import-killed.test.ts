/** Kills the process of an import at random points: afterwards all of the file is stored, or nothing of it. */
import { layer } from "@effect/vitest"
import { Effect, Redacted, Schedule } from "effect"
import { spawn } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { afterAll, expect } from "vitest"
import { Database } from "../../src/database/Database.ts"
import { columnBySlug, type Organization, typeBySlug } from "../../src/domain/EntityType.ts"
import { Env } from "../../src/env.ts"
import { makeOrganization } from "../support/atlas.ts"
import { TestServices } from "../support/database.ts"
import { orphanTables, stateOf } from "../support/imports.ts"
import { series } from "../support/long.ts"

const program = join(dirname(fileURLToPath(import.meta.url)), "..", "..", "dist", "bin", "max.js")
const folder = mkdtempSync(join(tmpdir(), "max-import-killed-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const POINTS = series({ short: 20, long: 200 })
const ROWS = 4000

/** A file that changes every row and adds a column. */
const fileOf = (version: number): string => {
  const path = join(folder, `${version}.csv`)
  const rows = Array.from({ length: ROWS }, (_, row) => `${row},Person ${row},v${version},v${version}`)
  writeFileSync(path, [`id,name,status,column ${version}`, ...rows].join("\n"))
  return path
}

/** Runs an import and kills it after some milliseconds; returns its duration, and its exit code if it ended by itself. */
const importFile = (url: string, file: string, killAfter: number) =>
  Effect.promise(
    () =>
      new Promise<{ readonly code: number | null; readonly millis: number }>((resolve) => {
        const started = performance.now()
        const child = spawn(process.execPath, [program, "import", file, "--type", "people", "--create"], {
          env: { PATH: process.env["PATH"]!, HOME: folder, DATABASE_URL: url },
          stdio: "ignore"
        })
        const timer = setTimeout(() => child.kill("SIGKILL"), killAfter)
        child.on("close", (code) => {
          clearTimeout(timer)
          resolve({ code, millis: performance.now() - started })
        })
      })
  )

/**
 * Waits until the server has ended the transactions of the killed process, which may be committing. Only the owner sees the
 * state of other roles' connections.
 */
const settled = Effect.gen(function* () {
  const { owner } = yield* Database
  yield* Effect.repeat(
    owner`SELECT 1 FROM pg_stat_activity a WHERE a.datname = current_database() AND a.state IS DISTINCT FROM 'idle' AND a.backend_type = 'client backend' AND a.pid <> pg_backend_pid()`,
    { until: (rows) => rows.length === 0, schedule: Schedule.spaced("10 millis") }
  )
})

/** The stored version, after a check that its rows, column, policy and catalog are complete. */
const versionOf = Effect.fnUntraced(function* (organization: Organization) {
  const { owner } = yield* Database
  const { catalog, policy } = yield* stateOf(organization)
  const type = typeBySlug(catalog, "people")!
  const made = type.columns.filter(({ slug }) => slug.startsWith("column_"))
  const statuses = yield* owner.unsafe<{ status: string; rows: number }>(
    `SELECT status, count(*)::int AS rows FROM data.${type.relation.table} WHERE organization_id = $1::bigint GROUP BY 1`,
    [organization.id]
  )
  expect(statuses).toHaveLength(1)
  expect(statuses[0]!.rows).toBe(ROWS)
  const version = Number(statuses[0]!.status.slice(1))
  const column = columnBySlug(type, `column_${version}`)
  if (column?.storage._tag !== "Value") return expect.fail(`column_${version} doesn't exist`)
  const [values] = yield* owner.unsafe<{ rows: number }>(
    `SELECT count(*)::int AS rows FROM data.${type.relation.table} WHERE ${column.storage.column} = $1`,
    [`v${version}`]
  )
  expect(values!.rows).toBe(ROWS)
  const seen = policy.rules.find(({ id }) => id === "admin-people")!.columns
  expect(made.filter(({ key }) => !seen.includes(key))).toEqual([])
  expect(yield* orphanTables).toEqual([])
  return { version, columns: made.length }
})

layer(TestServices, { excludeTestServices: true })("a killed import", (it) => {
  it.effect(`at ${POINTS} random points stores all of its file or nothing, and the next import works`, () =>
    Effect.gen(function* () {
      const organization = yield* makeOrganization("killed")
      const env = yield* Env
      const url = Redacted.value(env.databaseUrl!)
      const whole = yield* importFile(url, fileOf(0), 600_000)
      expect(whole.code).toBe(0)
      let before = yield* versionOf(organization)
      const outcomes = { nothing: 0, all: 0 }
      for (let point = 1; point <= POINTS; point++) {
        const after = whole.millis * (0.2 + 0.9 * Math.random())
        const { code } = yield* importFile(url, fileOf(point), after)
        yield* settled
        const now = yield* versionOf(organization)
        const where = `killed after ${after.toFixed(0)} ms of ${whole.millis.toFixed(0)}`
        const all = now.version === point
        expect(now, where).toEqual(all ? { version: point, columns: before.columns + 1 } : before)
        if (code === 0) expect(all, where).toBe(true)
        outcomes[all ? "all" : "nothing"]++
        before = now
      }
      expect(outcomes.nothing).toBeGreaterThan(POINTS / 5)
      const last = yield* importFile(url, fileOf(POINTS + 1), 600_000)
      expect(last.code).toBe(0)
      expect((yield* versionOf(organization)).version).toBe(POINTS + 1)
    })
  )
})
