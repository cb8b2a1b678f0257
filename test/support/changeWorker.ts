/**
 * A process that proposes and confirms changes of its own row until it is killed. Arguments: the database's URL, the organization, the anchor,
 * the row, a number for its values, and `planted` for a claim that commits before the row is written. Prints each applied change.
 */
import { Effect, Layer, Redacted } from "effect"
import { Database } from "../../src/database/Database.ts"
import { CurrentPrincipal } from "../../src/domain/Principal.ts"
import { Env } from "../../src/env.ts"
import { ConfiguredDatabase, Services } from "../../src/layers.ts"
import { Changes } from "../../src/services/changes/Changes.ts"
import { IdentityResolver } from "../../src/services/members/IdentityResolver.ts"
import { OrganizationState } from "../../src/services/catalog/OrganizationState.ts"

const [url = "", slug = "", anchorEntityId = "", row = "", run = "", variant = ""] = process.argv.slice(2)
const many = 1_000_000
const env = Env.layerOf({
  databaseUrl: Redacted.make(url),
  lookupTimeout: 10_000,
  searchTimeout: 30_000,
  callsPerPerson: many,
  writesPerMinute: many,
  changedRowsPerDay: many
})

/** The same services without transactions: each statement of an apply commits by itself. */
const withoutTransactions = Layer.effect(
  Database,
  Effect.map(Database, (database) =>
    Database.of({
      ...database,
      changes: new Proxy(database.changes, {
        get: (target, key) =>
          key === "withTransaction" ? <A>(effect: A): A => effect : (Reflect.get(target, key) as unknown)
      })
    })
  )
)

const configured = ConfiguredDatabase.pipe(Layer.provideMerge(env))
const database = variant === "planted" ? withoutTransactions.pipe(Layer.provideMerge(configured)) : configured

const work = Effect.gen(function* () {
  const { app } = yield* Database
  const changes = yield* Changes
  const identities = yield* IdentityResolver
  const organization = yield* (yield* OrganizationState).organization(slug)
  const { principal } = yield* identities.readmit({ organizationId: organization.id, anchorEntityId })
  const via = { channel: "test" }
  for (let number = 0; ; number++) {
    const value = `${run}-${number}`
    const steps = [{ actionId: "people.update", entityIds: [row], values: [{ columnId: "status", value }] }]
    const applied = yield* Effect.result(
      Effect.gen(function* () {
        const draft = yield* changes.propose({ steps, via, drafted: true })
        yield* app.withTransaction(changes.opening(principal, via, [draft.changeId])(app, undefined))
        const { digest } = yield* changes.preview(draft.changeId, via)
        yield* changes.confirm({ changeId: draft.changeId, digest: digest!, via })
        return draft.changeId
      }).pipe(Effect.provideService(CurrentPrincipal, principal))
    )
    if (applied._tag === "Success") process.stdout.write(`${applied.success}\n`)
  }
})

await Effect.runPromise(work.pipe(Effect.provide(Services.pipe(Layer.provideMerge(database)))))
