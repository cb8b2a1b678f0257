/** Reads the facts that are places: towns, states and street addresses. */
import type { Fact } from "./Fact.ts"
import { isAside, isDenied, wordsBefore } from "./factCues.ts"
import { COMMON_WORDS, PLACE_PREPOSITIONS, RESIDENCE_CUES, STREETS } from "./lexicon.ts"
import { STATES, TOWNS } from "./placeNames.ts"
import { ZIP, zipAt } from "./readCodes.ts"
import { runsOf } from "./readNames.ts"
import { folded, type Token, written } from "./tokenize.ts"

/** Reads towns, states and streets; `asides` are the positions after an aside, where it may continue. */
export const readPlaces = (
  tokens: ReadonlyArray<Token>
): { readonly facts: ReadonlyArray<Fact>; readonly asides: ReadonlySet<number> } => {
  const facts: Array<Fact> = []
  const runs = runsOf(tokens)
  const endingAt = new Map(runs.map((run) => [run.start + run.tokens.length, run]))
  const taken = new Set<number>()
  /** The end of the last aside: a place that directly follows is an aside, too. */
  let asideUntil = -1
  const asides = new Set<number>()
  for (let at = 0; at < tokens.length; at++) {
    const street = streetAt(tokens, at)
    if (street === 0) continue
    for (let index = at; index < at + street; index++) taken.add(index)
    const said = written(tokens.slice(at, at + street))
    const aside = isAside(tokens, at)
    if (aside) asides.add((asideUntil = at + street))
    facts.push({ concept: "address", values: [said], said, weight: aside ? "aside" : "stated" })
    at += street - 1
  }
  for (const [index, run] of runs.entries()) {
    if (taken.has(run.start) || isDenied(tokens, run.start)) continue
    const lead = wordsBefore(tokens, run.start, 4)
    const last = lead.at(-1)
    const adjacent =
      last === undefined || last.after === "" || (RESIDENCE_CUES.has(last.word) && /^[:,]*$/.test(last.after))
        ? last
        : undefined
    const end = run.start + run.tokens.length
    const prepositions = adjacent !== undefined && PLACE_PREPOSITIONS.has(adjacent.word)
    const apposed = index > 0 && run.start > 0 && tokens[run.start - 1]!.after !== ""
    const zipFollows =
      tokens[end] !== undefined && zipAt(tokens, end) !== undefined && /^,?$/.test(tokens[end - 1]!.after)
    const zipBefore = run.start > 0 && ZIP.test(tokens[run.start - 1]!.word)
    const { length, state, town } = townOf(tokens, run.start, run.tokens)
    for (let at = run.start; at < run.start + length; at++) taken.add(at)
    const aside = isAside(tokens, run.start) || (run.start === asideUntil && asideUntil > 0)
    if (aside) asides.add((asideUntil = run.start + length))
    const lived =
      lead.some(({ word }) => RESIDENCE_CUES.has(word)) &&
      (prepositions || (adjacent !== undefined && (RESIDENCE_CUES.has(adjacent.word) || adjacent.word === "is")))
    const afterName =
      prepositions &&
      ((endingAt.has(run.start - 1) && tokens[run.start - 2]!.after.replace(",", "") === "") ||
        lead.slice(-3).some(({ word }) => /^(am|is|are|customer|client|user|caller|person|out|zip)$/.test(word)))
    if (!prepositions && !apposed && !zipFollows && !zipBefore && state === undefined && !lived) continue
    const sure = lived || afterName || (state !== undefined && prepositions)
    const weight = aside ? "aside" : sure ? "stated" : "mentioned"
    const named = (endingAt.get(run.start)?.tokens.length ?? 0) >= 2
    const closed = tokens[end] === undefined || tokens[end - 1]!.after !== ""
    const followsName =
      weight === "mentioned" && apposed && named && closed && town.every(({ capital }) => capital)
        ? { followsName: true as const }
        : {}
    if (town.length > 0)
      facts.push({ concept: "city", values: townValues(town), said: written(town), weight, ...followsName })
    if (state !== undefined)
      facts.push({
        concept: "state",
        values: state.values,
        said: state.said,
        weight: town.length > 0 && weight === "stated" ? "mentioned" : weight
      })
  }
  return { facts, asides }
}

