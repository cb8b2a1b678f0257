/** Imports that run at the same time, and imports that are interrupted. */
import { layer } from "@effect/vitest"
import { Effect, Exit, Fiber, Redacted, Schedule } from "effect"
import { spawn } from "node:child_process"
import { appendFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, inject } from "vitest"
import { Database } from "../../../src/database/Database.ts"
import { Unavailable } from "../../../src/domain/errors.ts"
import { Env } from "../../../src/env.ts"
import { holdImports } from "../../../src/services/EntityTypeCatalog.ts"
import { Importer } from "../../../src/services/import/Importer.ts"
import { makeOrganization } from "../../support/atlas.ts"
import { TestServices } from "../../support/database.ts"
import { expectUntouched, fileOf, importFile, orphanTables, refusalOfFile, rowsOf } from "../../support/imports.ts"

const program = join(import.meta.dirname, "..", "..", "..", "dist", "bin", "max.js")

layer(TestServices, { excludeTestServices: true })("an import", (it) => {
  describe("concurrent imports", () => {
    it.effect("run one after another: columns are created once and no row is lost", () =>
      Effect.gen(function* () {
        const organization = yield* makeOrganization("two-at-once")
        const rows = (from: number) => [
          "id,name,product",
          ...Array.from({ length: 3000 }, (_, index) => `${from + index},Person,Books`)
        ]
        const results = yield* Effect.all(
          [
            importFile(organization, rows(0), { create: true }),
            importFile(organization, rows(1500), { create: true }),
            importFile(organization, ["id,name", "x,Ada"]),
            importFile(organization, ["id,name", "y,Bob"])
          ],
          { concurrency: "unbounded" }
        )
        expect(results.map((result) => result.inserted).reduce((a, b) => a + b)).toBe(4502)
        expect(results.flatMap((result) => result.createdColumns)).toHaveLength(1)
        expect(yield* rowsOf(organization, "people", "id")).toHaveLength(4502)
        const { owner } = yield* Database
        expect(
          yield* owner`SELECT count(*)::int AS left FROM data.people WHERE organization_id = ${organization.id}`
        ).toEqual([{ left: 0 }])
      })
    )

    it.effect("wait for a limited time, then fail and name the other import", () =>
      Effect.gen(function* () {
        const organization = yield* makeOrganization("held")
        const { owner } = yield* Database
        const content = ["id,name", "1,Ada"]
        const message = yield* owner.withTransaction(
          Effect.andThen(
            holdImports(owner, organization.id),
            Effect.map(refusalOfFile(organization, content), (found) => found.message)
          )
        )
        expect(message).toBe("Another import into this organization is running. Import again when it has ended.")
        yield* expectUntouched(organization)
        expect(yield* importFile(organization, content)).toMatchObject({ inserted: 1 })
      })
    )

    it.effect("that create columns fail when the organization changes meanwhile", () =>
      Effect.gen(function* () {
        const organization = yield* makeOrganization("changed")
        const { owner } = yield* Database
        const fiber = yield* Effect.forkChild(
          importFile(
            organization,
            ["id,name,product", ...Array.from({ length: 20_000 }, (_, index) => `${index},Person,Books`)],
            { create: true }
          )
        )
        yield* running
        // The epoch isn't locked while the import writes.
        yield* owner`UPDATE max.organizations SET epoch = epoch + 1 WHERE organization_id = ${organization.id}`
        const exit = yield* Fiber.await(fiber)
        expect(Exit.isFailure(exit) && JSON.stringify(exit.cause)).toContain(
          "Something else changed this organization at the same time. Import again."
        )
        yield* expectUntouched(organization)
      })
    )
  })

  describe("an interrupted import", () => {
    const many = ["id,name,product", ...Array.from({ length: 60_000 }, (_, index) => `${index},Person ${index},Books`)]

    it.effect("leaves nothing behind when its fiber is interrupted", () =>
      Effect.gen(function* () {
        const organization = yield* makeOrganization("interrupted")
        const tables = yield* orphanTables
        for (const create of [true, false]) {
          const fiber = yield* Effect.forkChild(
            importFile(organization, many, create ? { create } : { ignore: ["product"] })
          )
          yield* running
          yield* Fiber.interrupt(fiber)
          yield* expectUntouched(organization)
        }
        expect(yield* orphanTables).toEqual(tables)
        expect(yield* importFile(organization, many.slice(0, 100), { create: true })).toMatchObject({ inserted: 99 })
      })
    )

    it.effect("leaves nothing behind when its file changes", () =>
      Effect.gen(function* () {
        const organization = yield* makeOrganization("file-changed")
        const importer = yield* Importer
        const file = fileOf("changing.csv", many)
        const fiber = yield* Effect.forkChild(
          importer.import(organization, { files: [file], type: "people", create: true })
        )
        yield* running
        appendFileSync(file, "\n60001,One more,Books")
        expect(yield* Effect.flip(Fiber.join(fiber))).toMatchObject({
          message: "changing.csv: the file changed while it was read. Import again."
        })
        yield* expectUntouched(organization)
      })
    )

    it.effect("leaves nothing behind when its process is killed", () =>
      Effect.gen(function* () {
        const organization = yield* makeOrganization("killed")
        const { owner } = yield* Database
        const env = yield* Env
        const child = spawn(
          process.execPath,
          [program, "import", fileOf("killed.csv", many), "--type", "people", "--create", "--org", "killed"],
          {
            env: { PATH: process.env["PATH"]!, HOME: inject("files"), DATABASE_URL: Redacted.value(env.databaseUrl!) },
            stdio: "ignore"
          }
        )
        yield* running
        child.kill("SIGKILL")
        yield* Effect.promise(() => new Promise((resolve) => child.on("close", resolve)))
        // The server notices when the statement that was running has ended.
        yield* Effect.repeat(
          owner`SELECT 1 FROM pg_stat_activity WHERE query LIKE '/* max import */%' AND datname = current_database()`,
          {
            until: (rows) => rows.length === 0,
            schedule: Schedule.spaced("20 millis")
          }
        )
        yield* expectUntouched(organization)
        expect(yield* orphanTables).toEqual([])
      })
    )

    it.effect(
      "is Unavailable and leaves nothing behind when its connection is terminated, and the next one works",
      () =>
        Effect.gen(function* () {
          const organization = yield* makeOrganization("terminated")
          const fiber = yield* Effect.forkChild(importFile(organization, many, { create: true }))
          const pid = yield* running
          const { owner } = yield* Database
          yield* owner`SELECT pg_terminate_backend(${pid})`
          const error = yield* Effect.flip(Fiber.join(fiber))
          expect(error).toBeInstanceOf(Unavailable)
          yield* expectUntouched(organization)
          expect(yield* importFile(organization, many.slice(0, 100), { create: true })).toMatchObject({ inserted: 99 })
        })
    )
  })
})

/** Ends when an import is writing, with the process id of its connection. */
const running = Effect.gen(function* () {
  const { owner } = yield* Database
  const rows = yield* Effect.repeat(
    owner<{ pid: number }>`
      SELECT a.pid FROM pg_stat_activity a
      WHERE a.datname = current_database() AND a.query LIKE '/* max import */%' AND a.state <> 'idle' AND a.xact_start IS NOT NULL`,
    { until: (found) => found.length > 0, schedule: Schedule.spaced("2 millis") }
  )
  return rows[0]!.pid
}).pipe(Effect.timeout("2 minutes"))
