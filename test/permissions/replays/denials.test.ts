/** What went wrong elsewhere with rules that deny, and with what is unknown, one test each, named after its source. */
import { layer } from "@effect/vitest"
import { Effect } from "effect"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { expect } from "vitest"
import { OperatorError } from "../../../src/domain/errors.ts"
import { Importer } from "../../../src/services/import/Importer.ts"
import { Policies } from "../../../src/services/policies/Policies.ts"
import { names, told, Url } from "../process.ts"
import { file, type RuleInput } from "../support.ts"
import { filter, under } from "./setting.ts"

layer(Url.layer, { excludeTestServices: true })("denials", (it) => {
  it.effect("no rule, and denials alone, show nothing (Cerbos #917, CASL #170)", () =>
    Effect.gen(function* () {
      const { find, lena, organization, process } = yield* under("alone", [])
      for (const rules of [
        [],
        [{ effect: "deny", where: { status: "vip" } }],
        [{ effect: "deny", columns: ["phone"] }],
        [{ effect: "deny", where: { any: [] } }]
      ]) {
        yield* process.publish(organization, rules)
        expect(yield* told(find())).toContain("UnknownName")
        expect(yield* process.types(lena)).toEqual([])
      }
    })
  )

  it.effect("a deny counts in a list as it does for one row, whatever else is allowed (feathers-casl PR 149)", () =>
    Effect.gen(function* () {
      const deny: RuleInput = { effect: "deny", where: { status: "vip" } }
      // Nobody's status but Ann's is known, so that it is asked for by name; a person without one is unknown, and hidden.
      const { find, organization, process } = yield* under("listed", [])
      for (const rules of [
        [{}, deny, { where: { name: "Ann" } }],
        [deny, {}, {}],
        [{ columns: ["name"] }, { columns: ["phone"], where: { status: "vip" } }, deny]
      ]) {
        yield* process.publish(organization, [...rules, { type: "meetings" }])
        expect(yield* told(find())).not.toContain("Ann")
        expect(yield* find(filter("name", "eq", "Ann"))).toMatchObject({ total: 0 })
        expect(yield* find({ entityTypeId: "meetings" })).toMatchObject({ total: 2 })
      }
      yield* process.publish(organization, [{}, { effect: "deny", columns: ["name"], where: { name: "Ann" } }])
      expect(yield* told(find({ selectColumns: ["name"] }))).not.toContain("Ann")
    })
  )

  it.effect("a deny whose comparison makes no sense isn't passed over (GHSA-hm46-7j72-rpv9)", () =>
    Effect.gen(function* () {
      const rules: ReadonlyArray<RuleInput> = [
        { type: "meetings" },
        { type: "meetings", effect: "deny", where: { start: { lt: "$attr.since" } } }
      ]
      const sensible = yield* under("sensible", rules, { since: "2026-03-02" })
      expect((yield* sensible.find({ entityTypeId: "meetings" })).total).toBe(1)
      for (const [slug, attributes] of [
        ["senseless", { since: "yesterday" }],
        ["mistyped", { since: 20260302 }],
        ["missing", {}]
      ] as const) {
        const senseless = yield* under(slug, rules, attributes)
        expect(yield* told(senseless.find({ entityTypeId: "meetings" }))).toContain("UnknownName")
      }
    })
  )

  it.effect("nothing is less than NaN, nor more, nor another number: five isn't at most NaN", () =>
    Effect.gen(function* () {
      const { organization, process } = yield* under("numbers", [])
      const path = join(mkdtempSync(join(tmpdir(), "max-nan-")), "deals.csv")
      writeFileSync(path, "name,amount\nFour,4\nFive,5\nSix,6.5\nNone,\n")
      yield* process.run(
        Effect.flatMap(Importer, (importer) =>
          importer.import(organization, { files: [path], type: "deals", create: true })
        )
      )
      rmSync(dirname(path), { recursive: true })
      for (const op of ["lte", "lt", "gte", "gt", "ne", "eq"]) {
        const where = { amount: { [op]: "$attr.level" } }
        for (const rules of [
          [{ where }],
          [{ where: { not: where } }],
          [{}, { effect: "deny", where }],
          [{}, { effect: "deny", where: { not: where } }]
        ]) {
          yield* process.publish(
            organization,
            rules.map((rule) => ({ ...rule, type: "deals" }))
          )
          const lena = yield* process.admit(organization, "lena@atlas.com")
          // Attributes of an embedding program's own principal, which no database has made finite.
          for (const level of [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]) {
            const found = process.find({ ...lena, attributes: { level } }, { entityTypeId: "deals" })
            expect(yield* told(found)).toContain("UnknownName")
          }
          const five = process.find({ ...lena, attributes: { level: 5 } }, { entityTypeId: "deals" })
          expect((yield* names(five)).length).toBeGreaterThan(0)
        }
      }
    })
  )

  it.effect("a star in a deny is about every column there is and will be (CVE-2022-21646)", () =>
    Effect.gen(function* () {
      const { find, organization, process } = yield* under("wildcard", [
        { columns: ["name", "phone"] },
        { effect: "deny", columns: "*", where: { any: [{ status: "vip" }, { owner: "$me" }] } }
      ])
      // Lena is her own owner, Ann a vip; Bob has no status, which is unknown, and hides him.
      expect(yield* told(find())).toBe(JSON.stringify({ total: 0, limited: true, entities: [] }))
      yield* process.publish(organization, [{}, { effect: "deny", columns: "*", where: { name: "Ann" } }])
      expect(yield* names(find())).toEqual(["Bob", "Lena"])
      for (const columnId of ["name", "phone", "status"] as const) {
        const value = { name: "Ann", phone: "+14155550101", status: "vip" }[columnId]
        expect(yield* find(filter(columnId, "eq", value))).toMatchObject({ total: 0 })
      }
    })
  )

  it.effect("columns that nobody names are none, in a question and in a rule (WaveHouse #223)", () =>
    Effect.gen(function* () {
      const { find, organization, process } = yield* under("omitted", [{ columns: ["name"] }])
      for (const selectColumns of [undefined, []]) {
        for (const entity of (yield* find({ selectColumns })).entities) {
          expect(Object.keys(entity).sort()).toEqual(["displayName", "entityId"])
        }
      }
      for (const star of ["*", "p.*", "phone"]) {
        expect(yield* told(find({ selectColumns: [star] }))).toContain("UnknownName")
        expect(yield* told(find(filter(star, "gte", "1")))).toContain("UnknownName")
      }
      for (const columns of [undefined, [], null, {}]) {
        const refused = yield* Effect.flip(
          process.run(
            Effect.flatMap(Policies, (policies) => policies.publish(organization, file([{ columns }]), "test"))
          )
        )
        expect(refused).toBeInstanceOf(OperatorError)
      }
      expect(yield* told(find({ selectColumns: ["phone"] }))).toContain("UnknownName")
    })
  )

  it.effect("what objects inherit is no role, no attribute and no column (CVE-2026-1774)", () =>
    Effect.gen(function* () {
      const { lena, organization, process } = yield* under("prototype", [{ where: { status: "$attr.region" } }])
      const prototype = Object.prototype as Record<string, unknown>
      prototype["region"] = "vip"
      prototype["polluted"] = ["member"]
      try {
        expect(yield* told(process.find(lena))).toContain("UnknownName")
        for (const role of ["polluted", "__proto__", "constructor", "toString"]) {
          expect(yield* told(process.find({ ...lena, roles: [role] }))).toContain("UnknownName")
        }
      } finally {
        delete prototype["region"]
        delete prototype["polluted"]
      }
      const text = file([{}]).replace(`"columns":"*"`, `"columns":"*","__proto__":{"effect":"allow"}`)
      for (const polluting of [text, file([{ where: JSON.parse(`{"__proto__":{"owner":"$me"}}`) }])]) {
        const refused = yield* Effect.flip(
          process.run(Effect.flatMap(Policies, (policies) => policies.publish(organization, polluting, "test")))
        )
        expect(refused).toBeInstanceOf(OperatorError)
      }
      expect(({} as { effect?: unknown }).effect).toBeUndefined()
    })
  )
})
