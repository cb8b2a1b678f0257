/** Owners of relations who attack: what is refused before it is mapped, and what is never read afterwards. */
import { layer } from "@effect/vitest"
import { Effect, Fiber, Layer } from "effect"
import { expect } from "vitest"
import { Database } from "../../../src/database/Database.ts"
import { OperatorError } from "../../../src/domain/errors.ts"
import type { TypeEntry } from "../../../src/services/mapping/mappingFile.ts"
import { inspect } from "../../../src/database/migrate.ts"
import { mapped } from "../../../src/services/operations/doctor/mapped.ts"
import { explainStatement } from "../../../src/services/traces/explainStatement.ts"
import { OrganizationState } from "../../../src/services/catalog/OrganizationState.ts"
import { Mappings } from "../../../src/services/mapping/Mappings.ts"
import { addPeople, makeOrganization } from "../../support/atlas.ts"
import { TestServices } from "../../support/database.ts"
import {
  changes,
  entry,
  HOSTILE,
  hostileRole,
  make,
  ran,
  relationOf,
  script,
  SETTING,
  table
} from "../../support/hostileOwner.ts"
import { asExistingPerson, mapTables, policyFor } from "../../support/mappedTables.ts"
import { until } from "../../support/until.ts"

/** The organization that maps, and another with a row that no hostile function may reach; made by the first test that runs. */
const setUp = Effect.gen(function* () {
  const { owner } = yield* Database
  const states = yield* OrganizationState
  const [row] = yield* owner<{ made: boolean }>`SELECT to_regnamespace('crm') IS NOT NULL AS made`
  if (row!.made) return yield* states.organization("here")
  const here = yield* makeOrganization("here")
  yield* addPeople(yield* makeOrganization("there"), [{ name: "CANARY of there" }])
  yield* script(SETTING)
  return here
})