/** The number of words of a street address at this position; 0 if there is none. */
const streetAt = (tokens: ReadonlyArray<Token>, at: number): number => {
  if (!/^\d{1,5}[a-z]?$/.test(tokens[at]!.word)) return 0
  for (let length = 2; length <= 5 && at + length <= tokens.length; length++) {
    if (tokens[at + length - 2]!.after !== "") return 0
    if (STREETS.has(tokens[at + length - 1]!.word) && length > 2) return length
  }
  return 0
}

interface Place {
  /** Words of the town and its state. */
  readonly length: number
  readonly town: ReadonlyArray<Token>
  readonly state?: { readonly values: ReadonlyArray<string>; readonly said: string }
}

/** Splits a run into a town and the state after it: "Boston", "Boston, MA", "Boston Massachusetts", "new york, ny". */
const townOf = (tokens: ReadonlyArray<Token>, start: number, run: ReadonlyArray<Token>): Place => {
  const end = start + run.length
  const parted = run.at(-1)!.after.includes(",") ? stateAt(tokens, end) : undefined
  if (parted !== undefined) return { town: run, state: parted, length: run.length + parted.length }
  for (let from = run.length === 1 ? 0 : 1; from < run.length; from++) {
    const state = stateAt(run, from)
    if (state !== undefined && (from > 0 || run.length > 1) && state.length === run.length - from)
      return { town: run.slice(0, from), state, length: run.length }
  }
  // "Portland OR": an abbreviated state can look like a common word and end the run.
  const next = tokens[end]
  if (next !== undefined && run.at(-1)!.after === "" && /^[A-Z]{2}$/.test(next.text)) {
    const state = stateAt(tokens, end)
    if (state !== undefined) return { town: run, state, length: run.length + state.length }
  }
  return { town: run, length: run.length }
}

const ABBREVIATIONS = new Map(Object.entries(STATES).map(([short, name]) => [name, short]))

const stateAt = (
  tokens: ReadonlyArray<Token>,
  at: number
): (NonNullable<Place["state"]> & { readonly length: number }) | undefined => {
  const first = tokens[at]
  if (first === undefined) return undefined
  // "L.A." is a town, although "LA" is a state.
  const dotted = first.word.includes(".") && first.word !== "d.c"
  const name = dotted ? undefined : STATES[first.word.replaceAll(".", "")]
  if (
    name !== undefined &&
    (first.text === first.text.toUpperCase() || first.after !== "" || /^\d/.test(tokens[at + 1]?.word ?? ""))
  ) {
    return { values: [first.text.replaceAll(".", ""), name], said: first.text, length: 1 }
  }
  for (const length of [3, 2, 1]) {
    const words = tokens.slice(at, at + length)
    const short = words.length === length ? ABBREVIATIONS.get(folded(words)) : undefined
    const next = tokens[at + length]
    const whole =
      words.at(-1)?.after !== "" ||
      next === undefined ||
      (next.word !== "city" && (COMMON_WORDS.has(next.word) || /^\d/.test(next.word)))
    if (short !== undefined && whole) return { values: [short, written(words)], said: written(words), length }
  }
  return undefined
}

const townValues = (town: ReadonlyArray<Token>): ReadonlyArray<string> => {
  const long = TOWNS[folded(town).replaceAll(".", "")]
  const shorter = town.length > 1 ? [written(town.slice(0, 2)), written(town.slice(0, 1))] : []
  return [...new Set([...(long === undefined ? [] : [long]), written(town), ...shorter])]
}
