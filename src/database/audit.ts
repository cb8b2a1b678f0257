/** Appends to the audit log in the transaction of the recorded change, so that both commit or neither. */
import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import type { SqlError } from "effect/sql"

/** `changes`: changes of an organization. `reads`: counts of refused reads. */
export type Chain = "changes" | "reads"

/** The actor of commands, which run with the database's credentials. */
export const OPERATOR = "operator"

/** The stored actor or subject of an event without an identified person. */
export const UNIDENTIFIED = "nobody"

export interface AuditEvent {
  /** `operator`, or the person's entity id. */
  readonly actor: string
  /** Such as `membership.suspended`. */
  readonly action: string
  /** The changed object: an entity id, a slug or a version. */
  readonly subject: string
  /** Never a value of a row; identifiers only masked. */
  readonly details?: Readonly<Record<string, unknown>>
}

/**
 * A record's hash: SHA-256 over the previous hash and the record as a JSON array of texts, an injective encoding. In SQL,
 * so that appending needs no round trip for the previous hash.
 */
export const hashOf = (record: string, previous: string): string =>
  `sha256(coalesce(${previous}, ''::bytea) || convert_to(json_build_array(${record}.organization_id::text, ${record}.chain,
    ${record}.sequence::text, to_char(${record}.at AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS.US'), ${record}.actor,
    ${record}.action, ${record}.subject, ${record}.details)::text, 'UTF8'))`

const APPEND = `
  INSERT INTO max.audit_log (organization_id, chain, sequence, at, actor, action, subject, details, hash)
  SELECT r.organization_id, r.chain, r.sequence, r.at, r.actor, r.action, r.subject, r.details, ${hashOf("r", "r.previous")} FROM (
    SELECT $1::bigint AS organization_id, $2::text AS chain, coalesce(l.sequence, 0) + 1 AS sequence, clock_timestamp() AS at,
      $3::text AS actor, $4::text AS action, $5::text AS subject, $6::text AS details, l.hash AS previous
    FROM (SELECT 1) one LEFT JOIN (
      SELECT sequence, hash FROM max.audit_log WHERE organization_id = $1::bigint AND chain = $2::text
      ORDER BY sequence DESC LIMIT 1) l ON true) r`

/** Appends to an organization's chain; call it inside a transaction. */
export const appendAudit = (
  sql: PgClient.PgClient,
  organizationId: bigint,
  chain: Chain,
  events: ReadonlyArray<AuditEvent>
): Effect.Effect<void, SqlError.SqlError> =>
  Effect.gen(function* () {
    if (events.length === 0) return
    // Held until the transaction ends, so that the previous record is the last one and committed.
    yield* sql`SELECT pg_advisory_xact_lock(hashtextextended(${`max audit ${chain}`}, ${organizationId}::bigint))`
    for (const { action, actor, details, subject } of events) {
      yield* sql.unsafe(APPEND, [organizationId, chain, actor, action, subject, JSON.stringify(details ?? {})])
    }
  })
