/** A missing, empty or mistyped attribute makes its comparison unknown. */
import { describe, expect, it } from "vitest"
import { Bound } from "../../src/domain/Predicate.ts"
import type { AttributeValue } from "../../src/domain/Principal.ts"
import { granted, planOf, type RuleInput } from "./support.ts"

const none: Readonly<Record<string, AttributeValue>> = {}

/** The results of a condition and its negation as an allow, as a deny of rows and as a deny of a cell. */
const outcomes = (where: RuleInput["where"], attributes: Readonly<Record<string, unknown>>) =>
  [where, { not: where }].map((condition) => {
    const made = (rules: ReadonlyArray<RuleInput>) =>
      planOf(rules, { attributes: attributes as Readonly<Record<string, AttributeValue>> })
    return {
      allow: made([{ where: condition }])._tag,
      deny: made([{}, { effect: "deny", where: condition }])._tag,
      phone: granted(made([{}, { effect: "deny", columns: ["phone"], where: condition }])).cells.has("phone-key")
        ? "shown"
        : "hidden"
    }
  })

/** An unknown allow shows nothing, an unknown deny hides everything, and so do their negations. */
const UNKNOWN = Array.from({ length: 2 }, () => ({ allow: "Denied", deny: "Denied", phone: "hidden" }))

describe("attributes of a principal", () => {
  it("a missing attribute is unknown", () => {
    expect(outcomes({ status: "$attr.region" }, none)).toEqual(UNKNOWN)
    expect(outcomes({ level: { gte: "$attr.level" } }, none)).toEqual(UNKNOWN)
    expect(outcomes({ status: ["$attr.region"] }, none)).toEqual(UNKNOWN)
  })

  it("an attribute inherited from a prototype is unknown", () => {
    expect(outcomes({ status: "$attr.constructor" }, none)).toEqual(UNKNOWN)
    expect(
      outcomes({ status: "$attr.region" }, Object.create({ region: "north" }) as object as Record<string, unknown>)
    ).toEqual(UNKNOWN)
    const prototype = Object.prototype as Record<string, unknown>
    prototype["region"] = "north"
    try {
      expect(outcomes({ status: "$attr.region" }, none)).toEqual(UNKNOWN)
    } finally {
      delete prototype["region"]
    }
  })

  it("an empty attribute is unknown", () => {
    expect(outcomes({ status: "$attr.region" }, { region: "" })).toEqual(UNKNOWN)
  })

  it.each([Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY])(
    "the attribute %d is unknown, because no comparison with it holds",
    (level) => {
      for (const op of ["lt", "lte", "gt", "gte", "eq", "ne"]) {
        expect(outcomes({ level: { [op]: "$attr.level" } }, { level })).toEqual(UNKNOWN)
        expect(outcomes({ score: { [op]: "$attr.level" } }, { level })).toEqual(UNKNOWN)
      }
    }
  )

  it.each<readonly [string, string, unknown]>([
    ["a number for text", "status", 5],
    ["a boolean for text", "status", true],
    ["text for a boolean", "secret", "true"],
    ["a number for a boolean", "secret", 1],
    ["a boolean for a number", "level", true],
    ["text for a number", "level", "five"],
    ["a fraction for a whole number", "level", 5.5],
    ["text for a number", "score", "5,5"],
    ["hexadecimal for a number", "score", "0x10"],
    ["a list for text", "status", ["a"]],
    ["an object for text", "status", {}],
    ["null for text", "status", null],
    ["text that is no date", "joined", "soon"],
    ["a number for a date", "joined", 20260101],
    ["text that is no phone", "phone", "call me"],
    ["text that is no address", "email", "ada"],
    ["a number for a reference", "owner", 5],
    ["text with a NUL", "status", "a\u0000b"]
  ])("an attribute with %s is unknown (%s)", (_, column, value) => {
    expect(outcomes({ [column]: "$attr.it" }, { it: value })).toEqual(UNKNOWN)
  })

  it.each(["lena@atlas.com", "Lena Fischer", "-1", "x".repeat(40)])(
    "the attribute %j can't be an id, so its comparison with a reference is unknown",
    (lead) => {
      expect(outcomes({ owner: "$attr.lead" }, { lead })).toEqual(UNKNOWN)
      expect(outcomes({ owner: { ne: "$attr.lead" } }, { lead })).toEqual(UNKNOWN)
      expect(outcomes({ owner: ["$attr.lead"] }, { lead })).toEqual(UNKNOWN)
    }
  )
})

