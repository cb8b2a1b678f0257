/** Names, keys and definitions that a schema may have and a mapping has to survive. */
import { layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { expect } from "vitest"
import { Database } from "../../../src/database/Database.ts"
import { inspect } from "../../../src/database/migrate.ts"
import type { Organization } from "../../../src/domain/EntityType.ts"
import { mapped } from "../../../src/services/operations/doctor/mapped.ts"
import { Mappings } from "../../../src/services/mapping/Mappings.ts"
import { Memberships } from "../../../src/services/members/Memberships.ts"
import { IdentityResolver } from "../../../src/services/members/IdentityResolver.ts"
import { makeOrganization } from "../../support/atlas.ts"
import { TestServices } from "../../support/database.ts"
import { asExistingPerson, mapTables, policyFor, runScript } from "../../support/mappedTables.ts"

const LONG = "l".repeat(63)
const KEYS = Array.from({ length: 32 }, (_, at) => `k${at}`)

const START = `
CREATE SCHEMA odd;
CREATE SCHEMA even;
CREATE TYPE odd.stage AS ENUM ('new', 'done');
CREATE FUNCTION odd.twice(n int) RETURNS int LANGUAGE plpgsql AS 'BEGIN RETURN n * 2; END';
CREATE TABLE odd."user" (id int PRIMARY KEY, "order" text NOT NULL, name text NOT NULL, login text);
CREATE TABLE odd."🎵 songs" (id int PRIMARY KEY, "🎤" text, "${LONG}" text, "${"é".repeat(31)}" text, "sel""ect" text);
CREATE TABLE odd.wide (${KEYS.map((key) => `${key} int NOT NULL`).join(", ")}, name text, PRIMARY KEY (${KEYS.join(", ")}));
CREATE TABLE odd.tasks (id int PRIMARY KEY, name text, stage odd.stage, points int, doubled int);
CREATE TABLE even.tasks (id int PRIMARY KEY, name text);
CREATE TABLE odd."Tasks" (id int PRIMARY KEY, name text);
CREATE VIEW odd.scores AS SELECT id, name, odd.twice(points) AS score FROM odd.tasks;
INSERT INTO odd."user" VALUES (7, 'first', 'Zed', 'zed'), (8, 'second', 'Yve', 'yve');
INSERT INTO odd."🎵 songs" VALUES (1, 'low', 'long', 'accent', 'quoted');
INSERT INTO odd.wide VALUES (${KEYS.map((_, at) => at).join(", ")}, 'Wide');
INSERT INTO odd.tasks VALUES (1, 'Dig', 'new', 3, 6), (2, 'Fill', 'done', 4, 8);
INSERT INTO even.tasks VALUES (1, 'Even');
INSERT INTO odd."Tasks" VALUES (1, 'Upper');
`

const differences = (organization: Organization) => Effect.flatMap(Mappings, (mappings) => mappings.diff(organization))

/** What doctor finds, with what mends it. */
const doctor = Effect.flatMap(Database, ({ owner, search }) =>
  Effect.flatMap(inspect(owner), (inspection) =>
    Effect.map(mapped({ owner, inspection, reader: search }), (findings) =>
      findings
        .filter(({ status }) => status === "fail")
        .map(({ mend, message }) => [message, ...(mend ?? [])].join("\n"))
    )
  )
)

layer(Layer.effectDiscard(runScript(START)).pipe(Layer.provideMerge(TestServices)), { excludeTestServices: true })(
  "a mapping",
  (it) => {
    it.effect(
      "reads tables named user, columns of emoji and of 63 bytes, and tables of one name; and it says how to map a key of 32 columns",
      () =>
        Effect.gen(function* () {
          const odd = yield* makeOrganization("odd")
          const mappings = yield* Mappings
          const first = yield* mappings.propose(odd, [], true)
          const advice = first.notes.flatMap((note) => /CREATE VIEW .*;/.exec(note) ?? [])
          expect(advice).toHaveLength(1)
          yield* runScript(`${advice[0]}\n`)
          const { proposed } = yield* mapTables(odd, { exclusive: true })
          expect(proposed.types.map(({ table, type }) => `${table} ${type}`)).toEqual([
            "even.tasks even_tasks",
            "odd.Tasks odd_tasks",
            "odd.scores scores",
            "odd.tasks odd_tasks_2",
            "odd.user people",
            "odd.wide_keyed wides",
            "odd.🎵 songs songs"
          ])
          const zed = yield* asExistingPerson(odd, "id:7", "admin")
          expect((yield* zed.find("songs", [`${LONG.slice(0, 60)}=long`])).total).toBe(1)
          expect((yield* zed.find("wides", ["name=wide"])).total).toBe(1)
          for (const [type, name] of [
            ["even_tasks", "Even"],
            ["odd_tasks", "Upper"],
            ["scores", "Dig"]
          ] as const)
            expect((yield* zed.find(type)).entities[0], type).toMatchObject({ displayName: name })
          const columns = (yield* zed.columns("songs")).length
          expect(columns).toBe(5)
        })
    )

    it.effect(
      "stays readable when a column is generated from now on, or an enumeration has a new value, which is said",
      () =>
        Effect.gen(function* () {
          const odd = yield* makeOrganization("odd-2")
          const mappings = yield* Mappings
          const { proposed } = yield* mapTables(odd, {
            tables: ["odd.user", "odd.tasks", "odd.scores"],
            exclusive: true
          })
          const [tasks] = proposed.types.filter(({ table }) => table === "odd.tasks").map(({ type }) => type)
          const zed = yield* asExistingPerson(odd, "id:7", "admin")
          yield* runScript("ALTER TYPE odd.stage ADD VALUE 'late';\n")
          yield* runScript(`
UPDATE odd.tasks SET stage = 'late' WHERE id = 1;
ALTER TABLE odd.tasks DROP COLUMN doubled;
ALTER TABLE odd.tasks ADD COLUMN doubled int GENERATED ALWAYS AS (points * 2) STORED;
`)
          yield* mappings.recheck(odd)
          expect((yield* zed.find(tasks!, ["doubled>=7"])).total).toBe(1)
          expect((yield* zed.find(tasks!, ["name=dig"], { selectColumns: ["stage"] })).entities[0]).toMatchObject({
            columns: { stage: "late" }
          })
          expect((yield* mappings.diff(odd)).join("\n")).toContain('stage can now also be "late"')

          // A view whose function is gone fails for every row: unavailable, never empty, and no other type is.
          yield* runScript(
            "ALTER FUNCTION odd.twice RENAME TO thrice;\nCREATE FUNCTION odd.twice(n text) RETURNS int LANGUAGE sql AS 'SELECT 1';\n"
          )
          expect((yield* zed.find("scores")).total).toBe(2)
          yield* runScript(
            "CREATE OR REPLACE FUNCTION odd.thrice(n int) RETURNS int LANGUAGE plpgsql AS 'BEGIN RETURN odd.gone(n); END';\n"
          )
          expect(yield* Effect.flip(zed.find("scores", [], { selectColumns: ["score"] }))).toMatchObject({
            _tag: "Unavailable"
          })
          expect((yield* zed.find(tasks!)).total).toBe(2)
          yield* runScript("DROP FUNCTION odd.thrice CASCADE;\n")
          expect(yield* Effect.flip(zed.find("scores"))).toMatchObject({ _tag: "Unavailable" })
          expect((yield* mappings.diff(odd)).join("\n")).toContain("max map remove scores")
          expect((yield* zed.find(tasks!)).total).toBe(2)
        })
    )

    it.effect(
      "of a view whose function reads a dropped table is unavailable, and doctor and the differences say so",
      () =>
        Effect.gen(function* () {
          const odd = yield* makeOrganization("odd-4")
          yield* runScript(`
CREATE TABLE odd.rates (id int PRIMARY KEY, rate int);
CREATE FUNCTION odd.rate(n int) RETURNS int LANGUAGE plpgsql SECURITY DEFINER AS 'BEGIN RETURN (SELECT rate FROM odd.rates WHERE id = n); END';
CREATE VIEW odd.prices AS SELECT id, name, odd.rate(id) AS rate FROM odd."user";
`)
          yield* mapTables(odd, { tables: ["odd.user", "odd.prices"], exclusive: true })
          const zed = yield* asExistingPerson(odd, "id:7", "admin")
          expect((yield* zed.find("prices")).total).toBe(2)
          yield* runScript("DROP TABLE odd.rates;\n")
          expect(yield* Effect.flip(zed.find("prices", [], { selectColumns: ["rate"] }))).toMatchObject({
            _tag: "Unavailable"
          })
          expect((yield* zed.find("people")).total).toBe(2)
          const text = /odd\.prices fail: a table or view that it reads doesn't exist\.[^]*max map/
          expect((yield* differences(odd)).filter((line) => line.startsWith("prices:"))).toEqual([
            "prices: lookups of odd.prices fail: a table or view that it reads doesn't exist. Mend it in the database, or remove the type: max map remove prices"
          ])
          expect((yield* doctor).join("\n")).toMatch(text)
          yield* runScript("CREATE TABLE odd.rates (id int PRIMARY KEY, rate int);\n")
          expect((yield* zed.find("prices", [], { selectColumns: ["rate"] })).total).toBe(2)
          expect(yield* differences(odd)).toEqual([])
        })
    )

    it.effect(
      "of a table that gets row security under a running server blocks that type alone, in lookups and when it is applied again",
      () =>
        Effect.gen(function* () {
          const odd = yield* makeOrganization("odd-5")
          yield* runScript(`
CREATE TABLE odd.fences (id int PRIMARY KEY, name text);
INSERT INTO odd.fences VALUES (1, 'High'), (2, 'Low');
CREATE TABLE odd.gates (id int PRIMARY KEY, name text, fence_id int REFERENCES odd.fences);
INSERT INTO odd.gates VALUES (1, 'Main', 1);
`)
          const tables = { tables: ["odd.user", "odd.fences", "odd.gates"], exclusive: true }
          const { proposed } = yield* mapTables(odd, tables)
          const zed = yield* asExistingPerson(odd, "id:7", "admin")
          expect((yield* zed.find("fences")).total).toBe(2)
          yield* runScript(`
ALTER TABLE odd.fences ENABLE ROW LEVEL SECURITY;
CREATE POLICY low ON odd.fences FOR SELECT USING (name = 'Low');
`)
          const mappings = yield* Mappings
          const blocked = Effect.gen(function* () {
            expect(yield* Effect.flip(zed.find("fences"))).toMatchObject({ _tag: "Unavailable" })
            expect((yield* zed.find("gates")).total).toBe(1)
            expect((yield* zed.find("people")).total).toBe(2)
            const said = (yield* differences(odd)).join("\n")
            expect(said).toContain("fences: row security on odd.fences would hide rows")
            expect(said).toContain("CREATE VIEW odd.fences_all AS SELECT * FROM odd.fences;")
            expect(said).not.toContain("isn't the relation that was mapped")
            expect((yield* doctor).join("\n")).toMatch(
              /row security on odd\.fences would hide rows[^]*CREATE VIEW odd\.fences_all/
            )
          })
          yield* blocked
          // A new column of another table is mapped all the same.
          yield* runScript("ALTER TABLE odd.gates ADD width int;\n")
          const { applied, proposed: second } = yield* mapTables(odd, tables)
          expect(applied.types.map(({ slug }) => slug)).toEqual(["people", "gates"])
          expect(applied.kept.join()).toMatch(/^fences: row security on odd\.fences/)
          expect((yield* zed.columns("gates")).includes("width")).toBe(true)
          yield* blocked
          // Alone, or in an organization that hasn't mapped it, it is refused.
          const fences = proposed.types.filter(({ type }) => type === "fences")
          const other = yield* makeOrganization("odd-6")
          for (const where of [odd, other])
            expect(yield* Effect.flip(mappings.apply(where, { version: 1, types: fences }))).toMatchObject({
              _tag: "OperatorError",
              message: "Nothing is mapped: 1 problem."
            })
          // A mistake in the file refuses all of it, whatever else is blocked.
          expect(
            yield* Effect.flip(
              mappings.apply(odd, {
                version: 1,
                types: proposed.types.map((entry) => (entry.type === "gates" ? { ...entry, id: "nothing" } : entry))
              })
            )
          ).toMatchObject({ _tag: "OperatorError" })
          yield* runScript("DROP POLICY low ON odd.fences;\nALTER TABLE odd.fences DISABLE ROW LEVEL SECURITY;\n")
          expect((yield* zed.find("fences", ["name=high"])).total).toBe(1)
          expect(yield* differences(odd)).toEqual([])
          // The same for a table that is gone: what it was stays, and is removed by its command.
          yield* runScript("DROP TABLE odd.fences CASCADE;\n")
          const again = yield* mappings.apply(odd, { version: 1, types: second.types })
          expect(again.types.map(({ slug }) => slug)).toEqual(["people"])
          expect(again.kept.join()).toContain('fences: there is no table or view "odd.fences"')
          expect((yield* differences(odd)).join()).toContain("max map remove fences")
        })
    )

    it.effect("of rows that only 64 columns identify isn't proposed, and is read by a view that joins them", () =>
      Effect.gen(function* () {
        const odd = yield* makeOrganization("odd-7")
        const keys = Array.from({ length: 64 }, (_, at) => `part_${at}`)
        const columns = keys.map((key) => `${key} int NOT NULL`).join(", ")
        // Postgres declares at most 32 columns unique.
        expect(
          String(
            (yield* Effect.flip(
              runScript(`CREATE TABLE odd.parts (${columns}, name text, PRIMARY KEY (${keys.join(", ")}));\n`)
            )).reason.cause
          )
        ).toContain("32")
        yield* runScript(`
CREATE TABLE odd.parts (${columns}, name text);
INSERT INTO odd.parts VALUES (${keys.map((_, at) => at).join(", ")}, 'First'), (${keys.map((_, at) => 1000 + at).join(", ")}, 'Second');
`)
        const mappings = yield* Mappings
        const { file, notes } = yield* mappings.propose(odd, ["odd.user", "odd.parts"], true)
        expect(file.types.map(({ type }) => type)).toEqual(["people"])
        expect(notes.join("\n")).toContain("odd.parts: it has no key of a single column.")
        yield* runScript(
          `CREATE VIEW odd.parts_keyed AS SELECT concat_ws('-', ${keys.join(", ")}) AS id, * FROM odd.parts;\n`
        )
        yield* mapTables(odd, { tables: ["odd.user", "odd.parts_keyed"], exclusive: true })
        const zed = yield* asExistingPerson(odd, "id:7", "admin")
        const parts = yield* zed.findAll("parts", [], ["part_63"], 1)
        expect(parts).toMatchObject([
          { entityId: keys.map((_, at) => at).join("-"), columns: { part_63: 63 } },
          { entityId: keys.map((_, at) => 1000 + at).join("-"), columns: { part_63: 1063 } }
        ])
      })
    )

    it.effect("admits a person without phone number and e-mail address by a subject that is bound to their id", () =>
      Effect.gen(function* () {
        const odd = yield* makeOrganization("odd-3")
        yield* mapTables(odd, { tables: ["odd.user"], exclusive: true })
        yield* policyFor(odd, {
          version: 1,
          roles: { member: {} },
          rules: [
            {
              id: "own",
              effect: "allow",
              role: "member",
              action: "read",
              type: "people",
              columns: "*",
              where: { id: "$me" }
            }
          ]
        })
        const members = yield* Memberships
        const identities = yield* IdentityResolver
        const subject = "https://id.example yve-1"
        expect(yield* members.add(odd, { identifier: "id:8", roles: ["member"], subject })).toEqual({
          anchorId: "8",
          created: false
        })
        expect(yield* members.list(odd)).toMatchObject([{ anchorId: "8", name: "Yve", identifiers: [subject] }])
        for (const id of ["id:99", "id:x", "id:", "8", "id:8; DROP TABLE"])
          expect(yield* Effect.flip(members.add(odd, { identifier: id, roles: ["member"] })), id).toMatchObject({
            _tag: "OperatorError"
          })
        // The subject is of one member.
        expect(yield* Effect.flip(members.add(odd, { identifier: "id:7", roles: ["member"], subject }))).toMatchObject({
          _tag: "OperatorError"
        })
        const yve = yield* asExistingPerson(odd, "id:8", "member")
        expect((yield* yve.find("people")).entities).toMatchObject([{ entityId: "8" }])
        yield* members.suspend(odd, "id:8")
        expect(yield* Effect.flip(identities.readmit({ organizationId: odd.id, anchorEntityId: "8" }))).toMatchObject({
          _tag: "NotAdmitted"
        })
        yield* members.resume(odd, "id:8")
        expect((yield* yve.find("people")).total).toBe(1)
      })
    )
  }
)
