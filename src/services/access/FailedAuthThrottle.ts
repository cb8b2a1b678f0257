/**
 * Limits failed authentication per client address: each attempt costs a database read or a signature check. Callers whose
 * credential is cached by `Admission` skip it, so an attacker behind a shared address can't lock out active callers.
 */
import { Context, Effect } from "effect"
import { type NotAuthenticated, TooManyCalls } from "../../domain/errors.ts"

/** Failed attempts of one address per minute. */
export const FAILURES_PER_MINUTE = 300
const MINUTE_MS = 60_000
/** Addresses counted at a time; above this the oldest count is dropped. */
const MAX_ADDRESSES = 10_000

export interface Throttle {
  /** Runs the authentication of an uncached credential, unless its address has reached the limit. */
  readonly attempt: <A, E, R>(
    authenticate: Effect.Effect<A, E | NotAuthenticated, R>
  ) => Effect.Effect<A, E | NotAuthenticated | TooManyCalls, R>
}

/** The throttle; unlimited where credentials don't arrive from a network address. */
export const FailedAuthThrottle = Context.Reference<Throttle>("max/services/FailedAuthThrottle", {
  defaultValue: () => ({ attempt: (authenticate) => authenticate })
})

/** Counts failures by address, in this process. */
export const throttleByAddress = (address: Effect.Effect<string>): Throttle => {
  const failures = new Map<string, { readonly since: number; count: number }>()

  const currentFailures = (from: string) => {
    const current = failures.get(from)
    if (current === undefined || current.since + MINUTE_MS > Date.now()) return current
    failures.delete(from)
    return undefined
  }

  const record = (from: string) => {
    const current = currentFailures(from)
    if (current !== undefined) {
      current.count += 1
      return
    }
    if (failures.size >= MAX_ADDRESSES) failures.delete(failures.keys().next().value!)
    failures.set(from, { since: Date.now(), count: 1 })
  }

  return {
    attempt: Effect.fnUntraced(function* (authenticate) {
      const from = yield* address
      const current = currentFailures(from)
      if (current !== undefined && current.count >= FAILURES_PER_MINUTE) {
        const retryAfter = Math.ceil((current.since + MINUTE_MS - Date.now()) / 1000)
        return yield* new TooManyCalls({
          message: `Too many invalid credentials from your address. Try again in ${retryAfter} seconds.`,
          retryAfter
        })
      }
      return yield* Effect.tapError(authenticate, (error) =>
        Effect.sync(() => {
          if ((error as { readonly _tag?: string })._tag === "NotAuthenticated") record(from)
        })
      )
    })
  }
}
