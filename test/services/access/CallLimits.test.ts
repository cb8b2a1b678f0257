/** Batching of counts: which calls share a statement, and when it is due. */
import { layer } from "@effect/vitest"
import { Context, Deferred, Effect, Fiber, Layer } from "effect"
import { expect } from "vitest"
import { Database } from "../../../src/database/Database.ts"
import { TooManyCalls } from "../../../src/domain/errors.ts"
import { CallLimits } from "../../../src/services/access/CallLimits.ts"
import { startProcess, Url } from "../../permissions/process.ts"
import { makeOrganization } from "../../support/atlas.ts"
import { inOneMinute } from "../../support/minute.ts"

/** Rate limits that record how many calls each statement counts. */
const start = Effect.fnUntraced(function* (slug: string, perPerson = 1000) {
  const { run } = yield* startProcess()
  const { id } = yield* run(makeOrganization(slug))
  const other = yield* run(makeOrganization(`${slug}-other`))
  const scope = yield* Effect.scope
  const counts: Array<number> = []
  const recording = Layer.effect(
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
  const limits = CallLimits.layer({ perPerson, perOrganization: 1000 }).pipe(Layer.provide(recording))
  const { begin } = Context.get(yield* run(Layer.buildWithScope(limits, scope)), CallLimits)
  const now = Effect.flatten(begin(id, "person", 1))
  /** A call that reads before it awaits its count. */
  const reading = (use: Effect.Effect<unknown>, organizationId = id) =>
    Effect.flatMap(begin(organizationId, "person", 1), (counting) => Effect.andThen(use, counting))
  return { counts, now, other: other.id, reading }
})

const counted = (counts: ReadonlyArray<number>, statements: number) =>
  Effect.gen(function* () {
    while (counts.length < statements) yield* Effect.sleep(5)
  }).pipe(Effect.timeout("2 minutes"))

layer(Url.layer, { excludeTestServices: true })("rate-limited calls", (it) => {
  it.effect("that arrive while the previous batch is reading share one statement", () =>
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

  it.effect("of an organization aren't delayed while calls of another one are reading", () =>
    Effect.gen(function* () {
      const { counts, other, reading } = yield* start("beside")
      const slow = yield* Effect.forkChild(reading(Effect.never))
      while (counts.length === 0) yield* Effect.sleep(5)
      const [first, second] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      const calls = [yield* Effect.forkChild(reading(Deferred.await(first), other))]
      yield* counted(counts, 2)
      // The next one of the same organization waits until the first has finished reading, and no longer.
      calls.push(yield* Effect.forkChild(reading(Deferred.await(second), other)))
      yield* Effect.sleep(20)
      expect(counts).toEqual([1, 1])
      yield* Deferred.succeed(first, undefined)
      yield* counted(counts, 3)
      expect(counts).toEqual([1, 1, 1])
      yield* Deferred.succeed(second, undefined)
      yield* Effect.forEach(calls, Fiber.join)
      yield* Fiber.interrupt(slow)
    })
  )

  it.effect("that have nothing to read are counted immediately, together with the waiting ones", () =>
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

  it.effect("that are interrupted while reading don't delay later ones", () =>
    Effect.gen(function* () {
      const { counts, reading } = yield* start("broken-off")
      const gone = yield* Effect.forkChild(reading(Effect.never))
      while (counts.length === 0) yield* Effect.sleep(5)
      yield* Fiber.interrupt(gone)
      for (let call = 0; call < 3; call++) yield* reading(Effect.void)
      expect(counts).toEqual([1, 1, 1, 1])
    })
  )

  it.effect("in one statement are granted up to the limit", () =>
    inOneMinute(
      Effect.fnUntraced(function* (suffix) {
        const { counts, now } = yield* start(`fit${suffix}`, 3)
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
  )
})
