/**
 * Texts on their way out. What is about to be sent is marked as tried before it is sent: after a crash, a timeout or
 * half an answer the provider is asked whether it has it, before it is sent again. An answer that was planned under an
 * older epoch isn't sent: its question is asked again.
 */
import { Context, Effect, Layer } from "effect"
import { randomBytes } from "node:crypto"
import { Database } from "../../database/Database.ts"
import { orUnavailable } from "../../database/execute.ts"
import type { Unavailable } from "../../domain/errors.ts"
import { DELIVERY, type Delivery, type DeliveryReport, type ShapedText } from "../../domain/Sms.ts"
import { type Lease, LeaseLost } from "./SmsInbox.ts"

/** What a text is: one of each kind at most for a message. */
export type TextKind = "answer" | "refusal" | "notice" | "apology"

export interface NewText extends ShapedText {
  readonly kind: TextKind
  /** The message that it answers. */
  readonly messageId: string
  readonly anchorId: string
  /** What it says was looked up under this epoch. */
  readonly epoch: bigint
  /** Segments that the organization may send in a day, and the day where it is; without it nothing is counted. */
  readonly within?: { readonly segments: number; readonly timeZone: string } | undefined
}

/** The sender's oldest text that isn't sent yet. */
export interface Outgoing {
  readonly id: string
  readonly body: string
  readonly kind: TextKind
  readonly attempts: number
  /** It was given to the provider before, and what came of it isn't known. */
  readonly unsure: boolean
  /** Whether it is time to try. */
  readonly due: boolean
  /** So old that nobody waits for it any more. */
  readonly late: boolean
  /** It says what was looked up under an epoch that is over. */
  readonly stale: boolean
  readonly triedAt: Date | undefined
}

export type Sent =
  | { readonly _tag: "Accepted"; readonly providerId: string }
  /** For good; the code is the provider's. */
  | { readonly _tag: "Refused"; readonly error: string }
  /** It wasn't taken, and can be sent again after so many seconds. */
  | { readonly _tag: "Later"; readonly error: string; readonly seconds: number }
  /** Whether it was taken isn't known. */
  | { readonly _tag: "Unknown"; readonly error: string; readonly seconds: number }

/** Minutes after which a text isn't sent any more. */
const MAX_AGE = 60

interface OutgoingRow {
  readonly text_id: string
  readonly body: string
  readonly kind: TextKind
  readonly state: Delivery
  readonly attempts: number
  readonly due: boolean
  readonly late: boolean
  readonly stale: boolean
  readonly tried_at: Date | null
}

export class SmsOutbox extends Context.Service<
  SmsOutbox,
  {
    readonly newId: () => string
    /** Queues a text, in the transaction of what it belongs to; beyond the day's limit it is kept as dead. */
    readonly queue: (lease: Lease, id: string, text: NewText) => Effect.Effect<void, Unavailable>
    /** Queues a text while the sender is held. */
    readonly queueAlone: (lease: Lease, text: NewText) => Effect.Effect<void, LeaseLost | Unavailable>
    readonly next: (lease: Lease) => Effect.Effect<Outgoing | undefined, Unavailable>
    /** Marks a text as given to the provider, before it is. */
    readonly begin: (lease: Lease, id: string) => Effect.Effect<void, LeaseLost | Unavailable>
    readonly settle: (lease: Lease, id: string, sent: Sent) => Effect.Effect<void, Unavailable>
    /** Takes for accepted what the provider says it has, if it is no other text's; whether it was. */
    readonly adopt: (
      lease: Lease,
      id: string,
      providerIds: ReadonlyArray<string>
    ) => Effect.Effect<boolean, Unavailable>
    /** Gives up on a text. */
    readonly abandon: (lease: Lease, id: string, why: string) => Effect.Effect<void, Unavailable>
    /** Takes an answer back that wasn't sent: its messages wait for another one. */
    readonly takeBack: (lease: Lease, id: string) => Effect.Effect<void, LeaseLost | Unavailable>
    /** Whoever has said stop gets nothing that isn't on its way. */
    readonly cancel: (lease: Lease) => Effect.Effect<void, Unavailable>
    /** What the carrier says of a text; what is older than what is known changes nothing. */
    readonly report: (organizationId: bigint, id: string, report: DeliveryReport) => Effect.Effect<boolean, Unavailable>
    /** Forgets what was written more than so many days ago (that it was is known for a year more), and who was nobody. */
    readonly prune: (days: number) => Effect.Effect<void, Unavailable>
  }
