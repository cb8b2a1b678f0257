/** Resolves keys of references: each is looked up once, and again where rows of the import may have changed the result. */
import { Effect } from "effect"
import { identifier, qualified } from "../../database/sql/SqlWriter.ts"
import type { ReferenceField, Target } from "./bindFields.ts"
import { type Destination, texts } from "./statements.ts"

/** The cache of a field is cleared beyond this many keys. */
const MAX_CACHED = 200_000

export type References = ReturnType<typeof makeReferences>

export const makeReferences = (destination: Destination) => {
  let evicted = false

  /** Looks up the keys of a field that aren't cached. */
  const resolve = Effect.fnUntraced(function* (field: ReferenceField, keys: ReadonlyArray<ReadonlyArray<string>>) {
    // References usually lead to few records; with many, each batch is looked up by itself.
    if (field.targets.size > MAX_CACHED) {
      field.targets.clear()
      evicted = true
    }
    const missing = new Set<string>()
    for (const key of keys.flat()) {
      const target = field.targets.get(key)
      // Rows written since may have brought a target of the imported type.
      if (target === undefined || (field.self && target === "none")) missing.add(key)
    }
    if (missing.size > 0) yield* find(destination, field, [...missing])
  })

  /** Whether the written rows changed what these references resolve to: another record, or several. */
  const changed = Effect.fnUntraced(function* (fields: ReadonlyArray<ReferenceField>) {
    if (evicted) return true
    for (const { targets, ...field } of fields) {
      const resolved = [...targets].filter(([, target]) => typeof target === "bigint")
      const now = { ...field, targets: new Map<string, Target>() }
      const keys = resolved.map(([key]) => key)
      if (keys.length > 0) yield* find(destination, now, keys)
      if (resolved.some(([key, target]) => now.targets.get(key) !== target)) return true
    }
    return false
  })

  return { resolve, changed }
}

/** Looks up the targets of keys; two matches are as ambiguous as more. */
const find = Effect.fnUntraced(function* (
  { organization, sql }: Destination,
  { by, target, targets }: ReferenceField,
  keys: ReadonlyArray<string>
) {
  const storage = by?.storage._tag === "Value" ? by.storage : undefined
  const reference = `t.${identifier(storage === undefined ? "external_id" : (storage.keyColumn ?? storage.column))}`
  // With an index, two rows per key suffice; without one, all keys are found in one pass over the rows.
  const limit = storage === undefined || storage.indexed === true ? " LIMIT 2" : ""
  for (const key of keys) targets.set(key, "none")
  const rows = yield* sql.unsafe<{ key: string; id: bigint; several: boolean }>(
    `/* max import references */ SELECT k.key, min(r.id) AS id, count(*) > 1 AS several FROM unnest($2::text[]) AS k(key) ` +
      `CROSS JOIN LATERAL (SELECT t.id FROM ${qualified(target.relation)} t WHERE t.organization_id = $1::bigint ` +
      `AND ${reference} = k.key${by?.kind === "integer" ? "::bigint" : ""}${limit}) r GROUP BY k.key`,
    [organization.id, texts(keys)]
  )
  for (const { id, key, several } of rows) targets.set(key, several ? "several" : id)
})
