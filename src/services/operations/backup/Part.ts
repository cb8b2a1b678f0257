/**
 * The parts of a backup, in order: the contents, then for each table its rows and their checksum, then the end. A row is
 * in Postgres' composite text format (`(1,Ada,,"a ""b""")`), so that values of every type are restored exactly.
 */
import { Schema } from "effect"
import { TableShape } from "./TableShape.ts"

/** The format that this version writes, and the newest that it reads. */
export const FORMAT = 1

export const Part = Schema.TaggedUnion({
  Contents: {
    format: Schema.Int,
    /** The schema version of the rows. They are restored into that schema, which is then migrated. */
    schemaVersion: Schema.Int,
    /** ISO 8601, UTC. */
    takenAt: Schema.String,
    tables: Schema.Array(TableShape)
  },
  /** A chunk of rows; `table` is an index into the contents' tables. */
  Rows: { table: Schema.Int, rows: Schema.Array(Schema.String) },
  /** Ends a table: its number of rows and the sum of their hashes. */
  Sum: { table: Schema.Int, rows: Schema.Int, checksum: Schema.String },
  End: { rows: Schema.Int }
})
export type Part = typeof Part.Type
export type Contents = Extract<Part, { readonly _tag: "Contents" }>
