/** Batched lookups: each caller gets the page that it gets alone, and no row of another caller. */
import { layer } from "@effect/vitest"
import { Effect, Exit, Fiber, Layer, Result } from "effect"
import * as fc from "fast-check"
import { expect } from "vitest"
import { Database } from "../../src/database/Database.ts"
import { makeExecute } from "../../src/database/execute.ts"
import type { Statement } from "../../src/database/sql/ResolvedQuery.ts"
import { encodeId } from "../../src/domain/ids.ts"
import { CurrentPrincipal, type Principal } from "../../src/domain/Principal.ts"
import { EntityQueryService } from "../../src/services/EntityQueryService.ts"
import { IdentityResolver } from "../../src/services/members/IdentityResolver.ts"
import { ConfiguredDatabase, Services } from "../../src/layers.ts"
import { envFor, migratedDatabase, TestServices } from "../support/database.ts"
import { generousPolicy, member } from "./generators.ts"
import type { Caller } from "./oracle.ts"
import { admit, floorOf, makePlaces, partOf, type Place } from "./setting.ts"
import { ANCHORS, makeWorld } from "./world.ts"

const ROUNDS = partOf(8)
const SEED = 20261123

/** The texts of executed lookup statements. */
const ran: Array<string> = []

const Watched = Services.pipe(
  Layer.provideMerge(
    Layer.effect(
      Database,
      Effect.map(Database, (database) => {
        const watch = (pool: typeof database.lookup): typeof pool => ({
          ...pool,
          unsafe: (text, parameters) => {
            ran.push(text)
            return pool.unsafe(text, parameters)
          }
        })
        return Database.of({
          ...database,
          lookup: watch(database.lookup),
          busyLookup: watch(database.busyLookup)
        })
      })
    ).pipe(
      Layer.provideMerge(
        Layer.unwrap(Effect.map(migratedDatabase, (url) => ConfiguredDatabase.pipe(Layer.provideMerge(envFor(url)))))
      )
    )
  ),
  Layer.orDie
)

const isSeveral = (text: string) => text.includes(", several */")

/** A query for every identifying value of every person in the organization, each with selected cells. */
const questionsOf = ({ organization }: Place) =>
  [...organization.entities.people.values()].flatMap(({ cells }) =>
    (["name", "email", "phone"] as const).flatMap((columnId) => {
      const value = cells[columnId]
      return typeof value === "string" ? [{ columnId, op: "eq" as const, value }] : []
    })
  )

const lookUp = (principal: Principal, filter: ReturnType<typeof questionsOf>[number]) =>
  Effect.flatMap(EntityQueryService, (queries) =>
    Effect.result(
      queries.findEntities({
        organizationId: principal.organizationId,
        entityTypeId: "people",
        filters: [filter],
        selectColumns: filter.columnId === "phone" ? ["email", "owner"] : ["phone", "company"],
        limit: filter.columnId === "name" ? 5 : filter.value.length % 3
      })
    )
  ).pipe(
    Effect.provideService(CurrentPrincipal, principal),
    Effect.map((result) => JSON.stringify(Result.isSuccess(result) ? result.success : result.failure))
  )

layer(Watched, { excludeTestServices: true })("concurrent callers", (it) => {
  it.effect("get the pages that each gets alone, under plans that differ in values, in two organizations", () =>
    Effect.gen(function* () {
      const identities = yield* IdentityResolver
      const places = yield* makePlaces(makeWorld(31))
      const rounds = fc.sample(fc.tuple(generousPolicy, fc.tuple(member, member, member)), {
        numRuns: ROUNDS,
        seed: SEED
      })
      let found = 0
      let asked = 0
      for (const [policy, members] of rounds) {
        // All callers have the first one's roles, so that plans differ in values only, and their own attributes.
        const callers = members.map((one, index): Caller => ({ ...one, roles: members[0].roles, me: ANCHORS[index]! }))
        for (const place of places) for (const caller of callers) yield* admit(place, policy, caller)
        const asks = yield* Effect.forEach(
          places.flatMap((place) => callers.map((caller) => ({ place, caller }))),
          ({ caller, place }) =>
            Effect.map(
              identities.admit(place.stored, { kind: "email", key: `member-${encodeId(caller.me)}@max.test` }),
              ({ principal }) => questionsOf(place).map((filter) => ({ filter, principal }))
            )
        )
        const all = asks.flat()
        const alone = yield* Effect.forEach(all, ({ filter, principal }) => lookUp(principal, filter))
        const together = yield* Effect.forEach(all, ({ filter, principal }) => lookUp(principal, filter), {
          concurrency: "unbounded"
        })
        expect(together).toEqual(alone)
        asked += all.length
        found += alone.filter((text) => text.includes(`"entities":[{`)).length
      }
      const several = ran.filter(isSeveral).length
      console.log(`together: ${asked} lookups, ${found} of them with rows, ${several} statements for several`)
      expect(found).toBeGreaterThanOrEqual(floorOf(600))
      // Row-level security needs a transaction per organization, so nothing is batched.
      expect(several > 0).toBe(process.env["MAX_TEST_RLS"] !== "on")
    })
  )
})

