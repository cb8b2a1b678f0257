import { it } from "@effect/vitest"
import { Context, Effect, Layer, Redacted } from "effect"
import { Reactivity } from "effect/reactivity"
import { randomBytes } from "node:crypto"
import { describe, expect, inject } from "vitest"
import { Database } from "../../src/database/Database.ts"
import { ConfiguredDatabase } from "../../src/layers.ts"
import { inspect, migrate, rolesOf } from "../../src/database/migrate.ts"
import { migrations, SCHEMA_VERSION } from "../../src/database/migrations/index.ts"
import { ConfigurationError } from "../../src/domain/errors.ts"
import { envFor, freshDatabase, migratedDatabase } from "../support/database.ts"
import { connectTo } from "../support/newDatabase.ts"

const connect = (url: string) => connectTo(url)
const passwordOf = (url: string) => Redacted.make(decodeURIComponent(new URL(url).password))
const databaseAt = (url: string) => Layer.build(ConfiguredDatabase.pipe(Layer.provide(envFor(url))))
const live = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.scoped(effect).pipe(Effect.provide(Reactivity.layer))

/** A fresh database whose owner is a new role with an attribute; `admin` is a superuser. */
const ownedBy = Effect.fnUntraced(function* (attribute: "CREATEROLE" | "NOCREATEROLE") {
  const url = new URL(yield* freshDatabase)
  const admin = yield* connect(url.href)
  const [user, password] = [`limited_${randomBytes(4).toString("hex")}`, randomBytes(8).toString("hex")]
  const run = (statement: string) => admin.unsafe(statement).unprepared
  yield* Effect.acquireRelease(run(`CREATE ROLE ${user} LOGIN NOSUPERUSER ${attribute} PASSWORD '${password}'`), () =>
    Effect.ignore(Effect.andThen(run(`DROP OWNED BY ${user} CASCADE`), run(`DROP ROLE ${user}`)))
  )
  yield* run(`GRANT ALL ON DATABASE ${url.pathname.slice(1)} TO ${user}`)
  url.username = user
  url.password = password
  return { url: url.href, user, password: Redacted.make(password), admin, owner: yield* connect(url.href) }
})

describe("migrate", () => {
  it.live("runs once when four processes start it concurrently", () =>
    live(
      Effect.gen(function* () {
        const url = yield* freshDatabase
        const clients = yield* Effect.all([connect(url), connect(url), connect(url), connect(url)])
        const done = yield* Effect.forEach(clients, (owner) => migrate(owner, passwordOf(url)), { concurrency: 4 })
        expect(done.map(({ from }) => from).sort()).toEqual([0, SCHEMA_VERSION, SCHEMA_VERSION, SCHEMA_VERSION])
        expect(yield* clients[0]`SELECT count(*)::int AS n FROM max.migrations`).toEqual([{ n: migrations.length }])
      })
    )
  )

  it.live("leaves no role of a test's database on the server", () =>
    live(
      Effect.gen(function* () {
        const roles = yield* Effect.scoped(
          Effect.gen(function* () {
            const url = yield* freshDatabase
            const owner = yield* connect(url)
            yield* migrate(owner, passwordOf(url))
            const roles = Object.values(rolesOf(new URL(url).pathname.slice(1)))
            expect(yield* owner`SELECT FROM pg_roles WHERE ${owner.in("rolname", roles)}`).toHaveLength(3)
            return roles
          })
        )
        const server = yield* connect(inject("serverUrl"))
        expect(yield* server`SELECT FROM pg_roles WHERE ${server.in("rolname", roles)}`).toEqual([])
      })
    )
  )

  it.live("refuses a schema that is newer than this version, with the remedy", () =>
    live(
      Effect.gen(function* () {
        const url = yield* migratedDatabase
        const owner = yield* connect(url)
        yield* owner`INSERT INTO max.migrations (id, name) VALUES (${SCHEMA_VERSION + 1}, 'from the future')`
        const refuses = (failure: { readonly message: string }) => {
          expect(failure).toBeInstanceOf(ConfigurationError)
          expect(failure.message).toContain("newer Max")
        }
        refuses(yield* Effect.flip(databaseAt(url)))
        refuses(yield* Effect.flip(migrate(owner, passwordOf(url))))
      })
    )
  )

  it.live("creates roles per database, and the reading role of one can't read the other", () =>
    live(
      Effect.gen(function* () {
        const urls = yield* Effect.all([migratedDatabase, migratedDatabase])
        const names = yield* Effect.forEach(urls, (url) => Effect.flatMap(connect(url), inspect))
        const roles = names.map(({ database }) => rolesOf(database).read)
        expect(new Set(roles).size).toBe(2)
        const owner = yield* connect(urls[1])
        const [allowed] = yield* owner<{ allowed: boolean }>`
          SELECT has_table_privilege(${roles[0]!}, 'data.people', 'SELECT') AS allowed`
        expect(allowed).toEqual({ allowed: false })
      })
    )
  )

  it.live("creates the roles as an owner that may create roles but is no superuser, and later without that right", () =>
    live(
      Effect.gen(function* () {
        const { admin, owner, password, url, user } = yield* ownedBy("CREATEROLE")
        expect((yield* migrate(owner, password)).withoutRoles).toBe(undefined)
        expect((yield* migrate(owner, password)).withoutRoles).toBe(undefined)
        yield* admin.unsafe(`ALTER ROLE ${user} NOCREATEROLE`).unprepared
        expect((yield* migrate(owner, password)).withoutRoles).toBe(undefined)
        const { read } = rolesOf((yield* inspect(owner)).database)
        const { search } = Context.get(yield* databaseAt(url), Database)
        expect(yield* search`SELECT current_user::text AS name`).toEqual([{ name: read }])
        yield* admin.unsafe(`ALTER ROLE ${read} CREATEDB`).unprepared
        yield* migrate(admin, password)
        expect(yield* admin`SELECT rolcreatedb AS creates FROM pg_roles WHERE rolname = ${read}`).toEqual([
          { creates: false }
        ])
      })
    )
  )

  it.live("succeeds without the right to create roles, warns, and keeps reads read-only", () =>
    live(
      Effect.gen(function* () {
        const { owner, password, url, user } = yield* ownedBy("NOCREATEROLE")
        const { withoutRoles } = yield* migrate(owner, password)
        expect(withoutRoles).toContain("may not create roles")
        const { search } = Context.get(yield* databaseAt(url), Database)
        expect(yield* search`SELECT current_user::text AS name`).toEqual([{ name: user }])
        const failure = yield* Effect.flip(search`UPDATE data.people SET name = 'x'`)
        expect(String((failure.reason as { cause?: { message?: string } }).cause?.message)).toContain("read-only")
      })
    )
  )
})
