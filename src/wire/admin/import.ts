/** Imports on the administration page: the proposal for a file, the request, and what it reports. */
import { Schema } from "effect"
import { streamOf } from "../serverSentEvents.ts"
import { between, PageSize, Strings, textUpTo, Timestamp } from "../scalars.ts"

const { optionalKey } = Schema

const reading = {
  encoding: optionalKey(textUpTo(40).annotate({ description: "Of a text file, where it can't be detected." })),
  sheet: optionalKey(textUpTo(255).annotate({ description: "Of a spreadsheet; the first one by default." })),
  headerRow: optionalKey(between(1, 100_000).annotate({ description: "By default the first one with a value." }))
}

export const ReadFile = Schema.Struct(reading)
export type ReadFile = typeof ReadFile.Encoded

const Types = Schema.Array(
  Schema.Struct({
    slug: Schema.String,
    name: Schema.String,
    destinations: Schema.Array(Schema.Struct({ to: Schema.String, label: Schema.String })),
    proposed: Schema.Array(Schema.NullOr(Schema.String)).annotate({
      description: "By position of the header: the destination; null where no column matches."
    })
  })
)

export const Proposal = Schema.Struct({
  name: Schema.String,
  format: Schema.String,
  warnings: Strings,
  headers: Schema.Array(Schema.Struct({ header: Schema.String, samples: Strings })),
  types: Types,
  type: Schema.String.annotate({ description: "The slug of the type that fits best, or of a new one." })
})
export type Proposal = typeof Proposal.Encoded

export const ImportFile = Schema.Struct({
  ...reading,
  type: textUpTo(63),
  map: optionalKey(
    Schema.Record(Schema.String, textUpTo(300)).annotate({
      description: "By header: a column, id, or column:type.column to look up a reference."
    })
  ),
  ignore: optionalKey(Strings),
  create: optionalKey(Schema.Boolean.annotate({ description: "Creates the type and the columns that don't exist." })),
  idPrefix: optionalKey(textUpTo(100)),
  locale: optionalKey(textUpTo(40)),
  dates: optionalKey(Schema.Literals(["dmy", "mdy", "ymd"])),
  skipBad: optionalKey(Schema.Boolean),
  keepChanges: optionalKey(Schema.Boolean),
  dryRun: optionalKey(Schema.Boolean)
})
export type ImportFile = typeof ImportFile.Encoded

/** Past imports: what the audit log has of them. */
export const ImportRunsQuery = {
  before: optionalKey(Schema.FiniteFromString.check(Schema.isInt(), Schema.isGreaterThan(0))),
  limit: PageSize
}

const ImportRun = Schema.Struct({
  record: Schema.Int.annotate({ description: "The number of its record in the audit log." }),
  at: Timestamp,
  by: Schema.String.annotate({ description: "An entity id, or `operator` for a command." }),
  byName: optionalKey(Schema.String),
  type: Schema.String,
  typeName: optionalKey(Schema.String.annotate({ description: "Omitted if the type is no longer there." })),
  rows: optionalKey(Schema.Int),
  leftOut: optionalKey(Schema.Int.annotate({ description: "Refused rows, which were left out." })),
  outcome: optionalKey(
    Schema.Struct({ inserted: Schema.Int, updated: Schema.Int, unchanged: Schema.Int }).annotate({
      description: "Omitted unless you see the whole type: it tells which rows existed."
    })
  )
})
export type ImportRun = typeof ImportRun.Encoded

export const ImportRuns = Schema.Struct({
  runs: Schema.Array(ImportRun),
  next: optionalKey(Schema.Int.annotate({ description: "`before` of the next page." }))
})
export type ImportRuns = typeof ImportRuns.Encoded

/** Rows of each type of the sample data. */
export const Sample = Schema.Struct({ people: Schema.Int, companies: Schema.Int, meetings: Schema.Int })
export type Sample = typeof Sample.Encoded

const Row = {
  file: Schema.String,
  line: Schema.Int,
  id: optionalKey(Schema.String),
  name: Schema.String
}
const value = optionalKey(Schema.NullOr(Schema.String))

export const Imported = Schema.Struct({
  type: Schema.Struct({
    slug: Schema.String,
    name: Schema.String,
    pluralName: Schema.String,
    created: Schema.Boolean
  }),
  dryRun: Schema.Boolean,
  rows: Schema.Int,
  leftOut: Schema.Int,
  badRows: Strings.annotate({ description: "The rows that were left out, each with its line and its problems." }),
  mapped: Schema.Array(
    Schema.Struct({
      header: Schema.String,
      to: Schema.String,
      example: optionalKey(Schema.Struct({ text: Schema.String, read: Schema.String }))
    })
  ),
  createdColumns: Schema.Array(Schema.Struct({ slug: Schema.String, name: Schema.String, kind: Schema.String })),
  shownTo: Strings,
  hiddenFrom: Strings,
  warnings: Strings,
  /** Only for callers who see every row and column of the type: the counts tell whether a row exists. */
  outcome: optionalKey(
    Schema.Struct({
      inserted: Schema.Int,
      updated: Schema.Int,
      unchanged: Schema.Int,
      changedHere: Schema.Int.annotate({ description: "Cells that people have changed here since." }),
      columns: Schema.Array(Schema.Struct({ column: Schema.String, rows: Schema.Int })),
      new: Schema.Array(Schema.Struct(Row)),
      changed: Schema.Array(
        Schema.Struct({
          ...Row,
          columns: Schema.Array(Schema.Struct({ column: Schema.String, was: value, now: value }))
        })
      )
    })
  )
})
export type Imported = typeof Imported.Encoded

/** `done` and `refused` are last. */
export const ImportEvent = Schema.Union([
  Schema.TaggedStruct("progress", {
    doing: Schema.Literals(["reading", "writing"]),
    rows: Schema.Int,
    share: Schema.Finite
  }),
  Schema.TaggedStruct("refused", {
    message: Schema.String,
    lines: Strings.annotate({ description: "One per bad row." })
  }),
  Schema.TaggedStruct("done", { result: Imported })
])
export type ImportEvent = typeof ImportEvent.Encoded

export const ImportEvents = streamOf(ImportEvent)
