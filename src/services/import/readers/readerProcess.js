/**
 * Entry of the process that reads a spreadsheet, started by `spawnReader.ts`. It is JavaScript, because Node 20 runs no
 * TypeScript and tests start it from the sources; `scripts/build.mjs` bundles it beside the command line.
 */
import readXlsx from "read-excel-file/universal"
import { SPREADSHEET, TooLarge } from "./limits.js"
import { repack } from "./repack.js"

/** @import { ReaderRequest, ReaderResponse } from "./spawnReader.ts" */

/** @type {ReadonlyArray<ReadonlyArray<unknown>>} */
let rows = []

/** @param {number} value */
const twoDigits = (value) => String(value).padStart(2, "0")

/** A date is ISO text; a time of day has a date before 1900. @param {Date} date */
const dateText = (date) => {
  const at = new Date(Math.round(date.getTime() / 1000) * 1000)
  if (Number.isNaN(at.getTime())) throw new Error("A date is out of range")
  const day = at.toISOString().slice(0, 10)
  const time = [at.getUTCHours(), at.getUTCMinutes(), at.getUTCSeconds()].map(twoDigits).join(":")
  return day < "1900-01-01" ? time : time === "00:00:00" ? day : `${day} ${time}`
}

/** A number has the fifteen digits that a spreadsheet shows, without an exponent. @param {string} source */
const numberText = (source) => {
  const shown = Number(Number(source).toPrecision(15))
  const text = String(shown)
  const exponent = Number(text.split("e")[1] ?? 0)
  if (exponent === 0) return text
  if (exponent > 0) return BigInt(shown).toString()
  const fixed = shown.toFixed(Math.min(14 - exponent, 100))
  let end = fixed.length
  while (fixed[end - 1] === "0") end -= 1
  return fixed.slice(0, fixed[end - 1] === "." ? end - 1 : end)
}

/** A cell's text; one that exceeds the limit is cut so that it still does. @param {unknown} value @returns {string | null} */
const cellText = (value) => {
  if (value === null || value === undefined) return null
  if (value instanceof Date) return dateText(value)
  const text = typeof value === "object" && "number" in value ? numberText(String(value.number)) : String(value)
  return text.slice(0, MAX_CELL + 1)
}

/** One text may stand in millions of cells, so a response is bounded by its length too, and a row that exceeds it is null. */
const MAX_CELL = 100_000
const MAX_RESPONSE = 8 * 1024 * 1024

/** @param {number} from @param {number} count */
const rowsFrom = (from, count) => {
  /** @type {Array<ReadonlyArray<string | null> | null>} */
  const response = []
  let total = 0
  for (const values of rows.slice(from, from + count)) {
    const cells = []
    let length = 0
    for (const value of values) {
      const text = cellText(value)
      length += 1 + (text?.length ?? 0)
      if (length > MAX_RESPONSE) break
      cells.push(text)
    }
    if (response.length > 0 && total + length > MAX_RESPONSE) break
    total += length
    response.push(length > MAX_RESPONSE ? null : cells)
  }
  return response
}

/** The file, which arrives on standard input. */
const received = async () => {
  const chunks = []
  let length = 0
  for await (const chunk of process.stdin) {
    length += chunk.length
    if (length > SPREADSHEET.fileBytes) throw new TooLarge()
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

/** @param {ReaderRequest} request @returns {Promise<ReaderResponse>} */
const respond = async (request) => {
  if ("from" in request) return { rows: rowsFrom(request.from, request.count) }
  const bytes = new Uint8Array(repack(await received())).buffer
  // The package's types don't know the option `sheets`.
  const options = {
    sheets: [request.sheet],
    trim: false,
    parseNumber: (/** @type {string} */ number) => ({ number })
  }
  const [sheet] = await readXlsx(bytes, options)
  if (sheet === undefined) throw new Error("The spreadsheet has no sheet")
  rows = sheet.data
  return { sheet: sheet.sheet, count: rows.length, width: rows[0]?.length ?? 0 }
}

process.on("message", (/** @type {ReaderRequest} */ request) => {
  respond(request).then(
    (response) => process.send?.(response),
    ({ name, sheets }) => process.send?.({ error: name, sheets: (sheets ?? []).slice(0, 20) })
  )
})

// The process that started this one has ended.
process.on("disconnect", () => process.exit())
