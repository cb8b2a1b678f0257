/**
 * Extracts candidate names from a message, ranked by their cues; the database confirms them. Names are searched in runs of
 * words that are neither common English nor digits, and can be a part of a run.
 */
import {
  COMMON_WORDS,
  FOREMOST_CUES,
  AMBIGUOUS_GIVEN_NAMES,
  PLACE_PREPOSITIONS,
  NAME_CUES,
  NAME_FOLLOWERS,
  OTHER_PERSON_CUES,
  PARTICLES,
  STREETS,
  AMBIGUOUS_SURNAMES,
  TITLES,
  TOWN_STARTS,
  TOWNS_WITH_CITY
} from "./lexicon.ts"
import { STATES, TOWNS } from "./placeNames.ts"
import { byLength, endsWith } from "./patterns.ts"
import { type Token, written } from "./tokenize.ts"

export interface SpokenName {
  readonly name: string
  /** Number of words. */
  readonly length: number
  /** 4: the subject of the message, 3: its speaker, 2: looks like a name, 1: could be one, 0: another person. */
  readonly rank: number
  /** Every word is capitalized like a name. */
  readonly capital: boolean
}

/** A run of words without punctuation between them. */
export interface Run {
  readonly start: number
  readonly tokens: ReadonlyArray<Token>
}

