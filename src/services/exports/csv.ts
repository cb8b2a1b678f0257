/** Pages of a lookup as lines of CSV. */
import type { Column } from "../../domain/EntityType.ts"
import type { Entity, Page, ReferenceCell } from "../../domain/Page.ts"
import { type Field, header, line, type Value } from "../operations/export/cells.ts"

/** A column of the file, and its cell of an entity. */
interface Written extends Field {
  readonly of: (entity: Entity) => Value
}

type Related = ReadonlyArray<ReferenceCell | { readonly more: true }>

const related = (cell: unknown): Related => (Array.isArray(cell) ? cell : [cell as ReferenceCell])

const each = (cell: unknown, text: (one: ReferenceCell) => string): Value =>
  cell === undefined ? null : related(cell).map((one) => ("more" in one ? "…" : text(one)))

const NUMBER = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?(?: [A-Z]{3})?$/i

/** A cell as text; a number with a unit that isn't a currency code is quoted as text is. */
const asValue = (cell: unknown): Value =>
  cell === undefined ? null : Array.isArray(cell) ? cell.map(String) : String(cell)

/** The columns of the file. A relation has two: ids, and names (`owner.name`). */
const written = ({ kind, slug }: Column): ReadonlyArray<Written> => {
  const cell = ({ columns }: Entity) => columns?.[slug]
  if (kind !== "reference" && kind !== "references")
    return [{ header: slug, kind, of: (entity) => asValue(cell(entity)) }]
  return [
    { header: slug, kind: "text", of: (entity) => each(cell(entity), ({ id }) => id) },
    { header: `${slug}.name`, kind: "text", of: (entity) => each(cell(entity), ({ name = "" }) => name) }
  ]
}

export interface Csv {
  readonly header: string
  readonly lines: (page: Page) => string
  /** A sentence about the file as a line of its own. */
  readonly remark: (text: string) => string
}

const TEXT = { kind: "text" } as const

export const csvOf = (columns: ReadonlyArray<Column>): Csv => {
  const fields: ReadonlyArray<Written> = [
    { header: "id", kind: "text", of: ({ entityId }) => entityId },
    ...columns.flatMap(written)
  ]
  const numeric = fields.map(({ kind }) => kind === "number" || kind === "integer")
  const asText = fields.map((field) => ({ ...field, ...TEXT }))
  const lineOf = (entity: Entity): string => {
    const values = fields.map((field) => field.of(entity))
    const guarded = fields.map((field, index) =>
      numeric[index] && !NUMBER.test(String(values[index] ?? 0)) ? asText[index]! : field
    )
    return line(guarded, values, "csv")
  }
  return {
    header: header(fields, "csv"),
    lines: ({ entities }) => entities.map(lineOf).join(""),
    remark: (text) => line(asText, [text], "csv")
  }
}
