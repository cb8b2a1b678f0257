/** Predicates as they are stored, put together, told apart and measured. */
import { Schema } from "effect"
import { describe, expect, it } from "vitest"
import {
  all,
  ALWAYS,
  any,
  Bound,
  canonical,
  leafCount,
  NEVER,
  none,
  parameterCount,
  type Predicate,
  PredicateSchema,
  Slot,
  slotAt,
  some
} from "../../src/domain/Predicate.ts"

const is = (value: string, column = "a") => Bound.Compare({ column, side: "value", op: "eq", value })
const within = (...values: ReadonlyArray<string>) => Bound.In({ column: "a", side: "value", values, negated: false })

describe("a predicate", () => {
  it("comes back from storage as it was", () => {
    const whole: Predicate = {
      _tag: "All",
      of: [
        { _tag: "Always" },
        { _tag: "Never" },
        { _tag: "Compare", column: "a", op: "lte", operand: { _tag: "Literal", value: 5 } },
        { _tag: "Compare", column: "b", op: "ne", operand: { _tag: "Attribute", name: "region" } },
        { _tag: "In", column: "c", operands: [{ _tag: "Me" }, { _tag: "Literal", value: true }] },
        { _tag: "IsNull", column: "d" },
        { _tag: "Related", relation: "e", where: { _tag: "Any", of: [{ _tag: "Not", of: { _tag: "Always" } }] } }
      ]
    }
    const stored = JSON.stringify(Schema.encodeSync(PredicateSchema)(whole))
    expect(JSON.parse(stored)).toEqual(whole)
    expect(Schema.decodeUnknownSync(PredicateSchema)(JSON.parse(stored))).toEqual(whole)
  })

  it("isn't read when a part of it isn't there or is something else", () => {
    const literal = { _tag: "Literal", value: 5 }
    for (const wrong of [
      { _tag: "Sometimes" },
      { _tag: "Compare", column: "a", op: "lte" },
      { _tag: "Compare", op: "lte", operand: literal },
      { _tag: "Compare", column: "a", op: "like", operand: literal },
      { _tag: "Compare", column: "a", operand: literal },
      { _tag: "Compare", column: "a", op: "eq", operand: { _tag: "Literal", value: null } },
      { _tag: "Compare", column: "a", op: "eq", operand: { _tag: "Literal", value: Number.NaN } },
      { _tag: "Compare", column: "a", op: "eq", operand: { _tag: "Literal" } },
      { _tag: "Compare", column: "a", op: "eq", operand: { _tag: "Attribute" } },
      { _tag: "In", column: "a" },
      { _tag: "In", operands: [] },
      { _tag: "IsNull" },
      { _tag: "Related", relation: "a" },
      { _tag: "Related", where: { _tag: "Always" } },
      { _tag: "All" },
      { _tag: "Any", of: [{}] },
      { _tag: "Not" }
    ])
      expect(() => Schema.decodeUnknownSync(PredicateSchema)(wrong), JSON.stringify(wrong)).toThrow(Error)
    for (const op of ["eq", "ne", "lt", "lte", "gt", "gte"]) {
      const read = Schema.decodeUnknownSync(PredicateSchema)({ _tag: "Compare", column: "a", op, operand: literal })
      expect(read).toEqual({ _tag: "Compare", column: "a", op, operand: literal })
    }
  })
})

describe("slots", () => {
  it("are made once for the first places, and anew for those beyond", () => {
    for (const offset of [false, true]) {
      expect(slotAt(3, offset)).toBe(slotAt(3, offset))
      expect([slotAt(3, offset), slotAt(64, offset)]).toEqual([new Slot(3, offset), new Slot(64, offset)])
    }
  })
})

