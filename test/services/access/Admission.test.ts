/** The cache of admitted credentials, and speculative reads while a call is being counted. */
import { layer } from "@effect/vitest"
import { Context, Effect, Layer, Schedule } from "effect"
import { expect } from "vitest"
import { Database } from "../../../src/database/Database.ts"
import { NotAuthenticated, TooManyCalls } from "../../../src/domain/errors.ts"
import { Admission } from "../../../src/services/access/Admission.ts"
import { CallLimits } from "../../../src/services/access/CallLimits.ts"
import { Credentials } from "../../../src/services/access/Credentials.ts"
import { type Before, startProcess, Url } from "../../permissions/process.ts"
import { makeOrganization } from "../../support/atlas.ts"
import { memberWithToken } from "../../support/members.ts"
import { inOneMinute } from "../../support/minute.ts"

const NEED = { scope: "tools", calls: 1, reads: true } as const

/** A process with a member's token; `ask` is a request with it, and `done` the number of reads that ran. */
const start = Effect.fnUntraced(function* (slug: string, perPerson: number, before?: Before) {
  const { run } = yield* startProcess(before)
  const organization = yield* run(makeOrganization(slug))
  const { id, token } = yield* run(memberWithToken(organization, `lena@${slug}.com`, ["admin"]))
  const limits = CallLimits.layer({ perPerson, perOrganization: 1000 })
  const scope = yield* Effect.scope
  const admission = Context.get(
    yield* run(Layer.buildWithScope(Admission.layer.pipe(Layer.provide(limits)), scope)),
    Admission
  )
  const revoke = run(Effect.flatMap(Credentials, (credentials) => credentials.revokeToken(organization, id)))
  const expireIn = (interval: string) =>
    run(
      Effect.flatMap(
        Database,
        ({ owner }) =>
          owner`UPDATE max.credentials SET expires_at = now() + ${interval}::text::interval WHERE credential_id = ${id}`
      )
    )
  let done = 0
  const ask = admission.admitted({ by: "bearer", secret: token }, NEED, () => Effect.sync(() => ++done))
  return { ask, revoke, expireIn, done: () => done }
})

layer(Url.layer, { excludeTestServices: true })("a credential", (it) => {
  it.effect("that is revoked during its authentication isn't cached as valid", () =>
    Effect.gen(function* () {
      let meanwhile: Effect.Effect<unknown, unknown> = Effect.void
      // Between the statement that finds the token and the one that finds the membership.
      const { ask, done, revoke } = yield* start("ending", 100, (text) =>
        Effect.suspend(() => {
          if (!text.startsWith("/* max state */")) return Effect.void
          const now = meanwhile
          meanwhile = Effect.void
          return now
        })
      )
      meanwhile = revoke
      expect(yield* Effect.flip(ask)).toEqual(NotAuthenticated.error)
      expect(yield* Effect.flip(ask)).toEqual(NotAuthenticated.error)
      expect(done()).toBe(0)
    })
  )

  it.effect("that is revoked doesn't get the result of its speculative read", () =>
    Effect.gen(function* () {
      const { ask, done, revoke } = yield* start("ahead", 100)
      expect(yield* ask).toBe(1)
      expect(yield* ask).toBe(2)
      yield* revoke
      expect(yield* Effect.flip(ask)).toEqual(NotAuthenticated.error)
      // The read ran before the count returned a newer epoch.
      expect(done()).toBe(3)
      expect(yield* Effect.flip(ask)).toEqual(NotAuthenticated.error)
      expect(done()).toBe(3)
    })
  )

  /** Shifts the clock of this process until the test ends. */
  const shiftClock = (milliseconds: number) => {
    const now = Date.now
    return Effect.acquireRelease(
      Effect.sync(() => void (Date.now = () => now() + milliseconds)),
      () => Effect.sync(() => void (Date.now = now))
    )
  }

  it.effect("expires by the database's clock, even if the clock of the process is an hour behind", () =>
    Effect.gen(function* () {
      yield* shiftClock(-3_600_000)
      const { ask, expireIn } = yield* start("clocks", 100)
      yield* expireIn("2 seconds")
      expect(yield* ask).toBe(1)
      const error = yield* Effect.flip(ask).pipe(Effect.retry({ schedule: Schedule.spaced("100 millis"), times: 100 }))
      expect(error).toEqual(NotAuthenticated.error)
    })
  )

  it.effect("is admitted until then, even if the clock of the process is two days ahead", () =>
    Effect.gen(function* () {
      const { ask, expireIn } = yield* start("clocks-ahead", 100)
      yield* expireIn("1 day")
      yield* shiftClock(2 * 86_400_000)
      expect([yield* ask, yield* ask]).toEqual([1, 2])
    })
  )

  it.effect("that has exceeded its rate limit gets no speculative read", () =>
    inOneMinute(
      Effect.fnUntraced(function* (suffix) {
        const { ask, done } = yield* start(`often${suffix}`, 2)
        expect([yield* ask, yield* ask]).toEqual([1, 2])
        expect(yield* Effect.flip(ask)).toBeInstanceOf(TooManyCalls)
        const read = done()
        for (let round = 0; round < 3; round++) expect(yield* Effect.flip(ask)).toBeInstanceOf(TooManyCalls)
        expect(done()).toBe(read)
      })
    )
  )
})
