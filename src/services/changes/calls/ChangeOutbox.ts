/**
 * The outbox of calls: what confirmed changes ask of other systems. A process leases a call and marks it as tried before it
 * sends. A call whose process has died is sent again only under an idempotency key that the service honors; without one it is
 * unknown, for a person to look at. Calls of one change are sent in order, each after the one before is done.
 */
import { Context, Effect, Layer, Result } from "effect"
import { randomUUID } from "node:crypto"
import { appendAudit, OPERATOR } from "../../../database/audit.ts"
import { Database } from "../../../database/Database.ts"
import { orUnavailable } from "../../../database/execute.ts"
import { isClosed } from "../../../database/moves.ts"
import type { CallState } from "../../../domain/Change.ts"
import { type DeclaredAction, isRepeatable } from "../../../domain/DeclaredAction.ts"
import { OperatorError, type Unavailable } from "../../../domain/errors.ts"
import type { ActionSettings } from "../../actions/Actions.ts"
import { runCode, type Runs } from "../../actions/runCode.ts"
import { send, type Sent } from "../../actions/send.ts"
import { open } from "../document.ts"
import { appendEvents } from "../records.ts"
import { valuesToSend } from "./later.ts"

/** Seconds that a process has beyond the service's own, to note what came of it. */
const GRACE = 30
/** The longest pause before another attempt, in seconds. */
const MAX_PAUSE = 300
/** More states than these aren't listed. */
const MAX_LISTED = 200

interface Claimed {
  readonly organization_id: bigint
  readonly change_id: string
  readonly step: number
  readonly idempotency_key: string
  readonly attempts: number
  readonly unsure: boolean
  /** Its process ended before it noted what came of it. */
  readonly abandoned: boolean
  readonly definition: DeclaredAction
  readonly digest: string
  readonly document: string | null
  readonly decided_by: string
}

/** A call as operators see it: no values. */
export interface OutboxEntry {
  readonly changeId: string
  readonly step: number
  readonly action: string
  readonly state: CallState
  readonly attempts: number
  readonly nextAt: string
  readonly error: string | null
}

interface Settled {
  readonly state: CallState
  readonly unsure: boolean
  readonly error: string | null
  readonly status?: number | undefined
  readonly problem?: string | undefined
  readonly result?: Readonly<Record<string, string>> | undefined
  /** Seconds until the next attempt. */
  readonly seconds?: number | undefined
}

/** What an attempt comes to. Once an attempt may have been carried out, a later refusal doesn't show that none was. */
const settledBy = (
  sent: Sent,
  { attempts, unsure }: Pick<Claimed, "attempts" | "unsure">,
  { executor }: Pick<DeclaredAction, "executor">
): Settled => {
  const seconds = Math.min(2 ** attempts, MAX_PAUSE)
  const isLast = attempts >= executor.attempts
  switch (sent._tag) {
    case "Done":
      return { state: "done", unsure, error: null, status: sent.status, result: sent.result }
    case "Refused": {
      const { error, problem, status } = sent
      return { state: unsure ? "unknown" : "refused", unsure, error, status, problem }
    }
    case "Later":
      return {
        state: isLast ? (unsure ? "unknown" : "dead") : "queued",
        unsure,
        error: sent.error,
        status: sent.status,
        seconds: sent.seconds ?? seconds
      }
    case "Unsure":
      return {
        state: isLast || !isRepeatable(executor) ? "unknown" : "queued",
        unsure: true,
        error: sent.error,
        status: sent.status,
        seconds: sent.seconds ?? seconds
      }
  }
}

