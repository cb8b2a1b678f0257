/** A provider that only records texts in memory, for simulations, demos and tests. */
import { Effect } from "effect"
import { randomBytes } from "node:crypto"
import type { Addressed, SmsProvider } from "./Provider.ts"

export interface Loopback extends SmsProvider {
  readonly sent: ReadonlyArray<Addressed>
}

export const makeLoopback = (): Loopback => {
  const sent: Array<Addressed> = []
  return {
    name: "loopback",
    sent,
    verify: () => false,
    parse: () => undefined,
    status: () => undefined,
    find: () => Effect.succeed([]),
    send: (text) =>
      Effect.sync(() => {
        sent.push(text)
        return { _tag: "Accepted", providerId: `LB${randomBytes(16).toString("hex")}` }
      })
  }
}
