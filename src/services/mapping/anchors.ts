/** Moves members when people are mapped to another table: verified identifiers match each to its row there. */
import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import { type AuditEvent, OPERATOR } from "../../database/audit.ts"
import { compileIdentify } from "../../database/sql/identify.ts"
import { type Catalog, columnByKey, peopleOf } from "../../domain/EntityType.ts"
import { OperatorError } from "../../domain/errors.ts"
import { quoted } from "../../domain/text.ts"
import { showId } from "../../domain/values.ts"

/** Anchors every member to its row in the new table, or fails with those that have none; for use inside a transaction. */
export const moveAnchors = Effect.fnUntraced(function* (owner: PgClient.PgClient, before: Catalog, after: Catalog) {
  const [former, type] = [peopleOf(before), peopleOf(after)]
  const moved: Array<AuditEvent> = []
  if (type?.mapping === undefined || former === undefined) return moved
  const unchanged =
    former.mapping?.id.column === type.mapping.id.column &&
    former.relation.schema === type.relation.schema &&
    former.relation.table === type.relation.table
  if (unchanged) return moved
  const organizationId = after.organization.id
  const members = yield* owner<{
    anchor_id: string
    kinds: ReadonlyArray<string> | null
    keys: ReadonlyArray<string> | null
  }>`
    SELECT m.anchor_id, array_agg(i.kind ORDER BY i.kind, i.key) FILTER (WHERE i.key IS NOT NULL) AS kinds,
      array_agg(i.key ORDER BY i.kind, i.key) FILTER (WHERE i.key IS NOT NULL) AS keys
    FROM max.memberships m LEFT JOIN max.identifiers i ON i.organization_id = m.organization_id AND i.anchor_id = m.anchor_id
    WHERE m.organization_id = ${organizationId} GROUP BY m.anchor_id`
  const lost: Array<string> = []
  for (const { anchor_id, keys, kinds } of members) {
    const matches = new Set<string>()
    for (const [index, kind] of (kinds ?? []).entries()) {
      const column = columnByKey(type, kind)
      if (column === undefined) continue
      const { parameters, text } = compileIdentify(type, column, keys![index]!, after, 2)
      for (const row of yield* owner.unsafe<{ id: string }>(text, parameters))
        matches.add(showId(row.id, type.mapping.id.type))
    }
    const [anchor] = matches
    if (matches.size !== 1 || anchor === undefined) {
      lost.push(
        `${quoted(keys?.[0] ?? anchor_id)} matches ${matches.size === 0 ? "no row" : "several rows"} of ${type.relation.table}.`
      )
      continue
    }
    if (anchor === anchor_id) continue
    yield* owner`
      INSERT INTO max.memberships (organization_id, anchor_id, roles, attributes, suspended_at, created_at)
      SELECT organization_id, ${anchor}, roles, attributes, suspended_at, created_at FROM max.memberships
      WHERE organization_id = ${organizationId} AND anchor_id = ${anchor_id} ON CONFLICT DO NOTHING`
    yield* owner`UPDATE max.identifiers SET anchor_id = ${anchor} WHERE organization_id = ${organizationId} AND anchor_id = ${anchor_id}`
    yield* owner`DELETE FROM max.memberships WHERE organization_id = ${organizationId} AND anchor_id = ${anchor_id}`
    moved.push({ actor: OPERATOR, action: "membership.moved", subject: anchor, details: { from: anchor_id } })
  }
  if (lost.length > 0) {
    return yield* new OperatorError({
      message: `Nothing is mapped: every member needs a row in the table of people, and ${type.relation.table} lacks some. Add them there, or map the table as another type.`,
      details: lost.slice(0, 20)
    })
  }
  return moved
})
