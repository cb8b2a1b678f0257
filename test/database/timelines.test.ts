/** A process that lives through a failover which lost a change, or through a point-in-time recovery. */
import { describe, expect, it } from "@effect/vitest"
import { Effect, Layer, Result } from "effect"
import { inject } from "vitest"
import { ConfiguredDatabase, Services } from "../../src/layers.ts"
import { Memberships } from "../../src/services/members/Memberships.ts"
import { addPeople, asMember, makeOrganization } from "../support/atlas.ts"
import { envFor, migratedDatabase } from "../support/database.ts"
import { runOnServer } from "../support/newDatabase.ts"

const servicesOn = (url: string) =>
  Services.pipe(Layer.provideMerge(ConfiguredDatabase), Layer.provideMerge(envFor(url)))

/** Runs statements as the server's administrator, outside of any transaction. */
const administer = (...statements: ReadonlyArray<string>) => runOnServer(inject("serverUrl"), ...statements)

const nameOf = (url: string) => new URL(url).pathname.slice(1)

/** Puts `lost` out of the way and `promoted` in its place, as a failover does behind one address. */
const failOver = (lost: string, promoted: string) =>
  administer(
    `ALTER DATABASE ${lost} ALLOW_CONNECTIONS false`,
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname IN ('${lost}', '${promoted}')`,
    `ALTER DATABASE ${lost} RENAME TO ${lost}_lost`,
    `ALTER DATABASE ${promoted} RENAME TO ${lost}`
  )

describe("a process that outlives the server's timeline", () => {
  it.live("reads nothing under a plan of the lost timeline", () =>
    Effect.gen(function* () {
      const url = yield* migratedDatabase
      const [name, promoted] = [nameOf(url), `${nameOf(url)}_promoted`]
      yield* Effect.addFinalizer(() =>
        Effect.ignore(administer(`DROP DATABASE IF EXISTS ${promoted} WITH (FORCE)`)).pipe(
          Effect.andThen(Effect.ignore(administer(`DROP DATABASE IF EXISTS ${name}_lost WITH (FORCE)`)))
        )
      )
      const organization = yield* Effect.provide(
        Effect.gen(function* () {
          const atlas = yield* makeOrganization("atlas")
          yield* addPeople(atlas, [{ name: "Ada Lovelace", email: "ada@example.com", phone: "212-555-0100" }])
          return atlas
        }),
        servicesOn(url)
      )
      // The standby's copy, before either change.
      yield* administer(`CREATE DATABASE ${promoted} TEMPLATE ${name}`)

      yield* Effect.gen(function* () {
        // A change that is lost in the failover; the lookup caches the state after it.
        const grace = yield* asMember(organization, "grace@example.com", "admin")
        const find = grace.find({ filters: [{ columnId: "phone", op: "eq", value: "212-555-0100" }] })
        expect((yield* find).total).toBe(1)

        yield* failOver(name, promoted)
        // One change on this timeline, as on the other: a counter would have the same value on both.
        yield* Effect.provide(
          Effect.flatMap(Memberships, (elsewhere) =>
            elsewhere.add(organization, { identifier: "bob@example.com", roles: ["member"], create: {} })
          ),
          servicesOn(url)
        )
        // The first attempts meet broken connections; the later ones reach this timeline.
        const outcomes = yield* Effect.forEach(Array.from({ length: 30 }), () =>
          Effect.delay(Effect.result(find), "20 millis")
        )
        const failures = outcomes.map((outcome) => (Result.isFailure(outcome) ? outcome.failure._tag : outcome))
        expect(failures.slice(-10)).toEqual(Array.from({ length: 10 }, () => "NotAdmitted"))
        expect(failures.filter((tag) => tag !== "NotAdmitted" && tag !== "Unavailable")).toEqual([])
      }).pipe(Effect.provide(servicesOn(url)))
    })
  )
})
