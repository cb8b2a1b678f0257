/**
 * Simulated processes for tests of access over time: each has its own services, caches and connections over one
 * database, and a test can intercept its statements.
 */
import { Context, Effect, Layer, ManagedRuntime, Result } from "effect"
import { Database } from "../../src/database/Database.ts"
import type { Organization } from "../../src/domain/EntityType.ts"
import type { LookupError } from "../../src/domain/errors.ts"
import { CurrentPrincipal, type Principal } from "../../src/domain/Principal.ts"
import type { FindQuery } from "../../src/domain/Query.ts"
import { ConfiguredDatabase, Services } from "../../src/layers.ts"
import { EntityQueryService } from "../../src/services/EntityQueryService.ts"
import { IdentityResolver } from "../../src/services/members/IdentityResolver.ts"
import type { Identifier } from "../../src/services/members/identifier.ts"
import { Organizations } from "../../src/services/organizations/Organizations.ts"
import { Policies } from "../../src/services/policies/Policies.ts"
import { envFor, migratedDatabase } from "../support/database.ts"
import { file, type RuleInput } from "./support.ts"

/** The URL of a test file's database. */
export class Url extends Context.Service<Url, string>()("test/permissions/Url") {
  static readonly layer = Layer.orDie(Layer.effect(Url, migratedDatabase))
}

/** Called with the text of every statement of the pools that read, before it runs. */
export type Before = (text: string) => Effect.Effect<unknown, unknown>

/** Replaces the rows that a statement of the pools that read returns. */
export type After = (rows: ReadonlyArray<object>) => ReadonlyArray<object>

const watched = (before: Before, after: After) =>
  Layer.effect(
    Database,
    Effect.map(Database, (database) => {
      const watch = <C extends Pick<typeof database.lookup, "unsafe">>(client: C): C =>
        new Proxy(client, {
          get: (target, key) =>
            key === "unsafe"
              ? (text: string, parameters?: ReadonlyArray<unknown>) =>
                  Effect.orDie(before(text)).pipe(
                    Effect.andThen(target.unsafe<object>(text, parameters)),
                    Effect.map(after)
                  )
              : (Reflect.get(target, key) as unknown)
        })
      const { admission, busyLookup, lookup, search } = database
      return Database.of({
        ...database,
        admission: watch(admission),
        search: watch(search),
        lookup: watch(lookup),
        busyLookup: watch(busyLookup)
      })
    })
  )

/** Starts a process over the database. */
export const startProcess = Effect.fnUntraced(function* (before?: Before, after: After = (rows) => rows) {
  const url = yield* Url
  const database = ConfiguredDatabase.pipe(Layer.provideMerge(envFor(url)))
  const runtime = ManagedRuntime.make(
    Services.pipe(
      Layer.provideMerge(before === undefined ? database : watched(before, after).pipe(Layer.provideMerge(database)))
    )
  )
  yield* Effect.addFinalizer(() => runtime.disposeEffect)
  type Has = Layer.Success<typeof Services> | Database
  const run = <A, E>(effect: Effect.Effect<A, E, Has>): Effect.Effect<A, E> =>
    Effect.flatMap(runtime.contextEffect, (context) =>
      Effect.provideContext(effect, context as never)
    ) as Effect.Effect<A, E>
  return { run, ...processFor(run) }
})

const processFor = (
  run: <A, E>(
    effect: Effect.Effect<A, E, EntityQueryService | IdentityResolver | Policies | Database>
  ) => Effect.Effect<A, E>
) => ({
  /** The principal of a verified e-mail address. */
  admit: (organization: Organization, email: string) =>
    run(
      Effect.flatMap(IdentityResolver, (identities) => identities.admit(organization, { kind: "email", key: email }))
    ).pipe(Effect.map(({ principal }) => principal)),
  /** The principal of a verified identifier. */
  admitBy: (organization: Organization, identifier: Identifier) =>
    run(Effect.flatMap(IdentityResolver, (identities) => identities.admit(organization, identifier))).pipe(
      Effect.map(({ principal }) => principal)
    ),
  /** Publishes rules; the defaults of a rule are those of `file`. */
  publish: (organization: Organization, rules: ReadonlyArray<RuleInput>, more: object = {}) =>
    run(Effect.flatMap(Policies, (policies) => policies.publish(organization, file(rules, more), "test"))),
  find: (principal: Principal, query: Partial<FindQuery> = {}) =>
    run(
      Effect.flatMap(EntityQueryService, (queries) =>
        queries.findEntities({
          organizationId: principal.organizationId,
          entityTypeId: "people",
          filters: [],
          limit: 25,
          ...query
        })
      ).pipe(Effect.provideService(CurrentPrincipal, principal))
    ),
  types: (principal: Principal) =>
    run(
      Effect.flatMap(EntityQueryService, (queries) =>
        queries.listEntityTypes({ organizationId: principal.organizationId })
      ).pipe(
        Effect.map(({ entityTypes }) => entityTypes.map((type) => type.id)),
        Effect.provideService(CurrentPrincipal, principal)
      )
    ),
  columns: (principal: Principal, entityTypeId = "people") =>
    run(
      Effect.flatMap(EntityQueryService, (queries) =>
        queries.listColumnsForType({ organizationId: principal.organizationId, entityTypeId })
      ).pipe(
        Effect.map(({ columns }) => columns.map((column) => column.id)),
        Effect.provideService(CurrentPrincipal, principal)
      )
    )
})

/** Creates an organization in New York's time zone. */
export const createOrganization = ({ run }: Pick<Process, "run">, slug: string, country = "US") =>
  run(
    Effect.flatMap(Organizations, (organizations) =>
      organizations.create({ slug, country, timeZone: "America/New_York" })
    )
  )

export type Process = Effect.Success<ReturnType<typeof startProcess>>

/** The sorted display names of an answer. */
export const names = Effect.map((page: { readonly entities: ReadonlyArray<{ readonly displayName?: string }> }) =>
  page.entities.map((entity) => entity.displayName ?? "(hidden)").sort()
)

/** The failure, or `answered` on success. */
export const failureOf = <A, E>(effect: Effect.Effect<A, E>) =>
  Effect.map(Effect.result(effect), (result) => (Result.isSuccess(result) ? "answered" : result.failure))

/** The answer or the failure as text, as a caller gets it. */
export const answerText = <A>(effect: Effect.Effect<A, LookupError>) =>
  Effect.map(Effect.result(effect), (result) =>
    JSON.stringify(
      Result.isSuccess(result) ? result.success : { fault: result.failure._tag, message: result.failure.message }
    )
  )
