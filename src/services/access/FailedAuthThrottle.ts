/**
 * How often an address may try credentials that aren't good: each one costs a look into the database, or a signature.
 * Whoever was let in before is remembered and isn't asked here, so that a stranger can't shut out who is there already.
 */
import { Context, Effect } from "effect"
import { type NotAuthenticated, TooManyCalls } from "../../domain/errors.ts"

/** Refused attempts of one address in a minute. */
export const REFUSED_A_MINUTE = 300
const MINUTE_MS = 60_000
/** Addresses that are remembered; of more than these the ones that began first are forgotten. */
const MAX_ADDRESSES = 10_000

export interface Guard {
  /** Tries a credential that isn't remembered, if its address hasn't had too many refused. */
  readonly attempt: <A, E, R>(
    find: Effect.Effect<A, E | NotAuthenticated, R>
  ) => Effect.Effect<A, E | NotAuthenticated | TooManyCalls, R>
}

/** Where credentials come from a program and not from an address, nothing is limited. */
export const Strangers = Context.Reference<Guard>("max/services/Strangers", {
  defaultValue: () => ({ attempt: (find) => find })
})

/** Counts by address, in this process. */
export const limitStrangers = (address: Effect.Effect<string>): Guard => {
  const refused = new Map<string, { readonly since: number; times: number }>()

  const attemptsOf = (from: string) => {
    const found = refused.get(from)
    if (found === undefined || found.since + MINUTE_MS > Date.now()) return found
    refused.delete(from)
    return undefined
  }

  const record = (from: string) => {
    const found = attemptsOf(from)
    if (found !== undefined) {
      found.times += 1
      return
    }
    if (refused.size >= MAX_ADDRESSES) refused.delete(refused.keys().next().value!)
    refused.set(from, { since: Date.now(), times: 1 })
  }

  return {
    attempt: Effect.fnUntraced(function* (find) {
      const from = yield* address
      const before = attemptsOf(from)
      if (before !== undefined && before.times >= REFUSED_A_MINUTE) {
        const retryAfter = Math.ceil((before.since + MINUTE_MS - Date.now()) / 1000)
        return yield* new TooManyCalls({
          message: `Too many credentials from your address weren't good. Try again in ${retryAfter} seconds.`,
          retryAfter
        })
      }
      return yield* Effect.tapError(find, (error) =>
        Effect.sync(() => {
          if ((error as { readonly _tag?: string })._tag === "NotAuthenticated") record(from)
        })
      )
    })
  }
}