/** Whether a word is not in the dictionary, so that it is probably part of a name. */
const unusual = ({ text, word }: Token): boolean =>
  /^[\p{L}'’.‑-]+$/u.test(text) && (!COMMON_WORDS.has(word) || /^\p{Lu}\.$/u.test(text))

/** Whether the message mixes lower-case and capitalized words, so that capitals are significant. */
const isMixed = (tokens: ReadonlyArray<Token>): boolean => mixedUntil(tokens) >= 0

/** The last position from which the rest of a message is mixed; -1 if the message is not. */
const mixedUntil = (tokens: ReadonlyArray<Token>): number =>
  Math.min(
    tokens.findLastIndex(({ capital }) => capital),
    tokens.findLastIndex(({ capital, text }) => !capital && /^\p{L}/u.test(text))
  )

/** The runs of words that could be names of people or towns; punctuation ends a run. */
export const runsOf = (tokens: ReadonlyArray<Token>, mixed = isMixed(tokens)): ReadonlyArray<Run> => {
  const runs: Array<Run> = []
  const likely = (token: Token | undefined): boolean =>
    token !== undefined &&
    !TITLES.has(token.word) &&
    unusual(token) &&
    !(mixed && !token.capital && INFLECTED.test(token.word) && TOWNS[token.word] === undefined)
  // "Will Park", "New York": a common word begins a name if the next word continues it.
  const begins = (at: number): boolean => {
    const [token, next] = [tokens[at]!, tokens[at + 1]]
    return (
      (AMBIGUOUS_GIVEN_NAMES.has(token.word) || TOWN_STARTS.has(token.word)) &&
      token.after === "" &&
      (likely(next) || (next !== undefined && AMBIGUOUS_SURNAMES.has(next.word))) &&
      (!mixed || (token.capital && next!.capital))
    )
  }
  /** A common word continues a name if it is a particle, a surname such as Long, or capitalized. */
  const continues = (at: number): boolean => {
    const [token, previous] = [tokens[at]!, tokens[at - 1]!]
    if (PARTICLES.has(token.word)) return token.after === "" && likely(tokens[at + 1])
    if (AMBIGUOUS_SURNAMES.has(token.word)) return !mixed || previous.capital === token.capital
    if (mixed && !token.capital) return false
    if (token.word === "city") return TOWNS_WITH_CITY.has(previous.word)
    return (
      mixed &&
      previous.capital &&
      !TITLES.has(token.word) &&
      /^\p{L}+$/u.test(token.text) &&
      STATES[token.word] === undefined
    )
  }
  let start = 0
  for (let at = 0; at <= tokens.length; at++) {
    const current = tokens[at]
    const within = at > start
    const parted = within && tokens[at - 1]!.after !== ""
    const fresh = current !== undefined && (likely(current) || begins(at))
    if (within && !parted && current !== undefined && (fresh || continues(at))) continue
    if (within) runs.push({ start, tokens: tokens.slice(start, at) })
    start = fresh ? at : at + 1
  }
  return runs
}

/** Endings of lower-case words that are not names. */
const INFLECTED = /.{3}(ing|ed|ly|ness|tion)$/

const CUES = byLength(NAME_CUES)
const FOREMOST = byLength(FOREMOST_CUES)
const MAX_WORDS = 5
const MAX_NAMES = 14

/** The candidate names of a message, most likely first. With `named`, the message begins with the requested name. */
export const readNames = (tokens: ReadonlyArray<Token>, named = false): ReadonlyArray<SpokenName> => {
  const found: Array<SpokenName & { readonly order: number }> = []
  const mixed = tokens.some(({ capital }) => capital)
  const restIsMixed = mixedUntil(tokens)
  for (const [index, run] of runsOf(tokens).entries()) {
    const lead = leadOf(tokens, run)
    const cue = named && index === 0 ? 4 : cueRank(tokens, run, lead)
    const words = run.tokens
    for (let from = 0; from < words.length; from++) {
      for (let length = Math.min(MAX_WORDS, words.length - from); length >= 1; length--) {
        const part = words.slice(from, from + length)
        if (PARTICLES.has(part[0]!.word) && part.length === 1) continue
        const capital = part.some((token) => token.capital)
        const single = length === 1
        if (
          single &&
          !(
            cue >= 3 &&
            from === 0 &&
            words.length === 1 &&
            (capital || named || (cue >= 3 && !mixed) || SURE_OF_ONE.some((one) => endsWith(lead, one)))
          )
        )
          continue
        const rank = from === 0 ? cue : Math.min(cue, 1)
        // A message or sentence often begins with its subject, in any capitalization.
        const opens = from === 0 && length >= 2 && (run.start === 0 || /[.!?;:]/.test(tokens[run.start - 1]!.after))
        const weak =
          rank === 2 && mixed && !opens && !part.every((token) => token.capital || PARTICLES.has(token.word)) ? 1 : rank
        // Two words are the most likely name, then three; the beginning of a run precedes its inside.
        const order = from * 4 + (length === 2 ? 0 : length === 3 ? 1 : length)
        found.push({
          name: written(part),
          length,
          capital: part.every((token) => token.capital || PARTICLES.has(token.word)),
          rank: STREETS.has(part.at(-1)!.word) ? 0 : weak,
          order
        })
      }
    }
    const end = run.start + words.length
    if (words.length === 1 && words[0]!.after.includes(",") && end < tokens.length && cue >= 3) {
      // A run of two words is known by the two words after it.
      const given = runsOf(tokens.slice(end, end + 4), end <= restIsMixed)[0]
      if (
        given !== undefined &&
        given.start === 0 &&
        given.tokens.length <= 2 &&
        given.tokens.every(({ capital }) => capital === words[0]!.capital)
      ) {
        found.push({
          name: `${written(given.tokens)} ${written(words)}`,
          length: given.tokens.length + 1,
          capital: [...given.tokens, ...words].every((token) => token.capital),
          rank: cue,
          order: 0
        })
      }
    }
  }
  return found
    .sort((a, b) => b.rank - a.rank || a.order - b.order)
    .slice(0, MAX_NAMES)
    .map(({ capital, length, name, rank }) => ({ capital, length, name, rank }))
}

/** Cues after which even a single lower-case word is a name. */
const SURE_OF_ONE = byLength(["name is", "names", "named", "called", "name"])

/** The words before a run that can be its cue, without titles. */
const leadOf = (tokens: ReadonlyArray<Token>, run: Run): ReadonlyArray<Token> => {
  let end = run.start
  while (end > 0 && TITLES.has(tokens[end - 1]!.word) && tokens[end - 1]!.after === "") end -= 1
  return tokens.slice(Math.max(0, end - 6), end)
}

const cueRank = (tokens: ReadonlyArray<Token>, run: Run, lead: ReadonlyArray<Token>): number => {
  const last = lead.at(-1)
  const near = last !== undefined && /[.;!?]/.test(last.after) ? [] : lead
  // "on behalf of my wife Emma": a relation comes between the cue and the name.
  const trimmed = near.filter(
    ({ word }, index) =>
      !(
        index >= near.length - 2 &&
        ((OTHER_PERSON_CUES.has(word) && word !== "with" && word !== "to" && word !== "by" && word !== "like") ||
          /^(my|the|a|his|her|their|our)$/.test(word))
      )
  )
  if (near.slice(-4).some(({ word }) => JOINING.has(word))) return 0
  if (FOREMOST.some((cue) => endsWith(trimmed, cue)) && !FALSE_CUES.some((cue) => endsWith(trimmed, cue))) return 4
  const other = near.slice(-2).some(({ word }) => OTHER_PERSON_CUES.has(word))
  if (other) return 0
  if (CUES.some((cue) => endsWith(near, cue))) return 3
  const titled = run.start > 0 && TITLES.has(tokens[run.start - 1]!.word)
  return titled || isFollowed(tokens, run) ? 3 : 2
}

/** "add a passenger named Peter": an additional person, not the subject. */
const JOINING = new Set(["add", "adding", "remove", "removing", "invite"])

/** "Carlos from Indianapolis speaking": words that only follow the speaker's name, possibly after a town. */
const isFollowed = (tokens: ReadonlyArray<Token>, run: Run): boolean => {
  const end = run.start + run.tokens.length
  if (run.tokens.at(-1)!.after !== "" || (run.start > 0 && PLACE_PREPOSITIONS.has(tokens[run.start - 1]!.word)))
    return false
  const next = tokens[end]
  if (next === undefined || NAME_FOLLOWERS.has(next.word)) return next !== undefined
  const rest = tokens.slice(end + 1, end + 5)
  const parted = rest.findIndex(({ after }) => after !== "")
  return (
    PLACE_PREPOSITIONS.has(next.word) &&
    rest.slice(0, parted < 0 ? rest.length : parted + 1).some(({ word }) => NAME_FOLLOWERS.has(word))
  )
}

/** Phrases that look like cues but are not: "questions about my order". */
const FALSE_CUES = byLength([
  "ask about",
  "asking about",
  "know about",
  "talk about",
  "question about",
  "questions about",
  "what about",
  "how about"
])

/** The name with the apostrophe that Irish and Italian names often lose; undefined if none fits. */
export const withApostrophe = (name: string): string | undefined => {
  const written = name.replace(/(?<!\p{L})([OD])(?=\p{Lu}\p{Ll})/gu, "$1'")
  return written === name ? undefined : written
}

/** The parts of a name, split at spaces, commas and hyphens, without the full stops of initials. */
export const partsOf = (name: string): ReadonlyArray<string> =>
  name
    .split(/[\s,‑-]+/)
    .map((part) => part.replace(/\.$/, ""))
    .filter((part) => part !== "")
