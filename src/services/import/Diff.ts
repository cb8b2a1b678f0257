/** What an import would change: counts by column, and the first few rows as examples. */
import { DISPLAY_NAME } from "../../domain/EntityType.ts"
import type { Batch } from "./BatchReader.ts"
import type { Fields } from "./bindFields.ts"
import type { ImportFile } from "./readers/ImportFile.ts"
import type { Outcomes } from "./Outcomes.ts"
import { singleReferences } from "./statements.ts"

const MAX_EXAMPLES = 5

interface Example {
  readonly file: string
  readonly line: number
  readonly id?: string
  readonly name: string
}

interface Change {
  readonly column: string
  /** Texts of the values; absent for references. */
  readonly was?: string | null
  readonly now?: string | null
}

export interface Preview {
  /** The number of rows that would change, by column. */
  readonly columns: ReadonlyArray<{ readonly column: string; readonly rows: number }>
  readonly examples: {
    readonly new: ReadonlyArray<Example>
    readonly changed: ReadonlyArray<Example & { readonly columns: ReadonlyArray<Change> }>
  }
}

export interface Difference {
  readonly external_id: string
  /** Positions of the columns that differ. */
  readonly positions: ReadonlyArray<number>
  readonly was: ReadonlyArray<string | null>
  readonly now: ReadonlyArray<string | null>
}

export class Diff {
  private readonly columns = new Map<string, number>()
  private readonly added: Array<Example> = []
  private readonly changed: Array<Example & { readonly columns: ReadonlyArray<Change> }> = []

  /** Adds a batch that was written, with its differences from the rows before. */
  add(file: ImportFile, fields: Fields, batch: Batch, differences: ReadonlyArray<Difference>, outcomes: Outcomes) {
    const columns = comparedColumns(fields)
    const pending = fields.values.filter(({ physical }) => physical.length === 0)
    const byId = new Map(differences.map((difference) => [difference.external_id, difference]))
    for (const [row, number] of batch.numbers.entries()) {
      if (outcomes.isInserted(number)) {
        if (this.added.length < MAX_EXAMPLES) this.added.push(exampleOf(file, fields, batch, row))
        continue
      }
      const difference = byId.get(batch.externalIds[row] ?? "")
      const changes = [
        ...changesOf(difference, columns),
        ...pending
          .filter(({ index }) => batch.records[row]!.cells[index] !== undefined)
          .map(({ column, index }): Change => ({
            column: column.slug,
            was: null,
            now: String(batch.records[row]!.cells[index] as string | ReadonlyArray<string>)
          }))
      ]
      if (changes.length === 0) continue
      outcomes.mark(number, "updated")
      for (const { column } of changes) this.count(column, 1)
      if (this.changed.length < MAX_EXAMPLES)
        this.changed.push({ ...exampleOf(file, fields, batch, row), columns: changes })
    }
  }

  /** Counts rows that would change in a column. */
  count(column: string, rows: number) {
    if (rows > 0) this.columns.set(column, (this.columns.get(column) ?? 0) + rows)
  }

  preview(): Preview {
    return {
      columns: [...this.columns].map(([column, rows]) => ({ column, rows })),
      examples: { new: this.added, changed: this.changed }
    }
  }
}

interface ComparedColumn {
  readonly slug: string
  readonly reference: boolean
}

/** The columns of `compare` in its order; undefined for search keys, which the preview doesn't show. */
const comparedColumns = (fields: Fields): ReadonlyArray<ComparedColumn | undefined> => [
  ...fields.values.flatMap(({ column, physical }) =>
    physical.map((_, part) => (part === 0 ? { slug: column.slug, reference: false } : undefined))
  ),
  ...singleReferences(fields).map(({ column }) => ({ slug: column.slug, reference: true }))
]

const changesOf = (
  difference: Difference | undefined,
  columns: ReadonlyArray<ComparedColumn | undefined>
): ReadonlyArray<Change> =>
  difference === undefined
    ? []
    : difference.positions.flatMap((position, index): ReadonlyArray<Change> => {
        const column = columns[position]
        if (column === undefined) return []
        return [
          column.reference
            ? { column: column.slug }
            : { column: column.slug, was: difference.was[index]!, now: difference.now[index]! }
        ]
      })

const exampleOf = (file: ImportFile, fields: Fields, { externalIds, records }: Batch, row: number): Example => {
  const name = fields.values.find(({ column }) => column.key === DISPLAY_NAME)!
  const { cells, line } = records[row]!
  const id = externalIds[row]
  return {
    file: file.name,
    line,
    ...(typeof id === "string" ? { id } : {}),
    name: String(cells[name.index] as string).trim()
  }
}
