/**
 * Leases on senders: the process that holds a sender's lease answers that sender. The lease's token fences writes: the
 * inbox and the outbox write only where the token is still current, so a process that stalls past its lease writes
 * nothing. A process that dies loses nothing: its leases expire and another process claims them.
 */
import type { PgClient } from "@effect/sql-pg"
import { Context, Data, Effect, Layer } from "effect"
import { randomBytes } from "node:crypto"
import { Database } from "../../database/Database.ts"
import { orUnavailable } from "../../database/execute.ts"
import { isClosed } from "../../database/moves.ts"
import type { Unavailable } from "../../domain/errors.ts"

/** A person's number on one of the organization's lines. */
export interface SenderKey {
  readonly organizationId: bigint
  readonly line: string
  readonly phone: string
}

/** The state of a sender between messages. */
export interface Sender {
  /** The person of the last answer; empty if the number has not been admitted. */
  readonly anchorId: string
  readonly session: string | undefined
  /** Handles of the choices that the last answer offered, in its order. */
  readonly choices: ReadonlyArray<string>
  /** The sender has opted out. */
  readonly stopped: boolean
  /** A hash of the last question and its answer; undefined once it is too old to count as a repetition. */
  readonly exchange: string | undefined
  /** How often that exchange has occurred in a row. */
  readonly exchanges: number
}

export interface Lease {
  readonly key: SenderKey
  /** The fencing token. */
  readonly token: string
  readonly sender: Sender
}

/** Seconds. Messages of one sender are merged until none arrives for `quiet`, for at most `most` in total. */
export interface Merging {
  readonly quiet: number
  readonly most: number
}

/** The lease belongs to another process: nothing was written. */
export class LeaseLost extends Data.TaggedError("LeaseLost") {}

/** Fails if a fenced write changed no row. */
export const requireRow = Effect.fnUntraced(function* (rows: ReadonlyArray<unknown>) {
  if (rows.length === 0) return yield* new LeaseLost()
})

/** Conditions on the rows of one sender, in the inbox, the outbox and the table of senders. */
export const senderConditions = (sql: PgClient.PgClient) => {
  const ofSender = ({ line, organizationId, phone }: SenderKey) =>
    sql`organization_id = ${organizationId} AND line = ${line} AND phone = ${phone}`
  return {
    ofSender,
    /** Of the table of senders only: the row that the lease still holds. */
    held: ({ key, token }: Lease) => sql`${ofSender(key)} AND lease = ${token}`,
    /** Over a sender's waiting messages: the time at which they are complete. */
    completeAt: ({ most, quiet }: Merging) => sql`least(max(received_at) + make_interval(secs => ${quiet}::float8),
      min(received_at) + make_interval(secs => ${most}::float8))`
  }
}

interface SenderRow {
  readonly organization_id: bigint
  readonly line: string
  readonly phone: string
  readonly anchor_id: string
  readonly session_id: string | null
  readonly choices: ReadonlyArray<string>
  readonly stopped: boolean
  readonly exchange: string | null
  readonly exchanges: number
}

const leaseOf = (row: SenderRow, token: string): Lease => ({
  key: { organizationId: row.organization_id, line: row.line, phone: row.phone },
  token,
  sender: {
    anchorId: row.anchor_id,
    session: row.session_id ?? undefined,
    choices: row.choices,
    stopped: row.stopped,
    exchange: row.exchange ?? undefined,
    exchanges: row.exchanges
  }
})

/** Minutes after which an identical exchange no longer counts as a repetition. */
const REPEATED_WITHIN = 60

export class SenderLeases extends Context.Service<
  SenderLeases,
  {
    /** Claims up to `most` senders that are due, for so many seconds. */
    readonly claimDue: (most: number, seconds: number) => Effect.Effect<ReadonlyArray<Lease>, Unavailable>
    /** Claims one sender, due or not; undefined while another process holds it. */
    readonly claim: (key: SenderKey, seconds: number) => Effect.Effect<Lease | undefined, Unavailable>
    readonly renew: (lease: Lease, seconds: number) => Effect.Effect<void, LeaseLost | Unavailable>
    /** Releases a sender and schedules its next claim, at least `pause` seconds from now. */
    readonly release: (lease: Lease, merging: Merging, pause?: number) => Effect.Effect<void, Unavailable>
  }
