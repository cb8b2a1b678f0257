/** Appending to the audit log, in the transaction of what is recorded: both commit, or neither. */
import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import type { SqlError } from "effect/sql"

/** `changes` is what somebody did to an organization; `reads` what was refused, in numbers. */
export type Chain = "changes" | "reads"

/** The actor of a command: whoever holds the database's credentials. */
export const OPERATOR = "operator"

export interface AuditEvent {
  /** `operator`, or the entity id of the person. */
  readonly actor: string
  /** Such as `membership.suspended`. */
  readonly action: string
  /** What it was done to: an entity id, a slug, a version. */
  readonly subject: string
  /** Never a value of a row; an identifier only masked. */
  readonly details?: Readonly<Record<string, unknown>>
}

/**
 * A record's hash: SHA-256 over the hash before it and the record as a JSON array of texts, which is injective. Written
 * in SQL so that appending needs no round trip to learn the hash before.
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

/** Appends to a chain of an organization, one record at a time; call it inside a transaction. */
export const appendAudit = (
  sql: PgClient.PgClient,
  organizationId: bigint,
  chain: Chain,
  events: ReadonlyArray<AuditEvent>
): Effect.Effect<void, SqlError.SqlError> =>
  Effect.gen(function* () {
    if (events.length === 0) return
    // Held until the transaction ends: the record before must be the last one, and committed.
    yield* sql`SELECT pg_advisory_xact_lock(hashtextextended(${`max audit ${chain}`}, ${organizationId}::bigint))`
    for (const { action, actor, details, subject } of events) {
      yield* sql.unsafe(APPEND, [organizationId, chain, actor, action, subject, JSON.stringify(details ?? {})])
    }
  })
