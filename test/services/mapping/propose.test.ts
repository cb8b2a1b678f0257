/** Proposals for schemas with tables of one name, keys that are credentials, and more columns than a type has. */
import { layer } from "@effect/vitest"
import { Effect } from "effect"
import { expect } from "vitest"
import { Mappings } from "../../../src/services/mapping/Mappings.ts"
import { makeOrganization } from "../../support/atlas.ts"
import { TestServices } from "../../support/database.ts"
import { runScript } from "../../support/mappedTables.ts"

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
})
