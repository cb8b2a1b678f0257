/** Sentences made of the words that basic mode's rules know: they fit the beginnings of many rules, and none to its end. */
import * as questionWords from "../../src/agents/basic/lexicon.ts"
import { CONDITIONS } from "../../src/agents/basic/conditions.ts"
import { FRAMES } from "../../src/agents/basic/deeds/frames.ts"
import * as requestWords from "../../src/agents/basic/deeds/lexicon.ts"
import { RULES } from "../../src/agents/basic/deeds/rules.ts"
import { QUESTIONS } from "../../src/agents/basic/rules.ts"

/** All words within a value of a lexicon. */
const wordsIn = (value: unknown): ReadonlyArray<string> => {
  if (typeof value === "string") return value.split(/[^\p{L}\d']+/u).filter((word) => word !== "")
  if (value instanceof Set || Array.isArray(value)) return [...value].flatMap(wordsIn)
  return typeof value === "object" && value !== null ? Object.entries(value).flatMap(wordsIn) : []
}

const SAID = "Nia Kofi Raj Acme all tasks everything 5 3pm December Friday weeks Status high"
const shapesOf = (rules: ReadonlyArray<readonly [ReadonlyArray<string>, ...ReadonlyArray<unknown>]>) =>
  rules.flatMap(([shapes]) => wordsIn(shapes))
export const QUESTION_WORDS = [
  ...new Set([...shapesOf([...QUESTIONS, ...CONDITIONS]), ...wordsIn({ ...questionWords, SAID })])
]
const REQUEST_WORDS = [...new Set([...shapesOf([...RULES, ...FRAMES]), ...wordsIn({ ...requestWords, SAID })])]

/** The same sentences for the same seed: one to six words, repeated to a length, with a comma or a full stop here and there. */
const sentences = (words: ReadonlyArray<string>, length: number, count: number): ReadonlyArray<string> => {
  let seed = 1
  const below = (limit: number) => {
    seed = (Math.imul(seed, 1_103_515_245) + 12_345) & 0x7fff_ffff
    return Math.floor((seed / 0x7fff_ffff) * limit) % limit
  }
  return Array.from({ length: count }, () => {
    const piece = Array.from({ length: 1 + below(6) }, () => words[below(words.length)]!)
    const signs = piece.map(() => ["", "", "", "", ",", "."][below(6)]!)
    return Array.from({ length }, (_, at) => `${piece[at % piece.length]}${signs[at % piece.length]}`).join(" ")
  })
}

/** Questions of the most words that are read as one. */
export const knownQuestions = (count: number) => sentences(QUESTION_WORDS, 30, count)
/** Requests of nearly the most words that are read. */
export const knownRequests = (count: number) => sentences(REQUEST_WORDS, 44, count)

const DESCRIPTIONS =
  "with Ada and Bob|and add Ada|in Apollo high|for Ada|due May 3|due on Friday|called Ship it|status Open|assigned to Ada|to Ada's tasks|at 3 pm|for an hour|that is|about Ada|Ada, Bob|with the status Open|as a lead|and also|priority high".split(
    "|"
  )
/** Requests to add a row whose description can be divided in many ways, and ends in words that mean nothing. */
export const knownDescriptions = (count: number) =>
  sentences(DESCRIPTIONS, 12, count).map((text) => `add a task ${text} :: not the one`.slice(0, 230))
