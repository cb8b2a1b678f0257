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

const APPEND = `INSERT INTO max.audit_log (organization_id, chain, sequence, at, actor, action, subject, details, hash)
  SELECT r.organization_id, r.chain, r.sequence, r.at, r.actor, r.action, r.subject, r.details, ${hashOf("r", "r.previous")} FROM (
    SELECT $1::bigint AS organization_id, $2::text AS chain, coalesce(l.sequence, 0) + 1 AS sequence, clock_timestamp() AS at,
      $3::text AS actor, $4::text AS action, $5::text AS subject, $6::text AS details, l.hash AS previous
    FROM (SELECT 1) one LEFT JOIN (
      SELECT sequence, hash FROM max.audit_log WHERE organization_id = $1::bigint AND chain = $2::text
      ORDER BY sequence DESC LIMIT 1) l ON true) r`

/** Held until the transaction ends, so that the previous record is the last one and committed. */
const LOCK = "pg_advisory_xact_lock(hashtextextended('max audit ' || $2::text, $1::bigint))"

/** Appends to an organization's chain; call it inside a transaction. */
export const appendAudit = (
  sql: PgClient.PgClient,
  organizationId: bigint,
  chain: Chain,
  events: ReadonlyArray<AuditEvent>
): Effect.Effect<void, SqlError.SqlError> =>
  Effect.gen(function* () {
    if (events.length === 0) return
    yield* sql.unsafe(`SELECT ${LOCK}`, [organizationId, chain])
    for (const event of events) yield* appendHeld(sql, organizationId, chain, event)
  })

/** Ends the transaction's own role, and locks a chain for `appendHeld`. */
export const leaveRoleHoldingAudit = (sql: PgClient.PgClient, organizationId: bigint, chain: Chain) =>
  sql.unsafe(`SELECT set_config('role', 'none', true), ${LOCK}`, [organizationId, chain])

/** A statement that runs together with another one, with its own parameters from `$1`. */
export interface Beside {
  readonly text: string
  readonly parameters: ReadonlyArray<unknown>
}

/** Appends a record to a chain that the transaction has locked; `beside` writes in the same statement. */
export const appendHeld = (
  sql: PgClient.PgClient,
  organizationId: bigint,
  chain: Chain,
  { action, actor, details, subject }: AuditEvent,
  ...beside: ReadonlyArray<Beside>
): Effect.Effect<void, SqlError.SqlError> => {
  const parameters: Array<unknown> = [organizationId, chain, actor, action, subject, JSON.stringify(details ?? {})]
  const also = beside.map((one, at) => {
    const first = parameters.length
    parameters.push(...one.parameters)
    return `b${at} AS (${one.text.replaceAll(/\$(\d+)/g, (_, index: string) => `$${Number(index) + first}`)})`
  })
  return Effect.asVoid(sql.unsafe(`${also.length === 0 ? "" : `WITH ${also.join(", ")} `}${APPEND}`, parameters))
}
