/**
 * XLSX → records. A spreadsheet is a zip archive of XML that must be in memory as a whole, so a separate process reads
 * and checks it, within limits of memory and time: a file that exceeds them ends that process and nothing else.
 */
import { type FileRecord, MAX_CELLS, textCell, tooLong, tooManyColumns } from "./FileRecord.ts"
import { type FileSource, sameFile } from "./FileSource.ts"
import { SPREADSHEET } from "./limits.js"
import { type Reader, spawnReader } from "./spawnReader.ts"
import { TOO_LARGE, Unreadable } from "./Unreadable.ts"

const BATCH_ROWS = 2000
const LONG_ROW = "the row has more than 8 million characters"

/** An open sheet; `close` ends the process that holds its rows. */
export interface Sheet {
  readonly name: string
  readonly headers: ReadonlyArray<string>
  readonly records: () => AsyncGenerator<ReadonlyArray<FileRecord>>
  readonly close: () => void
}

/** Opens a sheet by name, or the first one. */
export const openSheet = async (source: FileSource, name: string | undefined, first = 1): Promise<Sheet> => {
  await sameFile(source)
  if (source.bytes > SPREADSHEET.fileBytes) throw new Unreadable(TOO_LARGE)
  const reader = spawnReader()
  try {
    const { count, sheet, width } = await reader.open(source.path, name ?? 1)
    await sameFile(source)
    if (width > MAX_CELLS) throw tooManyColumns(width)
    const header = await headerRow(reader, count, first - 1)
    return {
      name: sheet,
      headers: header.cells,
      records: () => records(source, reader, count, header),
      close: reader.end
    }
  } catch (error) {
    reader.end()
    throw error
  }
}

interface HeaderRow {
  readonly index: number
  readonly cells: ReadonlyArray<string>
}

/** The first row with a value, from this one on. */
const headerRow = async (reader: Reader, count: number, first: number): Promise<HeaderRow> => {
  for (let from = first; from < count;) {
    const batch = await reader.rows(from, BATCH_ROWS)
    const index = batch.findIndex((cells) => cells === null || cells.some((cell) => cell !== null))
    const cells = batch[index]
    if (cells === null) throw new Unreadable(`${LONG_ROW}.`, from + index + 1)
    if (cells !== undefined) return { index: from + index, cells: cells.map((cell) => cell ?? "") }
    from += batch.length
  }
  throw new Unreadable(first > 0 ? `there is no row ${first + 1}.` : "the sheet is empty.")
}

async function* records(source: FileSource, reader: Reader, count: number, header: HeaderRow) {
  for (let from = header.index + 1, next = from; from < count; from = next) {
    const batch = await reader.rows(from, BATCH_ROWS)
    next = from + batch.length
    yield batch.flatMap((values, index): ReadonlyArray<FileRecord> => {
      if (values === null) return [{ line: from + index + 1, cells: [], problem: LONG_ROW }]
      const cells = values.map((value) => (value === null ? undefined : textCell(value)))
      if (cells.every((cell) => cell === undefined)) return []
      const problem = tooLong(cells, header.cells)
      const line = from + index + 1
      return [problem === undefined ? { line, cells } : { line, cells: [], problem }]
    })
    source.onRead(Math.round((source.bytes * next) / count))
  }
}
