/**
 * File → records. CSV (the delimiter is found) and JSONL are read in batches of bounded size, as often as somebody
 * asks: a file of any length takes the same memory. What is wrong with one record is said with that record; a file
 * that can't be read on is an error.
 */
import { parse, type Parser } from "csv-parse"
import { Effect, Stream } from "effect"
import { isUtf8 } from "node:buffer"
import { createReadStream } from "node:fs"
import { open, stat } from "node:fs/promises"
import { basename, extname } from "node:path"
import type { ColumnKind } from "../domain/EntityType.ts"
import { OperatorError } from "../domain/errors.ts"
import { emailKey, phoneKey } from "../domain/keys.ts"
import { printable, quoted } from "../domain/text.ts"
import { isoDate, isoTimestamp } from "../domain/values.ts"

/** Something in a cell that is no value: an object, or a list within a list. */
export const NESTED = Symbol("nested")

/** What a cell holds: text as it is written, a list, or nothing. */
export type Cell = string | ReadonlyArray<string> | typeof NESTED | undefined

export interface FileRecord {
  /** The line that the record begins on, from 1. */
  readonly line: number
  /** In the order of the file's headers. */
  readonly cells: ReadonlyArray<Cell>
  /** Why the record as a whole can't be used. */
  readonly problem?: string
}

export interface ImportFile {
  /** What messages call the file. */
  readonly name: string
  readonly headers: ReadonlyArray<string>
  /** The records, read anew by every run. */
  readonly batches: Stream.Stream<ReadonlyArray<FileRecord>, OperatorError>
}

const MAX_CELLS = 1000
const MAX_CELL_LENGTH = 100_000
const MAX_RECORD_BYTES = 8 * 1024 * 1024
const CHUNK_BYTES = 256 * 1024
const BATCH_ROWS = 2000
const BATCH_LENGTH = 4 * 1024 * 1024

/** What makes a file unreadable, at a line if there is one. */
class Unreadable extends Error {
  readonly line: number | undefined
  constructor(message: string, line?: number) {
    super(message)
    this.line = line
  }
}

