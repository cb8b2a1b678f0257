/** Writes the rows of the files in a first pass, and their references to rows of the same files in a second one. */
import { Effect, Stream } from "effect"
import { BadRows } from "./BadRows.ts"
import { type Batch, BatchReader, type KnownProblems, type Problems, withoutProblems } from "./BatchReader.ts"
import { Diff } from "./Diff.ts"
import { fault } from "./faults.ts"
import { type FilePass, markWritten, noteChanged, type Pass, report, targetsOf, type Writing } from "./FilePass.ts"
import { Outcomes } from "./Outcomes.ts"
import type { FileRecord } from "./readers/FileRecord.ts"
import { addChangedCells, anyChanges, isKept, meet, meetCell, withoutKept } from "./peopleChanges.ts"
import { makeReferences } from "./resolveReferences.ts"
import { Remedies } from "./remedies.ts"
import { SeenIds } from "./SeenIds.ts"
import { warningsOf } from "./warnings.ts"
import { compare, type Destination, entityIds, upsert, writeLinks, writeReference } from "./statements.ts"

/** Rows that were already written turned out to be bad: the pass is rolled back and repeated without them. */
class Retry {
  readonly _tag = "Retry"
  readonly findings: Findings
  constructor(findings: Findings) {
    this.findings = findings
  }
}

/** What earlier attempts found out about bad rows. */
interface Findings {
  readonly problems: KnownProblems
  readonly hint: string | undefined
}

/** Each attempt leaves out the rows that refer to rows left out by the one before. */
const MAX_ATTEMPTS = 20

/** Writes the rows of the files, for use inside a transaction. */
export const writeRows = Effect.fnUntraced(function* (writing: Writing) {
  let findings: Findings = { problems: new Map(), hint: undefined }
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const pass = writePass(writing, findings)
    const outcome = yield* (writing.skipBad ? writing.sql.withTransaction(pass) : pass).pipe(
      Effect.catchTag("Retry", (retry) => Effect.succeed(retry))
    )
    if (!(outcome instanceof Retry)) return outcome
    findings = outcome.findings
  }
  return yield* fault("Too many rows refer to bad rows. Correct those first")
})

const writePass = Effect.fnUntraced(function* (writing: Writing, { hint, problems }: Findings) {
  const { compare: preview, files, onBatch, skipBad } = writing
  const remedies = yield* Remedies
  const pass: Pass = {
    writing,
    remedies,
    bad: new BadRows(
      files.map(({ file }) => file),
      skipBad
    ),
    outcomes: new Outcomes(),
    diff: preview ? new Diff() : undefined,
    lateProblems: new Map(),
    changed: (yield* anyChanges(writing)) ? new Map() : undefined,
    met: new Set(),
    keepChanges: writing.keepChanges
  }
  const { bad, diff, lateProblems, outcomes } = pass
  bad.hint = hint
  const seen = new SeenIds()
  const filePasses: Array<FilePass> = []
  const warnings: Array<string> = []
  for (const { fields, file } of files) {
    const destination: Destination = { ...writing, fields }
    const references = makeReferences(destination)
    const selfReferences = fields.references.filter((field) => field.self)
    const run: FilePass = { ...pass, file, destination, fields, selfReferences, references, first: outcomes.rows }
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
    filePasses.push(run)
    warnings.push(...warningsOf(file, fields, reader.keyless, remedies))
  }
  if (bad.rows.length > 0 && !skipBad) return yield* bad.error()
  yield* Effect.forEach(filePasses, secondPass, { discard: true })
  if (lateProblems.size > 0) {
    if (!skipBad) return yield* bad.error()
    return yield* Effect.fail(new Retry({ problems: new Map([...problems, ...lateProblems]), hint: bad.hint }))
  }
  return { counts: outcomes.counts(), warnings, bad, preview: diff?.preview(), met: pass.met.size }
})

