/**
 * Texts that try a line: one to the number that is linked to a member, never to another. They go through the outbox like
 * every text, and count for the hour's messages of the number and the day's segments of the organization.
 */
import { Context, Effect, Layer, Schema } from "effect"
import { randomBytes } from "node:crypto"
import { appendAudit, OPERATOR } from "../../database/audit.ts"
import { Database } from "../../database/Database.ts"
import { decodeRows } from "../../database/decodeRows.ts"
import { orUnavailable } from "../../database/execute.ts"
import type { Organization } from "../../domain/EntityType.ts"
import { OperatorError, type Unavailable } from "../../domain/errors.ts"
import { phoneKey } from "../../domain/keys.ts"
import type { Principal } from "../../domain/Principal.ts"
import { DELIVERY } from "../../domain/Sms.ts"
import { masked, quoted } from "../../domain/text.ts"
import { lockEpochFor } from "../members/suspension.ts"
import { Secrets } from "../secrets/Secrets.ts"
import { SIMULATION } from "./SmsAdmission.ts"
import { ON_PAGE, secretOf, SmsSettings } from "./SmsSettings.ts"
import { spendSegments } from "./daySegments.ts"

/** One segment in every encoding. */
const BODY = "This is Max: a test of this number. Texts from it reach you."

/** Seconds between two tests for one person. */
const PAUSE = 60

/** Days in which the outcome of a test is shown. */
const SHOWN_DAYS = 1

const decodeTests = decodeRows(
  Schema.Struct({
    line: Schema.String,
    at: Schema.String,
    phone: Schema.String,
    state: Schema.Literals(DELIVERY),
    error: Schema.NullOr(Schema.String)
  })
)

export interface TestText {
  /** The organization's number. */
  readonly line: string
  /** ISO 8601, UTC. */
  readonly at: string
  /** The person's number, masked. */
  readonly to: string
  readonly state: (typeof DELIVERY)[number]
  /** The provider's code, or Max's reason. */
  readonly error?: string
}

interface Wanted {
  /** The member whose linked number gets the text. */
  readonly anchorId: string
  /** One of the organization's numbers; without it, the only one. */
  readonly line?: string | undefined
}

export class TestTexts extends Context.Service<
  TestTexts,
  {
    /** Queues the text; the result is the line and the person's masked number. */
    readonly queue: (
      organization: Organization,
      wanted: Wanted,
      by?: Principal
    ) => Effect.Effect<{ readonly line: string; readonly to: string }, OperatorError | Unavailable>
    /** The person's latest test of each line. */
    readonly latest: (
      organization: Organization,
      anchorId: string
    ) => Effect.Effect<ReadonlyArray<TestText>, Unavailable>
    /** The number that a test goes to, masked; undefined if none is linked. */
    readonly numberOf: (organization: Organization, anchorId: string) => Effect.Effect<string | undefined, Unavailable>
  }
