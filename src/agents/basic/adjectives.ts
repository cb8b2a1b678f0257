/**
 * Words that are no value together, but are apart: "lost hardware customers" by two columns, "akiras customers" as a name without
 * its apostrophe, "with Ada Lovelace from Cedar Labs" as a person and a company.
 */
import type { Page } from "../../domain/Page.ts"
import type { Choice } from "./Choice.ts"
import { Condition } from "./Lookup.ts"
import { inParallel, type Script } from "./script.ts"
import { tokenize } from "./tokenize.ts"

interface Found {
  readonly condition: Condition
  /** The columns that have such a value. */
  readonly columns: ReadonlyArray<string>
}

/** The ways to part words in two, and each word by itself. */
const partings = (words: ReadonlyArray<string>): ReadonlyArray<ReadonlyArray<string>> =>
  words.length < 2
    ? []
    : [
        ...words.slice(1).map((_, at) => [words.slice(0, at + 1).join(" "), words.slice(at + 1).join(" ")]),
        ...(words.length > 2 ? [words] : [])
      ]

const FROM = /^(from|of|at)$/
/** "With Ada Lovelace from Cedar Labs", where no one is called all of this. */
function* placed(condition: Condition, found: (one: Condition) => Script<Found>): Script<ReadonlyArray<Condition>> {
  if (condition._tag !== "With" || condition.id !== undefined) return [condition]
  const at = condition.words.findIndex(({ word }) => FROM.test(word))
  if (at < 1 || at === condition.words.length - 1) return [condition]
  if ((yield* found(condition)).columns.length > 0) return [condition]
  const preposition = condition.words[at]!.word
  return [
    Condition.With({ words: condition.words.slice(0, at) }),
    Condition.At({ words: condition.words.slice(at + 1), preposition: preposition === "of" ? "at" : preposition })
  ]
}

const JOINT = /^(of|the|and|or|to|for|a|an)$/

/** The conditions with adjectives apart where no row has them as one value, and each of them is a value. */
export function* apart(
  conditions: ReadonlyArray<Condition>,
  choicesOf: (condition: Condition) => ReadonlyArray<Choice>,
  ask: (filters: Choice) => Script<Page | undefined>
): Script<ReadonlyArray<Condition>> {
  const found = function* (condition: Condition): Script<Found> {
    const choices = choicesOf(condition)
    const pages = yield* inParallel(choices.map(ask))
    return {
      condition,
      columns: choices.flatMap((choice, at) => ((pages[at]?.total ?? 0) > 0 ? [choice[0]!.columnId] : []))
    }
  }
  const quality = (words: string) => found(Condition.Quality({ words }))
  const whose = (words: string) =>
    /[^s]s$/.test(words) ? found(Condition.With({ words: tokenize(words.slice(0, -1)) })) : quality(words)
  const all: Array<Condition> = []
  for (const condition of conditions) {
    const words = condition._tag === "Quality" ? condition.words.split(" ") : []
    const isName = /[^s]s$/.test(words[0] ?? "")
    const isOne = words.length === 0 || words.some((word) => JOINT.test(word)) || (words.length === 1 && !isName)
    if (isOne || (yield* quality(words.join(" "))).columns.length > 0) {
      all.push(...(yield* placed(condition, found)))
      continue
    }
    const said = [...new Set([words, ...partings(words)].flat())]
    const parts = yield* inParallel(said.map((part) => (isName && part === words[0] ? whose : quality)(part)))
    const ways = (words.length === 1 ? [words] : partings(words)).map((parting) =>
      parting.map((part) => parts[said.indexOf(part)]!)
    )
    // Two values of one column exclude each other.
    const way = ways.find(
      (own) =>
        own.every(({ columns }) => columns.length > 0) &&
        new Set(own.map(({ columns }) => columns[0])).size === own.length
    )
    all.push(...(way === undefined ? [condition] : way.map((one) => one.condition)))
  }
  return all
}
