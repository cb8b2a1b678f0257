/** What kinds the columns of a file are, from how all of their values look. */
import { Effect, Stream } from "effect"
import { type ColumnKind, STATUS } from "../../domain/EntityType.ts"
import { emailKey, phoneKey } from "../../domain/keys.ts"
import { labelFrom } from "../../domain/names.ts"
import { isoDate, isoTimestamp } from "../../domain/values.ts"
import type { NewColumn } from "../catalog/physicalColumns.ts"
import type { ImportFile } from "./readers/ImportFile.ts"
import type { Created, Plan } from "./planImport.ts"
import { type Cell, NESTED } from "./readers/FileRecord.ts"

export type InferredKind = Exclude<ColumnKind, "reference" | "references">

/** Infers what kinds columns to be made are, by slug, from all of their values in all of the files. */
export const inferKinds = Effect.fnUntraced(function* (
  { created, files }: Plan,
  country: string,
  onBatch: (file: ImportFile, rows: number) => void
) {
  const guesses = new Map(
    created
      .filter(({ target }) => target === undefined)
      .map(({ slug }) => [slug, { empty: true, list: false, looks: looksFor(slug, country) }])
  )
  for (const { file, mapped } of files) {
    const here = mapped.flatMap(({ index, slug }) => {
      const guess = guesses.get(slug)
      return guess === undefined ? [] : [{ index, guess }]
    })
    if (here.length === 0) continue
    yield* Stream.runForEach(file.batches, (batch) =>
      Effect.sync(() => {
        for (const { guess, index } of here) for (const { cells } of batch) look(guess, cells[index])
        onBatch(file, batch.length)
      })
    )
  }
  return new Map(
    [...guesses].map(([slug, { empty, list, looks }]): [string, InferredKind] => [
      slug,
      list ? "list" : empty ? "text" : (looks[0]?.[0] ?? "text")
    ])
  )
})

type Looks = ReadonlyArray<readonly [kind: InferredKind, test: (text: string) => boolean]>

interface Guess {
  empty: boolean
  list: boolean
  looks: Looks
}

const look = (guess: Guess, cell: Cell) => {
  if (cell === undefined) return
  guess.empty = false
  if (typeof cell !== "string") guess.list ||= cell !== NESTED
  else if (guess.looks.length > 0) {
    const text = cell.trim()
    if (!guess.looks.every(([, test]) => test(text))) guess.looks = guess.looks.filter(([, test]) => test(text))
  }
}

const looksFor = (slug: string, country: string): Looks => {
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

/** The column that is made, once its kind is known. */
export const newColumn = ({ name, slug, target }: Created, inferred: InferredKind | undefined): NewColumn =>
  target !== undefined
    ? { slug, name: labelFrom(name), kind: "reference", target }
    : // What a result shows as an entity's status is text, even where all of a file's are numbers.
      { slug, name: labelFrom(name), kind: slug === STATUS ? "text" : (inferred ?? "text") }