/** The first pass: the rows of a batch, with references to existing rows. */
const writeBatch = Effect.fnUntraced(function* (run: FilePass, all: Batch) {
  const { destination, diff, fields, file, outcomes, references, selfReferences, writing } = run
  for (const [number, field] of fields.references.entries()) yield* references.resolve(field, all.keys[number]!)
  const resolved = fields.references.map((field, number) => targetsOf(run, field, all, all.keys[number]!, false))
  yield* report(run, all)
  // After a bad row nothing will be written: the remaining rows are read only to report their problems.
  if (run.bad.rows.length > 0 && !writing.skipBad) return
  const batch = withoutProblems(all)
  const targets = resolved.map((each) => each.filter((_, row) => !all.problems.has(row)))
  const ones = targets.flatMap((each, number) => {
    const { pending, storage } = fields.references[number]!
    return storage._tag === "One" && !pending ? [each.map((ids) => ids?.[0] ?? null)] : []
  })
  const keyed = fields.id !== undefined
  if (keyed && run.changed !== undefined) yield* addChangedCells(destination, batch.externalIds, run.changed)
  const isChanged = batch.externalIds.some((id) => run.changed?.has(id ?? "") === true)
  const differences = keyed && (diff !== undefined || isChanged) ? yield* compare(destination, batch, ones) : []
  const kept = isChanged ? meet(run, fields, differences) : []
  markWritten(outcomes, batch, yield* upsert(destination, batch, ones, kept))
  diff?.add(file, fields, batch, kept.length === 0 ? differences : withoutKept(differences, kept), outcomes)
  if (fields.id === undefined && selfReferences.length > 0) outcomes.storeIds(batch.numbers, batch.ids)
  if (!fields.references.some(({ storage }) => storage._tag === "Many")) return
  const ids = fields.id === undefined ? batch.ids : yield* entityIds(destination, batch.externalIds)
  for (const [number, { column, storage }] of fields.references.entries()) {
    if (storage._tag !== "Many") continue
    const unkept = targets[number]!.map((each, row) => (isKept(run, column, batch.externalIds[row]) ? undefined : each))
    const changed = yield* writeLinks(destination, storage, ids, unkept)
    noteChanged(run, column, batch.numbers, ids, changed)
    for (const { id } of changed) meetCell(run, column.key, batch.externalIds[ids.indexOf(id)])
  }
})

/** The second pass: references to rows of the same files, now that all rows are written. */
const secondPass = Effect.fnUntraced(function* (run: FilePass) {
  const { file, first, outcomes, references, selfReferences } = run
  if (selfReferences.length === 0) return
  const every = yield* references.changed(selfReferences)
  if (!every && !outcomes.postponed) return
  for (const field of selfReferences) field.targets.clear()
  let row = first
  yield* Stream.runForEach(file.batches, (records) => {
    const from = row
    row += records.length
    return writePostponed(run, from, records, every)
  })
})

const writePostponed = Effect.fnUntraced(function* (
  run: FilePass,
  first: number,
  all: ReadonlyArray<FileRecord>,
  every: boolean
) {
  const { destination, fields, outcomes, references, selfReferences } = run
  const rows = all
    .map((_, row) => row)
    .filter((row) => !outcomes.isLeftOut(first + row) && (every || outcomes.isPostponed(first + row)))
  if (rows.length === 0) return
  const numbers = rows.map((row) => first + row)
  const records = rows.map((row) => all[row]!)
  const problems: Problems = new Map()
  const keys = selfReferences.map((field) =>
    records.map(({ cells }) => {
      const read = field.read(cells[field.index])
      return typeof read === "string" ? [] : read
    })
  )
  for (const [number, field] of selfReferences.entries()) yield* references.resolve(field, keys[number]!)
  const targets = selfReferences.map((field, number) =>
    targetsOf(run, field, { numbers, records, problems }, keys[number]!, true)
  )
  yield* report(run, { numbers, records, problems })
  for (const [row, texts] of problems) run.lateProblems.set(numbers[row]!, texts)
  if (run.lateProblems.size > 0) return
  const ids =
    fields.id === undefined
      ? numbers.map((number) => outcomes.idOf(number))
      : yield* entityIds(
          destination,
          records.map(({ cells }) => fields.id!.read(cells[fields.id!.index]) as string)
        )
  const externalIds =
    fields.id === undefined ? [] : records.map(({ cells }) => fields.id!.read(cells[fields.id!.index]) as string | null)
  for (const [number, { column, pending, storage }] of selfReferences.entries()) {
    if (pending) continue
    const open = numbers.map((_, row) => row).filter((row) => !isKept(run, column, externalIds[row]))
    const openIds = open.map((row) => ids[row]!)
    const resolved = open.map((row) => targets[number]![row])
    const changed =
      storage._tag === "Many"
        ? yield* writeLinks(destination, storage, openIds, resolved)
        : yield* writeReference(
            destination,
            storage,
            openIds,
            resolved.map((each) => each![0] ?? null)
          )
    noteChanged(run, column, numbers, ids, changed)
    for (const { id } of changed) meetCell(run, column.key, externalIds[ids.indexOf(id)])
  }
})
