/**
 * A spreadsheet's archive, inspected before the reader unpacks it: the sizes that it declares, and rows beyond the last
 * row that a sheet can have.
 * It walks the directory exactly as fflate does, because fflate unpacks the archive: a second zip library could see other
 * entries than the reader. Of these checks, yauzl would provide only the comparison with the declared size.
 */
import { createInflateRaw } from "node:zlib"
import { DAMAGED, Unreadable } from "./Unreadable.ts"

interface Entry {
  readonly name: string
  readonly deflated: boolean
  readonly packed: Buffer
  /** The size that it declares to unpack to. */
  readonly bytes: number
}

const damaged = () => new Unreadable(DAMAGED)

const [END, END_64, LOCATOR_64, HEADER] = [0x06054b50, 0x06064b50, 0x07064b50, 0x02014b50]

/** Where an archive's directory begins, and how many entries it has. */
const directoryOf = (zip: Buffer): readonly [at: number, count: number] => {
  let end = zip.length - 22
  while (end >= 0 && zip.readUInt32LE(end) !== END) {
    if (zip.length - end > 65_557) throw damaged()
    end--
  }
  if (end < 0) throw damaged()
  // fflate follows a ZIP64 record wherever there is one.
  if (end >= 20 && zip.readUInt32LE(end - 20) === LOCATOR_64) {
    const record = zip.readUInt32LE(end - 12)
    if (record + 56 > zip.length) throw damaged()
    if (zip.readUInt32LE(record) === END_64) return [zip.readUInt32LE(record + 48), zip.readUInt32LE(record + 32)]
  }
  return [zip.readUInt32LE(end + 16), zip.readUInt16LE(end + 8)]
}

/** The entries of an archive's directory; a ZIP64 size counts as 4 GB. */
export const entriesOf = (zip: Buffer): ReadonlyArray<Entry> => {
  const entries: Array<Entry> = []
  let [at, left] = directoryOf(zip)
  for (; left > 0; left--) {
    if (at + 46 > zip.length || zip.readUInt32LE(at) !== HEADER) throw damaged()
    const nameLength = zip.readUInt16LE(at + 28)
    const local = zip.readUInt32LE(at + 42)
    if (local + 30 > zip.length) throw damaged()
    const start = local + 30 + zip.readUInt16LE(local + 26) + zip.readUInt16LE(local + 28)
    entries.push({
      name: zip.toString("utf8", at + 46, at + 46 + nameLength),
      deflated: zip.readUInt16LE(at + 10) === 8,
      packed: zip.subarray(start, start + zip.readUInt32LE(at + 20)),
      bytes: zip.readUInt32LE(at + 24)
    })
    at += 46 + nameLength + zip.readUInt16LE(at + 30) + zip.readUInt16LE(at + 32)
  }
  return entries
}

/** The number of a row; reading a sheet allocates all rows before it. */
const ROW = /<(?:\w+:)?row\b[^>]*?\sr\s*=\s*["']([^"']*)["']/g
const LONGEST_TAG = 1000

/** Whether a sheet has a row with a number of more than seven digits; a spreadsheet ends after 1,048,576. */
export const hasFarRow = async ({ bytes, deflated, packed }: Entry): Promise<boolean> => {
  let rest = ""
  let read = 0
  const isFar = (chunk: Buffer): boolean => {
    const text = rest + chunk.toString("latin1")
    rest = text.slice(-LONGEST_TAG)
    for (const [, number] of text.matchAll(ROW)) if (!/^\d{1,7}$/.test(number!)) return true
    return false
  }
  if (!deflated) return isFar(packed)
  const inflate = createInflateRaw()
  inflate.end(packed)
  try {
    for await (const chunk of inflate) {
      read += (chunk as Buffer).length
      if (read > bytes) throw damaged()
      if (isFar(chunk as Buffer)) return true
    }
    return false
  } catch {
    throw damaged()
  } finally {
    inflate.destroy()
  }
}
