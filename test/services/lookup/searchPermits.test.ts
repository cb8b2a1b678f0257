import { it } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { describe, expect } from "vitest"
import { Neighbours } from "../../../src/database/Neighbours.ts"
import { Unavailable } from "../../../src/domain/errors.ts"
import { makeSearchPermits } from "../../../src/services/lookup/searchPermits.ts"

const [ATLAS, BOREALIS] = [1n, 2n]

/** Searches that run until `end`, and the number of running ones. */
const searchingBeside = (beside: () => boolean) =>
  Effect.gen(function* () {
    const neighbours = Object.assign(new Neighbours(), { beside })
    const withPermit = makeSearchPermits(8, neighbours)
    const end = yield* Deferred.make<void>()
    const running = { now: 0 }
    const search = Effect.acquireUseRelease(
      Effect.sync(() => (running.now += 1)),
      () => Deferred.await(end),
      () => Effect.sync(() => (running.now -= 1))
    )
    const begin = (organization: bigint) => Effect.forkChild(withPermit(organization, search))
    const settle = Effect.repeat(Effect.yieldNow, { times: 20 })
    return { begin, end, neighbours, withPermit, running, settle }
  })

const searching = searchingBeside(() => false)

describe("search permits", () => {
  it.effect("limit an organization to a quarter of the connections, independently of other organizations", () =>
    Effect.gen(function* () {
      const { begin, end, running, settle } = yield* searching
      const atlas = yield* Effect.forEach([1, 2, 3, 4, 5], () => begin(ATLAS))
      yield* settle
      expect(running.now).toBe(2)
      yield* begin(BOREALIS)
      yield* settle
      expect(running.now).toBe(3)
      yield* Deferred.succeed(end, undefined)
      yield* Fiber.awaitAll(atlas)
      expect(running.now).toBe(0)
    })
  )

  it.effect("limit an organization to an eighth while other organizations read", () =>
    Effect.gen(function* () {
      let beside = true
      const { begin, end, running, settle } = yield* searchingBeside(() => beside)
      const searches = yield* Effect.forEach([1, 2, 3], () => begin(ATLAS))
      yield* settle
      expect(running.now).toBe(1)
      beside = false
      const next = yield* begin(ATLAS)
      yield* settle
      expect(running.now).toBe(2)
      yield* Deferred.succeed(end, undefined)
      yield* Fiber.awaitAll([...searches, next])
      expect(running.now).toBe(0)
    })
  )

  it.effect("are released by interrupted searches, waiting or running", () =>
    Effect.gen(function* () {
      const { begin, neighbours, withPermit, running, settle } = yield* searching
      const [first, second, third] = yield* Effect.forEach([1, 2, 3], () => begin(ATLAS))
      yield* settle
      yield* Fiber.interrupt(third!)
      yield* Fiber.interrupt(first!)
      expect([running.now, neighbours.isSearching(ATLAS)]).toEqual([1, true])
      yield* Fiber.interrupt(second!)
      expect([running.now, neighbours.isSearching(ATLAS)]).toEqual([0, false])
      expect(yield* withPermit(ATLAS, Effect.succeed("found"))).toBe("found")
    })
  )

  it.effect("time out as Unavailable, and are released by a failed search", () =>
    Effect.gen(function* () {
      const { begin, neighbours, withPermit, settle } = yield* searching
      expect(yield* Effect.flip(withPermit(ATLAS, Effect.fail("broken")))).toBe("broken")
      expect(neighbours.isSearching(ATLAS)).toBe(false)
      yield* begin(ATLAS)
      yield* begin(ATLAS)
      const late = yield* begin(ATLAS)
      yield* settle
      yield* TestClock.adjust("9 seconds")
      expect(yield* Effect.flip(Fiber.join(late))).toBeInstanceOf(Unavailable)
    })
  )
})
