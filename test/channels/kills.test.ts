/** Kills backup, restore and move with kill -9 at random moments: afterwards they have had their whole effect or none. */
import { PgClient } from "@effect/sql-pg"
import { Effect, Exit, Redacted, Scope, Stream } from "effect"
import { Reactivity } from "effect/reactivity"
import { spawn } from "node:child_process"
import { existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as delay } from "node:timers/promises"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { readBackupFile } from "../../src/services/operations/backup/backupFile.ts"
import { sumOf } from "../../src/services/operations/backup/snapshot.ts"
import { nameOf, readShapes } from "../../src/services/operations/backup/TableShape.ts"
import { runMax } from "../support/cli.ts"
import { freshDatabase } from "../support/database.ts"
import { fixture } from "../support/fixtures.ts"
import { series } from "../support/long.ts"

const KILLS = series({ short: 3, long: 50 })
const program = join(import.meta.dirname, "..", "..", "dist", "bin", "max.js")
const released = fixture("0001", "data.backup")
const folder = mkdtempSync(join(tmpdir(), "max-kill-"))
const file = join(folder, "whole.backup")

const scope = Scope.makeUnsafe()
const database = () => Effect.runPromise(freshDatabase.pipe(Scope.provide(scope)))
const withOwner = <A, E>(url: string, use: (owner: PgClient.PgClient) => Effect.Effect<A, E>) =>
  Effect.runPromise(
    Effect.scoped(
      Effect.flatMap(
        PgClient.make({
          url: Redacted.make(url),
          maxConnections: 1,
          startupParameters: { search_path: "pg_catalog, pg_temp" }
        }),
        use
      )
    ).pipe(Effect.provide(Reactivity.layer))
  )

/** The sum of every table; undefined in a database without tables of Max. */
const contentOf = (url: string) =>
  withOwner(
    url,
    Effect.fnUntraced(function* (owner) {
      // The server continues a killed process's statement until it notices the closed connection.
      const others = owner<{ n: number }>`SELECT count(*)::int AS n FROM pg_stat_activity
        WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'`
      while ((yield* others)[0]!.n > 0) yield* Effect.sleep("20 millis")
      const [row] = yield* owner<{ nothing: boolean }>`SELECT to_regnamespace('max') IS NULL AS nothing`
      if (row!.nothing) return undefined
      const shapes = yield* readShapes(owner)
      const content: Record<string, unknown> = {}
      for (const shape of shapes)
        if (!["max.audit_log", "max.organizations"].includes(nameOf(shape)))
          content[nameOf(shape)] = { ...(yield* sumOf(owner, shape)), indexes: shape.indexes.length }
      return content
    })
  )

let source = ""
let whole: unknown

beforeAll(async () => {
  source = await database()
  expect((await runMax(["restore", released], { DATABASE_URL: source })).code).toBe(0)
  await withOwner(
    source,
    (owner) =>
      owner`INSERT INTO data.people (organization_id, id, name, name_k, email, email_k)
      SELECT 9, g, 'Person ' || g, 'person ' || g, g || '@example.com', g || '@example.com' FROM generate_series(1, 20000) g`
  )
  expect((await runMax(["backup", file], { DATABASE_URL: source })).code).toBe(0)
  whole = await contentOf(source)
})

afterAll(async () => {
  await Effect.runPromise(Scope.close(scope, Exit.void))
  rmSync(folder, { recursive: true, force: true })
})

/** Runs a command and kills it some time after `begun`; resolves to how long it ran since. */
const killed = (
  args: ReadonlyArray<string>,
  env: Record<string, string>,
  begun: () => Promise<boolean>,
  after: number | undefined
) =>
  new Promise<number>((resolve, reject) => {
    const child = spawn(process.execPath, [program, ...args], {
      env: { PATH: process.env["PATH"], ...env },
      stdio: "ignore"
    })
    let since = performance.now()
    child.on("close", () => resolve(performance.now() - since))
    const watch = async () => {
      while (child.exitCode === null && !(await begun())) await delay(1)
      since = performance.now()
      if (after === undefined) return
      await delay(after)
      child.kill("SIGKILL")
    }
    watch().catch(reject)
  })

/** The moment of a kill: the first one as soon as the command has begun, which leaves nothing at any load; others up to after its end. */
const momentOf = (kill: number, took: number): number =>
  kill === 0 ? 0 : (1.3 * took * (kill + Math.random())) / KILLS

/** Kills a command that fills a database, at moments spread over its duration; counts the outcomes. */
const fillAndKill = (args: (target: string) => readonly [ReadonlyArray<string>, Record<string, string>]) =>
  withOwner(source, (watcher) =>
    Effect.promise(async () => {
      const run = (target: string, after: number | undefined) => {
        const works = watcher<{ n: number }>`SELECT count(*)::int AS n FROM pg_stat_activity
          WHERE datname = ${new URL(target).pathname.slice(1)} AND xact_start IS NOT NULL`
        return killed(...args(target), async () => (await Effect.runPromise(works))[0]!.n > 0, after)
      }
      const first = await database()
      const took = await run(first, undefined)
      expect(await contentOf(first)).toEqual(whole)
      const ended = { nothing: 0, everything: 0 }
      let target = await database()
      for (let kill = 0; kill < KILLS; kill++) {
        await run(target, momentOf(kill, took))
        const content = await contentOf(target)
        if (content === undefined) {
          // The same database again: a killed attempt leaves no obstacle.
          ended.nothing++
          continue
        }
        expect(content).toEqual(whole)
        ended.everything++
        target = await database()
      }
      await run(target, undefined)
      expect(await contentOf(target)).toEqual(whole)
      return { took: `${Math.round(took)} ms`, ...ended }
    })
  )

describe(`a command killed ${KILLS} times`, () => {
  it("has its whole effect or none, as max restore", async () => {
    const ended = await fillAndKill((target) => [["restore", file], { DATABASE_URL: target }])
    console.log(`restore: ${JSON.stringify(ended)}`)
    expect(ended.nothing).toBeGreaterThan(0)
  })

  it("has its whole effect or none and leaves its source unchanged, as max move", async () => {
    const ended = await fillAndKill((target) => [
      ["move", "--to", "env:TARGET"],
      { DATABASE_URL: source, TARGET: target }
    ])
    console.log(`move: ${JSON.stringify(ended)}`)
    expect(ended.nothing).toBeGreaterThan(0)
    expect(await contentOf(source)).toEqual(whole)
  })

  it("leaves a complete file or none, as max backup", async () => {
    const path = join(folder, "killed.backup")
    const begun = async () => readdirSync(folder).some((name) => name.endsWith(".partial"))
    const run = (after: number | undefined) => killed(["backup", path], { DATABASE_URL: source }, begun, after)
    const took = await run(undefined)
    rmSync(path)
    const ended = { took: `${Math.round(took)} ms`, nothing: 0, everything: 0 }
    for (let kill = 0; kill < KILLS; kill++) {
      await run(momentOf(kill, took))
      for (const name of readdirSync(folder)) if (name.endsWith(".partial")) rmSync(join(folder, name))
      if (!existsSync(path)) {
        ended.nothing++
        continue
      }
      await Effect.runPromise(Stream.runDrain(readBackupFile(path)))
      rmSync(path)
      ended.everything++
    }
    console.log(`backup: ${JSON.stringify(ended)}`)
    expect(ended.nothing).toBeGreaterThan(0)
  })
})
