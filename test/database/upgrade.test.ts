/**
 * Upgrades from the released schema. Commands of Max 0.1.0 produced `fixtures/0001`: `data.backup` is the content of the
 * database, `answers.json` that version's answers. After all migrations the answers must be the same.
 */
import { PgClient } from "@effect/sql-pg"
import { Effect, Exit, Scope } from "effect"
import { Reactivity } from "effect/reactivity"
import { createHash } from "node:crypto"
import { readFileSync } from "node:fs"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { foundation } from "../../src/database/migrations/0001_foundation.ts"
import { pendingStatements } from "../../src/database/migrate.ts"
import { proposalsInOneRow } from "../../src/database/migrations/0047_proposals_in_one_row.ts"
import { SCHEMA_VERSION } from "../../src/database/migrations/index.ts"
import { readBackupFile } from "../../src/services/operations/backup/backupFile.ts"
import { fill } from "../../src/services/operations/backup/restore.ts"
import { runMax } from "../support/cli.ts"
import { freshDatabase } from "../support/database.ts"
import { fixture } from "../support/fixtures.ts"
import { connectTo } from "../support/newDatabase.ts"

const answers: ReadonlyArray<{ readonly ask: ReadonlyArray<string>; readonly code: number; readonly answer: unknown }> =
  JSON.parse(readFileSync(fixture("0001", "answers.json"), "utf8"))

const scope = Scope.makeUnsafe()
const database = () => Effect.runPromise(freshDatabase.pipe(Scope.provide(scope)))
const withOwner = <A, E>(url: string, use: (owner: PgClient.PgClient) => Effect.Effect<A, E>) =>
  Effect.runPromise(Effect.scoped(Effect.flatMap(connectTo(url), use)).pipe(Effect.provide(Reactivity.layer)))
const versionOf = (url: string) =>
  withOwner(url, (owner) =>
    Effect.map(owner<{ id: number }>`SELECT max(id) AS id FROM max.migrations`, ([row]) => row!.id)
  )

/** The indexes on references of managed tables. */
const referenceIndexes = (url: string) =>
  withOwner(url, (owner) =>
    Effect.map(
      owner<{ own: boolean; definition: string }>`
        SELECT DISTINCT v.relation_table LIKE 't\\_%' AS own, i.indexrelid, substring(pg_get_indexdef(i.indexrelid) FROM ' (?=id\\)).*') AS definition
        FROM builder.columns c JOIN builder.entity_type_versions v
          ON v.organization_id = c.organization_id AND v.type_key = c.type_key AND v.version = c.version
        JOIN pg_index i ON i.indrelid = to_regclass(format('%I.%I', v.relation_schema, v.relation_table))
        JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[1]
        WHERE v.relation_schema = 'data' AND c.storage->>'_tag' = 'One' AND a.attname = c.storage->>'column'`,
      (rows) => rows.map(({ definition, own }) => `${own ? "own" : "shared"}:${definition}`).sort()
    )
  )

let upgraded: Record<string, string> = {}
let restored: Record<string, string> = {}

const answersAsBefore = async (env: Record<string, string>, some = answers) => {
  for (const { answer, ask, code } of some) {
    const ran = await runMax([...ask, "--json"], env)
    expect([ran.code, ran.code === 0 ? "" : ran.stdout], `${ask.join(" ")}: ${ran.stderr}`).toEqual([code, ""])
    if (code === 0) expect(JSON.parse(ran.stdout), ask.join(" ")).toMatchObject(answer as object)
  }
}

beforeAll(async () => {
  upgraded = { DATABASE_URL: await database(), MAX_LOOKUP_TIMEOUT: "10000" }
  restored = { DATABASE_URL: await database(), MAX_LOOKUP_TIMEOUT: "10000" }
})

afterAll(() => Effect.runPromise(Scope.close(scope, Exit.void)))

