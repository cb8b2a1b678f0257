/** The format of backup files: one JSON line per part, compressed with gzip, and a final SHA-256 of all lines before it. */
import { Effect, Schema, Stream } from "effect"
import { createHash } from "node:crypto"
import { createReadStream } from "node:fs"
import { stat } from "node:fs/promises"
import { promisify } from "node:util"
import { createGunzip, gzip } from "node:zlib"
import { OperatorError } from "../../../domain/errors.ts"
import { printable } from "../../../domain/text.ts"
import { fileFault, writeNewFile } from "../newFile.ts"
import { FORMAT, Part } from "./Part.ts"

const compress = promisify(gzip)

/** The uncompressed size of a gzip block. */
const BLOCK_BYTES = 512 * 1024
/** Above the largest row that the connection reads (256 MiB), with JSON escapes. */
const MAX_LINE_BYTES = 400 * 1024 * 1024

const encodePart = Schema.encodeSync(Part)
const decodePart = Schema.decodeUnknownSync(Part)

/** Writes parts to a new file; returns its size in bytes. */
export const writeBackupFile = <E, R>(
  path: string,
  options: { readonly force: boolean },
  parts: Stream.Stream<Part, E, R>
) =>
  writeNewFile(
    path,
    options,
    Effect.fnUntraced(function* (write) {
      const hash = createHash("sha256")
      let block: Array<string> = []
      let length = 0
      let size = 0
      const flush = Effect.gen(function* () {
        // Concatenated gzip members are one valid gzip file.
        const bytes = yield* Effect.promise(() => compress(block.join("")))
        yield* write(bytes)
        size += bytes.length
        block = []
        length = 0
      })
      yield* Stream.runForEach(parts, (part) => {
        const line = `${JSON.stringify(encodePart(part))}\n`
        hash.update(line)
        block.push(line)
        length += line.length
        return length < BLOCK_BYTES ? Effect.void : flush
      })
      block.push(`${JSON.stringify({ sha256: hash.digest("hex") })}\n`)
      yield* flush
      return size
    })
  )

/** The file is not a restorable backup; the message says why. */
class Unreadable extends Error {}

/** Reads the parts of a file. A truncated or altered file, or one of a newer Max, fails before the first part. */
export const readBackupFile = (path: string): Stream.Stream<Part, OperatorError> =>
  Stream.suspend(() =>
    Stream.fromAsyncIterable(checked(path), (error) =>
      error instanceof Unreadable
        ? OperatorError.of(`${printable(path)} ${error.message} Nothing was restored.`)
        : fileFault(path, error, "read")
    )
  )

const NOT_A_BACKUP = "isn't a backup from max backup."
const TRUNCATED = "is truncated: its end is missing."
const ALTERED = "was altered or damaged: its contents don't match its checksum."

/** Reads the file twice, so that no part of an invalid file reaches a database. */
async function* checked(path: string): AsyncGenerator<Part> {
  // eslint-disable-next-line no-unused-vars
  for await (const _ of partsOf(path)) continue
  yield* partsOf(path)
}

async function* partsOf(path: string): AsyncGenerator<Part> {
  const stats = await stat(path)
  if (stats.isDirectory()) throw Object.assign(new Error(), { code: "EISDIR" })
  if (!stats.isFile() || stats.size === 0) throw new Unreadable(NOT_A_BACKUP)
  const hash = createHash("sha256")
  let first = true
  let ended = false
  for await (const line of lines(path)) {
    if (ended) throw new Unreadable(ALTERED)
    const value = parse(line, first)
    const end = endOf(value)
    if (end !== undefined) {
      if (end !== hash.digest("hex")) throw new Unreadable(ALTERED)
      ended = true
      continue
    }
    hash.update(line).update("\n")
    yield partOf(value, first)
    first = false
  }
  if (!ended) throw new Unreadable(first ? NOT_A_BACKUP : TRUNCATED)
}

const parse = (line: string, first: boolean): unknown => {
  try {
    return JSON.parse(line)
  } catch {
    throw new Unreadable(first ? NOT_A_BACKUP : ALTERED)
  }
}

const endOf = (value: unknown): string | undefined =>
  typeof value === "object" && value !== null && "sha256" in value ? String(value.sha256) : undefined

const partOf = (value: unknown, first: boolean): Part => {
  // Every format has this field in its first line.
  const format = typeof value === "object" && value !== null && "format" in value ? value.format : undefined
  if (first && typeof format === "number" && format > FORMAT)
    throw new Unreadable("is from a newer Max. Update this Max to that version.")
  try {
    return decodePart(value)
  } catch {
    throw new Unreadable(first ? NOT_A_BACKUP : ALTERED)
  }
}

/** The lines of a compressed file, without their terminators. */
async function* lines(path: string): AsyncGenerator<string> {
  const file = createReadStream(path, { highWaterMark: 256 * 1024 })
  const unzipped = createGunzip()
  file.on("error", (error) => unzipped.destroy(error))
  file.pipe(unzipped)
  let rest: Array<Buffer> = []
  let length = 0
  let started = false
  try {
    for await (const read of unzipped) {
      started = true
      let chunk = read as Buffer
      for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10)) {
        yield Buffer.concat([...rest, chunk.subarray(0, end)]).toString("utf8")
        rest = []
        length = 0
        chunk = chunk.subarray(end + 1)
      }
      rest.push(chunk)
      length += chunk.length
      if (length > MAX_LINE_BYTES) throw new Unreadable(ALTERED)
    }
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : ""
    if (code === "Z_BUF_ERROR") throw new Unreadable(TRUNCATED)
    throw code.startsWith("Z_") ? new Unreadable(started ? ALTERED : NOT_A_BACKUP) : error
  } finally {
    file.destroy()
    unzipped.destroy()
  }
  if (length > 0) throw new Unreadable(TRUNCATED)
}
