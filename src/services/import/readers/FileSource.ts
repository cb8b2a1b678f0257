/** A file's format and encoding, and its text as UTF-8 in chunks; a file that changes while it is read is an error. */
import { open, stat } from "node:fs/promises"
import { extname } from "node:path"
import { type Encoding, findEncoding, newlines, toUtf8, wholeLetters } from "./encoding.ts"
import { Unreadable } from "./Unreadable.ts"

export interface FileSource {
  readonly path: string
  readonly format: "csv" | "jsonl" | "xlsx"
  readonly encoding: Encoding
  readonly delimiter: string
  /** The line at which the text begins; the lines before it are skipped. */
  readonly firstLine: number
  /** Old Mac files end their lines with a carriage return alone. */
  readonly lineEnd: "\n" | "\r"
  readonly bytes: number
  /** Device, inode, size and modification time: every run must read the same file. */
  readonly version: string
  /** Called with the number of bytes read so far. */
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
  const stats = await stat(path)
  if (stats.isDirectory()) throw new Unreadable("this is a folder.")
  if (!stats.isFile())
    throw new Unreadable("this isn't a regular file, and it must be read more than once. Save it first.")
  return { version: `${stats.dev}:${stats.ino}:${stats.size}:${stats.mtimeMs}`, bytes: stats.size }
}

export const sameFile = async ({ path, version }: Pick<FileSource, "path" | "version">): Promise<void> => {
  if ((await versionOf(path)).version !== version)
    throw new Unreadable("the file changed while it was read. Import again.")
}

/** Detects the format and encoding of a file; `encoding` names one that can't be detected. */
export const identify = async (
  path: string,
  { encoding, headerRow }: { readonly encoding?: string | undefined; readonly headerRow?: number | undefined },
  onRead: FileSource["onRead"]
): Promise<FileSource> => {
  const file = await versionOf(path)
  const start = await beginning(path)
  if (start.length === 0) throw new Unreadable("the file is empty.")
  if (start[0] === 0x50 && start[1] === 0x4b && start[2] === 3) {
    if (encoding !== undefined) throw new Unreadable("this is a spreadsheet, which needs no encoding.")
    return {
      path,
      ...file,
      format: "xlsx",
      encoding: { name: "utf-8" },
      delimiter: "",
      firstLine: 1,
      lineEnd: "\n",
      onRead
    }
  }
  if (start.subarray(0, 4).equals(OLD_SPREADSHEET))
    throw new Unreadable("this is a spreadsheet in the format used before 2007. Save it as .xlsx or as CSV (UTF-8).")
  const detected = await findEncoding(path, start, encoding)
  const text = new TextDecoder(detected.name).decode(start)
  const format = FORMATS[extname(path).toLowerCase()] ?? (/^\s*\{/.test(text) ? "jsonl" : "csv")
  const lineEnd = text.includes("\r") && !text.includes("\n") ? "\r" : "\n"
  // Spreadsheet programs write this line for each other.
  const stated = /^\uFEFF?"?sep=(.)"?\r?(?:\n|$|\r)/i.exec(text)?.[1]
  const firstLine = headerRow ?? (stated === undefined ? 1 : 2)
  const delimiter =
    stated ??
    guessDelimiter(
      text
        .split(lineEnd)
        .slice(firstLine - 1)
        .join(lineEnd),
      lineEnd
    )
  return { path, ...file, format, encoding: detected, lineEnd, delimiter, firstLine, onRead }
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

/** The delimiter that occurs as often in the first lines as in the header; among equals, the one most frequent in the header. */
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

/** The file's text as UTF-8, in chunks that don't split a character. */
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
