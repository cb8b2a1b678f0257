/** Records → batches: the rows' values column by column, and what is wrong with each row. */
import { nextId } from "../../domain/ids.ts"
import { quoted } from "../../domain/text.ts"
import { type Fields, readId } from "./fields.ts"
import type { Outcomes } from "./Outcomes.ts"
import type { Cell, FileRecord } from "./record.ts"
import { SeenIds } from "./SeenIds.ts"

/** What is wrong with rows, by row within the batch. */
export type Problems = Map<number, Array<string>>

/** A batch of rows, column by column. */
export interface Batch {
  readonly first: number
  readonly records: ReadonlyArray<FileRecord>
  /** The ids that rows get if they are new. */
  readonly ids: ReadonlyArray<bigint>
  readonly externalIds: Array<string | null>
  /** Texts by physical column. */
  readonly values: ReadonlyArray<Array<string | null>>
  /** Keys by reference field. */
  readonly keys: ReadonlyArray<Array<ReadonlyArray<string>>>
  readonly problems: Problems
}

export const addProblem = (problems: Problems, row: number, header: string, problem: string) => {
  const known = problems.get(row)
  const text = `${quoted(header).slice(1, -1)}: ${problem}`
  if (known === undefined) problems.set(row, [text])
  else known.push(text)
}

/** Reads a file's batches, in their order. */
export class BatchReader {
  private readonly headers: ReadonlyArray<string>
  private readonly fields: Fields
  private readonly outcomes: Outcomes
  private readonly seen = new SeenIds()
  /** By value field: how many of its texts have no key. */
  readonly keyless: Array<number>

  constructor(headers: ReadonlyArray<string>, fields: Fields, outcomes: Outcomes) {
    this.headers = headers
    this.fields = fields
    this.outcomes = outcomes
    this.keyless = fields.values.map(() => 0)
  }

  read(records: ReadonlyArray<FileRecord>): Batch {
    const batch: Batch = {
      first: this.outcomes.begin(records.length),
      records,
      ids: records.map(() => nextId()),
      externalIds: [],
      values: this.fields.values.flatMap((field) => field.physical.map(() => [])),
      keys: this.fields.references.map(() => []),
      problems: new Map()
    }
    for (const [row, { cells, line, problem }] of records.entries()) {
      if (problem !== undefined) {
        batch.problems.set(row, [problem])
        continue
      }
      this.readId(batch, row, cells, line)
      this.readValues(batch, row, cells)
      this.readKeys(batch, row, cells)
    }
    return batch
  }

  private readId(batch: Batch, row: number, cells: ReadonlyArray<Cell>, line: number) {
    const index = this.fields.id
    if (index === undefined) return
    const header = this.headers[index]!
    const id = readId(cells[index])
    if (typeof id !== "string") return addProblem(batch.problems, row, header, id.problem)
    const before = this.seen.see(id, line)
    if (before === undefined) batch.externalIds[row] = id
    else addProblem(batch.problems, row, header, `${quoted(id)} is on line ${before} too`)
  }

  private readValues(batch: Batch, row: number, cells: ReadonlyArray<Cell>) {
    let at = 0
    for (const [number, field] of this.fields.values.entries()) {
      const read = field.read(cells[field.index])
      if (typeof read === "string") addProblem(batch.problems, row, field.header, read)
      else {
        for (let part = 0; part < read.length; part++) batch.values[at + part]![row] = read[part]!
        if (field.keyless !== undefined && read[0] !== null && read[1] === null) this.keyless[number]!++
      }
      at += field.physical.length
    }
  }

  private readKeys(batch: Batch, row: number, cells: ReadonlyArray<Cell>) {
    for (const [number, field] of this.fields.references.entries()) {
      const read = field.read(cells[field.index])
      if (typeof read === "string") addProblem(batch.problems, row, field.header, read)
      batch.keys[number]![row] = typeof read === "string" ? [] : read
    }
  }
}
