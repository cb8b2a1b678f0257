/** Lookups of one organization beside those of another that floods or slows the connections. */
import { layer } from "@effect/vitest"
import { Effect, Exit, Fiber, Layer } from "effect"
import { expect } from "vitest"
import { LookupTimedOut } from "../../src/database/batch.ts"
import { Database } from "../../src/database/Database.ts"
import { makeExecute } from "../../src/database/execute.ts"
import { MAX_WAITING } from "../../src/database/LookupQueue.ts"
import type { Statement } from "../../src/database/sql/ResolvedQuery.ts"
import { Unavailable } from "../../src/domain/errors.ts"
import { Env } from "../../src/env.ts"
import { ConfiguredDatabase } from "../../src/layers.ts"
import { OrgEntityStore } from "../../src/services/OrgEntityStore.ts"
import { systemCatalog } from "../support/catalog.ts"
import { envFor, migratedDatabase } from "../support/database.ts"

const [HOSTILE, ACCOMPLICE, QUIET] = [1n, 2n, 3n]
const SLOW_SECONDS = 3

const slow = (name: string): Statement => ({
  text: `/* ${name} */ SELECT pg_sleep($1::float8)`,
  parameters: [SLOW_SECONDS]
})
const quick: Statement = { text: "SELECT pg_backend_pid() AS pid", parameters: [] }

/** `beside`: how many slow lookups are answered before a quick one that is sent after them. */
const scenario = Effect.gen(function* () {
  const execute = makeExecute(yield* Database)
  const look = (organizationId: bigint) =>
    Effect.map(execute<{ readonly pid: number }>("lookup", organizationId, quick), ([row]) => row!.pid)
  // Opens both connections.
  yield* Effect.all([1n, 2n, 3n, 4n].map(look), { concurrency: "unbounded" })
  const beside = Effect.fnUntraced(function* (hostile: ReadonlyArray<readonly [bigint, Statement]>) {
    let answered = 0
    const flood = yield* Effect.forEach(hostile, ([organizationId, statement]) =>
      Effect.forkChild(
        Effect.tap(execute("lookup", organizationId, statement), () => Effect.sync(() => (answered += 1))),
        { startImmediately: true }
      )
    )
    yield* Effect.sleep(100)
    yield* look(QUIET)
    const before = answered
    yield* Fiber.interruptAll(flood)
    return before
  })
  return { execute, look, beside }
})

const named = (count: number, ...organizations: ReadonlyArray<bigint>) =>
  Array.from({ length: count }, (_, index) =>
    organizations.map((organizationId) => [organizationId, slow(`slow ${index}`)] as const)
  ).flat()

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

// Each has its own connections, because abandoned lookups run to their end.
layer(withTimeout(10_000), { excludeTestServices: true })("a lookup beside a flood", (it) => {
  it.effect("doesn't wait for the many slow lookups of other organizations", () =>
    Effect.gen(function* () {
      const { beside } = yield* scenario
      expect(yield* beside(named(40, HOSTILE, ACCOMPLICE))).toBe(0)
    })
  )
})

layer(withTimeout(10_000), { excludeTestServices: true })("a lookup beside slow ones", (it) => {
  it.effect("doesn't wait for the few slow lookups of another organization", () =>
    Effect.gen(function* () {
      const { beside } = yield* scenario
      expect(yield* beside(named(2, HOSTILE))).toBe(0)
    })
  )
})

layer(withTimeout(10_000), { excludeTestServices: true })("a lookup beyond the bound", (it) => {
  it.effect("is refused as Unavailable when too many of its organization wait, and another organization's is not", () =>
    Effect.gen(function* () {
      const { execute, look } = yield* scenario
      const flood = yield* Effect.forEach(
        Array.from({ length: MAX_WAITING + 10 }, () => slow("flood")),
        (statement) => Effect.forkChild(execute("lookup", HOSTILE, statement), { startImmediately: true })
      )
      const refused = yield* Effect.forkChild(execute("lookup", HOSTILE, quick), { startImmediately: true })
      // At once, while the others wait.
      expect(refused.pollUnsafe()).toEqual(Exit.fail(expect.any(Unavailable)))
      expect(yield* look(QUIET)).toBeGreaterThan(0)
      yield* Fiber.interruptAll(flood)
    })
  )
})

layer(withTimeout(500), { excludeTestServices: true })("an organization whose lookup reached the timeout", (it) => {
  it.effect("uses the second connection, and leaves the first one to the others", () =>
    Effect.gen(function* () {
      const { execute, look } = yield* scenario
      expect(yield* look(HOSTILE)).toBe(yield* look(QUIET))
      expect(yield* Effect.flip(execute("lookup", HOSTILE, slow("late")))).toBe(LookupTimedOut.error)
      expect(yield* look(HOSTILE)).not.toBe(yield* look(QUIET))
    })
  )
})

layer(withTimeout(100), { excludeTestServices: true })("a lookup that reaches the timeout of its connection", (it) => {
  it.effect("is answered by the search pool", () =>
    Effect.gen(function* () {
      const store = yield* OrgEntityStore
      const pool = "SELECT pg_sleep(0.5), current_setting('application_name') AS pool"
      expect(yield* store.rows({ text: pool, parameters: [] }, systemCatalog)).toMatchObject([{ pool: "max search" }])
      const quick = "SELECT current_setting('application_name') AS pool"
      expect(yield* store.rows({ text: quick, parameters: [] }, systemCatalog)).toEqual([{ pool: "max lookup" }])
    }).pipe(Effect.provide(OrgEntityStore.layer))
  )
})
