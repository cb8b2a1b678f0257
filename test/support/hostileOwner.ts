/** A hostile owner of tables, views, functions and schemas, and what becomes of relations that were mapped before. */
import { Effect } from "effect"
import { inject } from "vitest"
import { Database } from "../../src/database/Database.ts"
import type { TypeEntry } from "../../src/services/mapping/mappingFile.ts"
import { runScript } from "./mappedTables.ts"
import { runOnServer } from "./newDatabase.ts"

export const HOSTILE = `hostile_${process.pid}_${Date.now()}`
const READS_ALL = `SELECT string_agg(name, ',') FROM data.people`
/** Taken by a hostile function when it runs, and held by the session that ran it. */
const RAN = 47_110_815

/** The hostile role, which belongs to the server: made before the database in which it owns things, and dropped after it. */
export const hostileRole = Effect.acquireRelease(
  Effect.suspend(() => runOnServer(inject("serverUrl"), `CREATE ROLE ${HOSTILE}`)),
  () => Effect.ignore(runOnServer(inject("serverUrl"), `DROP ROLE ${HOSTILE}`))
)

/** The hostile role's own schema, functions that read all organizations, and the right to create in `crm`. */
export const SETTING = [
  `CREATE SCHEMA crm`,
  `CREATE SCHEMA theirs AUTHORIZATION ${HOSTILE}`,
  `GRANT ALL ON SCHEMA crm, public TO ${HOSTILE}`,
  `CREATE TABLE crm.staff (id int PRIMARY KEY, name text, email text)`,
  `INSERT INTO crm.staff VALUES (1, 'Sam', 'sam@here.example')`,
  `CREATE FUNCTION theirs.leak(int) RETURNS text IMMUTABLE LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_advisory_lock_shared(${RAN}); RETURN (${READS_ALL}); END $$`,
  `ALTER FUNCTION theirs.leak(int) OWNER TO ${HOSTILE}`,
  `CREATE FUNCTION theirs.leaks(text) RETURNS boolean IMMUTABLE LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_advisory_lock_shared(${RAN}); RETURN true; END $$`,
  `ALTER FUNCTION theirs.leaks(text) OWNER TO ${HOSTILE}`,
  `GRANT USAGE ON SCHEMA theirs TO PUBLIC`
]

const as = Effect.fnUntraced(function* (role: string, ...statements: ReadonlyArray<string>) {
  const { owner } = yield* Database
  yield* owner.withTransaction(
    Effect.forEach([`SET LOCAL ROLE ${role}`, ...statements], (text) => owner.unsafe(text).unprepared, {
      discard: true
    })
  )
})

/** Whether any session has run a hostile function. */
export const ran = Effect.flatMap(Database, ({ owner }) =>
  Effect.map(
    owner<{ ran: boolean }>`SELECT EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory' AND objid = ${RAN}
      AND database = (SELECT oid FROM pg_database WHERE datname = current_database())) AS ran`,
    ([row]) => row!.ran
  )
)

export const entry = (table: string, more: Partial<TypeEntry> = {}): TypeEntry => ({
  table,
  type: "things",
  exclusive: true,
  id: "id",
  columns: { name: { from: "name" } },
  ...more
})

export const table = (name: string) => `CREATE TABLE crm.${name} (id int PRIMARY KEY, name text NOT NULL)`

export const hostileView = (name: string) => [
  `CREATE VIEW ${name} AS SELECT id, theirs.leak(1) AS name FROM generate_series(1, 2) id`,
  `GRANT SELECT ON ${name} TO PUBLIC`
]

/** A view of a table and a function of the database's owner. */
const VIEW = [
  table("below"),
  "INSERT INTO crm.below VALUES (1, 'Lamp')",
  "CREATE FUNCTION crm.shown(text) RETURNS text IMMUTABLE LANGUAGE sql AS 'SELECT $1'",
  "CREATE VIEW crm.target AS SELECT id, crm.shown(name) AS name FROM crm.below"
]
const VIEW_AGAIN = "CREATE OR REPLACE VIEW crm.target AS SELECT id, crm.shown(name) AS name FROM crm.below"

/**
 * What changes after `crm.target` or `lent.target` was mapped, a table unless `relation` makes it. `own`: by a hostile role
 * that was given the schema.
 */
const AFTER: Readonly<
  Record<
    string,
    {
      readonly relation?: ReadonlyArray<string>
      readonly schema?: string
      readonly own?: boolean
      readonly change: ReadonlyArray<string>
      readonly undo: ReadonlyArray<string>
    }
  >
