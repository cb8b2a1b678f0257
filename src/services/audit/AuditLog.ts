/** Reads and verifies the audit log. */
import { Context, Effect, Layer, Schema } from "effect"
import { type AuditEvent, type Chain, hashOf } from "../../database/audit.ts"
import { Database } from "../../database/Database.ts"
import { orUnavailable, orUnavailableInTheEnd } from "../../database/execute.ts"
import type { Organization } from "../../domain/EntityType.ts"
import type { Unavailable } from "../../domain/errors.ts"

export interface AuditRecord extends AuditEvent {
  readonly sequence: bigint
  /** ISO 8601, UTC. */
  readonly at: string
  readonly details: Readonly<Record<string, unknown>>
}

export interface AuditQuery {
  readonly chain: Chain
  /** Records whose action starts with this. */
  readonly action?: string | undefined
  /** Records with this actor or subject: an entity id, or `operator`. */
  readonly who?: string | undefined
  /** Records at or after this time. */
  readonly since?: Date | undefined
  /** Records with a smaller sequence number. */
  readonly before?: bigint | undefined
  readonly limit: number
}

/** The last record of a chain. Stored elsewhere, it detects a log that was truncated or rewritten. */
export interface Head {
  readonly sequence: bigint
  /** SHA-256, in hex. */
  readonly hash: string
}

export interface Verification {
  readonly chain: Chain
  /** Undefined for an empty chain. */
  readonly head: Head | undefined
  /** The first record that was altered or is missing. */
  readonly broken: bigint | undefined
}

const decodeDetails = Schema.decodeSync(Schema.fromJsonString(Schema.Record(Schema.String, Schema.Unknown)))

export class AuditLog extends Context.Service<
  AuditLog,
  {
    /** Records, newest first. */
    readonly list: (
      organization: Organization,
      query: AuditQuery
    ) => Effect.Effect<ReadonlyArray<AuditRecord>, Unavailable>
    /** Recomputes every hash of both chains. */
    readonly verify: (organization: Organization) => Effect.Effect<ReadonlyArray<Verification>, Unavailable>
    /** Whether a chain still contains an earlier head. */
    readonly contains: (organization: Organization, chain: Chain, head: Head) => Effect.Effect<boolean, Unavailable>
  }
>()("max/services/AuditLog") {
  static readonly layer = Layer.effect(
    AuditLog,
    Effect.gen(function* () {
      const { app } = yield* Database

      const verifyChain = Effect.fnUntraced(function* (organization: Organization, chain: Chain) {
        const [head] = yield* app<{ sequence: bigint; hash: string }>`
          SELECT sequence, encode(hash, 'hex') AS hash FROM max.audit_log
          WHERE organization_id = ${organization.id} AND chain = ${chain} ORDER BY sequence DESC LIMIT 1`
        const [broken] = yield* app.unsafe<{ place: bigint }>(
          `SELECT r.place FROM (
             SELECT l.*, lag(l.hash) OVER chain AS previous, row_number() OVER chain AS place
             FROM max.audit_log l WHERE l.organization_id = $1::bigint AND l.chain = $2::text
               AND l.sequence <= $3::bigint WINDOW chain AS (ORDER BY l.sequence)) r
           WHERE r.sequence <> r.place OR r.hash <> ${hashOf("r", "r.previous")} ORDER BY r.place LIMIT 1`,
          [organization.id, chain, head?.sequence ?? 0n]
        )
        return { chain, head, broken: broken?.place } satisfies Verification
      })

      return AuditLog.of({
        list: Effect.fn("AuditLog.list")(function* (organization, { action, before, chain, limit, since, who }) {
          const rows = yield* orUnavailable(app<Omit<AuditRecord, "details"> & { details: string }>`
            SELECT sequence, to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') AS at, actor, action, subject, details
            FROM max.audit_log WHERE organization_id = ${organization.id} AND chain = ${chain}
              AND (${before ?? null}::bigint IS NULL OR sequence < ${before ?? null}::bigint)
              AND (${action ?? null}::text IS NULL OR starts_with(action, ${action ?? null}::text))
              AND (${who ?? null}::text IS NULL OR actor = ${who ?? null}::text OR subject = ${who ?? null}::text)
              AND (${since?.toISOString() ?? null}::timestamptz IS NULL OR at >= ${since?.toISOString() ?? null}::timestamptz)
            ORDER BY sequence DESC LIMIT ${limit}`)
          return rows.map((row) => ({ ...row, details: decodeDetails(row.details) }))
        }),

        verify: Effect.fn("AuditLog.verify")((organization) =>
          orUnavailableInTheEnd(
            Effect.forEach(["changes", "reads"] as const, (chain) => verifyChain(organization, chain))
          )
        ),

        contains: Effect.fn("AuditLog.contains")((organization, chain, { hash, sequence }) =>
          Effect.map(
            orUnavailable(app`
              SELECT 1 FROM max.audit_log WHERE organization_id = ${organization.id} AND chain = ${chain}
                AND sequence = ${sequence} AND encode(hash, 'hex') = ${hash}`),
            (rows) => rows.length > 0
          )
        )
      })
    })
  )
}
