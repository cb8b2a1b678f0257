import { Effect } from "effect"
import { readFile } from "node:fs/promises"
import { OperatorError } from "../../domain/errors.ts"
import { quoted } from "../../domain/text.ts"

/** A UTF-8 file of at most so many bytes, or one line that says why not. */
export const readTextFile = (path: string, most: number) =>
  Effect.tryPromise({
    try: async () => {
      const bytes = await readFile(path)
      if (bytes.length > most) throw new RangeError()
      return new TextDecoder("utf-8", { fatal: true }).decode(bytes)
    },
    catch: (error) =>
      new OperatorError({
        message:
          error instanceof RangeError
            ? `${quoted(path)} is larger than ${Math.round(most / 1000)} kB.`
            : error instanceof TypeError
              ? `${quoted(path)} isn't UTF-8 text.`
              : `${quoted(path)} can't be read.`
      })
  })
