/** Reads of other relations while a transaction holds an exclusive lock on one. */
import { layer } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, Layer } from "effect"
import { expect } from "vitest"
import { Database } from "../../src/database/Database.ts"
import { Unavailable } from "../../src/domain/errors.ts"
import { Env } from "../../src/env.ts"
import { ConfiguredDatabase, Services } from "../../src/layers.ts"
import { addPeople, asMember, makeOrganization } from "../support/atlas.ts"
import { envFor, migratedDatabase } from "../support/database.ts"

const SECONDS = 5
const ORGANIZATIONS = 5

/** The texts of the statements on the connections for lookups. */
const ran: Array<string> = []

const watched = Layer.effect(
  Database,
  Effect.map(Database, (database) => {
    const watch = (pool: typeof database.lookup): typeof pool => ({
      ...pool,
      unsafe: (text, parameters) => {
        ran.push(text)
        return pool.unsafe(text, parameters)
      }
    })
    return Database.of({ ...database, lookup: watch(database.lookup), busyLookup: watch(database.busyLookup) })
  })
)

const configuration = Layer.unwrap(
  Effect.map(migratedDatabase, (url) =>
    Layer.effect(
      Env,
      Effect.map(Env, (env) =>
        Env.of({ ...env, lookupTimeout: 1000 * SECONDS, searchTimeout: 1000 * SECONDS, searchConnections: 8 })
      )
    ).pipe(Layer.provide(envFor(url)))
  )
)

const Watched = Services.pipe(
  Layer.provideMerge(watched.pipe(Layer.provideMerge(ConfiguredDatabase.pipe(Layer.provideMerge(configuration))))),
  Layer.orDie
)

/** Members of several organizations, and reads of people and of companies as each of them. */
const people = (name: string) =>
  Effect.forEach(Array.from({ length: ORGANIZATIONS }), (_, index) =>
    Effect.gen(function* () {
      const organization = yield* makeOrganization(`${name}-${index}`)
      yield* addPeople(organization, [{ name: "Ada Lovelace", email: "ada@example.com" }])
      const { find } = yield* asMember(organization, "admin@example.com", "admin")
      return {
        lookUp: find({ filters: [{ columnId: "email", op: "eq", value: "ada@example.com" }] }),
        search: find({ filters: [{ columnId: "name", op: "ilike", value: "lovelace" }] }),
        lookUpCompany: find({
          entityTypeId: "companies",
          filters: [{ columnId: "name", op: "eq", value: "Analytical Engines" }]
        }),
        searchCompanies: find({
          entityTypeId: "companies",
          filters: [{ columnId: "name", op: "ilike", value: "engines" }]
        })
      }
    })
  )

/** Locks `data.people` until the returned effect ends the transaction. */
const lockPeople = Effect.gen(function* () {
  const { owner } = yield* Database
  const held = yield* Deferred.make<void>()
  const end = yield* Deferred.make<void>()
  const transaction = yield* Effect.forkChild(
    owner.withTransaction(
      owner`LOCK TABLE data.people IN ACCESS EXCLUSIVE MODE`.pipe(
        Effect.andThen(Deferred.succeed(held, undefined)),
        Effect.andThen(Deferred.await(end))
      )
    )
  )
  yield* Deferred.await(held)
  return Effect.andThen(Deferred.succeed(end, undefined), Fiber.join(transaction))
})

layer(Watched, { excludeTestServices: true })("while a relation is locked", (it) => {
  it.effect("reads of other relations are answered before the first read of it fails, and it recovers by itself", () =>
    Effect.gen(function* () {
      const organizations = yield* people("first")
      for (const { lookUp, lookUpCompany, search, searchCompanies } of organizations)
        yield* Effect.all([lookUp, search, lookUpCompany, searchCompanies])
      const unlock = yield* lockPeople
      let failed = 0
      const blocked = yield* Effect.forEach(
        organizations.flatMap(({ lookUp, search }) => [lookUp, search, search]),
        (read) =>
          Effect.forkChild(
            Effect.tapError(read, () => Effect.sync(() => (failed += 1))),
            { startImmediately: true }
          )
      )
      for (let round = 0; round < 2; round++)
        for (const { lookUpCompany, searchCompanies } of organizations)
          yield* Effect.all([lookUpCompany, searchCompanies], { concurrency: "unbounded" })
      expect(failed).toBe(0)
      for (const exit of yield* Fiber.awaitAll(blocked)) expect(exit).toEqual(Exit.fail(expect.any(Unavailable)))
      const later = yield* Effect.forkChild(organizations[0]!.lookUp, { startImmediately: true })
      yield* unlock
      expect((yield* Fiber.join(later)).total).toBe(1)
    })
  )

  it.effect("reads of it wait without a connection until a probe has found it free", () =>
    Effect.gen(function* () {
      const organizations = yield* people("second")
      const unlock = yield* lockPeople
      const before = ran.length
      const first = yield* Effect.forkChild(organizations[0]!.lookUp, { startImmediately: true })
      // The lock timeout of lookups has passed, and that of many probes.
      yield* Effect.sleep(1000)
      const rest = yield* Effect.forEach(organizations, ({ lookUp }) => Effect.forkChild(lookUp), { concurrency: 1 })
      yield* Effect.sleep(1000)
      expect(ran.slice(before).length).toBeLessThanOrEqual(3)
      yield* unlock
      for (const fiber of [first, ...rest]) expect((yield* Fiber.join(fiber)).total).toBe(1)
    })
  )
})
