/** What a mapping lets changes write, and what it is refused with before anything is mapped. */
import { layer } from "@effect/vitest"
import { Effect } from "effect"
import { expect } from "vitest"
import { Database } from "../../../src/database/Database.ts"
import { inspect } from "../../../src/database/migrate.ts"
import { Mappings } from "../../../src/services/mapping/Mappings.ts"
import { compareWrites } from "../../../src/services/mapping/writeGrants.ts"
import { readMappingFile } from "../../../src/services/mapping/mappingFile.ts"
import { mapped } from "../../../src/services/operations/doctor/mapped.ts"
import { makeOrganization } from "../../support/atlas.ts"
import { TestServices } from "../../support/database.ts"
import { byHand, runScript } from "../../support/mappedTables.ts"

/** Roles belong to a whole server, which other runs use, too. */
const STRANGER = `stranger_${process.pid}_${Date.now()}`
const SCRIPT = `CREATE SCHEMA crm;
CREATE TYPE crm.mood AS ENUM ('calm', 'cross');
CREATE TABLE crm.rep (id int PRIMARY KEY, name text);
CREATE TABLE crm.customer (id int PRIMARY KEY, name text, first text, last text, code text UNIQUE, shout text GENERATED ALWAYS AS (upper(name)) STORED,
  number int GENERATED ALWAYS AS IDENTITY, tenant text, gone boolean, ratio float8, fee money, tags text[], born timestamp, host inet, mood crm.mood, rep int REFERENCES crm.rep, phone text);
CREATE TABLE crm.line (id int PRIMARY KEY, name text, customer int REFERENCES crm.customer ON DELETE CASCADE, code text REFERENCES crm.customer (code));
CREATE TABLE crm.part (id int PRIMARY KEY, line int REFERENCES crm.line ON DELETE CASCADE, old int REFERENCES crm.line ON DELETE SET NULL);
CREATE TABLE crm.seen_by (customer int REFERENCES crm.customer, rep int REFERENCES crm.rep, PRIMARY KEY (customer, rep));
CREATE TABLE crm.tree (id int PRIMARY KEY, name text, above int REFERENCES crm.tree ON DELETE CASCADE);
CREATE VIEW crm.everyone AS SELECT id, name FROM crm.customer;
CREATE FOREIGN DATA WRAPPER nothing;
CREATE SERVER elsewhere FOREIGN DATA WRAPPER nothing;
CREATE FOREIGN TABLE crm.remote (id int, name text) SERVER elsewhere;
CREATE ROLE ${STRANGER};
CREATE FUNCTION public.theirs() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END';
ALTER FUNCTION public.theirs() OWNER TO ${STRANGER};
CREATE TABLE crm.slip (id int PRIMARY KEY, name text NOT NULL, tenant text, day date NOT NULL, shop text NOT NULL DEFAULT 'x', gone boolean NOT NULL);
CREATE TABLE crm.ruled (id serial PRIMARY KEY, name text);
CREATE RULE twice AS ON INSERT TO crm.ruled DO ALSO NOTHING;
CREATE TABLE crm.guarded (id int PRIMARY KEY, name text);
CREATE TRIGGER watch BEFORE UPDATE ON crm.guarded FOR EACH ROW EXECUTE FUNCTION public.theirs();
`

const columns = {
  name: { from: "name" },
  whole: { from: ["first", "last"] },
  shout: { from: "shout" },
  number: { from: "number", kind: "number" },
  key: { from: "id", kind: "integer" },
  tenant: { from: "tenant" },
  gone: { from: "gone" },
  code: { from: "code" },
  ratio: { from: "ratio" },
  fee: { from: "fee" },
  tags: { from: "tags" },
  born: { from: "born", kind: "date" },
  host: { from: "host" },
  mood: { from: "mood" },
  rep: { from: "rep", to: "crm.rep" },
  lines: { from: "customer", to: "crm.rep", through: "crm.seen_by", via: "rep" },
  phone: { from: "phone", kind: "phone" }
}
const REFUSED: Readonly<Record<string, string>> = {
  whole: "it is put together from several columns",
  shout: "Postgres generates its value",
  number: "Postgres generates its value",
  key: "it identifies the row",
  tenant: "it says whose row it is",
  gone: 'it decides in "where" whether the row is shown',
  code: "rows of crm.line refer to it",
  ratio: "double precision read as number has no exact way back",
  fee: "money read as number has no exact way back",
  tags: "text[] read as list has no exact way back",
  born: "timestamp without time zone read as date has no exact way back",
  host: "inet read as text has no exact way back",
  lines: "its links are rows of another table"
}

const customers = {
  table: "crm.customer",
  type: "customers",
  organization: "tenant",
  id: "id",
  where: { gone: false },
  columns
}
const reps = { table: "crm.rep", type: "reps", exclusive: true, id: "id", columns: { name: { from: "name" } } }
const simple = (table: string, write: object) => ({
  table: `crm.${table}`,
  type: table,
  exclusive: true,
  id: "id",
  columns: { name: { from: "name" } },
  write
})