describe("a database of Max 0.1.0", () => {
  it("has the released schema: its migration is unchanged", () => {
    const released = createHash("sha256").update(JSON.stringify(foundation.statements())).digest("hex")
    expect(released).toBe("e73c4b19833a50f27d99438bda17a3251283561ca59632f817f2fbe859e9d960")
  })

  it("is unchanged by every command until max migrate", async () => {
    const url = upgraded["DATABASE_URL"]!
    await withOwner(url, (owner) => owner.withTransaction(fill(owner, readBackupFile(fixture("0001", "data.backup")))))
    expect(await versionOf(url)).toBe(1)
    expect(new Set(await referenceIndexes(url))).toEqual(new Set(["own: id)", "shared: id)"]))
    const ran = await runMax(["org", "list"], upgraded)
    expect([ran.code, ran.stderr]).toEqual([3, expect.stringContaining("max migrate")])
    expect(await versionOf(url)).toBe(1)
  })

  it("gives the same answers and accepts writes after max migrate", async () => {
    const before = await referenceIndexes(upgraded["DATABASE_URL"]!)
    expect((await runMax(["migrate"], upgraded)).code).toBe(0)
    expect(await referenceIndexes(upgraded["DATABASE_URL"]!)).toEqual(
      before.map((index) => `${index} INCLUDE (name_k)`)
    )
    expect(await versionOf(upgraded["DATABASE_URL"]!)).toBe(SCHEMA_VERSION)
    await answersAsBefore(upgraded)
    expect((await runMax(["doctor"], upgraded)).code).toBe(0)
    const as = ["--org", "harbor"]
    expect(
      (await runMax(["member", "add", "dag@harbor.example", "--role", "member", "--create", ...as], upgraded)).code
    ).toBe(0)
    expect((await runMax(["find", "boats", "--as", "dag@harbor.example", ...as], upgraded)).code).toBe(6)
    expect((await runMax(["member", "suspend", "bo@harbor.example", ...as], upgraded)).code).toBe(0)
    expect((await runMax(["types", "--as", "bo@harbor.example", ...as], upgraded)).code).toBe(4)
  })

  it("gives the same answers after a restore from its backup into the current schema", async () => {
    const ran = await runMax(["restore", fixture("0001", "data.backup")], restored)
    expect([ran.code, ran.stdout]).toEqual([
      0,
      expect.stringContaining("73 rows of 14 tables, in 2 organizations, restored")
    ])
    expect(await versionOf(restored["DATABASE_URL"]!)).toBe(SCHEMA_VERSION)
    await answersAsBefore(
      restored,
      answers.filter(({ ask }) => ask.includes("--select"))
    )
  })
})

describe("changes of a schema whose proposals stored their steps", () => {
  it("keep their actions and types, and the history of rows keeps what was applied only", async () => {
    const url = await database()
    const version = proposalsInOneRow.id
    const change = (id: string, state: string) =>
      `INSERT INTO max.changes (organization_id, change_id, state, level, destructive, rows, proposer_id, channel, key, digest, expires_at)
       VALUES (1, '${id}', '${state}', 'once', false, 2, 'ada', 'cli', '${id}', '${id}', now() + interval '1 hour')`
    const step = (id: string, number: number, action: string, type: string, applied: string) =>
      `INSERT INTO max.change_steps (organization_id, change_id, step, action_key, action_version, type_key, entity_id, applied_at)
       VALUES (1, '${id}', ${number}, '${action}', 1, ${type}, '7', ${applied})`
    const rows = await withOwner(url, (owner) =>
      Effect.gen(function* () {
        for (const statement of [
          ...pendingStatements(0, version - 1),
          change("done", "applied"),
          change("waits", "open"),
          step("done", 1, "p.update", "'p'", "now()"),
          step("waits", 2, "m.delete", "'m'", "NULL"),
          step("waits", 1, "p.update", "'p'", "NULL"),
          step("waits", 3, "invite", "NULL", "NULL"),
          ...pendingStatements(version - 1, version)
        ])
          yield* owner.unsafe(statement).unprepared
        return yield* owner`SELECT c.change_id, c.actions, c.types,
          (SELECT count(*)::int FROM max.change_steps s WHERE s.change_id = c.change_id) AS steps FROM max.changes c ORDER BY 1`
      })
    )
    expect(rows).toEqual([
      { change_id: "done", actions: ["p.update"], types: ["p"], steps: 1 },
      { change_id: "waits", actions: ["p.update", "m.delete", "invite"], types: ["m", "p"], steps: 0 }
    ])
  })
})
