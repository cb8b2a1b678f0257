/** Replays of published vulnerabilities in denials and unknown values, each named after its source. */
import { layer } from "@effect/vitest"
import { Effect } from "effect"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { expect } from "vitest"
import { OperatorError } from "../../../src/domain/errors.ts"
import { Importer } from "../../../src/services/import/Importer.ts"
import { Policies } from "../../../src/services/policies/Policies.ts"
import { names, answerText, Url } from "../process.ts"
import { file, type RuleInput } from "../support.ts"
import { filter, under } from "./setting.ts"

layer(Url.layer, { excludeTestServices: true })("denials", (it) => {
  it.effect("a policy without rules or with denials alone shows nothing (Cerbos #917, CASL #170)", () =>
    Effect.gen(function* () {
      const { find, lena, organization, process } = yield* under("alone", [])
      for (const rules of [
        [],
        [{ effect: "deny", where: { status: "vip" } }],
        [{ effect: "deny", columns: ["phone"] }],
        [{ effect: "deny", where: { any: [] } }]
      ]) {
        yield* process.publish(organization, rules)
        expect(yield* answerText(find())).toContain("UnknownName")
        expect(yield* process.types(lena)).toEqual([])
      }
    })
  )

  it.effect("a deny applies to lists, whatever the allows are (feathers-casl PR 149)", () =>
    Effect.gen(function* () {
      const deny: RuleInput = { effect: "deny", where: { status: "vip" } }
      // Only Ann has a status. The deny is unknown for everyone else, so it hides them too.
      const { find, organization, process } = yield* under("listed", [])
      for (const rules of [
        [{}, deny, { where: { name: "Ann" } }],
        [deny, {}, {}],
        [{ columns: ["name"] }, { columns: ["phone"], where: { status: "vip" } }, deny]
      ]) {
        yield* process.publish(organization, [...rules, { type: "meetings" }])
        expect(yield* answerText(find())).not.toContain("Ann")
        expect(yield* find(filter("name", "eq", "Ann"))).toMatchObject({ total: 0 })
        expect(yield* find({ entityTypeId: "meetings" })).toMatchObject({ total: 2 })
      }
      yield* process.publish(organization, [{}, { effect: "deny", columns: ["name"], where: { name: "Ann" } }])
      expect(yield* answerText(find({ selectColumns: ["name"] }))).not.toContain("Ann")
    })
  )

  it.effect("a deny whose comparison can't be evaluated still denies (GHSA-hm46-7j72-rpv9)", () =>
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
        expect(yield* answerText(senseless.find({ entityTypeId: "meetings" }))).toContain("UnknownName")
      }
    })
  )

  it.effect("a comparison with NaN or an infinity is unknown: five isn't at most NaN", () =>
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
          // Attributes of a principal that an embedding program asserts; no database has rejected them.
          for (const level of [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]) {
            const found = process.find({ ...lena, attributes: { level } }, { entityTypeId: "deals" })
            expect(yield* answerText(found)).toContain("UnknownName")
          }
          const five = process.find({ ...lena, attributes: { level: 5 } }, { entityTypeId: "deals" })
          expect((yield* names(five)).length).toBeGreaterThan(0)
        }
      }
    })
  )

  it.effect("a star in a deny covers every current and future column (CVE-2022-21646)", () =>
    Effect.gen(function* () {
      const { find, organization, process } = yield* under("wildcard", [
        { columns: ["name", "phone"] },
        { effect: "deny", columns: "*", where: { any: [{ status: "vip" }, { owner: "$me" }] } }
      ])
      // Lena owns herself, and Ann is a VIP. Bob has no status, so the deny is unknown and hides him.
      expect(yield* answerText(find())).toBe(JSON.stringify({ total: 0, limited: true, entities: [] }))
      yield* process.publish(organization, [{}, { effect: "deny", columns: "*", where: { name: "Ann" } }])
      expect(yield* names(find())).toEqual(["Bob", "Lena"])
      for (const columnId of ["name", "phone", "status"] as const) {
        const value = { name: "Ann", phone: "+14155550101", status: "vip" }[columnId]
        expect(yield* find(filter(columnId, "eq", value))).toMatchObject({ total: 0 })
      }
    })
  )

  it.effect("omitted columns mean no columns, in a query and in a rule (WaveHouse #223)", () =>
    Effect.gen(function* () {
      const { find, organization, process } = yield* under("omitted", [{ columns: ["name"] }])
      for (const selectColumns of [undefined, []]) {
        for (const entity of (yield* find({ selectColumns })).entities) {
          expect(Object.keys(entity).sort()).toEqual(["displayName", "entityId"])
        }
      }
      for (const star of ["*", "p.*", "phone"]) {
        expect(yield* answerText(find({ selectColumns: [star] }))).toContain("UnknownName")
        expect(yield* answerText(find(filter(star, "gte", "1")))).toContain("UnknownName")
      }
      for (const columns of [undefined, [], null, {}]) {
        const refused = yield* Effect.flip(
          process.run(
            Effect.flatMap(Policies, (policies) => policies.publish(organization, file([{ columns }]), "test"))
          )
        )
        expect(refused).toBeInstanceOf(OperatorError)
      }
      expect(yield* answerText(find({ selectColumns: ["phone"] }))).toContain("UnknownName")
    })
  )

  it.effect("inherited properties of objects are not roles, attributes or columns (CVE-2026-1774)", () =>
    Effect.gen(function* () {
      const { lena, organization, process } = yield* under("prototype", [{ where: { status: "$attr.region" } }])
      const prototype = Object.prototype as Record<string, unknown>
      prototype["region"] = "vip"
      prototype["polluted"] = ["member"]
      try {
        expect(yield* answerText(process.find(lena))).toContain("UnknownName")
        for (const role of ["polluted", "__proto__", "constructor", "toString"]) {
          expect(yield* answerText(process.find({ ...lena, roles: [role] }))).toContain("UnknownName")
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