> = {
  "the table goes to a hostile owner": {
    change: [`ALTER TABLE crm.target OWNER TO ${HOSTILE}`],
    undo: ["ALTER TABLE crm.target OWNER TO CURRENT_USER"]
  },
  "the schema goes to a hostile owner": {
    schema: "lent",
    change: [`ALTER SCHEMA lent OWNER TO ${HOSTILE}`],
    undo: ["ALTER SCHEMA lent OWNER TO CURRENT_USER"]
  },
  "the schema's new owner puts a view in place of the table": {
    schema: "lent",
    own: true,
    change: ["DROP TABLE lent.target CASCADE", ...hostileView("lent.target")],
    undo: []
  },
  "the schema's new owner renames the schema and makes one of that name": {
    schema: "lent",
    own: true,
    change: [
      "ALTER SCHEMA lent RENAME TO before",
      "CREATE SCHEMA lent",
      "GRANT USAGE ON SCHEMA lent TO PUBLIC",
      ...hostileView("lent.target")
    ],
    undo: ["DROP SCHEMA lent CASCADE", "ALTER SCHEMA before RENAME TO lent", "ALTER SCHEMA lent OWNER TO CURRENT_USER"]
  },
  "the table is renamed and a hostile view takes its name": {
    change: [
      "ALTER TABLE crm.target RENAME TO moved",
      ...hostileView("crm.target"),
      `ALTER VIEW crm.target OWNER TO ${HOSTILE}`
    ],
    undo: ["DROP VIEW crm.target", "ALTER TABLE crm.moved RENAME TO target"]
  },
  "an equal table of the same owner takes its name": {
    change: ["ALTER TABLE crm.target RENAME TO moved", table("target"), "GRANT SELECT ON crm.target TO PUBLIC"],
    undo: ["DROP TABLE crm.target", "ALTER TABLE crm.moved RENAME TO target"]
  },
  "a child of a hostile owner is added": {
    change: ["CREATE TABLE crm.baby () INHERITS (crm.target)", `ALTER TABLE crm.baby OWNER TO ${HOSTILE}`],
    undo: ["DROP TABLE crm.baby"]
  },
  "an index calls a hostile function": {
    change: ["CREATE INDEX hostile ON crm.target ((theirs.leak(1)), name) WHERE theirs.leaks('x')"],
    undo: ["DROP INDEX crm.hostile"]
  },
  "row security hides rows": {
    change: [
      "ALTER TABLE crm.target ENABLE ROW LEVEL SECURITY",
      "CREATE POLICY own ON crm.target USING (name = current_setting('app.tenant', true))"
    ],
    undo: ["DROP POLICY own ON crm.target", "ALTER TABLE crm.target DISABLE ROW LEVEL SECURITY"]
  },
  "a policy calls a hostile function": {
    change: [
      "ALTER TABLE crm.target ENABLE ROW LEVEL SECURITY",
      "CREATE POLICY own ON crm.target USING (theirs.leaks('x'))"
    ],
    undo: ["DROP POLICY own ON crm.target", "ALTER TABLE crm.target DISABLE ROW LEVEL SECURITY"]
  },
  "a constraint calls a hostile function": {
    change: ["ALTER TABLE crm.target ADD CONSTRAINT hostile CHECK (theirs.leaks(name)) NOT VALID"],
    undo: ["ALTER TABLE crm.target DROP CONSTRAINT hostile"]
  },
  "statistics call a hostile function": {
    change: ["CREATE STATISTICS crm.hostile ON (theirs.leak(id)), name FROM crm.target"],
    undo: ["DROP STATISTICS crm.hostile"]
  },
  "the view is redefined with a hostile function": {
    relation: VIEW,
    change: ["CREATE OR REPLACE VIEW crm.target AS SELECT id, theirs.leak(id) AS name FROM crm.below"],
    undo: [VIEW_AGAIN]
  },
  "the view is redefined over a table that its reader isn't to see": {
    relation: VIEW,
    change: ["CREATE OR REPLACE VIEW crm.target AS SELECT id::int AS id, name FROM data.people"],
    undo: [VIEW_AGAIN]
  },
  "the view goes to a hostile owner": {
    relation: VIEW,
    change: [`ALTER VIEW crm.target OWNER TO ${HOSTILE}`],
    undo: ["ALTER VIEW crm.target OWNER TO CURRENT_USER"]
  },
  "the table below the view goes to a hostile owner": {
    relation: VIEW,
    change: [`ALTER TABLE crm.below OWNER TO ${HOSTILE}`],
    undo: ["ALTER TABLE crm.below OWNER TO CURRENT_USER"]
  },
  "the function below the view goes to a hostile owner": {
    relation: VIEW,
    change: [`ALTER FUNCTION crm.shown(text) OWNER TO ${HOSTILE}`],
    undo: ["ALTER FUNCTION crm.shown(text) OWNER TO CURRENT_USER"]
  }
}

export const relationOf = (schema: string, name: string) => [
  `CREATE SCHEMA IF NOT EXISTS ${schema}`,
  `CREATE TABLE ${schema}.${name} (id int PRIMARY KEY, name text NOT NULL)`,
  `INSERT INTO ${schema}.${name} VALUES (1, 'Lamp')`
]

/** The cases, each with a relation of its own. */
export const changes = () =>
  Object.entries(AFTER).map(([name, { change, own = false, relation, schema: named = "crm", undo }], index) => {
    const numbered = (statements: ReadonlyArray<string>) =>
      statements.map((text) =>
        text.replaceAll(/\b(target|lent|before|moved|baby|hostile|below|shown)\b/g, `$1_${index}`)
      )
    const type = `target_${index}`
    const schema = named === "lent" ? `lent_${index}` : named
    return {
      name,
      own,
      type,
      schema,
      relation: relation === undefined ? relationOf(schema, type) : numbered(relation),
      change: numbered(change),
      undo: numbered(undo)
    }
  })

export const script = (statements: ReadonlyArray<string>) => runScript(statements.map((text) => `${text};\n`).join(""))

/** Makes a change, as the hostile role if it is `own`. */
export const make = Effect.fnUntraced(function* (change: ReadonlyArray<string>, own: boolean, schema: string) {
  if (!own) return yield* script(change)
  yield* script([
    `ALTER SCHEMA ${schema} OWNER TO ${HOSTILE}`,
    `DO $$ BEGIN EXECUTE format('GRANT CREATE ON DATABASE %I TO ${HOSTILE}', current_database()); END $$`
  ])
  yield* as(HOSTILE, ...change)
})
