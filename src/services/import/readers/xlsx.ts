/**
 * XLSX → records. A spreadsheet is a zip archive of XML that must be in memory as a whole, so a separate process reads
 * it: a file that unpacks to more than it declares ends that process and nothing else.
 */
import { readFile } from "node:fs/promises"
import { type FileRecord, textCell, tooLong } from "./FileRecord.ts"
import { type FileSource, sameFile } from "./FileSource.ts"
import { type Reader, spawnReader } from "./spawnReader.ts"
import { TOO_LARGE, Unreadable } from "./Unreadable.ts"
import { entriesOf, hasFarRow } from "./zip.ts"

const MAX_FILE_BYTES = 100 * 1024 * 1024
const MAX_UNPACKED_BYTES = 500 * 1024 * 1024
const BATCH_ROWS = 2000

/** An open sheet; `close` ends the process that holds its rows. */
export interface Sheet {
  readonly name: string
  readonly headers: ReadonlyArray<string>
  readonly records: () => AsyncGenerator<ReadonlyArray<FileRecord>>
  readonly close: () => void
}

/** Opens a sheet by name, or the first one. */
export const openSheet = async (source: FileSource, name: string | undefined): Promise<Sheet> => {
  await sameFile(source)
  if (source.bytes > MAX_FILE_BYTES) throw new Unreadable(TOO_LARGE)
  const bytes = await readFile(source.path)
  await checkArchive(bytes)
  const reader = spawnReader()
  try {
    const { count, sheet } = await reader.open(bytes, name ?? 1)
    const header = await headerRow(reader, count)
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

/** The first row with a value. */
const headerRow = async (reader: Reader, count: number): Promise<HeaderRow> => {
  for (let from = 0; from < count; from += BATCH_ROWS) {
    const batch = await reader.rows(from, BATCH_ROWS)
    const index = batch.findIndex((cells) => cells.some((cell) => cell !== null))
    if (index >= 0) return { index: from + index, cells: batch[index]!.map((cell) => cell ?? "") }
  }
  throw new Unreadable("the sheet is empty.")
}

async function* records(source: FileSource, reader: Reader, count: number, header: HeaderRow) {
  for (let from = header.index + 1; from < count; from += BATCH_ROWS) {
    const batch = await reader.rows(from, BATCH_ROWS)
    yield batch.flatMap((values, index): ReadonlyArray<FileRecord> => {
      const cells = values.map((value) => (value === null ? undefined : textCell(value)))
      if (cells.every((cell) => cell === undefined)) return []
      const problem = tooLong(cells, header.cells)
      const line = from + index + 1
      return [problem === undefined ? { line, cells } : { line, cells: [], problem }]
    })
    source.onRead(Math.round((source.bytes * Math.min(from + BATCH_ROWS, count)) / count))
  }
}

/** Refuses an archive that would fill the memory: the reader allocates the sizes that the archive declares. */
const checkArchive = async (bytes: Buffer): Promise<void> => {
  const entries = entriesOf(bytes)
  if (entries.reduce((sum, entry) => sum + entry.bytes, 0) > MAX_UNPACKED_BYTES) throw new Unreadable(TOO_LARGE)
  for (const entry of entries) {
    if (/sheet[^/]*\.xml$/.test(entry.name) && (await hasFarRow(entry))) throw new Unreadable(TOO_LARGE)
  }
}
