/** Random policy files and callers, valid by construction: names exist, and literals fit their column's kind. */
import * as fc from "fast-check"
import { encodeId } from "../../src/domain/ids.ts"
import type { Caller, Json, JsonObject, PolicyJson, RuleJson } from "./oracle.ts"
import {
  ANCHORS,
  DATES,
  EMAILS,
  FIRST_ID,
  INTEGERS,
  type Kind,
  NUMBERS,
  PHONES,
  DERIVED,
  READABLE,
  SHAPES,
  TAGS,
  TEXTS,
  TIMESTAMPS,
  TYPE_NAMES,
  type TypeName
} from "./world.ts"
import { ASKABLE, type Filter, NEEDLES, PERIODS, PHONE_NEEDLES, POINTS, type Query } from "./queryOracle.ts"

/** The time of planning, and times around it. */
export const NOW = Date.UTC(2026, 5, 1, 12)
const PAST = "2026-01-01"
const JUST_NOW = "2026-06-01T12:00:00Z"
const FUTURE = "2026-06-01T14:00:00.001+02:00"

const ids = [0, 1, 2, 3, 4, 5, 7, 900].map((offset) => encodeId(FIRST_ID + BigInt(offset)))

/** Names of attributes; each caller has some of them, of any type. */
const ATTRIBUTES = ["word", "level", "amount", "flag", "day", "at", "phone", "email", "missing", "constructor"]
/** Values that references are compared with. */
const REFERENCE_ATTRIBUTES = ["lead", "lead", "word", "missing"]

/** Literals and attributes by kind. */
const literals: Readonly<Record<Kind, ReadonlyArray<Json>>> = {
  text: [
    "vip",
    "VIP",
    "a",
    "",
    "Atlas",
    "atlas",
    "100%_\\ off",
    "Straße 7",
    "$$me",
    "-1",
    "null",
    ...TEXTS.slice(6, 12).map(([text]) => text)
  ],
  phone: PHONES.filter(([, keys]) => keys.US !== null && keys.DE !== null).map(([text]) => text),
  email: EMAILS.filter(([, key]) => key !== null).map(([text]) => text),
  integer: [0, 5, 6, -3, ...INTEGERS],
  number: [0, 5, 5.5, -1.25, 0.1, 1e-7, 1e21, ...NUMBERS],
  boolean: [true, false],
  date: DATES,
  timestamp: [
    ...TIMESTAMPS,
    "2026-03-01",
    "2026-03-01T00:00",
    "2026-03-08T01:59:00",
    "2026-03-29T02:01:00+02:00",
    "2027-01-01"
  ],
  list: TAGS,
  one: ids,
  many: ids
}

const ORDERED: ReadonlySet<Kind> = new Set<Kind>(["integer", "number", "date", "timestamp"])

const operand = (kind: Kind, target: TypeName | undefined): fc.Arbitrary<Json> =>
  fc.oneof(
    { weight: 6, arbitrary: fc.constantFrom(...literals[kind]) },
    {
      weight: 2,
      arbitrary: fc.constantFrom(...(kind === "one" ? REFERENCE_ATTRIBUTES : ATTRIBUTES)).map((name) => `$attr.${name}`)
    },
    ...(target === "people" ? [{ weight: 5, arbitrary: fc.constant<Json>("$me") }] : [])
  )

const onValue = (kind: Kind, target?: TypeName): fc.Arbitrary<Json> => {
  const one = operand(kind, target)
  const compared = fc.tuple(
    fc.constantFrom(...(ORDERED.has(kind) ? ["eq", "ne", "lt", "lte", "gt", "gte"] : ["eq", "ne"])),
    one
  )
  const plain = fc.oneof(
    { weight: ORDERED.has(kind) ? 2 : 6, arbitrary: one },
    { weight: ORDERED.has(kind) ? 8 : 4, arbitrary: compared.map(([op, value]): Json => ({ [op]: value })) },
    {
      weight: 1,
      arbitrary: fc.tuple(compared, compared).map(([[a, left], [b, right]]): Json => ({ [a]: left, [b]: right }))
    },
    { weight: 2, arbitrary: fc.array(one, { maxLength: 3 }) },
    { weight: 1, arbitrary: fc.constant<Json>(null) }
  )
  return fc.oneof(
    { weight: 4, arbitrary: plain },
    { weight: 1, arbitrary: plain.map((inner): Json => ({ not: inner })) }
  )
}