/** Opens a file and finds its headers; a JSONL file is read through once for them. */
export const openImportFile = (path: string): Effect.Effect<ImportFile, OperatorError> => {
  const name = printable(basename(path))
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

interface Source {
  readonly path: string
  readonly format: "csv" | "jsonl"
  readonly delimiter: string
  /** Ancient files end their lines with a carriage return alone. */
  readonly lineEnd: "\n" | "\r"
  /** Size, time and place of the file: a later run has to read the same. */
  readonly version: string
}

const FORMATS: Readonly<Record<string, Source["format"]>> = {
  ".csv": "csv",
  ".tsv": "csv",
  ".tab": "csv",
  ".jsonl": "jsonl",
  ".ndjson": "jsonl"
}

const versionOf = async (path: string): Promise<string> => {
  const found = await stat(path)
  if (found.isDirectory()) throw new Unreadable("this is a folder.")
  if (!found.isFile()) throw new Unreadable("this isn't a plain file; it is read more than once. Save it first.")
  return `${found.dev}:${found.ino}:${found.size}:${found.mtimeMs}`
}

const identify = async (path: string): Promise<Source> => {
  const version = await versionOf(path)
  const handle = await open(path)
  try {
    const { buffer, bytesRead } = await handle.read({ buffer: Buffer.alloc(64 * 1024), position: 0 })
    const start = buffer.subarray(0, bytesRead)
    if (bytesRead === 0) throw new Unreadable("the file is empty.")
    if ((start[0] === 0xff && start[1] === 0xfe) || (start[0] === 0xfe && start[1] === 0xff)) {
      throw new Unreadable("the file is UTF-16. Save it as UTF-8.", 1)
    }
    if (start[0] === 0x50 && start[1] === 0x4b && start[2] === 3) {
      throw new Unreadable("this is a spreadsheet or an archive. Save the sheet as CSV (UTF-8).")
    }
    const text = start.toString("utf8").replace(/^\ufeff/, "")
    const extension = extname(path).toLowerCase()
    const format = FORMATS[extension] ?? (/^\s*\{/.test(text) ? "jsonl" : "csv")
    const lineEnd = text.includes("\r") && !text.includes("\n") ? "\r" : "\n"
    return { path, format, version, lineEnd, delimiter: guessDelimiter(text, lineEnd) }
  } finally {
    await handle.close()
  }
}

/** The delimiter that divides most of the first lines as it divides the header, and the header most often. */
const guessDelimiter = (text: string, lineEnd: string): string => {
  const lines = text
    .replace(/"(?:[^"]|"")*"/g, "")
    .split(lineEnd)
    .filter((line) => line.trim() !== "")
    .slice(0, 20)
  const score = (delimiter: string) => {
    const counts = lines.map((line) => line.split(delimiter).length - 1)
    const inHeader = counts[0] ?? 0
    return inHeader === 0 ? 0 : counts.filter((count) => count === inHeader).length * 10_000 + inHeader
  }
  return [",", ";", "\t", "|"].reduce((best, next) => (score(next) > score(best) ? next : best))
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

/** The file's bytes, all of them UTF-8, in chunks that end with a whole character. */
async function* chunks(source: Source): AsyncGenerator<Buffer> {
  const sameFile = async () => {
    if ((await versionOf(source.path)) !== source.version)
      throw new Unreadable("the file changed while it was read. Import again.")
  }
  await sameFile()
  let lines = 0
  let rest: Buffer = Buffer.alloc(0)
  const check = (bytes: Buffer) => {
    if (isUtf8(bytes)) return
    let from = 0
    for (let end = bytes.indexOf(10); end >= 0 && isUtf8(bytes.subarray(from, end)); end = bytes.indexOf(10, from)) {
      from = end + 1
      lines++
    }
    throw new Unreadable("this isn't UTF-8. Save the file as UTF-8 (in Excel: CSV UTF-8).", lines + 1)
  }
  let first = true
  for await (const read of createReadStream(source.path, { highWaterMark: CHUNK_BYTES })) {
    const bytes = rest.length === 0 ? (read as Buffer) : Buffer.concat([rest, read as Buffer])
    const end = wholeCharacters(bytes)
    let chunk = bytes.subarray(0, end)
    rest = Buffer.from(bytes.subarray(end))
    if (first && chunk.length >= 3) {
      first = false
      if (chunk[0] === 0xef && chunk[1] === 0xbb && chunk[2] === 0xbf) chunk = chunk.subarray(3)
    }
    check(chunk)
    for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, at + 1)) lines++
    if (chunk.length > 0) yield chunk
  }
  check(rest)
  await sameFile()
}

/** The length of the bytes without a character that isn't all there yet. */
const wholeCharacters = (bytes: Buffer): number => {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back]!
    if ((byte & 0xc0) === 0x80) continue
    const size = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1
    return size > back ? bytes.length - back : bytes.length
  }
  return bytes.length
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

// ---- CSV

interface CsvRow {
  readonly line: number
  readonly cells: ReadonlyArray<string>
}

const isBlank = (cells: ReadonlyArray<string>): boolean => cells.length === 1 && cells[0]!.trim() === ""

/** The rows of a CSV file, its header among them, chunk by chunk. */
async function* csvRows(source: Source): AsyncGenerator<ReadonlyArray<CsvRow>> {
  let line = 1
  const parser = parse({
    delimiter: source.delimiter,
    record_delimiter: source.lineEnd === "\r" ? ["\r"] : ["\r\n", "\n"],
    relax_column_count: true,
    max_record_size: MAX_RECORD_BYTES
  })
  // Every failure also reaches the write that caused it; without a listener the event would end the process.
  parser.on("error", () => {})
  /** Takes what was parsed; the parser's own count of lines takes a Windows line end within quotes for two. */
  const taken = (): ReadonlyArray<CsvRow> => {
    const rows: Array<CsvRow> = []
    for (let cells = read(parser); cells !== null; cells = read(parser)) {
      if (!isBlank(cells)) rows.push({ line, cells })
      line++
      for (const cell of cells) {
        for (let at = cell.indexOf(source.lineEnd); at >= 0; at = cell.indexOf(source.lineEnd, at + 1)) line++
      }
    }
    return rows
  }
  const unreadable = (error: Error) => new Unreadable(csvProblem(error), line)
  try {
    for await (const chunk of chunks(source)) {
      const written = finished((done) => parser.write(chunk, done))
      const rows = taken()
      const error = await written
      if (error !== undefined) throw unreadable(error)
      if (rows.length > 0) yield rows
    }
    const error = await finished((done) => parser.end(done))
    const rows = taken()
    if (error !== undefined) throw unreadable(error)
    if (rows.length > 0) yield rows
  } finally {
    parser.destroy()
  }
}

