import { layer } from "@effect/vitest"
import { Effect, Fiber, Layer } from "effect"
import { expect } from "vitest"
import { Database } from "../../src/database/Database.ts"
import { orUnavailable } from "../../src/database/execute.ts"
import { Unavailable } from "../../src/domain/errors.ts"
import { Env } from "../../src/env.ts"
import { ConfiguredDatabase, Services } from "../../src/layers.ts"
import { addPeople, asMember, makeOrganization } from "../support/atlas.ts"
import { envFor, migratedDatabase } from "../support/database.ts"

const timeouts = { lookupTimeout: 500, searchTimeout: 20_000 }

const ShortLookups = Services.pipe(
  Layer.provideMerge(
    Layer.unwrap(
      Effect.map(migratedDatabase, (url) =>
        ConfiguredDatabase.pipe(
          Layer.provideMerge(
            Layer.effect(
              Env,
              Effect.map(Env, (env) => Env.of({ ...env, ...timeouts }))
            ).pipe(Layer.provide(envFor(url)))
          )
        )
      )
    )
  ),
  Layer.orDie
)

layer(ShortLookups, { excludeTestServices: true })("the lookup and search pools", (it) => {
  it.effect("run a lookup without delay during a slow search", () =>
    Effect.gen(function* () {
      const organization = yield* makeOrganization("pools")
      yield* addPeople(organization, [{ name: "Ada Lovelace", email: "ada@example.com" }])
      const admin = yield* asMember(organization, "admin@example.com", "admin")
      const { search } = yield* Database
      const slow = yield* Effect.forkChild(search`SELECT pg_sleep(5)`)
      yield* Effect.sleep(200)
      const started = performance.now()
      for (let round = 0; round < 20; round++) {
        const page = yield* admin.find({ filters: [{ columnId: "email", op: "eq", value: "ada@example.com" }] })
        expect(page.total).toBe(1)
      }
      expect(performance.now() - started).toBeLessThan(3000)
      yield* Fiber.interrupt(slow)
    })
  )

  it.effect("cancel an abandoned search on the server", () =>
    Effect.gen(function* () {
      const { owner, search } = yield* Database
      const abandoned = yield* Effect.forkChild(search`/* abandoned */ SELECT pg_sleep(15)`)
      const running = Effect.map(
        owner<{
          n: number
        }>`SELECT count(*)::int AS n FROM pg_stat_activity WHERE state = 'active' AND query LIKE '/* abandoned%'`,
        ([row]) => row!.n
      )
      yield* Effect.sleep(300)
      expect(yield* running).toBe(1)
      yield* Fiber.interrupt(abandoned)
      yield* Effect.sleep(300)
      expect(yield* running).toBe(0)
    })
  )

  it.effect("answer a statement timeout with Unavailable, never with an empty page", () =>
    Effect.gen(function* () {
      const { lookup } = yield* Database
      const failure = yield* Effect.flip(orUnavailable(lookup.unsafe("SELECT pg_sleep(3)")))
      expect(failure).toBeInstanceOf(Unavailable)
      // The connection remains usable.
      expect(yield* orUnavailable(lookup.unsafe("SELECT 1 AS one"))).toEqual([{ one: 1 }])
    })
  )
})
