/** SQL fragments of single predicates: the error-prone cases, and the refusals. */
import { describe, expect, it } from "vitest"
import { compilable } from "../../../src/database/sql/compilable.ts"
import { type Condition, Parameter } from "../../../src/database/sql/Parameter.ts"
import { hasOffset, patternOf } from "../../../src/database/sql/comparisons.ts"
import type { Hops } from "../../../src/database/sql/fragmentContext.ts"
import { fragment } from "../../../src/database/sql/predicate.ts"
import { SqlWriter } from "../../../src/database/sql/SqlWriter.ts"
import { type Column, type ColumnKind, type EntityType, Storage } from "../../../src/domain/EntityType.ts"
import { all, ALWAYS, any, Bound, type CompareOp, type Literal, NEVER } from "../../../src/domain/Predicate.ts"
import { denied, type Plan } from "../../../src/permissions/permissionPlan.ts"
import { systemCatalog } from "../../support/catalog.ts"

const value = (key: string, kind: ColumnKind, more: Partial<Column> = {}): Column => ({
  key,
  slug: key,
  name: key,
  kind,
  storage: Storage.Value({ column: key, keyColumn: `${key}_k` }),
  ...more
})
const sourced = (key: string, kind: ColumnKind, type: "text" | "integer"): Column =>
  value(key, kind, { storage: Storage.Value({ column: key, source: { columns: [key], type } }) })
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
    value("plain", "text", { storage: Storage.Value({ column: "plain" }) }),
    value("level", "integer"),
    value("score", "number"),
    value("secret", "boolean"),
    value("due", "date"),
    value("at", "timestamp"),
    value("tags", "list"),
    value("phone", "phone"),
    value("email", "email"),
    sourced("number", "text", "integer"),
    sourced("written", "phone", "text"),
    value("owner", "reference", { storage: Storage.One({ column: "owner_id", target: "things" }) }),
    value("other", "reference", { storage: Storage.One({ column: "other_id", target: "gone" }) }),
    value("links", "references", {
      storage: Storage.Many({ link: { schema: "data", table: "l" }, from: "f", to: "t", target: "things" })
    }),
    value("host", "references", {
      storage: Storage.Many({ link: { schema: "h", table: "l" }, from: "f", to: "t", target: "things", mapped: true })
    })
  ]
}
const catalog = { ...systemCatalog, types: [type] }

const write = (condition: Condition, hops: Hops = "subplan", may = false, of: EntityType = type) => {
  const writer = new SqlWriter()
  const context = { catalog, writer, organization: "$9::bigint", hops, timeZone: () => "$8::text" }
  return [fragment(condition, of, "p", context, may), ...writer.parameters]
}
const compare = (column: string, op: CompareOp, is: Literal, side: "value" | "key" = "value") =>
  Bound.Compare({ column, side, op, value: is })
const equalsParameter = (column: string): Condition => ({
  _tag: "Compare",
  column,
  side: "value",
  op: "eq",
  value: new Parameter(0, false)
})
const within = (column: string, values: ReadonlyArray<string | boolean>, negated = false) =>
  Bound.In({ column, side: "value", values, negated })

