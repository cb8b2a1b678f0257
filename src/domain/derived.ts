/** Derived columns as an operator declares them: five forms, each over columns of the same row. */
import type { Column, Derivation } from "./EntityType.ts"

/** The forms, for errors and help. */
export const FORMS = [
  "hours between A and B",
  "days between A and B",
  "years between A and B",
  "years since A",
  "A times B"
] as const

export interface Declared {
  readonly as: Derivation
  /** The names of the columns, as they were written. */
  readonly of: ReadonlyArray<string>
}

/** Reads a form; undefined when the text is none of them. */
export const readDeclared = (text: string): Declared | undefined => {
  const words = text.trim().toLowerCase().split(/\s+/)
  const [first = "", second, third = "", fourth, fifth] = words
  if (words.length === 5 && second === "between" && fourth === "and") {
    if (first === "hours" || first === "days" || first === "years") return { as: first, of: [third, fifth!] }
  }
  if (words.length !== 3) return undefined
  if (first === "years" && second === "since") return { as: "since", of: [third] }
  return second === "times" ? { as: "product", of: [first, third] } : undefined
}

/** The form with these names. */
export const formOf = (as: Derivation, [first = "", second = ""]: ReadonlyArray<string>): string => {
  switch (as) {
    case "product":
      return `${first} times ${second}`
    case "since":
      return `years since ${first}`
    default:
      return `${as} between ${first} and ${second}`
  }
}

/** The names of the columns that a derived column is computed from. */
export const sourceSlugs = ({ derived }: Column): ReadonlyArray<string> => [
  ...new Set(derived?.sources?.map(({ slug }) => slug))
]

/** Why a form can't be about these columns; undefined if it can. */
export const misfit = (as: Derivation, sources: ReadonlyArray<Column>): string | undefined => {
  const wrong = sources.find(({ kind }) => !TAKES[as].includes(kind))
  if (wrong !== undefined) return `${wrong.slug} is no ${as === "product" ? "number" : "date or time"}`
  const [one, other] = sources
  if (as !== "product" && one === other) return "that is always 0"
  if (as === "product" && sources.every((source) => currencyColumn(source) !== undefined))
    return `${sources.map(({ slug }) => slug).join(" and ")} are both amounts of money`
  return undefined
}

const TIMES: ReadonlyArray<Column["kind"]> = ["date", "timestamp"]
const TAKES: Readonly<Record<Derivation, ReadonlyArray<Column["kind"]>>> = {
  hours: TIMES,
  days: TIMES,
  years: TIMES,
  since: TIMES,
  product: ["integer", "number"]
}

/** The physical column with an amount's currency; a product has that of the amount in it. */
export const currencyColumn = ({ derived, storage }: Column): string | undefined =>
  derived === undefined
    ? storage._tag === "Value"
      ? storage.source?.currency
      : undefined
    : derived.sources?.map(currencyColumn).find((name) => name !== undefined)
