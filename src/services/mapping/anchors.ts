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
  const anchors = new Map<string, string>()
  for (const { anchor_id, keys, kinds } of members) {
    const matches = new Set<string>()
    let addresses = 0
    for (const [index, kind] of (kinds ?? []).entries()) {
      const column = columnByKey(type, kind)
      if (column === undefined) continue
      addresses++
      const { parameters, text } = compileIdentify(type, column, keys![index]!, after, 2)
      for (const row of yield* owner.unsafe<{ id: string }>(text, parameters))
        matches.add(showId(row.id, type.mapping.id.type))
    }
    const [anchor] = matches
    if (addresses === 0) {
      lost.push(
        `${quoted(anchor_id)} has no verified e-mail address or phone number to be found by: give the person's row in both tables one, and run max member add ADDRESS.`
      )
    } else if (matches.size !== 1 || anchor === undefined) {
      lost.push(
        `${quoted(keys?.[0] ?? anchor_id)} matches ${matches.size === 0 ? "no row" : "several rows"} of ${type.relation.table}.`
      )
    } else if (anchors.has(anchor)) {
      lost.push(`${quoted(keys?.[0] ?? anchor_id)} matches the same row of ${type.relation.table} as another member.`)
    } else {
      anchors.set(anchor, anchor_id)
    }
  }
  if (lost.length > 0) {
    return yield* new OperatorError({
      message: `Nothing is mapped: every member needs a row of their own in the table of people, and ${type.relation.table} lacks some. Add them there, or map the table as another type.`,
      details: lost.slice(0, 20)
    })
  }
  yield* rename(owner, organizationId, [...anchors.values()], [...anchors.keys()])
  for (const [anchor, from] of anchors)
    if (anchor !== from) moved.push({ actor: OPERATOR, action: "membership.moved", subject: anchor, details: { from } })
  return moved
})

/** What belongs to a person, besides the membership: the table and its column of the person's id. */
const BELONGINGS = [
  ["identifiers", "anchor_id"],
  ["credentials", "anchor_id"],
  ["passkeys", "anchor_id"],
  ["sessions", "anchor_id"],
  ["turn_names", "anchor_id"],
  ["usage", "anchor_id"],
  ["sms_senders", "anchor_id"],
  ["sms_inbox", "anchor_id"],
  ["sms_outbox", "anchor_id"],
  ["sms_codes", "anchor_id"],
  ["changes", "proposer_id"],
  ["changes", "decided_by"]
] as const

/**
 * Gives members their new ids at once, by names between that no row has: a new id can be the former one of another member.
 * What persons without a membership have, for whom a host vouched, keeps a name that is no id, because their former ids can
 * be those of others now.
 */
const rename = Effect.fnUntraced(function* (
  owner: PgClient.PgClient,
  organizationId: bigint,
  from: ReadonlyArray<string>,
  to: ReadonlyArray<string>
) {
  const between = from.map((id) => `${MOVING}${id}`)
  yield* step(owner, organizationId, from, between)
  for (const [table, column] of BELONGINGS)
    yield* owner.unsafe(
      `UPDATE max.${table} SET ${column} = '${FORMER}' || ${column}
        WHERE organization_id = $1::bigint AND ${column} <> '' AND NOT starts_with(${column}, '${MOVING}') AND NOT starts_with(${column}, '${FORMER}')`,
      [organizationId]
    )
  yield* step(owner, organizationId, between, to)
})

const MOVING = "moving "
const FORMER = "former "

const step = Effect.fnUntraced(function* (
  owner: PgClient.PgClient,
  organizationId: bigint,
  from: ReadonlyArray<string>,
  to: ReadonlyArray<string>
) {
  const values = [organizationId, from, to]
  const names = "unnest($2::text[], $3::text[]) AS x(former, present)"
  yield* owner.unsafe(
    `INSERT INTO max.memberships SELECT (jsonb_populate_record(m, jsonb_build_object('anchor_id', x.present))).*
      FROM max.memberships m, ${names} WHERE m.organization_id = $1::bigint AND m.anchor_id = x.former`,
    values
  )
  for (const [table, column] of BELONGINGS)
    yield* owner.unsafe(
      `UPDATE max.${table} b SET ${column} = x.present FROM ${names} WHERE b.organization_id = $1::bigint AND b.${column} = x.former`,
      values
    )
  yield* owner.unsafe(
    `DELETE FROM max.memberships WHERE organization_id = $1::bigint AND anchor_id = ANY($2::text[])`,
    values.slice(0, 2)
  )
})
