/** Resolved queries and the messages of refused ones, without a database. */
import { Result } from "effect"
import { describe, expect, it } from "vitest"
import { type Catalog, type Column, type EntityType, Storage } from "../../../src/domain/EntityType.ts"
import { all, ALWAYS, any, Bound, NEVER } from "../../../src/domain/Predicate.ts"
import { encodeId } from "../../../src/domain/ids.ts"
import type { Filter, FindQuery } from "../../../src/domain/Query.ts"
import { Parameter, parameterAt } from "../../../src/database/sql/Parameter.ts"
import { MAX_CACHED, Parameters, prepare, StatementCache } from "../../../src/database/sql/prepared.ts"
import type { ResolvedQuery } from "../../../src/database/sql/ResolvedQuery.ts"
import { plan } from "../../../src/permissions/PermissionEngine.ts"
import { resolveLiterals, resolve } from "../../../src/services/lookup/resolve.ts"
import type { Visible } from "../../../src/services/lookup/visible.ts"
import { todayIn } from "../../../src/domain/values.ts"
import { catalog as plain, lena, NOW, policyOf, type RuleInput } from "../../permissions/support.ts"

const value = (slug: string, kind: Column["kind"], storage: Partial<Column> & { readonly indexed?: boolean } = {}) => {
  const { indexed = false, ...more } = storage
  const column: Column = {
    key: `${slug}-key`,
    slug,
    name: slug,
    kind,
    storage: Storage.Value({ column: slug, keyColumn: `${slug}_k`, indexed }),
    ...more
  }
  return column
}
/** A mapped type, with the columns that are resolved differently. */
const tickets: EntityType = {
  ...plain.types[1]!,
  key: "tickets-type",
  slug: "tickets",
  pluralName: "Tickets",
  relation: { schema: "host", table: "tickets" },
  mapping: { id: { column: "Key", type: "uuid" }, where: [], unique: true },
  columns: [
    { ...value("name", "text"), key: "name" },
    value("note", "text"),
    value("state", "text", { values: ["Open", "Zu", ...Array.from({ length: 40 }, (_, index) => `s${index}`)] }),
    value("phone", "phone", {
      storage: Storage.Value({ column: "phone", source: { columns: ["phone"], type: "text" } })
    }),
    value("person", "reference", { storage: Storage.One({ column: "person", target: "people" }) })
  ]
}
/** A type without a name column. */
const codes: EntityType = { ...tickets, key: "codes-type", slug: "codes", columns: [tickets.columns[1]!] }
const meetings = plain.types[2]!
const catalog: Catalog = {
  ...plain,
  types: [
    ...plain.types.slice(0, 2),
    {
      ...meetings,
      columns: [
        ...meetings.columns,
        value("code", "reference", { storage: Storage.One({ column: "c", target: "codes-type" }) })
      ]
    },
    tickets,
    codes
  ]
}

const EVERYTHING: ReadonlyArray<RuleInput> = catalog.types.map(({ slug }) => ({ type: slug }))

const visibleUnder = (rules: ReadonlyArray<RuleInput>, of: Catalog = catalog): Visible => {
  const policy = policyOf([])
  const stored = { ...policy, rules: rules.map((rule, index) => ruleOf(rule, index, of)) }
  return {
    state: { catalog: of, policy: stored, policyHash: "" },
    planOf: (type) => {
      const made = plan(stored, of, lena, type, "read", NOW)
      return made._tag === "Granted" ? made : undefined
    }
  }
}
const ruleOf = (rule: RuleInput, index: number, of: Catalog) => {
  const [read] = policyOf([{ ...rule, id: `r${index}`, type: "people", columns: "*", where: rule.where ?? {} }]).rules
  const type = of.types.find(({ slug }) => slug === (rule.type ?? "people"))!
  const keys = type.columns.map(({ key, slug }) => [slug, key] as const)
  const named = rule.columns as ReadonlyArray<string> | undefined
  return {
    ...read!,
    type: type.key,
    where: rule.where === undefined ? ({ _tag: "Always" } as const) : read!.where,
    columns: keys.flatMap(([slug, key]) => (named === undefined || named.includes(slug) ? [key] : []))
  }
}
const everything = visibleUnder(EVERYTHING)

const ask = (query: Partial<FindQuery>, visible: Visible = everything) =>
  resolveLiterals({ entityTypeId: "people", filters: [], ...query }, visible)