/** Gives the few ordered columns more weight, because they have more cases. */
const leaf = (type: TypeName): fc.Arbitrary<JsonObject> => {
  const columns = Object.entries(SHAPES[type]).filter(([, { kind }]) => kind !== "many")
  const ordered = columns.filter(([, { kind }]) => ORDERED.has(kind))
  return fc.oneof(
    {
      weight: 8,
      arbitrary: fc
        .constantFrom(...columns, ...ordered, ...ordered)
        .chain(([name, { kind, target }]) => onValue(kind, target).map((condition) => ({ [name]: condition })))
    },
    { weight: 1, arbitrary: onValue("one", type).map((condition) => ({ id: condition })) },
    ...Object.entries(SHAPES[type])
      .filter(([, { kind }]) => kind === "many")
      .map(([name, { target }]) => ({
        weight: 1,
        arbitrary: operand("one", target).map((condition) => ({ [name]: condition }))
      }))
  )
}

/** A condition; deeper ones are rarer, and hops are as likely as leaves. */
export const where = (type: TypeName, depth: number): fc.Arbitrary<JsonObject> => {
  if (depth === 0) return leaf(type)
  const relations = Object.entries(SHAPES[type]).filter(([, { target }]) => target !== undefined)
  const parts = fc
    .array(fc.constant(0), { maxLength: 3 })
    .chain((list) => fc.tuple(...list.map(() => where(type, depth - 1))))
  return fc.oneof(
    { weight: 5, arbitrary: leaf(type) },
    {
      weight: 3,
      arbitrary: fc
        .tuple(fc.constantFrom("all", "any", "any"), parts)
        .map(([name, list]): JsonObject => ({ [name]: list }))
    },
    { weight: 3, arbitrary: where(type, depth - 1).map((inner): JsonObject => ({ not: inner })) },
    {
      weight: 5,
      arbitrary: fc
        .constantFrom(...relations)
        .chain(([name, { kind, target }]) =>
          fc
            .tuple(where(target!, depth - 1), fc.integer({ min: 0, max: kind === "one" ? 3 : 0 }))
            .map(([inner, shape]): JsonObject => ({ [name]: shape === 0 && kind === "one" ? { not: inner } : inner }))
        )
    },
    { weight: 1, arbitrary: fc.tuple(leaf(type), where(type, depth - 1)).map(([a, b]): JsonObject => ({ ...a, ...b })) }
  )
}

/** The columns that a rule denies: some rules name a derived column, too, as only they can. */
const withDerived = (type: TypeName, columns: "*" | ReadonlyArray<string>): "*" | ReadonlyArray<string> =>
  columns === "*"
    ? columns
    : [...columns, ...Object.keys(DERIVED[type]).filter((_, index) => columns.includes(["status", "name"][index]!))]

const rule = (type: TypeName, depth: number): fc.Arbitrary<Omit<RuleJson, "id">> =>
  fc
    .record({
      effect: fc.constantFrom("allow" as const, "allow" as const, "allow" as const, "deny" as const),
      role: fc.constantFrom("member", "member", "member", "guest", "manager", "agent", "constructor"),
      action: fc.constantFrom("read", "read", "read", "read", "read", "read", "read", "read", "read", "update"),
      type: fc.constant(type),
      columns: fc.oneof(
        { weight: 2, arbitrary: fc.constant("*" as const) },
        { weight: 3, arbitrary: fc.subarray(Object.keys(SHAPES[type]), { minLength: 1 }) }
      ),
      where: fc.option(where(type, depth), { freq: 5 }),
      notBefore: fc.oneof(
        { weight: 9, arbitrary: fc.constant(null) },
        { weight: 1, arbitrary: fc.constantFrom(PAST, JUST_NOW, FUTURE) }
      ),
      notAfter: fc.oneof(
        { weight: 9, arbitrary: fc.constant(null) },
        { weight: 1, arbitrary: fc.constantFrom(PAST, JUST_NOW, FUTURE) }
      )
    })
    .map(({ notAfter, notBefore, where: condition, ...rest }) => ({
      ...rest,
      columns: rest.effect === "deny" && rest.action === "read" ? withDerived(type, rest.columns) : rest.columns,
      ...(condition === null ? {} : { where: condition }),
      ...(notBefore === null ? {} : { notBefore }),
      ...(notAfter === null ? {} : { notAfter })
    }))

