/** Row-level security enforces the organization by itself, and switching it never produces a wrong or empty answer. */
import { layer } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { Reactivity } from "effect/reactivity"
import { randomBytes } from "node:crypto"
import { mkdtempSync, readdirSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect } from "vitest"
import { Database } from "../../src/database/Database.ts"
import { inspect, migrate, rolesOf } from "../../src/database/migrate.ts"
import { enterOrganization, SHARED_TABLES } from "../../src/database/rowSecurity.ts"
import { switchRowSecurity } from "../../src/database/switchRowSecurity.ts"
import { ConfigurationError } from "../../src/domain/errors.ts"
import { backup } from "../../src/services/operations/Backup.ts"
import { IdentityResolver } from "../../src/services/members/IdentityResolver.ts"
import { Memberships } from "../../src/services/members/Memberships.ts"
import { Organizations } from "../../src/services/organizations/Organizations.ts"
import { names, type Process, startProcess, Url } from "../permissions/process.ts"
import { addMember, addRows } from "../permissions/tables.ts"
import { freshDatabase } from "../support/database.ts"
import { connectTo } from "../support/newDatabase.ts"

const makeOrganization = Effect.fnUntraced(function* ({ publish, run }: Process, slug: string) {
  const organization = yield* run(
    Effect.flatMap(Organizations, (organizations) => organizations.create({ slug, country: "US", timeZone: "UTC" }))
  )
  yield* run(addRows(organization, "people", [{ id: "lena", name: `Lena ${slug}`, phone: "+14155550100" }]))
  yield* run(addRows(organization, "companies", [{ id: "at", name: `Atlas ${slug}` }]))
  yield* run(addRows(organization, "meetings", [{ id: "m", name: `Meeting ${slug}`, attendees: ["lena"] }]))
  yield* run(addMember(organization, "lena@atlas.com", "lena", ["member"]))
  yield* publish(organization, [{}])
  return organization
})

const turn = ({ run }: Process, on: boolean) =>
  run(Effect.flatMap(Database, ({ owner }) => switchRowSecurity(owner, on)))

const count = (table: string) => `SELECT count(*)::int AS n FROM data.${table}`

