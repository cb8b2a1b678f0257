/**
 * Tells another system of changes that wait for another person: one signed request for each change, with the link and no value of
 * a row. Off until an operator declares the webhook. A notice that may have arrived is sent again under the same id.
 */
import { Context, Effect, Layer } from "effect"
import { randomUUID } from "node:crypto"
import { appendAudit, OPERATOR } from "../../../database/audit.ts"
import { Database } from "../../../database/Database.ts"
import { orUnavailable } from "../../../database/execute.ts"
import { isClosed } from "../../../database/moves.ts"
import { actionByKey } from "../../../domain/Action.ts"
import type { ChangeDocument } from "../../../domain/Change.ts"
import type { HttpRequest } from "../../../domain/DeclaredAction.ts"
import type { Catalog, Organization } from "../../../domain/EntityType.ts"
import { OperatorError, Unavailable } from "../../../domain/errors.ts"
import type { ActionSettings } from "../../actions/Actions.ts"
import { hostProblem } from "../../network/hosts.ts"
import { send, type Sent } from "../../actions/send.ts"
import { partsOfUrl } from "../../actions/template.ts"
import { OrganizationState } from "../../catalog/OrganizationState.ts"
import { open, sha256 } from "../document.ts"
import { isoTime } from "../records.ts"

/** Seconds that the other system has to answer. */
const SECONDS = 10
/** The most requests of a notice; with their pauses, half an hour. */
const MAX_ATTEMPTS = 12
/** The longest pause before another attempt, in seconds. */
const MAX_PAUSE = 300
/** Seconds of a lease: connecting, answering, and noting what came of it. */
const LEASE = 60
const MIN_SECRET = 24
const MAX_URL = 2000

export interface Webhook {
  readonly url: string
  /** `env:NAME` or `file:/path`. */
  readonly secret: string
}

/** A webhook with what became of its latest notices. */
export interface WebhookStatus extends Webhook {
  readonly told: number
  readonly waiting: number
  readonly failed: number
  /** Why the latest notice hasn't been delivered. */
  readonly error: string | null
}

interface Due extends Webhook {
  readonly organization_id: bigint
  readonly change_id: string
  readonly attempts: number
  readonly rows: number
  readonly approvers: ReadonlyArray<string>
  readonly document: string
  readonly digest: string
  readonly waiting_since: string
  readonly expires: string
}

/**
 * Leases the next notice that is due: of a change that waits since the webhook was declared, the first attempt or one after a pause.
 * A notice's row is made by its first lease, so two processes, or one after a crash, make one.
 */
const CLAIM = `/* max claim notice */ WITH due AS (
    SELECT c.organization_id, c.change_id, w.url, w.secret, c.rows, c.approvers, c.document, c.digest, c.yes_at, c.expires_at
    FROM max.approver_webhooks w
      JOIN max.changes c ON c.organization_id = w.organization_id AND c.state = 'waiting' AND c.expires_at > clock_timestamp()
        AND c.yes_at >= w.set_at AND c.document IS NOT NULL
      LEFT JOIN max.approver_notices n ON n.organization_id = c.organization_id AND n.change_id = c.change_id
    WHERE (n.state IS NULL OR (n.state = 'queued' AND n.next_at <= clock_timestamp() AND coalesce(n.leased_until <= clock_timestamp(), true)))
      AND NOT ${isClosed("w.organization_id")}
    ORDER BY coalesce(n.next_at, c.yes_at) LIMIT 1),
  claimed AS (INSERT INTO max.approver_notices AS n (organization_id, change_id, state, lease, leased_until)
    SELECT organization_id, change_id, 'queued', $1::text, clock_timestamp() + make_interval(secs => ${LEASE}) FROM due
    ON CONFLICT (organization_id, change_id) DO UPDATE SET attempts = n.attempts + 1, lease = excluded.lease,
      leased_until = excluded.leased_until, updated_at = clock_timestamp()
    WHERE n.state = 'queued' AND n.next_at <= clock_timestamp() AND coalesce(n.leased_until <= clock_timestamp(), true)
    RETURNING n.attempts)
  SELECT due.organization_id, due.change_id, due.url, due.secret, due.rows, due.approvers, due.document, encode(due.digest, 'hex') AS digest,
    ${isoTime("due.yes_at")} AS waiting_since, ${isoTime("due.expires_at")} AS expires, claimed.attempts FROM due, claimed`

const SETTLE = `/* max settle notice */ UPDATE max.approver_notices SET state = $4::text, error = $5::text,
    next_at = clock_timestamp() + make_interval(secs => $6::int), lease = NULL, leased_until = NULL, updated_at = clock_timestamp()
  WHERE organization_id = $1::bigint AND change_id = $2::text AND lease = $3::text`

/** The body: what waits and where to look at it. Names and values are for those who may see them, after the sign-in. */
const bodyOf = (due: Due, { calls = [], steps }: ChangeDocument, catalog: Catalog, inbox: string) => ({
  type: "change.waiting",
  timestamp: due.waiting_since,
  data: {
    change: due.change_id,
    actions: [
      ...new Set([
        ...steps.map(({ action }) => actionByKey(catalog, action)?.slug ?? action),
        ...calls.map(({ action }) => action)
      ])
    ],
    rows: due.rows,
    approvers: due.approvers,
    expires: due.expires,
    link: `${inbox}${due.change_id}`
  }
})

const requestOf = ({ secret, url }: Webhook, body: unknown): HttpRequest & { readonly signedWith: string } => ({
  _tag: "Http",
  method: "POST",
  url,
  headers: {},
  body,
  secrets: { signing: secret },
  signedWith: "signing",
  seconds: SECONDS,
  attempts: MAX_ATTEMPTS,
  key: "Idempotency-Key",
  problem: []
})

