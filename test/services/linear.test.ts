/** Policies, imports, filters, mappings, tool scopes and identifiers read text in time that grows with its length only. */
import { Effect, Result, Stream } from "effect"
import { describe, expect, it } from "vitest"
import { type Column, Storage } from "../../src/domain/EntityType.ts"
import { lintPolicy } from "../../src/permissions/lint.ts"
import { readPolicy } from "../../src/permissions/readPolicy.ts"
import { readScope } from "../../src/permissions/ToolScope.ts"
import { bindFields } from "../../src/services/import/bindFields.ts"
import { readId, valueField } from "../../src/services/import/convertCell.ts"
import { inferKinds } from "../../src/services/import/inferKinds.ts"
import { localForms } from "../../src/services/import/localForms.ts"
import { planImport } from "../../src/services/import/planImport.ts"
import { headerTooLong, tooLong } from "../../src/services/import/readers/FileRecord.ts"
import type { ImportFile } from "../../src/services/import/readers/ImportFile.ts"
import { resolveLiterals } from "../../src/services/lookup/resolve.ts"
import type { Visible } from "../../src/services/lookup/visible.ts"
import { readMappingFile } from "../../src/services/mapping/mappingFile.ts"
import { readIdentifier } from "../../src/services/members/identifier.ts"
import { catalog, file, granted, NOW, people, planOf, policyOf, type RuleInput } from "../permissions/support.ts"
import { slowTexts } from "../support/linear.ts"

const { organization } = catalog

const visible: Visible = {
  state: { catalog, policy: policyOf([]), policyHash: "" },
  planOf: ({ slug }) => granted(planOf([{ type: slug }], {}, { as: slug }))
}

/** Reads and lints a policy with one rule. */
const lint = (rule: RuleInput, more?: object) => {
  const reading = readPolicy(file([rule, {}], more), catalog)
  if ("problems" in reading) return reading.problems.map(({ message }) => message)
  lintPolicy(reading.policy, catalog, NOW, { roles: new Set(["member"]), attributes: new Set() })
  return []
}

/** A file of one header and one cell, unless the reader of files refuses the cell. */
const fileOf = (header: string, cell?: string): ImportFile => ({
  name: "people.csv",
  format: "CSV",
  unit: "line",
  warnings: [],
  headers: [header, "name"],
  batches: Stream.make([
    cell === undefined || tooLong([cell], [header]) !== undefined
      ? { line: 2, cells: [], problem: "too long" }
      : { line: 2, cells: [cell, "Ada"] }
  ]),
  share: () => 1
})
const run = <A, E>(effect: Effect.Effect<A, E>) => Effect.runSync(Effect.result(effect))

const forms = Effect.runSync(localForms({ locale: "de-DE", dates: "dmy" }))

const planned = (header: string, options: object) =>
  headerTooLong([header]) ?? run(planImport([fileOf(header)], { type: "people", ...options }, catalog))

/** Infers the kind of a new column from one cell. */
const inferred = (slug: string) => {
  const created = [{ slug, name: slug }]
  return (text: string) => {
    const files = [{ file: fileOf(slug, text), mapped: [{ header: slug, index: 0, slug }] }]
    return run(inferKinds({ type: people, files, created }, "US", forms, () => {}))
  }
}

const fields = people.columns.flatMap((column: Column) =>
  column.storage._tag === "Value" ? [valueField(column.slug, 0, column, column.storage, organization, forms)] : []
)
const notes = valueField("notes", 0, people.columns[1]!, Storage.Value({ column: "notes" }), organization, forms)
const references = ["id", "phone", "email", "level", "name"].flatMap((column) => {
  const mapped = [{ header: "owner", index: 0, slug: "owner", via: { type: "people", column } }]
  const bound = run(bindFields(mapped, { type: people, catalog, idPrefix: "", forms, pending: new Set() }))
  return Result.getOrThrow(bound).references
})

/** Looks people up by a value, in every column and with every operator. */
const filtered = (value: string) =>
  people.columns.flatMap(({ slug }) =>
    (["eq", "ilike", "gte", "lt"] as const).map((op) => {
      const found = resolveLiterals({ entityTypeId: "people", filters: [{ columnId: slug, op, value }] }, visible)
      return Result.isFailure(found) ? found.failure.message : ""
    })
  )

const TYPE = { table: "public.t", type: "t", id: "id", columns: {} }
const mapping = (types: unknown) => run(readMappingFile(JSON.stringify({ version: 1, types })))