layer(Url.layer, { excludeTestServices: true })("row-level security", (it) => {
  it.effect("shows each role only the rows of its transaction's organization", () =>
    Effect.gen(function* () {
      const one = yield* startProcess()
      const [atlas] = [yield* makeOrganization(one, "reading"), yield* makeOrganization(one, "read")]
      yield* turn(one, true)
      yield* one.run(
        Effect.gen(function* () {
          const { app, lookup, search } = yield* Database
          for (const table of SHARED_TABLES) {
            for (const pool of [search, lookup, app]) expect(yield* pool.unsafe(count(table))).toEqual([{ n: 0 }])
            for (const pool of [search, app]) {
              const own = yield* pool.withTransaction(
                Effect.andThen(enterOrganization(pool, atlas.id), pool.unsafe(count(table)))
              )
              expect([table, own]).toEqual([table, [{ n: 1 }]])
              // The setting ends with its transaction, also on a reused connection.
              for (let time = 0; time < 10; time++) expect(yield* pool.unsafe(count(table))).toEqual([{ n: 0 }])
            }
          }
        })
      )
    })
  )

  it.effect("refuses writes to rows of another organization than the transaction's", () =>
    Effect.gen(function* () {
      const one = yield* startProcess()
      const [atlas, other] = [yield* makeOrganization(one, "writing"), yield* makeOrganization(one, "written")]
      yield* turn(one, true)
      yield* one.run(
        Effect.gen(function* () {
          const { app, owner } = yield* Database
          const within = (statement: string) =>
            Effect.result(
              app.withTransaction(Effect.andThen(enterOrganization(app, atlas.id), app.unsafe(statement, [other.id])))
            )
          const inserted = yield* within(
            "INSERT INTO data.people (organization_id, id, name, name_k) VALUES ($1::bigint, 9, 'x', 'x')"
          )
          expect(inserted).toMatchObject({ _tag: "Failure", failure: { _tag: "SqlError" } })
          yield* within("UPDATE data.people SET name = 'changed' WHERE organization_id = $1::bigint")
          yield* within("DELETE FROM data.people WHERE organization_id = $1::bigint")
          const left = yield* owner`SELECT name FROM data.people WHERE organization_id = ${other.id}`
          expect(left).toEqual([{ name: "Lena written" }])
        })
      )
    })
  )

  it.effect("takes effect in running processes with their next statement, without a wrong or empty answer", () =>
    Effect.gen(function* () {
      const statements: Array<string> = []
      const watched = yield* startProcess((text) => Effect.sync(() => void statements.push(text)))
      const other = yield* startProcess()
      const organization = yield* makeOrganization(other, "switching")
      yield* turn(other, false)
      const lena = yield* watched.admit(organization, "lena@atlas.com")
      const phone = { filters: [{ columnId: "phone", op: "eq" as const, value: "(415) 555-0100" }] }
      const identify = watched.run(
        Effect.flatMap(IdentityResolver, (identities) =>
          identities.identify(organization, { kind: "phone", key: "+14155550100" })
        )
      )
      const members = watched.run(Effect.flatMap(Memberships, (all) => all.list(organization)))
      for (const on of [true, false, true, false]) {
        expect(yield* turn(other, on)).toBe(true)
        expect(yield* turn(other, on)).toBe(false)
        for (const query of [{}, phone]) expect(yield* names(watched.find(lena, query))).toEqual(["Lena switching"])
        expect(yield* identify).toEqual([lena.anchorEntityId])
        expect((yield* members).map(({ name }) => name)).toEqual(["Lena switching"])
        // Without row-level security a lookup is one statement.
        const again = yield* watched.admit(organization, "lena@atlas.com")
        statements.length = 0
        yield* watched.find(again, phone)
        expect(statements).toHaveLength(1)
      }
    })
  )

  it.effect("applies to an owner that isn't a superuser", () =>
    Effect.gen(function* () {
      const url = new URL(yield* freshDatabase)
      const admin = yield* connectTo(url.href)
      const [user, password] = [`plain_${randomBytes(4).toString("hex")}`, randomBytes(8).toString("hex")]
      yield* Effect.acquireRelease(
        admin.unsafe(`CREATE ROLE ${user} LOGIN NOSUPERUSER NOCREATEROLE PASSWORD '${password}'`).unprepared,
        () =>
          Effect.ignore(
            Effect.andThen(
              admin.unsafe(`DROP OWNED BY ${user} CASCADE`).unprepared,
              admin.unsafe(`DROP ROLE ${user}`).unprepared
            )
          )
      )
      yield* admin.unsafe(`GRANT ALL ON DATABASE ${url.pathname.slice(1)} TO ${user}`).unprepared
      url.username = user
      url.password = password
      const owner = yield* connectTo(url.href)
      yield* migrate(owner, Redacted.make(password))
      const insert = `INSERT INTO data.people (organization_id, id, name, name_k) VALUES (7, 1, 'x', 'x')`
      yield* owner.unsafe(insert).unprepared
      expect(yield* switchRowSecurity(owner, true)).toBe(true)
      expect(yield* owner.unsafe(count("people"))).toEqual([{ n: 0 }])
      const seen = yield* owner.withTransaction(
        Effect.andThen(enterOrganization(owner, 7n), owner.unsafe(count("people")))
      )
      expect(seen).toEqual([{ n: 1 }])
      // A backup would silently omit hidden rows, so it fails.
      const folder = yield* Effect.acquireRelease(
        Effect.sync(() => mkdtempSync(join(tmpdir(), "max-hidden-"))),
        (made) => Effect.sync(() => rmSync(made, { recursive: true, force: true }))
      )
      const copy = backup(owner, join(folder, "all.backup"), { force: false })
      expect((yield* Effect.flip(copy)).message).toContain("max migrate --rls off")
      expect(readdirSync(folder)).toEqual([])
      expect(yield* switchRowSecurity(owner, false)).toBe(true)
      expect((yield* copy).rows).toBeGreaterThan(0)
    }).pipe(Effect.scoped, Effect.provide(Reactivity.layer))
  )

  it.effect("refuses to be switched on where reads run as a user that bypasses it", () =>
    Effect.gen(function* () {
      const url = yield* freshDatabase
      const owner = yield* connectTo(url)
      yield* migrate(owner, Redacted.make(decodeURIComponent(new URL(url).password)))
      const { database } = yield* inspect(owner)
      for (const role of Object.values(rolesOf(database))) {
        yield* owner.unsafe(`DROP OWNED BY ${role}`).unprepared
        yield* owner.unsafe(`DROP ROLE ${role}`).unprepared
      }
      const refused = yield* Effect.flip(switchRowSecurity(owner, true))
      expect(refused).toBeInstanceOf(ConfigurationError)
      expect(yield* switchRowSecurity(owner, false)).toBe(false)
    }).pipe(Effect.scoped, Effect.provide(Reactivity.layer))
  )
})
