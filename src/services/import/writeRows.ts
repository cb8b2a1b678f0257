/** What is written: every row of the files in a first pass, references to rows of the same files in a second where needed. */
import type { PgClient } from "@effect/sql-pg"
import { Effect, Stream } from "effect"
import type { Column, EntityType, Organization } from "../../domain/EntityType.ts"
import { quoted } from "../../domain/text.ts"
import { BadRows } from "./BadRows.ts"
import {
  addProblem,
  type Batch,
  BatchReader,
  type KnownProblems,
  type Problems,
  withoutProblems
} from "./BatchReader.ts"
import { Diff } from "./Diff.ts"
import { fault, word } from "./faults.ts"
import type { Fields, ReferenceField, Target } from "./bindFields.ts"
import type { ImportFile } from "./readers/ImportFile.ts"
import { Outcomes } from "./Outcomes.ts"
import { ID } from "./planImport.ts"
import type { FileRecord } from "./readers/FileRecord.ts"
import { makeReferences, type References } from "./resolveReferences.ts"
import { SeenIds } from "./SeenIds.ts"
import { warningsOf } from "./warnings.ts"
import { compare, type Destination, entityIds, upsert, writeLinks, writeReference } from "./statements.ts"

/** Where rows go, and how. */
export interface Writing {
  readonly sql: PgClient.PgClient
  readonly organization: Organization
  readonly type: EntityType
  readonly files: ReadonlyArray<{ readonly file: ImportFile; readonly fields: Fields }>
  /** Leaves bad rows out instead of failing. */
  readonly skipBad: boolean
  /** Notes what is different from what was there. */
  readonly compared: boolean
  readonly onBatch: (file: ImportFile, rows: number) => void
}

/** Rows that were written were found to be bad at the end: everything is taken back and written without them. */
class Again {
  readonly _tag = "Again"
  readonly found: Found
  constructor(found: Found) {
    this.found = found
  }
}

/** What earlier passes found out about bad rows. */
interface Found {
  readonly problems: KnownProblems
  readonly hint: string | undefined
}

/** Each time, what referred to a row that is left out is left out as well: so deep may rows hang on one another. */
const MAX_ROUNDS = 20

/** Writes the rows of the files, for use inside a transaction. */
export const writeRows = Effect.fnUntraced(function* (writing: Writing) {
  let found: Found = { problems: new Map(), hint: undefined }
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const pass = writePass(writing, found)
    const outcome = yield* (writing.skipBad ? writing.sql.withTransaction(pass) : pass).pipe(
      Effect.catchTag("Again", (again) => Effect.succeed(again))
    )
    if (!(outcome instanceof Again)) return outcome
    found = outcome.found
  }
  return yield* fault("Too many rows refer to rows that are bad themselves. Mend those first")
})

/** One pass over all of the files, and what came of their rows so far. */
interface Pass {
  readonly writing: Writing
  readonly bad: BadRows
  readonly outcomes: Outcomes
  readonly diff: Diff | undefined
  /** What is wrong with rows that were already written. */
  readonly late: Map<number, ReadonlyArray<string>>
}

/** One file of a pass. */
interface Run extends Pass {
  readonly file: ImportFile
  readonly destination: Destination
  readonly fields: Fields
  /** The references to records of the type that is imported. */
  readonly own: ReadonlyArray<ReferenceField>
  readonly references: References
  /** The number of the file's first row. */
  readonly first: number
}

