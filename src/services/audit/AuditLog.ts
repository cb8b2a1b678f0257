/** The audit log as operators read it and check it. */
import { Context, Effect, Layer } from "effect"
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
  /** Records whose action begins with this. */
  readonly action?: string | undefined
  /** Records of what this one did, or of what was done to it: an entity id, or `operator`. */
  readonly who?: string | undefined
  /** Records from this moment on. */
  readonly since?: Date | undefined
  /** Records before this one. */
  readonly before?: bigint | undefined
  readonly limit: number
}

/** Where a chain ends, to be kept somewhere else: a chain that was cut or written anew no longer contains it. */
export interface Head {
  readonly sequence: bigint
  /** SHA-256, in hex. */
  readonly hash: string
}

export interface Verification {
  readonly chain: Chain
  /** Undefined for a chain without records. */
  readonly head: Head | undefined
  /** The first record that isn't what was written, or is missing. */
  readonly broken: bigint | undefined
}

export class AuditLog extends Context.Service<
  AuditLog,
  {
    /** Records, the newest first. */
    readonly list: (
      organization: Organization,
      query: AuditQuery
    ) => Effect.Effect<ReadonlyArray<AuditRecord>, Unavailable>
    /** Computes every hash of both chains anew. */
    readonly verify: (organization: Organization) => Effect.Effect<ReadonlyArray<Verification>, Unavailable>
    /** Whether a chain still has a record that was its head once. */
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
          return rows.map((row) => ({ ...row, details: JSON.parse(row.details) as AuditRecord["details"] }))
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
