/**
 * How often a person and an organization may call in a minute, exact across processes: the database counts, in one
 * statement. Calls that arrive while a statement is on its way, or while those who were counted last are still reading, are
 * counted together by the next one, so that a busy process pays for far fewer statements than calls. The same statement says which epoch is in force, which is what
 * everything that was remembered of a caller is held against.
 */
import { Context, Deferred, Effect, Layer } from "effect"
import { Database } from "../../database/Database.ts"
import { orUnavailable } from "../../database/execute.ts"
import { TooManyCalls, Unavailable } from "../../domain/errors.ts"

/** Calls a minute. */
export interface Allowance {
  readonly perPerson: number
  readonly perOrganization: number
}

interface Counted {
  /** The organization's epoch at the moment of counting; undefined when there is no such organization. */
  readonly epoch: bigint | undefined
}

/** The answer of a count that has begun. */
export type Counting = Effect.Effect<Counted, TooManyCalls | Unavailable>

/** Whom the calls of a whole organization are counted under: no entity id is empty. */
const EVERYBODY = ""

// Processes that wait for the same row may begin in one minute and count in the next: the later one stands.
const MINUTE = "floor(extract(epoch FROM statement_timestamp()) / 60)::bigint"
const BEFORE = "CASE WHEN c.minute < excluded.minute THEN 0 ELSE c.calls END"

/**
 * Grants as many of the asked calls as fit. `granted` is kept in the row because RETURNING can't see what was there
 * before.
 */
const granting = (
  limit: string
) => `ON CONFLICT (organization_id, who) DO UPDATE SET minute = greatest(c.minute, excluded.minute),
    calls = least(excluded.calls + ${BEFORE}, ${limit}), granted = least(excluded.calls, ${limit} - ${BEFORE})
  WHERE c.minute < excluded.minute OR c.calls < ${limit} RETURNING organization_id, who, granted`

/**
 * First by person, then by organization: what a person was refused doesn't count against the colleagues. Rows are taken
 * in one order, so that two processes never wait for each other. One row for each that was asked about, in that order.
 */
const COUNT = `/* max count */ WITH
  people AS (INSERT INTO max.calls AS c (organization_id, who, minute, calls, granted)
    SELECT a.organization_id, a.who, ${MINUTE}, least(a.asked, $4::int), least(a.asked, $4::int)
    FROM unnest($1::bigint[], $2::text[], $3::int[]) AS a(organization_id, who, asked) WHERE a.asked > 0 ORDER BY 1, 2
    ${granting("$4::int")}),
  organizations AS (INSERT INTO max.calls AS c (organization_id, who, minute, calls, granted)
    SELECT p.organization_id, '${EVERYBODY}', ${MINUTE}, least(sum(p.granted), $5::int), least(sum(p.granted), $5::int)
    FROM people p GROUP BY 1 ORDER BY 1
    ${granting("$5::int")})
  SELECT coalesce((SELECT p.granted FROM people p WHERE p.organization_id = a.organization_id AND p.who = a.who), 0) AS person,
    coalesce((SELECT w.granted FROM organizations w WHERE w.organization_id = a.organization_id), 0) AS whole,
    (SELECT o.epoch FROM max.organizations o WHERE o.organization_id = a.organization_id) AS epoch,
    60 - (extract(epoch FROM statement_timestamp())::int % 60) AS rest
  FROM unnest($1::bigint[], $2::text[]) WITH ORDINALITY AS a(organization_id, who, n) ORDER BY a.n`

interface CountRow {
  readonly person: number
  readonly whole: number
  readonly epoch: bigint | null
  readonly rest: number
}

/** Calls that are counted together; `reading` are those of them that do something before they ask for their answer. */
interface Batch {
  reading: number
}

interface Waiting {
  readonly organizationId: bigint
  readonly who: string
  readonly calls: number
  readonly answer: Deferred.Deferred<Counted, TooManyCalls | Unavailable>
  /** From the moment that it is being counted on. */
  batch?: Batch
  /** Whether its caller waits for the answer already. */
  isAwaited: boolean
}

