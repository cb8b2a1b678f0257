/** Members, when people are mapped to other columns or to another table. */
import { layer } from "@effect/vitest"
import { Effect } from "effect"
import { expect } from "vitest"
import { Database } from "../../../src/database/Database.ts"
import { IdentityResolver } from "../../../src/services/members/IdentityResolver.ts"
import { Memberships } from "../../../src/services/members/Memberships.ts"
import { makeOrganization } from "../../support/atlas.ts"
import { TestServices } from "../../support/database.ts"
import { mapTables, runScript } from "../../support/mappedTables.ts"

const START = `
DROP SCHEMA IF EXISTS crew CASCADE;
CREATE SCHEMA crew;
CREATE TABLE crew.old (id int PRIMARY KEY, name text NOT NULL, email text, work_email text);
INSERT INTO crew.old VALUES (1, 'Lee', 'lee@crew.example', 'l@work.example'), (2, 'Kim', 'kim@crew.example', 'k@work.example'), (9, 'Ada', NULL, NULL);
CREATE TABLE crew.staff (id int PRIMARY KEY, name text NOT NULL, email text);
INSERT INTO crew.staff VALUES (2, 'Lee', 'lee@crew.example'), (1, 'Kim', 'kim@crew.example'), (9, 'Zoe', 'zoe@crew.example');
CREATE TABLE crew.double (id int PRIMARY KEY, name text NOT NULL, email text, phone text);
INSERT INTO crew.double VALUES (5, 'Both', 'lee@crew.example', NULL);
`

/** Maps people to a table. */
const people = (organization: Parameters<typeof mapTables>[0], table: string, email = "email") =>
  mapTables(organization, {
    tables: [table],
    exclusive: true,
    edit: (entry) => {
      const { email: _, work_email: __, ...columns } = entry.columns as Record<string, object>
      return {
        ...entry,
        type: "people",
        columns: { ...columns, email: { from: email, kind: "email" } }
      } as typeof entry
    }
  })

layer(TestServices, { excludeTestServices: true })("the members of mapped people", (it) => {
  it.effect(
    "keep their verified addresses when the column of addresses becomes another, which admits no other person",
    () =>
      Effect.gen(function* () {
        yield* runScript(START)
        const crew = yield* makeOrganization("crew-columns")
        const [members, identities] = [yield* Memberships, yield* IdentityResolver]
        yield* people(crew, "crew.old")
        yield* members.add(crew, { identifier: "lee@crew.example", roles: ["admin"] })
        yield* people(crew, "crew.old", "work_email")
        const lee = yield* identities.admit(crew, { kind: "email", key: "lee@crew.example" })
        expect(lee.principal.anchorEntityId).toBe("1")
        expect(yield* identities.identify(crew, { kind: "email", key: "l@work.example" })).toEqual(["1"])
        expect(yield* Effect.flip(identities.admit(crew, { kind: "email", key: "k@work.example" }))).toMatchObject({
          _tag: "NotAdmitted"
        })
      })
  )

  it.effect(
    "move with their own roles, credentials and conversations to the rows of another table, in which their ids are those of others",
    () =>
      Effect.gen(function* () {
        const { owner } = yield* Database
        yield* runScript(START)
        const crew = yield* makeOrganization("crew-tables")
        const [members, identities] = [yield* Memberships, yield* IdentityResolver]
        yield* people(crew, "crew.old")
        yield* members.add(crew, { identifier: "lee@crew.example", roles: ["admin"] })
        yield* members.add(crew, { identifier: "kim@crew.example", roles: ["member"] })
        for (const [anchor, name] of [
          ["1", "Lee"],
          ["2", "Kim"],
          ["9", "Ada"]
        ]) {
          yield* owner`INSERT INTO max.sessions (organization_id, session_id, anchor_id) VALUES (${crew.id}, ${`of ${name}`}, ${anchor})`
          if (anchor !== "9")
            yield* owner`INSERT INTO max.credentials (organization_id, credential_id, kind, sha256, anchor_id, name, scopes, expires_at)
              VALUES (${crew.id}, ${`of ${name}`}, 'token', sha256(${name}::bytea), ${anchor}, 'laptop', '{}', now() + interval '1 day')`
        }
        yield* people(crew, "crew.staff")
        for (const [key, anchor, roles] of [
          ["lee@crew.example", "2", ["admin"]],
          ["kim@crew.example", "1", ["member"]]
        ] as const)
          expect((yield* identities.admit(crew, { kind: "email", key })).principal).toMatchObject({
            anchorEntityId: anchor,
            roles
          })
        const rows = yield* owner<{ anchor_id: string; id: string }>`
          SELECT anchor_id, session_id AS id FROM max.sessions WHERE organization_id = ${crew.id}
          UNION ALL SELECT anchor_id, 'token ' || credential_id FROM max.credentials WHERE organization_id = ${crew.id}`
        const anchors = Object.fromEntries(rows.map(({ anchor_id, id }) => [id, anchor_id]))
        expect(anchors).toMatchObject({ "of Lee": "2", "token of Lee": "2", "of Kim": "1", "token of Kim": "1" })
        // A host vouched for Ada, who was number 9 as Zoe is now.
        expect(anchors["of Ada"]).not.toBe("9")
      })
  )

  it.effect("are refused as a whole when one has no row there, or two have the same, and say what mends it", () =>
    Effect.gen(function* () {
      yield* runScript(START)
      const crew = yield* makeOrganization("crew-refused")
      const [members, identities] = [yield* Memberships, yield* IdentityResolver]
      yield* people(crew, "crew.old")
      yield* members.add(crew, { identifier: "lee@crew.example", roles: ["admin"] })
      yield* members.add(crew, { identifier: "id:9", roles: ["member"] })
      const refused = yield* Effect.flip(people(crew, "crew.staff"))
      expect(refused).toMatchObject({ _tag: "OperatorError" })
      expect(JSON.stringify(refused)).toContain("max member")
      expect((yield* identities.admit(crew, { kind: "email", key: "lee@crew.example" })).principal.anchorEntityId).toBe(
        "1"
      )

      const twice = yield* makeOrganization("crew-twice")
      yield* people(twice, "crew.old")
      yield* members.add(twice, { identifier: "lee@crew.example", roles: ["admin"] })
      yield* members.add(twice, { identifier: "kim@crew.example", roles: ["member"] })
      yield* runScript("UPDATE crew.double SET email = 'lee@crew.example', phone = 'kim@crew.example';\n")
      yield* runScript(
        "CREATE VIEW crew.both AS SELECT id, name, unnest(ARRAY[email, phone]) AS email FROM crew.double;\n"
      )
      const same = yield* Effect.flip(
        mapTables(twice, {
          tables: ["crew.both"],
          exclusive: true,
          edit: (entry) => ({ ...entry, type: "people", id: "id" })
        })
      )
      expect(JSON.stringify(same)).toContain("as another member")
    })
  )
})
