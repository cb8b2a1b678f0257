/** Records → batches: the values of rows by column, and the problems of each row. */
import { nextId } from "../../domain/ids.ts"
import { quoted } from "../../domain/text.ts"
import type { Fields } from "./bindFields.ts"
import type { Outcomes } from "./Outcomes.ts"
import type { Cell, FileRecord } from "./readers/FileRecord.ts"
import type { SeenIds } from "./SeenIds.ts"

/** Problems by row within the batch. */
export type Problems = Map<number, Array<string>>

/** Problems that an earlier pass found, by the row's number among all that are imported. */
export type KnownProblems = ReadonlyMap<number, ReadonlyArray<string>>

/** A batch of rows by column. */
export interface Batch {
  /** The numbers of the rows among all that are imported. */
  readonly numbers: ReadonlyArray<number>
  readonly records: ReadonlyArray<FileRecord>
  /** The entity ids of rows that turn out to be new. */
  readonly ids: ReadonlyArray<bigint>
  readonly externalIds: Array<string | null>
  /** Texts by physical column. */
  readonly values: ReadonlyArray<Array<string | null>>
  /** Keys by reference field. */
  readonly keys: ReadonlyArray<Array<ReadonlyArray<string>>>
  readonly problems: Problems
}

export const addProblem = (problems: Problems, row: number, header: string, problem: string) => {
  const existing = problems.get(row)
  const text = `${quoted(header).slice(1, -1)}: ${problem}`
  if (existing === undefined) problems.set(row, [text])
  else existing.push(text)
}

/** The rows of a batch that have no problems. */
export const withoutProblems = (batch: Batch): Batch => {
  if (batch.problems.size === 0) return batch
  const good = <A>(all: ReadonlyArray<A>): Array<A> =>
    batch.numbers.flatMap((_, row) => (batch.problems.has(row) ? [] : [all[row]!]))
  return {
    numbers: good(batch.numbers),
    records: good(batch.records),
    ids: good(batch.ids),
    externalIds: good(batch.externalIds),
    values: batch.values.map(good),
    keys: batch.keys.map(good),
    problems: new Map()
  }
}

/** Reads the batches of a file in order. */
export class BatchReader {
  private readonly fields: Fields
  private readonly outcomes: Outcomes
  private readonly seen: SeenIds
  private readonly earlier: KnownProblems
  /** By value field: how many of its texts have no search key. */
  readonly keyless: Array<number>

  constructor(fields: Fields, outcomes: Outcomes, seen: SeenIds, earlier: KnownProblems) {
    this.fields = fields
    this.outcomes = outcomes
    this.seen = seen
    this.earlier = earlier
    this.keyless = fields.values.map(() => 0)
  }

  read(records: ReadonlyArray<FileRecord>): Batch {
    const first = this.outcomes.begin(records.length)
    const batch: Batch = {
      numbers: records.map((_, row) => first + row),
      records,
      ids: records.map(() => nextId()),
      externalIds: [],
      values: this.fields.values.flatMap((field) => field.physical.map(() => [])),
      keys: this.fields.references.map(() => []),
      problems: new Map()
    }
    for (const [row, { cells, line, problem }] of records.entries()) {
      const problems = problem === undefined ? this.earlier.get(first + row) : [problem]
      if (problems !== undefined) {
        batch.problems.set(row, [...problems])
        continue
      }
      this.readId(batch, row, cells, line)
      this.readValues(batch, row, cells)
      this.readKeys(batch, row, cells)
    }
    return batch
  }

  private readId(batch: Batch, row: number, cells: ReadonlyArray<Cell>, line: number) {
    if (this.fields.id === undefined) return
    const { header, index, read } = this.fields.id
    const id = read(cells[index])
    if (typeof id !== "string") return addProblem(batch.problems, row, header, id.problem)
    const before = this.seen.add(id, line)
    if (before === undefined) batch.externalIds[row] = id
    else addProblem(batch.problems, row, header, `${quoted(id)} is on ${before} too`)
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