/** Until everything that arrived together has been read: it is then counted together. */
const turnOfTheLoop = Effect.callback<void>((resume) => void setImmediate(() => resume(Effect.void)))

const tooMany = (seconds: number) =>
  new TooManyCalls({ message: `That was too often. Try again in ${seconds} seconds.`, retryAfter: seconds })

export class CallLimits extends Context.Service<
  CallLimits,
  {
    /** Begins to count a call (or none) of a person; what it gives waits for the answer, which may be a refusal. */
    readonly begin: (organizationId: bigint, anchorId: string, calls: 0 | 1) => Effect.Effect<Counting>
  }
>()("max/services/CallLimits") {
  static readonly layer = (allowance: Allowance) =>
    Layer.effect(
      CallLimits,
      Effect.gen(function* () {
        const { admission } = yield* Database
        const scope = yield* Effect.scope
        let waiting: Array<Waiting> = []
        let counting = false
        let urgent = false
        let last: Batch = { reading: 0 }

        /**
         * Whether the next count is due. As long as nobody waits for its answer, it can wait until those who were counted
         * last have read: so a count is of about as many calls as are read at the same time.
         */
        const isDue = () => waiting.length > 0 && (urgent || last.reading === 0)

        const count = Effect.fnUntraced(function* (calls: ReadonlyArray<Waiting>) {
          const groups = new Map<string, Array<Waiting>>()
          for (const call of calls) {
            const key = `${call.organizationId} ${call.who}`
            const group = groups.get(key)
            if (group === undefined) groups.set(key, [call])
            else group.push(call)
          }
          const asked = [...groups.values()]
          const rows = yield* orUnavailable(
            admission.unsafe<CountRow>(COUNT, [
              asked.map((group) => group[0]!.organizationId),
              asked.map((group) => group[0]!.who),
              asked.map((group) => group.reduce((sum, { calls }) => sum + calls, 0)),
              allowance.perPerson,
              allowance.perOrganization
            ])
          )
          const left = new Map<bigint, number>()
          for (const [index, group] of asked.entries()) {
            const { epoch, person, rest, whole } = rows[index]!
            const counted = Effect.succeed<Counted>({ epoch: epoch ?? undefined })
            let own = person
            for (const { answer, calls, organizationId } of group) {
              const shared = left.get(organizationId) ?? whole
              if (calls === 0) {
                Deferred.doneUnsafe(answer, counted)
              } else if (own > 0 && shared > 0) {
                own -= 1
                left.set(organizationId, shared - 1)
                Deferred.doneUnsafe(answer, counted)
              } else {
                Deferred.doneUnsafe(answer, Effect.fail(tooMany(rest)))
              }
            }
          }
        })

        /** Counts everybody who waits. It is for many requests: it is in the trace of none. */
        const countTogether = Effect.gen(function* () {
          yield* turnOfTheLoop
          const calls = waiting
          waiting = []
          urgent = false
          last = { reading: 0 }
          for (const call of calls) {
            call.batch = last
            if (!call.isAwaited) last.reading += 1
          }
          yield* Effect.catchCause(count(calls), () =>
            Effect.sync(() => {
              for (const { answer } of calls) Deferred.doneUnsafe(answer, Effect.fail(Unavailable.error))
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
          if (counting || !isDue()) return Effect.void
          counting = true
          return Effect.forkIn(countTogether, scope)
        })

        const answerOf = (call: Waiting): Counting =>
          Effect.suspend(() => {
            if (call.isAwaited) return Deferred.await(call.answer)
            call.isAwaited = true
            if (call.batch === undefined) urgent = true
            else call.batch.reading -= 1
            return Effect.andThen(proceed, Deferred.await(call.answer))
          })

        return CallLimits.of({
          begin: (organizationId, who, calls) =>
            Effect.suspend(() => {
              const call: Waiting = { organizationId, who, calls, answer: Deferred.makeUnsafe(), isAwaited: false }
              waiting.push(call)
              return Effect.as(proceed, answerOf(call))
            })
        })
      })
    )
}
