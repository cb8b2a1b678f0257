/** What the keys of references come to: each is looked up once, and again where rows in between may have changed it. */
import { Effect } from "effect"
import { identifier, qualified } from "../../database/sql/SqlWriter.ts"
import type { ReferenceField, Target } from "./bindFields.ts"
import { type Destination, texts } from "./statements.ts"

/** With more different keys than this, what they came to is looked up again. */
const MAX_KNOWN = 200_000

export type References = ReturnType<typeof makeReferences>

export const makeReferences = (destination: Destination) => {
  let forgotten = false

  /** Finds what a field's keys come to, where it isn't known. */
  const resolve = Effect.fnUntraced(function* (field: ReferenceField, keys: ReadonlyArray<ReadonlyArray<string>>) {
    // References are to few records as a rule; a file where they aren't is looked up batch by batch.
    if (field.known.size > MAX_KNOWN) {
      field.known.clear()
      forgotten = true
    }
    const missing = new Set<string>()
    for (const some of keys) {
      if (some === undefined) continue
      for (const key of some) {
        const found = field.known.get(key)
        // Of its own type, what wasn't there may have come with the rows in between.
        if (found === undefined || (field.self && found === "none")) missing.add(key)
      }
    }
    if (missing.size > 0) yield* find(destination, field, [...missing])
  })

  /** Whether rows of the file have changed what these references lead to: another record, or two by now. */
  const moved = Effect.fnUntraced(function* (own: ReadonlyArray<ReferenceField>) {
    if (forgotten) return true
    for (const { known, ...field } of own) {
      const settled = [...known].filter(([, found]) => typeof found === "bigint")
      const now = { ...field, known: new Map<string, Target>() }
      const keys = settled.map(([key]) => key)
      if (keys.length > 0) yield* find(destination, now, keys)
      if (settled.some(([key, found]) => now.known.get(key) !== found)) return true
    }
    return false
  })

  return { resolve, moved }
}

/** Finds what keys refer to; two are as good as many. */
const find = Effect.fnUntraced(function* (
  { organization, sql }: Destination,
  { by, known, target }: ReferenceField,
  keys: ReadonlyArray<string>
) {
  const storage = by?.storage._tag === "Value" ? by.storage : undefined
  const reference = `t.${identifier(storage === undefined ? "external_id" : (storage.keyColumn ?? storage.column))}`
  // Two are enough where an index leads to a key; where none does, all keys are found in one pass over the rows.
  const enough = storage === undefined || storage.indexed === true ? " LIMIT 2" : ""
  for (const key of keys) known.set(key, "none")
  const rows = yield* sql.unsafe<{ key: string; id: bigint; several: boolean }>(
    `/* max import references */ SELECT k.key, min(r.id) AS id, count(*) > 1 AS several FROM unnest($2::text[]) AS k(key) ` +
      `CROSS JOIN LATERAL (SELECT t.id FROM ${qualified(target.relation)} t WHERE t.organization_id = $1::bigint ` +
      `AND ${reference} = k.key${by?.kind === "integer" ? "::bigint" : ""}${enough}) r GROUP BY k.key`,
    [organization.id, texts(keys)]
  )
  for (const { id, key, several } of rows) known.set(key, several ? "several" : id)
})
