/**
 * Unpacks the parts of a spreadsheet that are needed, within limits, checks them, and packs them again without compression.
 * The library then sees exactly the parts that were checked, inflates nothing, and starts no thread of its own.
 */
import { inflateRawSync } from "node:zlib"
import { Damaged, SPREADSHEET, TooLarge } from "./limits.js"
import { checkXml } from "./scanXml.js"

/** @typedef {{ name: string, method: number, packed: Buffer, bytes: number }} Entry */

const [END, END_64, LOCATOR_64, HEADER, LOCAL] = [0x06054b50, 0x06064b50, 0x07064b50, 0x02014b50, 0x04034b50]
const MAX_COMMENT = 65_557
const UTF_8_NAME = 0x800

/** Where an archive's directory begins, and how many entries it has. @param {Buffer} zip @returns {[at: number, count: number]} */
const directoryOf = (zip) => {
  let end = zip.length - 22
  while (end >= 0 && zip.readUInt32LE(end) !== END) {
    if (zip.length - end > MAX_COMMENT) throw new Damaged()
    end--
  }
  if (end < 0) throw new Damaged()
  if (end >= 20 && zip.readUInt32LE(end - 20) === LOCATOR_64) {
    const record = zip.readUInt32LE(end - 12)
    if (record + 56 > zip.length) throw new Damaged()
    if (zip.readUInt32LE(record) === END_64) return [zip.readUInt32LE(record + 48), zip.readUInt32LE(record + 32)]
  }
  return [zip.readUInt32LE(end + 16), zip.readUInt16LE(end + 8)]
}

/** The entries of XML by name; of two with one name the last counts. A ZIP64 size counts as the 4 GB that stand in its place. @param {Buffer} zip */
const entriesOf = (zip) => {
  /** @type {Map<string, Entry>} */
  const entries = new Map()
  let [at, left] = directoryOf(zip)
  if (left > SPREADSHEET.entries) throw new TooLarge()
  for (; left > 0; left--) {
    if (at + 46 > zip.length || zip.readUInt32LE(at) !== HEADER) throw new Damaged()
    const nameLength = zip.readUInt16LE(at + 28)
    const local = zip.readUInt32LE(at + 42)
    if (local + 30 > zip.length) throw new Damaged()
    const start = local + 30 + zip.readUInt16LE(local + 26) + zip.readUInt16LE(local + 28)
    const encoding = zip.readUInt16LE(at + 8) & UTF_8_NAME ? "utf8" : "latin1"
    const name = zip.toString(encoding, at + 46, at + 46 + nameLength)
    if (name.endsWith(".xml") || name === "xl/_rels/workbook.xml.rels")
      entries.set(name, {
        name,
        method: zip.readUInt16LE(at + 10),
        packed: zip.subarray(start, start + zip.readUInt32LE(at + 20)),
        bytes: zip.readUInt32LE(at + 24)
      })
    at += 46 + nameLength + zip.readUInt16LE(at + 30) + zip.readUInt16LE(at + 32)
  }
  return [...entries.values()]
}

/** An entry's content, which has to have the size that it declares. @param {Entry} entry */
const contentOf = ({ bytes, method, packed }) => {
  if (method !== 0 && method !== 8) throw new Damaged()
  try {
    const content = method === 0 ? packed : inflateRawSync(packed, { maxOutputLength: Math.max(bytes, 1) })
    if (content.length === bytes) return content
  } catch {
    // Damaged, or longer than it declares.
  }
  throw new Damaged()
}

/** An archive of uncompressed parts. @param {ReadonlyArray<{ name: string, content: Buffer }>} parts */
const stored = (parts) => {
  const files = []
  const directory = []
  let offset = 0
  for (const { content, name } of parts) {
    const path = Buffer.from(name)
    const common = Buffer.alloc(26)
    common.writeUInt16LE(20, 0)
    common.writeUInt16LE(UTF_8_NAME, 2)
    common.writeUInt32LE(content.length, 14)
    common.writeUInt32LE(content.length, 18)
    common.writeUInt16LE(path.length, 22)
    const [local, header, tail] = [Buffer.alloc(4), Buffer.alloc(6), Buffer.alloc(14)]
    local.writeUInt32LE(LOCAL)
    header.writeUInt32LE(HEADER)
    tail.writeUInt32LE(offset, 10)
    files.push(local, common, path, content)
    directory.push(header, common, tail, path)
    offset += 30 + path.length + content.length
  }
  const end = Buffer.alloc(22)
  end.writeUInt32LE(END)
  end.writeUInt16LE(parts.length, 8)
  end.writeUInt16LE(parts.length, 10)
  end.writeUInt32LE(
    directory.reduce((sum, part) => sum + part.length, 0),
    12
  )
  end.writeUInt32LE(offset, 16)
  return Buffer.concat([...files, ...directory, end])
}

/** @param {Buffer} zip */
export const repack = (zip) => {
  const entries = entriesOf(zip)
  if (entries.reduce((sum, entry) => sum + entry.bytes, 0) > SPREADSHEET.unpackedBytes) throw new TooLarge()
  return stored(
    entries.flatMap((entry) => {
      const content = checkXml(contentOf(entry))
      return content === undefined ? [] : [{ name: entry.name, content }]
    })
  )
}
