/** A warehouse's database, mapped and changed: domains, declared lengths and digits, and a table of the people who work there. */
import { layer } from "@effect/vitest"
import { Effect } from "effect"
import { expect } from "vitest"
import { changeLines, receiptLine } from "../../../src/channels/cli/changeView.ts"
import { IdentityResolver } from "../../../src/services/members/IdentityResolver.ts"
import { readMappingFile } from "../../../src/services/mapping/mappingFile.ts"
import { Mappings } from "../../../src/services/mapping/Mappings.ts"
import { makeOrganization } from "../../support/atlas.ts"
import { as, confirmed, forgetLimits } from "../../support/changes.ts"
import { TestServices } from "../../support/database.ts"
import { asExistingPerson, byHand, policyFor, runScript } from "../../support/mappedTables.ts"

const SCRIPT = `CREATE SCHEMA "Depot";
CREATE DOMAIN "Depot".pct AS numeric(5,2) CHECK (VALUE BETWEEN 0 AND 100);
CREATE DOMAIN "Depot".short AS varchar(5);
CREATE DOMAIN "Depot".label AS "Depot".short NOT NULL;
CREATE DOMAIN "Depot".place AS text NOT NULL DEFAULT 'yard';
CREATE TABLE "Depot"."Worker" ("Id" int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, "Name" text NOT NULL, email text);
CREATE TABLE "Depot".lot (id serial PRIMARY KEY, note text);
CREATE TABLE "Depot".item (id serial PRIMARY KEY, name text NOT NULL, note varchar(12), code char(6), tag "Depot".label, place "Depot".place, discount "Depot".pct,
  price numeric(10,2), rounded numeric(4,-2), free numeric, qty int NOT NULL DEFAULT 0, small smallint, big bigint, keeper int NOT NULL REFERENCES "Depot"."Worker", seen timestamptz NOT NULL DEFAULT now());
INSERT INTO "Depot"."Worker" ("Name", email) VALUES ('Ada Berg', 'ada@depot.example'), ('Bo Lund', 'bo@depot.example'), ('Cy Dahl', 'cy@depot.example');
INSERT INTO "Depot".item (name, note, code, tag, price, keeper) VALUES ('Fork', 'new', 'ab', 'a', 10.50, 3), ('Pallet', 'old', 'cd', 'b', 1, 1), ('Crate', NULL, NULL, 'c', NULL, 1);
`
const COLUMNS = "note code tag place discount price rounded free qty small big seen".split(" ")
const KINDS: Readonly<Record<string, string>> = { qty: "integer", small: "integer", big: "integer", seen: "timestamp" }
const kindOf = (column: string) => KINDS[column] ?? (/^(discount|price|rounded|free)$/.test(column) ? "number" : "text")
const TRIGGERS = `CREATE TABLE "Depot".journal (item int, place text);
CREATE FUNCTION "Depot".journal() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN INSERT INTO "Depot".journal VALUES (NEW.id, NEW.place); RETURN NULL; END';
CREATE FUNCTION "Depot".touch() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN NEW.seen := now(); RETURN NEW; END';
CREATE TRIGGER touched BEFORE UPDATE ON "Depot".item FOR EACH ROW EXECUTE FUNCTION "Depot".touch();
CREATE TRIGGER journal AFTER UPDATE ON "Depot".item FOR EACH ROW EXECUTE FUNCTION "Depot".journal();
`
const FILE = {
  version: 1,
  types: [
    {
      table: "Depot.Worker",
      type: "people",
      exclusive: true,
      id: "Id",
      columns: { name: { from: "Name" }, email: { from: "email", kind: "email" } },
      write: { columns: ["name"], delete: "row" }
    },
    {
      table: "Depot.lot",
      type: "lots",
      name: "Lot",
      exclusive: true,
      id: "id",
      columns: { name: { from: "id", kind: "text" }, note: { from: "note" } },
      write: { columns: ["note"], create: true }
    },
    {
      table: "Depot.item",
      type: "items",
      exclusive: true,
      id: "id",
      columns: {
        name: { from: "name" },
        ...Object.fromEntries(COLUMNS.map((column) => [column, { from: column, kind: kindOf(column) }])),
        keeper: { from: "keeper", to: "Depot.Worker" }
      },
      write: { columns: ["name", ...COLUMNS, "keeper"], create: true, delete: "row" }
    }
  ]
}
const rule = (role: string, action: string, type: string, columns: unknown = "*", where = {}) => ({
  id: `${role}-${action}-${type}`,
  effect: "allow",
  role,
  action,
  type,
  columns,
  where
})
const POLICY = {
  version: 1,
  roles: { boss: {}, clerk: {}, guard: {} },
  rules: [
    ...["read", "update", "delete"].flatMap((action) => ["people", "items"].map((type) => rule("boss", action, type))),
    ...["read", "create"].map((action) => rule("boss", action, "lots")),
    rule("boss", "create", "items"),
    rule("clerk", "read", "items"),
    rule("clerk", "update", "items"),
    rule("clerk", "read", "people", ["name"]),
    rule("guard", "read", "items"),
    rule("guard", "read", "people", ["name"], { name: "Cy Dahl" })
  ],
  confirm: [{ action: "update", type: "items", columns: ["place"], by: "second", approvers: ["boss", "guard"] }]
}