describe("a comparison", () => {
  it("uses its operator and the cast of its column", () => {
    for (const [op, sql] of Object.entries({ eq: "=", ne: "<>", lt: "<", lte: "<=", gt: ">", gte: ">=" })) {
      expect(write(compare("level", op as CompareOp, "5"))).toEqual([`p."level" ${sql} $1::bigint`, "5"])
    }
    const cast = (column: string) => /::(\w+)$/.exec(String(write(compare(column, "lt", "1"))[0]))?.[1]
    expect(["name", "phone", "email", "score", "due", "owner"].map(cast)).toEqual([
      "text",
      "text",
      "text",
      "numeric",
      "date",
      "bigint"
    ])
    expect(write(compare("secret", "eq", true))).toEqual([`p."secret" = $1::boolean`, true])
    expect(write(compare("name", "eq", "ann", "key"))[0]).toBe(`p."name_k" = $1::text`)
  })

  it("with a timestamp depends on whether the timestamp states an offset", () => {
    expect(write(compare("at", "lt", "2026-03-01T10:00:00Z"))[0]).toBe(`p."at" < $1::timestamptz`)
    expect(write(compare("at", "lt", "2026-03-01T10:00:00"))[0]).toBe(`p."at" < timezone($8::text, $1::timestamp)`)
    const offsets = ["2026-03-01T10:00:00+01:00", "2026-03-01T10:00-0130", new Parameter(0, true)]
    const local = [
      "2026-03-01T10:00",
      "2026-03-01",
      "2026-03-01-0500",
      new Parameter(0, false),
      "2026-03-01T10:00Z.5",
      true
    ]
    expect([offsets.map(hasOffset), local.map(hasOffset)]).toEqual([offsets.map(() => true), local.map(() => false)])
  })

  it("with a list tests its elements", () => {
    expect(write(compare("tags", "eq", "a"))).toEqual([`p."tags" @> ARRAY[$1::text]`, "a"])
    expect(write(compare("tags", "ne", "a"))).toEqual([`NOT (p."tags" @> ARRAY[$1::text])`, "a"])
    expect(write(within("tags", ["a", "b"]))).toEqual([`p."tags" && $1::text[]`, ["a", "b"]])
    expect(write(within("tags", ["a"], true))).toEqual([`NOT (p."tags" && $1::text[])`, ["a"]])
  })

  it("with several values tests for any of them, or for none", () => {
    expect(write(within("due", ["2026-03-01"]))).toEqual([`p."due" = ANY($1::text[]::date[])`, ["2026-03-01"]])
    expect(write(within("secret", [true], true))).toEqual([`p."secret" <> ALL($1::boolean[])`, [true]])
    expect(write(within("level", ["1"]))).toEqual([`p."level" = ANY($1::text[]::bigint[])`, ["1"]])
    const times = ["2026-03-01T10:00:00Z", "2026-03-02T10:00:00"]
    expect(write(within("at", times))[0]).toBe(
      `(p."at" = $1::timestamptz OR p."at" = timezone($8::text, $2::timestamp))`
    )
    expect(write(within("at", times, true))[0]).toBe(
      `(p."at" <> $1::timestamptz AND p."at" <> timezone($8::text, $2::timestamp))`
    )
  })

  it("of a text also tests the search key, which has the index", () => {
    const [sql, ...values] = write(compare("name", "eq", "Ann  Lée"))
    expect(sql).toBe(`(p."name_k" = $1::text AND CASE WHEN p."name" = $2::text THEN TRUE END)`)
    expect(values).toEqual(["ann lee", "Ann  Lée"])
    const any = write(within("name", ["Ann", "ann", "Bo"]))
    expect(any[0]).toBe(`(p."name_k" = ANY($1::text[]) AND CASE WHEN p."name" = ANY($2::text[]) THEN TRUE END)`)
    expect(any.slice(1)).toEqual([
      ["ann", "bo"],
      ["Ann", "ann", "Bo"]
    ])
    expect(write(within("name", ["Ann", "ANN"])).slice(1)).toEqual(["ann", ["Ann", "ANN"]])
  })

  it("of a text tests the value alone where the search key would show more rows or is unknown", () => {
    const alone = (...[bound, shape, may]: Parameters<typeof write>) =>
      expect(write(bound, shape, may)[0]).not.toContain("_k")
    alone(compare("name", "eq", "Ann"), "subplan", true)
    alone(within("name", ["Ann"]), "subplan", true)
    alone(compare("name", "eq", "Ann"), "probe")
    alone(compare("name", "ne", "Ann"))
    alone(compare("name", "lt", "Ann"))
    alone(within("name", ["Ann"], true))
    alone(equalsParameter("name"))
    // A text of accents only folds to the empty text.
    alone(within("name", ["Ann", "\u0301"]))
    alone(Bound.None({ relation: "owner", where: compare("name", "eq", "Ann") }), "array")
    alone(compare("written", "eq", "+1 212 555 0100"))
    alone(compare("plain", "eq", "Ann"))
    alone(compare("level", "eq", "5"))
    expect(write(Bound.Some({ relation: "owner", where: compare("name", "eq", "Ann") }), "array")[0]).toContain("_k")
  })

  it("with an integer shown as text compares the integer if the text is its canonical spelling", () => {
    for (const text of ["0", "7", "-42", "123456789012345678"])
      expect(write(compare("number", "eq", text))).toEqual([`p."number" = $1::bigint`, text])
    for (const text of ["007", "-0", "+4", " 4", "4 ", "4x", "x4", "", "1e3", "1234567890123456789", true])
      expect(write(compare("number", "eq", text))).toEqual(["FALSE"])
    expect(write(compare("number", "ne", "7"))).toEqual([`p."number"::text <> $1::text`, "7"])
    expect(write(compare("number", "eq", "7"), "subplan", true)[0]).toBe(
      `(p."number" = $1::bigint OR p."number"::text IS NULL)`
    )
    // Here the value decides the SQL text, so it can't be a parameter.
    expect(() => write(equalsParameter("number"))).toThrow("depends on the value")
  })

  it("with a phone column without a normal form tests all spellings of the number", () => {
    const [sql, forms] = write(compare("written", "eq", "+14155550100"))
    expect(sql).toBe(`p."written"::text = ANY($1::text[])`)
    expect(forms).toContain("14155550100")
    expect(forms).toContain("+14155550100")
    expect(write(compare("written", "ne", "+14155550100"))[0]).toBe(`p."written"::text <> ALL($1::text[])`)
    expect(write(compare("written", "eq", "call me"))[1]).toEqual(["call me"])
    expect(write(compare("phone", "eq", "+14155550100"))).toEqual([`p."phone" = $1::text`, "+14155550100"])
    expect(() => write(equalsParameter("written"))).toThrow("depends on the value")
  })

  it("inside a negation counts as satisfied when it is unknown", () => {
    expect(write(compare("level", "gt", "5"), "subplan", true)[0]).toBe(`(p."level" > $1::bigint OR p."level" IS NULL)`)
    expect(write(within("name", ["a"], true), "subplan", true)[0]).toBe(
      `(p."name" <> ALL($1::text[]) OR p."name" IS NULL)`
    )
    // IS NULL is never unknown.
    expect(write(Bound.IsNull({ column: "name", negated: true }), "subplan", true)).toEqual([`p."name" IS NOT NULL`])
    expect(write(Bound.IsNull({ column: "name", negated: false }))).toEqual([`p."name" IS NULL`])
    // It tests the value: the search key can be NULL when the value isn't.
    expect(write(Bound.IsNull({ column: "written", negated: false }))).toEqual([`p."written"::text IS NULL`])
  })

  it("with the row's own id uses the type's id column and cast", () => {
    const mapped = {
      ...type,
      mapping: { id: { column: "Key", type: "uuid" as const }, where: [], unique: true }
    }
    expect(write(compare("id", "eq", "5"))).toEqual([`p."id" = $1::bigint`, "5"])
    expect(write(compare("id", "eq", "5"), "subplan", false, mapped)).toEqual([`p."Key" = $1::uuid`, "5"])
    expect(write(compare("level", "eq", "5"), "subplan", false, mapped)[0]).toBe(`p."level" = $1::bigint`)
  })
})

