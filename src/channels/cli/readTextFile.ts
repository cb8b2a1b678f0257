import { Effect } from "effect"
import { readFile, stat } from "node:fs/promises"
import { OperatorError } from "../../domain/errors.ts"
import { quoted } from "../../domain/text.ts"

/** A UTF-8 file of at most so many bytes, or one line that says why not. */
export const readTextFile = (path: string, most: number): Effect.Effect<string, OperatorError> =>
  Effect.gen(function* () {
    const refuse = (why: string) => new OperatorError({ message: `${quoted(path)} ${why}.` })
    const found = yield* Effect.tryPromise({ try: () => stat(path), catch: () => refuse("can't be read") })
    if (!found.isFile()) return yield* refuse("isn't a plain file")
    if (found.size > most) return yield* refuse(`is larger than ${Math.round(most / 1000)} kB`)
    const bytes = yield* Effect.tryPromise({ try: () => readFile(path), catch: () => refuse("can't be read") })
    return yield* Effect.try({
      try: () => new TextDecoder("utf-8", { fatal: true }).decode(bytes),
      catch: () => refuse("isn't UTF-8 text")
    })
  })
