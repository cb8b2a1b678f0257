/** Infers the kinds of new columns from all of their values. */
import { Effect, Stream } from "effect"
import { type ColumnKind, STATUS } from "../../domain/EntityType.ts"
import { emailKey, phoneSearchKey } from "../../domain/keys.ts"
import { isPhoneName, labelFrom } from "../../domain/names.ts"
import { isoDate, isoTimestamp } from "../../domain/values.ts"
import type { NewColumn } from "../catalog/physicalColumns.ts"
import type { LocalForms } from "./localForms.ts"
import type { ImportFile } from "./readers/ImportFile.ts"
import type { Created, Plan } from "./planImport.ts"
import { type Cell, NESTED } from "./readers/FileRecord.ts"

export type InferredKind = Exclude<ColumnKind, "reference" | "references">

/** Infers the kinds of new columns, by slug, from their values in all files. */
export const inferKinds = Effect.fnUntraced(function* (
  { created, files }: Plan,
  country: string,
  forms: LocalForms,
  onBatch: (file: ImportFile, rows: number) => void
) {
  const guesses = new Map(
    created
      .filter(({ target }) => target === undefined)
      .map(({ slug }) => [slug, { empty: true, list: false, candidates: candidatesFor(slug, country, forms) }])
  )
  for (const { file, mapped } of files) {
    const columns = mapped.flatMap(({ index, slug }) => {
      const guess = guesses.get(slug)
      return guess === undefined ? [] : [{ index, guess }]
    })
    if (columns.length === 0) continue
    yield* Stream.runForEach(file.batches, (batch) =>
      Effect.sync(() => {
        for (const { guess, index } of columns) for (const { cells } of batch) narrow(guess, cells[index])
        onBatch(file, batch.length)
      })
    )
  }
  return new Map(
    [...guesses].map(([slug, { candidates, empty, list }]): [string, InferredKind] => [
      slug,
      list ? "list" : empty ? "text" : (candidates[0]?.[0] ?? "text")
    ])
  )
})

/** The kinds that all values so far fit, the narrowest first. */
type Candidates = ReadonlyArray<readonly [kind: InferredKind, test: (text: string) => boolean]>

interface Guess {
  empty: boolean
  list: boolean
  candidates: Candidates
}

const narrow = (guess: Guess, cell: Cell) => {
  if (cell === undefined) return
  guess.empty = false
  if (typeof cell !== "string") guess.list ||= cell !== NESTED
  else if (guess.candidates.length > 0) {
    const text = cell.trim()
    // Almost every value fits: the array is copied only when one doesn't.
    if (!guess.candidates.every(([, test]) => test(text)))
      guess.candidates = guess.candidates.filter(([, test]) => test(text))
  }
}

const candidatesFor = (slug: string, country: string, forms: LocalForms): Candidates => {
  const isPhone = (text: string) => phoneSearchKey(text, country) !== undefined
  if (isPhoneName(slug)) return [["phone", isPhone]]
  if (/(^|_)e?_?mail(_|$)/.test(slug)) return [["email", (text) => emailKey(text) !== undefined]]
  return [
    ...CANDIDATES.map(([kind, test]): Candidates[number] => [
      kind,
      (text) => {
        const plain = forms(kind, text)
        return test(plain ?? text)
      }
    ]),
    ["phone", (text) => INTERNATIONAL.test(text) && isPhone(text)]
  ]
}

/** A number with its country's code needs no header that says so. Digits alone after 00 may be an article's number. */
const INTERNATIONAL = /^\(?\+[1-9]|^\(?00[1-9]\d{0,2}[ ./()-]/

const INTEGER = /^-?(0|[1-9]\d{0,18})$/
const NUMBER = /^-?(0|[1-9]\d{0,99})(\.\d{1,100})?$/

/** A leading zero makes digits a code, not a number. */
const CANDIDATES: ReadonlyArray<
  readonly [kind: "integer" | "number" | "boolean" | "date" | "timestamp", test: (text: string) => boolean]
> = [
  ["integer", (text) => INTEGER.test(text) && BigInt.asIntN(64, BigInt(text)) === BigInt(text)],
  ["number", (text) => NUMBER.test(text)],
  ["boolean", (text) => /^(true|false|yes|no)$/i.test(text)],
  ["date", (text) => isoDate(text) !== undefined],
  ["timestamp", (text) => isoTimestamp(text) !== undefined]
]

/** The column to create, with its inferred kind. */
export const newColumn = ({ name, slug, target }: Created, inferred: InferredKind | undefined): NewColumn =>
  target !== undefined
    ? { slug, name: labelFrom(name), kind: "reference", target }
    : // A status is text in every result, even where all values of a file are numbers.
      { slug, name: labelFrom(name), kind: slug === STATUS ? "text" : (inferred ?? "text") }
