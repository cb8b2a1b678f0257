/** Checks mapped tables: that they still fit their mapping, and that large ones have the indexes that lookups need. */
import { Effect } from "effect"
import { rolesOf } from "../../../database/migrate.ts"
import { SCHEMA_VERSION } from "../../../database/migrations/index.ts"
import { decodeTypes, TYPES_IN_FORCE } from "../../EntityTypeCatalog.ts"
import { indexAdvice } from "../../mapping/advice.ts"
import { driftedRelations } from "../../mapping/drift.ts"
import { readFacts } from "../../mapping/tableFacts.ts"
import { type Check, fail, ok, some, warn } from "./Finding.ts"

export const mapped: Check = Effect.fnUntraced(function* ({ inspection, owner }) {
  if (inspection.schemaVersion < SCHEMA_VERSION) return []
  const rows = yield* owner.unsafe<{ types: unknown }>(
    `SELECT (${TYPES_IN_FORCE}) AS types FROM max.organizations o
       WHERE EXISTS (SELECT FROM builder.entity_type_versions v WHERE v.organization_id = o.organization_id AND v.mapping IS NOT NULL)`
  )
  const types = rows.flatMap((row) => decodeTypes(row.types)).filter(({ mapping }) => mapping !== undefined)
  if (types.length === 0) return []
  const drifted = yield* driftedRelations(owner)
  const { relations } = yield* readFacts(owner, rolesOf(inspection.database).read)
  const advice = types.flatMap(({ columns, mapping, relation }) => {
    const facts = relations.find(({ schema, table }) => schema === relation.schema && table === relation.table)
    return facts === undefined ? [] : indexAdvice(facts, columns, mapping!)
  })
  return [
    drifted.length === 0
      ? ok("mapped tables", `${types.length} of your tables are mapped, without drift.`)
      : fail(
          "mapped tables",
          `${some(drifted)} ${drifted.length === 1 ? "has" : "have"} changed since the mapping, and can't be read.`,
          "max map diff"
        ),
    ...(advice.length === 0 ? [] : [warn("mapped tables", "Lookups scan large tables.", ...new Set(advice))])
  ]
})
