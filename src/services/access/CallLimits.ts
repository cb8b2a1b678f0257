/**
 * Rate limits per person and organization, exact across processes: the database counts calls per minute in one statement,
 * which also returns the organization's current epoch. Calls are counted in batches: those that arrive while a statement
 * is in flight, or while the previous batch is still reading, share the next one.
 *
 * Effect's RequestResolver can't express this: a request there is sent when its result is awaited, while a call here is
 * sent first and awaited after its lookup, and that moment decides when the next statement is due.
 */
import { Context, Deferred, Effect, Layer } from "effect"
import { Database } from "../../database/Database.ts"
import { orUnavailable } from "../../database/execute.ts"
import { TooManyCalls, type Unavailable } from "../../domain/errors.ts"
import { unavailable } from "../../observability/failures.ts"
import * as Telemetry from "../../observability/Telemetry.ts"

/** Calls per minute. */
export interface RateLimits {
  readonly perPerson: number
  readonly perOrganization: number
}

interface Counted {
  /** The organization's epoch when the call was counted; undefined if the organization doesn't exist. */
  readonly epoch: bigint | undefined
  /** Its data version then; only where there are standbys. */
  readonly version: bigint | null
}

/** Awaits the result of a count that has been started. */
export type Counting = Effect.Effect<Counted, TooManyCalls | Unavailable>

/** The `who` of an organization's total; entity ids are never empty. */
const ORGANIZATION = ""

// Processes that wait for the same row lock may start in one minute and count in the next: the later minute wins.
const MINUTE = "floor(extract(epoch FROM statement_timestamp()) / 60)::bigint"
const BEFORE = "CASE WHEN c.minute < excluded.minute THEN 0 ELSE c.calls END"

/** Grants as many of the requested calls as fit. `granted` is a column because RETURNING can't see the previous row. */
const granting = (
  limit: string
) => `ON CONFLICT (organization_id, who) DO UPDATE SET minute = greatest(c.minute, excluded.minute),
    calls = least(excluded.calls + ${BEFORE}, ${limit}), granted = least(excluded.calls, ${limit} - ${BEFORE})
  WHERE c.minute < excluded.minute OR c.calls < ${limit} RETURNING organization_id, who, granted`

/**
 * Counts by person, then by organization, so that a person's refused calls don't count against the organization. Rows are
 * locked in one order, which prevents deadlocks between processes. Returns one row per requested person, in that order.
 */
const countStatement = (more = "") => `/* max count */ WITH
  people AS (INSERT INTO max.calls AS c (organization_id, who, minute, calls, granted)
    SELECT a.organization_id, a.who, ${MINUTE}, least(a.asked, $4::int), least(a.asked, $4::int)
    FROM unnest($1::bigint[], $2::text[], $3::int[]) AS a(organization_id, who, asked) WHERE a.asked > 0 ORDER BY 1, 2
    ${granting("$4::int")}),
  organizations AS (INSERT INTO max.calls AS c (organization_id, who, minute, calls, granted)
    SELECT p.organization_id, '${ORGANIZATION}', ${MINUTE}, least(sum(p.granted), $5::int), least(sum(p.granted), $5::int)
    FROM people p GROUP BY 1 ORDER BY 1
    ${granting("$5::int")})
  SELECT coalesce((SELECT p.granted FROM people p WHERE p.organization_id = a.organization_id AND p.who = a.who), 0) AS person,
    coalesce((SELECT w.granted FROM organizations w WHERE w.organization_id = a.organization_id), 0) AS whole,
    (SELECT o.epoch FROM max.organizations o WHERE o.organization_id = a.organization_id) AS epoch,${more}
    60 - (extract(epoch FROM statement_timestamp())::int % 60) AS rest
  FROM unnest($1::bigint[], $2::text[]) WITH ORDINALITY AS a(organization_id, who, n) ORDER BY a.n`

const VERSION = ` (SELECT d.version FROM max.data_versions d WHERE d.organization_id = a.organization_id) AS version,`

interface CountRow {
  readonly person: number
  readonly whole: number
  readonly epoch: bigint | null
  readonly version?: bigint | null
  readonly rest: number
}

/** Calls counted by one statement: by organization, how many of their callers don't await the result yet. */
type Reading = Map<bigint, number>

interface Waiting {
  readonly organizationId: bigint
  readonly who: string
  readonly calls: number
  readonly answer: Deferred.Deferred<Counted, TooManyCalls | Unavailable>
  /** Set when its statement starts. */
  batch?: Reading
  /** Whether its caller awaits the result. */
  isAwaited: boolean
}

/** Waits for one turn of the event loop, so that requests that arrived together are in one batch. */
const nextTurnOfEventLoop = Effect.callback<void>((resume) => void setImmediate(() => resume(Effect.void)))