const depot = Effect.fnUntraced(function* () {
  const organization = yield* makeOrganization("depot")
  const mappings = yield* Mappings
  const identities = yield* IdentityResolver
  yield* runScript(SCRIPT)
  yield* mappings.apply(organization, yield* readMappingFile(JSON.stringify(FILE)))
  yield* policyFor(organization, POLICY)
  const member = Effect.fnUntraced(function* (name: string, role: string) {
    const identifier = `${name}@depot.example`
    const reader = yield* asExistingPerson(organization, identifier, role)
    const { principal } = yield* identities.admit(organization, { kind: "email", key: identifier })
    return { ...reader, ...(yield* as(principal)) }
  })
  return {
    organization,
    ada: yield* member("ada", "boss"),
    bo: yield* member("bo", "clerk"),
    cy: yield* member("cy", "guard")
  }
})

const item = (id: number) => byHand(`SELECT i::text AS id FROM "Depot".item i WHERE id = ${id}`)
const failing = <A, R>(effect: Effect.Effect<A, unknown, R>) =>
  Effect.flip(effect) as Effect.Effect<{ _tag: string; message: string }, A, R>

layer(TestServices, { excludeTestServices: true })("a change of a warehouse's mapped table", (it) => {
  let at: Effect.Success<ReturnType<typeof depot>> | undefined
  const opened = Effect.gen(function* () {
    at ??= yield* depot()
    yield* forgetLimits(at.organization)
    return at
  })

  it.effect("is refused at its column before a person confirms it, where the column's type takes no such value", () =>
    Effect.gen(function* () {
      const { ada, organization } = yield* opened
      const before = yield* item(1)
      const refused: ReadonlyArray<readonly [string, string, string]> = [
        ["note", "a thirteen ch", "has at most 12 characters"],
        ["code", "abcdefg", "has at most 6 characters"],
        ["tag", "äöüäöü", "has at most 5 characters"],
        ["tag", "", "can't be empty"],
        ["place", " ", "can't be empty"],
        ["discount", "99.999", "has at most 2 decimal places"],
        ["discount", "1000", "has at most 3 digits before the decimal point"],
        ["price", "12.345", "has at most 2 decimal places"],
        ["price", "123456789.12", "has at most 8 digits before the decimal point"],
        ["price", "1e8", "has at most 8 digits before the decimal point"],
        ["price", "1e-3", "has at most 2 decimal places"],
        ["qty", "2147483648", "is at least -2147483648 and at most 2147483647"],
        ["qty", "", "can't be empty"],
        ["small", "-32769", "is at least -32768 and at most 32767"],
        ["keeper", "", "can't be empty"],
        ["seen", "", "can't be empty"]
      ]
      for (const [column, value, why] of refused) {
        expect(yield* failing(ada.update("items.update", ["1"], { [column]: value })), `${column}=${value}`).toEqual(
          expect.objectContaining({ _tag: "InvalidInput", message: expect.stringContaining(`${column} ${why}`) })
        )
        yield* forgetLimits(organization)
      }
      expect(yield* failing(ada.create("items.create", { name: "Bin", keeper: "Ada Berg" }))).toMatchObject({
        message: "items.create needs tag."
      })
      expect(yield* item(1)).toEqual(before)
      // What its type takes is written as it was shown.
      const taken: Readonly<Record<string, string>> = {
        note: "äöüäöüäöüäöü",
        code: "",
        tag: "abcde",
        discount: "99.990",
        price: "1e7",
        free: "123456789.123456789",
        qty: "-2147483648",
        small: "32767",
        big: "9223372036854775807",
        keeper: "Ada Berg"
      }
      yield* confirmed(ada, yield* ada.update("items.update", ["1"], taken))
      expect(
        yield* byHand(
          `SELECT concat_ws(' ', note, code, tag, discount, price, free, qty, small, big, keeper) AS id FROM "Depot".item WHERE id = 1`
        )
      ).toEqual(["äöüäöüäöüäöü abcde 99.99 10000000.00 123456789.123456789 -2147483648 32767 9223372036854775807 1"])
      // A type that rounds before the decimal point isn't judged ahead: the database does.
      expect(
        yield* failing(confirmed(ada, yield* ada.update("items.update", ["1"], { rounded: "1250" })))
      ).toMatchObject({ message: "The database made something else of Rounded: nothing was changed." })
    })
  )

  it.effect("adds a row whose columns of a domain get the domain's default", () =>
    Effect.gen(function* () {
      const { ada } = yield* opened
      yield* confirmed(ada, yield* ada.create("items.create", { name: "Bin", keeper: "Bo Lund", tag: "x" }))
      expect(
        yield* byHand(`SELECT concat_ws(' ', tag, place, keeper) AS id FROM "Depot".item WHERE name = 'Bin'`)
      ).toEqual(["x yard 2"])
    })
  )

  it.effect("fails where a trigger writes elsewhere with the rights of changes, of which the mapping warns", () =>
    Effect.gen(function* () {
      const { ada, organization } = yield* opened
      const mappings = yield* Mappings
      const map = Effect.flatMap(readMappingFile(JSON.stringify(FILE)), (file) => mappings.apply(organization, file))
      yield* runScript(TRIGGERS)
      // A trigger that runs before only makes something of the row itself.
      expect((yield* map).triggers).toEqual(["Depot.item: journal"])
      const change = ada.update("items.update", ["3"], { note: "seen" })
      expect((yield* failing(confirmed(ada, yield* change))).message).toContain("nothing was changed")
      expect(yield* byHand(`SELECT note AS id FROM "Depot".item WHERE id = 3`)).toEqual(["null"])
      yield* runScript(`ALTER FUNCTION "Depot".journal() SECURITY DEFINER SET search_path = "Depot";\n`)
      expect((yield* map).triggers).toEqual([])
      yield* confirmed(ada, yield* change)
      expect(yield* byHand(`SELECT note AS id FROM "Depot".item WHERE id = 3`)).toEqual(["seen"])
      expect(yield* byHand(`SELECT count(*) AS id FROM "Depot".journal`)).toEqual(["1"])
      yield* runScript(`DROP TRIGGER journal ON "Depot".item;\nDROP TRIGGER touched ON "Depot".item;\n`)
      yield* map
    })
  )

  it.effect("is shown with the name of the person who asks for it, to those who may see that person", () =>
    Effect.gen(function* () {
      const { ada, bo, cy } = yield* opened
      const draft = yield* bo.update("items.update", ["2"], { place: "hall" })
      expect(draft.preview.proposerName).toBe("Bo Lund")
      const digest = draft.preview.digest!
      yield* bo.confirm({ changeId: draft.changeId, digest })
      for (const [viewer, name] of [
        [ada, "Bo Lund"],
        [cy, undefined]
      ] as const) {
        expect((yield* viewer.preview(draft.changeId)).proposerName).toBe(name)
        expect((yield* viewer.list("me")).map(({ proposerName }) => proposerName)).toEqual([name])
      }
      // A table of people that can't be read hides names, and no change.
      yield* runScript(`ALTER TABLE "Depot"."Worker" RENAME TO away;\n`)
      const shown = yield* ada.preview(draft.changeId)
      yield* runScript(`ALTER TABLE "Depot".away RENAME TO "Worker";\n`)
      expect([shown.proposerName, shown.digest]).toEqual([undefined, digest])
      yield* ada.confirm({ changeId: draft.changeId, digest })
      expect(yield* ada.history("items", "2")).toMatchObject([{ proposerName: "Bo Lund", deciderName: "Ada Berg" }])
      expect((yield* cy.history("items", "2"))[0]!.deciderName).toBeUndefined()
    })
  )

  it.effect(
    "that is a deletion says that it can't be undone, before and after it, and what the database keeps stays",
    () =>
      Effect.gen(function* () {
        const { ada } = yield* opened
        // A new row whose name the database gives has none yet.
        const added = yield* ada.create("lots.create", { note: "first" })
        expect([changeLines(added.preview)[1], added.preview.lasting]).toEqual(["Add lot", true])
        const removal = yield* ada.remove("items.delete", ["3"])
        expect(removal.preview.lasting).toBe(true)
        expect(changeLines(removal.preview).join("\n")).toContain("It can't be undone here.")
        const outcome = yield* confirmed(ada, removal)
        if (outcome._tag !== "Applied") return expect.fail("It isn't applied")
        expect(receiptLine(outcome.receipt, removal.changeId)).toBe("Done: 1 item deleted.")
        expect((yield* failing(ada.undo(removal.changeId))).message).toContain("can't be brought back")
        expect(yield* item(3)).toEqual([])
        // An update can be undone, and says how.
        const change = yield* ada.update("items.update", ["2"], { note: "x" })
        expect(change.preview.lasting).toBeUndefined()
        const done = yield* confirmed(ada, change)
        if (done._tag !== "Applied") return expect.fail("It isn't applied")
        expect(receiptLine(done.receipt, change.changeId)).toContain(`max change undo ${change.changeId}`)
        // Cy was replaced as a keeper, so only rows of other people lead to Ada and Bo.
        yield* runScript(
          `INSERT INTO "Depot"."Worker" ("Name") VALUES ('Di Ek');\nUPDATE "Depot".item SET keeper = 4 WHERE id = 2;\n`
        )
        expect(yield* failing(confirmed(ada, yield* ada.remove("people.delete", ["4"])))).toMatchObject({
          _tag: "NotAllowed",
          message: "The database doesn't let this be deleted: nothing was changed."
        })
        expect(yield* byHand(`SELECT "Name" AS id FROM "Depot"."Worker" WHERE "Id" = 4`)).toEqual(["Di Ek"])
      })
  )
})
