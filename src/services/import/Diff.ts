/** What a dry run would change, against what is there: counts by column, and the first few rows as examples. */
import { DISPLAY_NAME } from "../../domain/EntityType.ts"
import type { Batch } from "./BatchReader.ts"
import type { Fields } from "./bindFields.ts"
import type { ImportFile } from "./readers/ImportFile.ts"
import type { Outcomes } from "./Outcomes.ts"
import { writtenOnes } from "./statements.ts"

const MAX_EXAMPLES = 5

interface Example {
  readonly file: string
  readonly line: number
  readonly id?: string
  readonly name: string
}

interface Change {
  readonly column: string
  /** Texts of the values; references have none here. */
  readonly was?: string | null
  readonly now?: string | null
}

export interface Preview {
  /** How many rows would change in a column. */
  readonly columns: ReadonlyArray<{ readonly column: string; readonly rows: number }>
  readonly examples: {
    readonly new: ReadonlyArray<Example>
    readonly changed: ReadonlyArray<Example & { readonly columns: ReadonlyArray<Change> }>
  }
}

interface Difference {
  readonly external_id: string
  readonly places: ReadonlyArray<number>
  readonly was: ReadonlyArray<string | null>
  readonly now: ReadonlyArray<string | null>
}

export class Diff {
  private readonly columns = new Map<string, number>()
  private readonly added: Array<Example> = []
  private readonly changed: Array<Example & { readonly columns: ReadonlyArray<Change> }> = []

  /** Notes a batch that was written, with how it differed from what was there before. */
  note(file: ImportFile, fields: Fields, batch: Batch, differences: ReadonlyArray<Difference>, outcomes: Outcomes) {
    const places = placesOf(fields)
    const unmade = fields.values.filter(({ physical }) => physical.length === 0)
    const byId = new Map(differences.map((difference) => [difference.external_id, difference]))
    for (const [row, number] of batch.numbers.entries()) {
      if (outcomes.isInserted(number)) {
        if (this.added.length < MAX_EXAMPLES) this.added.push(exampleOf(file, fields, batch, row))
        continue
      }
      const difference = byId.get(batch.externalIds[row] ?? "")
      const changes = [
        ...changesOf(difference, places),
        ...unmade
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

  /** Notes rows whose references to many changed. */
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

interface Place {
  readonly slug: string
  readonly reference: boolean
}

/** The columns that a difference speaks of by place, in the statement's order; the keys beside values are nobody's business. */
const placesOf = (fields: Fields): ReadonlyArray<Place | undefined> => [
  ...fields.values.flatMap(({ column, physical }) =>
    physical.map((_, part) => (part === 0 ? { slug: column.slug, reference: false } : undefined))
  ),
  ...writtenOnes(fields).map(({ column }) => ({ slug: column.slug, reference: true }))
]

const changesOf = (
  difference: Difference | undefined,
  places: ReadonlyArray<Place | undefined>
): ReadonlyArray<Change> =>
  difference === undefined
    ? []
    : difference.places.flatMap((at, index): ReadonlyArray<Change> => {
        const place = places[at]
        if (place === undefined) return []
        return [
          place.reference
            ? { column: place.slug }
            : { column: place.slug, was: difference.was[index]!, now: difference.now[index]! }
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
