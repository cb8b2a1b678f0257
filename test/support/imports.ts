/** Imports of files that a test writes, and what the tables hold afterwards. */
import { Effect } from "effect"
import { mkdtempSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, inject } from "vitest"
import { Database } from "../../src/database/Database.ts"
import { columnBySlug, type EntityType, type Organization, typeBySlug } from "../../src/domain/EntityType.ts"
import { OperatorError } from "../../src/domain/errors.ts"
import { OrganizationState } from "../../src/services/catalog/OrganizationState.ts"
import { Importer, type ImportRequest } from "../../src/services/import/Importer.ts"

/** The bytes, the text or the lines of a file. */
export type Content = string | Uint8Array | ReadonlyArray<string>
type Options = Partial<Omit<ImportRequest, "files">>

/** Writes a file into a new folder, removed at the end of the test run, and returns its path. */
export const fileOf = (name: string, content: Content): string => {
  const path = join(mkdtempSync(join(inject("files"), "import-")), name)
  writeFileSync(path, Array.isArray(content) ? content.join("\n") : (content as string | Uint8Array))
  return path
}

/** Imports files, given by name, as people unless the request names another type. */
export const importFiles = Effect.fnUntraced(function* (
  organization: Organization,
  files: Readonly<Record<string, Content>>,
  request: Options = {}
) {
  const importer = yield* Importer
  return yield* importer.import(organization, {
    type: "people",
    ...request,
    files: Object.entries(files).map(([name, content]) => fileOf(name, content))
  })
})

/** Imports one file, a CSV file of people unless the request says otherwise. */
export const importFile = (
  organization: Organization,
  content: Content,
  { name = "file.csv", ...request }: Options & { readonly name?: string } = {}
) => importFiles(organization, { [name]: content }, request)

/** The operator's error that an import fails with. */
const refusalOf = <A, E, R>(imported: Effect.Effect<A, E, R>) =>
  Effect.map(Effect.flip(imported), (error) =>
    error instanceof OperatorError
      ? { message: error.message, details: error.details ?? [] }
      : expect.fail(`The import failed with ${String(error)}`)
  )

export const refusalOfFiles = (...args: Parameters<typeof importFiles>) => refusalOf(importFiles(...args))
export const refusalOfFile = (...args: Parameters<typeof importFile>) => refusalOf(importFile(...args))

export const stateOf = (organization: Organization) =>
  Effect.flatMap(OrganizationState, (states) =>
    Effect.map(states.read(organization.id, { by: "none" }), ({ state }) => state)
  )

export const typeOf = (organization: Organization, slug: string) =>
  Effect.map(stateOf(organization), ({ catalog }) => typeBySlug(catalog, slug)!)

/** The physical column that holds a column's values, or the search keys beside them. */
export const physicalColumn = (type: EntityType, slug: string, side: "value" | "key" = "value"): string => {
  const { storage } = columnBySlug(type, slug)!
  if (storage._tag === "Many") throw new Error("A link")
  return side === "key" && storage._tag === "Value" ? storage.keyColumn! : storage.column
}

/** Columns of a type's rows as text, by external id: `id`, a slug, or `slug#` for the search key. */
export const rowsOf = Effect.fnUntraced(function* (
  organization: Organization,
  slug: string,
  ...columns: ReadonlyArray<string>
) {
  const { owner } = yield* Database
  const type = yield* typeOf(organization, slug)
  const cells = columns.map((column, index) =>
    column === "id"
      ? `external_id AS v${index}`
      : `${column.endsWith("#") ? physicalColumn(type, column.slice(0, -1), "key") : physicalColumn(type, column)}::text AS v${index}`
  )
  const rows = yield* owner.unsafe<Record<string, string | null>>(
    `SELECT ${cells.join(", ")} FROM ${type.relation.schema}.${type.relation.table} WHERE organization_id = $1::bigint ORDER BY external_id, id`,
    [organization.id]
  )
  return rows.map((row) => columns.map((_, index) => row[`v${index}`]))
})

/** Entity ids of people by external id. */
export const rowIds = Effect.fnUntraced(function* (organization: Organization) {
  const { owner } = yield* Database
  return yield* owner<{ id: bigint; external_id: string }>`
    SELECT id, external_id FROM data.people WHERE organization_id = ${organization.id} ORDER BY external_id`
})

/** Checks that an organization has no people, type versions or custom types. */
export const expectUntouched = Effect.fnUntraced(function* (organization: Organization) {
  const { owner } = yield* Database
  const [counts] = yield* owner<{ people: number; versions: number; types: number }>`
    SELECT (SELECT count(*)::int FROM data.people WHERE organization_id = ${organization.id}) AS people,
      (SELECT count(*)::int FROM builder.entity_type_versions WHERE organization_id = ${organization.id}) AS versions,
      (SELECT count(*)::int FROM builder.entity_types WHERE organization_id = ${organization.id}) AS types`
  expect(counts).toEqual({ people: 0, versions: 0, types: 0 })
})

/** Managed tables that no version names. */
export const orphanTables = Effect.gen(function* () {
  const { owner } = yield* Database
  const rows = yield* owner<{ name: string }>`
    SELECT c.relname::text AS name FROM pg_class c WHERE c.relnamespace = 'data'::regnamespace AND c.relkind = 'r' AND c.relname LIKE 't\\_%'
      AND NOT EXISTS (SELECT 1 FROM builder.entity_type_versions v WHERE v.relation_table = c.relname)`
  return rows.map((row) => row.name)
})