const read = (parser: Parser): ReadonlyArray<string> | null => parser.read() as ReadonlyArray<string> | null

/** Waits for a stream to have taken something; resolves to what it failed with. */
const finished = (start: (done: (error?: Error | null) => void) => void): Promise<Error | undefined> =>
  new Promise((resolve) => start((error) => resolve(error ?? undefined)))

const csvProblem = (error: Error): string => {
  switch ("code" in error ? error.code : undefined) {
    case "CSV_QUOTE_NOT_CLOSED":
      return "a quote is opened in the record that begins here and never closed."
    case "CSV_MAX_RECORD_SIZE":
      return `the record that begins here is longer than ${MAX_RECORD_BYTES / 1024 / 1024} MB. Is a closing quote missing?`
    case "CSV_INVALID_CLOSING_QUOTE":
    case "INVALID_OPENING_QUOTE":
      return `a quote stands within a cell. Put the cell in quotes and write each quote in it twice ("").`
    default:
      return "this isn't CSV."
  }
}

const csvHeaders = async (source: Source): Promise<ReadonlyArray<string>> => {
  for await (const rows of csvRows(source)) return rows[0]!.cells
  throw new Unreadable("the file has no header.")
}

async function* csvRecords(source: Source, headers: ReadonlyArray<string>): AsyncGenerator<ReadonlyArray<FileRecord>> {
  let header = true
  for await (const rows of csvRows(source)) {
    yield rows.slice(header ? 1 : 0).map(({ cells, line }) => {
      const problem =
        cells.length === headers.length
          ? tooLong(cells, headers)
          : cells.length > MAX_CELLS
            ? `${cells.length} cells, where at most ${MAX_CELLS} can be read`
            : `${cells.length} cells, where the header has ${headers.length}`
      return problem === undefined ? { line, cells: cells.map(textCell) } : { line, cells: [], problem }
    })
    header = false
  }
}

const textCell = (text: string): Cell =>
  text === "" || (text.charCodeAt(0) <= 32 && text.trim() === "") ? undefined : text

const tooLong = (cells: ReadonlyArray<Cell>, headers: ReadonlyArray<string>): string | undefined => {
  const index = cells.findIndex((cell) => typeof cell === "string" && cell.length > MAX_CELL_LENGTH)
  return index < 0 ? undefined : `${quoted(headers[index]!)} has more than ${MAX_CELL_LENGTH} characters`
}

// ---- JSONL

interface Line {
  readonly line: number
  readonly text: string
}

async function* textLines(source: Source): AsyncGenerator<ReadonlyArray<Line>> {
  let line = 0
  let rest: Array<Buffer> = []
  let length = 0
  const some = (bytes: Buffer) =>
    bytes
      .toString("utf8")
      .split("\n")
      .map((text) => ({ line: ++line, text }))
      .filter(({ text }) => text.trim() !== "")
  for await (const chunk of chunks(source)) {
    const end = chunk.lastIndexOf(10)
    if (end >= 0) {
      yield some(Buffer.concat([...rest, chunk.subarray(0, end)]))
      rest = []
      length = 0
    }
    rest.push(chunk.subarray(end + 1))
    length += chunk.length - end - 1
    if (length > MAX_RECORD_BYTES)
      throw new Unreadable(`this line is longer than ${MAX_RECORD_BYTES / 1024 / 1024} MB.`, line + 1)
  }
  yield some(Buffer.concat(rest))
}

type Json = Readonly<Record<string, unknown>>

/** Numbers in this text may be more than a JavaScript number can hold, or be written in a way that it forgets. */
const EXACT = /\d{16}|\d[.eE]/
const STRING_OR_NUMBER = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g

/** One object, with its numbers as they are written; a string says why it is none. */
const readObject = (text: string): Json | string => {
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value !== "object" || value === null || Array.isArray(value))
      return "not a JSON object: JSONL has one object a line"
    if (!EXACT.test(text)) return value as Json
    return JSON.parse(text.replace(STRING_OR_NUMBER, (token) => (token.startsWith(`"`) ? token : `"${token}"`))) as Json
  } catch {
    return "not a JSON object: JSONL has one object a line"
  }
}

