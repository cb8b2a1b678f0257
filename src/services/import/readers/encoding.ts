/**
 * Detects the encoding of a file and converts it to UTF-8. Byte order marks, UTF-8 and UTF-16 are detected; other text
 * with single accented letters is read as Windows-1252, with a warning; any other encoding must be named.
 */
import { isAscii, isUtf8 } from "node:buffer"
import { createReadStream } from "node:fs"
import { printable, quoted } from "../../../domain/text.ts"
import { Unreadable } from "./Unreadable.ts"

export interface Encoding {
  /** The WHATWG name: `utf-8`, `utf-16le`, `windows-1252`. */
  readonly name: string
  /** Set for a guess: the first line that depends on it, and a word of that line for a person to check. */
  readonly guessed?: { readonly line: number; readonly word: string }
}

const UTF_8: Encoding = { name: "utf-8" }
const CHUNK_BYTES = 256 * 1024
const HOW_TO_SAY =
  "Save the file as UTF-8 (in Excel: CSV UTF-8), or name its encoding, such as windows-1250, iso-8859-2, windows-1251, shift_jis or gbk."

/** The encoding of a file that begins with `start`; the whole file is read unless its beginning decides. */
export const findEncoding = async (path: string, start: Buffer, named: string | undefined): Promise<Encoding> => {
  if (named !== undefined) return { name: encodingNamed(named) }
  if (start[0] === 0xff && start[1] === 0xfe && !(start[2] === 0 && start[3] === 0)) return { name: "utf-16le" }
  if (start[0] === 0xfe && start[1] === 0xff) return { name: "utf-16be" }
  return utf16Of(start) ?? (await encodingOfAll(path))
}

const encodingNamed = (name: string): string => {
  try {
    return new TextDecoder(name.trim()).encoding
  } catch {
    throw new Unreadable(
      `there is no encoding ${quoted(name)}. There are utf-8, utf-16le, utf-16be, windows-1250 to windows-1258, iso-8859-2 to iso-8859-16, koi8-r, macintosh, shift_jis, euc-jp, euc-kr, gbk, gb18030 and big5.`
    )
  }
}

/** UTF-16 without a byte order mark: Western text has a zero in every other byte. */
const utf16Of = (start: Buffer): Encoding | undefined => {
  const count = [0, 0]
  for (const [index, byte] of start.entries()) if (byte === 0) count[index % 2]!++
  const [even, odd] = count as [number, number]
  if (odd > start.length / 5 && even < start.length / 50) return { name: "utf-16le" }
  if (even > start.length / 5 && odd < start.length / 50) return { name: "utf-16be" }
  return undefined
}

const encodingOfAll = async (path: string): Promise<Encoding> => {
  let lines = 0
  let accents = false
  let guess: Encoding | undefined
  for await (const chunk of wholeLetters(path)) {
    if (guess === undefined && isUtf8(chunk)) {
      accents ||= !isAscii(chunk)
      lines += newlines(chunk)
      continue
    }
    // After valid UTF-8, an invalid sequence is damage, not another encoding.
    if (guess === undefined) {
      const at = firstBadLine(chunk)
      const line = lines + newlines(chunk.subarray(0, at)) + 1
      if (accents || mostlyUtf8(chunk) || !isWestern(chunk))
        throw new Unreadable(`this isn't UTF-8. ${HOW_TO_SAY}`, line)
      guess = { name: "windows-1252", guessed: { line, word: wordIn(chunk.subarray(at)) } }
    } else if (!isWestern(chunk)) throw new Unreadable(`this isn't UTF-8. ${HOW_TO_SAY}`, guess.guessed!.line)
  }
  return guess ?? UTF_8
}

export const newlines = (bytes: Buffer): number => {
  let count = 0
  for (let at = bytes.indexOf(10); at >= 0; at = bytes.indexOf(10, at + 1)) count++
  return count
}

/** The start of the first line that isn't UTF-8. */
const firstBadLine = (bytes: Buffer): number => {
  let from = 0
  for (let end = bytes.indexOf(10); end >= 0 && isUtf8(bytes.subarray(from, end)); end = bytes.indexOf(10, from)) {
    from = end + 1
  }
  return from
}

const mostlyUtf8 = (bytes: Buffer): boolean => {
  const text = bytes.toString("utf8")
  const bad = text.match(/\ufffd/g)?.length ?? 0
  return (text.match(/[^\u0000-\u007f\ufffd]/g)?.length ?? 0) > bad
}

/** Whether bytes look like a Western language: defined in Windows-1252, with hardly ever three accented letters in a row. */
const isWestern = (bytes: Buffer): boolean => {
  const text = bytes.toString("latin1")
  if (/[\u0000-\u0008\u000e-\u001f\u0081\u008d\u008f\u0090\u009d]/.test(text)) return false
  const high = text.match(/[\u0080-\u00ff]/g)?.length ?? 0
  const inRows = (text.match(/[\u0080-\u00ff]{3,}/g) ?? []).reduce((sum, row) => sum + row.length, 0)
  return inRows * 3 <= high
}

const wordIn = (bytes: Buffer): string => {
  const text = new TextDecoder("windows-1252").decode(bytes.subarray(0, 4096))
  return printable(/(?<![^\s,;|"])[^\s,;|"]*[^\u0000-\u007f][^\s,;|"]*/.exec(text)?.[0] ?? "").slice(0, 40)
}

/** A file's bytes in chunks that don't split a UTF-8 character. */
export async function* wholeLetters(path: string): AsyncGenerator<Buffer> {
  let rest: Buffer = Buffer.alloc(0)
  for await (const read of createReadStream(path, { highWaterMark: CHUNK_BYTES })) {
    const bytes = rest.length === 0 ? (read as Buffer) : Buffer.concat([rest, read as Buffer])
    const end = wholeCharacters(bytes)
    rest = Buffer.from(bytes.subarray(end))
    if (end > 0) yield bytes.subarray(0, end)
  }
  if (rest.length > 0) yield rest
}

/** The length of the bytes up to the last complete character. */
const wholeCharacters = (bytes: Buffer): number => {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back]!
    if ((byte & 0xc0) === 0x80) continue
    const size = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1
    return size > back ? bytes.length - back : bytes.length
  }
  return bytes.length
}

interface Decoder {
  readonly next: (bytes: Buffer) => Buffer
  readonly end: () => Buffer
}

/** Converts chunks of an encoding to UTF-8; the line of an error is counted from the start of the chunk. */
export const toUtf8 = ({ name }: Encoding): Decoder => {
  const invalid = (line: number): never => {
    throw new Unreadable(`this isn't ${name.toUpperCase()}. ${HOW_TO_SAY}`, line)
  }
  if (name === "utf-8") {
    let first = true
    return {
      next: (bytes) => {
        const marked = first && bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf
        first = false
        if (!isUtf8(bytes)) return invalid(newlines(bytes.subarray(0, firstBadLine(bytes))) + 1)
        return marked ? bytes.subarray(3) : bytes
      },
      end: () => Buffer.alloc(0)
    }
  }
  const decoder = new TextDecoder(name, { fatal: true })
  const decoded = (bytes?: Buffer) => {
    try {
      return Buffer.from(bytes === undefined ? decoder.decode() : decoder.decode(bytes, { stream: true }))
    } catch {
      return invalid(1)
    }
  }
  return { next: decoded, end: () => decoded() }
}
