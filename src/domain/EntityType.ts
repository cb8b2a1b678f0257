/**
 * Entity types and their columns as the catalog knows them. `key` is immutable and what policies bind to; `slug` is
 * what callers write; both are never reused. Physical names are in `storage` and reach SQL from here only.
 */
import { Data } from "effect"

export interface Relation {
  readonly schema: string
  readonly table: string
}

/** Where a column's values live. */
export type Storage = Data.TaggedEnum<{
  /** A value in a physical column, with the column that holds its search key; `indexed` when a btree leads to that key. */
  Value: { readonly column: string; readonly keyColumn?: string; readonly indexed?: boolean }
  /** A reference to one entity of another type. */
  One: { readonly column: string; readonly target: string }
  /** References to many entities of another type, by way of a link table. */
  Many: { readonly link: Relation; readonly from: string; readonly to: string; readonly target: string }
}>
export const Storage = Data.taggedEnum<Storage>()

export const COLUMN_KINDS = [
  "text",
  "phone",
  "email",
  "integer",
  "number",
  "boolean",
  "date",
  "timestamp",
  "list",
  "reference",
  "references"
] as const
export type ColumnKind = (typeof COLUMN_KINDS)[number]

export interface Column {
  readonly key: string
  readonly slug: string
  readonly name: string
  readonly kind: ColumnKind
  readonly storage: Storage
}

export interface EntityType {
  readonly key: string
  readonly slug: string
  readonly name: string
  readonly pluralName: string
  readonly system: boolean
  readonly version: number
  readonly relation: Relation
  readonly columns: ReadonlyArray<Column>
}

/** Everything a lookup needs to know of one organization, as of one epoch. */
export interface Catalog {
  readonly organization: Organization
  readonly epoch: bigint
  /** Whether Postgres, too, asks for the organization before it shows a row of a shared table. */
  readonly rowSecurity?: boolean
  /** System types first, then by name. */
  readonly types: ReadonlyArray<EntityType>
}

export interface Organization {
  readonly id: bigint
  readonly slug: string
  readonly name: string
  readonly country: string
  readonly timeZone: string
}

/** The slug of the type whose entities are persons: anchors are among them. */
export const PEOPLE = "people"

export const typeByKey = (catalog: Catalog, key: string): EntityType | undefined =>
  catalog.types.find((type) => type.key === key)

export const typeBySlug = (catalog: Catalog, slug: string): EntityType | undefined =>
  catalog.types.find((type) => type.slug === slug)

export const columnByKey = (type: EntityType, key: string): Column | undefined =>
  type.columns.find((column) => column.key === key)

export const columnBySlug = (type: EntityType, slug: string): Column | undefined =>
  type.columns.find((column) => column.slug === slug)

/** The columns that a result always shows, by key: what it is called and where it stands. */
export const DISPLAY_NAME = "name"
export const STATUS = "status"

/** The type whose entities are persons. */
export const peopleOf = (catalog: Catalog): EntityType | undefined => typeBySlug(catalog, PEOPLE)

/** Every type's own id, as policies may compare it (`"id": "$me"`); its slug is reserved. */
export const ID_COLUMN: Column = {
  key: "id",
  slug: "id",
  name: "Id",
  kind: "reference",
  storage: Storage.Value({ column: "id" })
}

/** The column that a predicate means, the type's own id included. */
export const resolveColumn = (type: EntityType, key: string): Column | undefined =>
  key === ID_COLUMN.key ? ID_COLUMN : columnByKey(type, key)

/** The type that a relation column leads to. */
export const targetOf = (catalog: Catalog, column: Column): EntityType | undefined =>
  column.storage._tag === "Value" ? undefined : typeByKey(catalog, column.storage.target)