>()("max/services/SenderLeases") {
  static readonly layer = Layer.effect(
    SenderLeases,
    Effect.gen(function* () {
      const { app } = yield* Database
      const { completeAt, held, ofSender } = senderConditions(app)

      /** Leases the selected senders. An expired lease's conversation lease is broken along with it. */
      const lease = Effect.fnUntraced(function* (selected: ReturnType<typeof ofSender>, seconds: number) {
        const token = randomBytes(12).toString("base64url")
        const rows = yield* app<SenderRow>`
          WITH chosen AS MATERIALIZED (${selected}), lapsed AS (
            UPDATE max.sessions x SET lease = NULL, leased_until = NULL FROM chosen c
            WHERE c.lease IS NOT NULL AND x.organization_id = c.organization_id AND x.session_id = c.session_id)
          UPDATE max.sms_senders s SET lease = ${token}, due_at = NULL,
            leased_until = clock_timestamp() + make_interval(secs => ${seconds}::float8)
          FROM chosen c WHERE s.organization_id = c.organization_id AND s.line = c.line AND s.phone = c.phone
          RETURNING s.organization_id, s.line, s.phone, s.anchor_id, s.session_id, s.choices,
            s.stopped_at IS NOT NULL AS stopped, s.exchanges,
            CASE WHEN s.exchanged_at > now() - make_interval(mins => ${REPEATED_WITHIN}::int) THEN encode(s.exchange, 'hex') END AS exchange`
        return rows.map((row) => leaseOf(row, token))
      }, orUnavailable)

      return SenderLeases.of({
        claimDue: (most, seconds) =>
          lease(
            app`SELECT c.* FROM max.sms_numbers n CROSS JOIN LATERAL (
                SELECT organization_id, line, phone, session_id, lease, due_at FROM max.sms_senders
                WHERE organization_id = n.organization_id AND line = n.phone
                  AND (due_at <= clock_timestamp() OR leased_until <= clock_timestamp())
                  AND (leased_until IS NULL OR leased_until <= clock_timestamp())
                ORDER BY due_at LIMIT ${most}::int FOR UPDATE SKIP LOCKED) c
              WHERE NOT ${app.literal(isClosed("n.organization_id"))}
              ORDER BY c.due_at LIMIT ${most}::int`,
            seconds
          ),

        claim: (key, seconds) =>
          Effect.map(
            lease(
              app`SELECT organization_id, line, phone, session_id, lease FROM max.sms_senders
                WHERE ${ofSender(key)} AND (leased_until IS NULL OR leased_until <= clock_timestamp()) FOR UPDATE`,
              seconds
            ),
            ([one]) => one
          ),

        renew: (lease, seconds) =>
          orUnavailable(app`UPDATE max.sms_senders
            SET leased_until = clock_timestamp() + make_interval(secs => ${seconds}::float8)
            WHERE ${held(lease)} RETURNING 1 AS one`).pipe(Effect.flatMap(requireRow)),

        release: (lease, merging, pause = 0) =>
          Effect.asVoid(
            orUnavailable(app`
              UPDATE max.sms_senders s SET lease = NULL, leased_until = NULL, due_at = greatest(least(s.due_at,
                (SELECT ${completeAt(merging)} FROM max.sms_inbox WHERE ${ofSender(lease.key)} AND state = 'waiting'),
                (SELECT min(next_at) FROM max.sms_outbox WHERE ${ofSender(lease.key)} AND state IN ('queued', 'trying'))),
                CASE WHEN ${pause}::float8 > 0 THEN clock_timestamp() + make_interval(secs => ${pause}::float8) END)
              WHERE ${held(lease)}`)
          )
      })
    })
  )
}
