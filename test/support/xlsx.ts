/** Minimal spreadsheets for tests: inline strings, numbers, dates by style, formulas with their values. */
import { deflateRawSync } from "node:zlib"

export type SheetCell =
  | string
  | number
  | boolean
  | null
  | { readonly date: number; readonly time?: boolean }
  | { readonly formula: string; readonly value: string | number }

const escaped = (text: string) =>
  text.replace(/[&<>"]/g, (character) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[character]!)

const letters = (column: number): string =>
  column < 26 ? String.fromCharCode(65 + column) : letters(Math.floor(column / 26) - 1) + letters(column % 26)

const cellXml = (cell: SheetCell, place: string): string => {
  if (cell === null) return ""
  if (typeof cell === "string")
    return `<c r="${place}" t="inlineStr"><is><t xml:space="preserve">${escaped(cell)}</t></is></c>`
  if (typeof cell === "number") return `<c r="${place}"><v>${cell}</v></c>`
  if (typeof cell === "boolean") return `<c r="${place}" t="b"><v>${cell ? 1 : 0}</v></c>`
  if ("date" in cell) return `<c r="${place}" s="${cell.time === true ? 2 : 1}"><v>${cell.date}</v></c>`
  const type = typeof cell.value === "string" ? ` t="str"` : ""
  return `<c r="${place}"${type}><f>${escaped(cell.formula)}</f><v>${escaped(String(cell.value))}</v></c>`
}

export const sheetXml = (rows: ReadonlyArray<ReadonlyArray<SheetCell>>): string =>
  `<?xml version="1.0"?><worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>${rows
    .map(
      (row, index) =>
        `<row r="${index + 1}">${row.map((cell, column) => cellXml(cell, `${letters(column)}${index + 1}`)).join("")}</row>`
    )
    .join("")}</sheetData></worksheet>`

interface WorkbookOptions {
  /** Further entries, which replace those of the same name. */
  readonly entries?: Readonly<Record<string, string | Buffer>>
  /** Overrides the declared sizes of entries. */
  readonly sizes?: Readonly<Record<string, number>>
  /** The path of a sheet within `xl/`, by its number from 1. */
  readonly pathOf?: (number: number) => string
}

/** A workbook of sheets, given as XML by name. */
export const workbook = (
  sheets: Readonly<Record<string, string>>,
  { entries = {}, pathOf = (number) => `worksheets/sheet${number}.xml`, sizes }: WorkbookOptions = {}
): Buffer => {
  const names = Object.keys(sheets)
  const relation = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
  const main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
  return zip(
    {
      "[Content_Types].xml": `<?xml version="1.0"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>`,
      "_rels/.rels": `<?xml version="1.0"?><Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r0" Type="${relation}/officeDocument" Target="xl/workbook.xml"/></Relationships>`,
      "xl/workbook.xml": `<?xml version="1.0"?><workbook xmlns="${main}" xmlns:r="${relation}"><sheets>${names.map((name, index) => `<sheet name="${escaped(name)}" sheetId="${index + 1}" r:id="r${index + 1}"/>`).join("")}</sheets></workbook>`,
      "xl/_rels/workbook.xml.rels": `<?xml version="1.0"?><Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">${names.map((_, index) => `<Relationship Id="r${index + 1}" Type="${relation}/worksheet" Target="${pathOf(index + 1)}"/>`).join("")}<Relationship Id="r${names.length + 1}" Type="${relation}/styles" Target="styles.xml"/></Relationships>`,
      "xl/styles.xml": `<?xml version="1.0"?><styleSheet xmlns="${main}"><cellStyleXfs count="1"><xf numFmtId="0"/></cellStyleXfs><cellXfs count="3"><xf numFmtId="0" xfId="0"/><xf numFmtId="14" xfId="0" applyNumberFormat="1"/><xf numFmtId="22" xfId="0" applyNumberFormat="1"/></cellXfs></styleSheet>`,
      ...Object.fromEntries(Object.values(sheets).map((xml, index) => [`xl/${pathOf(index + 1)}`, xml])),
      ...entries
    },
    sizes
  )
}

const CRC = Uint32Array.from({ length: 256 }, (_, byte) => {
  let value = byte
  for (let bit = 0; bit < 8; bit++) value = value & 1 ? 0xedb88320 ^ (value >>> 1) : value >>> 1
  return value
})

const crc32 = (bytes: Buffer): number => {
  let value = 0xffffffff
  for (const byte of bytes) value = CRC[(value ^ byte) & 255]! ^ (value >>> 8)
  return (value ^ 0xffffffff) >>> 0
}

const numbers = (...parts: ReadonlyArray<readonly [value: number, bytes: 2 | 4]>): Buffer =>
  Buffer.concat(
    parts.map(([value, bytes]) => {
      const part = Buffer.alloc(bytes)
      part.writeUIntLE(value, 0, bytes)
      return part
    })
  )

/** A zip archive; `sizes` overrides the declared sizes of entries. */
export const zip = (
  entries: Readonly<Record<string, string | Buffer>>,
  sizes: Readonly<Record<string, number>> = {}
): Buffer => {
  const local: Array<Buffer> = []
  const directory: Array<Buffer> = []
  let offset = 0
  for (const [name, content] of Object.entries(entries)) {
    const bytes = Buffer.from(content)
    const packed = deflateRawSync(bytes)
    const common = numbers(
      [20, 2],
      [0, 2],
      [8, 2],
      [0, 4],
      [crc32(bytes), 4],
      [packed.length, 4],
      [sizes[name] ?? bytes.length, 4],
      [name.length, 2],
      [0, 2]
    )
    const entry = Buffer.concat([numbers([0x04034b50, 4]), common, Buffer.from(name), packed])
    directory.push(
      numbers([0x02014b50, 4], [20, 2]),
      common,
      numbers([0, 2], [0, 2], [0, 2], [0, 4], [offset, 4]),
      Buffer.from(name)
    )
    local.push(entry)
    offset += entry.length
  }
  const size = directory.reduce((sum, part) => sum + part.length, 0)
  const count = Object.keys(entries).length
  return Buffer.concat([
    ...local,
    ...directory,
    numbers([0x06054b50, 4], [0, 2], [0, 2], [count, 2], [count, 2], [size, 4], [offset, 4], [0, 2])
  ])
}