>()("max/services/TestTexts") {
  static readonly layer = ({
    perHour,
    segmentsPerDay
  }: {
    readonly perHour: number
    readonly segmentsPerDay: number
  }) =>
    Layer.effect(
      TestTexts,
      Effect.gen(function* () {
        const { app } = yield* Database
        const settings = yield* SmsSettings
        const secrets = yield* Secrets

        /** The line, if its token can be read. */
        const lineOf = Effect.fnUntraced(function* (organization: Organization, wanted: string | undefined) {
          const numbers = yield* settings.numbers(organization)
          if (numbers.length === 0)
            return yield* OperatorError.of("There is no number for text messages yet: connect one first.")
          if (wanted === undefined && numbers.length > 1)
            return yield* OperatorError.withCommand(
              "The organization has several numbers: say which one to try.",
              "max sms test --line +15125550100 --to-member …"
            )
          const key = wanted === undefined ? numbers[0]!.phone : phoneKey(wanted, organization.country)
          const found = numbers.find(({ phone }) => phone === key)
          if (found === undefined)
            return yield* OperatorError.of(`${quoted(wanted ?? "")} isn't a number of this organization.`)
          const { phone, secret } = found
          if (secret === ON_PAGE && (yield* secrets.shown(organization, secretOf(phone)))?.opens !== true)
            return yield* OperatorError.of("The token of this number can't be opened: add the number again.")
          return phone
        })

        /** The number of an active member: the one that wrote last, otherwise the one linked last. */
        const phoneOf = Effect.fnUntraced(function* (organization: Organization, anchorId: string, line = "") {
          const [row] = yield* app<{ phone: string; stopped: boolean }>`
            SELECT i.key AS phone, coalesce(s.stopped, false) AS stopped
            FROM max.identifiers i
              JOIN max.memberships m ON m.organization_id = i.organization_id AND m.anchor_id = i.anchor_id AND m.suspended_at IS NULL
              CROSS JOIN LATERAL (
                SELECT max(x.heard_at) FILTER (WHERE x.line <> ${SIMULATION}) AS heard_at,
                  bool_or(x.stopped_at IS NOT NULL AND x.line = ${line}) AS stopped
                FROM max.sms_senders x WHERE x.organization_id = i.organization_id AND x.phone = i.key) s
            WHERE i.organization_id = ${organization.id} AND i.kind = 'phone' AND i.anchor_id = ${anchorId}
            ORDER BY s.heard_at DESC NULLS LAST, i.verified_at DESC, i.key LIMIT 1`
          return row
        })

        const write = Effect.fnUntraced(function* (
          organization: Organization,
          { anchorId }: Wanted,
          line: string,
          by: Principal | undefined
        ) {
          yield* lockEpochFor(app, organization, by)
          const linked = yield* phoneOf(organization, anchorId, line)
          if (linked === undefined)
            return yield* OperatorError.of("No phone number is linked to this membership. Link one first.")
          const { phone, stopped } = linked
          const to = masked(phone)
          if (stopped)
            return yield* OperatorError.of(`${to} has sent STOP to this number. Text START from it, then try again.`)
          const recent = yield* app`SELECT 1 FROM max.sms_outbox WHERE organization_id = ${organization.id}
            AND kind = 'test' AND anchor_id = ${anchorId} AND created_at > clock_timestamp() - make_interval(secs => ${PAUSE}::int)`
          if (recent.length > 0) return yield* OperatorError.of("One test a minute: wait a moment, then try again.")
          const counted = yield* app`
            INSERT INTO max.sms_senders AS s (organization_id, line, phone, hour, in_hour, due_at)
            SELECT ${organization.id}::bigint, ${line}, ${phone}, floor(extract(epoch FROM clock_timestamp()) / 3600)::bigint, 1, now()
            WHERE ${perHour}::int > 0
            ON CONFLICT (organization_id, line, phone) DO UPDATE SET hour = excluded.hour, due_at = least(s.due_at, now()),
              in_hour = CASE WHEN s.hour = excluded.hour THEN s.in_hour + 1 ELSE 1 END
            WHERE s.hour <> excluded.hour OR s.in_hour < ${perHour}::int RETURNING 1 AS one`
          if (counted.length === 0)
            return yield* OperatorError.of(`${to} has used up its messages of this hour. Try again in the next one.`)
          const { id: organizationId, timeZone } = organization
          if (!(yield* spendSegments(app, { organizationId, timeZone, segments: 1, limit: segmentsPerDay })))
            return yield* OperatorError.of("The organization has used up its texts of today. Try again tomorrow.")
          const id = randomBytes(12).toString("hex")
          yield* app`
            INSERT INTO max.sms_outbox (organization_id, text_id, line, phone, anchor_id, message_id, kind, body, segments, epoch, state)
            VALUES (${organization.id}, ${id}, ${line}, ${phone}, ${anchorId}, ${id}, 'test', ${BODY}, 1, 0, 'queued')`
          yield* appendAudit(app, organization.id, "changes", [
            {
              actor: by?.anchorEntityId ?? OPERATOR,
              action: "sms.tested",
              subject: masked(line),
              details: { person: anchorId, number: to }
            }
          ])
          return { line, to }
        })

        return TestTexts.of({
          queue: Effect.fn("TestTexts.queue")(function* (organization, wanted, by) {
            const line = yield* lineOf(organization, wanted.line)
            return yield* write(organization, wanted, line, by).pipe(app.withTransaction, orUnavailable)
          }),

          latest: Effect.fn("TestTexts.latest")(function* (organization, anchorId) {
            const rows = yield* app`
              SELECT DISTINCT ON (line) line, to_char(created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') AS at,
                phone, state, error
              FROM max.sms_outbox WHERE organization_id = ${organization.id} AND kind = 'test' AND anchor_id = ${anchorId}
                AND created_at > now() - make_interval(days => ${SHOWN_DAYS}::int)
              ORDER BY line, created_at DESC`.pipe(orUnavailable, decodeTests)
            return rows.map(({ error, phone, ...row }) => ({
              ...row,
              to: masked(phone),
              ...(error === null ? {} : { error })
            }))
          }),

          numberOf: Effect.fn("TestTexts.numberOf")((organization, anchorId) =>
            Effect.map(orUnavailable(phoneOf(organization, anchorId)), (linked) => linked && masked(linked.phone))
          )
        })
      })
    )
}