const resolved = (query: Partial<FindQuery>, visible?: Visible): ResolvedQuery => {
  const found = ask(query, visible)
  if (Result.isFailure(found)) throw new Error(found.failure.message)
  return found.success
}
const refused = (query: Partial<FindQuery>, visible?: Visible): string => {
  const found = ask(query, visible)
  if (Result.isSuccess(found)) throw new Error("It was resolved")
  return `${found.failure._tag}: ${found.failure.message}`
}
/** Parses `column op value`; the value is the rest of the text. */
const parse = (text: string): Filter => {
  const [, columnId, op, rest] = /^(\w+) (\w+) ?([^]*)$/.exec(text)!
  return { columnId: columnId!, op: op as Filter["op"], value: rest! }
}
const filtered = (text: string, entityTypeId = "people", visible?: Visible) =>
  resolved({ entityTypeId, filters: [parse(text)] }, visible).filters
const complaint = (text: string, entityTypeId = "people", visible?: Visible) =>
  refused({ entityTypeId, filters: [parse(text)] }, visible)
const compare = (column: string, op: "eq" | "gte" | "lt", is: string | boolean, side: "value" | "key" = "value") =>
  Bound.Compare({ column, side, op, value: is })

describe("names", () => {
  it("give the same error when hidden and when unknown, with the visible names", () => {
    const some = visibleUnder([{ columns: ["name", "phone"] }, { type: "meetings", columns: ["name", "attendees"] }])
    expect(refused({ entityTypeId: "tickets" }, some)).toBe(
      `UnknownName: There is no type "tickets". Known: people, meetings.`
    )
    expect(refused({ entityTypeId: "peple" }, some)).toBe(`UnknownName: There is no type "peple". Did you mean people?`)
    expect(refused({ entityTypeId: "people" }, visibleUnder([]))).toBe(`UnknownName: There is no type "people".`)
    for (const one of [{ filters: [parse("secret eq 1")] }, { selectColumns: ["secret"] }])
      expect(refused(one, some)).toBe(`UnknownName: There is no column "secret" in people. Known: name, phone.`)
    // A relation to a hidden type is hidden.
    const lonely = visibleUnder([{ columns: ["name", "company", "owner"] }])
    expect(refused({ selectColumns: ["company"] }, lonely)).toContain("Known: name, owner.")
    const many = Array.from({ length: 13 }, (_, index) => value(`column${index}`, "text"))
    const wide = (count: number): Catalog => ({
      ...catalog,
      types: [{ ...catalog.types[0]!, columns: many.slice(0, count) }]
    })
    const messageFor = (count: number) => refused({ selectColumns: ["zzz"] }, visibleUnder([{}], wide(count)))
    expect(messageFor(12)).toMatch(/Known: column0, .*, column11\.$/)
    expect(messageFor(13)).toMatch(/Known: column0, .*, column11, …\.$/)
  })

  it("are resolved before any value is parsed", () => {
    const filters = [parse("level eq many"), parse("nothing eq 1")]
    expect(refused({ filters, limit: 99 })).toContain("UnknownName")
  })
})

