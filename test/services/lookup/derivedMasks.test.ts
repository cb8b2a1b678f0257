/** Who sees derived columns: where all of their sources are visible, less what a rule denies. */
import { layer } from "@effect/vitest"
import { Effect } from "effect"
import { expect } from "vitest"
import { DerivedColumns } from "../../../src/services/catalog/DerivedColumns.ts"
import { Policies } from "../../../src/services/policies/Policies.ts"
import { asMember } from "../../support/atlas.ts"
import { TestServices } from "../../support/database.ts"
import { derive, policy, publish, type Rule, withCases } from "../../support/derived.ts"

layer(TestServices, { excludeTestServices: true })("the mask of a derived column", (it) => {
  it.effect("hides it from a caller who may not see one of its sources, in every use", () =>
    Effect.gen(function* () {
      const organization = yield* withCases("derived-hidden")
      yield* publish(organization, {}, { role: "clerk", columns: ["name", "created", "opened_on", "price"] })
      const clerk = yield* asMember(organization, "clerk@example.com", "clerk")
      const ids = (yield* clerk.columns("cases")).columns.map(({ id }) => id)
      expect(ids).toContain("waiting")
      expect(ids).not.toContain("handle_time")
      expect(ids).not.toContain("total")
      for (const query of [
        { selectColumns: ["handle_time"] },
        { filters: [{ columnId: "total", op: "gte" as const, value: "1" }] },
        { selectColumns: ["by total"] },
        { selectColumns: ["sum handle_time"] }
      ]) {
        const hidden = yield* Effect.flip(clerk.find({ entityTypeId: "cases", ...query }))
        expect(hidden._tag).toBe("UnknownName")
        expect(hidden.message).toMatch(/^There is no column "(handle_time|total)" in cases\./)
      }
    })
  )

  it.effect("hides it on the rows on which one of its sources is hidden", () =>
    Effect.gen(function* () {
      const organization = yield* withCases("derived-rows")
      yield* publish(
        organization,
        {},
        { role: "clerk" },
        { role: "clerk", effect: "deny", columns: ["closed"], where: { price: { gt: 10 } } },
        { role: "clerk", effect: "deny", columns: ["quantity"], where: { name: "Beta" } }
      )
      const clerk = yield* asMember(organization, "clerk@example.com", "clerk")
      const page = yield* clerk.find({ entityTypeId: "cases", selectColumns: ["handle_time", "total"] })
      expect(page.entities.map(({ columns }) => columns)).toEqual([
        { total: "50" },
        { handle_time: "-1" },
        {},
        { handle_time: "47", total: "6" }
      ])
      const figures = yield* clerk.find({ entityTypeId: "cases", selectColumns: ["sum total", "max handle_time"] })
      expect(figures.limited).toBe(true)
      expect(figures.groups?.[0]?.figures?.map((cells) => [cells[0]!.value, cells[0]!.of])).toEqual([
        ["56", 2],
        ["47", 2]
      ])
    })
  )

  it.effect("is narrowed by a rule that denies the derived column itself, also after it is declared anew", () =>
    Effect.gen(function* () {
      const organization = yield* withCases("derived-denied")
      yield* publish(
        organization,
        {},
        { role: "clerk" },
        { role: "clerk", effect: "deny", columns: ["total"], where: { price: { lt: 1 } } }
      )
      const clerk = yield* asMember(organization, "clerk@example.com", "clerk")
      const totals = Effect.map(clerk.find({ entityTypeId: "cases", selectColumns: ["total"] }), ({ entities }) =>
        entities.map(({ columns }) => columns?.["total"])
      )
      expect(yield* totals).toEqual(["50", undefined, undefined, "6"])
      const columns = yield* DerivedColumns
      yield* columns.remove(organization, "cases.total")
      yield* derive(organization, "cases.total", "price times price")
      expect(yield* totals).toEqual(["156.25", undefined, "49", "9"])
    })
  )

  it.effect("can be named by the tests of a policy", () =>
    Effect.gen(function* () {
      const organization = yield* withCases("derived-tested")
      const policies = yield* Policies
      yield* asMember(organization, "clerk@example.com", "clerk")
      const tested = (...tests: ReadonlyArray<object>) =>
        policies.publish(
          organization,
          JSON.stringify({
            ...JSON.parse(policy([{}, { role: "clerk" }, { role: "clerk", effect: "deny", columns: ["quantity"] }])),
            tests: tests.map((test) => ({ as: "clerk@example.com", read: "cases", ...test }))
          }),
          "test"
        )
      yield* tested({ shows: ["handle_time"], hides: ["total"] })
      const failed = yield* Effect.flip(tested({ shows: ["total"] }))
      expect(JSON.stringify(failed)).toContain("total")
    })
  )

  it.effect("can't be widened by a rule, and no condition of a policy can name the column", () =>
    Effect.gen(function* () {
      const organization = yield* withCases("derived-policy")
      const problem = (rule: Rule) =>
        Effect.map(Effect.flip(publish(organization, {}, rule)), (error) => JSON.stringify(error))
      expect(yield* problem({ role: "clerk", columns: ["name", "total"] })).toContain(
        "total is computed from other columns: it is visible where all of those are, and only a rule that denies reading can name it."
      )
      expect(yield* problem({ role: "clerk", where: { total: { gt: 5 } } })).toContain(
        "is computed from other columns: a condition names those."
      )
    })
  )
})
