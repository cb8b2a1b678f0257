/** The SQL of rows of managed and mapped types: values, ids, the organization's condition, and refusals. */
import { describe, expect, it } from "vitest"
import { heldCondition } from "../../../src/database/sql/held.ts"
import {
  belongs,
  columnReference,
  idCast,
  idReference,
  linkOf,
  organizationOf,
  physicalColumns,
  relationOf,
  targetRows,
  wholeNumber
} from "../../../src/database/sql/rows.ts"
import { identifier, literal, qualified, SqlWriter } from "../../../src/database/sql/SqlWriter.ts"
import {
  type Column,
  type ColumnKind,
  type EntityType,
  type Mapping,
  type Source,
  type SourceType,
  Storage
} from "../../../src/domain/EntityType.ts"
import { systemCatalog } from "../../support/catalog.ts"

const column = (kind: ColumnKind, storage: Storage): Column => ({ key: "k", slug: "k", name: "K", kind, storage })
const source = (kind: ColumnKind, type: SourceType, more: Partial<Source> = {}): Column =>
  column(kind, Storage.Value({ column: "unused", source: { columns: ["a"], type, ...more } }))

const mapped = (mapping: Partial<Mapping>, columns: ReadonlyArray<Column> = []): EntityType => ({
  key: "desk",
  slug: "desk",
  name: "Desk",
  pluralName: "Desks",
  system: false,
  version: 1,
  relation: { schema: "public", table: "desk" },
  columns,
  mapping: { id: { column: "Key", type: "uuid" }, where: [], unique: true, ...mapping }
})
const managed = systemCatalog.types[0]!

const context = (externalKey?: string) => {
  const writer = new SqlWriter()
  const { organization } = systemCatalog
  const catalog = {
    ...systemCatalog,
    organization: externalKey === undefined ? organization : { ...organization, externalKey }
  }
  return { catalog, writer, organization: "$9::bigint", timeZone: () => "$8::text" }
}

