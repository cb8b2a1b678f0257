/** What a change does, in words that code writes. */
import type { Preview } from "../../../wire/changes.ts"

const VERBS: Readonly<Record<string, string>> = {
  create: "Add",
  update: "Change",
  delete: "Delete",
  publish: "Publish"
}
const DONE: Readonly<Record<string, string>> = {
  create: "Added",
  update: "Changed",
  delete: "Deleted",
  publish: "Published"
}

const ENDINGS: ReadonlyArray<readonly [RegExp, string]> = [
  [/people$/, "person"],
  [/ies$/, "y"],
  [/(ss|x|ch|sh)es$/, "$1"],
  [/([^s])s$/, "$1"]
]

/** "person" of people, "company" of companies. */
const singular = (plural: string): string => {
  const ending = ENDINGS.find(([pattern]) => pattern.test(plural))
  return ending === undefined ? plural : plural.replace(...ending)
}

const counted = (rows: number, slug: string): string => {
  const plural = slug.replaceAll("_", " ")
  return `${rows} ${rows === 1 ? singular(plural) : plural}`
}

export const operationOf = (actionId: string): string => actionId.slice(actionId.lastIndexOf(".") + 1)
const typeOf = (actionId: string): string => actionId.slice(0, actionId.lastIndexOf("."))

const phrase = (verbs: Readonly<Record<string, string>>, actionIds: ReadonlyArray<string>, rows: number): string => {
  const [only, ...others] = [...new Set(actionIds)]
  // An action of another system has no type.
  if (only !== undefined && !only.includes(".")) {
    const words = others.length > 0 ? `do ${rows} steps` : only.replaceAll("_", " ")
    return words.slice(0, 1).toUpperCase() + words.slice(1) + (others.length === 0 && rows > 1 ? ` (${rows})` : "")
  }
  if (only === undefined || others.length > 0) return `${verbs["update"]} ${counted(rows, "rows")}`
  return `${verbs[operationOf(only)] ?? verbs["update"]} ${counted(rows, typeOf(only))}`
}

/** "Change 1 person", "Delete 3 people". */
export const deedOf = (actionIds: ReadonlyArray<string>, rows: number): string => phrase(VERBS, actionIds, rows)

/** "Changed 1 person". */
export const doneOf = ({ rows, steps }: Preview): string =>
  phrase(
    DONE,
    steps.map(({ actionId }) => actionId),
    rows
  )

/** "Changed". */
export const pastOf = (actionId: string): string => DONE[operationOf(actionId)] ?? "Done"

/** The time left: "4:32", "71 hours". */
export const timeLeft = (milliseconds: number): string => {
  const seconds = Math.max(0, Math.ceil(milliseconds / 1000))
  if (seconds >= 7200) return `${Math.floor(seconds / 3600)} hours`
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`
}
