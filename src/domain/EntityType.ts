/**
 * Entity types and their columns as the catalog knows them. `key` is immutable and what policies bind to; `slug` is
 * what callers write; both are never reused. Physical names are in `storage` and reach SQL from here only.
 */
import { Data } from "effect"

export interface Relation {
  readonly schema: string
  readonly table: string
}

/** What Postgres says that a mapped column is; `fits` in services/mapping says which kinds each can be. */
export const SOURCE_TYPES = [
  "text",
  "other",
  "integer",
  "numeric",
  "float",
  "money",
  "boolean",
  "date",
  "timestamp",
  "timestamptz",
  "list"
] as const
export type SourceType = (typeof SOURCE_TYPES)[number]

/** What a value of a mapped type is read from: one column, or several that are put together with spaces. */
export interface Source {
  readonly columns: ReadonlyArray<string>
  readonly type: SourceType
  /** In which zone a time without one is meant. */
  readonly timeZone?: string
  /** The column that says in which currency an amount is. */
  readonly currency?: string
}

/** The types that the id of a mapped row can have; managed ids are letters. */
export const ID_TYPES = ["bigint", "uuid", "text", "bpchar"] as const
export type IdType = (typeof ID_TYPES)[number]

/** How a type is read from a table or view that isn't Max's. */
export interface Mapping {
  readonly id: { readonly column: string; readonly type: IdType }
  /** The column that holds the organization's key; without one all rows belong to the one organization that has the type. */
  readonly organization?: { readonly column: string; readonly type: IdType }
  /** Which rows count; what a row has to be in every one of these columns. */
  readonly where: ReadonlyArray<{ readonly column: string; readonly is: string | boolean | null }>
  /** Whether Postgres proves that an id names one row. Of a view nothing does: its rows are never read again by id. */
  readonly unique: boolean
  /** What was approved isn't there any more: nothing is read from it. */
  readonly broken?: boolean
}

/** Where a column's values live. */
export type Storage = Data.TaggedEnum<{
  /**
   * A value in a physical column, with the column that holds its search key; `indexed` when a btree leads to that key.
   * With a `source` it is read from a mapped relation, and its key is computed.
   */
  Value: {
    readonly column: string
    readonly keyColumn?: string
    readonly indexed?: boolean
    readonly source?: Source
  }
  /** A reference to one entity of another type. */
  One: { readonly column: string; readonly target: string }
  /** References to many entities of another type, by way of a link table; a mapped one belongs to whom its rows lead to. */
  Many: {
    readonly link: Relation
    readonly from: string
    readonly to: string
    readonly target: string
    readonly mapped?: boolean
  }
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
  /** The only values that there are, where the database says so. */
  readonly values?: ReadonlyArray<string>
  /** Of a relation: the type of the ids that it leads to, where they aren't managed ones. */
  readonly ids?: IdType
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
  /** Where the rows aren't Max's own. */
  readonly mapping?: Mapping
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
  /** What mapped tables call the organization. */
  readonly externalKey?: string
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

/** A managed type's own id, as policies may compare it (`"id": "$me"`); its slug is reserved. */
export const ID_COLUMN: Column = {
  key: "id",
  slug: "id",
  name: "Id",
  kind: "reference",
  storage: Storage.Value({ column: "id" })
}

const mappedIds = new Map(ID_TYPES.map((ids): [IdType, Column] => [ids, { ...ID_COLUMN, ids }]))

/** A type's own id. */
export const idColumn = ({ mapping }: EntityType): Column =>
  mapping === undefined ? ID_COLUMN : mappedIds.get(mapping.id.type)!

/** The column that a predicate means, the type's own id included. */
export const resolveColumn = (type: EntityType, key: string): Column | undefined =>
  key === ID_COLUMN.key ? idColumn(type) : columnByKey(type, key)

/** The type that a relation column leads to. */
export const targetOf = (catalog: Catalog, column: Column): EntityType | undefined =>
  column.storage._tag === "Value" ? undefined : typeByKey(catalog, column.storage.target)

/**
 * The types of an organization as they fit together: a relation knows what the ids that it leads to look like. One whose
 * own values can't be such ids, because its target was mapped since, leads nowhere any more and is left out.
 */
export const connected = (types: ReadonlyArray<EntityType>): ReadonlyArray<EntityType> => {
  const idsOf = new Map(types.map((type) => [type.key, type.mapping?.id.type]))
  return types.map((type) => ({
    ...type,
    columns: type.columns.flatMap((column): ReadonlyArray<Column> => {
      if (column.storage._tag === "Value") return [column]
      const ids = idsOf.get(column.storage.target)
      if (ids === undefined) return type.mapping === undefined ? [column] : []
      return type.mapping === undefined && ids !== "bigint" ? [] : [{ ...column, ids }]
    })
  }))
}

/** Whether all that a lookup of this type can touch is in managed tables. */
export const isManagedThroughout = (catalog: Catalog, type: EntityType): boolean => {
  const reached = new Set([type.key])
  for (const key of reached) {
    const next = typeByKey(catalog, key)
    if (next?.mapping !== undefined) return false
    for (const { storage } of next?.columns ?? []) if (storage._tag !== "Value") reached.add(storage.target)
  }
  return true
}