/** Each relation is the name of its case, in `crm` by default; the fault names the part at fault, and how to mend it. */
const REFUSED: Readonly<Record<string, readonly [statements: ReadonlyArray<string>, fault: string]>> = {
  own_table: [
    [table("own_table"), `ALTER TABLE crm.own_table OWNER TO ${HOSTILE}`],
    "ALTER TABLE crm.own_table OWNER TO"
  ],
  "theirs.own_schema": [
    ["CREATE TABLE theirs.own_schema (id int PRIMARY KEY, name text NOT NULL)"],
    "ALTER SCHEMA theirs OWNER TO"
  ],
  own_view: [
    ["CREATE VIEW crm.own_view AS SELECT id, name FROM crm.staff", `ALTER VIEW crm.own_view OWNER TO ${HOSTILE}`],
    "ALTER VIEW crm.own_view OWNER TO"
  ],
  over_table: [
    [
      table("below"),
      `ALTER TABLE crm.below OWNER TO ${HOSTILE}`,
      "CREATE VIEW crm.inner_view AS SELECT * FROM crm.below",
      "CREATE VIEW crm.over_table AS SELECT * FROM crm.inner_view"
    ],
    "the table crm.below of"
  ],
  calls: [["CREATE VIEW crm.calls AS SELECT 1 AS id, theirs.leak(1) AS name"], "the function theirs.leak(integer) of"],
  stored: [
    [
      "CREATE MATERIALIZED VIEW crm.stored AS SELECT id, name FROM crm.staff",
      "CREATE UNIQUE INDEX ON crm.stored (id)",
      `ALTER MATERIALIZED VIEW crm.stored OWNER TO ${HOSTILE}`
    ],
    "ALTER MATERIALIZED VIEW crm.stored OWNER TO"
  ],
  generated: [
    [
      "CREATE TABLE crm.generated (id int PRIMARY KEY, name text NOT NULL, more text GENERATED ALWAYS AS (theirs.leak(1)) STORED)"
    ],
    "the function theirs.leak(integer) of"
  ],
  indexed: [
    [table("indexed"), "CREATE INDEX ON crm.indexed ((theirs.leak(id)))"],
    "the function theirs.leak(integer) of"
  ],
  partly: [
    [table("partly"), "CREATE INDEX ON crm.partly (name) WHERE theirs.leaks(name)"],
    "the function theirs.leaks("
  ],
  checked: [[table("checked"), "ALTER TABLE crm.checked ADD CHECK (theirs.leaks(name))"], "the function theirs.leaks("],
  counted: [
    [table("counted"), "CREATE STATISTICS crm.of_counted ON (theirs.leak(id)), name FROM crm.counted"],
    "the function theirs.leak(integer) of"
  ],
  labels: [
    [
      "CREATE TYPE crm.label AS ENUM ('a')",
      `ALTER TYPE crm.label OWNER TO ${HOSTILE}`,
      "CREATE TABLE crm.labels (id int PRIMARY KEY, name text NOT NULL, label crm.label[])"
    ],
    "the type crm.label of"
  ],
  casts: [
    [
      "CREATE TYPE crm.shade AS ENUM ('a')",
      "CREATE FUNCTION theirs.shown(crm.shade) RETURNS text LANGUAGE sql AS 'SELECT ''x''::text'",
      `ALTER FUNCTION theirs.shown(crm.shade) OWNER TO ${HOSTILE}`,
      "CREATE CAST (crm.shade AS text) WITH FUNCTION theirs.shown(crm.shade)",
      "CREATE TABLE crm.casts (id int PRIMARY KEY, name text NOT NULL, shade crm.shade)"
    ],
    "the function theirs.shown(crm.shade) of"
  ],
  domains: [
    [
      "CREATE DOMAIN crm.checked_text AS text CHECK (theirs.leaks(VALUE))",
      "CREATE TABLE crm.domains (id int PRIMARY KEY, name crm.checked_text NOT NULL)"
    ],
    "the function theirs.leaks("
  ],
  operators: [
    [
      "CREATE OPERATOR theirs.!! (FUNCTION = theirs.leaks, RIGHTARG = text)",
      `ALTER OPERATOR theirs.!! (NONE, text) OWNER TO ${HOSTILE}`,
      "CREATE VIEW crm.operators AS SELECT id, name FROM crm.staff WHERE OPERATOR(theirs.!!) name"
    ],
    "the operator theirs.!!("
  ],
  parent: [
    [table("parent"), "CREATE TABLE crm.child () INHERITS (crm.parent)", `ALTER TABLE crm.child OWNER TO ${HOSTILE}`],
    "ALTER TABLE crm.child OWNER TO"
  ],
  parted: [
    [
      "CREATE TABLE crm.parted (id int PRIMARY KEY, name text NOT NULL) PARTITION BY RANGE (id)",
      "CREATE TABLE crm.part PARTITION OF crm.parted FOR VALUES FROM (0) TO (9)",
      `ALTER TABLE crm.part OWNER TO ${HOSTILE}`
    ],
    "ALTER TABLE crm.part OWNER TO"
  ],
  tenants: [
    [
      table("tenants"),
      "ALTER TABLE crm.tenants ENABLE ROW LEVEL SECURITY",
      "CREATE POLICY own ON crm.tenants USING (name = current_setting('app.tenant', true))"
    ],
    "row security on crm.tenants"
  ],
  restricted: [
    [
      table("restricted"),
      "ALTER TABLE crm.restricted ENABLE ROW LEVEL SECURITY",
      "CREATE POLICY own ON crm.restricted USING (true)",
      "CREATE POLICY more ON crm.restricted AS RESTRICTIVE USING (true)"
    ],
    "row security on crm.restricted"
  ],
  doubled: [
    [
      table("doubled"),
      "ALTER TABLE crm.doubled ENABLE ROW LEVEL SECURITY",
      "CREATE POLICY own ON crm.doubled USING (true)",
      "CREATE POLICY more ON crm.doubled USING (theirs.leaks(name))"
    ],
    "CREATE VIEW crm.doubled_all AS"
  ],
  closed: [
    [table("closed"), "ALTER TABLE crm.closed ENABLE ROW LEVEL SECURITY"],
    "CREATE POLICY max_read ON crm.closed FOR SELECT TO max_read_"
  ],
  policed_child: [
    [
      table("policed_child"),
      "CREATE TABLE crm.policed () INHERITS (crm.policed_child)",
      "ALTER TABLE crm.policed ENABLE ROW LEVEL SECURITY"
    ],
    "row security on crm.policed "
  ],
  invoker: [
    [
      table("fenced"),
      "ALTER TABLE crm.fenced ENABLE ROW LEVEL SECURITY",
      "CREATE VIEW crm.invoker WITH (security_invoker = true) AS SELECT * FROM crm.fenced"
    ],
    "row security on crm.fenced"
  ],
  linked: [
    [table("linked"), "CREATE TABLE crm.links (a int, b int)", `ALTER TABLE crm.links OWNER TO ${HOSTILE}`],
    "links: its owner could make the table crm.links of"
  ]
}

/** A table of the database's owner with rows, below row security that hides nothing. */
const OPEN = [
  table("open"),
  "INSERT INTO crm.open VALUES (1, 'Lamp')",
  "ALTER TABLE crm.open ENABLE ROW LEVEL SECURITY",
  "CREATE POLICY readable ON crm.open FOR SELECT USING (true)",
  "CREATE POLICY writable ON crm.open FOR UPDATE USING (theirs.leaks(name))",
  table("shut"),
  "ALTER TABLE crm.shut ENABLE ROW LEVEL SECURITY",
  "CREATE VIEW crm.owned AS SELECT * FROM crm.shut",
  "INSERT INTO crm.shut VALUES (1, 'Lamp')"
]