describe("bound predicates", () => {
  it("have one text each, and no two the same", () => {
    const slot = (index: number, offset = false) => new Slot(index, offset)
    const compared = (value: string | Slot, more: object = {}): Bound =>
      Bound.Compare({ column: "a", side: "value", op: "eq", value, ...more })
    const different: ReadonlyArray<Bound> = [
      ALWAYS,
      NEVER,
      compared("x"),
      compared("y"),
      compared("x", { column: "b" }),
      compared("x", { side: "key" }),
      compared("x", { op: "ne" }),
      Bound.Compare({ column: "a", side: "value", op: "eq", value: true }),
      compared("true"),
      compared(slot(0)),
      compared(slot(1)),
      compared(slot(0, true)),
      compared(slot(0), { column: "b" }),
      compared(slot(0), { side: "key" }),
      compared(slot(0), { op: "lt" }),
      within("x"),
      within("y"),
      within("x", "y"),
      within("x,y"),
      Bound.In({ column: "b", side: "value", values: ["x"], negated: false }),
      Bound.In({ column: "a", side: "key", values: ["x"], negated: false }),
      Bound.In({ column: "a", side: "value", values: ["x"], negated: true }),
      Bound.IsNull({ column: "a", negated: false }),
      Bound.IsNull({ column: "a", negated: true }),
      Bound.IsNull({ column: "b", negated: true }),
      Bound.Contains({ column: "a", text: "x" }),
      Bound.Contains({ column: "a", text: "y" }),
      Bound.Contains({ column: "b", text: "x" }),
      Bound.Contains({ column: "a", text: slot(0) }),
      Bound.Contains({ column: "a", text: slot(1) }),
      Bound.Contains({ column: "b", text: slot(0) }),
      ...[Bound.Some, Bound.None].flatMap((hop) => [
        hop({ relation: "a", where: ALWAYS }),
        hop({ relation: "b", where: ALWAYS }),
        hop({ relation: "a", where: is("x") })
      ]),
      ...[Bound.All, Bound.Any].flatMap((join) => [
        join({ of: [] }),
        join({ of: [is("x"), is("y")] }),
        join({ of: [is("x"), is("z")] }),
        join({ of: [is("x"), is("y"), is("z")] }),
        join({ of: [Bound.Any({ of: [is("x"), is("y")] }), is("z")] })
      ])
    ]
    expect(new Set(different.map(canonical)).size).toBe(different.length)
    // Twice the same, kept or not.
    expect(canonical(is("x"))).toBe(canonical(is("x")))
    const one = is("x")
    expect(canonical(one)).toBe(canonical(one))
  })

  it("that are put together are flat, each once, in one order, and as simple as can be", () => {
    const [x, y, z] = [is("x"), is("y"), is("z")]
    expect(all(x, y)).toEqual(Bound.All({ of: [x, y] }))
    expect(all(y, x)).toEqual(all(x, y))
    expect(any(z, any(y, x), x)).toEqual(Bound.Any({ of: [x, y, z] }))
    expect(all(z, all(y, x), x)).toEqual(Bound.All({ of: [x, y, z] }))
    expect(all(any(x, y), z)).toEqual(all(z, any(y, x)))
    expect([all(), any()]).toEqual([ALWAYS, NEVER])
    expect([all(x), any(x)]).toEqual([x, x])
    expect([all(x, ALWAYS), any(x, NEVER)]).toEqual([x, x])
    expect([all(x, x), any(x, x)]).toEqual([x, x])
    expect([all(x, NEVER, y), any(x, ALWAYS, y)]).toEqual([NEVER, ALWAYS])
    expect([all(ALWAYS, ALWAYS), any(NEVER, NEVER)]).toEqual([ALWAYS, NEVER])
    expect([some("a", NEVER), none("a", NEVER)]).toEqual([NEVER, ALWAYS])
    expect([some("a", x), none("a", ALWAYS)]).toEqual([
      Bound.Some({ relation: "a", where: x }),
      Bound.None({ relation: "a", where: ALWAYS })
    ])
  })

  it("are measured by what they bind, and by their leaves", () => {
    const measured = (bound: Bound) => [parameterCount(bound), leafCount(bound)]
    expect([ALWAYS, NEVER, Bound.IsNull({ column: "a", negated: true })].map(measured)).toEqual([
      [0, 1],
      [0, 1],
      [0, 1]
    ])
    expect(measured(is("x"))).toEqual([1, 1])
    expect(measured(Bound.Contains({ column: "a", text: "x" }))).toEqual([1, 1])
    expect(measured(within("x", "y", "z"))).toEqual([3, 4])
    expect(measured(some("a", within("x", "y")))).toEqual([2, 4])
    expect(measured(none("a", is("x")))).toEqual([1, 2])
    expect(measured(all(is("x"), within("x", "y")))).toEqual([3, 4])
    expect(measured(any(is("x"), is("y"), some("a", is("z"))))).toEqual([3, 4])
  })
})
