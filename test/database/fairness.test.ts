/** Lookups of one organization beside those of another that floods or slows the connections. */
import { layer } from "@effect/vitest"
import { Effect, Fiber, Layer } from "effect"
import { expect } from "vitest"
import { Database } from "../../src/database/Database.ts"
import { makeExecute } from "../../src/database/execute.ts"
import { MAX_WAITING } from "../../src/database/LookupQueue.ts"
import type { Statement } from "../../src/database/sql/ResolvedQuery.ts"
import { Unavailable } from "../../src/domain/errors.ts"
import { Env } from "../../src/env.ts"
import { ConfiguredDatabase } from "../../src/layers.ts"
import { envFor, migratedDatabase } from "../support/database.ts"

const [HOSTILE, QUIET] = [1n, 2n]
const SLOW_SECONDS = 3

const slow = (name: string): Statement => ({
  text: `/* ${name} */ SELECT pg_sleep($1::float8)`,
  parameters: [SLOW_SECONDS]
})
const quick: Statement = { text: "SELECT pg_backend_pid() AS pid", parameters: [] }

/** `beside`: the answer to a quick lookup, and how many of the slow ones that were sent before it were answered by then. */
const scenario = Effect.gen(function* () {
  const execute = makeExecute(yield* Database)
  const look = (organizationId: bigint) =>
    Effect.map(execute<{ readonly pid: number }>("lookup", organizationId, quick), ([row]) => row!.pid)
  // Opens both connections.
  yield* Effect.all([1n, 2n, 3n, 4n].map(look), { concurrency: "unbounded" })
  const beside = Effect.fnUntraced(function* (hostile: ReadonlyArray<Statement>) {
    let answered = 0
    const flood = yield* Effect.forEach(hostile, (statement) =>
      Effect.forkChild(
        Effect.tap(execute("lookup", HOSTILE, statement), () => Effect.sync(() => (answered += 1))),
        { startImmediately: true }
      )
    )
    yield* Effect.sleep(100)
    const pid = yield* look(QUIET)
    const before = answered
    yield* Fiber.interruptAll(flood)
    return { pid, before }
  })
  return { execute, look, beside }
})

const named = (count: number) => Array.from({ length: count }, (_, index) => slow(`slow ${index}`))

const withTimeout = (lookupTimeout: number) =>
  Layer.unwrap(
    Effect.map(migratedDatabase, (url) =>
      ConfiguredDatabase.pipe(
        Layer.provideMerge(
          Layer.effect(
            Env,
            Effect.map(Env, (env) => Env.of({ ...env, lookupTimeout }))
          ).pipe(Layer.provide(envFor(url)))
        )
      )
    )
  ).pipe(Layer.orDie)

layer(withTimeout(10_000), { excludeTestServices: true })("a lookup", (it) => {
  it.effect("doesn't wait for the many slow lookups of another organization", () =>
    Effect.gen(function* () {
      const { beside } = yield* scenario
      expect((yield* beside(named(40))).before).toBe(0)
    })
  )

  it.effect("doesn't wait for the few slow lookups of another organization", () =>
    Effect.gen(function* () {
      const { beside } = yield* scenario
      expect((yield* beside(named(2))).before).toBe(0)
    })
  )

  it.effect("is refused as Unavailable when too many of its organization wait, and another organization's is not", () =>
    Effect.gen(function* () {
      const { beside, execute } = yield* scenario
      const flood = yield* Effect.forEach(
        Array.from({ length: MAX_WAITING + 2 }, () => slow("flood")),
        (statement) => Effect.forkChild(execute("lookup", HOSTILE, statement), { startImmediately: true })
      )
      expect(yield* Effect.flip(execute("lookup", HOSTILE, quick))).toBe(Unavailable.error)
      expect((yield* beside([])).pid).toBeGreaterThan(0)
      yield* Fiber.interruptAll(flood)
    })
  )
})

layer(withTimeout(500), { excludeTestServices: true })("an organization whose lookup reached the timeout", (it) => {
  it.effect("uses the second connection, and leaves the first one to the others", () =>
    Effect.gen(function* () {
      const { execute, look } = yield* scenario
      expect(yield* look(HOSTILE)).toBe(yield* look(QUIET))
      expect(yield* Effect.flip(execute("lookup", HOSTILE, slow("late")))).toBe(Unavailable.error)
      expect(yield* look(HOSTILE)).not.toBe(yield* look(QUIET))
    })
  )
})