/** Comparisons in one connection, of which all but the first find what the first kept. */
const RUNS = 5

const failure = <A, R>(effect: Effect.Effect<A, unknown, R>) =>
  Effect.map(Effect.flip(effect), (error) =>
    error instanceof OperatorError ? [error.message, ...(error.details ?? [])].join("\n") : String(error)
  )

layer(Layer.provideMerge(TestServices, Layer.effectDiscard(hostileRole)), { excludeTestServices: true })(
  "the relations of a hostile owner",
  (it) => {
    it.effect("are refused before they are mapped, with the statement that mends them", () =>
      Effect.gen(function* () {
        const mappings = yield* Mappings
        const here = yield* setUp
        for (const [name, [statements, fault]] of Object.entries(REFUSED)) {
          yield* script(statements)
          // Making an index may have run its function, in the owner's session.
          yield* Effect.flatMap(Database, ({ owner }) => owner`SELECT pg_advisory_unlock_all()`)
          const more: Partial<TypeEntry> =
            name === "linked"
              ? {
                  columns: {
                    name: { from: "name" },
                    links: { from: "a", through: "crm.links", via: "b", to: "crm.linked" }
                  }
                }
              : {}
          const says = yield* failure(
            mappings.apply(here, { version: 1, types: [entry(name.includes(".") ? name : `crm.${name}`, more)] })
          )
          expect(says, name).toContain(fault)
          expect(says, name).not.toContain("CANARY")
        }
      })
    )

    it.effect("are never read when a mapped relation becomes one, and no answer is empty", () =>
      Effect.gen(function* () {
        const { owner } = yield* Database
        const mappings = yield* Mappings
        const here = yield* setUp
        yield* script(OPEN)
        yield* mapTables(here, { tables: ["crm.staff"], exclusive: true })
        yield* policyFor(here, {
          version: 1,
          roles: { reader: {} },
          rules: [{ id: "people", effect: "allow", role: "reader", action: "read", type: "people", columns: "*" }]
        })
        // Row security that hides nothing is read, and so is a view whose owner it doesn't concern.
        for (const [name, type] of [
          ["open", "opens"],
          ["owned", "owneds"]
        ] as const)
          yield* mappings.apply(here, { version: 1, types: [entry(`crm.${name}`, { type })] })
        const cases = changes()
        for (const { relation, schema, type } of cases) {
          yield* script(relation)
          yield* mappings.apply(here, { version: 1, types: [entry(`${schema}.${type}`, { type })] })
        }
        const types = ["people", "opens", "owneds", ...cases.map(({ type }) => type)]
        yield* policyFor(here, {
          version: 1,
          roles: { reader: {} },
          rules: types.map((type) => ({
            id: type,
            effect: "allow",
            role: "reader",
            action: "read",
            type,
            columns: "*"
          }))
        })
        const sam = yield* asExistingPerson(here, "sam@here.example", "reader")
        for (const type of ["opens", "owneds"])
          expect((yield* sam.find(type)).entities, type).toMatchObject([{ displayName: "Lamp" }])

        for (const { change, name, own, schema, type, undo } of cases) {
          const relation = `${schema}.${type}`
          expect((yield* sam.find(type)).entities, name).toMatchObject([{ displayName: "Lamp" }])
          expect(yield* mappings.drifted, name).not.toContain(relation)
          const { text } = yield* sam.explain(type, "name", "Lamp")
          yield* make(change, own, schema)
          yield* owner`SELECT pg_advisory_unlock_all()`
          // A process accepts by itself only what was dropped and made again.
          yield* mappings.recheck(here)
          // A running process that knows the state, and one that has just started.
          for (const query of [{}, { limit: 0 }, { selectColumns: ["name"] }])
            expect(yield* Effect.flip(sam.find(type, [], query)), name).toMatchObject({ _tag: "Unavailable" })
          expect(yield* Effect.flip(sam.find(type, ["name~lamp"])), name).toMatchObject({ _tag: "Unavailable" })
          yield* owner`UPDATE max.organizations SET epoch = epoch + 1 WHERE organization_id = ${here.id}`
          expect(yield* Effect.flip(sam.find(type)), name).toMatchObject({ _tag: "Unavailable" })
          expect(yield* failure(explainStatement(text, undefined)), name).toContain("isn't the one that was mapped")
          expect(yield* ran, name).toBe(false)
          const findings = yield* mapped({ owner, inspection: yield* inspect(owner) })
          expect(findings, name).toContainEqual(
            expect.objectContaining({
              status: "fail",
              message: expect.stringContaining(relation)
            })
          )
          if (name === "the table goes to a hostile owner")
            expect(findings.map(({ mend }) => mend?.[0])).toContainEqual(
              expect.stringContaining(`ALTER TABLE ${relation} OWNER TO`)
            )
          expect(yield* mappings.drifted, name).toContain(relation)
          expect((yield* sam.find("people")).total, name).toBe(1)
          if (undo.length > 0) {
            yield* script(undo)
            expect((yield* sam.find(type)).entities, name).toMatchObject([{ displayName: "Lamp" }])
          }
        }
      })
    )

    it.effect("are noticed by a lookup that waits for the lock of the change", () =>
      Effect.gen(function* () {
        const { owner, search } = yield* Database
        const mappings = yield* Mappings
        const here = yield* setUp
        yield* script(relationOf("crm", "awaited"))
        yield* mappings.apply(here, { version: 1, types: [entry("crm.awaited", { type: "awaited" })] })
        yield* mapTables(here, { tables: ["crm.staff"], exclusive: true })
        yield* policyFor(here, {
          version: 1,
          roles: { reader: {} },
          rules: ["people", "awaited"].map((type) => ({
            id: type,
            effect: "allow",
            role: "reader",
            action: "read",
            type,
            columns: "*"
          }))
        })
        const sam = yield* asExistingPerson(here, "sam@here.example", "reader")
        // Prepared on each connection: a lookup then takes its snapshot before it waits.
        yield* Effect.all(
          Array.from({ length: 40 }, () => sam.find("awaited")),
          { concurrency: 8 }
        )
        const waiting = yield* owner.withTransaction(
          Effect.gen(function* () {
            yield* owner.unsafe(`ALTER TABLE crm.awaited OWNER TO ${HOSTILE}`).unprepared
            const lookup = yield* Effect.forkDetach(Effect.flip(sam.find("awaited")))
            const waits = Effect.map(
              search<{
                n: number
              }>`SELECT count(*)::int AS n FROM pg_locks WHERE NOT granted AND relation = 'crm.awaited'::regclass`,
              ([row]) => row!.n > 0
            )
            yield* Effect.promise(() => until(() => Effect.runPromise(waits)))
            return lookup
          })
        )
        expect(yield* Fiber.join(waiting)).toMatchObject({ _tag: "Unavailable" })
        yield* script(["ALTER TABLE crm.awaited OWNER TO CURRENT_USER"])
        expect((yield* sam.find("awaited")).total).toBe(1)
      })
    )

    it.effect("are compared by a few rows of the catalogs' indexes, without a scan of a catalog", () =>
      Effect.gen(function* () {
        const { owner, search } = yield* Database
        yield* setUp
        yield* script([
          ...relationOf("crm", "plain"),
          "CREATE INDEX ON crm.plain (name)",
          "CREATE TYPE crm.mood AS ENUM ('good', 'bad')",
          "CREATE TABLE crm.rich (id int PRIMARY KEY, name text CHECK (name <> ''), mood crm.mood, upper text GENERATED ALWAYS AS (upper(name)) STORED)",
          "CREATE INDEX ON crm.rich (lower(name))",
          "CREATE STATISTICS crm.of_rich ON name, mood FROM crm.rich",
          "CREATE VIEW crm.over AS SELECT r.id, p.name FROM crm.rich r JOIN crm.plain p USING (id)"
        ])
        for (const [name, kept] of [
          ["crm.plain", 8],
          ["crm.rich", 14],
          ["crm.over", 25]
        ] as const) {
          const [row] = yield* owner<{
            identity: string
          }>`SELECT max.relation_identity(to_regclass(${name}::text)) AS identity`
          const scans = yield* search.withTransaction(
            Effect.gen(function* () {
              const counts = search<{ tables: number; indexes: number }>`
              SELECT sum(seq_scan)::int AS tables, sum(idx_scan)::int AS indexes FROM pg_stat_xact_sys_tables`
              const found = [...(yield* counts)]
              for (let run = 0; run < RUNS; run++) {
                yield* search.unsafe(`SELECT max.held(ARRAY['${name}'], ARRAY['${row!.identity}']) /* ${run} */`)
                  .unprepared
                found.push(...(yield* counts))
              }
              const own = [...(yield* counts)][0]!
              const last = found.at(-1)!
              return found.slice(1).map(({ indexes, tables }, run) => ({
                tables: tables - found[run]!.tables - (own.tables - last.tables),
                indexes: indexes - found[run]!.indexes - (own.indexes - last.indexes)
              }))
            })
          )
          // Postgres reads catalogs for its own caches, too: the least of the runs is the comparison's.
          expect(Math.min(...scans.map(({ tables }) => tables)), name).toBe(0)
          const least = Math.min(...scans.slice(1).map(({ indexes }) => indexes))
          expect(scans[0]!.indexes, name).toBeGreaterThan(least)
          expect(least, name).toBeGreaterThan(3)
          expect(least, name).toBeLessThan(kept)
        }
      })
    )
  }
)
