/** Lookups during which policy, memberships or catalog change. */
import { layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { expect } from "vitest"
import { Database } from "../../../src/database/Database.ts"
import { OPERATOR } from "../../../src/database/audit.ts"
import { raiseEpoch } from "../../../src/database/epoch.ts"
import { Unavailable } from "../../../src/domain/errors.ts"
import { ConfiguredDatabase, Services } from "../../../src/layers.ts"
import { addPeople, asMember, makeOrganization } from "../../support/atlas.ts"
import { envFor, migratedDatabase } from "../../support/database.ts"

/** So often the organization changes right before a statement of a lookup runs. */
const ahead: { changes: number; change: Effect.Effect<unknown, unknown> } = { changes: 0, change: Effect.void }

const changing = Layer.effect(
  Database,
  Effect.map(Database, (database) => {
    const change = Effect.suspend(() => {
      if (ahead.changes === 0) return Effect.void
      ahead.changes -= 1
      return Effect.orDie(ahead.change)
    })
    // With row-level security, a lookup runs in a transaction of the pool for searches.
    const before = <Pool extends typeof database.lookup>(pool: Pool): Pool =>
      new Proxy(pool, {
        get: (target, name) =>
          name === "unsafe"
            ? <Row extends object>(text: string, parameters?: ReadonlyArray<unknown>) =>
                Effect.andThen(change, target.unsafe<Row>(text, parameters))
            : Reflect.get(target, name)
      })
    const { busyLookup, lookup, search } = database
    return Database.of({ ...database, lookup: before(lookup), busyLookup: before(busyLookup), search: before(search) })
  })
)

const configured = ConfiguredDatabase.pipe(Layer.provideMerge(Layer.unwrap(Effect.map(migratedDatabase, envFor))))
const Changing = Services.pipe(Layer.provideMerge(changing.pipe(Layer.provideMerge(configured))), Layer.orDie)

layer(Changing, { excludeTestServices: true })("a lookup during which its organization changes", (it) => {
  it.effect("is answered after two changes, and unavailable after a third", () =>
    Effect.gen(function* () {
      const { owner } = yield* Database
      const organization = yield* makeOrganization("changing")
      yield* addPeople(organization, [{ name: "Ada Lovelace", email: "ada@example.com" }])
      const { find } = yield* asMember(organization, "admin@example.com", "admin")
      const lookUp = find({ filters: [{ columnId: "email", op: "eq", value: "ada@example.com" }] })
      const events = [{ actor: OPERATOR, action: "policy.published", subject: "policy" }] as const
      // A new epoch each time.
      ahead.change = Effect.suspend(() => owner.withTransaction(raiseEpoch(owner, organization.id, events)))
      for (const changes of [0, 1, 2]) {
        ahead.changes = changes
        expect([(yield* lookUp).total, ahead.changes]).toEqual([1, 0])
      }
      ahead.changes = 3
      expect(yield* Effect.flip(lookUp)).toBeInstanceOf(Unavailable)
      expect((yield* lookUp).total).toBe(1)
    })
  )
})
