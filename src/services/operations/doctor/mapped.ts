/** Checks mapped tables: that they still fit their mapping, and that large ones have the indexes that lookups need. */
import { Effect } from "effect"
import { SCHEMA_VERSION } from "../../../database/migrations/index.ts"
import { decodeTypes, TYPES_IN_FORCE } from "../../EntityTypeCatalog.ts"
import { indexAdvice } from "../../mapping/advice.ts"
import { driftedRelations, replacedRelations } from "../../mapping/drift.ts"
import { readFacts } from "../../mapping/tableFacts.ts"
import { type Examined, fail, ok, some, warn } from "./Finding.ts"

/** Untrusted owners and row security of the relations that the mappings in force read. */
const FAULTS = `SELECT DISTINCT f.fault, f.mend FROM builder.version_refs r JOIN builder.entity_type_versions v
    ON v.organization_id = r.source_organization_id AND v.type_key = r.type_key AND v.version = r.version,
  jsonb_object_keys(v.mapping->'reads') x(name), max.relation_faults(to_regclass(x.name)) f ORDER BY 1`

export const mapped = Effect.fnUntraced(function* ({ inspection, owner }: Pick<Examined, "inspection" | "owner">) {
  if (inspection.schemaVersion < SCHEMA_VERSION) return []
  const rows = yield* owner.unsafe<{ types: unknown }>(
    `SELECT (${TYPES_IN_FORCE}) AS types FROM max.organizations o
       WHERE EXISTS (SELECT FROM builder.entity_type_versions v WHERE v.organization_id = o.organization_id AND v.mapping IS NOT NULL)`
  )
  const types = rows.flatMap((row) => decodeTypes(row.types)).filter(({ mapping }) => mapping !== undefined)
  if (types.length === 0) return []
  const drifted = yield* driftedRelations(owner)
  const replaced = yield* replacedRelations(owner)
  const { relations } = yield* readFacts(owner)
  const faults = yield* owner.unsafe<{ fault: string; mend: string }>(FAULTS)
  const advice = types.flatMap(({ columns, mapping, relation }) => {
    const facts = relations.find(({ schema, table }) => schema === relation.schema && table === relation.table)
    return facts === undefined ? [] : indexAdvice(facts, columns, mapping!)
  })
  return [
    ...(drifted.length + replaced.length === 0
      ? [ok("mapped tables", `${types.length} of your tables are mapped, of trusted owners and without drift.`)]
      : []),
    ...(drifted.length === 0
      ? []
      : [
          fail(
            "mapped tables",
            `${some(drifted)} ${drifted.length === 1 ? "has" : "have"} changed since the mapping; what has changed can't be read.`,
            "max map diff"
          )
        ]),
    ...(replaced.length === 0
      ? []
      : [
          fail(
            "mapped tables",
            `Lookups of ${some(replaced)} are unavailable: each must be the relation that was mapped, of a trusted owner. If it is right now, map it again.`,
            "max map > mapping.json",
            "max map --apply mapping.json"
          )
        ]),
    ...faults.map(({ fault, mend }) => fail("mapped tables", `Not read: ${fault}`, mend)),
    ...(advice.length === 0 ? [] : [warn("mapped tables", "Lookups scan large tables.", ...new Set(advice))])
  ]
})