const tooMany = (seconds: number) =>
  new TooManyCalls({ message: `Too many calls. Try again in ${seconds} seconds.`, retryAfter: seconds })

export class CallLimits extends Context.Service<
  CallLimits,
  {
    /**
     * Starts counting a person's calls, all of which have to fit; 0 calls only read the epoch. The inner effect awaits the
     * result.
     */
    readonly begin: (organizationId: bigint, anchorId: string, calls: number) => Effect.Effect<Counting>
  }
>()("max/services/CallLimits") {
  static readonly layer = (limits: RateLimits) =>
    Layer.effect(
      CallLimits,
      Effect.gen(function* () {
        const { admission, replicas } = yield* Database
        const statement = countStatement(replicas.length === 0 ? "" : VERSION)
        const scope = yield* Effect.scope
        let waiting: Array<Waiting> = []
        let counting = false
        /**
         * Whether the next statement is due. While no caller awaits its result, it is delayed until a waiting organization's
         * calls of the previous batch have finished reading, so that a batch is about as large as the number of concurrent
         * reads. Calls of other organizations never delay it: their lookups may wait in a long queue.
         */
        let due = false
        let last: Reading = new Map()

        const count = Effect.fnUntraced(function* (calls: ReadonlyArray<Waiting>) {
          const groups = new Map<string, Array<Waiting>>()
          for (const call of calls) {
            const key = `${call.organizationId} ${call.who}`
            const group = groups.get(key)
            if (group === undefined) groups.set(key, [call])
            else group.push(call)
          }
          const requested = [...groups.values()]
          const rows = yield* orUnavailable(
            admission.unsafe<CountRow>(statement, [
              requested.map((group) => group[0]!.organizationId),
              requested.map((group) => group[0]!.who),
              requested.map((group) => group.reduce((sum, { calls }) => sum + calls, 0)),
              limits.perPerson,
              limits.perOrganization
            ])
          )
          const left = new Map<bigint, number>()
          for (const [index, group] of requested.entries()) {
            const { epoch, person, rest, version = null, whole } = rows[index]!
            const counted = Effect.succeed<Counted>({ epoch: epoch ?? undefined, version })
            let own = person
            for (const { answer, calls, organizationId } of group) {
              const shared = left.get(organizationId) ?? whole
              if (calls === 0) {
                Deferred.doneUnsafe(answer, counted)
              } else if (own >= calls && shared >= calls) {
                own -= calls
                left.set(organizationId, shared - calls)
                Deferred.doneUnsafe(answer, counted)
              } else {
                Deferred.doneUnsafe(answer, Effect.fail(tooMany(rest)))
              }
            }
          }
        })

        /** Counts all waiting calls. It serves many requests, so it appears in none of their traces. */
        const countBatch = Effect.gen(function* () {
          yield* nextTurnOfEventLoop
          const calls = waiting
          waiting = []
          due = false
          last = new Map()
          for (const call of calls) {
            call.batch = last
            if (!call.isAwaited) last.set(call.organizationId, (last.get(call.organizationId) ?? 0) + 1)
          }
          yield* Effect.catchCause(count(calls), () =>
            Effect.map(Telemetry.recordedCause, (cause = "admission") => {
              // Each waiting request runs this, and records the cause in its own trace.
              for (const { answer } of calls) Deferred.doneUnsafe(answer, unavailable(cause))
            })
          )
        }).pipe(
          Effect.withTracerEnabled(false),
          Effect.ensuring(
            Effect.suspend(() => {
              counting = false
              return proceed
            })
          )
        )

        const proceed: Effect.Effect<unknown> = Effect.suspend(() => {
          if (counting || !due) return Effect.void
          counting = true
          return Effect.forkIn(countBatch, scope)
        })

        const endReading = (batch: Reading, organizationId: bigint) => {
          const reading = batch.get(organizationId)! - 1
          if (reading > 0) return batch.set(organizationId, reading)
          batch.delete(organizationId)
          if (batch === last && waiting.some((call) => call.organizationId === organizationId)) due = true
        }

        const answerOf = (call: Waiting): Counting =>
          Effect.suspend(() => {
            if (call.isAwaited) return Deferred.await(call.answer)
            call.isAwaited = true
            if (call.batch === undefined) due = true
            else endReading(call.batch, call.organizationId)
            return Effect.andThen(proceed, Deferred.await(call.answer))
          })

        return CallLimits.of({
          begin: (organizationId, who, calls) =>
            Effect.suspend(() => {
              const call: Waiting = { organizationId, who, calls, answer: Deferred.makeUnsafe(), isAwaited: false }
              waiting.push(call)
              if (!last.has(organizationId)) due = true
              return Effect.as(proceed, answerOf(call))
            })
        })
      })
    )
}
