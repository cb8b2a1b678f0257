/** A spreadsheet's archive, looked at before anybody unpacks it: how much it says it is, and rows that no sheet has. */
import { createInflateRaw } from "node:zlib"
import { Unreadable } from "./Unreadable.ts"

interface Entry {
  readonly name: string
  readonly deflated: boolean
  readonly packed: Buffer
  readonly bytes: number
}

const damaged = () => new Unreadable("this isn't a spreadsheet, or it is damaged.")

/** The entries of an archive's directory; none of an archive of more than 4 GB, which is no spreadsheet of anybody's. */
export const entriesOf = (zip: Buffer): ReadonlyArray<Entry> => {
  let end = zip.length - 22
  while (end >= 0 && zip.readUInt32LE(end) !== 0x06054b50) {
    if (zip.length - end > 65_557) throw damaged()
    end--
  }
  if (end < 0) throw damaged()
  const entries: Array<Entry> = []
  let at = zip.readUInt32LE(end + 16)
  for (let left = zip.readUInt16LE(end + 10); left > 0; left--) {
    if (at + 46 > zip.length || zip.readUInt32LE(at) !== 0x02014b50) throw damaged()
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

/** A row's number; whoever reads a sheet makes all rows before it. */
const ROW = /<(?:\w+:)?row\b[^>]*?\sr\s*=\s*["']([^"']*)["']/g
const LONGEST_TAG = 1000

/** Whether a sheet has a row beyond the ten million, where a spreadsheet ends after one. */
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