describe("$me", () => {
  it.each(["", "not an id", "lena@atlas.com", "-1"])(
    "is unknown where the principal's own record is called %j, which can't be an id",
    (anchorEntityId) => {
      const made = (rules: ReadonlyArray<RuleInput>) => planOf(rules, { anchorEntityId })
      for (const where of [{ owner: "$me" }, { id: "$me" }, { owner: { ne: "$me" } }, { owner: ["$me"] }]) {
        for (const condition of [where, { not: where }]) {
          expect(made([{ where: condition }])._tag).toBe("Denied")
          expect(made([{}, { effect: "deny", where: condition }])._tag).toBe("Denied")
        }
      }
    }
  )
})

describe("a valid attribute", () => {
  it("is compared exactly, by the kind of the column", () => {
    const leaf = (where: RuleInput["where"], attributes: Readonly<Record<string, AttributeValue>>) =>
      granted(planOf([{ where }], { attributes })).where
    expect(leaf({ status: "$attr.it" }, { it: "vip" })).toEqual(
      Bound.Compare({ column: "status", side: "value", op: "eq", value: "vip" })
    )
    expect(leaf({ level: { lte: "$attr.it" } }, { it: 5 })).toEqual(
      Bound.Compare({ column: "level-key", side: "value", op: "lte", value: "5" })
    )
    expect(leaf({ score: "$attr.it" }, { it: 1e-7 })).toEqual(
      Bound.Compare({ column: "score-key", side: "value", op: "eq", value: "0.0000001" })
    )
    expect(leaf({ secret: "$attr.it" }, { it: false })).toEqual(
      Bound.Compare({ column: "secret-key", side: "value", op: "eq", value: false })
    )
    expect(leaf({ phone: "$attr.it" }, { it: "(415) 555-0100" })).toEqual(
      Bound.Compare({ column: "phone-key", side: "key", op: "eq", value: "+14155550100" })
    )
  })

  it("is never interpreted as a variable", () => {
    expect(granted(planOf([{ where: { status: "$attr.it" } }], { attributes: { it: "$me" } })).where).toEqual(
      Bound.Compare({ column: "status", side: "value", op: "eq", value: "$me" })
    )
  })

  it("in a list with a missing one makes the list unknown wherever it isn't true", () => {
    const where = { status: ["$attr.it", "$attr.missing"] }
    expect(granted(planOf([{ where }], { attributes: { it: "a" } })).where).toEqual(
      Bound.In({ column: "status", side: "value", values: ["a"], negated: false })
    )
    expect(planOf([{ where: { not: where } }], { attributes: { it: "a" } })._tag).toBe("Denied")
    expect(planOf([{}, { effect: "deny", where }], { attributes: { it: "a" } })._tag).toBe("Denied")
  })
})

describe("an empty list", () => {
  it("is false for every row, including NULL cells", () => {
    expect(planOf([{ where: { status: [] } }])._tag).toBe("Denied")
    expect(granted(planOf([{}, { effect: "deny", where: { status: [] } }])).where._tag).toBe("Always")
    expect(granted(planOf([{ where: { not: { status: [] } } }])).where._tag).toBe("Always")
    expect(planOf([{ where: { any: [] } }])._tag).toBe("Denied")
    expect(granted(planOf([{ where: { all: [] } }])).where._tag).toBe("Always")
  })
})
