/** The bytes of a text file: which format and encoding it has, and its UTF-8 in chunks, from a file that stays the same. */
import { open, stat } from "node:fs/promises"
import { extname } from "node:path"
import { type Encoding, findEncoding, newlines, toUtf8, wholeLetters } from "./encoding.ts"
import { Unreadable } from "./Unreadable.ts"

export interface FileSource {
  readonly path: string
  readonly format: "csv" | "jsonl" | "xlsx"
  readonly encoding: Encoding
  readonly delimiter: string
  /** Ancient files end their lines with a carriage return alone. */
  readonly lineEnd: "\n" | "\r"
  readonly bytes: number
  /** Size, time and place of the file: a later run has to read the same. */
  readonly version: string
  /** Called with the number of bytes that were read so far. */
  readonly onRead: (bytes: number) => void
}

const FORMATS: Readonly<Record<string, FileSource["format"]>> = {
  ".csv": "csv",
  ".tsv": "csv",
  ".tab": "csv",
  ".jsonl": "jsonl",
  ".ndjson": "jsonl"
}

const OLD_SPREADSHEET = Buffer.from([0xd0, 0xcf, 0x11, 0xe0])

const versionOf = async (path: string) => {
  const found = await stat(path)
  if (found.isDirectory()) throw new Unreadable("this is a folder.")
  if (!found.isFile()) throw new Unreadable("this isn't a plain file; it is read more than once. Save it first.")
  return { version: `${found.dev}:${found.ino}:${found.size}:${found.mtimeMs}`, bytes: found.size }
}

export const sameFile = async ({ path, version }: Pick<FileSource, "path" | "version">): Promise<void> => {
  if ((await versionOf(path)).version !== version)
    throw new Unreadable("the file changed while it was read. Import again.")
}

/** Finds out what a file is; `encoding` says what can't be seen. */
export const identify = async (
  path: string,
  encoding: string | undefined,
  onRead: FileSource["onRead"]
): Promise<FileSource> => {
  const found = await versionOf(path)
  const start = await beginning(path)
  if (start.length === 0) throw new Unreadable("the file is empty.")
  if (start[0] === 0x50 && start[1] === 0x4b && start[2] === 3) {
    if (encoding !== undefined) throw new Unreadable("this is a spreadsheet, which says its encoding itself.")
    return { path, ...found, format: "xlsx", encoding: { name: "utf-8" }, delimiter: "", lineEnd: "\n", onRead }
  }
  if (start.subarray(0, 4).equals(OLD_SPREADSHEET))
    throw new Unreadable("this is a spreadsheet in the format of before 2007. Save it as .xlsx or as CSV (UTF-8).")
  const known = await findEncoding(path, start, encoding)
  const text = new TextDecoder(known.name).decode(start)
  const format = FORMATS[extname(path).toLowerCase()] ?? (/^\s*\{/.test(text) ? "jsonl" : "csv")
  const lineEnd = text.includes("\r") && !text.includes("\n") ? "\r" : "\n"
  return { path, ...found, format, encoding: known, lineEnd, delimiter: guessDelimiter(text, lineEnd), onRead }
}

const beginning = async (path: string): Promise<Buffer> => {
  const handle = await open(path)
  try {
    const { buffer, bytesRead } = await handle.read({ buffer: Buffer.alloc(64 * 1024), position: 0 })
    return buffer.subarray(0, bytesRead)
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

/** The file's text as UTF-8, in chunks that end with a whole character. */
export async function* chunks(source: FileSource): AsyncGenerator<Buffer> {
  await sameFile(source)
  const decoder = toUtf8(source.encoding)
  let read = 0
  let lines = 0
  try {
    for await (const bytes of wholeLetters(source.path)) {
      const chunk = decoder.next(bytes)
      read += bytes.length
      source.onRead(read)
      lines += newlines(chunk)
      if (chunk.length > 0) yield chunk
    }
    const rest = decoder.end()
    if (rest.length > 0) yield rest
  } catch (error) {
    throw error instanceof Unreadable ? new Unreadable(error.message, lines + (error.line ?? 1)) : error
  }
  await sameFile(source)
}
