/**
 * Checks a part of a spreadsheet in one pass before a library parses it, in linear time. The XML parser looks for the end of a
 * tag from every `<` and allocates as many rows and columns as the addresses say, so both are bounded here.
 */
import { isUtf8 } from "node:buffer"
import { Damaged, SPREADSHEET, TooLarge } from "./limits.js"

const [QUOTE, APOSTROPHE, SLASH, LESS, GREATER] = [0x22, 0x27, 0x2f, 0x3c, 0x3e]
const ATTRIBUTES = /[\t\n\r ]+([A-Za-z_][\w.:-]*)=(?:"([^"]*)"|'([^']*)')/y
const ROW = /^\d{1,7}$/
const ADDRESS = /^([A-Z]{1,3})(\d{1,7})$/

/**
 * A tag: its name without the namespace prefix, its place, and whether it opens, closes or does both.
 * @typedef {{ name: string, from: number, to: number, closes: boolean, empty: boolean }} Tag
 */

/** The index after the end mark of a comment, CDATA section or instruction. @param {Buffer} xml @param {string} mark @param {number} from */
const after = (xml, mark, from) => {
  const at = xml.indexOf(mark, from)
  if (at < 0) throw new Damaged()
  return at + mark.length
}

/** The index of the `>` that ends a tag. @param {Buffer} xml @param {number} from */
const endOfTag = (xml, from) => {
  for (let at = from + 1; at < xml.length; at++) {
    if (at - from > SPREADSHEET.tagBytes) throw new TooLarge()
    const byte = xml[at]
    if (byte === GREATER) return at
    if (byte === LESS) throw new Damaged()
    if (byte !== QUOTE && byte !== APOSTROPHE) continue
    const end = xml.subarray(at + 1, at + 2 + SPREADSHEET.attributeBytes).indexOf(byte)
    if (end < 0) throw at + 1 + SPREADSHEET.attributeBytes < xml.length ? new TooLarge() : new Damaged()
    at += end + 1
  }
  throw new Damaged()
}

/** The tags of a document. Comments and text are skipped; a document type is refused. @param {Buffer} xml @returns {Generator<Tag>} */
function* tagsOf(xml) {
  for (let from = xml.indexOf(LESS); from >= 0;) {
    let next
    if (xml[from + 1] === 0x21) {
      const start = xml.toString("latin1", from, from + 9)
      if (start.startsWith("<!--")) next = after(xml, "-->", from)
      else if (start === "<![CDATA[") next = after(xml, "]]>", from)
      else throw new Damaged()
    } else if (xml[from + 1] === 0x3f) next = after(xml, "?>", from)
    else {
      const end = endOfTag(xml, from)
      const closes = xml[from + 1] === SLASH
      let at = closes ? from + 2 : from + 1
      for (let start = at; ; at++) {
        const byte = xml[at]
        if (byte === 0x3a) start = at + 1
        else if (byte === undefined || byte <= 0x20 || byte === SLASH || byte === GREATER) {
          const name = xml.toString("latin1", start, at)
          yield { name, from, to: end + 1, closes, empty: !closes && xml[end - 1] === SLASH }
          break
        }
      }
      next = end + 1
    }
    from = xml.indexOf(LESS, next)
  }
}

/** The attribute `r` of a row or cell; its tag has to be well-formed, so that the parser sees the same. @param {Buffer} xml @param {Tag} tag */
const addressOf = (xml, tag) => {
  const text = xml.toString("latin1", tag.from, tag.empty ? tag.to - 2 : tag.to - 1)
  ATTRIBUTES.lastIndex = text.search(/[\t\n\r ]|$/)
  let at = ATTRIBUTES.lastIndex
  let address
  for (let match = ATTRIBUTES.exec(text); match !== null; match = ATTRIBUTES.exec(text)) {
    at = ATTRIBUTES.lastIndex
    const [, name, quoted, apostrophes] = match
    if (name !== "r" && !(name?.endsWith(":r") && name !== "xmlns:r")) continue
    if (address !== undefined) throw new Damaged()
    address = quoted ?? apostrophes ?? ""
  }
  if (text.slice(at).trim() !== "") throw new Damaged()
  return address
}

