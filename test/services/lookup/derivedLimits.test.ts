/** Derived columns over values at which an operator of Postgres fails, over mapped tables that lose a column, and in changes. */
import { layer } from "@effect/vitest"
import { Effect } from "effect"
import { expect } from "vitest"
import { DerivedColumns } from "../../../src/services/catalog/DerivedColumns.ts"
import { Mappings } from "../../../src/services/mapping/Mappings.ts"
import { readMappingFile } from "../../../src/services/mapping/mappingFile.ts"
import { makeOrganization } from "../../support/atlas.ts"
import { changing, person } from "../../support/changes.ts"
import { TestServices } from "../../support/database.ts"
import { asExistingPerson, mapTables, policyFor, runScript } from "../../support/mappedTables.ts"

/** Each pair of rows of `edge` meets in a row of `pair`: every first value with every second one. */
const SCRIPT = `
CREATE SCHEMA edge;
CREATE TABLE edge.employee (employee_id int PRIMARY KEY, name text NOT NULL, email text);
INSERT INTO edge.employee VALUES (1, 'Ada Stone', 'ada@edge.test');
CREATE TABLE edge.value (id int PRIMARY KEY, amount numeric, level float8, at timestamptz, wall timestamp, day date, big bigint, small smallint);
INSERT INTO edge.value VALUES
  (1, 'NaN', 'NaN', 'infinity', 'infinity', 'infinity', 9223372036854775807, 1),
  (2, 'Infinity', 'Infinity', '-infinity', '-infinity', '-infinity', -9223372036854775808, -32768),
  (3, '-Infinity', '-Infinity', '4714-11-24 00:00+00 BC', '4714-11-24 00:00 BC', '4714-11-24 BC', 0, 32767),
  (4, 1e131071, 1.7976931348623157e308, '294276-12-31 23:59:59.999999+00', '294276-12-31 23:59:59.999999', '5874897-12-31', 1, 0),
  (5, 1e-16383, 4.9e-324, '0001-01-01 00:00+00', '0001-01-01 00:00', '0001-01-01', -1, 2),
  (6, 10.5, 10.5, '2026-11-01 05:30+00', '2026-11-01 05:30', '2024-02-29', 3, 3),
  (7, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
  (8, 0, '-0', '2026-03-08 07:00+00', '2026-03-08 02:30', '0001-12-31 BC', 5, 5),
  (9, 2, 2, '2026-03-01 03:00+00', '2026-03-01 03:00', '2026-06-01', 9, 9);
CREATE TABLE edge.pair (pair_id int PRIMARY KEY, title text NOT NULL, amount numeric, level float8, at timestamptz, wall timestamp, day date, big bigint, small smallint,
  amount2 numeric, level2 float8, at2 timestamptz, wall2 timestamp, day2 date, big2 bigint, small2 smallint);
INSERT INTO edge.pair SELECT row_number() OVER (), 'Pair', a.amount, a.level, a.at, a.wall, a.day, a.big, a.small, b.amount, b.level, b.at, b.wall, b.day, b.big, b.small
  FROM edge.value a CROSS JOIN edge.value b;
CREATE TABLE edge.sale (sale_id int PRIMARY KEY, title text NOT NULL, price numeric, cur text, pieces int, sold date, due date, fee numeric, fee_cur text);
INSERT INTO edge.sale VALUES (1, 'Lamp', 10, 'EUR', 3, '2026-01-01', '2026-01-11', 2, 'USD'), (2, 'Rug', 20, 'USD', 2, '2026-01-01', '2026-02-01', 2, 'USD'), (3, 'Mat', 5, 'EUR', 1, NULL, NULL, 1, 'EUR');
`

const TIMES = ["at", "wall", "day"]
const NUMBERS = ["amount", "level", "big", "small"]

