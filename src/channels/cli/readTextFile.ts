import { Effect } from "effect"
import { readFile, stat } from "node:fs/promises"
import { OperatorError } from "../../domain/errors.ts"
import { quoted } from "../../domain/text.ts"

/** Reads a UTF-8 file of at most `maxBytes` bytes; fails with a one-line `OperatorError`. */
export const readTextFile = (path: string, maxBytes: number): Effect.Effect<string, OperatorError> =>
  Effect.gen(function* () {
    const refuse = (why: string) => OperatorError.of(`${quoted(path)} ${why}.`)
    const stats = yield* Effect.tryPromise({ try: () => stat(path), catch: () => refuse("can't be read") })
    if (!stats.isFile()) return yield* refuse("isn't a regular file")
    if (stats.size > maxBytes) return yield* refuse(`is larger than ${Math.round(maxBytes / 1000)} kB`)
    const bytes = yield* Effect.tryPromise({ try: () => readFile(path), catch: () => refuse("can't be read") })
    return yield* Effect.try({
      try: () => new TextDecoder("utf-8", { fatal: true }).decode(bytes),
      catch: () => refuse("isn't UTF-8 text")
    })
  })
