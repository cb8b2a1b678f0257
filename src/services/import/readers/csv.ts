/** CSV → records, with line numbers as an editor shows them. */
import { parse, type Parser } from "csv-parse"
import { type FileRecord, MAX_CELLS, MAX_RECORD_BYTES, textCell, tooLong } from "./FileRecord.ts"
import { chunks, type FileSource } from "./FileSource.ts"
import { Unreadable } from "./Unreadable.ts"

export const csvHeaders = async (source: FileSource): Promise<ReadonlyArray<string>> => {
  for await (const rows of csvRows(source)) return rows[0]!.cells
  throw new Unreadable(source.firstLine > 1 ? `there is no row ${source.firstLine}.` : "the file has no header.")
}

export async function* csvRecords(
  source: FileSource,
  headers: ReadonlyArray<string>
): AsyncGenerator<ReadonlyArray<FileRecord>> {
  let header = true
  for await (const rows of csvRows(source)) {
    yield rows.slice(header ? 1 : 0).map(({ cells, line }) => {
      const problem =
        cells.length === headers.length
          ? tooLong(cells, headers)
          : cells.length > MAX_CELLS
            ? `${cells.length} cells; the limit is ${MAX_CELLS}`
            : `${cells.length} cells, but the header has ${headers.length}`
      return problem === undefined ? { line, cells: cells.map(textCell) } : { line, cells: [], problem }
    })
    header = false
  }
}

interface CsvRow {
  readonly line: number
  readonly cells: ReadonlyArray<string>
}

const isBlank = (cells: ReadonlyArray<string>): boolean => cells.length === 1 && cells[0]!.trim() === ""

/** The rows of a CSV file, its header among them, chunk by chunk. */
async function* csvRows(source: FileSource): AsyncGenerator<ReadonlyArray<CsvRow>> {
  let line = 1
  const parser = parse({
    delimiter: source.delimiter,
    record_delimiter: source.lineEnd === "\r" ? ["\r"] : ["\r\n", "\n"],
    relax_column_count: true,
    max_record_size: MAX_RECORD_BYTES
  })
  // Every error also reaches the write that caused it; without a listener the event would end the process.
  parser.on("error", () => {})
  /** The rows parsed so far. Lines are counted here, because the parser counts a Windows line end within quotes as two. */
  const parsedRows = (): ReadonlyArray<CsvRow> => {
    const rows: Array<CsvRow> = []
    for (let cells = read(parser); cells !== null; cells = read(parser)) {
      if (!isBlank(cells) && line >= source.firstLine) rows.push({ line, cells })
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
      const rows = parsedRows()
      const error = await written
      if (error !== undefined) throw unreadable(error)
      if (rows.length > 0) yield rows
    }
    const error = await finished((done) => parser.end(done))
    const rows = parsedRows()
    if (error !== undefined) throw unreadable(error)
    if (rows.length > 0) yield rows
  } finally {
    parser.destroy()
  }
}

const read = (parser: Parser): ReadonlyArray<string> | null => parser.read() as ReadonlyArray<string> | null

/** Waits until a stream has processed a write; resolves to its error. */
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
      return `a cell contains a quote. Put the cell in quotes and double each quote in it ("").`
    default:
      return "this isn't CSV."
  }
}