describe("a contained text", () => {
  const contains = (text: string | Parameter) => write({ _tag: "Contains", column: "name", text })

  it("is a pattern with wildcards only at both ends", () => {
    expect(patternOf("50%_\\a")).toBe("%50\\%\\_\\\\a%")
    expect(contains("abc")).toEqual([`p."name_k" LIKE $1::text`, "%abc%"])
    expect([patternOf("ab"), patternOf("😀😀"), patternOf("😀😀😀")]).toEqual([undefined, undefined, "%😀😀😀%"])
    expect(contains(new Parameter(3, false))[0]).toBe(`p."name_k" LIKE $1::text`)
  })

  it("is a range of keys that start with it when it is short, by code points up to the last one", () => {
    const between = `(p."name_k" >= $1::text AND p."name_k" < $2::text)`
    expect(contains("ab")).toEqual([between, "ab", "ac"])
    expect(contains("a")).toEqual([between, "a", "b"])
    expect(contains("a\u{10ffff}")).toEqual([between, "a\u{10ffff}", "b"])
    expect(contains("\ud7ff")).toEqual([between, "\ud7ff", "\ue000"])
    expect(contains("\u{10ffff}")).toEqual([`p."name_k" >= $1::text`, "\u{10ffff}"])
    expect(contains("")).toEqual([`p."name_k" >= $1::text`, ""])
  })
})