describe("the rows of a type", () => {
  it("are conditioned on the organization, or on FALSE without a valid key", () => {
    const own = "11111111-2222-3333-4444-555555555555"
    const written = (type: EntityType, key?: string) => {
      const at = context(key)
      return [belongs(type, "p", at), at.writer.parameters]
    }
    const tenant = { organization: { column: "tenant", type: "uuid" as const } }
    expect(written(managed)).toEqual(["p.organization_id = $9::bigint", []])
    expect(written(mapped({}))).toEqual(["TRUE", []])
    expect(written(mapped(tenant), own)).toEqual([`p."tenant" = $1::uuid`, [own]])
    // An organization without a key, or with an impossible one, has no rows.
    expect(written(mapped(tenant))).toEqual(["FALSE", []])
    expect(written(mapped({ organization: { column: "tenant", type: "text" } }))).toEqual(["FALSE", []])
    expect(written(mapped(tenant), "not a uuid")).toEqual(["FALSE", []])
    const where = [
      { column: "gone", is: false },
      { column: "ended", is: null },
      { column: "kind", is: "desk" }
    ]
    expect(written(mapped({ ...tenant, where }), own)).toEqual([
      `p."tenant" = $3::uuid AND p."gone" = $1::boolean AND p."ended" IS NULL AND p."kind"::text = $2::text`,
      [false, "desk", own]
    ])
    expect(written(mapped({ ...tenant, where: [{ column: "gone", is: true }] }))).toEqual([
      `FALSE AND p."gone" = $1::boolean`,
      [true]
    ])
  })

  it("state their organization from their own columns", () => {
    const own = "11111111-2222-3333-4444-555555555555"
    const at = context(own)
    expect(organizationOf(managed, "p", at)).toBe("p.organization_id")
    expect(organizationOf(mapped({}), "p", at)).toBe("$9::bigint")
    const where = [{ column: "gone", is: false }]
    const type = mapped({ organization: { column: "tenant", type: "uuid" }, where })
    expect(organizationOf(type, "p", at)).toBe(`CASE WHEN p."tenant" = $1::uuid THEN $9::bigint END`)
  })

  it("name the mapped relations that they read, which must have an approved identity", () => {
    const writer = new SqlWriter()
    const reads = { '"public"."desk"': "approved", '"public"."other"': "other" }
    const catalog = { ...systemCatalog, types: [mapped({ reads })] }
    expect(relationOf(managed, writer)).toBe(`"data"."people"`)
    expect(heldCondition({ catalog, writer })).toBeUndefined()
    expect(relationOf(mapped({}), writer)).toBe(`"public"."desk"`)
    linkOf({ link: { schema: "public", table: "unknown" }, mapped: true }, writer)
    expect(heldCondition({ catalog, writer })).toBe(
      `max.held(ARRAY['"public"."desk"', '"public"."unknown"'], ARRAY['approved', ''])`
    )
  })

  it("have an id of the mapping's type, and numeric ids otherwise", () => {
    expect([idReference(managed, "p"), idReference(mapped({}), "p")]).toEqual(["p.id", `p."Key"`])
    expect([idCast(undefined), idCast("uuid")]).toEqual(["bigint", "uuid"])
  })

  it("are reference targets only where their id is unique", () => {
    const columns = [
      source("number", "numeric", { columns: ["fee"], currency: "cur" }),
      source("text", "text", { columns: ["first", "last"] }),
      column("reference", Storage.One({ column: "boss", target: "desk" })),
      column("text", Storage.Value({ column: "plain" })),
      column("references", Storage.Many({ link: { schema: "x", table: "y" }, from: "f", to: "t", target: "desk" }))
    ]
    const type = mapped(
      { unique: false, where: [{ column: "gone", is: false }], organization: { column: "tenant", type: "text" } },
      columns
    )
    expect(physicalColumns(type)).toEqual(["Key", "gone", "tenant", "fee", "cur", "first", "last", "boss", "plain"])
    expect(physicalColumns({ ...managed, columns: columns.slice(3) })).toEqual(["plain"])
    expect(physicalColumns(mapped({}, [columns[3]!]))).toEqual(["Key", "plain"])
    expect(targetRows(managed, "r1", context())).toBe(`"data"."people" r1`)
    expect(targetRows(mapped({}), "r1", context())).toBe(`"public"."desk" r1`)
    const duplicates = mapped({ unique: false, where: [{ column: "gone", is: false }] }, [columns[3]!])
    const at = context()
    expect(targetRows(duplicates, "r1", at)).toBe(
      `(SELECT "Key", "gone", "plain" FROM (SELECT w."Key", w."gone", w."plain", ` +
        `count(*) OVER (PARTITION BY w."Key") AS "max same id" FROM "public"."desk" w WHERE w."gone" = $1::boolean) w ` +
        `WHERE w."max same id" = 1) r1`
    )
    expect(at.writer.parameters).toEqual([false])
  })
})