const READERS: Readonly<Record<string, (text: string) => unknown>> = {
  "a rule's id": (text) => lint({ id: text }),
  "a rule's role": (text) => lint({ role: text }),
  "a rule's type": (text) => lint({ type: text }),
  "a rule's columns": (text) => lint({ columns: [text, "name"] }),
  "a rule's times": (text) => lint({ notBefore: text, notAfter: text }),
  "a condition's column": (text) => lint({ where: { [text]: "x" } }),
  "a condition's text": (text) => lint({ where: { status: text } }),
  "a condition's values": (text) => lint({ where: { any: [{ phone: text }, { email: [text] }, { joined: text }] } }),
  "a role's name": (text) => lint({}, { roles: { member: { inherits: [text] }, [text]: {} } }),
  "a policy's unknown property": (text) => lint({ [text]: text }),
  "a policy that is not JSON": (text) => readPolicy(text, catalog),
  "a filter's value": filtered,
  "a filter's column": (text) =>
    resolveLiterals(
      { entityTypeId: "people", filters: [{ columnId: text, op: "eq", value: "x" }], selectColumns: [text] },
      visible
    ),
  "a query's type": (text) => resolveLiterals({ entityTypeId: text, filters: [] }, visible),
  "a mapping's table": (text) => mapping([{ ...TYPE, table: text }]),
  "a mapping's columns": (text) => mapping([{ ...TYPE, columns: { [text]: { from: [text] } } }]),
  "a mapping's unknown property": (text) => mapping([{ ...TYPE, [text]: text }]),
  "a mapping that is not JSON": (text) => run(readMappingFile(text)),
  "a tool scope": (text) => [readScope([text], catalog), readScope(text.slice(0, 200_000).split(" "), catalog)],
  "an identifier": (text) => readIdentifier(text, organization)
}

/** An import runs in a process of its own. */
const IMPORTS: Readonly<Record<string, (text: string) => unknown>> = {
  "an import's header": (text) => planned(text, {}),
  "an import's header for a new column": (text) => planned(text, { create: true }),
  // A command line has words of at most 128 kB.
  "an import's options": (text) => {
    const option = text.slice(0, 130_000)
    return [planned("x", { map: { [option]: "name" } }), planned("x", { map: { x: option } })]
  },
  "an import's ignored header": (text) => planned("x", { ignore: [text.slice(0, 130_000)] }),
  "a cell of every kind": (text) => tooLong([text], ["x"]) ?? [...fields, notes].map(({ read }) => read(text)),
  "a list in a cell": (text) => tooLong([text], ["x"]) ?? fields.map(({ read }) => read([text, text])),
  "a cell with an id": (text) => tooLong([text], ["x"]) ?? readId(text, ""),
  "a cell that refers to others": (text) => tooLong([text], ["x"]) ?? references.map(({ read }) => read(text)),
  "a cell of a new column": inferred("notes"),
  "a cell of a new column of phone numbers": inferred("phone_2"),
  "a cell of a new column of e-mail addresses": inferred("email_2")
}

describe("readers of files, filters and identifiers", () => {
  it.each(Object.entries(READERS))("read %s in time that grows with its length only", (_, read) =>
    expect(slowTexts(read)).toEqual([])
  )

  it.each(Object.entries(IMPORTS))("read %s in time that grows with its length only", (_, read) =>
    expect(slowTexts(read, { isServing: false })).toEqual([])
  )

  it("cut or refuse text beyond their bounds", () => {
    const long = "a".repeat(1_000_001)
    expect(lint({ id: long })).toEqual(["The file must be at most 1000 kB."])
    expect(lint({ id: "a".repeat(201) })).toEqual(["`id` must be a printable string of 1 to 200 characters."])
    expect(tooLong([long], ["x"])).toBe(`"x" has more than 100000 characters`)
    expect(headerTooLong(["x", "a".repeat(1001)])?.message).toBe(
      "the header of column 2 has more than 1000 characters."
    )
    const texts = fields.filter(({ column: { kind } }) => kind === "text" || kind === "list")
    const problems = texts.map(({ column, read }) => `${column.slug}: ${String(read("a".repeat(401)))}`)
    expect(problems).toEqual([
      "name: it has more than 400 characters",
      "status: it has more than 400 characters",
      "tags: an entry has more than 400 characters"
    ])
    expect(new Set(filtered("a".repeat(1001)))).toEqual(new Set(["A value has at most 1000 characters."]))
    expect(mapping([{ ...TYPE, table: long.repeat(10) }])).toMatchObject({
      failure: { details: ["The file must have at most 10000000 characters."] }
    })
    expect(readScope([long], catalog)).toMatchObject({ problems: [expect.stringContaining("at most 200 characters")] })
    expect(readIdentifier(`${"a".repeat(400)}@example.com`, organization)).toBeUndefined()
    expect(readIdentifier("1".repeat(61), organization)).toBeUndefined()
  })
})
