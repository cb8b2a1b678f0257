/** The conditions under which a disjunction is expanded. */
import { describe, expect, it } from "vitest"
import { expandOr } from "../../../src/database/sql/orExpansion.ts"
import { type Column, type ColumnKind, type EntityType, Storage } from "../../../src/domain/EntityType.ts"
import { ALWAYS, all, any, Bound } from "../../../src/domain/Predicate.ts"

const column = (key: string, kind: ColumnKind, storage: Storage): Column => ({
  key,
  slug: key,
  name: key,
  kind,
  storage
})
const value = (key: string, kind: ColumnKind) =>
  column(key, kind, Storage.Value({ column: key, keyColumn: `${key}_k` }))
const type: EntityType = {
  key: "things",
  slug: "things",
  name: "Thing",
  pluralName: "Things",
  system: false,
  version: 1,
  relation: { schema: "data", table: "things" },
  columns: [
    value("name", "text"),
    value("secret", "boolean"),
    value("tags", "list"),
    column("owner", "reference", Storage.One({ column: "owner_id", target: "things" }))
  ]
}
const is = (key: string, to: string) => Bound.Compare({ column: key, side: "value", op: "eq", value: to })
const mine = is("owner", "7")
const me = is("id", "7")
const ofPartners = Bound.Some({ relation: "owner", where: is("name", "x") })
const pattern = Bound.Contains({ column: "name", text: "maria" })

describe("expandOr", () => {
  it("returns the alternatives of a disjunction, and all other conditions as the rest", () => {
    const either = any(mine, me, ofPartners)
    expect(expandOr([either, pattern], type)).toEqual({ alternatives: [ofPartners, me, mine], rest: [pattern] })
    expect(expandOr([all(either, is("name", "y")), pattern], type)).toEqual({
      alternatives: [ofPartners, me, mine],
      rest: [is("name", "y"), pattern]
    })
  })

  it("expands an alternative that its index covers in part", () => {
    const narrower = all(mine, is("secret", "true"))
    expect(expandOr([any(narrower, me)], type).alternatives).toHaveLength(2)
    const several = Bound.In({ column: "owner", side: "value", values: ["1", "2"], negated: false })
    expect(expandOr([any(several, me)], type).alternatives).toHaveLength(2)
  })

  it("expands nothing without a disjunction, with an unindexed alternative, or with more than six", () => {
    const unexpanded = (...conditions: ReadonlyArray<Bound>) =>
      expect(expandOr(conditions, type)).toEqual({ alternatives: [], rest: conditions })
    unexpanded()
    unexpanded(ALWAYS, pattern)
    unexpanded(mine, pattern)
    unexpanded(any(mine, is("secret", "true")), pattern)
    unexpanded(any(mine, is("tags", "x")), pattern)
    unexpanded(any(mine, is("gone", "x")), pattern)
    unexpanded(any(mine, pattern))
    unexpanded(any(mine, Bound.Compare({ column: "owner", side: "value", op: "ne", value: "7" })))
    unexpanded(any(mine, Bound.In({ column: "owner", side: "value", values: ["1"], negated: true })))
    unexpanded(any(mine, Bound.None({ relation: "owner", where: ALWAYS })))
    unexpanded(any(mine, Bound.IsNull({ column: "owner", negated: false })))
    // A hop in a nested disjunction would be evaluated row by row.
    unexpanded(any(mine, all(any(me, ofPartners), is("secret", "true"))))
    const owners = Array.from({ length: 7 }, (_, index) => is("owner", String(index)))
    unexpanded(any(...owners), pattern)
    expect(expandOr([any(...owners.slice(1))], type).alternatives).toHaveLength(6)
  })

  it("expands nothing where every branch would repeat a hop", () => {
    const either = any(mine, me)
    for (const condition of [
      ofPartners,
      Bound.None({ relation: "owner", where: mine }),
      any(ofPartners, pattern),
      any(all(ofPartners, me), pattern)
    ])
      expect(expandOr([either, condition], type).alternatives).toEqual([])
    expect(expandOr([all(either, ofPartners), pattern], type).alternatives).toEqual([])
  })
})
