/** Reads a message that no rule knows: a request, a person introduced in free text, rows by what they are called, or nothing that is understood. */
import { foldText } from "../../domain/keys.ts"
import { isCovered } from "./buildIntent.ts"
import { FIGURE_WORDS } from "./figures/lexicon.ts"
import { isName } from "./fits.ts"
import { Intent, Subject } from "./Intent.ts"
import { QUESTION_STARTS, REQUESTS } from "./lexicon.ts"
import { nounAt } from "./Lookup.ts"
import type { Context } from "./readConversation.ts"
import { readFacts } from "./readFacts.ts"
import type { SpokenName } from "./readNames.ts"
import { readTitled } from "./titled.ts"
import { folded, type Token } from "./tokenize.ts"

/** The longest question, in words; anything longer is free text. */
export const MAX_QUESTION = 30
/** The longest free text that introduces a person without saying so, in words. */
const MAX_STORY = 60

/** A request, a person who is introduced in free text, rows by what they are called, or nothing that is understood. */
export const readStory = (
  said: ReadonlyArray<Token>,
  meant: ReadonlyArray<Token>,
  names: ReadonlyArray<SpokenName>,
  facts: ReturnType<typeof readFacts>,
  spoken: boolean,
  context: Context
): Intent => {
  const firm = names.some(({ rank }) => rank >= 3) || facts.some(({ weight }) => weight === "stated")
  const asks = (QUESTION_STARTS.has(meant[0]!.word) && !spoken) || measures(meant, names)
  const request = requestOf(meant)
  if (request !== undefined && !spoken && (said[0] === meant[0] || !firm)) return request
  if (!asks || (said.length <= MAX_QUESTION && isCovered(meant))) {
    const likely =
      names.some(({ length, rank }) => rank === 2 && length >= 2) && facts.some(({ weight }) => weight === "mentioned")
    const whole =
      said.length > MAX_PHRASE || isCovered(meant) || folded(meant).startsWith(foldText(names[0]?.name ?? " "))
    const sure = firm || (likely && whole)
    if (sure || (isStory(said, names) && said.length <= MAX_STORY))
      return sure || said.length > MAX_PHRASE || tellsMore(said, names) || isCovered(meant)
        ? Intent.Introduce({ names, facts, sure })
        : withWords(meant, context)
  }
  const otherwise = unknownKind(meant, context) ? Intent.NotKnown() : Intent.Unclear({ tokens: meant })
  return meant.length > MAX_QUESTION ? otherwise : (readTitled(meant, otherwise, context) ?? otherwise)
}

/** "Total minutes of meetings …", "share of revenue from …": a question, although a name or a place is in it. */
const measures = ([first]: ReadonlyArray<Token>, names: ReadonlyArray<SpokenName>): boolean =>
  FIGURE_WORDS.has(first!.word) &&
  first!.word !== "number" &&
  !names.some(({ name }) => foldText(name).startsWith(first!.word))

/**
 * Whether a message without facts is about a person: a few words that lead to a name are a question that no rule knows,
 * such as "proposals handled by Raj Patel", and the person is no answer to it.
 */
const isStory = (said: ReadonlyArray<Token>, names: ReadonlyArray<SpokenName>): boolean => {
  const [first] = names
  if (first === undefined || first.rank === 0) return false
  return said.length > MAX_PHRASE || first.rank >= 3 || folded(said).startsWith(foldText(first.name))
}
const MAX_PHRASE = 8

/** "Max Müller wants to return a fan": more words after a name than a column's label has. */
const tellsMore = (said: ReadonlyArray<Token>, [first]: ReadonlyArray<SpokenName>): boolean =>
  first !== undefined &&
  folded(said).startsWith(foldText(first.name)) &&
  said.length - first.name.split(" ").length > MAX_LABEL
const MAX_LABEL = 3

/** A name and words that aren't part of it: they must be part of another name, or name a column ("Hull coating margin"). */
const withWords = (tokens: ReadonlyArray<Token>, context: Context): Intent =>
  readTitled(tokens, Intent.Who({ subject: Subject.Named({ tokens }) }), context) ??
  (isName(tokens, context) ? Intent.Who({ subject: Subject.Named({ tokens }) }) : Intent.Unclear({ tokens }))

const requestOf = ([first]: ReadonlyArray<Token>): Intent | undefined => {
  const of =
    first!.after === "" ? (["send", "change"] as const).find((kind) => REQUESTS[kind].has(first!.word)) : undefined
  return of && Intent.Request({ of })
}

/** A question for a type that does not exist or that the person may not see. */
const unknownKind = (tokens: ReadonlyArray<Token>, context: Context): boolean =>
  /^(how many|list|show( me)?( all)?|count|number of|what|which) [^ ]+/.test(folded(tokens)) &&
  tokens.length <= 8 &&
  !tokens.some((_, at) => nounAt(tokens.slice(at), context) !== undefined)
