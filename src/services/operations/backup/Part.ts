/**
 * What a backup is made of, in this order: what it contains, then the rows of each table and what they must add up to,
 * then the end, without which it isn't whole. A row is its text as Postgres writes it (`(1,Ada,,"a ""b""")`), so that
 * every type that there is or will be comes back as it was.
 */
import { Schema } from "effect"
import { TableShape } from "./TableShape.ts"

/** The format that this program writes and the newest that it reads. */
export const FORMAT = 1

export const Part = Schema.TaggedUnion({
  Contents: {
    format: Schema.Int,
    /** The schema that the rows are in: they are restored into the same, and then brought up to date. */
    schemaVersion: Schema.Int,
    /** ISO 8601, UTC. */
    takenAt: Schema.String,
    tables: Schema.Array(TableShape)
  },
  /** Some rows of a table, by its place among the tables. */
  Rows: { table: Schema.Int, rows: Schema.Array(Schema.String) },
  /** A table is complete: how many rows it has, and the sum of their hashes. */
  Sum: { table: Schema.Int, rows: Schema.Int, checksum: Schema.String },
  End: { rows: Schema.Int }
})
export type Part = typeof Part.Type
export type Contents = Extract<Part, { readonly _tag: "Contents" }>