describe("a column's value", () => {
  const written = (of: Column, side: "value" | "key" = "value") => {
    const at = context()
    return [columnReference(of, "p", side, at), ...at.writer.parameters]
  }

  it("of a managed type is its physical column, and its search key the key column", () => {
    const name = column("text", Storage.Value({ column: "name", keyColumn: "name_k" }))
    expect([written(name), written(name, "key")]).toEqual([[`p."name"`], [`p."name_k"`]])
    const owner = column("reference", Storage.One({ column: "owner_id", target: "people" }))
    expect([written(owner), written(owner, "key")]).toEqual([[`p."owner_id"`], [`p."owner_id"`]])
    expect(() => written(column("integer", Storage.Value({ column: "level" })), "key")).toThrow("no search key")
    const many = Storage.Many({ link: { schema: "x", table: "y" }, from: "f", to: "t", target: "people" })
    expect(() => written(column("references", many))).toThrow("A link has no column")
  })

  it("of a mapped type is converted from the source type to the column's kind", () => {
    const cases: ReadonlyArray<readonly [ColumnKind, SourceType, ReadonlyArray<unknown>]> = [
      ["text", "text", [`p."a"::text`]],
      ["text", "integer", [`p."a"::text`]],
      ["phone", "integer", [`p."a"::text`]],
      ["email", "text", [`p."a"::text`]],
      ["text", "inet", [`abbrev(p."a")`]],
      ["list", "list", [`p."a"::text[]`]],
      ["integer", "integer", [`p."a"`]],
      ["boolean", "boolean", [`p."a"`]],
      ["number", "integer", [`p."a"`]],
      ["number", "money", [`p."a"::numeric`]],
      ["number", "numeric", [`CASE WHEN p."a" > '-Infinity' AND p."a" < 'Infinity' THEN p."a" END`]],
      ["number", "float", [`CASE WHEN p."a" > '-Infinity' AND p."a" < 'Infinity' THEN p."a"::numeric END`]],
      ["date", "date", [`p."a"`]],
      ["date", "timestamp", [`p."a"::date`]],
      ["timestamp", "timestamptz", [`p."a"`]],
      ["timestamp", "timestamp", [`timezone($1::text, p."a")`, "UTC"]]
    ]
    for (const [kind, type, wanted] of cases) expect(written(source(kind, type)), `${kind} of ${type}`).toEqual(wanted)
    // Any other zone would carry the first and last times out of the type.
    expect(written(source("timestamp", "timestamp", { timeZone: "Asia/Kolkata" }))).toEqual([
      `CASE WHEN p."a" >= '4712-01-01 BC' AND p."a" < '294276-01-01' THEN timezone($1::text, p."a") ELSE timezone('UTC', p."a") END`,
      "Asia/Kolkata"
    ])
    const utc = source("timestamp", "timestamp", { timeZone: "UTC" })
    expect(written(utc)).toEqual([`timezone($1::text, p."a")`, "UTC"])
    expect(written(source("text", "text", { columns: ["a", "b", "c"] }))).toEqual([
      `nullif(btrim(btrim(coalesce(p."a"::text, '') || ' ' || coalesce(p."b"::text, '')) || ' ' || coalesce(p."c"::text, '')), '')`
    ])
    expect(() => written(source("text", "text", { columns: [] }))).toThrow("no column")
  })

  it("of a mapped type has its fold as search key", () => {
    expect(written(source("text", "text"), "key")).toEqual([`max.fold_text(p."a"::text) COLLATE "C"`])
    expect(written(source("list", "list"), "key")).toEqual([`max.fold_texts(p."a"::text[])`])
    expect(written(source("phone", "text"), "key")).toEqual([`max.fold_phone(p."a"::text) COLLATE "C"`])
    expect(written(source("email", "text"), "key")).toEqual([`max.fold_email(p."a"::text) COLLATE "C"`])
    expect(() => written(source("date", "date"), "key")).toThrow("no search key")
  })

  it("that is derived is computed from its sources, which must be known, and has no search key", () => {
    const starts = column("date", Storage.Value({ column: "start_at" }))
    const ends = column("date", Storage.Value({ column: "end_at" }))
    const days = (sources?: ReadonlyArray<Column>): Column => ({
      ...column("integer", Storage.Value({ column: "days" })),
      derived: { as: "days", of: ["start", "end"], ...(sources === undefined ? {} : { sources }) }
    })
    expect(written(days([starts, ends]))[0]).toContain(`p."end_at"`)
    expect(() => written(days())).toThrow("can't be computed")
    expect(() => written(days([starts, ends]), "key")).toThrow("can't be computed")
  })

  it("counts as a whole number only if one integer column is shown as text", () => {
    expect(wholeNumber(source("text", "integer"), "p")).toBe(`p."a"`)
    for (const other of [
      source("integer", "integer"),
      source("text", "text"),
      source("text", "integer", { columns: ["a", "b"] }),
      column("text", Storage.Value({ column: "name" })),
      column("text", Storage.One({ column: "owner_id", target: "people" }))
    ])
      expect(wholeNumber(other, "p")).toBeUndefined()
  })
})

describe("identifier", () => {
  it("quotes any name, and refuses an empty, too long or NUL-containing one", () => {
    expect([identifier(`a"b`), identifier("x".repeat(63))]).toEqual([`"a""b"`, `"${"x".repeat(63)}"`])
    expect(identifier(`"a"`)).toBe(`"""a"""`)
    for (const none of ["", "x".repeat(64), "a\u0000b"]) expect(() => identifier(none)).toThrow("Not an identifier")
    expect(qualified({ schema: "data", table: `t"` })).toBe(`"data"."t"""`)
  })
})

describe("literal", () => {
  it("quotes any text for either setting of standard_conforming_strings", () => {
    expect([literal("it"), literal("it's"), literal("''")]).toEqual(["'it'", "'it''s'", "''''''"])
    expect([literal("a\\b"), literal("\\'")]).toEqual(["E'a\\\\b'", "E'\\\\'''"])
  })
})