const writePass = Effect.fnUntraced(function* (writing: Writing, { hint, problems }: Found) {
  const { compared, files, onBatch, skipBad } = writing
  const pass: Pass = {
    writing,
    bad: new BadRows(
      files.map(({ file }) => file),
      skipBad
    ),
    outcomes: new Outcomes(),
    diff: compared ? new Diff() : undefined,
    late: new Map()
  }
  const { bad, diff, late, outcomes } = pass
  bad.hint = hint
  const seen = new SeenIds()
  const runs: Array<Run> = []
  const warnings: Array<string> = []
  for (const { fields, file } of files) {
    const destination: Destination = { ...writing, fields }
    const references = makeReferences(destination)
    const own = fields.references.filter((field) => field.self)
    const run: Run = { ...pass, file, destination, fields, own, references, first: outcomes.rows }
    seen.begin(file)
    const reader = new BatchReader(fields, outcomes, seen, problems)
    yield* file.batches.pipe(
      Stream.map((records) => reader.read(records)),
      // The next batch is read while the database writes this one.
      Stream.buffer({ capacity: 1 }),
      Stream.runForEach((batch) =>
        Effect.andThen(
          writeBatch(run, batch),
          Effect.sync(() => onBatch(file, batch.records.length))
        )
      )
    )
    if (outcomes.rows === run.first) return yield* fault(`${file.name} has headers, but no rows`)
    runs.push(run)
    warnings.push(...warningsOf(file, fields, reader.keyless))
  }
  if (bad.rows.length > 0 && !skipBad) return yield* bad.error()
  yield* Effect.forEach(runs, settle, { discard: true })
  if (late.size > 0) {
    if (!skipBad) return yield* bad.error()
    return yield* Effect.fail(new Again({ problems: new Map([...problems, ...late]), hint: bad.hint }))
  }
  return { counts: outcomes.counts(), warnings, bad, preview: diff?.preview() }
})

/** The first pass: a batch's rows, with the references to what is already there. */
const writeBatch = Effect.fnUntraced(function* (run: Run, all: Batch) {
  const { destination, diff, fields, file, outcomes, own, references, writing } = run
  for (const [number, field] of fields.references.entries()) yield* references.resolve(field, all.keys[number]!)
  const found = fields.references.map((field, number) => targetsOf(run, field, all, all.keys[number]!, false))
  yield* report(run, all)
  // With a row that is bad nothing will be written: from here on the rows are only read, for all that is wrong with them.
  if (run.bad.rows.length > 0 && !writing.skipBad) return
  const batch = withoutProblems(all)
  const targets = found.map((some) => some.filter((_, row) => !all.problems.has(row)))
  const ones = targets.flatMap((some, number) => {
    const { storage, unmade } = fields.references[number]!
    return storage._tag === "One" && !unmade ? [some.map((ids) => ids?.[0] ?? null)] : []
  })
  const differences = diff !== undefined && fields.id !== undefined ? yield* compare(destination, batch, ones) : []
  markWritten(outcomes, batch, yield* upsert(destination, batch, ones))
  diff?.note(file, fields, batch, differences, outcomes)
  if (fields.id === undefined && own.length > 0) outcomes.keep(batch.numbers, batch.ids)
  if (!fields.references.some(({ storage }) => storage._tag === "Many")) return
  const ids = fields.id === undefined ? batch.ids : yield* entityIds(destination, batch.externalIds)
  for (const [number, { column, storage }] of fields.references.entries()) {
    if (storage._tag !== "Many") continue
    const changed = yield* writeLinks(destination, storage, ids, targets[number]!)
    noteChanged(run, column, batch.numbers, ids, changed)
  }
})

/** The second pass, where one is needed: references of rows to rows of the same files, now that all are there. */
const settle = Effect.fnUntraced(function* (run: Run) {
  const { file, first, outcomes, own, references } = run
  if (own.length === 0) return
  const every = yield* references.moved(own)
  if (!every && !outcomes.postponed) return
  for (const field of own) field.known.clear()
  let row = first
  yield* Stream.runForEach(file.batches, (records) => {
    const from = row
    row += records.length
    return writePostponed(run, from, records, every)
  })
})

