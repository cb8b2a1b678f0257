/** Exports: what a caller may see, as a file. */
import { Schema } from "effect"
import * as HttpApiSchema from "effect/http-api/HttpApiSchema"
import { EntitiesQuery } from "./lookup.ts"

const { optionalKey } = Schema

export const ExportQuery = Schema.Struct({
  entityTypeId: Schema.String,
  /** As in findEntities. */
  filters: optionalKey(EntitiesQuery.fields.filters),
  selectColumns: optionalKey(
    Schema.Array(Schema.String).annotate({
      description: "At most 20; by default the first 20 columns that the caller may see"
    })
  ),
  byteOrderMark: optionalKey(
    Schema.Boolean.annotate({ description: "Begins the file with one, by which Excel recognizes UTF-8" })
  )
})
export type ExportQuery = typeof ExportQuery.Encoded

export const CsvFile = Schema.String.annotate({
  description: "RFC 4180. A file that ends early says so in its last line."
}).pipe(HttpApiSchema.asText({ contentType: "text/csv" }))