describe("a query", () => {
  it("is refused beyond its limits on filters, columns, rows and characters", () => {
    const filters = (count: number) => Array.from({ length: count }, () => parse("status eq vip"))
    expect(resolved({ filters: filters(10) }).filters.length).toBe(10)
    expect(refused({ filters: filters(11) })).toBe("InvalidInput: At most 10 filters.")
    const columns = ["name", "status", "phone", "email", "level", "secret"]
    expect(resolved({ selectColumns: columns.slice(0, 5) }).select.length).toBe(5)
    expect(refused({ selectColumns: columns })).toBe("InvalidInput: At most 5 columns can be selected.")
    expect([0, 25].map((limit) => resolved({ limit }).limit)).toEqual([0, 25])
    expect(resolved({}).limit).toBe(5)
    for (const limit of [-1, 26, 1.5, Number.NaN])
      expect(refused({ limit })).toBe("InvalidInput: limit must be an integer from 0 to 25.")
    expect(filtered(`name eq ${"x".repeat(1000)}`)).toEqual([compare("name", "eq", "x".repeat(1000), "key")])
    expect(complaint(`name eq ${"x".repeat(1001)}`)).toBe("InvalidInput: A value has at most 1000 characters.")
    expect(complaint("name eq a\u0000b")).toBe("InvalidInput: A value can't contain a NUL character.")
    for (const empty of ["", "  ", "\t"])
      expect(complaint(`name eq ${empty}`)).toBe("InvalidInput: The value for name is empty.")
    expect(filtered("name ilike ä!?")).toEqual([Bound.Contains({ column: "name", text: "a!?" })])
  })

  it("continues after the row of its cursor", () => {
    expect(resolved({ cursorEntityId: "bcd" }).cursor).toBe(
      resolved({ filters: [parse("id eq bcd")] }).filters.map((part) =>
        part._tag === "Compare" ? part.value : undefined
      )[0]
    )
    expect(resolved({}).cursor).toBeUndefined()
    const key = "11111111-2222-3333-4444-555555555555"
    expect(resolved({ entityTypeId: "tickets", cursorEntityId: key }).cursor).toBe(key)
    const line = "InvalidInput: cursorEntityId is not a nextCursorEntityId of an earlier page."
    expect([refused({ cursorEntityId: "B-1" }), refused({ entityTypeId: "tickets", cursorEntityId: "bcd" })]).toEqual([
      line,
      line
    ])
  })

  it("is restricted to the caller's visible rows and cells", () => {
    const rules: ReadonlyArray<RuleInput> = [
      { columns: ["name", "level", "company", "phone"], where: { status: "vip" } },
      { columns: ["name", "status"], where: { owner: "$me" } },
      { type: "companies", columns: ["status"], where: { status: "open" } },
      { type: "companies", columns: ["name"], where: { status: "shut" } },
      { type: "meetings" }
    ]
    const visible = visibleUnder(rules)
    const [people, companies] = [visible.planOf(catalog.types[0]!)!, visible.planOf(catalog.types[1]!)!]
    const [level, name, status] = ["level-key", "name", "status"].map((key) => people.cells.get(key)!)
    const asked = resolved(
      {
        filters: [parse("level gte 5"), parse("level lt 9"), parse("name eq ann"), parse("company ilike atlas")],
        selectColumns: ["company", "level", "level"]
      },
      visible
    )
    expect(asked).toMatchObject({ plan: people.where, name, status, limited: true, pool: "search" })
    expect(asked.order).toEqual({
      column: catalog.types[0]!.columns.find(({ slug }) => slug === "level"),
      mask: level,
      descending: false
    })
    const masked = (mask: Bound, part: Bound) => Bound.All({ of: [mask, part] })
    expect(asked.filters.slice(0, 3)).toEqual([
      masked(level!, compare("level-key", "gte", "5")),
      masked(level!, compare("level-key", "lt", "9")),
      // The name is visible on every visible row.
      compare("name", "eq", "ann", "key")
    ])
    expect(asked.filters[3]).toEqual(
      masked(
        people.cells.get("company-key")!,
        Bound.Some({
          relation: "company-key",
          where: all(companies.where, companies.cells.get("name")!, Bound.Contains({ column: "name", text: "atlas" }))
        })
      )
    )
    expect(asked.select.map(({ column, mask, target }) => [column.slug, mask, target])).toEqual([
      [
        "company",
        people.cells.get("company-key"),
        { type: catalog.types[1], where: companies.where, name: companies.cells.get("name") }
      ],
      ["level", level, undefined]
    ])
    expect(asked.label).toBe("people level:gte level:lt name:eq company:ilike")
    expect(resolved({ filters: [parse("level lt 5")] }, visible).order?.descending).toBe(true)
    expect(resolved({ filters: [parse("name eq ann")] }, visible).order).toBeUndefined()
    // A column without a mask in the plan is hidden on every row.
    const nameless = resolved({}, visibleUnder([{ columns: ["phone"] }]))
    expect([nameless.name, nameless.status]).toEqual([NEVER, NEVER])
    expect(resolved({ filters: [parse("id eq bcd")] }, visible).filters).toEqual([compare("id", "eq", "731")])
  })

  it("is limited only if the plan or a filter's mask can hide matching rows", () => {
    const limited = (rules: ReadonlyArray<RuleInput>, ...filters: ReadonlyArray<string>) =>
      resolved({ filters: filters.map(parse) }, visibleUnder(rules)).limited
    expect(limited([{}, { type: "companies" }], "name eq ann", "company ilike atlas", "id eq bcd")).toBe(false)
    expect(limited([{ where: { status: "vip" } }])).toBe(true)
    const half: ReadonlyArray<RuleInput> = [
      { columns: ["name", "company"] },
      { columns: ["phone"], where: { status: "vip" } }
    ]
    expect(limited([...half, { type: "companies" }], "name eq ann")).toBe(false)
    expect(limited([...half, { type: "companies" }], "phone eq 4155550100")).toBe(true)
    const shut: RuleInput = { type: "companies", where: { status: "shut" } }
    expect(limited([{}, shut], "company eq bcd")).toBe(true)
    expect(limited([{}, shut], "name eq ann")).toBe(false)
    const names: ReadonlyArray<RuleInput> = [
      {},
      { type: "companies", columns: ["status"] },
      { type: "companies", columns: ["name"], where: { status: "open" } }
    ]
    expect([limited(names, "company eq atlas"), limited(names, "company ilike atlas")]).toEqual([true, true])
    const code = resolved({ entityTypeId: "meetings", filters: [parse("code ilike abc")] })
    expect([code.limited, code.filters]).toEqual([false, [NEVER]])
  })

  it("of a reference compares names only with text that can't be an id alone", () => {
    const comparedColumns = (text: string, ids?: "bigint" | "uuid" | "text" | "bpchar") => {
      const target: EntityType =
        ids === undefined
          ? plain.types[1]!
          : { ...tickets, mapping: { ...tickets.mapping!, id: { column: "k", type: ids } } }
      const column = value("target", "reference", { storage: Storage.One({ column: "target", target: target.key }) })
      const of = { ...catalog, types: [{ ...plain.types[0]!, columns: [...plain.types[0]!.columns, column] }, target] }
      const visible = visibleUnder([{}, { type: target.slug }], of)
      return ["id", "name"].filter((key) =>
        JSON.stringify(filtered(`target eq ${text}`, "people", visible)).includes(`"column":"${key}"`)
      )
    }
    const uuid = "6f9619ff-8b86-d011-b42d-00cf4fc964ff"
    expect(comparedColumns(encodeId(1n << 62n))).toEqual(["id"])
    expect(comparedColumns("zenith")).toEqual(["id", "name"])
    expect(comparedColumns("Atlas Inc")).toEqual(["name"])
    expect([comparedColumns("42", "bigint"), comparedColumns(uuid, "uuid")]).toEqual([["id"], ["id"]])
    expect([comparedColumns("atlas", "bigint"), comparedColumns("42", "uuid")]).toEqual([["name"], ["name"]])
    expect([comparedColumns("42", "text"), comparedColumns(uuid, "bpchar")]).toEqual([
      ["id", "name"],
      ["id", "name"]
    ])
  })

  it("uses the lookup pool for equality on an indexed identifier of managed types, and the search pool otherwise", () => {
    const pool = (filters: ReadonlyArray<string>, of: Catalog = { ...catalog, types: catalog.types.slice(0, 2) }) =>
      resolved(
        { filters: filters.map(parse) },
        visibleUnder(
          of.types.map(({ slug }) => ({ type: slug })),
          of
        )
      ).pool
    for (const quick of ["id eq bcd", "phone eq 4155550100", "email eq a@b.c", "name eq ann"])
      expect(pool([quick]), quick).toBe("lookup")
    for (const slow of ["status eq vip", "level eq 5", "owner eq bcd", "secret eq true", "name ilike ann"])
      expect(pool([slow]), slow).toBe("search")
    expect(pool(["id eq bcd", "status eq vip"])).toBe("lookup")
    expect(pool(["id eq bcd", "name ilike ann"])).toBe("search")
    expect(pool([])).toBe("search")
    expect(resolved({ entityTypeId: "tickets", filters: [parse("name eq x")] }).pool).toBe("search")
    // One of its relations leads to a mapped type.
    const reaching = { ...tickets, key: "companies-type", slug: "companies" }
    expect(pool(["id eq bcd"], { ...catalog, types: [catalog.types[0]!, reaching] })).toBe("search")
    const unindexed = { ...catalog.types[0]!, columns: [{ ...value("phone", "phone"), key: "phone-key" }] }
    expect(pool(["phone eq 4155550100"], { ...catalog, types: [unindexed] })).toBe("search")
    const hops = (text: string) => resolved({ filters: [parse(text)] }).hops
    expect([hops("secret eq true"), hops("name ilike ann"), hops("status eq vip")]).toEqual([
      "array",
      "array",
      "subplan"
    ])
  })
})

