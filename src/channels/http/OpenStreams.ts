/**
 * Ends streams with the access that opened them. While streams are open, one statement twice a second reads the epochs of all
 * their organizations: a suspended membership, a revoked credential and a new policy raise it.
 */
import { Context, Effect, Layer, Schedule } from "effect"
import { Database } from "../../database/Database.ts"

/** What a stream was opened with. */
interface Access {
  readonly organizationId: bigint
  /** Undefined if only the time ends it. */
  readonly epoch?: bigint
  /** When its credential or basis expires, in milliseconds since 1970. */
  readonly expiresAt: number
}

interface Watched extends Access {
  readonly end: () => void
}

const POLL = Schedule.spaced("500 millis")

export class OpenStreams extends Context.Service<
  OpenStreams,
  {
    /** Calls `end` once when the access has ended; returns how to stop watching. */
    readonly watch: (access: Access, end: () => void) => () => void
    /** Completes when the access has ended. */
    readonly ended: (access: Access) => Effect.Effect<void>
  }
>()("max/channels/http/OpenStreams") {
  static readonly layer = Layer.effect(
    OpenStreams,
    Effect.gen(function* () {
      const { admission } = yield* Database
      const open = new Set<Watched>()

      const end = (hasEnded: (one: Watched) => boolean) => {
        for (const one of open) if (hasEnded(one) && open.delete(one)) one.end()
      }

      const poll = Effect.gen(function* () {
        end(({ expiresAt }) => expiresAt <= Date.now())
        const watched = [...open].filter(({ epoch }) => epoch !== undefined)
        if (watched.length === 0) return
        const ids = [...new Set(watched.map(({ organizationId }) => String(organizationId)))]
        const rows = yield* admission<{ organization_id: bigint; epoch: bigint }>`/* max open streams */
          SELECT organization_id, epoch FROM max.organizations WHERE organization_id = ANY(${ids}::bigint[])`
        const epochs = new Map(rows.map(({ epoch, organization_id }) => [organization_id, epoch]))
        const read = new Set(watched)
        end((one) => read.has(one) && epochs.get(one.organizationId) !== one.epoch)
      })

      // Without an answer of the database streams stay open until the next poll: their lookups can't read anything either.
      yield* Effect.ignore(poll).pipe(Effect.withTracerEnabled(false), Effect.schedule(POLL), Effect.forkScoped)

      const watch = (access: Access, end: () => void) => {
        const one = { ...access, end }
        open.add(one)
        return () => void open.delete(one)
      }

      return OpenStreams.of({
        watch,
        ended: (access) =>
          Effect.callback((resume) => {
            const unwatch = watch(access, () => resume(Effect.void))
            return Effect.sync(unwatch)
          })
      })
    })
  )
}
