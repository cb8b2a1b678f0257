/** Properties of the store that were each broken deliberately during its design, to prove that a test fails. */
import { layer } from "@effect/vitest"
import { PgClient } from "@effect/sql-pg"
import { Effect, Redacted } from "effect"
import { Reactivity } from "effect/reactivity"
import { expect } from "vitest"
import { Database } from "../../../src/database/Database.ts"
import { enterOrganization } from "../../../src/database/rowSecurity.ts"
import { Unavailable } from "../../../src/domain/errors.ts"
import { Env } from "../../../src/env.ts"
import { addPeople, asMember, makeOrganization } from "../../support/atlas.ts"
import { TestServices } from "../../support/database.ts"

layer(TestServices)("the entity store", (it) => {
  it.effect("ignores an = operator that is defined in the public schema", () =>
    Effect.gen(function* () {
      const organization = yield* makeOrganization("hijack")
      yield* addPeople(organization, [
        { name: "Ada Lovelace", email: "ada@example.com" },
        { name: "Bob Stone", email: "bob@example.com" }
      ])
      const { owner } = yield* Database
      yield* owner.unsafe(
        `CREATE FUNCTION public.always(text, text) RETURNS boolean LANGUAGE sql IMMUTABLE AS 'SELECT true'`
      )
      yield* owner.unsafe(`CREATE OPERATOR public.= (LEFTARG = text, RIGHTARG = text, FUNCTION = public.always)`)
      yield* owner.unsafe(`CREATE FUNCTION public.count(text) RETURNS bigint LANGUAGE sql IMMUTABLE AS 'SELECT 99'`)
      const admin = yield* asMember(organization, "admin@example.com", "admin")
      const page = yield* admin.find({ filters: [{ columnId: "email", op: "eq", value: "ada@example.com" }] })
      expect(page.entities.map((entity) => entity.displayName)).toEqual(["Ada Lovelace"])
      const { env, hijacked } = yield* Effect.all({
        env: Env,
        // The control: with public on the search path, the same comparison is hijacked.
        hijacked: Effect.gen(function* () {
          const client = yield* PgClient.make({
            url: (yield* Env).databaseUrl!,
            startupParameters: { search_path: "public, pg_catalog" }
          })
          return yield* client<{ same: boolean }>`SELECT 'a'::text = 'b'::text AS same`
        }).pipe(Effect.provide(Reactivity.layer), Effect.scoped)
      })
      expect(Redacted.isRedacted(env.databaseUrl)).toBe(true)
      expect(hijacked).toEqual([{ same: true }])
    })
  )

  it.effect("pages through more rows than the bounded total, without gaps or repetitions", () =>
    Effect.gen(function* () {
      const organization = yield* makeOrganization("pages")
      const ids = yield* addPeople(
        organization,
        Array.from({ length: 1203 }, (_, index) => ({ name: `Person ${index}` }))
      )
      const admin = yield* asMember(organization, "admin@example.com", "admin")
      const seen: Array<string> = []
      let cursor: string | undefined
      do {
        const page = yield* admin.find({
          filters: [{ columnId: "name", op: "ilike", value: "person" }],
          limit: 25,
          cursorEntityId: cursor
        })
        expect(page).toMatchObject({ total: 1000, totalIsLowerBound: true })
        seen.push(...page.entities.map((entity) => entity.entityId))
        cursor = page.nextCursorEntityId
      } while (cursor !== undefined)
      expect(seen).toEqual(ids)
    })
  )

  it.effect("counts exactly up to a thousand and reports a lower bound beyond", () =>
    Effect.gen(function* () {
      const organization = yield* makeOrganization("counts")
      yield* addPeople(
        organization,
        Array.from({ length: 1000 }, (_, index) => ({ name: `Exactly ${index}`, status: "exact" }))
      )
      const admin = yield* asMember(organization, "admin@example.com", "admin")
      const exact = { filters: [{ columnId: "status", op: "eq" as const, value: "exact" }], limit: 0 }
      expect(yield* admin.find(exact)).toEqual({ total: 1000, entities: [] })
      yield* addPeople(organization, [{ name: "One more", status: "exact" }])
      expect(yield* admin.find(exact)).toEqual({ total: 1000, totalIsLowerBound: true, entities: [] })
    })
  )

  it.effect("matches one or two characters at the start, three or more anywhere, and takes % _ \\ literally", () =>
    Effect.gen(function* () {
      const organization = yield* makeOrganization("patterns")
      yield* addPeople(
        organization,
        ["Élodie Dupont", "Eliot Brown", "Noel Ellis", "50% off", "a_b", "a\\b", "axb"].map((name) => ({ name }))
      )
      const admin = yield* asMember(organization, "zz@example.com", "admin")
      const named = (value: string) =>
        Effect.map(admin.find({ filters: [{ columnId: "name", op: "ilike", value }], limit: 25 }), (page) =>
          page.entities.map((entity) => entity.displayName)
        )
      expect(yield* named("el")).toEqual(["Élodie Dupont", "Eliot Brown"])
      expect(yield* named("ELL")).toEqual(["Noel Ellis"])
      expect(yield* named("élo")).toEqual(["Élodie Dupont"])
      expect(yield* named("0% o")).toEqual(["50% off"])
      expect(yield* named("a_b")).toEqual(["a_b"])
      expect(yield* named("a\\b")).toEqual(["a\\b"])
      expect(yield* named("%%%")).toEqual([])
    })
  )

  it.effect("never joins its caller's transaction", () =>
    Effect.gen(function* () {
      const organization = yield* makeOrganization("transaction")
      const admin = yield* asMember(organization, "admin@example.com", "admin")
      const { app } = yield* Database
      yield* app.withTransaction(
        Effect.gen(function* () {
          yield* enterOrganization(app, organization.id)
          yield* app`INSERT INTO data.people (organization_id, id, name, name_k) VALUES (${organization.id}, 7, 'Uncommitted', 'uncommitted')`
          expect((yield* admin.find({ filters: [{ columnId: "name", op: "eq", value: "uncommitted" }] })).total).toBe(0)
        })
      )
      expect((yield* admin.find({ filters: [{ columnId: "name", op: "eq", value: "uncommitted" }] })).total).toBe(1)
    })
  )

  it.effect("answers with Unavailable while its connections are cut, and with the page afterwards", () =>
    Effect.gen(function* () {
      const organization = yield* makeOrganization("cut")
      yield* addPeople(organization, [{ name: "Ada Lovelace", phone: "212-555-0100" }])
      const admin = yield* asMember(organization, "admin@example.com", "admin")
      const byPhone = admin.find({ filters: [{ columnId: "phone", op: "eq", value: "(212) 555 0100" }] })
      const byName = admin.find({ filters: [{ columnId: "name", op: "ilike", value: "ada" }] })
      expect([(yield* byPhone).total, (yield* byName).total]).toEqual([1, 1])
      const { owner } = yield* Database
      for (let round = 0; round < 5; round++) {
        yield* owner`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
          WHERE datname = current_database() AND application_name IN ('max lookup', 'max search')`
        for (const one of [byPhone, byName]) {
          const outcome = yield* Effect.result(one)
          if (outcome._tag === "Failure") expect(outcome.failure).toBeInstanceOf(Unavailable)
          else expect(outcome.success.total).toBe(1)
        }
      }
      yield* Effect.sleep(0)
      expect([(yield* byPhone).total, (yield* byName).total]).toEqual([1, 1])
    })
  )
})