describe("a filter value", () => {
  it("of text is compared by its fold, and must be in the column's closed list", () => {
    expect(filtered("status eq  Ünter ")).toEqual([compare("status", "eq", "unter", "key")])
    expect(filtered("tags eq VIP")).toEqual([compare("tags-key", "eq", "vip", "key")])
    expect(filtered("state eq OPEN", "tickets")).toEqual([compare("state-key", "eq", "open", "key")])
    expect(complaint("state eq gone", "tickets")).toMatch(/^InvalidInput: state is one of: Open, Zu, s0, .*, s27\.$/)
  })

  it("of a phone or e-mail is compared in its normal form, and matches nothing without one", () => {
    expect(filtered("phone eq (415) 555-0100")).toEqual([compare("phone-key", "eq", "+14155550100", "key")])
    expect(filtered("phone eq call me")).toEqual([NEVER])
    expect(filtered("email eq Ann@X.org ")).toEqual([compare("email-key", "eq", "ann@x.org", "key")])
    expect(filtered("email eq ann")).toEqual([NEVER])
  })

  it("of a mapped phone matches all spellings of the number", () => {
    const forms = (text: string) => filtered(`phone eq ${text}`, "tickets")
    const within = (...values: ReadonlyArray<string>) => [
      Bound.In({ column: "phone-key", side: "key", values, negated: false })
    ]
    expect(forms("(415) 555-0100")).toEqual(within("+14155550100", "4155550100"))
    expect(forms("+14155550100")).toEqual(within("+14155550100"))
    expect(forms("0044 20 7946 0958")).toEqual(within("+442079460958", "00442079460958"))
    expect(forms("442079460958")).toEqual(within("+442079460958", "442079460958"))
    expect(forms("442079000958")).toEqual(within("+442079000958", "442079000958"))
    expect(forms("12")).toEqual(within("12"))
    expect(forms("call me")).toEqual([NEVER])
  })

  it("of a boolean, a number or a time is parsed, or refused with an example", () => {
    for (const text of ["true", "YES", "1"])
      expect(filtered(`secret eq ${text}`)).toEqual([compare("secret-key", "eq", true)])
    for (const text of ["false", "No", "0"])
      expect(filtered(`secret eq ${text}`)).toEqual([compare("secret-key", "eq", false)])
    for (const text of ["maybe", "10", "untrue", "nope"])
      expect(complaint(`secret eq ${text}`)).toBe("InvalidInput: secret is true or false.")
    expect(filtered("level eq  42 ")).toEqual([compare("level-key", "eq", "42")])
    expect(filtered("score gte 4.5")).toEqual([compare("score-key", "gte", "4.5")])
    expect(complaint("level eq 4.5")).toBe("InvalidInput: level is a whole number, such as 42.")
    expect(complaint("score lt many")).toBe("InvalidInput: score is a number, such as 42.")
    const range = (column: string, from: string, to: string) => [
      all(compare(column, "gte", from), compare(column, "lt", to))
    ]
    expect(filtered("joined eq 2026-03")).toEqual(range("joined-key", "2026-03-01", "2026-04-01"))
    const day = todayIn(plain.organization.timeZone)
    const [today] = filtered("joined gte today")
    // Accepts both days if the test runs across midnight.
    const then = todayIn(plain.organization.timeZone)
    expect([compare("joined-key", "gte", day), compare("joined-key", "gte", then)]).toContainEqual(today)
    expect(filtered("joined gte 2026")).toEqual([compare("joined-key", "gte", "2026-01-01")])
    expect(filtered("start eq 2026-03-31", "meetings")).toEqual(
      range("start-key", "2026-03-31T00:00:00", "2026-04-01T00:00:00")
    )
    const point = "2026-03-31T14:00"
    expect(filtered(`start eq  ${point} `, "meetings")).toEqual([compare("start-key", "eq", point)])
    expect(filtered(`start lt ${point}`, "meetings")).toEqual([compare("start-key", "lt", point)])
    const such = "such as 2026, 2026-03 or 2026-03-31"
    expect(complaint(`joined eq ${point}`)).toBe(`InvalidInput: joined is a date, ${such}.`)
    expect(complaint("start gte soon", "meetings")).toBe(`InvalidInput: start is a time, ${such}T14:00.`)
  })

  it("of a relation is an id, a visible name or a part of one, among the visible targets", () => {
    const where = { status: "open" }
    const visible = visibleUnder([{}, { type: "companies", where }])
    const open = visible.planOf(catalog.types[1]!)!
    const isOpen = (condition: Bound) => Bound.Some({ relation: "company-key", where: all(open.where, condition) })
    const named = (name: string) => isOpen(compare("name", "eq", name, "key"))
    const id = encodeId(731n << 50n)
    expect(filtered(`company eq ${id}`, "people", visible)).toEqual([isOpen(compare("id", "eq", String(731n << 50n)))])
    expect(filtered("company eq  Átlas ", "people", visible)).toEqual([named("atlas")])
    expect(filtered("company eq bcd", "people", visible)).toEqual([
      any(isOpen(compare("id", "eq", "731")), named("bcd"))
    ])
    expect(filtered("company ilike Át", "people", visible)).toEqual([
      Bound.Some({ relation: "company-key", where: all(open.where, Bound.Contains({ column: "name", text: "at" })) })
    ])
    const key = "11111111-2222-3333-4444-555555555555"
    const uuid = filtered(`code eq ${key}`, "meetings")
    expect(uuid).toEqual([Bound.Some({ relation: "code-key", where: compare("id", "eq", key) })])
    expect(filtered("code eq bcd", "meetings")).toEqual([NEVER])
  })

  it("of ilike needs a searchable column and enough characters", () => {
    expect(filtered("name ilike A")).toEqual([Bound.Contains({ column: "name", text: "a" })])
    expect(filtered("email ilike  @X ")).toEqual([Bound.Contains({ column: "email-key", text: "@x" })])
    expect(filtered("phone ilike (415) 5")).toEqual([Bound.Contains({ column: "phone-key", text: "4155" })])
    expect(filtered("phone ilike +1 4")).toEqual([Bound.Contains({ column: "phone-key", text: "+14" })])
    expect(filtered("phone ilike call")).toEqual([NEVER])
    expect(filtered("note ilike abc", "tickets")).toEqual([Bound.Contains({ column: "note-key", text: "abc" })])
    expect(complaint("note ilike ab", "tickets")).toBe("InvalidInput: To search note, give at least 3 characters.")
    expect(complaint("id ilike bcd")).toBe("InvalidInput: id can't be searched with ilike: use eq.")
    expect(complaint("level ilike 4")).toBe("InvalidInput: level can't be searched with ilike: use eq.")
    expect(complaint("tags ilike vip")).toBe("InvalidInput: tags can't be searched with ilike: use eq.")
    for (const column of ["phone", "owner", "secret", "id"])
      expect(complaint(`${column} gte 5`)).toBe(`InvalidInput: ${column} has no order: use eq or ilike.`)
    expect(filtered("id eq B-1")).toEqual([NEVER])
    expect(filtered("id eq 11111111-2222-3333-4444-555555555555", "tickets")).toEqual([
      compare("id", "eq", "11111111-2222-3333-4444-555555555555")
    ])
  })
})

