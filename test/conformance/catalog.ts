/** The types of this suite as a catalog, for tests without a database. */
import { connected } from "../../src/domain/connected.ts"
import { readDeclared } from "../../src/domain/derived.ts"
import { type Catalog, type Column, type EntityType, Storage } from "../../src/domain/EntityType.ts"
import { type ColumnShape, DERIVED, SHAPES, TABLES, TYPE_NAMES, type TypeName } from "./world.ts"

const storage = (type: TypeName, { key, kind, physical, target }: ColumnShape): Storage => {
  switch (kind) {
    case "one":
      return Storage.One({ column: physical, target: target! })
    case "many":
      return Storage.Many({
        link: { schema: "data", table: physical },
        from: type === "deals" ? "deal_id" : "meeting_id",
        to: "person_id",
        target: target!
      })
    default:
      return Storage.Value({ column: physical, ...(key === undefined ? {} : { keyColumn: key, indexed: true }) })
  }
}

const column = (type: TypeName, slug: string, shape: ColumnShape): Column => ({
  key: slug,
  slug,
  name: slug,
  storage: storage(type, shape),
  kind: shape.kind === "one" ? "reference" : shape.kind === "many" ? "references" : shape.kind
})

const derivedColumn = (type: TypeName, slug: string): Column => {
  const { as, of } = readDeclared(DERIVED[type][slug]!.form)!
  const storage = Storage.Value({ column: "" })
  return { key: slug, slug, name: slug, kind: "number", storage, derived: { as, of } }
}

export const catalog: Catalog = {
  organization: { id: 7n, slug: "here", name: "Here", country: "US", timeZone: "America/New_York" },
  epoch: 1n,
  types: connected(
    TYPE_NAMES.map((slug): EntityType => ({
      key: slug,
      slug,
      name: slug,
      pluralName: slug,
      system: slug !== "deals",
      version: 1,
      relation: { schema: "data", table: TABLES[slug] },
      columns: Object.entries(SHAPES[slug]).map(([name, shape]) => column(slug, name, shape)),
      derived: Object.keys(DERIVED[slug]).map((name) => derivedColumn(slug, name))
    }))
  )
}
