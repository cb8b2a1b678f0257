/** What kinds the columns of a file are, from how all of their values look. */
import { Effect, Stream } from "effect"
import type { ColumnKind } from "../../domain/EntityType.ts"
import { emailKey, phoneKey } from "../../domain/keys.ts"
import { isoDate, isoTimestamp } from "../../domain/values.ts"
import type { ImportFile } from "./file.ts"
import { NESTED } from "./record.ts"

/** A column to be made, by its place in the file and the slug that it will have. */
interface Unknown {
  readonly index: number
  readonly slug: string
}

export type InferredKind = Exclude<ColumnKind, "reference" | "references">

/** Infers what kinds the columns of a file are from all of their values, by the place of the column. */
export const inferKinds = Effect.fnUntraced(function* (
  file: ImportFile,
  columns: ReadonlyArray<Unknown>,
  country: string
) {
  const guesses = columns.map(({ index, slug }) => ({
    index,
    empty: true,
    list: false,
    looks: looksFor(slug, country)
  }))
  yield* Stream.runForEach(file.batches, (batch) =>
    Effect.sync(() => {
      for (const guess of guesses) {
        for (const { cells } of batch) {
          const cell = cells[guess.index]
          if (cell === undefined) continue
          guess.empty = false
          if (typeof cell !== "string") guess.list ||= cell !== NESTED
          else if (guess.looks.length > 0) {
            const text = cell.trim()
            if (!guess.looks.every(([, test]) => test(text))) guess.looks = guess.looks.filter(([, test]) => test(text))
          }
        }
      }
    })
  )
  return new Map(
    guesses.map(({ empty, index, list, looks }): [number, InferredKind] => [
      index,
      list ? "list" : empty ? "text" : (looks[0]?.[0] ?? "text")
    ])
  )
})

const looksFor = (
  slug: string,
  country: string
): ReadonlyArray<readonly [kind: InferredKind, test: (text: string) => boolean]> => {
  if (/(^|_)(phone|telephone|tel|mobile|cell|fax)(_|$)/.test(slug))
    return [["phone", (text) => phoneKey(text, country) !== undefined]]
  if (/(^|_)e?_?mail(_|$)/.test(slug)) return [["email", (text) => emailKey(text) !== undefined]]
  return LOOKS
}
const INTEGER = /^-?(0|[1-9]\d{0,18})$/
const NUMBER = /^-?(0|[1-9]\d{0,99})(\.\d{1,100})?$/

/** What a whole column may be, the narrowest first. A leading zero makes digits a code, not a number. */
const LOOKS: ReadonlyArray<
  readonly [kind: "integer" | "number" | "boolean" | "date" | "timestamp", test: (text: string) => boolean]
> = [
  ["integer", (text) => INTEGER.test(text) && BigInt.asIntN(64, BigInt(text)) === BigInt(text)],
  ["number", (text) => NUMBER.test(text)],
  ["boolean", (text) => /^(true|false|yes|no)$/i.test(text)],
  ["date", (text) => isoDate(text) !== undefined],
  ["timestamp", (text) => isoTimestamp(text) !== undefined]
]