const setUp = Effect.gen(function* () {
  yield* runScript(SCRIPT)
  const organization = yield* makeOrganization("edge", "America/New_York")
  yield* mapTables(organization, {
    tables: ["employee", "pair", "sale"].map((name) => `edge.${name}`),
    exclusive: true,
    edit: (entry) =>
      entry.type !== "sales"
        ? entry
        : {
            ...entry,
            columns: {
              ...entry.columns,
              price: { from: "price", kind: "number", currency: "cur" },
              fee: { from: "fee", kind: "number", currency: "fee_cur" }
            }
          }
  })
  const rule = (type: string) => ({
    id: type,
    effect: "allow",
    role: "clerk",
    action: "read",
    type,
    columns: "*"
  })
  const publish = policyFor(organization, {
    version: 1,
    roles: { clerk: {} },
    rules: ["people", "pairs", "sales"].map(rule)
  })
  yield* publish
  const ada = yield* asExistingPerson(organization, "ada@edge.test", "clerk")
  const columns = yield* DerivedColumns
  return {
    organization,
    ada,
    publish,
    derive: (name: string, form: string) => columns.declare(organization, name, form)
  }
})

layer(TestServices, { excludeTestServices: true })("over mapped tables, derived columns", (it) => {
  it.effect("never make a statement fail: not at infinities, the ends of types, NaN, overflow or empty cells", () =>
    Effect.gen(function* () {
      const { ada, derive, organization } = yield* setUpSales
      const names: Array<string> = []
      const declare = (form: string) => {
        names.push(`d${names.length}`)
        return derive(`pairs.d${names.length - 1}`, form)
      }
      for (const from of TIMES) {
        for (const to of TIMES)
          for (const unit of ["hours", "days", "years"]) yield* declare(`${unit} between ${from} and ${to}2`)
        yield* declare(`years since ${from}`)
      }
      for (const one of NUMBERS) for (const other of NUMBERS) yield* declare(`${one} times ${other}2`)
      for (const name of names) {
        const page = yield* ada.find("pairs", [`${name}>=-1000`], { selectColumns: [name], limit: 25 })
        expect(page.entities.length, name).toBeGreaterThan(0)
        expect(page.entities.every(({ columns }) => /^-?\d+(\.\d+)?$/.test(String(columns?.[name])))).toBe(true)
        yield* ada.find("pairs", [`${name}<99999999`], { selectColumns: [name], limit: 25 })
        const groups = yield* ada.find("pairs", [], {
          selectColumns: [`by ${name}`, `sum ${name}`, `avg ${name}`, `min ${name}`, `max ${name}`]
        })
        expect(groups.total, name).toBe(81)
        expect(groups.groups!.length, name).toBeGreaterThan(1)
      }
      expect(names).toHaveLength(46)
      // 29 February 2024 until the local day of 2026-11-01 05:30 UTC, which is 1:30 in New York.
      const at = (name: string, filters: ReadonlyArray<string>) =>
        Effect.map(
          ada.find("pairs", filters, { selectColumns: [name] }),
          ({ entities }) => entities[0]?.columns?.[name]
        )
      const sixth = ["day=2024-02-29", "big2=3"]
      const columns = yield* DerivedColumns
      const named = new Map((yield* columns.list(organization)).map(({ column, is }) => [is, column.slice(6)]))
      expect(yield* at(named.get("years between day and at2")!, sixth)).toBe("2")
      expect(yield* at(named.get("hours between day and at2")!, sixth)).toBe("23424.5")
      // In New York it is still 28 February.
      expect(yield* at(named.get("years between day and at2")!, ["day=2024-02-29", "big2=9"])).toBe("1")
      // Only what a zone would carry out of its type is empty.
      expect(yield* at(named.get("hours between day and at2")!, ["day=2024-02-29", "big2=0"])).toBe("-59048885")
      expect(yield* at(named.get("days between day and day2")!, ["day=2024-02-29", "big2=1"])).toBe("2145023123")
      expect(yield* at(named.get("days between day and day2")!, ["day=2024-02-29", "big2=-1"])).toBe("-738944")
      expect(yield* at(named.get("big times big2")!, ["small=-32768", "small2=1"])).toBe(
        "-85070591730234615856620279821087277056"
      )
      for (const name of names) yield* columns.remove(organization, `pairs.${name}`)
    })
  )

  it.effect("of an amount keep its currency, and amounts aren't multiplied with each other", () =>
    Effect.gen(function* () {
      const { ada, derive } = yield* setUpSales
      yield* derive("sales.total", "price times pieces")
      const page = yield* ada.find("sales", [], { selectColumns: ["total"] })
      expect(page.entities.map(({ columns }) => columns?.["total"])).toEqual(["30 EUR", "40 USD", "5 EUR"])
      const sums = yield* ada.find("sales", [], { selectColumns: ["sum total"] })
      expect(sums.groups?.[0]?.figures).toEqual([
        [
          { value: "35", unit: "EUR", of: 2 },
          { value: "40", unit: "USD", of: 1 }
        ]
      ])
      const refused = yield* Effect.flip(derive("sales.odd", "price times fee"))
      expect(refused.message).toContain("price and fee are both amounts of money")
    })
  )

  it.effect("aren't declared between a column and itself", () =>
    Effect.gen(function* () {
      const { derive } = yield* setUpSales
      const refused = yield* Effect.flip(derive("sales.none", "days between sold and sold"))
      expect(refused.message).toContain("that is always 0")
    })
  )

  it.effect("are gone while a source isn't mapped or its column is gone, and come back with it", () =>
    Effect.gen(function* () {
      const { ada, derive, organization } = yield* setUpSales
      const [mappings, columns] = [yield* Mappings, yield* DerivedColumns]
      yield* derive("sales.days", "days between sold and due")
      const days = Effect.map(ada.find("sales", [], { selectColumns: ["days"] }), ({ entities }) =>
        entities.map((entity) => entity.columns?.["days"])
      )
      const broken = Effect.map(columns.list(organization), (all) =>
        all.filter((one) => one.broken).map(({ column, is }) => [column, is])
      )
      expect(yield* days).toEqual(["10", "31", undefined])
      const { file } = yield* mappings.propose(organization, ["edge.sale"], true)
      const apply = (change: (all: (typeof file.types)[0]["columns"]) => object) =>
        Effect.flatMap(
          readMappingFile(
            JSON.stringify({ ...file, types: file.types.map((type) => ({ ...type, columns: change(type.columns) })) })
          ),
          (read) => mappings.apply(organization, read)
        )
      yield* apply((all) => Object.fromEntries(Object.entries(all).filter(([slug]) => slug !== "due")))
      expect((yield* Effect.flip(days))._tag).toBe("UnknownName")
      expect(yield* broken).toEqual([["sales.days", "days between sold and ?"]])
      const taken = yield* Effect.flip(apply((all) => ({ ...all, days: { from: "pieces", kind: "integer" } })))
      expect(taken.message).toContain("sales.days is derived from other columns")
      yield* apply((all) => all)
      expect(yield* days).toEqual(["10", "31", undefined])
      yield* runScript("ALTER TABLE edge.sale RENAME COLUMN due TO later;\n")
      yield* Effect.retry(mappings.recheck(organization), { times: 20 })
      expect((yield* Effect.flip(days))._tag).toBe("UnknownName")
      expect(yield* broken).toEqual([["sales.days", "days between sold and due"]])
      yield* runScript("ALTER TABLE edge.sale RENAME COLUMN later TO due;\n")
      yield* Effect.retry(mappings.recheck(organization), { times: 20 })
      expect(yield* days).toEqual(["10", "31", undefined])
      expect(yield* broken).toEqual([])
    })
  )
})

