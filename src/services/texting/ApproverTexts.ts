/**
 * Texts that tell approvers of a change that waits for them: the link and nothing of the change. Off until an operator switches
 * it on. A text goes to a member who has an approver's role and wrote to a line before, from that line, once for each change.
 */
import { Context, Effect, Layer } from "effect"
import { Database } from "../../database/Database.ts"
import { orUnavailable } from "../../database/execute.ts"
import { isClosed } from "../../database/moves.ts"
import type { Unavailable } from "../../domain/errors.ts"
import { DORMANT_DAYS } from "./SmsAdmission.ts"

/** Hours after the proposer's yes in which a text is still queued, after an outage for example. */
const MAX_HOURS = 1

export class ApproverTexts extends Context.Service<
  ApproverTexts,
  {
    /** Queues the texts that are missing; the link of a change is `inbox` followed by its id. */
    readonly queue: (inbox: string, segmentsPerDay: number) => Effect.Effect<void, Unavailable>
  }
>()("max/services/ApproverTexts") {
  static readonly layer = Layer.effect(
    ApproverTexts,
    Effect.gen(function* () {
      const { app } = yield* Database
      return ApproverTexts.of({
        // The text's id is made of the change and the person: two processes, or one after a crash, queue it once.
        queue: Effect.fn("ApproverTexts.queue")((inbox, segmentsPerDay) => {
          const start = `A change waits for your approval: ${inbox}`
          return Effect.asVoid(
            orUnavailable(app`
              WITH waiting AS (
                SELECT c.organization_id, c.change_id, c.proposer_id, c.approvers, (now() AT TIME ZONE o.time_zone)::date AS day
                FROM max.sms_settings g JOIN max.organizations o ON o.organization_id = g.organization_id
                  JOIN max.changes c ON c.organization_id = g.organization_id
                WHERE g.tell_approvers AND c.state = 'waiting' AND c.expires_at > clock_timestamp()
                  AND c.yes_at > clock_timestamp() - make_interval(hours => ${MAX_HOURS}::int)
                  AND NOT ${app.literal(isClosed("g.organization_id"))}),
              texts AS (
                SELECT w.organization_id, w.change_id, w.day, m.anchor_id, s.line, s.phone, ${start} || w.change_id AS body,
                  left(encode(sha256(convert_to(w.change_id || ':' || m.anchor_id, 'UTF8')), 'hex'), 24) AS text_id
                FROM waiting w
                  JOIN max.memberships m ON m.organization_id = w.organization_id AND m.roles && w.approvers
                    AND m.suspended_at IS NULL AND m.anchor_id <> w.proposer_id
                  JOIN LATERAL (SELECT x.line, x.phone FROM max.sms_senders x
                      JOIN max.sms_numbers n ON n.organization_id = x.organization_id AND n.phone = x.line
                      JOIN max.identifiers i ON i.organization_id = x.organization_id AND i.kind = 'phone' AND i.key = x.phone
                        AND i.anchor_id = x.anchor_id
                    WHERE x.organization_id = w.organization_id AND x.anchor_id = m.anchor_id AND x.stopped_at IS NULL
                      AND x.heard_at > now() - make_interval(days => ${DORMANT_DAYS}::int)
                    ORDER BY x.heard_at DESC LIMIT 1) s ON true
                WHERE coalesce((SELECT d.segments FROM max.sms_days d
                  WHERE d.organization_id = w.organization_id AND d.day = w.day), 0) < ${segmentsPerDay}::int),
              queued AS (
                INSERT INTO max.sms_outbox (organization_id, text_id, line, phone, anchor_id, message_id, kind, body, segments, epoch, state)
                SELECT t.organization_id, t.text_id, t.line, t.phone, t.anchor_id, t.text_id, 'approval', t.body,
                  ceil(length(t.body) / 153.0)::int, 0, 'queued' FROM texts t
                ON CONFLICT DO NOTHING RETURNING organization_id, text_id, line, phone, segments),
              days AS (
                INSERT INTO max.sms_days AS d (organization_id, day, segments)
                SELECT q.organization_id, t.day, sum(q.segments) FROM queued q
                  JOIN texts t ON t.organization_id = q.organization_id AND t.text_id = q.text_id GROUP BY 1, 2
                ON CONFLICT (organization_id, day) DO UPDATE SET segments = d.segments + excluded.segments)
              UPDATE max.sms_senders s SET due_at = least(coalesce(s.due_at, now()), now()) FROM queued q
              WHERE s.organization_id = q.organization_id AND s.line = q.line AND s.phone = q.phone`)
          )
        })
      })
    })
  )
}
