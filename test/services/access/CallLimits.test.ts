/** Which calls are counted by one statement: as many as can wait for it, and nobody who could go on. */
import { layer } from "@effect/vitest"
import { Context, Deferred, Effect, Fiber, Layer } from "effect"
import { expect } from "vitest"
import { Database } from "../../../src/database/Database.ts"
import { TooManyCalls } from "../../../src/domain/errors.ts"
import { CallLimits } from "../../../src/services/access/CallLimits.ts"
import { startProcess, Url } from "../../permissions/process.ts"
import { makeOrganization } from "../../support/atlas.ts"

/** Limits whose statements are told. */
const start = Effect.fnUntraced(function* (slug: string, perPerson = 1000) {
  const { run } = yield* startProcess()
  const { id } = yield* run(makeOrganization(slug))
  const scope = yield* Effect.scope
  const counts: Array<number> = []
  const told = Layer.effect(
    Database,
    Effect.map(Database, (database) => {
      const { admission } = database
      const unsafe = (text: string, parameters: ReadonlyArray<unknown>) => {
        counts.push((parameters[2] as ReadonlyArray<number>).reduce((sum, calls) => sum + calls, 0))
        return admission.unsafe(text, parameters)
      }
      return Database.of({ ...database, admission: Object.assign(Object.create(admission), { unsafe }) })
    })
  )
  const limits = CallLimits.layer({ perPerson, perOrganization: 1000 }).pipe(Layer.provide(told))
  const { begin } = Context.get(yield* run(Layer.buildWithScope(limits, scope)), CallLimits)
  const now = Effect.flatten(begin(id, "somebody", 1))
  /** A call that does something before it asks whether it was granted. */
  const reading = (use: Effect.Effect<unknown>) =>
    Effect.flatMap(begin(id, "somebody", 1), (counting) => Effect.andThen(use, counting))
  return { counts, now, reading }
})

layer(Url.layer, { excludeTestServices: true })("calls", (it) => {
  it.effect("that come while those counted before are reading are counted by one statement", () =>
    Effect.gen(function* () {
      const { counts, reading } = yield* start("together")
      const [first, others] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      const one = yield* Effect.forkChild(reading(Deferred.await(first)))
      while (counts.length === 0) yield* Effect.sleep(5)
      const more: Array<Fiber.Fiber<unknown, unknown>> = []
      for (let call = 0; call < 10; call++) {
        more.push(yield* Effect.forkChild(reading(Deferred.await(others))))
        yield* Effect.sleep(5)
      }
      expect(counts).toEqual([1])
      yield* Deferred.succeed(first, undefined)
      yield* Fiber.join(one)
      while (counts.length === 1) yield* Effect.sleep(5)
      expect(counts).toEqual([1, 10])
      yield* Deferred.succeed(others, undefined)
      yield* Effect.forEach(more, Fiber.join)
      expect(counts).toEqual([1, 10])
    })
  )

  it.effect("that have nothing to read are counted at once, and whoever waits with them", () =>
    Effect.gen(function* () {
      const { counts, now, reading } = yield* start("at-once")
      const slow = yield* Effect.forkChild(reading(Effect.never))
      while (counts.length === 0) yield* Effect.sleep(5)
      const waiting = yield* Effect.forkChild(reading(Effect.never))
      yield* Effect.sleep(20)
      yield* now
      expect(counts).toEqual([1, 2])
      yield* Fiber.interruptAll([slow, waiting])
    })
  )

  it.effect("that are broken off while they read hold up nobody", () =>
    Effect.gen(function* () {
      const { counts, reading } = yield* start("broken-off")
      const gone = yield* Effect.forkChild(reading(Effect.never))
      while (counts.length === 0) yield* Effect.sleep(5)
      yield* Fiber.interrupt(gone)
      for (let call = 0; call < 3; call++) yield* reading(Effect.void)
      expect(counts).toEqual([1, 1, 1, 1])
    })
  )

  it.effect("that are counted by one statement are granted as far as they fit", () =>
    Effect.gen(function* () {
      const rest = 60_000 - (Date.now() % 60_000)
      if (rest < 5000) yield* Effect.sleep(rest + 100)
      const { counts, now } = yield* start("fit", 3)
      const answers = yield* Effect.all(
        Array.from({ length: 8 }, () => Effect.result(now)),
        { concurrency: "unbounded" }
      )
      const refused = answers.filter(({ _tag }) => _tag === "Failure")
      expect(counts).toEqual([8])
      expect(refused.length).toBe(5)
      for (const answer of refused) expect(answer).toMatchObject({ failure: expect.any(TooManyCalls) })
    })
  )
})
