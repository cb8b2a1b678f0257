/** Pages of a lookup as lines of CSV. */
import type { Column } from "../../domain/EntityType.ts"
import type { Entity, Group, Page, ReferenceCell } from "../../domain/Page.ts"
import { type Field, header, line, type Value } from "../operations/export/cells.ts"

/** A column of the file, and its cell of an entity. */
interface Written extends Field {
  readonly of: (entity: Entity) => Value
}

type Related = ReadonlyArray<ReferenceCell | { readonly more: true }>

const related = (cell: unknown): Related => (Array.isArray(cell) ? cell : [cell as ReferenceCell])

const each = (cell: unknown, text: (one: ReferenceCell) => string): Value =>
  cell === undefined ? null : related(cell).map((one) => ("more" in one ? "…" : text(one)))

const TEXT = { kind: "text" } as const

const NUMBER = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?(?: [A-Z]{3})?$/i

const asValue = (cell: unknown): Value =>
  cell === undefined ? null : Array.isArray(cell) ? cell.map(String) : String(cell)

/** A line whose numbers are quoted as text is unless they are numbers, at most with a currency code. */
const guardedLine = (fields: ReadonlyArray<Field>, values: ReadonlyArray<Value>): string =>
  line(
    fields.map((field, index) =>
      (field.kind === "number" || field.kind === "integer") && !NUMBER.test(String(values[index] ?? 0))
        ? { ...field, ...TEXT }
        : field
    ),
    values,
    "csv"
  )

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

export const csvOf = (columns: ReadonlyArray<Column>): Csv => {
  const fields: ReadonlyArray<Written> = [
    { header: "id", kind: "text", of: ({ entityId }) => entityId },
    ...columns.flatMap(written)
  ]
  const lineOf = (entity: Entity): string =>
    guardedLine(
      fields,
      fields.map((field) => field.of(entity))
    )
  return {
    header: header(fields, "csv"),
    lines: ({ entities }) => entities.map(lineOf).join(""),
    remark: (text) => remarkLine(fields, text)
  }
}

const remarkLine = (fields: ReadonlyArray<Field>, text: string): string =>
  line(
    fields.map((field) => ({ ...field, ...TEXT })),
    [text],
    "csv"
  )

/** Groups as CSV, and a remark below them: one line per group, and one more, without its count, for each further currency. */
export const groupsCsv = ({ groups = [], headings = [] }: Page, remark?: string): string => {
  const keys = headings.filter((heading) => heading.startsWith("by "))
  const figures = headings.filter((heading) => !heading.startsWith("by "))
  const shares = (["share", "change"] as const).filter((name) => groups.some((group) => group[name] !== undefined))
  const texts = keys.flatMap((heading) => [heading.slice(3), `${heading.slice(3)}.id`])
  const numbers = ["count", ...shares.map((name) => `${name} %`)]
  const fields: ReadonlyArray<Field> = [
    ...texts.map((text) => ({ header: text, ...TEXT })),
    ...numbers.map((text) => ({ header: text, kind: "number" as const })),
    ...figures.flatMap((figure) => [
      { header: figure, kind: "number" as const },
      { header: `${figure} currency`, ...TEXT }
    ])
  ]
  const linesOf = ({ change, count, figures: cells = [], keys: named, share }: Group): string => {
    const values = { share, change }
    const lines = Math.max(1, ...cells.map(({ length }) => length))
    return Array.from({ length: lines }, (_, index) =>
      guardedLine(fields, [
        ...named.flatMap(({ id, value }) => [value ?? null, id ?? null]),
        ...(index > 0 ? numbers.map(() => null) : [String(count), ...shares.map((name) => asValue(values[name]))]),
        ...figures.flatMap((_, figure) => {
          const cell = cells[figure]?.[index]
          return [cell?.value ?? null, cell?.unit ?? null]
        })
      ])
    ).join("")
  }
  return header(fields, "csv") + groups.map(linesOf).join("") + (remark === undefined ? "" : remarkLine(fields, remark))
}
