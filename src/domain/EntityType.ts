/**
 * Entity types and their columns, as stored in the catalog. Policies bind to the immutable `key`, callers write the
 * `slug`; neither is ever reused. Physical names reach SQL only from `relation`, `storage` and `mapping`.
 */
import { Data } from "effect"

export interface Relation {
  readonly schema: string
  readonly table: string
}

/** The Postgres type of a mapped column; `fits` in services/mapping lists the kinds that each allows. */
export const SOURCE_TYPES = [
  "text",
  "other",
  "inet",
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

/** The source of a mapped value: one column, or several that are joined with spaces. */
export interface Source {
  readonly columns: ReadonlyArray<string>
  readonly type: SourceType
  /** The zone of timestamps without a zone. */
  readonly timeZone?: string
  /** The column that holds an amount's currency. */
  readonly currency?: string
}

/** The types of mapped ids; callers see managed ids as letters. */
export const ID_TYPES = ["bigint", "uuid", "text", "bpchar"] as const
export type IdType = (typeof ID_TYPES)[number]

/** Reads a type from a relation that Max doesn't manage. */
export interface Mapping {
  readonly id: { readonly column: string; readonly type: IdType }
  /** The column with the organization's external key; without it the relation is exclusive to the type's organization. */
  readonly organization?: { readonly column: string; readonly type: IdType }
  /** Conditions on the rows, all of which must hold. */
  readonly where: ReadonlyArray<{ readonly column: string; readonly is: string | boolean | null }>
  /** Whether Postgres guarantees unique ids. Views never do, so their rows are not read again by id. */
  readonly unique: boolean
  /** The identities of the relation and of the link tables of its columns when they were mapped, by quoted name. */
  readonly reads?: Readonly<Record<string, string | null>>
  /** The keys of the columns whose source is gone. */
  readonly missing?: ReadonlyArray<string>
  /** The columns, keys and constraints of the relation when it was mapped, as `max.relation_shape` hashes them. */
  readonly shape?: string
  /** What changes may write; without it the rows are read only. */
  readonly write?: MappedWrite
}

/** What changes may write of a mapped relation. */
export interface MappedWrite {
  /** The keys of the columns that may be set. */
  readonly columns: ReadonlyArray<string>
  /** The limits of the columns' types, by the column's key; without them, only the database refuses a value. */
  readonly limits?: Readonly<Record<string, Limit>>
  /** How rows are added; without it none are. Postgres gives them their id. */
  readonly create?: MappedCreate
  /** Whether rows may be deleted. */
  readonly delete?: boolean
  /** The relations whose rows a deleted row may take along or change, as schema.table. */
  readonly cascades?: ReadonlyArray<string>
  /** How the rows of these relations are found, so that they are counted before a deletion. */
  readonly carried?: ReadonlyArray<Carried>
  /** A deletion sets these physical columns and leaves the row; `now` is the time of the change. */
  readonly removal?: ReadonlyArray<{ readonly column: string; readonly is: string | boolean }>
}

/** The limits of a physical column's type: NOT NULL, length, digits and range. They depend on no row, so an error may name them. */
export interface Limit {
  /** Whether it is never empty. */
  readonly full?: boolean
  /** In characters. */
  readonly maxLength?: number
  /** The digits of a number before and after the decimal point; more of the latter would be rounded. */
  readonly whole?: number
  readonly fraction?: number
  readonly min?: number
  readonly max?: number
}

/** A relation whose rows a deletion takes along or changes. */
export interface Carried {
  readonly relation: Relation
  /** Whether its rows are deleted; otherwise a reference of theirs is emptied. */
  readonly deletes: boolean
  /** The ways of foreign keys that lead to them from the deleted row. */
  readonly paths: ReadonlyArray<ReadonlyArray<CarriedHop>>
}

/** A foreign key: each column of the relation, and the one that it leads to. */
export interface CarriedHop {
  readonly relation: Relation
  readonly columns: ReadonlyArray<readonly [string, string]>
}

/** schema.table */
export const nameOfRelation = ({ schema, table }: Relation): string => `${schema}.${table}`

/** How rows are added to a mapped relation. */
export interface MappedCreate {
  /** The keys of the columns that every new row needs a value of. */
  readonly needed: ReadonlyArray<string>
  /** The sequences that the defaults of the other columns take their values from. */
  readonly sequences: ReadonlyArray<Relation>
}

/**
 * How a derived column is computed: the time from the first column to the second in hours, days or whole years, the whole
 * years since a date, or the product of two numbers.
 */
export const DERIVATIONS = ["hours", "days", "years", "since", "product"] as const
export type Derivation = (typeof DERIVATIONS)[number]

/** How a derived column is computed from columns of its row, by key. */
export interface Derived {
  readonly as: Derivation
  readonly of: ReadonlyArray<string>
  /** The columns; absent while one of them is missing. */
  readonly sources?: ReadonlyArray<Column>
}

/** The location of a column's values. */
export type Storage = Data.TaggedEnum<{
  /**
   * A value in a physical column, and the column of its search key; `indexed` if a btree index covers the key. With a
   * `source`, the value comes from a mapped relation and its key is computed.
   */
  Value: {
    readonly column: string
    readonly keyColumn?: string
    readonly indexed?: boolean
    readonly source?: Source
  }
  /** A reference to one entity of another type. */
  One: { readonly column: string; readonly target: string }
  /** References to many entities through a link table; a mapped link belongs to the organization of the rows at its ends. */
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
  /** The closed list of values, if the database defines one. */
  readonly values?: ReadonlyArray<string>
  /** Of a relation to a mapped type: the type of its ids. */
  readonly ids?: IdType
  /** Of a column that is computed whenever it is read: nothing is stored at the location of its storage, and nothing writes it. */
  readonly derived?: Derived
}

export interface EntityType {
  readonly key: string
  readonly slug: string
  readonly name: string
  readonly pluralName: string
  readonly system: boolean
  readonly version: number
  readonly relation: Relation
  /** The stored columns: all that imports and changes may write. */
  readonly columns: ReadonlyArray<Column>
  /** The declared derived columns, which only lookups know. */
  readonly derived?: ReadonlyArray<Column>
  /** Present on mapped types. */
  readonly mapping?: Mapping
  /** Columns of a mapped type whose source is gone: nothing reads them, and policies treat them as unknown. */
  readonly missing?: ReadonlyArray<Column>
}

/** One organization's types and settings, as of one epoch. */
export interface Catalog {
  readonly organization: Organization
  readonly epoch: bigint
  /** Whether row-level security is on. */
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
  /** The organization's key in mapped relations. */
  readonly externalKey?: string
  /** After so many days without use a conversation is deleted, if the operator keeps it longer. */
  readonly conversationDays?: number
}

/** The slug of the type of persons, which includes the anchors. */
export const PEOPLE = "people"

export const typeByKey = (catalog: Catalog, key: string): EntityType | undefined =>
  catalog.types.find((type) => type.key === key)

export const typeBySlug = (catalog: Catalog, slug: string): EntityType | undefined =>
  catalog.types.find((type) => type.slug === slug)

export const columnByKey = (type: EntityType, key: string): Column | undefined =>
  type.columns.find((column) => column.key === key)

export const columnBySlug = (type: EntityType, slug: string): Column | undefined =>
  type.columns.find((column) => column.slug === slug)

/** The columns that lookups read: the stored ones, and the derived ones whose sources are there. */
export const readableColumns = (type: EntityType): ReadonlyArray<Column> =>
  type.derived === undefined ? type.columns : [...type.columns, ...computedColumns(type)]

/** The derived columns whose sources are there. */
export const computedColumns = ({ derived = [] }: EntityType): ReadonlyArray<Column> =>
  derived.filter((column) => column.derived?.sources !== undefined)

/** The slug of a column that a rule names, also of a derived one whose source is missing. */
export const slugOf = ({ columns, derived = [] }: EntityType, key: string): string | undefined =>
  [...columns, ...derived].find((column) => column.key === key)?.slug

/** The keys of the columns that every result shows. */
export const DISPLAY_NAME = "name"
export const STATUS = "status"

/** The type of persons. */
export const peopleOf = (catalog: Catalog): EntityType | undefined => typeBySlug(catalog, PEOPLE)

/** The id of a managed type as a column, for policies (`"id": "$me"`); its slug is reserved. */
export const ID_COLUMN: Column = {
  key: "id",
  slug: "id",
  name: "Id",
  kind: "reference",
  storage: Storage.Value({ column: "id" })
}

const mappedIds = new Map(ID_TYPES.map((ids): [IdType, Column] => [ids, { ...ID_COLUMN, ids }]))

/** The id of a type as a column. */
export const idColumn = ({ mapping }: EntityType): Column =>
  mapping === undefined ? ID_COLUMN : mappedIds.get(mapping.id.type)!

/** Whether changes of this kind may write rows of the type. */
export const isWritable = ({ mapping }: EntityType, op: "create" | "update" | "delete"): boolean =>
  mapping === undefined ||
  (op === "create" && mapping.write?.create !== undefined) ||
  (op === "update" && mapping.write !== undefined && mapping.write.columns.length > 0) ||
  (op === "delete" && mapping.write?.delete === true)

/** The column of a predicate, including the id. */
export const resolveColumn = (type: EntityType, key: string): Column | undefined =>
  key === ID_COLUMN.key ? idColumn(type) : columnByKey(type, key)

/** The column of a caller's condition, including the id and the derived ones, which policies don't name in conditions. */
export const readableColumn = (type: EntityType, key: string): Column | undefined =>
  resolveColumn(type, key) ?? computedColumns(type).find((column) => column.key === key)

/** The key of the type that a relation leads to. */
export const targetKey = ({ storage }: Column): string | undefined =>
  storage._tag === "Value" ? undefined : storage.target

/** The target of a relation column. */
export const targetOf = (catalog: Catalog, column: Column): EntityType | undefined => {
  const key = targetKey(column)
  return key === undefined ? undefined : typeByKey(catalog, key)
}
