/**
 * Messages that came in, and who has written them. A message is kept before its provider is told that it arrived, once,
 * however often it is delivered. Whoever holds a sender's lease answers the sender: what it writes is written while it
 * holds the lease, or not at all, so that a process that dies or stalls loses nothing and says nothing twice.
 */
import { Context, Data, Effect, Layer } from "effect"
import { randomBytes } from "node:crypto"
import { Database } from "../../database/Database.ts"
import { orUnavailable } from "../../database/execute.ts"
import type { Unavailable } from "../../domain/errors.ts"
import type { InboundMessage } from "../../domain/Sms.ts"

/** A person's number on one of ours. */
export interface SenderKey {
  readonly organizationId: bigint
  readonly line: string
  readonly phone: string
}

/** What is known of a sender from one message to the next. */
export interface Sender {
  /** Whom the number meant when it was last answered; empty for nobody. */
  readonly anchorId: string
  readonly session: string | undefined
  /** Handles of what the last answer let the person choose from, in its order. */
  readonly choices: ReadonlyArray<string>
  readonly stopped: boolean
  /** A hash of the last question with its answer, how often the two followed each other, and when. */
  readonly exchange: string | undefined
  readonly exchanges: number
}

export interface Lease {
  readonly key: SenderKey
  readonly token: string
  readonly sender: Sender
}

/** A message that waits for its answer. */
export interface Waiting {
  readonly provider: string
  readonly id: string
  readonly body: string
  readonly media: number
  /** How often answering it has been begun, this time included. */
  readonly attempts: number
  /** So old that nobody waits for an answer any more. */
  readonly late: boolean
}

/** What became of a message. */
export type Outcome = "answered" | "refused" | "keyword" | "stopped" | "repeated" | "limited" | "failed" | "late"

/** Seconds. Messages of one sender are merged until none has come for `quiet`, and for at most `most`. */
export interface Merging {
  readonly quiet: number
  readonly most: number
}

/** The lease is somebody else's by now: nothing may be written. */
export class LeaseLost extends Data.TaggedError("LeaseLost") {}

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

interface WaitingRow {
  readonly provider: string
  readonly message_id: string
  readonly body: string
  readonly media: number
  readonly attempts: number
  readonly late: boolean
}

/** Messages that are merged into one at most. */
const MAX_MERGED = 20
/** Hours after which nobody waits for an answer any more. */
const MAX_WAIT = 24
/** Minutes after which the same question is no repetition. */
const REPEATED_WITHIN = 60

export class SmsInbox extends Context.Service<
  SmsInbox,
  {
    /** Keeps a message; false when it is here already. Somebody looks after the sender when it is merged. */
    readonly receive: (
      organizationId: bigint,
      message: InboundMessage,
      merging: Merging
    ) => Effect.Effect<boolean, Unavailable>
    /** What became of a message; undefined while it waits. */
    readonly outcomeOf: (
      organizationId: bigint,
      message: Pick<InboundMessage, "provider" | "id">
    ) => Effect.Effect<Outcome | undefined, Unavailable>
    /** Takes up to so many senders on whom something is due, for so many seconds. */
    readonly claim: (most: number, seconds: number) => Effect.Effect<ReadonlyArray<Lease>, Unavailable>
    /** Takes one sender, due or not; undefined while somebody else has it. */
    readonly claimOne: (key: SenderKey, seconds: number) => Effect.Effect<Lease | undefined, Unavailable>
    readonly renew: (lease: Lease, seconds: number) => Effect.Effect<void, LeaseLost | Unavailable>
    /** Gives a sender back, and says when somebody should look again: not before `pause` seconds are over. */
    readonly release: (lease: Lease, merging: Merging, pause?: number) => Effect.Effect<void, Unavailable>
    /** The sender's messages that can be answered now, oldest first; none while more of them may be on their way. */
    readonly take: (lease: Lease, merging: Merging) => Effect.Effect<ReadonlyArray<Waiting>, LeaseLost | Unavailable>
    /**
     * Writes what became of messages, together with what `also` writes: all of it or nothing. Fails with LeaseLost when
     * the sender is somebody else's by now or a message has been dealt with.
     */
    readonly finish: <E = never, R = never>(
      lease: Lease,
      messages: ReadonlyArray<Waiting>,
      outcome: Outcome,
      also?: {
        readonly sender?: Partial<Sender> & { readonly heard?: boolean; readonly refused?: boolean }
        readonly textId?: string | undefined
        readonly write?: Effect.Effect<unknown, E, R>
      }
    ) => Effect.Effect<void, LeaseLost | Unavailable | E, R>
    /** Counts a turn of the sender in this hour; `first` when it is the first one too many. */
    readonly count: (lease: Lease, most: number) => Effect.Effect<"fits" | "first" | "over", LeaseLost | Unavailable>
    /** Whether the sender is to be told today that there is no access. */
    readonly mayRefuse: (lease: Lease, timeZone: string) => Effect.Effect<boolean, Unavailable>
  }
