/**
 * File → records. CSV (the delimiter is found) and JSONL are read in batches of bounded size, as often as somebody
 * asks: a file of any length takes the same memory. What is wrong with one record is said with that record; a file
 * that can't be read on is an error.
 */
import { Effect, Stream } from "effect"
import { basename } from "node:path"
import { OperatorError } from "../../domain/errors.ts"
import { printable, quoted } from "../../domain/text.ts"
import { csvHeaders, csvRecords } from "./csv.ts"
import { jsonHeaders, jsonRecords } from "./jsonl.ts"
import { type FileRecord, MAX_CELLS } from "./record.ts"
import { identify, Unreadable } from "./source.ts"

export interface ImportFile {
  /** What messages call the file. */
  readonly name: string
  readonly headers: ReadonlyArray<string>
  /** The records, read anew by every run. */
  readonly batches: Stream.Stream<ReadonlyArray<FileRecord>, OperatorError>
}

const BATCH_ROWS = 2000
const BATCH_LENGTH = 4 * 1024 * 1024

/** Opens a file and finds its headers; a JSONL file is read through once for them. */
export const openImportFile = (path: string): Effect.Effect<ImportFile, OperatorError> => {
  const name = printable(basename(path) || path)
  const failed = (error: unknown) => new OperatorError({ message: describe(name, error) })
  return Effect.tryPromise({
    try: async () => {
      const source = await identify(path)
      const headers = checkHeaders(source.format === "csv" ? await csvHeaders(source) : await jsonHeaders(source))
      const records = () => (source.format === "csv" ? csvRecords(source, headers) : jsonRecords(source, headers))
      return {
        name,
        headers: headers.map((header) => header.trim()),
        batches: Stream.suspend(() => Stream.fromAsyncIterable(batched(records()), failed))
      }
    },
    catch: failed
  })
}

const describe = (name: string, error: unknown): string => {
  if (error instanceof Unreadable)
    return `${name}${error.line === undefined ? "" : `, line ${error.line}`}: ${error.message}`
  const code = error instanceof Error && "code" in error ? String(error.code) : ""
  const known: Readonly<Record<string, string>> = {
    ENOENT: "there is no such file.",
    ENOTDIR: "there is no such file.",
    EACCES: "this user may not read it.",
    EISDIR: "this is a folder."
  }
  return `${name}: ${known[code] ?? `it can't be read${code === "" ? "" : ` (${code})`}.`}`
}

const checkHeaders = (headers: ReadonlyArray<string>): ReadonlyArray<string> => {
  if (headers.length > MAX_CELLS)
    throw new Unreadable(`there are ${headers.length} columns. At most ${MAX_CELLS} can be imported.`, 1)
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
  for await (const some of records) {
    for (const record of some) {
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
