/**
 * XLSX → records. A spreadsheet is a zip archive of XML that has to be in memory as a whole, so it is read by a thread
 * with a heap of its own: what is larger than it seems ends that thread and nothing else. Dates become ISO text, numbers have the fifteen digits that a spreadsheet shows.
 */
import { createRequire } from "node:module"
import { readFile } from "node:fs/promises"
import { Worker } from "node:worker_threads"
import { quoted } from "../../../domain/text.ts"
import { type FileRecord, textCell, tooLong } from "./FileRecord.ts"
import { sameFile, type FileSource } from "./FileSource.ts"
import { Unreadable } from "./Unreadable.ts"
import { entriesOf, hasFarRow } from "./zip.ts"

const MAX_FILE_BYTES = 100 * 1024 * 1024
const MAX_UNPACKED_BYTES = 500 * 1024 * 1024
const HEAP_MB = 1024
const ROWS_AT_ONCE = 2000
const TOO_LARGE =
  "this spreadsheet is too large to be read as one. Save the sheet as CSV (UTF-8): that may have any size."

/** A sheet that has been read, and the thread that holds its rows. */
export interface Sheet {
  readonly name: string
  readonly headers: ReadonlyArray<string>
  readonly records: () => AsyncGenerator<ReadonlyArray<FileRecord>>
  readonly close: () => Promise<unknown>
}

type Value = string | null

interface Opened {
  readonly name: string
  readonly rows: number
}

/** Opens a sheet by name, or the first one. */
export const openSheet = async (source: FileSource, wanted: string | undefined): Promise<Sheet> => {
  await sameFile(source)
  if (source.bytes > MAX_FILE_BYTES) throw new Unreadable(TOO_LARGE)
  const bytes = await readFile(source.path)
  await checkArchive(bytes)
  const thread = startThread()
  try {
    const opened = await thread.ask<Opened>({ open: new Uint8Array(bytes).buffer, sheet: wanted ?? 1 })
    const part = (from: number) => thread.ask<ReadonlyArray<ReadonlyArray<Value>>>({ from, count: ROWS_AT_ONCE })
    const header = await firstRow(part, opened.rows)
    return {
      name: opened.name,
      headers: header.cells.map((cell) => cell ?? ""),
      records: () => records(source, part, opened.rows, header),
      close: thread.end
    }
  } catch (error) {
    await thread.end()
    throw error
  }
}

interface HeaderRow {
  readonly index: number
  readonly cells: ReadonlyArray<Value>
}

type Part = (from: number) => Promise<ReadonlyArray<ReadonlyArray<Value>>>

const firstRow = async (part: Part, rows: number): Promise<HeaderRow> => {
  for (let from = 0; from < rows; from += ROWS_AT_ONCE) {
    const some = await part(from)
    const index = some.findIndex((cells) => cells.some((cell) => cell !== null))
    if (index >= 0) return { index: from + index, cells: some[index]! }
  }
  throw new Unreadable("the sheet is empty.")
}

async function* records(source: FileSource, part: Part, rows: number, header: HeaderRow) {
  const headers = header.cells.map((cell) => cell ?? "")
  for (let from = header.index + 1; from < rows; from += ROWS_AT_ONCE) {
    const some = await part(from)
    yield some.flatMap((values, index): ReadonlyArray<FileRecord> => {
      const cells = values.map((value) => (value === null ? undefined : textCell(value)))
      if (cells.every((cell) => cell === undefined)) return []
      const problem = tooLong(cells, headers)
      const line = from + index + 1
      return [problem === undefined ? { line, cells } : { line, cells: [], problem }]
    })
    source.onRead(Math.round((source.bytes * Math.min(from + ROWS_AT_ONCE, rows)) / rows))
  }
}

/** Refuses what would fill the memory, as far as an archive says so itself; the library reserves what it says, whatever is inside. */
const checkArchive = async (bytes: Buffer): Promise<void> => {
  const entries = entriesOf(bytes)
  if (entries.reduce((sum, entry) => sum + entry.bytes, 0) > MAX_UNPACKED_BYTES) throw new Unreadable(TOO_LARGE)
  for (const entry of entries) {
    if (/sheet[^/]*\.xml$/.test(entry.name) && (await hasFarRow(entry))) throw new Unreadable(TOO_LARGE)
  }
}

