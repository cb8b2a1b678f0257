import { layer } from "@effect/vitest"
import { Effect } from "effect"
import { expect } from "vitest"
import { Database } from "../../src/database/Database.ts"
import { TestServices } from "../support/database.ts"

layer(TestServices)("the schema", (it) => {
  it.effect("leads every key and index with organization_id, so that the schema can be distributed by it", () =>
    Effect.gen(function* () {
      const { owner } = yield* Database
      const rows = yield* owner<{ relation: string; index: string; first: string }>`
        SELECT c.oid::regclass::text AS relation, i.indexrelid::regclass::text AS index, a.attname::text AS first
        FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid JOIN pg_namespace n ON n.oid = c.relnamespace
        JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = i.indkey[0]
        WHERE n.nspname IN ('max', 'builder', 'data')`
      expect(rows.length).toBeGreaterThan(20)
      const exceptions = [
        "max.identity_providers_issuer_audience_key",
        "max.migrations_pkey",
        "max.organizations_slug_key",
        "max.sms_numbers_phone_key",
        // Trace storage is bounded for the whole server: pruning deletes the oldest of all organizations.
        "max.traces_started_at_idx",
        "max.traces_stored_at_idx"
      ]
      expect(
        rows
          .filter((row) => row.first !== "organization_id")
          .map((row) => row.index)
          .sort()
      ).toEqual(exceptions)
    })
  )

  it.effect("has a primary key and a non-null organization_id in every table", () =>
    Effect.gen(function* () {
      const { owner } = yield* Database
      const rows = yield* owner<{ relation: string; fits: boolean }>`
        SELECT c.oid::regclass::text AS relation, coalesce(bool_or(a.attnotnull AND a.atttypid = 'int8'::regtype), false)
          AND EXISTS (SELECT FROM pg_constraint k WHERE k.conrelid = c.oid AND k.contype = 'p') AS fits
        FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
        LEFT JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'organization_id'
        WHERE n.nspname IN ('max', 'builder', 'data') AND c.relkind IN ('r', 'p') GROUP BY c.oid`
      expect(rows.length).toBeGreaterThan(10)
      expect(rows.filter(({ fits }) => !fits).map(({ relation }) => relation)).toEqual(["max.migrations"])
    })
  )

  it.effect("has no foreign key that can cross organizations", () =>
    Effect.gen(function* () {
      const { owner } = yield* Database
      const rows = yield* owner<{ name: string; own: string; other: string }>`
        SELECT k.conname::text AS name, a.attname::text AS own, b.attname::text AS other
        FROM pg_constraint k
        JOIN pg_attribute a ON a.attrelid = k.conrelid AND a.attnum = k.conkey[1]
        JOIN pg_attribute b ON b.attrelid = k.confrelid AND b.attnum = k.confkey[1]
        WHERE k.contype = 'f' AND k.connamespace IN ('max'::regnamespace, 'builder'::regnamespace, 'data'::regnamespace)`
      expect(rows.length).toBeGreaterThan(0)
      for (const row of rows) expect([row.own, row.other]).toEqual(["organization_id", "organization_id"])
    })
  )

  it.effect("has no sequence and no trigger, but those of an organization that is being moved", () =>
    Effect.gen(function* () {
      const { owner } = yield* Database
      const rows = yield* owner<{ kind: string; name: string }>`
        SELECT 'sequence' AS kind, c.relname::text AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
        WHERE c.relkind = 'S' AND n.nspname IN ('max', 'builder', 'data')
        UNION ALL
        SELECT 'trigger', t.tgname::text FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid
        JOIN pg_namespace n ON n.oid = c.relnamespace WHERE NOT t.tgisinternal AND n.nspname IN ('max', 'builder', 'data')
          AND NOT EXISTS (SELECT FROM max.moves v WHERE NOT v.incoming AND v.closed AND v.cleaned_at IS NULL
            AND t.tgfoid = 'max.refuse_moved'::regproc)`
      expect(rows).toEqual([])
    })
  )

  it.effect("grants the reading role nothing but SELECT", () =>
    Effect.gen(function* () {
      const { lookup, search } = yield* Database
      for (const pool of [lookup, search]) {
        const [role] = yield* pool.unsafe<{
          name: string
          super: boolean
          bypass: boolean
          readonly: string
          path: string
        }>(`
          SELECT rolname::text AS name, rolsuper AS super, rolbypassrls AS bypass,
            current_setting('default_transaction_read_only') AS readonly, current_setting('search_path') AS path
          FROM pg_roles WHERE rolname = current_user`)
        expect(role).toMatchObject({ super: false, bypass: false, readonly: "on", path: "pg_catalog, pg_temp" })
        expect(role!.name).toMatch(/^max_read_[0-9a-f]{8}$/)
        for (const attempt of [
          "INSERT INTO max.organizations (organization_id, slug, name, country, time_zone) VALUES (1, 'x', 'x', 'US', 'UTC')",
          "UPDATE data.people SET name = 'x'",
          "DELETE FROM max.memberships",
          "CREATE TABLE data.x (id int)",
          "SELECT set_config('default_transaction_read_only', 'off', false), (SELECT count(*) FROM max.migrations)"
        ]) {
          const failure = yield* Effect.flip(pool.unsafe(attempt))
          expect(["AuthorizationError", "UnknownError"]).toContain(failure.reason._tag)
        }
      }
    })
  )

  it.effect("refuses writes of the reading role even in a read-write session", () =>
    Effect.gen(function* () {
      const { search } = yield* Database
      const failure = yield* Effect.flip(
        search.withTransaction(
          Effect.gen(function* () {
            yield* search.unsafe("SET TRANSACTION READ WRITE")
            yield* search.unsafe("UPDATE data.people SET name = 'x'")
          })
        )
      )
      expect(failure.reason._tag).toBe("AuthorizationError")
    })
  )
})
