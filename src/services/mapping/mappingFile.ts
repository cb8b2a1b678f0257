/** The mapping file, which defines how tables are read: `max map` proposes one and `max map --apply` takes it. */
import { Effect, Schema } from "effect"
import { OperatorError } from "../../domain/errors.ts"
import { isJsonObject, isNestedDeeper } from "../../domain/json.ts"
import { quoted } from "../../domain/text.ts"

const { optionalKey } = Schema

/** The kinds that a mapped value can have; relations are written with `to`. */
const MAPPED_KINDS = ["text", "phone", "email", "integer", "number", "boolean", "date", "timestamp", "list"] as const
export type MappedKind = (typeof MAPPED_KINDS)[number]

const ColumnEntry = Schema.Struct({
  /** The column's label; by default made of its slug. */
  label: optionalKey(Schema.String),
  description: optionalKey(Schema.String),
  /** The physical column, or several that are joined. Of a link table: its column that leads here. */
  from: Schema.Union([Schema.String, Schema.Array(Schema.String)]),
  kind: optionalKey(Schema.Literals(MAPPED_KINDS)),
  values: optionalKey(Schema.Array(Schema.String)),
  currency: optionalKey(Schema.String),
  timeZone: optionalKey(Schema.String),
  /** schema.table of a reference's target. */
  to: optionalKey(Schema.String),
  /** The link table of a relation to many, and its column that leads to the target. */
  through: optionalKey(Schema.String),
  via: optionalKey(Schema.String)
})
export type ColumnEntry = typeof ColumnEntry.Type

const WriteEntry = Schema.Struct({
  /** The columns that changes may set, by their names in `columns`. */
  columns: Schema.Array(Schema.String),
  /** Rows may be added with these columns; Postgres gives them their id. */
  create: optionalKey(Schema.Literal(true)),
  /** `row`: rows may be deleted. `set`: a deletion sets these physical columns, so that `where` no longer shows the row. */
  delete: optionalKey(
    Schema.Union([
      Schema.Literal("row"),
      Schema.Struct({ set: Schema.Record(Schema.String, Schema.Union([Schema.String, Schema.Boolean])) })
    ])
  ),
  /** schema.table of the tables whose rows a deleted row takes along or changes. */
  cascades: optionalKey(Schema.Array(Schema.String))
})
export type WriteEntry = typeof WriteEntry.Type

const TypeEntry = Schema.Struct({
  /** schema.table */
  table: Schema.String,
  /** The slug. */
  type: Schema.String,
  name: optionalKey(Schema.String),
  pluralName: optionalKey(Schema.String),
  description: optionalKey(Schema.String),
  /** Which rows are the organization's: those with its key in this column, or all of them (`exclusive`). */
  organization: optionalKey(Schema.String),
  exclusive: optionalKey(Schema.Boolean),
  id: Schema.String,
  where: optionalKey(Schema.Record(Schema.String, Schema.NullOr(Schema.Union([Schema.String, Schema.Boolean])))),
  columns: Schema.Record(Schema.String, ColumnEntry),
  /** What confirmed changes may write; without it the rows are read only. */
  write: optionalKey(WriteEntry)
})
export type TypeEntry = typeof TypeEntry.Type

const MappingFileSchema = Schema.Struct({ version: Schema.Literal(1), types: Schema.Array(TypeEntry) })
export type MappingFile = typeof MappingFileSchema.Type

/** What a mapping file may hold, so that it is read and refused in a bounded time; docs/your-tables.md names the limits. */
const LIMITS = {
  characters: 10_000_000,
  /** Of objects and lists, anywhere in the file. */
  nesting: 8,
  types: 3000,
  /** Columns of all types together. */
  columns: 60_000
}

/** The largest mapping file that is read, in characters. */
export const MAX_MAPPING_LENGTH = LIMITS.characters

const decode = Schema.decodeUnknownEffect(MappingFileSchema, { onExcessProperty: "error", errors: "all" })

/** Decodes the text of a mapping file; the error lists where it doesn't fit. */
export const readMappingFile = (text: string): Effect.Effect<MappingFile, OperatorError> =>
  Effect.gen(function* () {
    if (text.length > LIMITS.characters)
      return yield* refuse([`The file must have at most ${LIMITS.characters} characters.`])
    const json = yield* Effect.try({
      try: (): unknown => JSON.parse(text),
      catch: (error) => refuse([`This isn't JSON: ${(error as Error).message.slice(0, 120)}.`])
    })
    const beyond = beyondLimits(json)
    if (beyond !== undefined) return yield* refuse([beyond])
    const file = yield* decode(json).pipe(
      Effect.mapError((error) => refuse(String(error.message).split("\n").slice(0, 20)))
    )
    const seen = new Set<string>()
    const duplicate = file.types.find(({ type }) => seen.size === seen.add(type).size)
    return duplicate === undefined ? file : yield* refuse([`Two types are named ${quoted(duplicate.type)}.`])
  })

/** The limit that a file exceeds, before its schema is checked: that reports every fault. */
const beyondLimits = (file: unknown): string | undefined => {
  if (isNestedDeeper(file, LIMITS.nesting)) return `It must be nested at most ${LIMITS.nesting} levels deep.`
  const types = isJsonObject(file) && Array.isArray(file["types"]) ? file["types"] : []
  if (types.length > LIMITS.types) return `\`types\` must have at most ${LIMITS.types} entries.`
  const columns = types.reduce<number>(
    (sum, type: unknown) =>
      sum + (isJsonObject(type) && isJsonObject(type["columns"]) ? Object.keys(type["columns"]).length : 0),
    0
  )
  return columns > LIMITS.columns
    ? `The types of the file must have at most ${LIMITS.columns} columns together.`
    : undefined
}

const refuse = (details: ReadonlyArray<string>) => new OperatorError({ message: "This isn't a mapping file.", details })

/** What is stored with a version: its entry, and the physical columns of the relation when it was mapped. */
const MappingDocument = Schema.Struct({ entry: TypeEntry, seen: Schema.Array(Schema.String) })
export type MappingDocument = typeof MappingDocument.Type

export const decodeDocument = Schema.decodeUnknownSync(MappingDocument)
