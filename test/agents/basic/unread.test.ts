/** Names are looked for in every type: one that can't be read doesn't keep the others from answering, and is named. */
import { layer } from "@effect/vitest"
import { Effect } from "effect"
import { expect } from "vitest"
import { Database } from "../../../src/database/Database.ts"
import { Mappings } from "../../../src/services/mapping/Mappings.ts"
import { makeOrganization } from "../../support/atlas.ts"
import { ask, BasicAgent, load, openTo } from "../../support/basic.ts"

layer(BasicAgent, { excludeTestServices: true })("a mapped type that has drifted", (it) => {
  it.effect("leaves questions for names to the other types, and is named in the answer", () =>
    Effect.gen(function* () {
      const organization = yield* makeOrganization("harbor")
      yield* load(organization, "people", [
        { id: "ada", name: "Ada Lovelace", status: "Customer", email: "ada@atlas.example" }
      ])
      yield* load(organization, "companies", [{ id: "cedar", name: "Cedar Labs", status: "Customer" }])
      const { owner } = yield* Database
      const run = (sql: string) => owner.unsafe(sql).unprepared
      yield* run("CREATE SCHEMA dock")
      yield* run("CREATE TABLE dock.rows (id bigint PRIMARY KEY, name text)")
      yield* run("INSERT INTO dock.rows VALUES (1, 'Aurora')")
      yield* run("CREATE VIEW dock.boats AS SELECT id, name FROM dock.rows")
      const mappings = yield* Mappings
      const { file } = yield* mappings.propose(organization, ["dock.boats"], true)
      yield* mappings.apply(organization, file)
      yield* openTo(organization, "people", "companies", "meetings", "boats")
      const said = (text: string) => Effect.map(ask(organization, text), ({ text }) => text)
      expect(yield* said("who is Aurora")).toContain("Aurora")

      yield* run("DROP VIEW dock.boats")
      const NOTE = "I can't read boats right now, so I haven't looked there."
      const company = yield* said("who is Cedar Labs")
      expect(company).toContain("Cedar Labs")
      expect(company).toContain(NOTE)
      expect(yield* said("Cedar Labs status")).toContain(NOTE)
      const missing = yield* said("who is Aurora")
      expect(missing).toContain("I couldn't find “Aurora”")
      expect(missing).toContain(NOTE)
      // Found to the letter among people, who are looked at first.
      expect(yield* said("who is Ada Lovelace")).not.toContain("boats")
      // What is asked of boats themselves has no other place to look.
      for (const text of ["list boats", "how many boats are there", "boat Aurora"])
        expect([text, yield* said(text)]).toEqual([text, expect.stringContaining("I can't look things up right now.")])

      // Where none of the person's types can be read, nothing is said to be missing.
      yield* openTo(organization, "companies", "meetings", "boats")
      const tables = ["companies", "meetings"]
      for (const table of tables) yield* run(`ALTER TABLE data.${table} RENAME TO ${table}_gone`)
      const answers = yield* Effect.forEach(["who is Cedar Labs", "Aurora", "Let There Be Rock"], (text) =>
        Effect.map(ask(organization, text), (heard) => [text, heard.error?.reason])
      ).pipe(
        Effect.ensuring(
          Effect.orDie(Effect.forEach(tables, (table) => run(`ALTER TABLE data.${table}_gone RENAME TO ${table}`)))
        )
      )
      for (const [text, reason] of answers) expect([text, reason]).toEqual([text, "Unavailable"])
    })
  )
})
