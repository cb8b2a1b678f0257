/**
 * Entry of the process that reads a spreadsheet, started by `spawnReader.ts`. It is JavaScript, because Node 20 runs no
 * TypeScript and tests start it from the sources; `scripts/build.mjs` bundles it beside the command line.
 */
import readXlsx from "read-excel-file/universal"

/** @import { ReaderRequest, ReaderResponse } from "./spawnReader.ts" */

/** @type {ReadonlyArray<ReadonlyArray<unknown>>} */
let rows = []

/** @param {number} value */
const twoDigits = (value) => String(value).padStart(2, "0")

/** A date is ISO text; a time of day has a date before 1900. @param {Date} date */
const dateText = (date) => {
  const at = new Date(Math.round(date.getTime() / 1000) * 1000)
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
  return exponent > 0 ? BigInt(shown).toString() : shown.toFixed(Math.min(14 - exponent, 100)).replace(/\.?0+$/, "")
}

/** @param {unknown} value @returns {string | null} */
const cellText = (value) => {
  if (value === null || value === undefined) return null
  if (value instanceof Date) return dateText(value)
  if (typeof value === "object" && "number" in value) return numberText(String(value.number))
  return String(value)
}

/** @param {ReaderRequest} request @returns {Promise<ReaderResponse>} */
const respond = async (request) => {
  if ("from" in request) {
    const part = rows.slice(request.from, request.from + request.count)
    return { rows: part.map((row) => row.map(cellText)) }
  }
  const bytes = new Uint8Array(request.bytes).buffer
  // The package's types don't know the option `sheets`.
  const options = {
    sheets: [request.sheet],
    trim: false,
    parseNumber: (/** @type {string} */ number) => ({ number })
  }
  const [sheet] = await readXlsx(bytes, options)
  if (sheet === undefined) throw new Error("The spreadsheet has no sheet")
  rows = sheet.data
  return { sheet: sheet.sheet, count: rows.length }
}

process.on("message", (/** @type {ReaderRequest} */ request) => {
  respond(request).then(
    (response) => process.send?.(response),
    ({ name, sheets }) => process.send?.({ error: name, sheets: sheets ?? [] })
  )
})
