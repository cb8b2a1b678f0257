/** Possessives without their apostrophe. */
import { PEOPLE } from "../../../domain/EntityType.ts"
import { foldText } from "../../../domain/keys.ts"
import { MAX_LIMIT } from "../../../domain/Query.ts"
import { nounAt } from "../Lookup.ts"
import type { Context } from "../readConversation.ts"
import { find, inParallel, type Script } from "../script.ts"
import { THINGS } from "./everything.ts"
import { FUNCTION_WORDS } from "./lexicon.ts"
import type { Said, Word } from "./words.ts"

type Words = ReadonlyArray<Word>

const MAX_POSSESSORS = 3

/** "Kofis tickets": with the apostrophe, where a person has the name without the s. */
export function* possessive(said: Said, context: Context): Script<Said> {
  const { words } = said
  const people = context.types.find(({ id }) => id === PEOPLE)
  const places = words.flatMap((_, at) => (mayPossess(words, at, context) ? [at] : []))
  if (people === undefined || places.length === 0 || places.length > MAX_POSSESSORS) return said
  const stems = places.map((at) => {
    const { end, text } = words[at]!
    const stem = text.slice(0, -1)
    return [
      { ...words[at]!, text: stem, word: foldText(stem), end: end - 1 },
      { ...words[at]!, text: "'s", word: "'s", capital: false, start: end - 1 }
    ] as const
  })
  const pages = yield* inParallel(
    stems.map(([{ word }]) =>
      find({ entityTypeId: PEOPLE, filters: [{ columnId: "name", op: "ilike", value: word }], limit: MAX_LIMIT })
    )
  )
  const isName = (index: number) =>
    pages[index]?.entities.some(({ displayName }) =>
      foldText(displayName ?? "")
        .split(/[\s,-]+/)
        .includes(stems[index]![0].word)
    ) === true
  const named = places.filter((_, index) => isName(index))
  return named.length === 0
    ? said
    : { ...said, words: words.flatMap((each, at) => (named.includes(at) ? stems[places.indexOf(at)]! : [each])) }
}

/** Words between a person and the noun of what is theirs. */
const MAX_BETWEEN = 3
/** Whether a word with an s at its end stands where a person can: before a noun, or after "of". */
const mayPossess = (words: Words, at: number, context: Context): boolean => {
  const each = words[at]!
  if (each.quoted === true || !/^\p{L}{3,}s$/u.test(each.word) || each.word.endsWith("ss") || each.after !== "")
    return false
  const next = words[at + 1]
  if (next?.word === "'s" || nounAt(words.slice(at), context) !== undefined) return false
  if (words[at - 1]?.word === "of") return true
  const noun = words.findIndex(
    ({ quoted, word }, index) =>
      index > at && ((quoted !== true && THINGS.test(word)) || nounAt(words.slice(index), context) !== undefined)
  )
  return (
    noun > at &&
    noun - at <= MAX_BETWEEN + 1 &&
    words
      .slice(at + 1, noun)
      .every(
        ({ after, quoted, word }, index) =>
          quoted !== true && after === "" && (!FUNCTION_WORDS.has(word) || words[at + 2 + index]!.word === "do")
      )
  )
}