>()("max/services/SmsInbox") {
  static readonly layer = Layer.effect(
    SmsInbox,
    Effect.gen(function* () {
      const { app } = yield* Database

      const ofSender = ({ line, organizationId, phone }: SenderKey) =>
        app`organization_id = ${organizationId} AND line = ${line} AND phone = ${phone}`
      const held = ({ key, token }: Lease) => app`${ofSender(key)} AND lease = ${token}`

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

      /** Takes the senders that a statement chooses. Whose holder is gone is freed of what it has begun elsewhere, too. */
      const lease = Effect.fnUntraced(function* (chosen: ReturnType<typeof ofSender>, seconds: number) {
        const token = randomBytes(12).toString("base64url")
        const rows = yield* app<SenderRow>`
          WITH chosen AS MATERIALIZED (${chosen}), lapsed AS (
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

      const renewed = Effect.fnUntraced(function* (rows: ReadonlyArray<unknown>) {
        if (rows.length === 0) return yield* new LeaseLost()
      })

      /** When the sender's waiting messages are ready. */
      const readyAt = ({
        most,
        quiet
      }: Merging) => app`least(max(received_at) + make_interval(secs => ${quiet}::float8),
        min(received_at) + make_interval(secs => ${most}::float8))`

      return SmsInbox.of({
        receive: Effect.fn("SmsInbox.receive")(function* (
          organizationId,
          { body, from, id, media, provider, to },
          { quiet }
        ) {
          const rows = yield* orUnavailable(app`
            WITH message AS (
              INSERT INTO max.sms_inbox (organization_id, provider, message_id, line, phone, body, media)
              VALUES (${organizationId}::bigint, ${provider}, ${id}, ${to}, ${from}, ${body}, ${media}::int)
              ON CONFLICT DO NOTHING RETURNING organization_id, line, phone)
            INSERT INTO max.sms_senders AS s (organization_id, line, phone, due_at)
            SELECT organization_id, line, phone, clock_timestamp() + make_interval(secs => ${quiet}::float8) FROM message
            ON CONFLICT (organization_id, line, phone) DO UPDATE SET due_at = least(s.due_at, excluded.due_at)
            RETURNING 1 AS one`)
          return rows.length > 0
        }),

        outcomeOf: (organizationId, { id, provider }) =>
          Effect.map(
            orUnavailable(app<{ state: Outcome | "waiting" }>`SELECT state FROM max.sms_inbox
              WHERE organization_id = ${organizationId} AND provider = ${provider} AND message_id = ${id}`),
            ([row]) => (row === undefined || row.state === "waiting" ? undefined : row.state)
          ),

        claim: (most, seconds) =>
          lease(
            app`SELECT c.* FROM max.sms_numbers n CROSS JOIN LATERAL (
                SELECT organization_id, line, phone, session_id, lease, due_at FROM max.sms_senders
                WHERE organization_id = n.organization_id AND line = n.phone
                  AND (due_at <= clock_timestamp() OR leased_until <= clock_timestamp())
                  AND (leased_until IS NULL OR leased_until <= clock_timestamp())
                ORDER BY due_at LIMIT ${most}::int FOR UPDATE SKIP LOCKED) c
              ORDER BY c.due_at LIMIT ${most}::int`,
            seconds
          ),

        claimOne: (key, seconds) =>
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
            WHERE ${held(lease)} RETURNING 1 AS one`).pipe(Effect.flatMap(renewed)),

        release: (lease, merging, pause = 0) =>
          Effect.asVoid(
            orUnavailable(app`
              UPDATE max.sms_senders s SET lease = NULL, leased_until = NULL, due_at = greatest(least(s.due_at,
                (SELECT ${readyAt(merging)} FROM max.sms_inbox WHERE ${ofSender(lease.key)} AND state = 'waiting'),
                (SELECT min(next_at) FROM max.sms_outbox WHERE ${ofSender(lease.key)} AND state IN ('queued', 'trying'))),
                CASE WHEN ${pause}::float8 > 0 THEN clock_timestamp() + make_interval(secs => ${pause}::float8) END)
              WHERE ${held(lease)}`)
          ),

        take: Effect.fn("SmsInbox.take")(function* (lease, merging) {
          const rows = yield* orUnavailable(app<WaitingRow>`
            WITH ready AS (
              SELECT 1 FROM max.sms_inbox WHERE ${ofSender(lease.key)} AND state = 'waiting'
              HAVING ${readyAt(merging)} <= clock_timestamp()
            ), oldest AS (
              SELECT organization_id, provider, message_id FROM max.sms_inbox, ready
              WHERE ${ofSender(lease.key)} AND state = 'waiting' ORDER BY received_at, message_id LIMIT ${MAX_MERGED}
            ), taken AS (
              UPDATE max.sms_inbox m SET attempts = m.attempts + 1 FROM oldest o
              WHERE m.organization_id = o.organization_id AND m.provider = o.provider AND m.message_id = o.message_id
                AND EXISTS (SELECT FROM max.sms_senders WHERE ${held(lease)})
              RETURNING m.*
            )
            SELECT provider, message_id, body, media, attempts, received_at < now() - make_interval(hours => ${MAX_WAIT}::int) AS late
            FROM taken ORDER BY received_at, message_id`)
          return rows.map(({ message_id: id, ...row }) => ({ ...row, id }))
        }),

        finish: (lease, messages, outcome, { sender = {}, textId, write } = {}) =>
          orUnavailable(
            app.withTransaction(
              Effect.gen(function* () {
                const { anchorId, choices, exchange, exchanges, heard, refused, session, stopped } = {
                  ...lease.sender,
                  ...sender
                }
                const again = exchange !== undefined && sender.exchange !== undefined
                yield* app`UPDATE max.sms_senders SET anchor_id = ${anchorId}, session_id = ${session ?? null},
                    choices = ${choices}::text[], exchanges = ${exchanges},
                    exchange = CASE WHEN ${again} THEN decode(${exchange ?? ""}, 'hex') ELSE exchange END,
                    exchanged_at = CASE WHEN ${again} THEN now() ELSE exchanged_at END,
                    stopped_at = CASE WHEN ${stopped} THEN coalesce(stopped_at, now()) END,
                    heard_at = CASE WHEN ${heard === true} THEN now() ELSE heard_at END,
                    refused_at = CASE WHEN ${refused === true} THEN now() ELSE refused_at END
                  WHERE ${held(lease)} RETURNING 1 AS one`.pipe(Effect.flatMap(renewed))
                const done = yield* app`
                  UPDATE max.sms_inbox m SET state = ${outcome}, text_id = ${textId ?? null}, anchor_id = ${outcome === "refused" ? "" : anchorId}
                  FROM unnest(${messages.map(({ provider }) => provider)}::text[], ${messages.map(({ id }) => id)}::text[]) AS x(provider, id)
                  WHERE m.organization_id = ${lease.key.organizationId} AND m.provider = x.provider AND m.message_id = x.id
                    AND m.state = 'waiting' RETURNING 1 AS one`
                if (done.length !== messages.length) return yield* new LeaseLost()
                if (write !== undefined) yield* write
              })
            )
          ),

        count: Effect.fn("SmsInbox.count")(function* (lease, most) {
          const [row] = yield* orUnavailable(app<{ in_hour: number }>`
            UPDATE max.sms_senders s SET in_hour = CASE WHEN s.hour = x.hour THEN s.in_hour + 1 ELSE 1 END, hour = x.hour
            FROM (SELECT floor(extract(epoch FROM clock_timestamp()) / 3600)::bigint AS hour) x
            WHERE ${held(lease)} RETURNING s.in_hour`)
          if (row === undefined) return yield* new LeaseLost()
          return row.in_hour <= most ? "fits" : row.in_hour === most + 1 ? "first" : "over"
        }),

        mayRefuse: Effect.fn("SmsInbox.mayRefuse")(function* (lease, timeZone) {
          const rows = yield* orUnavailable(app`SELECT 1 AS one FROM max.sms_senders WHERE ${held(lease)}
            AND (refused_at AT TIME ZONE ${timeZone})::date IS DISTINCT FROM (now() AT TIME ZONE ${timeZone})::date`)
          return rows.length > 0
        })
      })
    })
  )
}
