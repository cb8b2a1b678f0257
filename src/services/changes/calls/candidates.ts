/**
 * References to entries of another system: the person names one, a read action gives the candidates, and code compares. One
 * that fits is taken, several are a choice, and none is said.
 */
import { Effect } from "effect"
import type { CallValues, DeclaredAction } from "../../../domain/DeclaredAction.ts"
import { InvalidInput, type LookupError, NotAllowed, Unclear } from "../../../domain/errors.ts"
import { foldText } from "../../../domain/keys.ts"
import { quoted } from "../../../domain/text.ts"
import { readValues } from "../../actions/fieldValues.ts"
import type { ReadRows, SourceRow } from "../../actions/readRows.ts"
import type { Caller } from "../callers.ts"

/** The most choices that are offered. */
const MAX_CHOICES = 8

type From = NonNullable<DeclaredAction["fields"][number]["from"]>

interface Wanted {
  readonly from: From
  /** What the errors are about. */
  readonly label: string
  readonly text: string
}

/** The entries that a field's action reads with the values of the other fields. */
const readCandidates = Effect.fnUntraced(function* (
  { from, label }: Wanted,
  values: CallValues,
  caller: Caller,
  read: ReadRows
): Effect.fn.Return<
  { readonly source: DeclaredAction; readonly rows: ReadonlyArray<SourceRow> },
  LookupError | NotAllowed
> {
  const source = caller.actions.find(({ slug }) => slug === from.action)
  if (source === undefined) return yield* NotAllowed.of(`${label}: you may not look that up.`)
  const missing = source.fields.find(
    (field) => field.needed && field.default === undefined && values[field.slug] === undefined
  )
  if (missing !== undefined) return yield* InvalidInput.of(`${label} needs ${missing.slug}.`)
  const given = source.fields.flatMap(({ slug }) =>
    values[slug] === undefined ? [] : [{ columnId: slug, value: values[slug] }]
  )
  const asked = yield* Effect.fromResult(readValues(source.fields, given, caller.catalog.organization))
  return { source, rows: (yield* read(source, asked)).filter((row) => row[from.sends] !== undefined) }
})

/** Finds the entry that a text names. */
export const findCandidate = Effect.fnUntraced(function* (
  wanted: Wanted,
  values: CallValues,
  caller: Caller,
  read: ReadRows
): Effect.fn.Return<{ readonly value: string; readonly name: string }, LookupError | NotAllowed | Unclear> {
  const { from, label, text } = wanted
  const { rows, source } = yield* readCandidates(wanted, values, caller, read)
  const fitting = matching(rows, from, text)
  const [one] = fitting
  if (one === undefined) return yield* InvalidInput.of(`${label}: there is no ${quoted(text)} in “${source.name}”.`)
  if (fitting.length === 1) return { value: one[from.sends]!, name: nameOf(one, from) }
  return yield* new Unclear({
    message: `${label}: several fit ${quoted(text)}. Which one?`,
    choices: fitting.slice(0, MAX_CHOICES).map((row) => ({ id: row[from.sends]!, name: labelOf(row, from) }))
  })
})

/** The first entries that a text fits; all of them for an empty one. */
export const candidatesOf = Effect.fnUntraced(function* (
  wanted: Wanted,
  values: CallValues,
  caller: Caller,
  read: ReadRows
) {
  const { from, text } = wanted
  const { rows } = yield* readCandidates(wanted, values, caller, read)
  const fitting = text.trim() === "" ? rows : matching(rows, from, text)
  return fitting.slice(0, MAX_CHOICES).map((row) => ({ value: row[from.sends]!, name: labelOf(row, from) }))
})

const labelOf = (row: SourceRow, from: From): string => [row[from.sends]!, nameOf(row, from)].join(" ").trim()

const nameOf = (row: SourceRow, { match }: From): string => match.flatMap((name) => row[name] ?? []).join(", ")

const POSITIONS = ["first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"]
/** "the first item", "2nd line", "the last one". */
const POSITION = /^(?:the )?([a-z]+|\d{1,2}(?:st|nd|rd|th)) (?:item|line|line item|position|entry|one|row)$/

const positioned = (rows: ReadonlyArray<SourceRow>, text: string): ReadonlyArray<SourceRow> | undefined => {
  const [, word = ""] = POSITION.exec(foldText(text)) ?? []
  if (word === "last") return rows.slice(-1)
  const at = /^\d/.test(word) ? Number.parseInt(word) - 1 : POSITIONS.indexOf(word)
  return at < 0 ? undefined : rows.slice(at, at + 1)
}

const bare = (text: string): string => (/^\d+$/.test(text) ? text.replace(/^0+(?=\d)/, "") : text)

/** The entries that a text means: by what is sent, by their place, by a whole text, or by all of its words. */
const matching = (rows: ReadonlyArray<SourceRow>, from: From, text: string): ReadonlyArray<SourceRow> => {
  const said = foldText(text)
  const parts = said.split(" ")
  const textsOf = (row: SourceRow) => from.match.map((name) => foldText(row[name] ?? ""))
  const ways: ReadonlyArray<(row: SourceRow) => boolean> = [
    (row) => bare(foldText(row[from.sends]!)) === bare(said),
    (row) => textsOf(row).includes(said),
    (row) => textsOf(row).some((one) => parts.every((part) => one.includes(part)))
  ]
  const exact = rows.filter(ways[0]!)
  if (exact.length > 0) return exact
  const placed = positioned(rows, text)
  if (placed !== undefined) return placed
  return ways
    .slice(1)
    .reduce<ReadonlyArray<SourceRow>>((found, way) => (found.length > 0 ? found : rows.filter(way)), [])
}
