/** The bytes of a file: which format it has, and its UTF-8 in chunks, from a file that stays the same. */
import { isUtf8 } from "node:buffer"
import { createReadStream } from "node:fs"
import { open, stat } from "node:fs/promises"
import { extname } from "node:path"

const CHUNK_BYTES = 256 * 1024

/** What makes a file unreadable, at a line if there is one. */
export class Unreadable extends Error {
  readonly line: number | undefined
  constructor(message: string, line?: number) {
    super(message)
    this.line = line
  }
}

export interface Source {
  readonly path: string
  readonly format: "csv" | "jsonl"
  readonly delimiter: string
  /** Ancient files end their lines with a carriage return alone. */
  readonly lineEnd: "\n" | "\r"
  /** Size, time and place of the file: a later run has to read the same. */
  readonly version: string
}

const FORMATS: Readonly<Record<string, Source["format"]>> = {
  ".csv": "csv",
  ".tsv": "csv",
  ".tab": "csv",
  ".jsonl": "jsonl",
  ".ndjson": "jsonl"
}

const versionOf = async (path: string): Promise<string> => {
  const found = await stat(path)
  if (found.isDirectory()) throw new Unreadable("this is a folder.")
  if (!found.isFile()) throw new Unreadable("this isn't a plain file; it is read more than once. Save it first.")
  return `${found.dev}:${found.ino}:${found.size}:${found.mtimeMs}`
}

export const identify = async (path: string): Promise<Source> => {
  const version = await versionOf(path)
  const handle = await open(path)
  try {
    const { buffer, bytesRead } = await handle.read({ buffer: Buffer.alloc(64 * 1024), position: 0 })
    const start = buffer.subarray(0, bytesRead)
    if (bytesRead === 0) throw new Unreadable("the file is empty.")
    if ((start[0] === 0xff && start[1] === 0xfe) || (start[0] === 0xfe && start[1] === 0xff)) {
      throw new Unreadable("the file is UTF-16. Save it as UTF-8.", 1)
    }
    if (start[0] === 0x50 && start[1] === 0x4b && start[2] === 3) {
      throw new Unreadable("this is a spreadsheet or an archive. Save the sheet as CSV (UTF-8).")
    }
    const text = start.toString("utf8").replace(/^\ufeff/, "")
    const extension = extname(path).toLowerCase()
    const format = FORMATS[extension] ?? (/^\s*\{/.test(text) ? "jsonl" : "csv")
    const lineEnd = text.includes("\r") && !text.includes("\n") ? "\r" : "\n"
    return { path, format, version, lineEnd, delimiter: guessDelimiter(text, lineEnd) }
  } finally {
    await handle.close()
  }
}

/** The delimiter that divides most of the first lines as it divides the header, and the header most often. */
const guessDelimiter = (text: string, lineEnd: string): string => {
  const lines = text
    .replace(/"(?:[^"]|"")*"/g, "")
    .split(lineEnd)
    .filter((line) => line.trim() !== "")
    .slice(0, 20)
  const score = (delimiter: string) => {
    const counts = lines.map((line) => line.split(delimiter).length - 1)
    const inHeader = counts[0] ?? 0
    return inHeader === 0 ? 0 : counts.filter((count) => count === inHeader).length * 10_000 + inHeader
  }
  return [",", ";", "\t", "|"].reduce((best, next) => (score(next) > score(best) ? next : best))
}

/** The file's bytes, all of them UTF-8, in chunks that end with a whole character. */
export async function* chunks(source: Source): AsyncGenerator<Buffer> {
  const sameFile = async () => {
    if ((await versionOf(source.path)) !== source.version)
      throw new Unreadable("the file changed while it was read. Import again.")
  }
  await sameFile()
  let lines = 0
  let rest: Buffer = Buffer.alloc(0)
  const check = (bytes: Buffer) => {
    if (isUtf8(bytes)) return
    let from = 0
    for (let end = bytes.indexOf(10); end >= 0 && isUtf8(bytes.subarray(from, end)); end = bytes.indexOf(10, from)) {
      from = end + 1
      lines++
    }
    throw new Unreadable("this isn't UTF-8. Save the file as UTF-8 (in Excel: CSV UTF-8).", lines + 1)
  }
  let first = true
  for await (const read of createReadStream(source.path, { highWaterMark: CHUNK_BYTES })) {
    const bytes = rest.length === 0 ? (read as Buffer) : Buffer.concat([rest, read as Buffer])
    const end = wholeCharacters(bytes)
    let chunk = bytes.subarray(0, end)
    rest = Buffer.from(bytes.subarray(end))
    if (first && chunk.length >= 3) {
      first = false
      if (chunk[0] === 0xef && chunk[1] === 0xbb && chunk[2] === 0xbf) chunk = chunk.subarray(3)
    }
    check(chunk)
    for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, at + 1)) lines++
    if (chunk.length > 0) yield chunk
  }
  check(rest)
  await sameFile()
}

/** The length of the bytes without a character that isn't all there yet. */
const wholeCharacters = (bytes: Buffer): number => {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back]!
    if ((byte & 0xc0) === 0x80) continue
    const size = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1
    return size > back ? bytes.length - back : bytes.length
  }
  return bytes.length
}