describe("a hop", () => {
  const some = (relation: string, where: Bound = ALWAYS) => Bound.Some({ relation, where })

  it("restricts the link and the target to the organization, for both forms", () => {
    expect(write(some("owner"))).toEqual([
      `EXISTS (SELECT 1 FROM "data"."things" r1 WHERE r1.organization_id = $9::bigint AND r1.id = p."owner_id" AND TRUE)`
    ])
    for (const relation of ["owner", "links"]) {
      for (const shape of ["subplan", "array"] as const) {
        const [sql] = write(some(relation, compare("level", "eq", "5")), shape)
        expect(sql).toContain("r1.organization_id = $9::bigint")
        expect(/r2\.organization_id = \$9::bigint/.test(String(sql))).toBe(relation === "links")
        expect(sql).toContain(`r1."level" = $1::bigint`)
      }
    }
    // A mapped link table has no organization column; the rows at both of its ends are restricted.
    for (const shape of ["subplan", "array"] as const) {
      const [sql] = write(some("host"), shape)
      expect(sql).toContain(`"h"."l" r2`)
      expect(sql).toContain("r1.organization_id = $9::bigint")
      expect(sql).not.toContain("r2.organization_id")
    }
  })

  it("that is negated tests that no related row could satisfy it, per row", () => {
    const none = Bound.None({ relation: "links", where: some("owner", compare("level", "eq", "5")) })
    const [sql] = write(none, "array")
    expect(sql).toMatch(/^NOT EXISTS \(/)
    expect(sql).toContain(`(r2."level" = $1::bigint OR r2."level" IS NULL)`)
    expect(sql).not.toContain("ANY(ARRAY")
    expect(write(none, "array", true)[0]).not.toContain("IS NULL")
  })

  it("is refused when its target or its column is missing, or it is no relation", () => {
    for (const shape of ["subplan", "array"] as const) {
      expect(() => write(some("other"), shape)).toThrow("a type that doesn't exist")
      expect(() => write(some("name"), shape)).toThrow(Error)
      expect(() => write(Bound.None({ relation: "name", where: NEVER }), shape)).toThrow(Error)
      expect(() => write(some("nothing"), shape)).toThrow("a column that the type doesn't have")
    }
  })
})

describe("a conjunction or disjunction", () => {
  it("is parenthesized", () => {
    const parts = [compare("level", "eq", "1"), compare("level", "eq", "2")]
    expect(write(all(...parts))[0]).toBe(`(p."level" = $1::bigint AND p."level" = $2::bigint)`)
    expect(write(any(...parts))[0]).toBe(`(p."level" = $1::bigint OR p."level" = $2::bigint)`)
    expect([write(ALWAYS), write(NEVER)]).toEqual([["TRUE"], ["FALSE"]])
  })
})

describe("a plan's SQL", () => {
  const planOf = (where: Bound, cells: ReadonlyArray<readonly [string, Bound]> = []): Plan => ({
    _tag: "Granted",
    where,
    cells: new Map(cells),
    ruleIds: [],
    limited: true,
    expiresAt: 5
  })
  /** So many hops over so long a name: some 150 characters each. */
  const hops = (count: number, from = 0) =>
    any(
      ...Array.from({ length: count }, (_, index) =>
        Bound.Some({ relation: "owner", where: compare("level", "eq", String(from + index)) })
      )
    )
  const size = (bound: Bound) => String(write(bound)[0]).length

  it("is refused when it is too long, including its masks, or can't be compiled", () => {
    const tooMany = hops(1000)
    expect(size(tooMany)).toBeGreaterThan(64 * 1024)
    expect(compilable(planOf(tooMany), type, catalog)).toEqual(denied("too-large", 5))
    const half = hops(300)
    expect(size(half)).toBeLessThan(64 * 1024)
    expect(size(half)).toBeGreaterThan(32 * 1024)
    const fits = planOf(half, [["name", ALWAYS]])
    expect(compilable(fits, type, catalog)).toBe(fits)
    expect(compilable(planOf(half, [["name", hops(300, 300)]]), type, catalog)).toEqual(denied("too-large", 5))
    // A condition that masks two columns counts twice.
    expect(
      compilable(
        planOf(ALWAYS, [
          ["name", half],
          ["level", half]
        ]),
        type,
        catalog
      )
    ).toEqual(denied("too-large", 5))
    const broken = all(hops(50), Bound.Some({ relation: "other", where: compare("level", "eq", "1") }))
    expect(compilable(planOf(broken), type, catalog)).toEqual(denied("not-bindable", 5))
    expect(compilable(denied("no-rule", 7), type, catalog)).toEqual(denied("no-rule", 7))
  })
})
