/**
 * Rows that a change has added to mapped tables. Their ids are the database's, so that a document, which is sealed before it is applied,
 * has others in their place. What was made is stored beside it.
 */
import { Schema } from "effect"
import { randomUUID } from "node:crypto"
import type { ChangeDocument } from "../../domain/Change.ts"
import type { Column, EntityType } from "../../domain/EntityType.ts"
import { nextId } from "../../domain/ids.ts"
import { canonicalJson, documentOf, sha256 } from "./document.ts"

/** By the id in the document: the row's id, and the digest of the row as it was added. */
export const Made = Schema.Record(Schema.String, Schema.Struct({ entity: Schema.String, row: Schema.String }))
export type Made = typeof Made.Type

/** The id of a row that is to be added; of a mapped type, one that stands for it in the document. */
export const idForNew = ({ mapping }: EntityType): string =>
  mapping?.id.type === "uuid" ? randomUUID() : nextId().toString()

/** What Max reads of a row, for comparison: of a deletion, that is what was shown. */
export const rowDigest = (columns: ReadonlyArray<Column>, texts: ReadonlyArray<string | null>): string =>
  sha256(canonicalJson(Object.fromEntries(columns.map(({ key }, index) => [key, texts[index] ?? null]))))

/** The document of a stored change with the ids that its new rows have; undefined once its values are erased. */
export const madeDocument = (stored: {
  readonly document: string | null
  readonly digest: string
  readonly made: Made | null
}): ChangeDocument | undefined => {
  const document = documentOf(stored)
  const { made } = stored
  return document === undefined || made === null
    ? document
    : {
        ...document,
        steps: document.steps.map((step) => ({ ...step, entity: made[step.entity]?.entity ?? step.entity }))
      }
}
