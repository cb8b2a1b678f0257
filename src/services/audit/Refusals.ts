/**
 * Reads that were refused, on their way to the audit log. A refusal costs its caller what an answer costs: it is counted
 * in memory, and the counts are written in the background. What is kept is bounded, however many are refused.
 */
import { Context, Effect, Layer, Schedule } from "effect"
import { appendAudit, type AuditEvent } from "../../database/audit.ts"
import { Database } from "../../database/Database.ts"
import { orUnavailable } from "../../database/execute.ts"

export interface Refusal {
  readonly organizationId: bigint
  /** The entity id of the person, or `nobody` who was let in. */
  readonly actor: string
  readonly action: "admission.refused" | "read.refused"
  /** From the catalog, never a caller's words: a type, `type.column`, or `unknown`. */
  readonly subject: string
}

interface Counted extends Refusal {
  count: number
  first: number
  last: number
}

/** Beyond this many different refusals at once an organization's are counted together. */
const MAX_COUNTED = 1000
const EVERY = "5 seconds"

export class Refusals extends Context.Service<
  Refusals,
  {
    readonly record: (refusal: Refusal) => void
    /** Writes what was counted so far; what couldn't be written is kept. */
    readonly flush: Effect.Effect<void>
  }
>()("max/services/Refusals") {
  static readonly layer = Layer.effect(
    Refusals,
    Effect.gen(function* () {
      const { app } = yield* Database
      let counted = new Map<string, Counted>()

      const count = (refusal: Refusal, times: number, first: number, last: number) => {
        const { action, actor, organizationId, subject } = refusal
        const key = JSON.stringify([String(organizationId), actor, action, subject])
        const known = counted.get(key)
        if (known !== undefined) {
          known.count += times
          known.first = Math.min(known.first, first)
          known.last = Math.max(known.last, last)
        } else if (counted.size < MAX_COUNTED || actor === MANY.actor) {
          counted.set(key, { ...refusal, count: times, first, last })
        } else {
          count({ ...refusal, ...MANY }, times, first, last)
        }
      }

      const flush = Effect.gen(function* () {
        const writing = [...counted.values()]
        counted = new Map()
        for (const [organizationId, refusals] of byOrganization(writing)) {
          yield* orUnavailable(
            app.withTransaction(appendAudit(app, organizationId, "reads", refusals.map(event)))
          ).pipe(
            Effect.catch(() =>
              Effect.sync(() => refusals.forEach((kept) => count(kept, kept.count, kept.first, kept.last)))
            )
          )
        }
      })

      yield* Effect.addFinalizer(() => Effect.ignore(Effect.timeout(flush, "2 seconds")))
      yield* Effect.forkScoped(Effect.repeat(flush, Schedule.spaced(EVERY)))
      return Refusals.of({
        flush,
        record: (refusal) => {
          const now = Date.now()
          count({ ...refusal, actor: refusal.actor || "nobody" }, 1, now, now)
        }
      })
    })
  )
}

/** What further refusals of an organization are counted as. */
const MANY = { actor: "several", subject: "several" } as const

const byOrganization = (refusals: ReadonlyArray<Counted>): ReadonlyMap<bigint, ReadonlyArray<Counted>> => {
  const found = new Map<bigint, Array<Counted>>()
  for (const refusal of refusals) {
    const own = found.get(refusal.organizationId)
    if (own === undefined) found.set(refusal.organizationId, [refusal])
    else own.push(refusal)
  }
  return found
}

const event = ({ action, actor, count, first, last, subject }: Counted): AuditEvent => ({
  actor,
  action,
  subject,
  details: { count, first: new Date(first).toISOString(), last: new Date(last).toISOString() }
})
