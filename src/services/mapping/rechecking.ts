/** Writes what a recheck accepts, with its audit event, in the caller's transaction. */
import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import { type AuditEvent, OPERATOR } from "../../database/audit.ts"
import { holdEpoch, raiseEpoch } from "../../database/epoch.ts"
import type { EntityType } from "../../domain/EntityType.ts"
import { OperatorError } from "../../domain/errors.ts"
import { CHANGED } from "../EntityTypeCatalog.ts"
import type { CheckContext } from "./checkColumn.ts"
import { driftedRelations } from "./drift.ts"
import { grantLacking } from "./grants.ts"
import type { MappingDocument } from "./mappingFile.ts"
import { settleWrites } from "./writeGrants.ts"
import { type Rechecked, recheckType } from "./recheck.ts"

/** Returns whether anything changed: what is read, or the rights to read it. */
export const recheckTypes = Effect.fnUntraced(function* (
  owner: PgClient.PgClient,
  context: CheckContext,
  documents: ReadonlyArray<MappingDocument>
) {
  const { catalog } = context
  const { id } = catalog.organization
  const drifted = yield* driftedRelations(owner)
  const changed: Array<Rechecked> = []
  for (const type of catalog.types) {
    const document = documents.find(({ entry }) => entry.type === type.slug)
    if (type.mapping === undefined || document === undefined) continue
    // Lookups are answered between the types of a large database.
    yield* Effect.yieldNow
    const rechecked = recheckType(type, document.entry, context, drifted)
    if (rechecked !== undefined) changed.push(rechecked)
  }
  for (const { missing, reads, type } of changed) {
    yield* owner`
      UPDATE builder.entity_type_versions SET mapping = mapping - 'missing'
        || jsonb_strip_nulls(jsonb_build_object('missing', nullif(to_jsonb(${missing.map(({ key }) => key)}::text[]), '[]')))
        || jsonb_build_object('reads', ${JSON.stringify(reads)}::text::jsonb)
      WHERE organization_id = ${id} AND type_key = ${type.key} AND version = ${type.version}`
  }
  const granted = yield* grantLacking(
    owner,
    catalog.types.flatMap((type) => readableNow(type, changed))
  )
  // A relation that was made again has no rights.
  const isWritten = catalog.types.some(({ mapping }) => mapping?.write !== undefined)
  if (isWritten && (changed.length > 0 || granted.granted)) yield* settleWrites(owner)
  const [first, ...others] = changed.map(eventOf)
  if (first !== undefined) {
    if ((yield* holdEpoch(owner, id)) !== catalog.epoch) return yield* OperatorError.of(CHANGED)
    yield* raiseEpoch(owner, id, [first, ...others])
  }
  return changed.length > 0 || granted.granted
})

const readableNow = (type: EntityType, changed: ReadonlyArray<Rechecked>): ReadonlyArray<EntityType> => {
  if (type.mapping === undefined) return []
  const reads = changed.find((each) => each.type.key === type.key)?.reads
  return [reads === undefined ? type : { ...type, mapping: { ...type.mapping, reads } }]
}

const eventOf = ({ missing, recreated, type }: Rechecked): AuditEvent => ({
  actor: OPERATOR,
  action: "catalog.rechecked",
  subject: type.slug,
  details: {
    ...(recreated.length === 0 ? {} : { recreated }),
    ...(missing.length === 0 ? {} : { missing: missing.map(({ slug }) => slug) })
  }
})