/** The thread's program. It is text because a thread needs a file of its own, and a bundle has none to give. */
const PROGRAM = `
const { parentPort, workerData } = require("node:worker_threads")
const { default: readXlsx } = require(workerData.library)
let rows = []
const two = (value) => String(value).padStart(2, "0")
const dateText = (date) => {
  const at = new Date(Math.round(date.getTime() / 1000) * 1000)
  const day = at.toISOString().slice(0, 10)
  const time = [at.getUTCHours(), at.getUTCMinutes(), at.getUTCSeconds()].map(two).join(":")
  return day < "1900-01-01" ? time : time === "00:00:00" ? day : day + " " + time
}
const numberText = (written) => {
  const shown = Number(Number(written).toPrecision(15))
  const text = String(shown)
  return !/e/.test(text) ? text : Math.abs(shown) > 1 ? BigInt(shown).toString() : shown.toFixed(30).replace(/\\.?0+$/, "")
}
const cell = (value) =>
  value === null || value === undefined || typeof value === "string" ? (value ?? null)
  : value instanceof Date ? dateText(value)
  : typeof value === "object" ? numberText(value.written)
  : String(value)
const answer = {
  open: async ({ open, sheet }) => {
    const [found] = await readXlsx(open, { sheets: [sheet], trim: false, parseNumber: (written) => ({ written }) })
    rows = found.data
    return { name: found.sheet, rows: rows.length }
  },
  part: ({ from, count }) => rows.slice(from, from + count).map((row) => row.map(cell))
}
parentPort.on("message", async (message) => {
  try {
    parentPort.postMessage({ answer: await ("open" in message ? answer.open(message) : answer.part(message)) })
  } catch (error) {
    parentPort.postMessage({ error: { name: error.name, sheets: error.sheets ?? [] } })
  }
})`

interface Answer {
  readonly answer?: unknown
  readonly error?: { readonly name: string; readonly sheets: ReadonlyArray<string> }
}

/** One question at a time. */
const startThread = () => {
  const require = createRequire(import.meta.url)
  const worker = new Worker(PROGRAM, {
    eval: true,
    workerData: { library: require.resolve("read-excel-file/universal") },
    resourceLimits: { maxOldGenerationSizeMb: HEAP_MB }
  })
  worker.unref()
  let failed: Error | undefined
  let settle: { readonly resolve: (answer: unknown) => void; readonly reject: (error: Error) => void } | undefined
  const fail = (error: Error) => {
    failed ??= error
    settle?.reject(error)
  }
  worker.on("error", (error: NodeJS.ErrnoException) =>
    fail(error.code === "ERR_WORKER_OUT_OF_MEMORY" ? new Unreadable(TOO_LARGE) : error)
  )
  worker.on("exit", () => fail(new Unreadable(TOO_LARGE)))
  worker.on("message", ({ answer, error }: Answer) =>
    error === undefined ? settle?.resolve(answer) : settle?.reject(sheetError(error))
  )
  return {
    ask: <A>(question: Readonly<Record<string, unknown>>): Promise<A> =>
      new Promise((resolve, reject) => {
        if (failed !== undefined) return reject(failed)
        worker.ref()
        const done =
          <V>(then: (value: V) => void) =>
          (value: V) => {
            settle = undefined
            worker.unref()
            then(value)
          }
        settle = { resolve: done((answer) => resolve(answer as A)), reject: done(reject) }
        worker.postMessage(question, question["open"] instanceof ArrayBuffer ? [question["open"]] : [])
      }),
    end: () => worker.terminate()
  }
}

const sheetError = ({ name, sheets }: NonNullable<Answer["error"]>): Unreadable =>
  new Unreadable(
    name === "SheetNotFoundError"
      ? `there is no sheet of that name. It has: ${sheets.slice(0, 20).map(quoted).join(", ")}.`
      : "this isn't a spreadsheet, or it is damaged."
  )
