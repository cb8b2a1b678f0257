/** Replays of published vulnerabilities in columns, cells and relations, each named after its source. */
import { layer } from "@effect/vitest"
import { Effect, Exit } from "effect"
import { expect } from "vitest"
import { Url } from "../process.ts"
import { idFor } from "../tables.ts"
import { filter, under } from "./setting.ts"

layer(Url.layer, { excludeTestServices: true })("column access", (it) => {
  it.effect("a search in a partly hidden column doesn't find rows by hidden cells (Directus #23894)", () =>
    Effect.gen(function* () {
      const { find } = yield* under("searching", [
        { columns: ["name"] },
        { columns: ["name", "phone"], where: { owner: "$me" } }
      ])
      expect(yield* find(filter("phone", "ilike", "+1415555"))).toMatchObject({
        total: 1,
        entities: [{ displayName: "Lena" }]
      })
      expect(yield* find(filter("phone", "eq", "+14155550101"))).toMatchObject({ total: 0 })
      expect((yield* find({})).total).toBe(3)
    })
  )

  it.effect(
    "a filter through a relation doesn't match hidden data of the target row (Directus #15437, ZenStack #1454)",
    () =>
      Effect.gen(function* () {
        const { find } = yield* under("reaching", [
          {},
          { type: "companies", where: { status: "open" } },
          { type: "companies", effect: "deny", columns: ["name"], where: { name: "Open Inc" } }
        ])
        expect(yield* find(filter("company", "eq", idFor("secret")))).toMatchObject({ total: 0 })
        expect(yield* find(filter("company", "ilike", "Secret"))).toMatchObject({ total: 0 })
        expect(yield* find(filter("company", "eq", idFor("open")))).toMatchObject({ total: 1 })
        expect(yield* find(filter("company", "ilike", "Open"))).toMatchObject({ total: 0 })
      })
  )

  it.effect("a repeatedly selected column stays under its mask (CVE-2024-34708)", () =>
    Effect.gen(function* () {
      const { find } = yield* under("repeating", [
        { columns: ["name", "status", "phone"] },
        { effect: "deny", columns: ["phone"], where: { status: { not: null } } }
      ])
      const page = yield* find({ selectColumns: ["phone", "name", "phone", "status", "phone"] })
      expect(
        page.entities
          .map((entity) => entity.columns)
          .sort((a, b) => String(a?.["name"]).localeCompare(String(b?.["name"])))
      ).toEqual([
        { name: "Ann", status: "vip" },
        { name: "Bob", phone: "+14155550102" },
        { name: "Lena", phone: "+14155550100" }
      ])
    })
  )

  it.effect("a range and its order exclude rows on which the column is hidden (frappe PR 40515, DAB #3554)", () =>
    Effect.gen(function* () {
      const { find } = yield* under("ordering", [
        { type: "meetings" },
        { type: "meetings", effect: "deny", columns: ["start"], where: { status: "private" } }
      ])
      for (const query of [filter("start", "gte", "2026"), filter("start", "lt", "2027")]) {
        expect(yield* find({ entityTypeId: "meetings", ...query })).toMatchObject({
          total: 1,
          entities: [{ displayName: "Late" }]
        })
      }
      expect((yield* find({ entityTypeId: "meetings" })).total).toBe(2)
    })
  )

  it.effect("the mask of a name applies when its row is shown as a reference (ZenStack #814)", () =>
    Effect.gen(function* () {
      const { find } = yield* under("relating", [
        {},
        { effect: "deny", columns: ["name"], where: { status: { not: null } } },
        { type: "meetings" }
      ])
      const { entities } = yield* find({
        entityTypeId: "meetings",
        ...filter("name", "eq", "Early"),
        selectColumns: ["attendees"]
      })
      const attendees = entities[0]!.columns!["attendees"] as ReadonlyArray<{ readonly id: string }>
      expect([...attendees].sort((a, b) => Object.keys(a).length - Object.keys(b).length)).toEqual([
        { id: idFor("ann") },
        { id: idFor("bob"), name: "Bob" }
      ])
      const owned = yield* find({ ...filter("name", "eq", "Bob"), selectColumns: ["owner"] })
      expect(owned.entities[0]!.columns).toEqual({ owner: { id: idFor("ann") } })
    })
  )

  it.effect("an undefined filter is refused instead of matching every row (Prisma)", () =>
    Effect.gen(function* () {
      const { find } = yield* under("undefined", [{}])
      const nothing = undefined as never
      for (const query of [
        { filters: [{ columnId: "name", op: "eq" as const, value: nothing }] },
        { filters: [{ columnId: nothing, op: "eq" as const, value: "Ann" }] },
        { filters: [{ columnId: "name", op: nothing, value: "Ann" }] },
        { filters: nothing },
        { entityTypeId: nothing }
      ])
        expect(Exit.isFailure(yield* Effect.exit(find(query)))).toBe(true)
      expect((yield* find({ selectColumns: nothing })).entities.every((entity) => entity.columns === undefined)).toBe(
        true
      )
    })
  )
})
