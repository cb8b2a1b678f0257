/** Which plans are followed reason by reason. */
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

describe("the ways to a plan's rows", () => {
  it("are its reasons, and each other condition holds on all of them", () => {
    const either = any(mine, me, ofPartners)
    expect(expandOr([either, pattern], type)).toEqual({ alternatives: [ofPartners, me, mine], rest: [pattern] })
    expect(expandOr([all(either, is("name", "y")), pattern], type)).toEqual({
      alternatives: [ofPartners, me, mine],
      rest: [is("name", "y"), pattern]
    })
  })

  it("are followed when a reason says more than its index does", () => {
    const narrower = all(mine, is("secret", "true"))
    expect(expandOr([any(narrower, me)], type).alternatives).toHaveLength(2)
    const several = Bound.In({ column: "owner", side: "value", values: ["1", "2"], negated: false })
    expect(expandOr([any(several, me)], type).alternatives).toHaveLength(2)
  })

  it("aren't followed where there is one, where no index leads to one of them, or where there are many", () => {
    const together = (...conditions: ReadonlyArray<Bound>) =>
      expect(expandOr(conditions, type)).toEqual({ alternatives: [], rest: conditions })
    together()
    together(ALWAYS, pattern)
    together(mine, pattern)
    together(any(mine, is("secret", "true")), pattern)
    together(any(mine, is("tags", "x")), pattern)
    together(any(mine, is("gone", "x")), pattern)
    together(any(mine, pattern))
    together(any(mine, Bound.Compare({ column: "owner", side: "value", op: "ne", value: "7" })))
    together(any(mine, Bound.In({ column: "owner", side: "value", values: ["1"], negated: true })))
    together(any(mine, Bound.None({ relation: "owner", where: ALWAYS })))
    together(any(mine, Bound.IsNull({ column: "owner", negated: false })))
    // Under an OR inside an AND, related rows would be looked at one by one.
    together(any(mine, all(any(me, ofPartners), is("secret", "true"))))
    const owners = Array.from({ length: 7 }, (_, index) => is("owner", String(index)))
    together(any(...owners), pattern)
    expect(expandOr([any(...owners.slice(1))], type).alternatives).toHaveLength(6)
  })

  it("aren't followed where related rows would be collected for each of them", () => {
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