export class ApproverWebhook extends Context.Service<
  ApproverWebhook,
  {
    /** Declares the organization's webhook, in place of another, whose notices that wait it gets. */
    readonly set: (organization: Organization, webhook: Webhook) => Effect.Effect<void, OperatorError | Unavailable>
    readonly remove: (organization: Organization) => Effect.Effect<void, OperatorError | Unavailable>
    readonly status: (organizationId: bigint) => Effect.Effect<WebhookStatus | undefined, Unavailable>
    /** Sends the next notice that is due; false when none is. The link of a change is `inbox` followed by its id. */
    readonly deliver: (inbox: string) => Effect.Effect<boolean, Unavailable>
  }
>()("max/services/ApproverWebhook") {
  static readonly layer = (settings: ActionSettings) =>
    Layer.effect(
      ApproverWebhook,
      Effect.gen(function* () {
        const { app, changes: sql } = yield* Database
        const states = yield* OrganizationState

        const settle = Effect.fnUntraced(function* (due: Due, lease: string, sent: Sent) {
          const isLast = due.attempts >= MAX_ATTEMPTS || sent._tag === "Refused"
          const state = sent._tag === "Done" ? "told" : isLast ? "failed" : "queued"
          const asked = "seconds" in sent ? sent.seconds : undefined
          yield* sql.unsafe(SETTLE, [
            due.organization_id,
            due.change_id,
            lease,
            state,
            sent._tag === "Done" ? null : sent.error,
            asked ?? Math.min(2 ** due.attempts, MAX_PAUSE)
          ])
        })

        return ApproverWebhook.of({
          set: Effect.fn("ApproverWebhook.set")(function* (organization, { secret, url }) {
            const problem = urlProblem(url, settings.hosts)
            if (problem !== undefined) return yield* OperatorError.of(problem)
            const key = yield* Effect.mapError(settings.secretOf(secret), ({ message }) => OperatorError.of(message))
            if (key.length < MIN_SECRET)
              return yield* OperatorError.withCommand(
                `The secret has fewer than ${MIN_SECRET} characters.`,
                "Such as: openssl rand -base64 32"
              )
            yield* Effect.gen(function* () {
              yield* app`INSERT INTO max.approver_webhooks AS w (organization_id, url, secret) VALUES (${organization.id}, ${url}, ${secret})
                ON CONFLICT (organization_id) DO UPDATE SET url = excluded.url, secret = excluded.secret`
              const details = { host: new URL(url).host, secret }
              yield* appendAudit(app, organization.id, "changes", [
                { actor: OPERATOR, action: "webhook.set", subject: organization.slug, details }
              ])
            }).pipe(app.withTransaction, orUnavailable)
          }),

          remove: Effect.fn("ApproverWebhook.remove")(function* (organization) {
            const removed = yield* Effect.gen(function* () {
              const rows =
                yield* app`DELETE FROM max.approver_webhooks WHERE organization_id = ${organization.id} RETURNING 1 AS one`
              if (rows.length > 0)
                yield* appendAudit(app, organization.id, "changes", [
                  { actor: OPERATOR, action: "webhook.removed", subject: organization.slug }
                ])
              return rows.length > 0
            }).pipe(app.withTransaction, orUnavailable)
            if (!removed) return yield* OperatorError.of("There is no webhook.")
          }),

          status: Effect.fn("ApproverWebhook.status")((organizationId) =>
            Effect.map(
              orUnavailable(
                app<WebhookStatus>`SELECT w.url, w.secret, n.told, n.waiting, n.failed, n.error FROM max.approver_webhooks w, LATERAL (
                    SELECT count(*) FILTER (WHERE s.state = 'told')::int AS told, count(*) FILTER (WHERE s.state = 'queued')::int AS waiting,
                      count(*) FILTER (WHERE s.state = 'failed')::int AS failed, (array_agg(s.error ORDER BY s.updated_at DESC))[1] AS error
                    FROM max.approver_notices s WHERE s.organization_id = w.organization_id) n
                  WHERE w.organization_id = ${organizationId}`
              ),
              ([row]) => row
            )
          ),

          deliver: Effect.fn("ApproverWebhook.deliver")((inbox) =>
            Effect.uninterruptible(
              Effect.gen(function* () {
                const lease = randomUUID()
                const [due] = yield* orUnavailable(sql.unsafe<Due>(CLAIM, [lease]))
                if (due === undefined) return false
                const { state } = yield* Effect.mapError(
                  states.read(due.organization_id, { by: "none" }),
                  () => Unavailable.error
                )
                const body = bodyOf(due, open(due.document, due.digest), state.catalog, inbox)
                // The same id for each attempt, and another one for a change of the same id in a restored database.
                const id = `msg_${sha256(`max notice ${due.digest}`).slice(0, 32)}`
                const action = { slug: "approvers", fields: [] }
                const sent = yield* send(action, requestOf(due, body), {}, id, settings)
                yield* orUnavailable(settle(due, lease, sent))
                return true
              })
            )
          )
        })
      })
    )
}

/** Why a webhook can't have an address; undefined when it can. */
const urlProblem = (url: string, hosts: ReadonlyArray<string>): string | undefined =>
  url.length > MAX_URL || partsOfUrl(url) === undefined || /[{}]/.test(url) || !URL.canParse(url)
    ? "A webhook's address is https://HOST/PATH, without a name, a password or braces."
    : hostProblem(new URL(url), hosts)