export const ROLES: PolicyJson["roles"] = {
  guest: { inherits: [] },
  member: { inherits: ["guest"] },
  manager: { inherits: ["member"] },
  agent: { inherits: [] },
  constructor: { inherits: ["agent"] }
}

/** A policy with most rules for one type, and some for the targets of its references. */
export const policy = (focus: TypeName): fc.Arbitrary<PolicyJson> =>
  fc
    .tuple(
      fc.array(rule(focus, 3), { minLength: 2, maxLength: 6 }),
      ...TYPE_NAMES.filter((type) => type !== focus).map((type) => fc.array(rule(type, 1), { maxLength: 2 })),
      fc.shuffledSubarray([0, 1, 2, 3], { minLength: 4 })
    )
    .map(([own, ...rest]) => ({
      version: 1 as const,
      roles: ROLES,
      rules: [...own, ...(rest.slice(0, 3) as ReadonlyArray<ReadonlyArray<Omit<RuleJson, "id">>>).flat()].map(
        (entry, index): RuleJson => ({ id: `r${index}`, ...entry })
      )
    }))

const attribute = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.constantFrom<unknown>(
      "vip",
      "a",
      "Atlas",
      5,
      6,
      5.5,
      -1.25,
      "5",
      true,
      false,
      "2026-03-01",
      "2026-03-01T05:00:00Z",
      "2026-03-08T01:59:00",
      "+49 30 901820",
      "Ada@Example.com",
      ids[0],
      ids[1],
      "$me"
    )
  },
  // Omits attributes that no column can be compared with.
  { weight: 2, arbitrary: fc.constantFrom<unknown>("", Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY) }
)

const attributes = fc
  .tuple(
    fc
      .subarray(ATTRIBUTES.filter((name) => name !== "missing"))
      .chain((names) =>
        fc
          .tuple(...names.map(() => attribute))
          .map((values) => Object.fromEntries(names.map((name, index) => [name, values[index]])))
      ),
    fc.constantFrom<Record<string, unknown>>(
      {},
      { lead: ids[0] },
      { lead: ids[1] },
      { lead: "not an id" },
      { lead: "" },
      { lead: 5 },
      { lead: Number.NaN },
      { lead: true }
    )
  )
  .map(([some, lead]) => ({ ...some, ...lead }))

const roles = fc.oneof(
  {
    weight: 9,
    arbitrary: fc.constantFrom(
      ["member"],
      ["manager"],
      ["member", "agent"],
      ["manager", "constructor"],
      ["constructor", "manager", "manager"]
    )
  },
  { weight: 1, arbitrary: fc.constantFrom(["guest"], ["unknown"], [], ["toString", "__proto__"]) }
)

export const caller: fc.Arbitrary<Caller> = fc
  .record({
    me: fc.constantFrom(...ANCHORS),
    roles,
    attributes,
    actor: fc.oneof(
      { weight: 5, arbitrary: fc.constant(null) },
      {
        weight: 1,
        arbitrary: fc.record({ roles: fc.constantFrom(["agent"], ["manager"], ["manager", "constructor"]), attributes })
      }
    )
  })
  .map(({ actor, ...rest }) => (actor === null ? rest : { ...rest, actor }))

