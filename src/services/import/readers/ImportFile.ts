/**
 * File → records. CSV, JSONL and spreadsheets are read in batches of bounded size, so a text file of any length takes
 * the same memory. A problem of one record is part of that record; a file that can't be read any further is an error.
 */
import { Effect, type Scope, Stream } from "effect"
import { basename } from "node:path"
import { OperatorError } from "../../../domain/errors.ts"
import { printable, quoted } from "../../../domain/text.ts"
import { csvHeaders, csvRecords } from "./csv.ts"
import { jsonHeaders, jsonRecords } from "./jsonl.ts"
import { type FileRecord, headerTooLong, MAX_CELLS, tooManyColumns } from "./FileRecord.ts"
import { identify, type FileSource } from "./FileSource.ts"
import { Remedies } from "../remedies.ts"
import { Unreadable } from "./Unreadable.ts"

export interface ImportFile {
  /** The file's name in messages. */
  readonly name: string
  /** The detected format, as text. */
  readonly format: string
  /** What a record's number counts. */
  readonly unit: "line" | "row"
  /** Assumptions that may be wrong. */
  readonly warnings: ReadonlyArray<string>
  readonly headers: ReadonlyArray<string>
  /** The records; every run reads the file again. */
  readonly batches: Stream.Stream<ReadonlyArray<FileRecord>, OperatorError>
  /** The share of the file that the latest run has read, from 0 to 1. */
  readonly share: () => number
}

export interface FileOptions {
  /** The encoding of text files, where it can't be detected. */
  readonly encoding?: string | undefined
  /** The sheet of a spreadsheet; the first one by default. */
  readonly sheet?: string | undefined
  /** The line or row of the header; by default the first one with a value. */
  readonly headerRow?: number | undefined
}

const BATCH_ROWS = 2000
const BATCH_LENGTH = 4 * 1024 * 1024

/** Opens a file and reads its headers; those of a JSONL file take a whole pass. */
export const openImportFile = (
  path: string,
  options: FileOptions = {}
): Effect.Effect<ImportFile, OperatorError, Scope.Scope> => {
  const name = printable(basename(path) || path)
  const failed = (error: unknown) => new OperatorError({ message: messageOf(name, error) })
  let read = 0
  return Effect.gen(function* () {
    const source = yield* Effect.tryPromise({
      try: () => identify(path, options, (bytes) => (read = bytes)),
      catch: failed
    })
    const content = yield* Effect.acquireRelease(
      Effect.tryPromise({ try: () => contentOf(source, options), catch: failed }),
      ({ close }) => Effect.sync(() => close?.())
    )
    const headers = yield* Effect.try({ try: () => checkHeaders(content.headers), catch: failed })
    const { guessed } = source.encoding
    const { encoding } = yield* Remedies
    return {
      name,
      format: content.format,
      unit: source.format === "xlsx" ? "row" : "line",
      warnings:
        guessed === undefined
          ? []
          : [
              `${name} isn't UTF-8 and was read as Windows-1252: line ${guessed.line} has ${quoted(guessed.word)}. If that is wrong, ${encoding}`
            ],
      headers: headers.map((header) => header.trim()),
      batches: Stream.suspend(() => Stream.fromAsyncIterable(batched(content.records(headers)), failed)),
      share: () => (source.bytes === 0 ? 1 : Math.min(1, read / source.bytes))
    } satisfies ImportFile
  })
}

interface Content {
  readonly format: string
  readonly headers: ReadonlyArray<string>
  readonly records: (headers: ReadonlyArray<string>) => AsyncGenerator<ReadonlyArray<FileRecord>>
  readonly close?: () => void
}

const DELIMITERS: Readonly<Record<string, string>> = { ",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars" }

const contentOf = async (source: FileSource, { headerRow, sheet }: FileOptions): Promise<Content> => {
  if (source.format === "xlsx") {
    // Loaded on demand: few files are spreadsheets.
    const { openSheet } = await import("./xlsx.ts")
    const opened = await openSheet(source, sheet, headerRow)
    return { ...opened, format: `XLSX, sheet ${quoted(opened.name)}` }
  }
  if (sheet !== undefined) throw new Unreadable("this isn't a spreadsheet and has no sheets.")
  if (headerRow !== undefined && source.format === "jsonl") throw new Unreadable("JSONL has no header row.")
  const encoding = source.encoding.name === "utf-8" ? "UTF-8" : source.encoding.name
  return source.format === "csv"
    ? {
        format: `CSV, ${DELIMITERS[source.delimiter]}, ${encoding}`,
        headers: await csvHeaders(source),
        records: (headers) => csvRecords(source, headers)
      }
    : {
        format: `JSONL, ${encoding}`,
        headers: await jsonHeaders(source),
        records: (headers) => jsonRecords(source, headers)
      }
}

const messageOf = (name: string, error: unknown): string => {
  if (error instanceof Unreadable)
    return `${name}${error.line === undefined ? "" : `, line ${error.line}`}: ${error.message}`
  const code = error instanceof Error && "code" in error ? String(error.code) : ""
  const reasons: Readonly<Record<string, string>> = {
    ENOENT: "there is no such file.",
    ENOTDIR: "there is no such file.",
    EACCES: "this user may not read it.",
    EISDIR: "this is a folder."
  }
  return `${name}: ${reasons[code] ?? `it can't be read${code === "" ? "" : ` (${code})`}.`}`
}

const checkHeaders = (headers: ReadonlyArray<string>): ReadonlyArray<string> => {
  if (headers.length > MAX_CELLS) throw tooManyColumns(headers.length)
  const long = headerTooLong(headers)
  if (long !== undefined) throw long
  const seen = new Map<string, number>()
  for (const [index, header] of headers.entries()) {
    const text = printable(header).trim()
    if (text === "") throw new Unreadable(`column ${index + 1} has no header.`, 1)
    if (header.includes("\u0000"))
      throw new Unreadable(`the header of column ${index + 1} contains a NUL character.`, 1)
    const first = seen.get(header.trim())
    if (first !== undefined)
      throw new Unreadable(`columns ${first + 1} and ${index + 1} have the same header, ${quoted(text)}.`, 1)
    seen.set(header.trim(), index)
  }
  return headers
}

async function* batched(records: AsyncGenerator<Iterable<FileRecord>>): AsyncGenerator<ReadonlyArray<FileRecord>> {
  let batch: Array<FileRecord> = []
  let length = 0
  for await (const part of records) {
    for (const record of part) {
      batch.push(record)
      for (const cell of record.cells) if (typeof cell === "string" || Array.isArray(cell)) length += cell.length
      if (batch.length < BATCH_ROWS && length < BATCH_LENGTH) continue
      yield batch
      batch = []
      length = 0
    }
  }
  if (batch.length > 0) yield batch
}
