/** JSONL → records: one object per line; the headers are the names of all lines. */
import { type Cell, type FileRecord, MAX_CELLS, MAX_RECORD_BYTES, NESTED, textCell, tooLong } from "./FileRecord.ts"
import { chunks, type FileSource } from "./FileSource.ts"
import { Unreadable } from "./Unreadable.ts"

export const jsonHeaders = async (source: FileSource): Promise<ReadonlyArray<string>> => {
  const headers = new Set<string>()
  for await (const lines of textLines(source)) {
    for (const { line, text } of lines) {
      const object = readObject(text)
      if (typeof object === "string") continue
      for (const header of Object.keys(object)) headers.add(header)
      if (headers.size > MAX_CELLS)
        throw new Unreadable(`the records have more than ${MAX_CELLS} different names.`, line)
    }
  }
  if (headers.size === 0) throw new Unreadable("no line is a JSON object with names and values.")
  return [...headers]
}

export async function* jsonRecords(
  source: FileSource,
  headers: ReadonlyArray<string>
): AsyncGenerator<ReadonlyArray<FileRecord>> {
  for await (const lines of textLines(source)) {
    yield lines.map(({ line, text }) => {
      const object = readObject(text)
      if (typeof object === "string") return { line, cells: [], problem: object }
      const cells = headers.map((header) => (Object.hasOwn(object, header) ? jsonCell(object[header]) : undefined))
      const problem = tooLong(cells, headers)
      return problem === undefined ? { line, cells } : { line, cells: [], problem }
    })
  }
}

const jsonCell = (value: unknown): Cell => {
  switch (typeof value) {
    case "string":
      return textCell(value)
    case "number":
    case "boolean":
      return String(value)
    case "object": {
      if (value === null) return undefined
      if (!Array.isArray(value)) return NESTED
      // Not by recursion: a line may nest lists millions deep.
      if (value.some((part) => Array.isArray(part) && part.length > 0)) return NESTED
      const parts = value.filter((part) => part !== null).map(jsonCell)
      if (!parts.every((part) => part === undefined || typeof part === "string")) return NESTED
      const texts = parts.filter((part) => part !== undefined)
      return texts.length === 0 ? undefined : texts
    }
    default:
      return undefined
  }
}

interface Line {
  readonly line: number
  readonly text: string
}

async function* textLines(source: FileSource): AsyncGenerator<ReadonlyArray<Line>> {
  let line = 0
  let rest: Array<Buffer> = []
  let length = 0
  const linesOf = (bytes: Buffer) =>
    bytes
      .toString("utf8")
      .split("\n")
      .map((text) => ({ line: ++line, text }))
      .filter(({ text }) => text.trim() !== "")
  for await (const chunk of chunks(source)) {
    const end = chunk.lastIndexOf(10)
    if (end >= 0) {
      yield linesOf(Buffer.concat([...rest, chunk.subarray(0, end)]))
      rest = []
      length = 0
    }
    rest.push(chunk.subarray(end + 1))
    length += chunk.length - end - 1
    if (length > MAX_RECORD_BYTES)
      throw new Unreadable(`this line is longer than ${MAX_RECORD_BYTES / 1024 / 1024} MB.`, line + 1)
  }
  yield linesOf(Buffer.concat(rest))
}

type Json = Readonly<Record<string, unknown>>

/** Numbers that JavaScript would round or rewrite: long ones, and those with a fraction or exponent. */
const EXACT = /\d{16}|\d[.eE]/
const STRING_OR_NUMBER = /"[^"\\]*(?:\\[^][^"\\]*)*(?:"|\\?$)|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g

/** The object of a line, with its numbers as written; a string is the line's problem. */
const readObject = (text: string): Json | string => {
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value !== "object" || value === null || Array.isArray(value))
      return "not a JSON object: JSONL has one object a line"
    if (!EXACT.test(text)) return value as Json
    return JSON.parse(text.replace(STRING_OR_NUMBER, (token) => (token.startsWith(`"`) ? token : `"${token}"`))) as Json
  } catch {
    return "not a JSON object: JSONL has one object a line"
  }
}