/** Counts the rows and cells of a sheet, and bounds the grid that its addresses span. @param {Buffer} xml */
const makeGrid = (xml) => {
  let [rows, cells, row, lastRow, lastColumn] = [0, 0, 0, 0, 0]
  /** @param {Tag} tag */
  return (tag) => {
    if (tag.closes || (tag.name !== "row" && tag.name !== "c")) return
    const address = addressOf(xml, tag)
    if (tag.name === "row") {
      if (address !== undefined && !ROW.test(address)) throw new TooLarge()
      row = address === undefined ? row + 1 : Number(address)
      if (row > SPREADSHEET.rows || ++rows > SPREADSHEET.rows) throw new TooLarge()
      return
    }
    const [, letters, number] = ADDRESS.exec(address ?? "") ?? []
    if (letters === undefined) throw address === undefined ? new Damaged() : new TooLarge()
    let column = 0
    for (const letter of letters) column = column * 26 + letter.charCodeAt(0) - 64
    if (column > SPREADSHEET.columns || Number(number) > SPREADSHEET.rows) throw new TooLarge()
    // A cell without content is only formatted, and not kept.
    if (tag.empty) return
    lastRow = Math.max(lastRow, row, Number(number))
    lastColumn = Math.max(lastColumn, column)
    if (++cells > SPREADSHEET.cells || lastRow * lastColumn > SPREADSHEET.grid) throw new TooLarge()
  }
}

/** The name of the first element. @param {Buffer} xml */
const rootName = (xml) => {
  for (let from = xml.indexOf(LESS); from >= 0; from = xml.indexOf(LESS, from)) {
    if (xml[from + 1] === 0x3f) from = after(xml, "?>", from)
    else if (xml[from + 1] === 0x21) from = after(xml, xml[from + 2] === 0x2d ? "-->" : ">", from)
    else return /^(?:[\w.-]+:)?(\w+)/.exec(xml.toString("latin1", from + 1, from + 200))?.[1]
  }
  return undefined
}

/** Parts of other kinds aren't read. */
const KINDS = ["workbook", "worksheet", "sst", "styleSheet", "Relationships"]
const COUNTED = new Map([
  ["si", SPREADSHEET.sharedStrings],
  ["sheet", SPREADSHEET.sheets]
])

/**
 * The part as the parser may read it; undefined if it needn't. The kind is that of the first tag, whatever the part is named.
 * Of a sheet only the rows remain. @param {Buffer} xml @returns {Buffer | undefined}
 */
export const checkXml = (xml) => {
  const kind = KINDS.find((name) => rootName(xml) === name)
  if (kind === undefined) return undefined
  if (!isUtf8(xml)) throw new Damaged()
  const onSheetTag = makeGrid(xml)
  const counts = new Map()
  let depth = 0
  let data
  for (const tag of tagsOf(xml)) {
    if (!tag.empty) depth += tag.closes ? -1 : 1
    if (depth > SPREADSHEET.depth) throw new TooLarge()
    if (kind !== "worksheet") {
      const most = tag.closes ? undefined : COUNTED.get(tag.name)
      if (most === undefined) continue
      counts.set(tag.name, (counts.get(tag.name) ?? 0) + 1)
      if (counts.get(tag.name) > most) throw new TooLarge()
    } else if (tag.name === "sheetData") {
      if (data === undefined && !tag.closes) data = tag.from
      else if (data === undefined || !tag.closes) throw new Damaged()
      if (tag.closes || tag.empty) return sheetOf(xml.subarray(data, tag.to))
    } else if (data !== undefined) onSheetTag(tag)
  }
  if (kind === "worksheet") throw new Damaged()
  return xml
}

/** @param {Buffer} data */
const sheetOf = (data) => Buffer.concat([Buffer.from("<worksheet>"), data, Buffer.from("</worksheet>")])
