/** One pass over the files of an import: what it has found out so far, and the outcomes and problems of its rows. */
import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import type { Column, EntityType, Organization } from "../../domain/EntityType.ts"
import { quoted } from "../../domain/text.ts"
import type { BadRows } from "./BadRows.ts"
import { addProblem, type Batch } from "./BatchReader.ts"
import type { Fields, ReferenceField, Target } from "./bindFields.ts"
import type { Diff } from "./Diff.ts"
import type { Outcomes } from "./Outcomes.ts"
import type { Meeting } from "./peopleChanges.ts"
import { ID } from "./planImport.ts"
import type { ImportFile } from "./readers/ImportFile.ts"
import type { Remedies } from "./remedies.ts"
import type { References } from "./resolveReferences.ts"
import type { Destination } from "./statements.ts"

/** What to write, and how. */
export interface Writing {
  readonly sql: PgClient.PgClient
  readonly organization: Organization
  readonly type: EntityType
  readonly files: ReadonlyArray<{ readonly file: ImportFile; readonly fields: Fields }>
  /** Leaves bad rows out instead of failing. */
  readonly skipBad: boolean
  /** Leaves cells that people have changed here. */
  readonly keepChanges: boolean
  /** Collects the differences from the existing rows for a preview. */
  readonly compare: boolean
  readonly onBatch: (file: ImportFile, rows: number) => void
}

/** One pass over all of the files, with the outcomes of their rows so far. */
export interface Pass extends Meeting {
  readonly writing: Writing
  readonly remedies: Remedies
  readonly bad: BadRows
  readonly outcomes: Outcomes
  readonly diff: Diff | undefined
  /** Problems of rows that were already written. */
  readonly lateProblems: Map<number, ReadonlyArray<string>>
}

/** One file of a pass. */
export interface FilePass extends Pass {
  readonly file: ImportFile
  readonly destination: Destination
  readonly fields: Fields
  /** The references to rows of the imported type. */
  readonly selfReferences: ReadonlyArray<ReferenceField>
  readonly references: References
  /** The number of the file's first row. */
  readonly first: number
}

/** The targets of a field's keys by row; undefined for a row that the second pass resolves. */
export const targetsOf = (
  { bad, outcomes, remedies }: FilePass,
  field: ReferenceField,
  { numbers, problems, records }: Pick<Batch, "numbers" | "records" | "problems">,
  keysByRow: ReadonlyArray<ReadonlyArray<string> | undefined>,
  last: boolean
) =>
  // A bad row has no keys.
  records.map((record, row) => {
    const targets: Array<bigint> = []
    for (const key of keysByRow[row] ?? []) {
      const target = field.targets.get(key)!
      if (typeof target === "bigint") targets.push(target)
      else if (field.self && !last) {
        outcomes.postpone(numbers[row]!)
        return undefined
      } else {
        const source = field.sourceOf(record.cells[field.index], key)
        addProblem(problems, row, field.header, unresolved(bad, remedies, field, source, target))
      }
    }
    return targets
  })

const unresolved = (
  bad: BadRows,
  remedies: Remedies,
  { by, column, explicit, header, target }: ReferenceField,
  source: string,
  result: Target
): string => {
  if (!explicit)
    bad.hint = `${quoted(header).slice(1, -1)} was read as ids of ${target.slug}. ${remedies.lookUp(header, `${column.slug}:${target.slug}.name`)}`
  return `${result === "none" ? "none" : "more than one"} of the ${target.pluralName.toLowerCase()} has the ${by?.slug ?? ID} ${quoted(source)}`
}

/** Adds problems to the bad rows in the file's order; fails the import at their limit. */
export const report = Effect.fnUntraced(function* (
  { bad, file, outcomes }: FilePass,
  { numbers, problems, records }: Pick<Batch, "numbers" | "records" | "problems">
) {
  for (const [row, texts] of [...problems].sort(([a], [b]) => a - b)) {
    bad.add(file, records[row]!.line, texts)
    outcomes.leaveOut(numbers[row]!)
    if (bad.full) return yield* bad.error()
  }
})

export const markWritten = (
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

/** Marks rows, given by number and id, whose references in a column have changed. */
export const noteChanged = (
  { diff, outcomes }: FilePass,
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
