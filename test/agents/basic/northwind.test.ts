/** Basic mode on a mapped schema, whose own nouns say who an order's owner is. */
import { layer } from "@effect/vitest"
import { Effect } from "effect"
import { expect } from "vitest"
import { makeOrganization } from "../../support/atlas.ts"
import { BasicAgent, hear } from "../../support/basic.ts"
import { asExistingPerson, mapTables, runScript } from "../../support/mappedTables.ts"

const NOUNS = ["employee", "sales_rep", "clerk", "agent"] as const

layer(BasicAgent, { excludeTestServices: true })("basic mode on mapped tables", (it) => {
  for (const noun of NOUNS)
    it.effect(`answers whose orders those are where the reference is called ${noun}`, () =>
      Effect.gen(function* () {
        yield* runScript(`
CREATE SCHEMA of_${noun};
CREATE TABLE of_${noun}.employees (id int PRIMARY KEY, first_name text, last_name text, email text);
CREATE TABLE of_${noun}.orders (id int PRIMARY KEY, ${noun}_id int REFERENCES of_${noun}.employees, order_date date);
INSERT INTO of_${noun}.employees VALUES (1, 'Nancy', 'Davolio', 'nancy@${noun}.example'), (2, 'Andrew', 'Fuller', 'andrew@${noun}.example');
INSERT INTO of_${noun}.orders SELECT 10247 + n, CASE WHEN n < 4 THEN 1 ELSE 2 END, '1996-07-04' FROM generate_series(1, 9) n;
`)
        const organization = yield* makeOrganization(noun.replace("_", "-"))
        yield* mapTables(organization, { tables: [`of_${noun}.employees`, `of_${noun}.orders`], exclusive: true })
        const andrew = `andrew@${noun}.example`
        yield* asExistingPerson(organization, andrew, "admin")
        const words = noun.replace("_", " ")
        for (const question of [
          "orders of Nancy Davolio",
          "Nancy Davolio's orders",
          `orders of ${words} Nancy Davolio`,
          `orders by ${words} Nancy Davolio`,
          `orders with ${words} Nancy Davolio`,
          "orders handled by Nancy Davolio",
          "orders sold by Nancy Davolio"
        ])
          expect((yield* hear(organization, andrew, question)).text, question).toMatch(/^There are 3 orders/)
        expect((yield* hear(organization, andrew, "my orders")).text).toMatch(/^You have 6 orders/)
      })
    )
})
