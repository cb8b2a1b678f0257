/** What is written: every row of the file in a first pass, references to rows of the same file in a second where needed. */
import type { PgClient } from "@effect/sql-pg"
import { Effect, Stream } from "effect"
import type { EntityType, Organization } from "../../domain/EntityType.ts"
import { quoted } from "../../domain/text.ts"
import { BadRows } from "./BadRows.ts"
import { addProblem, type Batch, BatchReader, type Problems } from "./batch.ts"
import { fault, word } from "./faults.ts"
import type { Fields, ReferenceField, Target } from "./fields.ts"
import type { ImportFile } from "./file.ts"
import { Outcomes } from "./Outcomes.ts"
import { ID } from "./plan.ts"
import type { FileRecord } from "./record.ts"
import { makeReferences, type References } from "./references.ts"
import { type Destination, entityIds, upsert, writeLinks, writeReference } from "./statements.ts"

/** One run: where its rows go, and what came of them so far. */
interface Run {
  readonly destination: Destination
  readonly fields: Fields
  /** The references to records of the type that is imported. */
  readonly own: ReadonlyArray<ReferenceField>
  readonly references: References
  readonly bad: BadRows
  readonly outcomes: Outcomes
}

export const writeRows = Effect.fnUntraced(function* (
  sql: PgClient.PgClient,
  organization: Organization,
  type: EntityType,
  fields: Fields,
  file: ImportFile
) {
  const destination: Destination = { sql, organization, type, fields }
  const run: Run = {
    destination,
    fields,
    own: fields.references.filter((field) => field.self),
    references: makeReferences(destination),
    bad: new BadRows(file.name),
    outcomes: new Outcomes()
  }
  const { bad, outcomes } = run
  const reader = new BatchReader(file.headers, fields, outcomes)
  yield* file.batches.pipe(
    Stream.map((records) => reader.read(records)),
    // The next batch is read while the database writes this one.
    Stream.buffer({ capacity: 1 }),
    Stream.runForEach((batch) => writeBatch(run, batch))
  )
  if (outcomes.rows === 0) return yield* fault(`${file.name} has headers, but no rows`)
  if (bad.some) return yield* bad.error()
  yield* settle(run, file)
  if (bad.some) return yield* bad.error()
  return { counts: outcomes.counts(), warnings: warningsOf(fields, reader.keyless) }
})

/** The first pass: a batch's rows, with the references to what is already there. */
const writeBatch = Effect.fnUntraced(function* (run: Run, batch: Batch) {
  const { bad, destination, fields, outcomes, own, references } = run
  for (const [number, field] of fields.references.entries()) yield* references.resolve(field, batch.keys[number]!)
  const targets = fields.references.map((field, number) => targetsOf(run, field, batch, batch.keys[number]!, false))
  yield* report(bad, batch)
  if (bad.some) return
  const ones = targets.flatMap((found, number) =>
    fields.references[number]!.storage._tag === "One" ? [found.map((ids) => ids?.[0] ?? null)] : []
  )
  markWritten(outcomes, batch, yield* upsert(destination, batch, ones))
  if (fields.id === undefined && own.length > 0) outcomes.keep(batch.first, batch.ids)
  if (!fields.references.some(({ storage }) => storage._tag === "Many")) return
  const ids = fields.id === undefined ? batch.ids : yield* entityIds(destination, batch.externalIds)
  const numbers = batch.records.map((_, row) => batch.first + row)
  for (const [number, { storage }] of fields.references.entries()) {
    if (storage._tag === "Many")
      markUpdated(outcomes, numbers, ids, yield* writeLinks(destination, storage, ids, targets[number]!))
  }
})

/** The second pass, where one is needed: references of rows to rows of the same file, now that all are there. */
const settle = Effect.fnUntraced(function* (run: Run, file: ImportFile) {
  const { outcomes, own, references } = run
  if (own.length === 0) return
  const every = yield* references.moved(own)
  if (!every && !outcomes.postponed) return
  for (const field of own) field.known.clear()
  let row = 0
  yield* Stream.runForEach(file.batches, (records) => {
    const first = row
    row += records.length
    return writePostponed(run, first, records, every)
  })
})

const writePostponed = Effect.fnUntraced(function* (
  run: Run,
  first: number,
  all: ReadonlyArray<FileRecord>,
  every: boolean
) {
  const { bad, destination, fields, outcomes, own, references } = run
  const rows = all.map((_, row) => row).filter((row) => every || outcomes.isPostponed(first + row))
  if (rows.length === 0) return
  const records = rows.map((row) => all[row]!)
  const problems: Problems = new Map()
  const keys = own.map((field) =>
    records.map(({ cells }) => {
      const read = field.read(cells[field.index])
      return typeof read === "string" ? [] : read
    })
  )
  for (const [number, field] of own.entries()) yield* references.resolve(field, keys[number]!)
  const targets = own.map((field, number) => targetsOf(run, field, { first, records, problems }, keys[number]!, true))
  yield* report(bad, { records, problems })
  if (bad.some) return
  const ids =
    fields.id === undefined
      ? rows.map((row) => outcomes.kept(first + row))
      : yield* entityIds(
          destination,
          records.map(({ cells }) => (cells[fields.id!] as string).trim())
        )
  const numbers = rows.map((row) => first + row)
  for (const [number, { storage }] of own.entries()) {
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
    markUpdated(outcomes, numbers, ids, changed)
  }
})

/** The entities that a field's keys refer to, row by row; undefined where that is found out at the end. */
const targetsOf = (
  { bad, outcomes }: Run,
  field: ReferenceField,
  { first, problems, records }: Pick<Batch, "first" | "records" | "problems">,
  keysByRow: ReadonlyArray<ReadonlyArray<string>>,
  last: boolean
) =>
  keysByRow.map((keys, row) => {
    const targets: Array<bigint> = []
    for (const key of keys) {
      const found = field.known.get(key)!
      if (typeof found === "bigint") targets.push(found)
      else if (field.self && !last) {
        outcomes.postpone(first + row)
        return undefined
      } else {
        const written = field.written(records[row]!.cells[field.index], key)
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
const report = Effect.fnUntraced(function* (bad: BadRows, { problems, records }: Pick<Batch, "records" | "problems">) {
  for (const [row, found] of [...problems].sort(([a], [b]) => a - b)) {
    bad.add(records[row]!.line, found)
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
      batch.first + (inserted ?? byExternalId.get(external_id!)!),
      inserted === undefined ? "updated" : "inserted"
    )
  }
}

/** Marks rows, which have these numbers and ids, whose references have changed. */
const markUpdated = (
  outcomes: Outcomes,
  numbers: ReadonlyArray<number>,
  ids: ReadonlyArray<bigint>,
  changed: ReadonlyArray<{ readonly id: bigint }>
) => {
  const byId = new Map(ids.map((id, row) => [id, numbers[row]!]))
  for (const { id } of changed) outcomes.mark(byId.get(id)!, "updated")
}

const warningsOf = (fields: Fields, keyless: ReadonlyArray<number>): ReadonlyArray<string> => [
  ...(fields.id === undefined
    ? [
        "The file has no id: every row became a new record, and importing it again would make them twice. To say which header is the id: --map HEADER=id"
      ]
    : []),
  ...fields.values.flatMap(({ header, keyless: what }, number) =>
    keyless[number] === 0
      ? []
      : [
          `${quoted(header).slice(1, -1)}: ${keyless[number]} value${keyless[number] === 1 ? " isn't" : "s aren't"} ${what} and can't be looked up by; the text is kept.`
        ]
  )
]