const writePostponed = Effect.fnUntraced(function* (
  run: Run,
  first: number,
  all: ReadonlyArray<FileRecord>,
  every: boolean
) {
  const { destination, fields, outcomes, own, references } = run
  const rows = all
    .map((_, row) => row)
    .filter((row) => !outcomes.isLeftOut(first + row) && (every || outcomes.isPostponed(first + row)))
  if (rows.length === 0) return
  const numbers = rows.map((row) => first + row)
  const records = rows.map((row) => all[row]!)
  const problems: Problems = new Map()
  const keys = own.map((field) =>
    records.map(({ cells }) => {
      const read = field.read(cells[field.index])
      return typeof read === "string" ? [] : read
    })
  )
  for (const [number, field] of own.entries()) yield* references.resolve(field, keys[number]!)
  const targets = own.map((field, number) => targetsOf(run, field, { numbers, records, problems }, keys[number]!, true))
  yield* report(run, { numbers, records, problems })
  for (const [row, found] of problems) run.late.set(numbers[row]!, found)
  if (run.late.size > 0) return
  const ids =
    fields.id === undefined
      ? numbers.map((number) => outcomes.kept(number))
      : yield* entityIds(
          destination,
          records.map(({ cells }) => fields.id!.read(cells[fields.id!.index]) as string)
        )
  for (const [number, { column, storage, unmade }] of own.entries()) {
    if (unmade) continue
    const found = targets[number]!
    const changed =
      storage._tag === "Many"
        ? yield* writeLinks(destination, storage, ids, found)
        : yield* writeReference(
            destination,
            storage,
            ids,
            found.map((some) => some![0] ?? null)
          )
    noteChanged(run, column, numbers, ids, changed)
  }
})

/** The entities that a field's keys refer to, row by row; undefined where that is found out at the end. */
const targetsOf = (
  { bad, outcomes }: Run,
  field: ReferenceField,
  { numbers, problems, records }: Pick<Batch, "numbers" | "records" | "problems">,
  keysByRow: ReadonlyArray<ReadonlyArray<string> | undefined>,
  last: boolean
) =>
  // A row that couldn't be read has no keys.
  records.map((record, row) => {
    const targets: Array<bigint> = []
    for (const key of keysByRow[row] ?? []) {
      const found = field.known.get(key)!
      if (typeof found === "bigint") targets.push(found)
      else if (field.self && !last) {
        outcomes.postpone(numbers[row]!)
        return undefined
      } else {
        const written = field.written(record.cells[field.index], key)
        addProblem(problems, row, field.header, unresolved(bad, field, written, found))
      }
    }
    return targets
  })

const unresolved = (
  bad: BadRows,
  { by, column, header, said, target }: ReferenceField,
  written: string,
  found: Target
): string => {
  if (!said)
    bad.hint = `${quoted(header).slice(1, -1)} was read as ids of ${target.slug}. To go by another column of theirs: --map ${word(header)}=${column.slug}:${target.slug}.name`
  return `${found === "none" ? "none" : "more than one"} of the ${target.pluralName.toLowerCase()} has the ${by?.slug ?? ID} ${quoted(written)}`
}

/** Adds what is wrong with rows to the bad ones, in the file's order; with too many of them the import ends. */
const report = Effect.fnUntraced(function* (
  { bad, file, outcomes }: Run,
  { numbers, problems, records }: Pick<Batch, "numbers" | "records" | "problems">
) {
  for (const [row, found] of [...problems].sort(([a], [b]) => a - b)) {
    bad.add(file, records[row]!.line, found)
    outcomes.leaveOut(numbers[row]!)
    if (bad.full) return yield* bad.error()
  }
})

const markWritten = (
  outcomes: Outcomes,
  batch: Batch,
  written: ReadonlyArray<{ readonly id: bigint; readonly external_id?: string }>
) => {
  const byId = new Map(batch.ids.map((id, row) => [id, row]))
  const byExternalId = new Map(batch.externalIds.map((id, row) => [id, row]))
  for (const { external_id, id } of written) {
    const inserted = byId.get(id)
    outcomes.mark(
      batch.numbers[inserted ?? byExternalId.get(external_id!)!]!,
      inserted === undefined ? "updated" : "inserted"
    )
  }
}

/** Notes rows, which have these numbers and ids, whose references in a column have changed. */
const noteChanged = (
  { diff, outcomes }: Run,
  column: Column,
  numbers: ReadonlyArray<number>,
  ids: ReadonlyArray<bigint>,
  changed: ReadonlyArray<{ readonly id: bigint }>
) => {
  const byId = new Map(ids.map((id, row) => [id, numbers[row]!]))
  const rows = changed.map(({ id }) => byId.get(id)!)
  for (const row of rows) outcomes.mark(row, "updated")
  diff?.count(column.slug, rows.filter((row) => !outcomes.isInserted(row)).length)
}
