/**
 * The transactional outbox of texts. A text is marked as tried before the provider gets it. After a crash, a timeout or
 * a truncated response, the provider is asked whether it has the text before it is sent again. An answer that was
 * planned under an older epoch, or whose basis has expired, is not sent; its question is answered again. The epoch stands for
 * the rest of the basis: a sender's rights come from the database alone, never from a token.
 */
import { Context, Effect, Layer, Schema } from "effect"
import { randomBytes } from "node:crypto"
import { Database } from "../../database/Database.ts"
import { keptDays } from "../../database/retention.ts"
import { decodeRows } from "../../database/decodeRows.ts"
import { orUnavailable } from "../../database/execute.ts"
import { isClosed } from "../../database/moves.ts"
import type { Unavailable } from "../../domain/errors.ts"
import { DELIVERY, type Delivery, type DeliveryReport, type ShapedText } from "../../domain/Sms.ts"
import { spendSegments } from "./daySegments.ts"
import { type Lease, type LeaseLost, requireRow, senderConditions } from "./SenderLeases.ts"

/** A message gets at most one text of each kind. */
const TextKind = Schema.Literals(["answer", "refusal", "notice", "apology", "approval", "test"])
export type TextKind = typeof TextKind.Type

export interface NewText extends ShapedText {
  readonly kind: TextKind
  /** The message that it answers. */
  readonly messageId: string
  readonly anchorId: string
  /** The change that the text asks to confirm; its code is made when the text is sent. */
  readonly changeId?: string | undefined
  /** The epoch of the lookups behind it. */
  readonly epoch: bigint
  /** When a time-bound rule of those lookups starts or ends, in milliseconds since 1970, or Infinity. */
  readonly expiresAt: number
  /** The organization's segment budget for a day of its time zone; without it, segments are not counted. */
  readonly budget?: { readonly segments: number; readonly timeZone: string } | undefined
}

/** The sender's oldest unsent text. */
export interface Outgoing {
  readonly id: string
  readonly body: string
  readonly kind: TextKind
  /** The person that it is for. */
  readonly anchorId: string
  readonly changeId: string | undefined
  readonly attempts: number
  /** An earlier attempt has an unknown result. */
  readonly unknown: boolean
  /** Its next attempt is due. */
  readonly due: boolean
  /** It is too old to be sent. */
  readonly late: boolean
  /** It is an answer that was planned under an older epoch, or whose basis has expired or is unknown. */
  readonly stale: boolean
  readonly triedAt: Date | undefined
}

export type Sent =
  | { readonly _tag: "Accepted"; readonly providerId: string }
  /** Permanently refused, with the provider's error code. */
  | { readonly _tag: "Refused"; readonly error: string }
  /** Not accepted; can be sent again after so many seconds. */
  | { readonly _tag: "Later"; readonly error: string; readonly seconds: number }
  /** It is unknown whether the provider accepted it. */
  | { readonly _tag: "Unknown"; readonly error: string; readonly seconds: number }

/** Minutes after which a text is no longer sent. */
const MAX_AGE = 60

const decodeOutgoing = decodeRows(
  Schema.Struct({
    text_id: Schema.String,
    body: Schema.String,
    kind: TextKind,
    anchor_id: Schema.String,
    change_id: Schema.NullOr(Schema.String),
    state: Schema.Literals(DELIVERY),
    attempts: Schema.Int,
    due: Schema.Boolean,
    late: Schema.Boolean,
    stale: Schema.Boolean,
    tried_at: Schema.NullOr(Schema.Date)
  })
)

export class SmsOutbox extends Context.Service<
  SmsOutbox,
  {
    readonly newId: () => string
    /** Queues a text in the caller's transaction. Above the day's budget it is stored as dead. */
    readonly queue: (lease: Lease, id: string, text: NewText) => Effect.Effect<void, Unavailable>
    /** Queues a text in a separate transaction, if the lease is still held. */
    readonly queueAlone: (lease: Lease, text: NewText) => Effect.Effect<void, LeaseLost | Unavailable>
    /** The sender's oldest unsent text. */
    readonly next: (lease: Lease) => Effect.Effect<Outgoing | undefined, Unavailable>
    /** Marks a text as tried, before the provider gets it. */
    readonly begin: (lease: Lease, id: string) => Effect.Effect<void, LeaseLost | Unavailable>
    /** Stores the result of an attempt. */
    readonly settle: (lease: Lease, id: string, sent: Sent) => Effect.Effect<void, Unavailable>
    /** Marks a text as accepted under the first of these provider ids that no other text has; false if there is none. */
    readonly adopt: (
      lease: Lease,
      id: string,
      providerIds: ReadonlyArray<string>
    ) => Effect.Effect<boolean, Unavailable>
    /** Marks an unsent text as dead. */
    readonly abandon: (lease: Lease, id: string, why: string) => Effect.Effect<void, Unavailable>
    /** Deletes an unsent answer and returns its messages to the inbox. */
    readonly withdraw: (lease: Lease, id: string) => Effect.Effect<void, LeaseLost | Unavailable>
    /** Marks the sender's queued texts as dead, after an opt-out. */
    readonly cancel: (lease: Lease) => Effect.Effect<void, Unavailable>
    /** Applies a delivery report; false if it is older than the stored state or for another text. */
    readonly report: (organizationId: bigint, id: string, report: DeliveryReport) => Effect.Effect<boolean, Unavailable>
    /** Erases bodies older than so many days, or than fewer where an organization wants fewer, and rows a year older than that, and deletes senders that were never admitted. */
    readonly prune: (days: number) => Effect.Effect<void, Unavailable>
  }
