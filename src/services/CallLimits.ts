/**
 * How often a person and an organization may call in a minute, exact across processes: the database counts, in one
 * statement. Calls that arrive while a statement is on its way are counted together by the next one, so that a busy
 * process pays for far fewer statements than calls. The same statement says which epoch is in force, which is what
 * everything that was remembered of a caller is held against.
 */
import { Context, Deferred, Effect, Layer } from "effect"
import { Database } from "../database/Database.ts"
import { orUnavailable } from "../database/read.ts"
import { TooManyCalls, Unavailable } from "../domain/errors.ts"

/** Calls a minute. */
export interface Allowance {
  readonly perPerson: number
  readonly perOrganization: number
}

export interface Counted {
  /** The organization's epoch at the moment of counting; undefined when there is no such organization. */
  readonly epoch: bigint | undefined
}

/** Whom the calls of a whole organization are counted under: no entity id is empty. */
const EVERYBODY = ""

/**
 * Grants as many of the asked calls as fit, first by person, then by organization: what a person was refused doesn't
 * count against the colleagues. `granted` is kept in the row because RETURNING can't see what was there before.
 */
const counting = (from: string, limit: string) => `
  INSERT INTO max.calls AS c (organization_id, who, minute, calls, granted)
  SELECT a.organization_id, a.who, now.minute, least(a.asked, ${limit}), least(a.asked, ${limit}) FROM ${from} a, now
  WHERE a.asked > 0
  ON CONFLICT (organization_id, who) DO UPDATE SET minute = greatest(c.minute, excluded.minute),
    calls = CASE WHEN c.minute < excluded.minute THEN excluded.calls ELSE least(c.calls + excluded.calls, ${limit}) END,
    granted = CASE WHEN c.minute < excluded.minute THEN excluded.calls ELSE least(excluded.calls, ${limit} - c.calls) END
  WHERE c.minute < excluded.minute OR c.calls < ${limit}
  RETURNING organization_id, who, granted`

// Rows are taken in one order, so that two processes never wait for each other.
const COUNT = `/* max count */ WITH
  now AS MATERIALIZED (SELECT floor(extract(epoch FROM clock_timestamp()) / 60)::bigint AS minute),
  asked AS MATERIALIZED (SELECT a.* FROM unnest($1::text[]::bigint[], $2::text[], $3::int[]) AS a(organization_id, who, asked)
    ORDER BY organization_id, who),
  people AS (${counting("asked", "$4::int")}),
  whole AS (SELECT organization_id, '${EVERYBODY}' AS who, sum(granted)::int AS asked FROM people GROUP BY 1 ORDER BY 1),
  organizations AS (${counting("whole", "$5::int")})
  SELECT a.organization_id::text AS organization, a.who, coalesce(p.granted, 0) AS person, coalesce(w.granted, 0) AS whole,
    o.epoch, 60 - (extract(epoch FROM clock_timestamp())::int % 60) AS rest
  FROM asked a LEFT JOIN people p ON p.organization_id = a.organization_id AND p.who = a.who
  LEFT JOIN organizations w ON w.organization_id = a.organization_id
  LEFT JOIN max.organizations o ON o.organization_id = a.organization_id ORDER BY a.organization_id, a.who`

interface CountRow {
  readonly organization: string
  readonly who: string
  readonly person: number
  readonly whole: number
  readonly epoch: bigint | null
  readonly rest: number
}

interface Waiting {
  readonly organizationId: bigint
  readonly who: string
  readonly calls: number
  readonly answer: Deferred.Deferred<Counted, TooManyCalls | Unavailable>
}

/** Until everything that arrived together has been read: it is then counted together. */
const turnOfTheLoop = Effect.callback<void>((resume) => void setImmediate(() => resume(Effect.void)))

const tooMany = (seconds: number) =>
  new TooManyCalls({ message: `That was too often. Try again in ${seconds} seconds.`, retryAfter: seconds })

export class CallLimits extends Context.Service<
  CallLimits,
  {
    /** Counts a call (or none) of a person, or refuses it, and says which epoch is in force. */
    readonly take: (
      organizationId: bigint,
      anchorId: string,
      calls: 0 | 1
    ) => Effect.Effect<Counted, TooManyCalls | Unavailable>
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
              asked.map((group) => String(group[0]!.organizationId)),
              asked.map((group) => group[0]!.who),
              asked.map((group) => group.reduce((sum, { calls }) => sum + calls, 0)),
              allowance.perPerson,
              allowance.perOrganization
            ])
          )
          const left = new Map<string, number>()
          for (const row of rows) left.set(row.organization, row.whole)
          for (const row of rows) {
            const counted: Counted = { epoch: row.epoch ?? undefined }
            let person = row.person
            for (const { answer, calls } of groups.get(`${row.organization} ${row.who}`)!) {
              const whole = left.get(row.organization)!
              if (calls === 0) {
                Deferred.doneUnsafe(answer, Effect.succeed(counted))
              } else if (person > 0 && whole > 0) {
                person -= 1
                left.set(row.organization, whole - 1)
                Deferred.doneUnsafe(answer, Effect.succeed(counted))
              } else {
                Deferred.doneUnsafe(answer, Effect.fail(tooMany(row.rest)))
              }
            }
          }
        })

        const drain = Effect.gen(function* () {
          yield* turnOfTheLoop
          while (waiting.length > 0) {
            const calls = waiting
            waiting = []
            yield* count(calls).pipe(
              Effect.catchCause(() =>
                Effect.sync(() => {
                  for (const { answer } of calls) Deferred.doneUnsafe(answer, Effect.fail(Unavailable.error))
                })
              )
            )
          }
        }).pipe(
          // It counts for many requests: it is in the trace of none.
          Effect.withTracerEnabled(false),
          Effect.ensuring(Effect.sync(() => void (counting = false)))
        )

        return CallLimits.of({
          take: (organizationId, who, calls) =>
            Effect.suspend(() => {
              const answer = Deferred.makeUnsafe<Counted, TooManyCalls | Unavailable>()
              waiting.push({ organizationId, who, calls, answer })
              if (counting) return Deferred.await(answer)
              counting = true
              return Effect.andThen(Effect.forkIn(drain, scope), Deferred.await(answer))
            })
        })
      })
    )
}