/** Requests of three organizations. */
const organizationOf = (index: number) => BigInt(index % 3)

/** A statement with a batch form. */
const counted = (value: number, divisor: number, list: ReadonlyArray<string> = ["x"]): Statement => ({
  text: "SELECT $1::int / $2::int AS quotient, cardinality($3::text[]) AS listed",
  parameters: [value, divisor, list],
  batch: () => ({
    text:
      "/* several */ SELECT b.n::int AS n, b.a1 / b.a2 AS quotient, cardinality($3::text[]) AS listed " +
      "FROM unnest($1::int[], $2::int[]) WITH ORDINALITY b(a1, a2, n) ORDER BY n DESC",
    shared: new Set([2])
  })
})

layer(TestServices, { excludeTestServices: true })("requests of one batch", (it) => {
  it.effect("get their own rows, in any order of the result", () =>
    Effect.gen(function* () {
      const execute = makeExecute(yield* Database)
      const rows = yield* Effect.forEach(
        Array.from({ length: 100 }, (_, index) => index),
        (index) =>
          execute<{ readonly quotient: number; readonly listed: number }>(
            "lookup",
            organizationOf(index),
            counted(index, 1)
          ),
        { concurrency: "unbounded" }
      )
      expect(rows.map(([row]) => row!.quotient)).toEqual(Array.from({ length: 100 }, (_, index) => index))
      expect(rows.every((own) => own.length === 1)).toBe(true)
    })
  )

  it.effect("exclude requests whose lists differ", () =>
    Effect.gen(function* () {
      const execute = makeExecute(yield* Database)
      const rows = yield* Effect.forEach(
        Array.from({ length: 60 }, (_, index) => index),
        (index) =>
          execute<{ readonly listed: number }>(
            "lookup",
            organizationOf(index),
            counted(
              1,
              1,
              Array.from({ length: 1 + (index % 3) }, () => "x")
            )
          ),
        { concurrency: "unbounded" }
      )
      expect(rows.map(([row]) => row!.listed)).toEqual(Array.from({ length: 60 }, (_, index) => 1 + (index % 3)))
    })
  )

  it.effect("don't fail because of another request's error", () =>
    Effect.gen(function* () {
      const execute = makeExecute(yield* Database)
      const exits = yield* Effect.forEach(
        Array.from({ length: 40 }, (_, index) => index),
        (index) =>
          Effect.exit(
            execute<{ readonly quotient: number }>("lookup", organizationOf(index), counted(index, index === 7 ? 0 : 1))
          ),
        { concurrency: "unbounded" }
      )
      expect(exits.flatMap((exit, index) => (Exit.isSuccess(exit) ? [] : [index]))).toEqual([7])
      expect(exits.flatMap((exit) => (Exit.isSuccess(exit) ? [exit.value[0]!.quotient] : []))).toEqual(
        Array.from({ length: 40 }, (_, index) => index).filter((index) => index !== 7)
      )
    })
  )

  it.effect("don't wait for a request that was interrupted", () =>
    Effect.gen(function* () {
      const execute = makeExecute(yield* Database)
      const fibers = yield* Effect.forEach(
        Array.from({ length: 30 }, (_, index) => index),
        (index) =>
          Effect.forkChild(execute<{ readonly quotient: number }>("lookup", organizationOf(index), counted(index, 1)))
      )
      yield* Effect.yieldNow
      for (const fiber of fibers.slice(0, 15)) yield* Fiber.interrupt(fiber)
      const rest = yield* Effect.forEach(fibers.slice(15), Fiber.join)
      expect(rest.map(([row]) => row!.quotient)).toEqual(Array.from({ length: 15 }, (_, index) => 15 + index))
    })
  )
})