>()("max/services/SmsOutbox") {
  static readonly layer = Layer.effect(
    SmsOutbox,
    Effect.gen(function* () {
      const { app } = yield* Database
      const { held, ofSender } = senderConditions(app)
      const owning = app.literal("x.organization_id")
      const isHere = app.literal(`NOT ${isClosed("x.organization_id")}`)
      const unsent = (lease: Lease, id: string) =>
        app`organization_id = ${lease.key.organizationId} AND text_id = ${id} AND state IN ('queued', 'trying')`
      const isHeld = (lease: Lease) => app`EXISTS (SELECT FROM max.sms_senders WHERE ${held(lease)})`

      /** Whether a text's state precedes this one. */
      const before = (state: Delivery) =>
        app`array_position(${DELIVERY}::text[], state) < array_position(${DELIVERY}::text[], ${state}::text)`

      const newId = () => randomBytes(12).toString("hex")

      /** Spends the text's segments of the day's budget, if they fit. */
      const fitsBudget = Effect.fnUntraced(function* (lease: Lease, { budget, kind, segments }: NewText) {
        if (budget === undefined) return true
        // Refusals get at most half, so that unknown numbers cannot exhaust the members' budget.
        const limit = kind === "refusal" ? Math.floor(budget.segments / 2) : budget.segments
        const { organizationId } = lease.key
        return yield* spendSegments(app, { organizationId, timeZone: budget.timeZone, segments, limit })
      })

      const insert = Effect.fnUntraced(function* (lease: Lease, id: string, text: NewText) {
        const { line, organizationId, phone } = lease.key
        const error = (yield* fitsBudget(lease, text)) ? null : "day's limit"
        return yield* app`
          INSERT INTO max.sms_outbox (organization_id, text_id, line, phone, anchor_id, message_id, kind, body, segments, epoch,
            expires_at, state, error, change_id)
          SELECT ${organizationId}::bigint, ${id}, ${line}, ${phone}, ${text.anchorId}, ${text.messageId}, ${text.kind}, ${text.body},
            ${text.segments}::int, ${text.epoch}::bigint, to_timestamp(${text.expiresAt / 1000}::float8), ${error === null ? "queued" : "dead"}, ${error}, ${text.changeId ?? null}
          WHERE ${isHeld(lease)}
          ON CONFLICT DO NOTHING RETURNING 1 AS one`
      })

      return SmsOutbox.of({
        newId,
        queue: (lease, id, text) => Effect.asVoid(orUnavailable(insert(lease, id, text))),
        queueAlone: (lease, text) => Effect.asVoid(orUnavailable(app.withTransaction(insert(lease, newId(), text)))),

        next: Effect.fn("SmsOutbox.next")(function* ({ key }) {
          const [row] = yield* app`
            SELECT t.text_id, t.body, t.kind, t.anchor_id, t.change_id, t.state, t.attempts, t.tried_at, t.next_at <= clock_timestamp() AS due,
              t.created_at < now() - make_interval(mins => ${MAX_AGE}::int) AS late,
              t.kind = 'answer' AND (t.epoch <> o.epoch OR coalesce(t.expires_at <= to_timestamp(${Date.now() / 1000}::float8), true)) AS stale
            FROM max.sms_outbox t JOIN max.organizations o ON o.organization_id = t.organization_id
            WHERE t.organization_id = ${key.organizationId} AND t.line = ${key.line} AND t.phone = ${key.phone}
              AND t.state IN ('queued', 'trying') ORDER BY t.created_at, t.text_id LIMIT 1`.pipe(
            orUnavailable,
            decodeOutgoing
          )
          if (row === undefined) return undefined
          const { anchor_id, attempts, body, change_id, due, kind, late, stale, state, text_id: id, tried_at } = row
          return {
            id,
            body,
            kind,
            anchorId: anchor_id,
            changeId: change_id ?? undefined,
            attempts,
            due,
            late,
            stale,
            unknown: state === "trying",
            triedAt: tried_at ?? undefined
          }
        }),

        begin: Effect.fn("SmsOutbox.begin")((lease, id) =>
          orUnavailable(app`
            UPDATE max.sms_outbox SET state = 'trying', attempts = attempts + 1, tried_at = coalesce(tried_at, now()),
              next_at = now() + make_interval(secs => 10), updated_at = now()
            WHERE ${unsent(lease, id)} AND ${isHeld(lease)} RETURNING 1 AS one`).pipe(Effect.flatMap(requireRow))
        ),

        settle: Effect.fn("SmsOutbox.settle")((lease, id, sent) => {
          const which = app`organization_id = ${lease.key.organizationId} AND text_id = ${id}`
          switch (sent._tag) {
            // A delivery report may have advanced the state already.
            case "Accepted":
              return Effect.asVoid(
                orUnavailable(app`UPDATE max.sms_outbox SET provider_id = ${sent.providerId}, error = NULL, updated_at = now(),
                  state = CASE WHEN ${before("accepted")} THEN 'accepted' ELSE state END WHERE ${which}`)
              )
            case "Refused":
              return Effect.asVoid(
                orUnavailable(app`UPDATE max.sms_outbox SET state = 'dead', error = ${sent.error}, updated_at = now()
                  WHERE ${which} AND state = 'trying'`)
              )
            case "Later":
            case "Unknown":
              return Effect.asVoid(
                orUnavailable(app`UPDATE max.sms_outbox SET state = ${sent._tag === "Later" ? "queued" : "trying"}, error = ${sent.error},
                  next_at = clock_timestamp() + make_interval(secs => ${sent.seconds}::float8), updated_at = now()
                  WHERE ${which} AND state = 'trying'`)
              )
          }
        }),

        adopt: Effect.fn("SmsOutbox.adopt")(function* ({ key: { organizationId } }, id, providerIds) {
          const rows = yield* orUnavailable(app`
            UPDATE max.sms_outbox t SET provider_id = x.id, state = 'accepted', error = NULL, updated_at = now()
            FROM (SELECT x.id FROM unnest(${providerIds}::text[]) WITH ORDINALITY AS x(id, place)
              WHERE NOT EXISTS (SELECT FROM max.sms_outbox o WHERE o.organization_id = ${organizationId} AND o.provider_id = x.id)
              ORDER BY x.place LIMIT 1) x
            WHERE t.organization_id = ${organizationId} AND t.text_id = ${id} AND t.state = 'trying' RETURNING 1 AS one`)
          return rows.length > 0
        }),

        abandon: Effect.fn("SmsOutbox.abandon")((lease, id, why) =>
          Effect.asVoid(
            orUnavailable(app`UPDATE max.sms_outbox SET state = 'dead', error = coalesce(error, ${why}), updated_at = now()
              WHERE ${unsent(lease, id)}`)
          )
        ),

        withdraw: Effect.fn("SmsOutbox.withdraw")((lease, id) =>
          orUnavailable(app`
            WITH deleted AS (
              DELETE FROM max.sms_outbox WHERE ${unsent(lease, id)} AND ${isHeld(lease)} RETURNING organization_id, text_id)
            UPDATE max.sms_inbox m SET state = 'waiting', text_id = NULL FROM deleted
            WHERE m.organization_id = deleted.organization_id AND m.line = ${lease.key.line} AND m.phone = ${lease.key.phone}
              AND m.text_id = deleted.text_id RETURNING 1 AS one`).pipe(Effect.flatMap(requireRow))
        ),

        cancel: Effect.fn("SmsOutbox.cancel")(({ key }) =>
          Effect.asVoid(
            orUnavailable(app`UPDATE max.sms_outbox SET state = 'dead', error = 'stopped', updated_at = now()
              WHERE ${ofSender(key)} AND state = 'queued'`)
          )
        ),

        report: Effect.fn("SmsOutbox.report")(function* (organizationId, id, { error, providerId, state }) {
          const rows = yield* orUnavailable(app`
            UPDATE max.sms_outbox SET state = ${state}, provider_id = coalesce(provider_id, ${providerId}),
              error = ${error ?? null}, updated_at = now()
            WHERE organization_id = ${organizationId} AND text_id = ${id} AND coalesce(provider_id, ${providerId}) = ${providerId}
              AND state NOT IN ('delivered', 'undelivered') AND ${before(state)}
            RETURNING 1 AS one`)
          return rows.length > 0
        }),

        prune: Effect.fn("SmsOutbox.prune")((days) =>
          Effect.asVoid(
            orUnavailable(app`
              WITH senders AS (DELETE FROM max.sms_senders x WHERE ${isHere} AND anchor_id = '' AND stopped_at IS NULL AND lease IS NULL
                  AND due_at IS NULL AND refused_at < now() - interval '2 days'),
                inbox AS (UPDATE max.sms_inbox x SET body = '' WHERE ${isHere} AND body <> '' AND state <> 'waiting'
                  AND received_at < now() - make_interval(days => ${keptDays(app, owning, days)})),
                outbox AS (UPDATE max.sms_outbox x SET body = '' WHERE ${isHere} AND body <> '' AND created_at < now() - make_interval(days => ${keptDays(app, owning, days)})),
                old AS (DELETE FROM max.sms_inbox x WHERE ${isHere} AND received_at < now() - make_interval(days => ${days}::int + 366))
              DELETE FROM max.sms_outbox x WHERE ${isHere} AND created_at < now() - make_interval(days => ${days}::int + 366)`)
          )
        )
      })
    })
  )
}
