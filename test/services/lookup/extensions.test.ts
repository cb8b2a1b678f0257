/** Phone numbers with extensions, in imported and in mapped tables. */
import { layer } from "@effect/vitest"
import { Effect } from "effect"
import { expect } from "vitest"
import { Database } from "../../../src/database/Database.ts"
import { foldExtensions, foldFunctions } from "../../../src/database/sql/foldFunctions.ts"
import { IdentityResolver } from "../../../src/services/members/IdentityResolver.ts"
import { Memberships } from "../../../src/services/members/Memberships.ts"
import { makeOrganization } from "../../support/atlas.ts"
import { TestServices } from "../../support/database.ts"
import { importFile } from "../../support/imports.ts"
import { asExistingPerson, mapTables, runScript } from "../../support/mappedTables.ts"

const NUMBERS = [
  ["Ann", "+1 512 555 0100 ext. 12"],
  ["Bob", "(512) 555-0100 x14"],
  ["Cid", "001 512 555 0100"],
  ["Dov", "0049 711 2842222 Durchwahl 12"],
  ["Eve", "512-555-0199"]
] as const

/** Who has a number, as filters and the rest of the sentence say it. */
const ASKED: ReadonlyArray<readonly [filter: string, names: ReadonlyArray<string>]> = [
  ["phone=512-555-0100 #12", ["Ann"]],
  ["phone=+15125550100;ext=12", ["Ann"]],
  ["phone=+1 (512) 555 0100 Extension 14", ["Bob"]],
  ["phone=+1 512 555 0100 ext. 1", []],
  ["phone=512 555 0100", ["Cid"]],
  ["phone=001 512 555 0100", ["Cid"]],
  ["phone~512 555 0100", ["Ann", "Bob", "Cid"]],
  ["phone~555 0100 ext. 14", ["Bob"]],
  ["phone=+49 711 2842222 DW 12", ["Dov"]],
  ["phone=0049 711 2842222 x12", ["Dov"]],
  ["phone=512-555-0199 x1", []]
]

layer(TestServices, { excludeTestServices: true })("a phone number with an extension", (it) => {
  it.effect("is found by any way of writing it in an import, and identifies no person", () =>
    Effect.gen(function* () {
      const organization = yield* makeOrganization("extensions")
      const rows = NUMBERS.map(([name, phone], at) => `${at},${name},${phone},${name}@ext.example`)
      yield* importFile(organization, ["id,name,phone,email", ...rows].join("\n"))
      const eve = yield* asExistingPerson(organization, "eve@ext.example", "admin")
      for (const [filter, names] of ASKED)
        expect(
          (yield* eve.find("people", [filter])).entities.map(({ displayName }) => displayName).sort(),
          filter
        ).toEqual(names)
      expect((yield* eve.find("people", ["name=ann"], { selectColumns: ["phone"] })).entities[0]?.columns).toEqual({
        phone: "+1 512 555 0100 ext. 12"
      })
      const members = yield* Memberships
      expect(
        yield* Effect.flip(members.add(organization, { identifier: "+1 512 555 0100 ext. 12", roles: ["admin"] }))
      ).toMatchObject({ _tag: "OperatorError" })
      const identities = yield* IdentityResolver
      const found = yield* identities.identify(organization, { kind: "phone", key: "+15125550100" })
      expect(found).toEqual((yield* eve.find("people", ["name=cid"])).entities.map(({ entityId }) => entityId))
    })
  )

  it.effect("is found in a mapped table, also by an index that was built before extensions were kept apart", () =>
    Effect.gen(function* () {
      const { owner } = yield* Database
      for (const statement of foldFunctions()) yield* owner.unsafe(statement).unprepared
      yield* runScript(`
CREATE SCHEMA phones;
CREATE TABLE phones.contacts (id int PRIMARY KEY, name text NOT NULL, phone varchar(60), email text);
INSERT INTO phones.contacts VALUES ${NUMBERS.map(([name, phone], at) => `(${at}, '${name}', '${phone}', '${name}@map.example')`).join(", ")};
INSERT INTO phones.contacts SELECT n, 'Other ' || n, '+1 303 555 ' || n, 'o' || n || '@map.example' FROM generate_series(1000, 4000) n;
CREATE INDEX contacts_phone ON phones.contacts ((max.fold_phone(phone::text) COLLATE "C"));
ANALYZE phones.contacts;
`)
      for (const statement of foldExtensions()) yield* owner.unsafe(statement).unprepared
      const organization = yield* makeOrganization("extensions-mapped")
      yield* mapTables(organization, {
        tables: ["phones.contacts"],
        exclusive: true,
        edit: (entry) => ({ ...entry, type: "people" })
      })
      const eve = yield* asExistingPerson(organization, "eve@map.example", "admin")
      for (const [filter, names] of ASKED)
        expect(
          (yield* eve.find("people", [filter])).entities.map(({ displayName }) => displayName).sort(),
          filter
        ).toEqual(names)
      const plan = yield* owner.unsafe(
        `EXPLAIN (FORMAT JSON) SELECT id FROM phones.contacts WHERE max.fold_phone(phone::text) COLLATE "C" = '+15125550100#12'`
      )
      expect(JSON.stringify(plan)).toContain("contacts_phone")
    })
  )
})
