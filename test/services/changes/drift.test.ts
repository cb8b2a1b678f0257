/** Changes of managed rows whose rules look at a mapped table that another program drops and makes again. */
import { layer } from "@effect/vitest"
import { Effect } from "effect"
import { expect } from "vitest"
import { Database } from "../../../src/database/Database.ts"
import { encodeId } from "../../../src/domain/ids.ts"
import { IdentityResolver } from "../../../src/services/members/IdentityResolver.ts"
import { makeOrganization } from "../../support/atlas.ts"
import { as } from "../../support/changes.ts"
import { TestServices } from "../../support/database.ts"
import { asExistingPerson, mapTables, policyFor, runScript } from "../../support/mappedTables.ts"

const WORKERS = `CREATE TABLE depot.workers (id int PRIMARY KEY, name text, email text, site text);
INSERT INTO depot.workers VALUES (1, 'Lee', 'lee@depot.example', 'north');
`

layer(TestServices, { excludeTestServices: true })("a change whose rule looks at a mapped table", (it) => {
  it.effect("is unavailable while the table differs from its mapping, and proposed again when it is checked", () =>
    Effect.gen(function* () {
      yield* runScript(`CREATE SCHEMA depot;\n${WORKERS}`)
      const depot = yield* makeOrganization("depot")
      yield* mapTables(depot, {
        tables: ["depot.workers"],
        exclusive: true,
        edit: (entry) => ({ ...entry, type: "people" })
      })
      const where = { owner: { site: "north" } }
      const rule = (action: string, type: string, more: object = {}) => ({
        id: `${action}-${type}`,
        effect: "allow",
        role: "boss",
        action,
        type,
        columns: "*",
        ...more
      })
      yield* policyFor(depot, {
        version: 1,
        roles: { boss: {} },
        rules: [rule("read", "people"), rule("read", "meetings", { where }), rule("update", "meetings", { where })]
      })
      yield* asExistingPerson(depot, "lee@depot.example", "boss")
      const identities = yield* IdentityResolver
      const { principal } = yield* identities.admit(depot, { kind: "email", key: "lee@depot.example" })
      const lee = yield* as(principal)
      const { owner: sql } = yield* Database
      yield* sql`INSERT INTO data.meetings (organization_id, id, name, name_k, owner_id) VALUES (${depot.id}, 7, 'Sync', 'sync', 1)`
      const proposed = lee.update("meetings.update", [encodeId(7n)], { name: "Weekly" })
      expect((yield* proposed).preview.state).toBe("open")
      yield* runScript("DROP TABLE depot.workers;\n")
      expect(yield* Effect.flip(proposed)).toMatchObject({ _tag: "Unavailable" })
      yield* runScript(WORKERS)
      // Each try makes the mapping checked again; 30 of them a minute are permitted.
      const again = Effect.andThen(Effect.sleep("500 millis"), Effect.isSuccess(proposed))
      let isOpen = false
      for (let tries = 0; tries < 25 && !isOpen; tries++) isOpen = yield* again
      expect(isOpen).toBe(true)
    })
  )
})