/** The same tables for each test of sales: the first one makes them. */
let made: Effect.Success<typeof setUp> | undefined
const setUpSales = Effect.suspend(() =>
  made === undefined ? Effect.tap(setUp, (all) => Effect.sync(() => (made = all))) : Effect.succeed(made)
)

layer(TestServices, { excludeTestServices: true })("in changes, a derived column", (it) => {
  it.effect("is in no form and can't be set: the refusal names what can be", () =>
    Effect.gen(function* () {
      const { organization } = yield* changing("derived-changes")
      const columns = yield* DerivedColumns
      yield* columns.declare(organization, "meetings.length", "hours between start and end")
      const admin = yield* person(organization, "other@derived-changes.example", "admin")
      const refused = yield* Effect.flip(
        admin.create("meetings.create", { name: "Stand-up", start: "2026-12-01T09:00", length: "2" })
      )
      expect(refused._tag).toBe("InvalidInput")
      expect(refused).toMatchObject({
        message: "length is computed, and nothing sets it: change start or end."
      })
      const actions = yield* admin.actions
      expect(actions.flatMap(({ action }) => action.fields.map(({ slug }) => slug))).not.toContain("length")
      yield* admin.create("meetings.create", { name: "Stand-up", start: "2026-12-01T09:00", end: "2026-12-01T10:00" })
    })
  )
})
