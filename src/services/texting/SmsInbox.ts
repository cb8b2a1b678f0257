/**
 * The transactional inbox of text messages. A message is stored once, however often its provider delivers it, before
 * the delivery is acknowledged. Its outcome commits together with the answer, fenced by the sender's lease.
 */
import { Context, Effect, Layer, Schema } from "effect"
import { Database } from "../../database/Database.ts"
import { decodeRows } from "../../database/decodeRows.ts"
import { orUnavailable } from "../../database/execute.ts"
import type { Unavailable } from "../../domain/errors.ts"
import type { InboundMessage } from "../../domain/Sms.ts"
import { type Lease, LeaseLost, type Merging, requireRow, type Sender, senderConditions } from "./SenderLeases.ts"

/** A message without an outcome. */
export interface WaitingMessage {
  readonly provider: string
  readonly id: string
  readonly body: string
  readonly media: number
  /** Attempts to answer it, including this one. */
  readonly attempts: number
  /** It is too old to be answered. */
  readonly late: boolean
}

const Outcome = Schema.Literals(["answered", "refused", "keyword", "stopped", "repeated", "limited", "failed", "late"])
export type Outcome = typeof Outcome.Type

const decodeStates = decodeRows(Schema.Struct({ state: Schema.Union([Outcome, Schema.Literal("waiting")]) }))

/** Changes to the sender that are stored with an outcome. */
export type SenderPatch = Partial<Sender> & { readonly heard?: boolean; readonly refused?: boolean }

interface WaitingRow extends Omit<WaitingMessage, "id"> {
  readonly message_id: string
}

/** The most messages that are merged into one question. */
const MAX_MERGED = 20
/** Hours after which a message is no longer answered. */
const MAX_WAIT = 24

export class SmsInbox extends Context.Service<
  SmsInbox,
  {
    /** Stores a message and schedules its sender; false if the message is a redelivery. */
    readonly receive: (
      organizationId: bigint,
      message: InboundMessage,
      merging: Merging
    ) => Effect.Effect<boolean, Unavailable>
    /** The outcome of a message; undefined while it waits. */
    readonly outcomeOf: (
      organizationId: bigint,
      message: Pick<InboundMessage, "provider" | "id">
    ) => Effect.Effect<Outcome | undefined, Unavailable>
    /** Takes the sender's waiting messages, oldest first; none until the burst is complete. */
    readonly take: (
      lease: Lease,
      merging: Merging
    ) => Effect.Effect<ReadonlyArray<WaitingMessage>, LeaseLost | Unavailable>
    /**
     * Stores the outcome of messages and everything that `also` writes in one transaction. Fails with LeaseLost, writing
     * nothing, if the lease is no longer held or a message already has an outcome.
     */
    readonly finish: <E = never, R = never>(
      lease: Lease,
      messages: ReadonlyArray<WaitingMessage>,
      outcome: Outcome,
      also?: {
        readonly sender?: SenderPatch
        readonly textId?: string | undefined
        readonly write?: Effect.Effect<unknown, E, R>
      }
    ) => Effect.Effect<void, LeaseLost | Unavailable | E, R>
    /** Replaces the stored body of a message, in the caller's transaction. */
    readonly replaceBody: (lease: Lease, message: WaitingMessage, body: string) => Effect.Effect<void, Unavailable>
    /** Counts a turn of the sender in this hour; `first` is the first turn above the limit. */
    readonly countTurn: (
      lease: Lease,
      limit: number
    ) => Effect.Effect<"fits" | "first" | "over", LeaseLost | Unavailable>
    /** Whether the sender has not yet received today's notice that the number has no access. */
    readonly mayRefuse: (lease: Lease, timeZone: string) => Effect.Effect<boolean, Unavailable>
  }
>()("max/services/SmsInbox") {
  static readonly layer = Layer.effect(
    SmsInbox,
    Effect.gen(function* () {
      const { app } = yield* Database
      const { completeAt, held, ofSender } = senderConditions(app)

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
            app`SELECT state FROM max.sms_inbox
              WHERE organization_id = ${organizationId} AND provider = ${provider} AND message_id = ${id}`.pipe(
              orUnavailable,
              decodeStates
            ),
            ([row]) => (row === undefined || row.state === "waiting" ? undefined : row.state)
          ),

        take: Effect.fn("SmsInbox.take")(function* (lease, merging) {
          const rows = yield* orUnavailable(app<WaitingRow>`
            WITH ready AS (
              SELECT 1 FROM max.sms_inbox WHERE ${ofSender(lease.key)} AND state = 'waiting'
              HAVING ${completeAt(merging)} <= clock_timestamp()
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
          Effect.gen(function* () {
            const { anchorId, choices, exchange, exchanges, heard, refused, session, stopped } = {
              ...lease.sender,
              ...sender
            }
            const exchanged = exchange !== undefined && sender.exchange !== undefined
            yield* app`UPDATE max.sms_senders SET anchor_id = ${anchorId}, session_id = ${session ?? null},
                    choices = ${choices}::text[], exchanges = ${exchanges},
                    exchange = CASE WHEN ${exchanged} THEN decode(${exchange ?? ""}, 'hex') ELSE exchange END,
                    exchanged_at = CASE WHEN ${exchanged} THEN now() ELSE exchanged_at END,
                    stopped_at = CASE WHEN ${stopped} THEN coalesce(stopped_at, now()) END,
                    heard_at = CASE WHEN ${heard === true} THEN now() ELSE heard_at END,
                    refused_at = CASE WHEN ${refused === true} THEN now() ELSE refused_at END
                  WHERE ${held(lease)} RETURNING 1 AS one`.pipe(Effect.flatMap(requireRow))
            const finished = yield* app`
                  UPDATE max.sms_inbox m SET state = ${outcome}, text_id = ${textId ?? null}, anchor_id = ${outcome === "refused" ? "" : anchorId}
                  FROM unnest(${messages.map(({ provider }) => provider)}::text[], ${messages.map(({ id }) => id)}::text[]) AS x(provider, id)
                  WHERE m.organization_id = ${lease.key.organizationId} AND m.provider = x.provider AND m.message_id = x.id
                    AND m.state = 'waiting' RETURNING 1 AS one`
            if (finished.length !== messages.length) return yield* new LeaseLost()
            if (write !== undefined) yield* write
          }).pipe(app.withTransaction, orUnavailable),

        replaceBody: ({ key }, { id, provider }, body) =>
          Effect.asVoid(
            orUnavailable(app`UPDATE max.sms_inbox SET body = ${body}
              WHERE organization_id = ${key.organizationId} AND provider = ${provider} AND message_id = ${id}`)
          ),

        countTurn: Effect.fn("SmsInbox.countTurn")(function* (lease, limit) {
          const [row] = yield* orUnavailable(app<{ in_hour: number }>`
            UPDATE max.sms_senders s SET in_hour = CASE WHEN s.hour = x.hour THEN s.in_hour + 1 ELSE 1 END, hour = x.hour
            FROM (SELECT floor(extract(epoch FROM clock_timestamp()) / 3600)::bigint AS hour) x
            WHERE ${held(lease)} RETURNING s.in_hour`)
          if (row === undefined) return yield* new LeaseLost()
          return row.in_hour <= limit ? "fits" : row.in_hour === limit + 1 ? "first" : "over"
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