>()("max/services/SmsOutbox") {
  static readonly layer = Layer.effect(
    SmsOutbox,
    Effect.gen(function* () {
      const { app } = yield* Database
      /** Whether a text has come less far than this. */
      const before = (state: Delivery) =>
        app`array_position(${DELIVERY}::text[], state) < array_position(${DELIVERY}::text[], ${state}::text)`

      const newId = () => randomBytes(12).toString("base64url")

      /** Takes the text out of the day, if it fits. */
      const fits = Effect.fnUntraced(function* (lease: Lease, { kind, segments, within }: NewText) {
        if (within === undefined) return true
        // Strangers never use up what members need.
        const limit = kind === "refusal" ? Math.floor(within.segments / 2) : within.segments
        const rows = yield* app`
          INSERT INTO max.sms_days AS d (organization_id, day, segments)
          SELECT ${lease.key.organizationId}::bigint, (now() AT TIME ZONE ${within.timeZone})::date, ${segments}::int
          WHERE ${segments}::int <= ${limit}::int
          ON CONFLICT (organization_id, day) DO UPDATE SET segments = d.segments + excluded.segments
          WHERE d.segments + excluded.segments <= ${limit}::int RETURNING 1 AS one`
        return rows.length > 0
      })

      const insert = Effect.fnUntraced(function* (lease: Lease, id: string, text: NewText) {
        const { line, organizationId, phone } = lease.key
        const error = (yield* fits(lease, text)) ? null : "day's limit"
        return yield* app`
          INSERT INTO max.sms_outbox (organization_id, text_id, line, phone, anchor_id, message_id, kind, body, segments, epoch, state, error)
          SELECT ${organizationId}::bigint, ${id}, ${line}, ${phone}, ${text.anchorId}, ${text.messageId}, ${text.kind}, ${text.body},
            ${text.segments}::int, ${text.epoch}::bigint, ${error === null ? "queued" : "dead"}, ${error}
          WHERE EXISTS (SELECT FROM max.sms_senders WHERE organization_id = ${organizationId} AND line = ${line} AND phone = ${phone}
            AND lease = ${lease.token})
          ON CONFLICT DO NOTHING RETURNING 1 AS one`
      })

      return SmsOutbox.of({
        newId,
        queue: (lease, id, text) => Effect.asVoid(orUnavailable(insert(lease, id, text))),
        queueAlone: (lease, text) => Effect.asVoid(orUnavailable(app.withTransaction(insert(lease, newId(), text)))),

        next: Effect.fn("SmsOutbox.next")(function* ({ key: { line, organizationId, phone } }) {
          const [row] = yield* orUnavailable(app<OutgoingRow>`
            SELECT t.text_id, t.body, t.kind, t.state, t.attempts, t.tried_at, t.next_at <= clock_timestamp() AS due,
              t.created_at < now() - make_interval(mins => ${MAX_AGE}::int) AS late,
              t.kind = 'answer' AND t.epoch <> o.epoch AS stale
            FROM max.sms_outbox t JOIN max.organizations o ON o.organization_id = t.organization_id
            WHERE t.organization_id = ${organizationId} AND t.line = ${line} AND t.phone = ${phone}
              AND t.state IN ('queued', 'trying') ORDER BY t.created_at, t.text_id LIMIT 1`)
          if (row === undefined) return undefined
          const { attempts, body, due, kind, late, stale, state, text_id: id, tried_at } = row
          return {
            id,
            body,
            kind,
            attempts,
            due,
            late,
            stale,
            unsure: state === "trying",
            triedAt: tried_at ?? undefined
          }
        }),

        begin: Effect.fn("SmsOutbox.begin")(function* ({ key, token }, id) {
          const rows = yield* orUnavailable(app`
            UPDATE max.sms_outbox SET state = 'trying', attempts = attempts + 1, tried_at = coalesce(tried_at, now()),
              next_at = now() + make_interval(secs => 10), updated_at = now()
            WHERE organization_id = ${key.organizationId} AND text_id = ${id} AND state IN ('queued', 'trying')
              AND EXISTS (SELECT FROM max.sms_senders s WHERE s.organization_id = ${key.organizationId} AND s.line = ${key.line}
                AND s.phone = ${key.phone} AND s.lease = ${token}) RETURNING 1 AS one`)
          if (rows.length === 0) return yield* new LeaseLost()
        }),

        settle: Effect.fn("SmsOutbox.settle")((lease, id, sent) => {
          const which = app`organization_id = ${lease.key.organizationId} AND text_id = ${id}`
          switch (sent._tag) {
            // The carrier may have said more of it by now.
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
              WHERE organization_id = ${lease.key.organizationId} AND text_id = ${id} AND state IN ('queued', 'trying')`)
          )
        ),

        takeBack: Effect.fn("SmsOutbox.takeBack")(function* ({ key, token }, id) {
          const rows = yield* orUnavailable(app`
            WITH held AS (
              SELECT 1 FROM max.sms_senders s WHERE s.organization_id = ${key.organizationId} AND s.line = ${key.line}
                AND s.phone = ${key.phone} AND s.lease = ${token}
            ), gone AS (
              DELETE FROM max.sms_outbox t USING held WHERE t.organization_id = ${key.organizationId} AND t.text_id = ${id}
                AND t.state IN ('queued', 'trying') RETURNING t.organization_id, t.text_id)
            UPDATE max.sms_inbox m SET state = 'waiting', text_id = NULL FROM gone
            WHERE m.organization_id = gone.organization_id AND m.line = ${key.line} AND m.phone = ${key.phone}
              AND m.text_id = gone.text_id RETURNING 1 AS one`)
          if (rows.length === 0) return yield* new LeaseLost()
        }),

        cancel: Effect.fn("SmsOutbox.cancel")(({ key: { line, organizationId, phone } }) =>
          Effect.asVoid(
            orUnavailable(app`UPDATE max.sms_outbox SET state = 'dead', error = 'stopped', updated_at = now()
              WHERE organization_id = ${organizationId} AND line = ${line} AND phone = ${phone} AND state = 'queued'`)
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
              WITH strangers AS (DELETE FROM max.sms_senders WHERE anchor_id = '' AND stopped_at IS NULL AND lease IS NULL
                  AND due_at IS NULL AND refused_at < now() - interval '2 days'),
                inbox AS (UPDATE max.sms_inbox SET body = '' WHERE body <> '' AND state <> 'waiting'
                  AND received_at < now() - make_interval(days => ${days}::int)),
                outbox AS (UPDATE max.sms_outbox SET body = '' WHERE body <> '' AND created_at < now() - make_interval(days => ${days}::int)),
                old AS (DELETE FROM max.sms_inbox WHERE received_at < now() - make_interval(days => ${days}::int + 366))
              DELETE FROM max.sms_outbox WHERE created_at < now() - make_interval(days => ${days}::int + 366)`)
          )
        )
      })
    })
  )
}