/** Leases the next call that is due. What stood as tried when it was leased before may have been sent. */
const CLAIM = `/* max claim call */ WITH due AS (
    SELECT o.organization_id, o.change_id, o.step, o.state FROM max.change_outbox o
    JOIN max.actions d ON d.organization_id = o.organization_id AND d.slug = o.action AND d.version = o.version
    WHERE CASE WHEN $3::text[] IS NULL THEN d.definition -> 'executor' ->> '_tag' = 'Http'
        ELSE d.definition -> 'executor' ->> '_tag' = 'Code' AND o.organization_id = $2::bigint AND o.action = ANY($3::text[]) END
      AND o.state IN ('queued', 'trying') AND o.next_at <= clock_timestamp() AND coalesce(o.leased_until <= clock_timestamp(), true)
      AND NOT EXISTS (SELECT FROM max.change_outbox e WHERE e.organization_id = o.organization_id AND e.change_id = o.change_id
        AND e.step < o.step AND e.state <> 'done') AND NOT ${isClosed("o.organization_id")}
    ORDER BY o.next_at LIMIT 1 FOR UPDATE OF o SKIP LOCKED)
  UPDATE max.change_outbox o SET state = 'trying', unsure = o.unsure OR due.state = 'trying', attempts = o.attempts + 1,
    lease = $1::text, leased_until = clock_timestamp() + make_interval(secs => (a.definition -> 'executor' ->> 'seconds')::int * 2 + ${GRACE}),
    updated_at = clock_timestamp()
  FROM due, max.actions a, max.changes c
  WHERE o.organization_id = due.organization_id AND o.change_id = due.change_id AND o.step = due.step
    AND a.organization_id = o.organization_id AND a.slug = o.action AND a.version = o.version
    AND c.organization_id = o.organization_id AND c.change_id = o.change_id
  RETURNING o.organization_id, o.change_id, o.step, o.idempotency_key, o.attempts, o.unsure, due.state = 'trying' AS abandoned,
    a.definition, encode(c.digest, 'hex') AS digest, c.document, coalesce(c.decided_by, c.proposer_id) AS decided_by`

const SETTLE = `/* max settle call */ UPDATE max.change_outbox SET state = $5::text, unsure = $6::boolean, error = $7::text, status = $8::int,
    problem = $9::text, result = $10::jsonb, next_at = clock_timestamp() + make_interval(secs => $11::int), lease = NULL, leased_until = NULL,
    updated_at = clock_timestamp()
  WHERE organization_id = $1::bigint AND change_id = $2::text AND step = $3::int AND lease = $4::text RETURNING 1`

/** What comes after a call that wasn't done isn't sent. */
const END_REST = `/* max end calls */ UPDATE max.change_outbox SET state = 'dead', error = 'not-sent', problem = 'a step before it wasn''t done.',
    updated_at = clock_timestamp()
  WHERE organization_id = $1::bigint AND change_id = $2::text AND step > $3::int AND state = 'queued'`

export class ChangeOutbox extends Context.Service<
  ChangeOutbox,
  {
    /** Leases and sends the next request that is due; false when none is. An interruption waits for the result of what is being sent. */
    readonly deliver: Effect.Effect<boolean, Unavailable>
    /** The same for functions of a program, by slug, of the organization that they are declared for. */
    readonly run: (organizationId: bigint, runs: Runs) => Effect.Effect<boolean, Unavailable>
    /** The calls of an organization that aren't done, the latest first; or those in one state. */
    readonly list: (organizationId: bigint, state?: CallState) => Effect.Effect<ReadonlyArray<OutboxEntry>, Unavailable>
    /** Queues a call again that was refused, couldn't be sent, or is unknown: an operator has looked at the service. */
    readonly retry: (
      organizationId: bigint,
      changeId: string,
      step: number
    ) => Effect.Effect<void, OperatorError | Unavailable>
  }
