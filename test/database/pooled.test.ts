/** The connections of reads and writes at another address than the owner's, as through PgBouncer. */
import { it } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import { expect, inject } from "vitest"
import { connectAs, connectOwner, Database } from "../../src/database/Database.ts"
import { sourceOf } from "../../src/database/DatabaseSource.ts"
import { inspect, rolesOf } from "../../src/database/migrate.ts"
import { Env } from "../../src/env.ts"
import { ConfiguredDatabase, Services } from "../../src/layers.ts"
import { pooler } from "../../src/services/operations/doctor/pool.ts"
import { addPeople, asMember, makeOrganization } from "../support/atlas.ts"
import { migratedDatabase } from "../support/database.ts"

/** PgBouncer's address under `npm run prove`; otherwise the server's own, at which nothing else differs. */
const poolOf = (url: string) => Redacted.make(inject("poolUrl") === "" ? url : inject("poolUrl"))

it.live("reads and writes through a pooler keep nothing on a connection, and have their role's settings", () =>
  Effect.gen(function* () {
    const url = yield* migratedDatabase
    const poolUrl = poolOf(url)
    const env = Env.layerWith({
      databaseUrl: Redacted.make(url),
      poolUrl,
      lookupTimeout: 10_000,
      searchTimeout: 30_000
    })
    const services = Services.pipe(Layer.provideMerge(ConfiguredDatabase.pipe(Layer.provideMerge(env))), Layer.orDie)
    yield* Effect.gen(function* () {
      const { lookup, search } = yield* Database
      const organization = yield* makeOrganization("pooled")
      yield* addPeople(organization, [{ name: "Lee", email: "lee@pooled.example" }])
      const member = yield* asMember(organization, "boss@pooled.example", "admin")
      for (const [op, columnId, value] of [
        ["eq", "email", "lee@pooled.example"],
        ["ilike", "name", "lee"]
      ] as const) {
        const find = member.find({ filters: [{ columnId, op, value }] })
        const pages = yield* Effect.all(
          Array.from({ length: 30 }, () => find),
          { concurrency: 10 }
        )
        expect(new Set(pages.map(({ total }) => total)), op).toEqual(new Set([1]))
      }
      for (const pool of [lookup, search]) {
        const [row] = yield* pool.unsafe<
          Record<string, unknown>
        >(`SELECT current_setting('search_path') AS path, current_setting('jit') AS jit,
          current_setting('default_transaction_read_only') AS "readOnly", current_setting('statement_timeout') AS timeout,
          (SELECT count(*)::int FROM pg_prepared_statements) AS prepared`)
        expect(row).toEqual({ path: "pg_catalog, pg_temp", jit: "off", readOnly: "on", timeout: "5s", prepared: 0 })
      }
    }).pipe(Effect.provide(services))
  }).pipe(Effect.scoped)
)

it.live(
  "doctor finds a reading role without its settings behind the pooler, and an owner's address that drops settings",
  () =>
    Effect.gen(function* () {
      const url = yield* migratedDatabase
      const from = sourceOf({ url: Redacted.make(url) })
      const { owner } = yield* connectOwner(from)
      const inspection = yield* inspect(owner)
      const database = { from, inspection, owner, searchConnections: 1, poolUrl: poolOf(url) }
      expect((yield* pooler(database)).map(({ status }) => status)).toEqual(["ok"])
      const role = rolesOf(inspection.database).read
      yield* owner.unsafe(`ALTER ROLE ${role} RESET statement_timeout`).unprepared
      // A connection that PgBouncer keeps has the settings of its start.
      if (inject("poolUrl") === "")
        expect(yield* pooler(database)).toMatchObject([{ status: "fail", mend: ["max migrate"] }])
      const other = yield* connectAs(from, role, Redacted.make(url))
      expect(yield* pooler({ ...database, owner: other })).toMatchObject([
        { status: "fail", message: expect.stringContaining("drops startup parameters") }
      ])
    }).pipe(Effect.scoped)
)