describe("the statement cache", () => {
  const resolvedWithParameters = (query: Partial<FindQuery>, visible: Visible) => {
    const result = resolve({ entityTypeId: "people", filters: [], ...query }, visible)
    if (Result.isFailure(result)) throw new Error(result.failure.message)
    return result.success
  }
  /** The shape under which a query's statement is cached; undefined when it isn't. */
  const shape = (query: Partial<FindQuery>, visible = everything) => {
    const shapes: Array<string> = []
    const statements = { get: () => undefined, set: (key: string) => void shapes.push(key) }
    const { statements: own, ...rest } = resolvedWithParameters(query, visible)
    prepare(own === undefined ? rest : { ...rest, statements }, visible.state.catalog)
    return shapes[0]
  }

  it("has one shape for queries that differ in values only, and different shapes otherwise", () => {
    const named = (text: string, more: Partial<FindQuery> = {}) => shape({ filters: [parse(text)], ...more })
    expect(named("name eq ann")).toBe(named("name eq bob"))
    expect(named("name ilike ann")).toBe(named("name ilike bob"))
    const different = [
      named("name eq ann"),
      named("name eq ann", { limit: 6 }),
      named("name eq ann", { cursorEntityId: "bcd" }),
      named("name ilike ann"),
      named("phone eq call me"),
      shape({ entityTypeId: "meetings", filters: [parse("start gte 2026-01-01T10:00")] }),
      shape({ entityTypeId: "meetings", filters: [parse("start gte 2026-01-01T10:00Z")] })
    ]
    expect(different).not.toContain(undefined)
    expect(new Set(different).size).toBe(different.length)
    // A value that decides the SQL text makes the statement unusable for other values.
    expect(named("name ilike an")).toBeUndefined()
    expect(shape({ entityTypeId: "tickets", filters: [parse("phone eq 4155550100")] })).toBeUndefined()
    const number = value("number", "text", {
      storage: Storage.Value({ column: "n", source: { columns: ["n"], type: "integer" } })
    })
    const numbers = { ...catalog, types: [{ ...catalog.types[0]!, columns: [number] }] }
    expect(shape({ filters: [parse("number eq 5")] }, visibleUnder([{}], numbers))).toBeUndefined()
    const comparand = (kind: Column["kind"]) => new Parameters().comparand(value("at", kind), "2026-01-01T10:00Z")
    expect([comparand("timestamp"), comparand("text")]).toEqual([new Parameter(0, true), new Parameter(0, false)])
  })

  it("shares parameters of the first indexes and creates those beyond", () => {
    for (const offset of [false, true]) {
      expect(parameterAt(3, offset)).toBe(parameterAt(3, offset))
      expect([parameterAt(3, offset), parameterAt(64, offset)]).toEqual([
        new Parameter(3, offset),
        new Parameter(64, offset)
      ])
    }
    expect(
      new Set([0, 1].flatMap((index) => [true, false].map((offset) => parameterAt(index, offset).text))).size
    ).toBe(4)
  })

  it("belongs to one view and one set of names, of which each view caches 200", () => {
    const [one, other] = [visibleUnder(EVERYTHING), visibleUnder(EVERYTHING)]
    const cacheOf = (query: Partial<FindQuery>, visible = one) => resolvedWithParameters(query, visible).statements!
    const ann = cacheOf({ filters: [parse("name eq ann")] })
    expect(cacheOf({ filters: [parse("name eq bob")], limit: 9 })).toBe(ann)
    expect(cacheOf({ filters: [parse("name eq ann")] }, other)).not.toBe(ann)
    for (const query of [
      {},
      { filters: [parse("name ilike ann")] },
      { filters: [parse("status eq ann")] },
      { filters: [parse("name eq ann"), parse("name eq ann")] },
      { filters: [parse("name eq ann")], selectColumns: ["phone"] }
    ])
      expect(cacheOf(query)).not.toBe(ann)
    // The 201st set of names evicts all earlier ones.
    const sets = ["name", "status", "phone", "email", "owner", "company"]
    const combinations = sets.flatMap((a) => sets.flatMap((b) => sets.map((c) => [a, b, c])))
    for (const columns of combinations.slice(0, 190)) cacheOf({ selectColumns: columns })
    expect(cacheOf({ filters: [parse("name eq ann")] })).toBe(ann)
    for (const columns of combinations.slice(190)) cacheOf({ selectColumns: columns })
    expect(cacheOf({ filters: [parse("name eq ann")] })).not.toBe(ann)
  })

  it("bounds the statements of one set of names and the characters of all caches", () => {
    const statements = new StatementCache()
    const statement = { text: "SELECT 1", parameters: [] }
    for (let index = 0; index < 64; index++) statements.set(`s${index}`, statement)
    expect([statements.get("s0"), statements.get("nothing")]).toEqual([statement, undefined])
    statements.set("s64", statement)
    expect([statements.get("s0"), statements.get("s64")]).toEqual([undefined, statement])
    expect(statements.expired).toBe(false)
    const large = { text: "x".repeat(MAX_CACHED / 4), parameters: [] }
    for (let index = 0; index < 3; index++) statements.set(`large${index}`, large)
    expect(statements.expired).toBe(false)
    statements.set("large3", large)
    expect(statements.expired).toBe(true)
    const next = new StatementCache()
    expect(next.expired).toBe(false)
    for (let index = 0; index < 3; index++) next.set(`large${index}`, large)
    expect(next.expired).toBe(false)
    // An expired cache makes its names resolve again.
    const before = resolvedWithParameters({}, everything).statements!
    next.set("large3", large)
    expect(next.expired).toBe(true)
    expect(resolvedWithParameters({}, everything).statements).not.toBe(before)
  })
})

describe("an unrestricted caller", () => {
  it("gets a query without restrictions", () => {
    expect(resolved({})).toMatchObject({ plan: ALWAYS, filters: [], limited: false, name: ALWAYS, status: ALWAYS })
  })
})