layer(TestServices, { excludeTestServices: true })("a mapping that lets rows be changed", (it) => {
  const prepared = Effect.gen(function* () {
    const organization = yield* makeOrganization(`crm${Math.random().toString(36).slice(2, 8)}`)
    const mappings = yield* Mappings
    yield* mappings.setKey(organization, "atlas")
    return {
      apply: (...types: ReadonlyArray<object>) =>
        Effect.flatMap(readMappingFile(JSON.stringify({ version: 1, types })), (file) =>
          mappings.apply(organization, file)
        )
    }
  })
  const refused = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
    Effect.map(
      Effect.flip(effect),
      (error) => (error as unknown as { readonly details: ReadonlyArray<string> }).details
    )

  it.effect("is refused with the reason of each column, table, trigger and cascade that can't be written", () =>
    Effect.gen(function* () {
      yield* runScript(SCRIPT)
      const { apply } = yield* prepared
      const write = { columns: ["name", "mood", "phone", ...Object.keys(REFUSED), "nmae"], delete: "row" }
      expect(yield* refused(apply({ ...customers, write }, reps))).toEqual([
        ...Object.entries(REFUSED).map(([slug, why]) => `customers: write: ${slug} can't be changed: ${why}.`),
        'customers: write: there is no column "nmae". Did you mean name?',
        ...["crm.line", "crm.part"].map(
          (table) =>
            `customers: write: rows of ${table} would go or change with a deleted row. Accept that with "cascades": ["${table}"], or leave "delete" out.`
        )
      ])
      expect(
        yield* refused(apply(simple("tree", { columns: ["name"], delete: "row", cascades: ["crm.tree"] })))
      ).toEqual([
        'tree: write: how many rows of crm.tree would go with a deleted row can\'t be counted, because Max may not read them or they take along rows of themselves. Leave "delete" out.'
      ])
      const setting = (set: object) => ({ ...customers, write: { columns: ["name"], delete: { set } } })
      expect(
        yield* refused(apply(setting({ gone: false, code: "x", nope: "x", name: true, tenant: "y" }), reps))
      ).toEqual([
        `customers: write: rows can't be deleted by "set": rows of crm.line refer to "code".`,
        `customers: write: rows can't be deleted by "set": crm.customer has no column "nope".`,
        `customers: write: rows can't be deleted by "set": "name" isn't true or false.`,
        `customers: write: rows can't be deleted by "set": "tenant" says which row it is, or whose.`,
        `customers: write: rows can't be deleted by "set": "where" would still show the row. Let it name one of these columns with another value.`
      ])
      expect(yield* refused(apply(simple("everyone", { columns: ["name"] })))).toEqual([
        "everyone: write: crm.everyone is a view; only rows of a table can be changed."
      ])
      expect(yield* refused(apply(simple("remote", { columns: ["name"] })))).toEqual([
        expect.stringContaining("crm.remote: a foreign table, which isn't mapped itself.")
      ])
      expect(yield* refused(apply(simple("guarded", { columns: ["name"] })))).toEqual([
        `guarded: write: the function of the trigger "watch" belongs to a role that could run anything with Max's rights.`
      ])
      expect(yield* refused(apply(simple("ruled", { columns: ["name"], create: true })))).toEqual([
        "ruled: write: a rule on crm.ruled makes other statements of a change."
      ])
      const slip = { ...simple("slip", { columns: ["name"], create: true }), where: { gone: null } }
      expect(yield* refused(apply(slip))).toEqual([
        `slip: write: rows can't be added: Postgres gives "id" no value. Make it an identity or give it a default: the id is never chosen here.`,
        `slip: write: rows can't be added: every row needs "day", which "columns" doesn't set. Add it there, give it a default, or leave "create" out.`,
        `slip: write: rows can't be added: every row needs "gone", and "where" shows only rows without it.`
      ])
      expect(yield* refused(apply(simple("slip", { columns: [], create: true, delete: "row" })))).toContain(
        `slip: write: rows can't be added: name the columns that a new row gets in "columns".`
      )
      expect(yield* refused(apply(simple("line", { columns: [], cascades: ["crm.rep"] })))).toEqual([
        `line: write: no foreign key passes a deletion on to "crm.rep". Take it out of "cascades".`,
        `line: write: it names nothing that may be changed. Leave "write" out.`
      ])
      expect(yield* refused(apply(simple("line", { columns: [], delete: "row" })))).toEqual([
        expect.stringContaining("a row is locked before it is deleted"),
        expect.stringContaining("rows of crm.part would go or change")
      ])
      const unread = yield* Effect.flip(apply(simple("line", { columns: ["name"], delete: "all", into: "x" })))
      expect((unread as { message: string }).message).toBe("This isn't a mapping file.")
    })
  )

  it.effect("is compared with the rights of the role of changes in both directions", () =>
    Effect.gen(function* () {
      const { owner } = yield* Database
      const { apply } = yield* prepared
      const applied = yield* apply({ ...customers, write: { columns: ["name", "mood"] } }, reps)
      expect(applied.types[0]!.written).toEqual(["name", "mood"])
      const [role] = yield* byHand("SELECT replace(pg_get_userbyid(max.reading_role())::text, 'read', 'change') AS id")
      expect(applied.grants).toEqual([`GRANT UPDATE ("mood", "name") ON "crm"."customer" TO "${role}"`])
      const doctor = Effect.gen(function* () {
        return (yield* mapped({ inspection: yield* inspect(owner), owner })).filter(({ status }) => status === "fail")
      })
      expect(yield* doctor).toEqual([])
      yield* owner.unsafe(`REVOKE UPDATE (mood) ON crm.customer FROM "${role}"`)
      yield* owner.unsafe(`GRANT UPDATE (phone), DELETE ON crm.customer TO "${role}"`)
      yield* owner.unsafe("GRANT INSERT (name) ON crm.line TO PUBLIC")
      const rights = yield* compareWrites(owner)
      expect(rights.missing).toEqual([`GRANT UPDATE ("mood") ON "crm"."customer" TO "${role}"`])
      expect([...rights.excess].sort()).toEqual([
        "DELETE on crm.customer",
        "INSERT (name) on crm.line",
        "UPDATE (phone) on crm.customer"
      ])
      expect(yield* doctor).toMatchObject([{ mend: ["max migrate", expect.stringContaining(`UPDATE ("mood")`)] }])
      yield* owner.unsafe(`GRANT USAGE ON SEQUENCE crm.ruled_id_seq TO "${role}"`)
      expect((yield* compareWrites(owner)).excess).toContain("USAGE on sequence crm.ruled_id_seq")
      // Applied again, the rights are those of the mapping; what PUBLIC has is said.
      const again = yield* apply({ ...customers, write: { columns: ["name", "mood"] } }, reps)
      expect(again.excess).toEqual(["INSERT (name) on crm.line"])
      expect(yield* doctor).toEqual([])
      yield* owner.unsafe("REVOKE INSERT (name) ON crm.line FROM PUBLIC")
      // New rows: the columns that are set, those that make a row the organization's, and the sequence of a default.
      yield* owner.unsafe("CREATE SEQUENCE crm.numbers")
      yield* owner.unsafe("ALTER TABLE crm.customer ALTER id SET DEFAULT nextval('crm.numbers')")
      const adding = { ...customers, write: { columns: ["name", "mood"], create: true } }
      expect([...(yield* apply(adding, reps)).grants].sort()).toEqual([
        `GRANT INSERT ("gone", "mood", "name", "tenant") ON "crm"."customer" TO "${role}"`,
        `GRANT UPDATE ("mood", "name") ON "crm"."customer" TO "${role}"`,
        `GRANT USAGE ON SEQUENCE "crm"."numbers" TO "${role}"`
      ])
      expect(yield* doctor).toEqual([])
      yield* owner.unsafe(`REVOKE USAGE ON SEQUENCE crm.numbers FROM "${role}"`)
      yield* owner.unsafe(`GRANT INSERT (phone) ON crm.customer TO "${role}"`)
      const drifted = yield* compareWrites(owner)
      expect(drifted.missing).toEqual([`GRANT USAGE ON SEQUENCE "crm"."numbers" TO "${role}"`])
      expect(drifted.excess).toEqual(["INSERT (phone) on crm.customer"])
      expect((yield* apply(customers, reps)).grants).toEqual([])
      expect((yield* compareWrites(owner)).excess).toEqual([])
    })
  )

  it.effect(
    "stays as it was when a column that it writes is generated from now on, and the others are mapped again",
    () =>
      Effect.gen(function* () {
        const { apply } = yield* prepared
        const calls = simple("calls", { columns: ["name"] })
        yield* runScript("CREATE TABLE crm.calls (id int PRIMARY KEY, name text);\n")
        yield* apply(calls, reps)
        yield* runScript(
          "ALTER TABLE crm.calls DROP COLUMN name;\nALTER TABLE crm.calls ADD COLUMN name text GENERATED ALWAYS AS ('Call ' || id) STORED;\n"
        )
        const again = yield* apply(calls, reps)
        expect(again.kept).toEqual(["calls: write: name can't be changed: Postgres generates its value."])
        expect(again.types.map(({ slug }) => slug)).toEqual(["reps"])
        const { write: _, ...read } = calls
        expect((yield* apply(read, reps)).types.map(({ slug, written }) => [slug, written])).toEqual([
          ["calls", []],
          ["reps", []]
        ])
      })
  )
})
