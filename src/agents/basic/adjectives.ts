/** "Lost hardware customers": several adjectives before a noun, each a value of another column. */
import type { Choice } from "./Choice.ts"
import { Condition } from "./Lookup.ts"
import { inParallel, type Script } from "./script.ts"
import type { Page } from "../../domain/Page.ts"

/** The ways to part words into two or more runs, the longest runs first. */
const partings = (words: ReadonlyArray<string>): ReadonlyArray<ReadonlyArray<string>> =>
  words.length < 2
    ? []
    : words.slice(1).flatMap((_, index) => {
        const [first, rest] = [words.slice(0, index + 1).join(" "), words.slice(index + 1)]
        return [[first, rest.join(" ")], ...partings(rest).map((others) => [first, ...others])]
      })

/** The conditions with adjectives apart where no row has them as one value, and each of them is a value. */
export function* apart(
  conditions: ReadonlyArray<Condition>,
  choicesOf: (condition: Condition) => ReadonlyArray<Choice>,
  ask: (filters: Choice) => Script<Page | undefined>
): Script<ReadonlyArray<Condition>> {
  const all: Array<Condition> = []
  const found = function* (words: string): Script<ReadonlyArray<string>> {
    const choices = choicesOf(Condition.Quality({ words }))
    const pages = yield* inParallel(choices.map(ask))
    return choices.flatMap((choice, at) => ((pages[at]?.total ?? 0) > 0 ? [choice[0]!.columnId] : []))
  }
  for (const condition of conditions) {
    const words = condition._tag === "Quality" ? condition.words.split(" ") : []
    if (words.length < 2 || (yield* found(words.join(" "))).length > 0) {
      all.push(condition)
      continue
    }
    let parts: ReadonlyArray<string> = [words.join(" ")]
    for (const parting of partings(words)) {
      const columns: Array<ReadonlyArray<string>> = []
      for (const part of parting) columns.push(yield* found(part))
      // Two values of one column exclude each other.
      if (columns.every((own) => own.length > 0) && new Set(columns.map(([first]) => first)).size === columns.length) {
        parts = parting
        break
      }
    }
    all.push(...parts.map((part) => Condition.Quality({ words: part })))
  }
  return all
}
