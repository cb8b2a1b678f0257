import { layer } from "@effect/vitest"
import { Effect } from "effect"
import { expect } from "vitest"
import { Database } from "../../src/database/Database.ts"
import { refreshStatistics } from "../../src/database/statistics.ts"
import { TestServices } from "../support/database.ts"

const table = (name: string) => ({ schema: "data", table: name })

/** A table of names with a trigram index, and an unsearched column beside it. */
const created = Effect.fnUntraced(function* (name: string, rows: number) {
  const { owner } = yield* Database
  for (const statement of [
    `CREATE UNLOGGED TABLE data.${name} (organization_id bigint NOT NULL, name text, name_k text COLLATE "C")`,
    `INSERT INTO data.${name} SELECT 1, 'n' || i, 'n' || i FROM generate_series(1, ${rows}) AS i`,
    // Without entries, because only the index's definition counts.
    `CREATE INDEX ON data.${name} USING gin (organization_id, name_k max.gin_trgm_ops) WHERE false`
  ])
    yield* owner.unsafe(statement).unprepared
  return table(name)
})

const statisticsOf = Effect.fnUntraced(function* (name: string) {
  const { owner } = yield* Database
  return yield* owner<{ column: string; target: number; values: number }>`
    SELECT a.attname::text AS column, coalesce(a.attstattarget, -1)::int AS target,
      coalesce(array_length(s.histogram_bounds::text::text[], 1), 0)::int AS values
    FROM pg_attribute a LEFT JOIN pg_stats s ON s.schemaname = 'data' AND s.tablename = ${name} AND s.attname = a.attname
    WHERE a.attrelid = to_regclass(${`data.${name}`}) AND a.attname LIKE 'name%' ORDER BY a.attnum`
})

layer(TestServices)("statistics", (it) => {
  it.effect(
    "are finer of searched columns in a large table, and an operator's target stays",
    () =>
      Effect.gen(function* () {
        const { owner } = yield* Database
        const [large, own, small] = [
          yield* created("large_list", 2_100_000),
          yield* created("own_target", 2_100_000),
          yield* created("small_list", 20_000)
        ]
        yield* owner.unsafe("ALTER TABLE data.own_target ALTER name_k SET STATISTICS 300").unprepared
        for (let time = 0; time < 2; time++) {
          yield* refreshStatistics(owner, [large, own, small])
          expect(yield* statisticsOf("large_list")).toEqual([
            { column: "name", target: -1, values: 101 },
            { column: "name_k", target: 1000, values: 1001 }
          ])
          expect(yield* statisticsOf("own_target")).toEqual([
            { column: "name", target: -1, values: 101 },
            { column: "name_k", target: 300, values: 301 }
          ])
          expect(yield* statisticsOf("small_list")).toEqual([
            { column: "name", target: -1, values: 101 },
            { column: "name_k", target: -1, values: 101 }
          ])
        }
      }),
    { timeout: 120_000 }
  )
})
