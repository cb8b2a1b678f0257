/** Proposals for schemas with tables of one name, keys that are credentials, and more columns than a type has. */
import { layer } from "@effect/vitest"
import { Effect } from "effect"
import { expect } from "vitest"
import type { TypeEntry } from "../../../src/services/mapping/mappingFile.ts"
import { Mappings } from "../../../src/services/mapping/Mappings.ts"
import { makeOrganization } from "../../support/atlas.ts"
import { TestServices } from "../../support/database.ts"
import { asExistingPerson, mapTables, runScript } from "../../support/mappedTables.ts"

const SCRIPT = `
CREATE SCHEMA sales;
CREATE SCHEMA "Purchasing";
CREATE TABLE sales.orders (id int PRIMARY KEY, name text);
CREATE TABLE "Purchasing".orders (id int PRIMARY KEY, name text);
CREATE TABLE sales.vendors (id int PRIMARY KEY, name text);
CREATE TABLE sales.sessions (token text PRIMARY KEY, name text);
CREATE TABLE sales.measurements (id int PRIMARY KEY, ${Array.from({ length: 200 }, (_, at) => `m${at} int`).join(", ")});
`

layer(TestServices, { excludeTestServices: true })("a proposal", (it) => {
  it.effect("names types of one name by their schemas, and says what it leaves out", () =>
    Effect.gen(function* () {
      yield* runScript(SCRIPT)
      const mappings = yield* Mappings
      const { file, notes } = yield* mappings.propose(yield* makeOrganization("atlas"), [], true)
      expect(file.types.map(({ table, type }) => [table, type])).toEqual([
        ["Purchasing.orders", "purchasing_orders"],
        ["sales.measurements", "measurements"],
        ["sales.orders", "sales_orders"],
        ["sales.vendors", "vendors"]
      ])
      expect(notes).toContain("sales.sessions: left out, because its key is held back and every result would show it.")
      expect(Object.keys(file.types[1]!.columns)).toHaveLength(190)
      expect(notes).toContain(
        "sales.measurements: 11 of its columns are left out, as a type has at most 190: m189, m190, m191, m192, m193, m194, m195, m196, m197, m198, m199."
      )
    })
  )

  it.effect("advises about a key with statements that work, once, whatever the key is", () =>
    Effect.gen(function* () {
      const mappings = yield* Mappings
      const atlas = yield* makeOrganization("keys")
      yield* runScript(`
CREATE SCHEMA keys;
CREATE COLLATION keys.loose (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
CREATE TABLE keys.days (day date PRIMARY KEY, name text);
CREATE TABLE keys.rates (rate numeric PRIMARY KEY, name text);
CREATE TABLE keys.codes (code text COLLATE keys.loose PRIMARY KEY, name text);
CREATE TABLE keys.parts (id int, tenant int, name text, PRIMARY KEY (id, tenant));
CREATE EXTENSION IF NOT EXISTS postgres_fdw;
CREATE SERVER elsewhere FOREIGN DATA WRAPPER postgres_fdw;
CREATE FOREIGN TABLE keys.remote (id int, name text) SERVER elsewhere;
`)
      const tables = ["days", "rates", "codes", "parts"]
      const proposed = yield* mappings.propose(
        atlas,
        tables.map((table) => `keys.${table}`),
        true
      )
      expect(proposed.file.types).toEqual([])
      const statements = proposed.notes.flatMap((text) => /CREATE VIEW .*;/.exec(text) ?? [])
      expect(statements).toHaveLength(4)
      yield* runScript(statements.map((text) => `${text}\n`).join(""))
      const views = tables.map((table) => `keys.${table}_keyed`)
      const { file, notes } = yield* mappings.propose(atlas, [], true)
      const keyed = file.types.filter(({ table }) => views.includes(table))
      expect(keyed.map(({ id }) => id)).toEqual(["id", "id", "id", "id"])
      for (const table of tables) expect(notes).toContain(`keys.${table}: read by its view ${table}_keyed.`)
      yield* mappings.apply(atlas, { version: 1, types: keyed })
      expect(notes.join("\n")).toContain("keys.remote: a foreign table")
      const refused = yield* Effect.flip(mappings.propose(atlas, ["keys.remote"], true))
      expect(refused).toMatchObject({ message: expect.stringContaining("a foreign table") })
    })
  )

  it.effect("leaves out a table that row security would hide, names the remedy, and maps the others unedited", () =>
    Effect.gen(function* () {
      const mappings = yield* Mappings
      const secured = yield* makeOrganization("secured")
      yield* runScript(`
CREATE SCHEMA secured;
CREATE TABLE secured.notes (id int PRIMARY KEY, name text);
CREATE TABLE secured.tags (id int PRIMARY KEY, name text);
CREATE TABLE secured.note_tags (note_id int REFERENCES secured.notes, tag_id int REFERENCES secured.tags, PRIMARY KEY (note_id, tag_id));
ALTER TABLE secured.notes ENABLE ROW LEVEL SECURITY;
CREATE POLICY own ON secured.notes USING (name = current_user);
`)
      const of = (table: string) => table.startsWith("secured.")
      const { file, notes } = yield* mappings.propose(secured, [], true)
      const types = file.types.filter(({ table }) => of(table))
      expect(types.map(({ table }) => table)).toEqual(["secured.tags"])
      expect(notes.join("\n")).toContain(
        "secured.notes: left out, because of row security on secured.notes would hide rows"
      )
      yield* mappings.apply(secured, { version: 1, types })
      const view = /CREATE VIEW secured\.notes_all .*?;/.exec(notes.join("\n"))![0]
      yield* runScript(`${view}\n`)
      expect((yield* mappings.propose(secured, [], true)).file.types.map(({ table }) => table)).toContain(
        "secured.notes_all"
      )
      // An operator who names the table gets it, and the refusal.
      const named = yield* mappings.propose(secured, ["secured.notes"], true)
      expect(yield* Effect.flip(mappings.apply(secured, named.file))).toMatchObject({ _tag: "OperatorError" })
    })
  )

  it.effect("takes no login for a reference, no pending address for a person's, and no credential for an id", () =>
    Effect.gen(function* () {
      const mappings = yield* Mappings
      yield* runScript(`
CREATE SCHEMA tab;
CREATE TABLE tab."tabUser" (name text PRIMARY KEY, full_name text);
CREATE TABLE tab."tabEmployee" (name text PRIMARY KEY, first_name text, last_name text, modified_by text, user_id text, personal_email text, unconfirmed_email text, company_email text, email_template text);
CREATE TABLE tab."tabLogin" (name text UNIQUE, note text);
CREATE TABLE tab."tabVoucher" (token text NOT NULL UNIQUE, note text);
`)
      const tables = ["User", "Employee", "Login", "Voucher"].map((table) => `tab.tab${table}`)
      const { file, notes } = yield* mappings.propose(yield* makeOrganization("tabs"), tables, true)
      const [people] = file.types.filter(({ type }) => type === "people")
      expect(people).toMatchObject({ pluralName: "Employees", table: "tab.tabEmployee" })
      const columns = Object.entries(people!.columns).map(([name, { kind, to }]) => `${name} ${to ?? kind}`)
      expect(columns).toEqual([
        "name text",
        "modified_by text",
        "user tab.tabUser",
        "company_email email",
        "personal_email email",
        "unconfirmed_email text",
        "email_template text"
      ])
      expect(notes.join("\n")).toContain("members are found there by company_email.")
      expect(notes.join("\n")).toContain(`ALTER TABLE tab."tabLogin" ALTER name SET NOT NULL;`)
      expect(notes.join("\n")).not.toContain("CREATE UNIQUE INDEX")
      expect(notes.join("\n")).toContain("SELECT encode(sha256(convert_to(token::text, 'UTF8')), 'hex') AS id, * FROM")
    })
  )

  it.effect("reads network addresses as they are written", () =>
    Effect.gen(function* () {
      const hosts = yield* makeOrganization("hosts")
      yield* runScript(`
CREATE SCHEMA net;
CREATE TABLE net.staff (id int PRIMARY KEY, name text, email text);
INSERT INTO net.staff VALUES (1, 'Kim', 'kim@hosts.example');
CREATE TABLE net.hosts (id int PRIMARY KEY, name text, address inet, net cidr, card macaddr);
INSERT INTO net.hosts VALUES (1, 'a', '10.0.0.7', '10.0.0.0/24', '08:00:2b:01:02:03'), (2, 'b', 'fe80::7', '::/0', NULL), (3, 'c', '10.0.0.7/24', NULL, NULL);
`)
      const edit = (entry: TypeEntry): TypeEntry => (entry.table === "net.staff" ? { ...entry, type: "people" } : entry)
      yield* mapTables(hosts, { tables: ["net.staff", "net.hosts"], exclusive: true, edit })
      const kim = yield* asExistingPerson(hosts, "kim@hosts.example", "admin")
      for (const [filter, found] of [
        ["address=10.0.0.7", ["a"]],
        ["address=FE80::7", ["b"]],
        ["address=10.0.0.7/24", ["c"]],
        ["net=10.0.0.0/24", ["a"]],
        ["card=08:00:2B:01:02:03", ["a"]],
        ["address~10.0.0", ["a", "c"]]
      ] as const)
        expect(
          (yield* kim.find("hosts", [filter])).entities.map(({ displayName }) => displayName),
          filter
        ).toEqual(found)
    })
  )
})
