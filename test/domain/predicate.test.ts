/** The stored form, the combinators, the canonical text and the sizes of predicates. */
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
  type Placeholder,
  PredicateSchema,
  some
} from "../../src/domain/Predicate.ts"

const is = (value: string, column = "a") => Bound.Compare({ column, side: "value", op: "eq", value })
const within = (...values: ReadonlyArray<string>) => Bound.In({ column: "a", side: "value", values, negated: false })

describe("Predicate", () => {
  it("round-trips through its stored form", () => {
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

  it("is refused when a part is missing or malformed", () => {
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

describe("canonical, all, any, some, none and the sizes of bound predicates", () => {
  it("canonical gives equal predicates one text and different predicates different texts", () => {
    const placeholder = (text: string): Placeholder => ({ text })
    const compared = (value: string | Placeholder, more: object = {}): Bound<Placeholder> => ({
      _tag: "Compare",
      column: "a",
      side: "value",
      op: "eq",
      value,
      ...more
    })
    const contains = (column: string, text: string | Placeholder): Bound<Placeholder> => ({
      _tag: "Contains",
      column,
      text
    })
    const different: ReadonlyArray<Bound<Placeholder>> = [
      ALWAYS,
      NEVER,
      compared("x"),
      compared("y"),
      compared("x", { column: "b" }),
      compared("x", { side: "key" }),
      compared("x", { op: "ne" }),
      Bound.Compare({ column: "a", side: "value", op: "eq", value: true }),
      compared("true"),
      compared(placeholder("0")),
      compared(placeholder("1")),
      compared(placeholder("0"), { column: "b" }),
      compared(placeholder("0"), { side: "key" }),
      compared(placeholder("0"), { op: "lt" }),
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
      contains("a", "x"),
      contains("a", "y"),
      contains("b", "x"),
      contains("a", placeholder("0")),
      contains("a", placeholder("1")),
      contains("b", placeholder("0")),
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
    // Equal objects, and one object whose text is cached.
    expect(canonical(is("x"))).toBe(canonical(is("x")))
    const one = is("x")
    expect(canonical(one)).toBe(canonical(one))
  })

  it("all, any, some and none flatten, deduplicate, sort and simplify their parts", () => {
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

  it("parameterCount counts bound values, and leafCount counts leaves, values and hops", () => {
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
