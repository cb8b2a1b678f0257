/** Checks mapped tables: that they still fit their mapping, and that large ones have the indexes that lookups need. */
import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import { connectAs } from "../../../database/Database.ts"
import { rolesOf } from "../../../database/migrate.ts"
import { SCHEMA_VERSION } from "../../../database/migrations/index.ts"
import type { Relation } from "../../../domain/EntityType.ts"
import { mappedTypes, missingChangeGrants, missingGrants } from "../../mapping/grants.ts"
import { compareWrites } from "../../mapping/writeGrants.ts"
import { tryReading } from "../../mapping/tryReading.ts"
import { indexAdvice } from "../../mapping/advice.ts"
import { driftedRelations, replacedRelations } from "../../mapping/drift.ts"
import { readFacts } from "../../mapping/tableFacts.ts"
import { type Check, type Examined, fail, ok, some, warn } from "./Finding.ts"

/** Untrusted owners and row security of the relations that the mappings in force read. */
const FAULTS = `SELECT f.fault, f.mend, array_agg(DISTINCT n.nspname || '.' || c.relname) AS names FROM builder.version_refs r JOIN builder.entity_type_versions v
    ON v.organization_id = r.source_organization_id AND v.type_key = r.type_key AND v.version = r.version,
  jsonb_object_keys(v.mapping->'reads') x(name) JOIN pg_class c ON c.oid = to_regclass(x.name)
  JOIN pg_namespace n ON n.oid = c.relnamespace, max.relation_faults(c.oid) f GROUP BY 1, 2 ORDER BY 1`

/** The check as the role of lookups, of which it opens a connection. */
export const mappedTables: Check = (database) => {
  const { from, inspection } = database
  if (!inspection.rolesExist) return mapped(database)
  return connectAs(from, rolesOf(inspection.database).read).pipe(
    Effect.flatMap((reader) => mapped({ ...database, reader })),
    Effect.scoped
  )
}

/** \`reader\`: a connection as the role of lookups, if there is one. */
export const mapped = Effect.fnUntraced(function* ({
  inspection,
  owner,
  reader = owner
}: Pick<Examined, "inspection" | "owner"> & { readonly reader?: PgClient.PgClient }) {
  if (inspection.schemaVersion < SCHEMA_VERSION) return []
  const types = yield* mappedTypes(owner)
  if (types.length === 0) return []
  const drifted = yield* driftedRelations(owner)
  const replaced = yield* replacedRelations(owner)
  const { relations } = yield* readFacts(owner)
  const gone = types.filter(({ relation }) => !relations.some((each) => isSame(each, relation)))
  const isGone = (name: string) => gone.some(({ relation }) => nameOf(relation) === name)
  const faults = yield* owner.unsafe<{ fault: string; mend: string; names: ReadonlyArray<string> }>(FAULTS)
  const unreadable = (yield* tryReading(
    reader,
    types.filter((type) => !gone.includes(type))
  )).filter(
    ({ code, name }) =>
      !replaced.includes(name) && code !== "MX001" && (code === NOT_GRANTED || !drifted.includes(name))
  )
  const { statements } = yield* missingGrants(owner, types)
  const ofChanges = yield* missingChangeGrants(owner, types)
  const writes = yield* compareWrites(owner)
  const changed = drifted.filter((name) => !isGone(name))
  // What an untrusted owner or row security keeps from being read has findings of its own.
  const isBlocked = (name: string) =>
    relations.some(({ faults, schema, table }) => faults.length > 0 && `${schema}.${table}` === name)
  const others = replaced.filter((name) => !isGone(name) && !isBlocked(name))
  const missing = types.flatMap((type) => (type.missing ?? []).map(({ slug }) => `${slug} of ${nameOf(type.relation)}`))
  const advice = types.flatMap(({ columns, mapping, relation }) => {
    const facts = relations.find((each) => isSame(each, relation))
    return facts === undefined ? [] : indexAdvice(facts, columns, mapping!)
  })
  const findings = [
    ...gone.map(({ relation, slug }) =>
      fail(
        NAME,
        `${nameOf(relation)} doesn't exist any more: lookups of ${slug} are unavailable. Made again as it was, it is read again.`,
        `max map remove ${slug}`
      )
    ),
    ...(missing.length === 0
      ? []
      : [fail(NAME, `${some(missing)} can't be read: the column is gone or has another name.`, "max map diff")]),
    ...(changed.length === 0
      ? []
      : [
          fail(
            NAME,
            `${some(changed)} ${changed.length === 1 ? "has" : "have"} changed since the mapping; what has changed can't be read.`,
            "max map diff"
          )
        ]),
    ...(others.length === 0
      ? []
      : [
          fail(
            NAME,
            `Lookups of ${some(others)} are unavailable: each must be the relation that was mapped, of a trusted owner. If it is right now, map it again.`,
            "max map > mapping.json",
            "max map --apply mapping.json"
          )
        ]),
    ...(unreadable.length === 0
      ? []
      : [
          fail(
            NAME,
            `Lookups of ${some(unreadable.map(({ name }) => name))} fail: ${unreadable[0]!.reason}.`,
            unreadable.some(({ code }) => code === NOT_GRANTED) ? "max migrate" : "max map diff",
            ...statements.map((statement) => `${statement}; (as the owner of the table, if max migrate may not)`)
          )
        ]),
    ...faults.map(({ fault, mend, names }) =>
      fail(NAME, `Lookups of what reads ${some(names)} are unavailable: ${fault}`, mend)
    )
  ]
  return [
    ...(findings.length === 0
      ? [ok(NAME, `${types.length} of your tables are mapped, of trusted owners and without drift, and were read.`)]
      : findings),
    ...(ofChanges.names.length === 0
      ? []
      : [
          warn(
            NAME,
            `Changes whose rules look at ${some(ofChanges.names)} can't be confirmed: the role that applies changes may not read all that is mapped.`,
            "max migrate",
            ...ofChanges.statements.map(
              (statement) => `${statement}; (as the owner of the table, if max migrate may not)`
            )
          )
        ]),
    ...(writes.missing.length === 0
      ? []
      : [
          fail(
            NAME,
            "Changes of mapped tables fail: the role that applies them lacks rights that the mappings ask for.",
            "max migrate",
            ...writes.missing.map((statement) => `${statement}; (as the owner of the table, if max migrate may not)`)
          )
        ]),
    ...(advice.length === 0 ? [] : [warn(NAME, "Lookups scan large tables.", ...new Set(advice))])
  ]
})

const NAME = "mapped tables"
const NOT_GRANTED = "42501"

const nameOf = ({ schema, table }: Relation): string => `${schema}.${table}`
const isSame = (a: Relation, b: Relation): boolean => a.schema === b.schema && a.table === b.table
