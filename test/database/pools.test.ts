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

const timeouts = { lookupTimeout: 1500, searchTimeout: 60_000 }

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

/** Waits until so many statements that begin with a comment run on the server; fails long before a search would end by itself. */
const runs = Effect.fnUntraced(function* (comment: string, count: number) {
  const { owner } = yield* Database
  const running = Effect.map(
    owner<{ n: number }>`SELECT count(*)::int AS n FROM pg_stat_activity
      WHERE datname = current_database() AND state = 'active' AND query LIKE ${`${comment}%`}::text`,
    ([row]) => row!.n
  )
  yield* Effect.gen(function* () {
    while ((yield* running) !== count) yield* Effect.sleep("20 millis")
  }).pipe(Effect.timeout("2 minutes"))
})

layer(ShortLookups, { excludeTestServices: true })("the lookup and search pools", (it) => {
  it.effect("run a lookup without delay during a slow search", () =>
    Effect.gen(function* () {
      const organization = yield* makeOrganization("pools")
      yield* addPeople(organization, [{ name: "Ada Lovelace", email: "ada@example.com" }])
      const admin = yield* asMember(organization, "admin@example.com", "admin")
      const { search } = yield* Database
      const slow = yield* Effect.forkChild(search`/* slow */ SELECT pg_sleep(50)`)
      yield* runs("/* slow */", 1)
      for (let round = 0; round < 20; round++) {
        const page = yield* admin.find({ filters: [{ columnId: "email", op: "eq", value: "ada@example.com" }] })
        expect(page.total).toBe(1)
      }
      // The search was still running, so no lookup waited for it.
      yield* runs("/* slow */", 1)
      yield* Fiber.interrupt(slow)
    })
  )

  it.effect("run a lookup without delay while all connections for figures add up", () =>
    Effect.gen(function* () {
      const organization = yield* makeOrganization("adding")
      yield* addPeople(organization, [{ name: "Ada Lovelace", email: "ada@example.com" }])
      const admin = yield* asMember(organization, "admin@adding.example", "admin")
      const { figures } = yield* Database
      const adding = yield* Effect.forkChild(
        Effect.all(
          Array.from({ length: 4 }, () => figures!`/* adding */ SELECT pg_sleep(3)`),
          { concurrency: "unbounded" }
        )
      )
      yield* runs("/* adding */", 2)
      for (let round = 0; round < 20; round++) {
        const page = yield* admin.find({ filters: [{ columnId: "email", op: "eq", value: "ada@example.com" }] })
        expect(page.total).toBe(1)
      }
      // The first two were still running, so no lookup waited for them.
      yield* runs("/* adding */", 2)
      expect(adding.pollUnsafe()).toBeUndefined()
      yield* Fiber.interrupt(adding)
    })
  )

  it.effect("cancel an abandoned search on the server", () =>
    Effect.gen(function* () {
      const { search } = yield* Database
      const abandoned = yield* Effect.forkChild(search`/* abandoned */ SELECT pg_sleep(50)`)
      yield* runs("/* abandoned */", 1)
      yield* Fiber.interrupt(abandoned)
      yield* runs("/* abandoned */", 0)
    })
  )

  it.effect("answer a statement timeout with Unavailable, never with an empty page", () =>
    Effect.gen(function* () {
      const { lookup } = yield* Database
      const failure = yield* Effect.flip(orUnavailable(lookup.unsafe("SELECT pg_sleep(30)")))
      expect(failure).toBeInstanceOf(Unavailable)
      // The connection remains usable.
      expect(yield* orUnavailable(lookup.unsafe("SELECT 1 AS one"))).toEqual([{ one: 1 }])
    })
  )
})
