/** Views that are made again from another text, and the upgrade of an installation that compared their texts' positions. */
import { layer } from "@effect/vitest"
import { Effect } from "effect"
import { expect } from "vitest"
import { Database } from "../../../src/database/Database.ts"
import { viewDefinitions } from "../../../src/database/migrations/0031_view_definitions.ts"
import { Mappings } from "../../../src/services/mapping/Mappings.ts"
import { makeOrganization } from "../../support/atlas.ts"
import { TestServices } from "../../support/database.ts"
import { entry, script } from "../../support/hostileOwner.ts"
import { asExistingPerson, mapTables, policyFor } from "../../support/mappedTables.ts"

const TYPES = ["shelves", "lamps"]
const view = (type: string, text = "SELECT id, name FROM shop.goods") =>
  `CREATE OR REPLACE VIEW shop.${type} AS ${text}`

const setUp = Effect.gen(function* () {
  const here = yield* makeOrganization("here")
  yield* script([
    "CREATE SCHEMA shop",
    "CREATE TABLE shop.staff (id int PRIMARY KEY, name text, email text)",
    "INSERT INTO shop.staff VALUES (1, 'Sam', 'sam@here.example')",
    "CREATE TABLE shop.goods (id int PRIMARY KEY, name text NOT NULL)",
    "INSERT INTO shop.goods VALUES (1, 'Lamp')",
    ...TYPES.map((type) => view(type))
  ])
  yield* mapTables(here, { tables: ["shop.staff"], exclusive: true })
  const mappings = yield* Mappings
  for (const type of TYPES) yield* mappings.apply(here, { version: 1, types: [entry(`shop.${type}`, { type })] })
  yield* policyFor(here, {
    version: 1,
    roles: { reader: {} },
    rules: ["people", ...TYPES].map((type) => ({
      id: type,
      effect: "allow",
      role: "reader",
      action: "read",
      type,
      columns: "*"
    }))
  })
  return { here, sam: yield* asExistingPerson(here, "sam@here.example", "reader") }
})

/** The comparison of earlier versions, and the identities that they stored. */
const EARLIER = [
  `DO $do$ BEGIN EXECUTE replace(pg_get_functiondef('max.relation_parts(oid)'::regprocedure),
    $$md5(regexp_replace(w.ev_action::text, ':(location|stmt_location|stmt_len) -?[0-9]+', '', 'g'))$$,
    'md5(w.ev_action::text)'); END $do$`,
  `UPDATE builder.entity_type_versions v SET mapping = v.mapping || jsonb_build_object('reads',
    (SELECT jsonb_object_agg(x.key, max.relation_identity(to_regclass(x.key))) FROM jsonb_each_text(v.mapping->'reads') x))
    WHERE v.mapping ? 'reads'`
]
layer(TestServices, { excludeTestServices: true })("a mapped view", (it) => {
  it.effect("is read on when it is made again from the same query in another text, and not from another query", () =>
    Effect.gen(function* () {
      const { owner } = yield* Database
      const { here, sam } = yield* setUp
      yield* script([view("shelves", "/* goods, as they are */\n  SELECT goods.id,\n  goods.name FROM shop.goods")])
      expect((yield* sam.find("shelves")).entities).toMatchObject([{ displayName: "Lamp" }])

      // An installation of an earlier version, in which one of the views was redefined, is upgraded.
      for (const statement of EARLIER) yield* owner.unsafe(statement)
      yield* script([view("lamps", "SELECT id, upper(name) AS name FROM shop.goods")])
      for (const statement of viewDefinitions.statements()) yield* owner.unsafe(statement)
      yield* owner`UPDATE max.organizations SET epoch = epoch + 1 WHERE organization_id = ${here.id}`
      expect(yield* Effect.flip(sam.find("lamps"))).toMatchObject({ _tag: "Unavailable" })
      expect((yield* sam.find("shelves")).entities).toMatchObject([{ displayName: "Lamp" }])
      yield* script([view("lamps")])
      expect(yield* Effect.flip(sam.find("lamps"))).toMatchObject({ _tag: "Unavailable" })
      yield* (yield* Mappings).apply(here, { version: 1, types: [entry("shop.lamps", { type: "lamps" })] })
      expect((yield* sam.find("lamps")).entities).toMatchObject([{ displayName: "Lamp" }])
    })
  )
})
