/** What is remembered of a credential, and what is done while its call is being counted. */
import { layer } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { expect } from "vitest"
import { NotAuthenticated, TooManyCalls } from "../../../src/domain/errors.ts"
import { Admission } from "../../../src/services/access/Admission.ts"
import { CallLimits } from "../../../src/services/access/CallLimits.ts"
import { Credentials } from "../../../src/services/access/Credentials.ts"
import { type Before, startProcess, Url } from "../../permissions/process.ts"
import { makeOrganization } from "../../support/atlas.ts"
import { memberWithToken } from "../../support/members.ts"

const NEED = { scope: "tools", calls: 1, reads: true } as const

/** A process with a member's token, and the admission that it is shown to. */
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
  let done = 0
  const ask = admission.admitted({ by: "bearer", secret: token }, NEED, () => Effect.sync(() => ++done))
  return { ask, revoke, done: () => done }
})

layer(Url.layer, { excludeTestServices: true })("a credential", (it) => {
  it.effect("that ends while it is looked up isn't remembered as one that is in force", () =>
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

  it.effect("that has ended gets nothing of what was read for it meanwhile", () =>
    Effect.gen(function* () {
      const { ask, done, revoke } = yield* start("ahead", 100)
      expect(yield* ask).toBe(1)
      expect(yield* ask).toBe(2)
      yield* revoke
      expect(yield* Effect.flip(ask)).toEqual(NotAuthenticated.error)
      // It had been read, and then the count said that the credential has ended.
      expect(done()).toBe(3)
      expect(yield* Effect.flip(ask)).toEqual(NotAuthenticated.error)
      expect(done()).toBe(3)
    })
  )

  it.effect("that called too often has nothing more read for it", () =>
    Effect.gen(function* () {
      const { ask, done } = yield* start("often", 2)
      const rest = 60_000 - (Date.now() % 60_000)
      if (rest < 5000) yield* Effect.sleep(rest + 100)
      expect([yield* ask, yield* ask]).toEqual([1, 2])
      expect(yield* Effect.flip(ask)).toBeInstanceOf(TooManyCalls)
      const read = done()
      for (let round = 0; round < 3; round++) expect(yield* Effect.flip(ask)).toBeInstanceOf(TooManyCalls)
      expect(done()).toBe(read)
    })
  )
})