/** A policy that shows most, and hides something, of every type. */
export const generousPolicy: fc.Arbitrary<PolicyJson> = fc
  .tuple(
    ...TYPE_NAMES.map((type) => {
      const columns = Object.keys(SHAPES[type])
      const rare = <A>(arbitrary: fc.Arbitrary<A>, weight: number) =>
        fc.oneof({ weight: 10 - weight, arbitrary: fc.constant(undefined) }, { weight, arbitrary })
      const of = (
        effect: "allow" | "deny",
        shown: fc.Arbitrary<"*" | ReadonlyArray<string>>,
        condition: fc.Arbitrary<JsonObject | undefined>
      ) =>
        fc.record({ columns: shown, condition }).map(({ columns: list, condition: json }): Omit<RuleJson, "id"> => ({
          effect,
          role: "member",
          action: "read",
          type,
          columns: list,
          ...(json === undefined ? {} : { where: json })
        }))
      return fc.tuple(
        rare(
          of(
            "allow",
            fc.oneof(
              { weight: 2, arbitrary: fc.constant("*" as const) },
              { weight: 1, arbitrary: fc.subarray(columns, { minLength: columns.length - 2 }) }
            ),
            rare(where(type, 1), 3)
          ),
          9
        ),
        of("allow", fc.subarray(columns, { minLength: 2 }), where(type, 1)),
        rare(
          of(
            "deny",
            fc.subarray(columns, { minLength: 1, maxLength: 3 }).map((list) => withDerived(type, list)),
            where(type, 1)
          ),
          5
        ),
        rare(of("deny", fc.constant("*" as const), where(type, 1)), 2),
        // References show names and are searched by them.
        rare(
          of(
            "deny",
            fc.constant(["name"]),
            fc.constantFrom<JsonObject>({ status: null }, { status: "vip" }, { id: ids })
          ),
          3
        )
      )
    })
  )
  .map((types) => ({
    version: 1 as const,
    roles: ROLES,
    rules: types
      .flat()
      .filter((entry) => entry !== undefined)
      .map((entry, index): RuleJson => ({ id: `r${index}`, ...entry }))
  }))

/** A member that can be stored: its attributes are JSON values. */
export const member: fc.Arbitrary<Caller> = fc
  .record({
    me: fc.constantFrom(...ANCHORS),
    roles: fc.constantFrom(["member"], ["manager"], ["member", "guest"]),
    attributes
  })
  .map((made) => ({
    ...made,
    attributes: Object.fromEntries(
      Object.entries(made.attributes).filter(([, value]) => typeof value !== "number" || Number.isFinite(value))
    )
  }))

export const valueFor = (kind: Kind, op: string): fc.Arbitrary<string> => {
  switch (kind) {
    case "text":
    case "list":
      return fc.constantFrom(...NEEDLES.map(([text]) => text), "A", "vip", "VI", "Atlas", "00%", "red")
    case "phone":
      return op === "eq"
        ? fc.constantFrom(...PHONES.map(([text]) => text).filter((text) => text !== ""))
        : fc.constantFrom(...PHONE_NEEDLES)
    case "email":
      return op === "eq"
        ? fc.constantFrom(...EMAILS.map(([text]) => text).filter((text) => text !== ""))
        : fc.constantFrom(...NEEDLES.slice(-8).map(([text]) => text))
    case "boolean":
      return fc.constantFrom("true", "false")
    case "integer":
      return fc.constantFrom(...INTEGERS, " 5 ")
    case "number":
      return fc.constantFrom(...NUMBERS)
    case "date":
      return fc.constantFrom(...PERIODS)
    case "timestamp":
      return fc.constantFrom(...PERIODS, ...POINTS)
    case "one":
    case "many":
      return op === "eq"
        ? fc.constantFrom(...ids, ...NEEDLES.map(([text]) => text))
        : fc.constantFrom(...NEEDLES.map(([text]) => text), "A", "VI", "at")
  }
}

/** Gives every kind the same weight, regardless of its number of columns. */
export const query: fc.Arbitrary<Query> = fc.constantFrom(...TYPE_NAMES, "deals" as const).chain((type) => {
  const columns = Object.entries(READABLE[type])
  const ordered = columns.filter(([, { kind }]) => ORDERED.has(kind))
  const relations = columns.filter(([, { target }]) => target !== undefined)
  const filter = fc
    .constantFrom(...columns, ...relations, ...relations, ...ordered, ...ordered)
    .chain(([columnId, { kind }]) =>
      fc
        .constantFrom(...ASKABLE[kind])
        .chain((op) => valueFor(kind, op).map((value): Filter => ({ columnId, op, value })))
    )
  return fc.record({
    type: fc.constant(type),
    filters: fc.oneof(
      { weight: 3, arbitrary: fc.array(filter, { maxLength: 1 }) },
      { weight: 1, arbitrary: fc.array(filter, { minLength: 2, maxLength: 3 }) }
    ),
    select: fc.subarray(
      columns.map(([name]) => name),
      { maxLength: 4 }
    ),
    limit: fc.constantFrom(1, 2, 3, 5, 25)
  })
})
