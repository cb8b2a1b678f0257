/**
 * Buffers refused reads for the audit log. Refusals are counted in memory and flushed in the background, so that a
 * refusal takes as long as an answer. The buffer is bounded.
 */
import { Context, Effect, Layer, Schedule } from "effect"
import { appendAudit, type AuditEvent, UNIDENTIFIED } from "../../database/audit.ts"
import { Database } from "../../database/Database.ts"
import { orUnavailable } from "../../database/execute.ts"

export interface Refusal {
  readonly organizationId: bigint
  /** The person's entity id, or `UNIDENTIFIED`. */
  readonly actor: string
  readonly action: "admission.refused" | "read.refused"
  /** From the catalog, never the caller's input: a type, `type.column`, or `unknown`. */
  readonly subject: string
}

interface Counted extends Refusal {
  count: number
  first: number
  last: number
}

/** Above this many distinct refusals, further ones of an organization share one count. */
const MAX_BUFFERED = 1000
const FLUSH_INTERVAL = "5 seconds"

export class Refusals extends Context.Service<
  Refusals,
  {
    readonly record: (refusal: Refusal) => void
    /** Writes the buffered counts; counts that can't be written stay buffered. */
    readonly flush: Effect.Effect<void>
  }
>()("max/services/Refusals") {
  static readonly layer = Layer.effect(
    Refusals,
    Effect.gen(function* () {
      const { app } = yield* Database
      let buffer = new Map<string, Counted>()

      const count = (refusal: Refusal, times: number, first: number, last: number) => {
        const { action, actor, organizationId, subject } = refusal
        const key = JSON.stringify([String(organizationId), actor, action, subject])
        const counted = buffer.get(key)
        if (counted !== undefined) {
          counted.count += times
          counted.first = Math.min(counted.first, first)
          counted.last = Math.max(counted.last, last)
        } else if (buffer.size < MAX_BUFFERED || actor === OVERFLOW.actor) {
          buffer.set(key, { ...refusal, count: times, first, last })
        } else {
          count({ ...refusal, ...OVERFLOW }, times, first, last)
        }
      }

      const flush = Effect.gen(function* () {
        const flushed = [...buffer.values()]
        buffer = new Map()
        for (const [organizationId, refusals] of byOrganization(flushed)) {
          yield* orUnavailable(
            app.withTransaction(appendAudit(app, organizationId, "reads", refusals.map(event)))
          ).pipe(
            Effect.catch(() =>
              Effect.sync(() =>
                refusals.forEach((refusal) => count(refusal, refusal.count, refusal.first, refusal.last))
              )
            )
          )
        }
      })

      yield* Effect.addFinalizer(() => Effect.ignore(Effect.timeout(flush, "2 seconds")))
      yield* Effect.forkScoped(Effect.repeat(flush, Schedule.spaced(FLUSH_INTERVAL)))
      return Refusals.of({
        flush,
        record: (refusal) => {
          const now = Date.now()
          count({ ...refusal, actor: refusal.actor || UNIDENTIFIED }, 1, now, now)
        }
      })
    })
  )
}

/** The shared count of an organization when the buffer is full. */
const OVERFLOW = { actor: "several", subject: "several" } as const

const byOrganization = (refusals: ReadonlyArray<Counted>): ReadonlyMap<bigint, ReadonlyArray<Counted>> => {
  const groups = new Map<bigint, Array<Counted>>()
  for (const refusal of refusals) {
    const group = groups.get(refusal.organizationId)
    if (group === undefined) groups.set(refusal.organizationId, [refusal])
    else group.push(refusal)
  }
  return groups
}

const event = ({ action, actor, count, first, last, subject }: Counted): AuditEvent => ({
  actor,
  action,
  subject,
  details: { count, first: new Date(first).toISOString(), last: new Date(last).toISOString() }
})
