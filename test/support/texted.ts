/** An organization's text messages: one of everything that a log shows. */
import { Effect } from "effect"
import { Database } from "../../src/database/Database.ts"
import type { Organization } from "../../src/domain/EntityType.ts"
import { SmsSettings } from "../../src/services/texting/SmsSettings.ts"

export interface Texted {
  /** The organization's own number. */
  readonly line: string
  /** A member with a name. */
  readonly member: { readonly id: string; readonly phone: string }
  /** A number without access. */
  readonly stranger: string
  /** The body of every message and text. */
  readonly body: string
}

/** The account and the reference to its secret; no page shows either. */
export const ACCOUNT = "AC00000000000000000000000000005ecr"
export const SECRET = "env:QZTOKENQZ"

export const texted = Effect.fnUntraced(function* (
  organization: Organization,
  { body, line, member, stranger }: Texted
) {
  const { owner } = yield* Database
  const settings = yield* SmsSettings
  yield* settings.addNumber(organization, { phone: line, provider: "twilio", account: ACCOUNT, secret: SECRET })
  const at = (minute: number) => `2026-11-20T15:${String(minute).padStart(2, "0")}:00.000${minute}`
  const received = (minute: number, phone: string, anchor: string, state: string, over = line) =>
    owner`INSERT INTO max.sms_inbox (organization_id, provider, message_id, line, phone, body, anchor_id, state, received_at)
      VALUES (${organization.id}, 'twilio', ${`SM${minute}`}, ${over}, ${phone}, ${body}, ${anchor}, ${state}, ${at(minute)}::timestamp AT TIME ZONE 'UTC')`
  const sent = (minute: number, phone: string, anchor: string, kind: string, state: string, error?: string) =>
    owner`INSERT INTO max.sms_outbox (organization_id, text_id, line, phone, body, anchor_id, message_id, kind, segments, epoch, state, error, created_at)
      VALUES (${organization.id}, ${`T${minute}`}, ${line}, ${phone}, ${body}, ${anchor}, ${`SM${minute}`}, ${kind}, ${kind === "refusal" ? 1 : 2}::int, 1::bigint,
        ${state}, ${error ?? null}, ${at(minute)}::timestamp AT TIME ZONE 'UTC')`
  yield* received(10, member.phone, member.id, "answered")
  yield* sent(11, member.phone, member.id, "answer", "delivered")
  yield* received(20, stranger, "", "refused")
  yield* sent(21, stranger, "", "refusal", "delivered")
  yield* received(30, member.phone, member.id, "answered")
  yield* sent(31, member.phone, member.id, "answer", "undelivered", "30003")
  yield* received(40, stranger, "", "limited")
  yield* received(50, member.phone, member.id, "waiting")
})
