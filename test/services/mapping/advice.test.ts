/** The indexes that lookups of a large mapped table need. */
import { layer } from "@effect/vitest"
import { Effect } from "effect"
import { expect } from "vitest"
import { mapped } from "../../../src/services/operations/doctor/mapped.ts"
import { inspect } from "../../../src/database/migrate.ts"
import { Database } from "../../../src/database/Database.ts"
import { Mappings } from "../../../src/services/mapping/Mappings.ts"
import { makeOrganization } from "../../support/atlas.ts"
import { TestServices } from "../../support/database.ts"
import { mapTables, runScript } from "../../support/mappedTables.ts"

const START = `
CREATE SCHEMA stock;
CREATE TABLE stock.articles (id int PRIMARY KEY, name text NOT NULL, sku varchar(40) UNIQUE, "order" text, "Straße" text,
  last_name text, stage text CHECK (stage IN ('new', 'old')), price numeric, email text);
INSERT INTO stock.articles SELECT n, 'Article ' || n, 'sku-' || n, 'PO ' || n, 'Weg ' || n, 'Name ' || n, 'new', n, 'a' || n || '@stock.example'
  FROM generate_series(1, 12000) n;
CREATE TABLE stock.shelves (id int PRIMARY KEY, name text NOT NULL, code text);
INSERT INTO stock.shelves VALUES (1, 'Top', 'T');
ANALYZE stock.articles;
`

layer(TestServices, { excludeTestServices: true })("the advice about indexes", (it) => {
  it.effect(
    "has one statement that runs for all searched texts of a large table, follows each index, and ends when none is missing",
    () =>
      Effect.gen(function* () {
        yield* runScript(START)
        const organization = yield* makeOrganization("stock")
        yield* mapTables(organization, { tables: ["stock.articles", "stock.shelves"], exclusive: true })
        const mappings = yield* Mappings
        const first = yield* mappings.advice(organization)
        const gin = first.filter((line) => line.includes("USING gin"))
        expect(gin).toHaveLength(1)
        for (const column of ["name", "sku", `"order"`, `"Straße"`, "last_name"])
          expect(gin[0]).toContain(`(max.fold_text(${column}::text) COLLATE "C") max.gin_trgm_ops`)
        expect(first.filter((line) => line.includes("max.fold_email(email::text)"))).toHaveLength(1)
        expect(first.join("\n")).not.toMatch(/stage|price|shelves/)
        const { owner } = yield* Database
        const warned = yield* mapped({ inspection: yield* inspect(owner), owner })
        expect(JSON.stringify(warned)).toContain("Lookups scan large tables.")

        // An index on another column, whose name ends alike, or on the plain column is no index of the search key.
        yield* runScript(
          `CREATE INDEX ON stock.articles ((max.fold_text(last_name) COLLATE "C"));\nCREATE INDEX ON stock.articles ("order");\n`
        )
        const [next] = (yield* mappings.advice(organization)).filter((line) => line.includes("USING gin"))
        expect(next).toContain(`max.fold_text(name::text)`)
        expect(next).toContain(`max.fold_text("order"::text)`)
        expect(next).not.toContain("last_name")

        for (const line of yield* mappings.advice(organization)) yield* owner.unsafe(line).unprepared
        expect(yield* mappings.advice(organization)).toEqual([])
        const found = yield* mapped({ inspection: yield* inspect(owner), owner })
        expect(JSON.stringify(found)).not.toContain("Lookups scan large tables.")
        for (const condition of [
          `max.fold_text("order"::text) COLLATE "C" = 'po 77'`,
          `max.fold_text(sku::text) COLLATE "C" LIKE '%sku-1177%'`
        ]) {
          const plan = yield* owner.unsafe(`EXPLAIN (FORMAT JSON) SELECT id FROM stock.articles WHERE ${condition}`)
          expect(JSON.stringify(plan), condition).toContain("Bitmap Index Scan")
        }
      })
  )
})