>()("max/services/ChangeOutbox") {
  static readonly layer = (settings: ActionSettings) =>
    Layer.effect(
      ChangeOutbox,
      Effect.gen(function* () {
        const { changes: sql } = yield* Database

        const settle = Effect.fnUntraced(function* (claimed: Claimed, lease: string, settled: Settled) {
          const { change_id, decided_by, digest, organization_id, step } = claimed
          const { error, problem, result, seconds = 0, state, status, unsure } = settled
          const isFinal = state !== "queued"
          yield* Effect.gen(function* () {
            // The order of locks is that of decisions: the change, then its parts.
            yield* sql.unsafe(
              "SELECT 1 FROM max.changes WHERE organization_id = $1::bigint AND change_id = $2::text FOR UPDATE",
              [organization_id, change_id]
            )
            const noted = yield* sql.unsafe(SETTLE, [
              organization_id,
              change_id,
              step,
              lease,
              state,
              unsure,
              error,
              status ?? null,
              problem ?? null,
              result === undefined ? null : JSON.stringify(result),
              seconds
            ])
            // Another process has it by now.
            if (noted.length === 0 || !isFinal) return
            if (state !== "done") yield* sql.unsafe(END_REST, [organization_id, change_id, step])
            yield* appendEvents(sql, organization_id, change_id, decided_by, { channel: "outbox" }, [
              { phase: "sent", outcome: state, detail: { step } }
            ])
            yield* appendAudit(sql, organization_id, "changes", [
              {
                actor: decided_by,
                action: "change.sent",
                subject: change_id,
                details: {
                  digest,
                  step,
                  action: claimed.definition.slug,
                  version: claimed.definition.version,
                  outcome: state
                }
              }
            ])
          }).pipe(sql.withTransaction, orUnavailable)
        })

        const sendClaimed = Effect.fnUntraced(function* (claimed: Claimed, runs?: Runs) {
          const { abandoned, attempts, decided_by, definition, digest, document, idempotency_key, step } = claimed
          const { executor } = definition
          const calls = document === null ? [] : (open(document, digest).calls ?? [])
          const call = calls[step]
          if (call === undefined) return { _tag: "Later", error: "erased" } as const
          if (abandoned && !isRepeatable(executor)) return { _tag: "Unsure", error: "abandoned" } as const
          const { change_id, organization_id } = claimed
          const values = yield* orUnavailable(valuesToSend(sql, organization_id, change_id, call, calls, definition))
          if (Result.isFailure(values)) return values.failure
          if (executor._tag === "Http")
            return yield* send(definition, executor, values.success, idempotency_key, settings)
          const run = runs?.get(definition.slug)
          // The claim names what the program declared.
          if (run === undefined) return { _tag: "Later", error: "not-declared" } as const
          const deed = { idempotencyKey: idempotency_key, person: decided_by, attempt: attempts }
          return yield* runCode(run, definition, executor.seconds, values.success, deed)
        })

        /** Leases and sends the next request, or runs the next function that a program declared for its organization. */
        const next = (program?: { readonly organizationId: bigint; readonly runs: Runs }) =>
          Effect.uninterruptible(
            Effect.gen(function* () {
              const lease = randomUUID()
              const slugs = program === undefined ? null : [...program.runs.keys()]
              const [claimed] = yield* orUnavailable(
                sql.unsafe<Claimed>(CLAIM, [lease, program?.organizationId ?? null, slugs])
              )
              if (claimed === undefined) return false
              const sent = yield* sendClaimed(claimed, program?.runs)
              yield* settle(claimed, lease, settledBy(sent, claimed, claimed.definition))
              return true
            })
          ).pipe(Effect.withSpan("ChangeOutbox.deliver"))

        return ChangeOutbox.of({
          deliver: next(),
          run: (organizationId, runs) => next({ organizationId, runs }),

          list: Effect.fn("ChangeOutbox.list")((organizationId, state) =>
            orUnavailable(
              sql.unsafe<OutboxEntry>(
                `/* max list outbox */ SELECT change_id AS "changeId", step, action, state, attempts,
                   to_char(next_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') AS "nextAt", error
                 FROM max.change_outbox WHERE organization_id = $1::bigint AND (state = $2::text OR ($2::text IS NULL AND state <> 'done'))
                 ORDER BY created_at DESC, step LIMIT ${MAX_LISTED}`,
                [organizationId, state ?? null]
              )
            )
          ),

          retry: Effect.fn("ChangeOutbox.retry")(function* (organizationId, changeId, step) {
            const queued = yield* Effect.gen(function* () {
              const rows = yield* sql.unsafe<{ action: string }>(
                `/* max retry call */ UPDATE max.change_outbox SET state = 'queued', attempts = 0, next_at = clock_timestamp(), updated_at = clock_timestamp()
                 WHERE organization_id = $1::bigint AND change_id = $2::text AND step = $3::int AND state IN ('refused', 'unknown', 'dead') RETURNING action`,
                [organizationId, changeId, step]
              )
              if (rows.length > 0)
                yield* appendAudit(sql, organizationId, "changes", [
                  {
                    actor: OPERATOR,
                    action: "change.retried",
                    subject: changeId,
                    details: { step, action: rows[0]!.action }
                  }
                ])
              return rows.length > 0
            }).pipe(sql.withTransaction, orUnavailable)
            if (!queued)
              return yield* OperatorError.of(
                "There is no such call that can be sent again. max change outbox shows them."
              )
          })
        })
      })
    )
}