const jsonHeaders = async (source: Source): Promise<ReadonlyArray<string>> => {
  const headers = new Set<string>()
  for await (const lines of textLines(source)) {
    for (const { line, text } of lines) {
      const object = readObject(text)
      if (typeof object === "string") continue
      for (const header of Object.keys(object)) headers.add(header)
      if (headers.size > MAX_CELLS)
        throw new Unreadable(`the records have more than ${MAX_CELLS} different names.`, line)
    }
  }
  if (headers.size === 0) throw new Unreadable("no line is a JSON object with names and values.")
  return [...headers]
}

async function* jsonRecords(source: Source, headers: ReadonlyArray<string>): AsyncGenerator<ReadonlyArray<FileRecord>> {
  for await (const lines of textLines(source)) {
    yield lines.map(({ line, text }) => {
      const object = readObject(text)
      if (typeof object === "string") return { line, cells: [], problem: object }
      const cells = headers.map((header) => (Object.hasOwn(object, header) ? jsonCell(object[header]) : undefined))
      const problem = tooLong(cells, headers)
      return problem === undefined ? { line, cells } : { line, cells: [], problem }
    })
  }
}

const jsonCell = (value: unknown): Cell => {
  switch (typeof value) {
    case "string":
      return textCell(value)
    case "number":
    case "boolean":
      return String(value)
    case "object": {
      if (value === null) return undefined
      if (!Array.isArray(value)) return NESTED
      const parts = value.filter((part) => part !== null).map(jsonCell)
      if (!parts.every((part) => part === undefined || typeof part === "string")) return NESTED
      const texts = parts.filter((part) => part !== undefined)
      return texts.length === 0 ? undefined : texts
    }
    default:
      return undefined
  }
}

// ---- what values look like

const INTEGER = /^-?(0|[1-9]\d{0,18})$/
const NUMBER = /^-?(0|[1-9]\d{0,99})(\.\d{1,100})?$/

/** What a whole column may be, the narrowest first. A leading zero makes digits a code, not a number. */
const LOOKS: ReadonlyArray<
  readonly [kind: "integer" | "number" | "boolean" | "date" | "timestamp", test: (text: string) => boolean]
> = [
  ["integer", (text) => INTEGER.test(text) && BigInt.asIntN(64, BigInt(text)) === BigInt(text)],
  ["number", (text) => NUMBER.test(text)],
  ["boolean", (text) => /^(true|false|yes|no)$/i.test(text)],
  ["date", (text) => isoDate(text) !== undefined],
  ["timestamp", (text) => isoTimestamp(text) !== undefined]
]

/** A column to be made, by its place in the file and the slug that it will have. */
export interface Unknown {
  readonly index: number
  readonly slug: string
}

export type InferredKind = Exclude<ColumnKind, "reference" | "references">

/** Infers what kinds the columns of a file are from all of their values, by the place of the column. */
export const inferKinds = Effect.fnUntraced(function* (
  file: ImportFile,
  columns: ReadonlyArray<Unknown>,
  country: string
) {
  const guesses = columns.map(({ index, slug }) => ({
    index,
    empty: true,
    list: false,
    looks: looksFor(slug, country)
  }))
  yield* Stream.runForEach(file.batches, (batch) =>
    Effect.sync(() => {
      for (const guess of guesses) {
        for (const { cells } of batch) {
          const cell = cells[guess.index]
          if (cell === undefined) continue
          guess.empty = false
          if (typeof cell !== "string") guess.list ||= cell !== NESTED
          else if (guess.looks.length > 0) {
            const text = cell.trim()
            if (!guess.looks.every(([, test]) => test(text))) guess.looks = guess.looks.filter(([, test]) => test(text))
          }
        }
      }
    })
  )
  return new Map(
    guesses.map(({ empty, index, list, looks }): [number, InferredKind] => [
      index,
      list ? "list" : empty ? "text" : (looks[0]?.[0] ?? "text")
    ])
  )
})

const looksFor = (
  slug: string,
  country: string
): ReadonlyArray<readonly [kind: InferredKind, test: (text: string) => boolean]> => {
  if (/(^|_)(phone|telephone|tel|mobile|cell|fax)(_|$)/.test(slug))
    return [["phone", (text) => phoneKey(text, country) !== undefined]]
  if (/(^|_)e?_?mail(_|$)/.test(slug)) return [["email", (text) => emailKey(text) !== undefined]]
  return LOOKS
}
