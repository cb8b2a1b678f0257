/**
 * A statement before a question: "I'm doing my timesheet. What meetings did I have on Friday?" What it says has no part in the
 * answer, or it names the one person whom the question is about: "I'm about to call Ada Lovelace, what's the number?"
 */
import { ASKING_WORDS, QUESTION_STARTS } from "./lexicon.ts"
import { nounAt } from "./Lookup.ts"
import { stripped } from "./polite.ts"
import type { Context } from "./readConversation.ts"
import { timeAt } from "./readTime.ts"
import { STATES, withTopic } from "./reword.ts"
import type { Token } from "./tokenize.ts"

type Tokens = ReadonlyArray<Token>

interface Found {
  readonly question: Tokens
  /** The one name of the statement. */
  readonly name?: Tokens
}

/** How a statement about the asker, or about what a person did, begins. */
const OPENS =
  /^(i|we|my|our|new|sorry|apologies|for|someone|it|there|just|got|had|the|a|an|this|doing|writing|preparing|updating|checking|sitting|working|still|about|here|with|before)$/
/** A statement for which an answer is wanted: "for the quarterly report". */
const OCCASION =
  /^(?:(?:quick|one|just a quick) (?:question|one) )?(for|before|ahead of|about|regarding) (the|my|our|a|this) ([a-z-]+ )?(meeting|call|report|review|newsletter|presentation|forecast|deck|board|boss|record|records|slides|stand-up|timesheet|minutes|spreadsheet|budget|audit)$/
const WITHOUT_VERB =
  /^(new here|new here sorry|new to this|new to the team|new on the team|new starter here|sorry|sorry to bother you|sorry about this|doing my [a-z]+|writing my [a-z]+|preparing my [a-z]+|silly question|stupid question|bit of an odd one|odd one|one more|another one|quick question|quick one|morning all|afternoon|evening|morning|please help|help|urgent|bit urgent|not urgent)$/
const ENDS = /[,;:.!?]/
/** Words that make a statement narrow what is asked for. */
const NARROWS =
  /^(only|except|without|not|no|if|unless|among|of|those|these|which|that|who|whose|instead|other|another|than|or|but|ones|one|people|everyone|anyone|all|any|looking|interested|focusing|focused|talking|thinking)$/
/** "I want the lost ones", "I'm in software": what is wanted, and a place or a value. */
const WANTS =
  /\b(?:i|we) (?:\w+ )?(?:want|need|like|mean|meant|sell)\b|\b(?:in|at|from|about|on|with) (?!my |our |the |a )/

/** What belongs to the person who is meant: "I lost Ada's card". */
const OWN = /^(card|number|details|address|email|e-mail|mail|phone|message|call|voicemail|note|file)$/

/** The question after a statement; undefined if the statement can have a part in what is asked for. */
export const questionAfter = (tokens: Tokens, context: Context): Found | undefined => {
  const starts = tokens.flatMap(({ after }, at) => (ENDS.test(after) && isAsked(tokens.slice(at + 1)) ? [at + 1] : []))
  const at = starts.at(-1)
  if (at === undefined) return undefined
  const statement = tokens.slice(0, at)
  const said = statement.map(({ word }) => word).join(" ")
  const states =
    OCCASION.test(said) ||
    WITHOUT_VERB.test(said) ||
    ((OPENS.test(statement[0]!.word) || statement[0]!.capital) && statement.some(({ word }) => STATES.test(word)))
  if (!states || QUESTION_STARTS.has(statement[0]!.word) || statement.some(({ word }) => /[\d@]/.test(word)))
    return undefined
  const names = namesOf(statement)
  const question = tokens.slice(at)
  if (names.length === 0)
    return (!OCCASION.test(said) && narrows(statement, context)) ||
      WANTS.test(`${said} `) ||
      statement.some(({ word }) => NARROWS.test(word))
      ? undefined
      : { question }
  const [name] = names
  const after = statement[statement.indexOf(name!.at(-1)!) + 1]
  const before = statement[statement.indexOf(name![0]!) - 1]
  const next = statement[statement.indexOf(name!.at(-1)!) + 2]
  const isWhole =
    (after?.word !== "'s" || OWN.test(next?.word ?? "")) && !/^(of|not|than|except|or|at)$/.test(before?.word ?? "")
  return names.length === 1 && isWhole ? { question, name: name!.map((token) => ({ ...token, after: "" })) } : undefined
}

/** How what is told after a question begins: "…, I've got a contract to send over". */
const TELLS = /^(i|we|my|our|he|she|they|his|her|their|it|someone|so|because|cos|need|trying|doing)$/
const MORE_ASKED = /^(who|whom|whose|what|which|when|where|why|how|and|plus|also)$/

/** The question before a statement; undefined if the statement can have a part in what is asked for. */
export const questionBefore = (tokens: Tokens, context: Context): Tokens | undefined => {
  const at = tokens.findIndex(({ after }, index) => ENDS.test(after) && TELLS.test(tokens[index + 1]?.word ?? ""))
  const statement = tokens.slice(at + 1)
  if (at < 2 || tokens.slice(0, at).some(({ after }) => ENDS.test(after)) || tokens.at(-1)!.after.includes("?"))
    return undefined
  const said = statement.map(({ word }) => word).join(" ")
  const isPart =
    !statement.some(({ word }) => STATES.test(word)) ||
    statement.some(({ word }) => /[\d@]/.test(word) || MORE_ASKED.test(word) || NARROWS.test(word)) ||
    narrows(statement, context) ||
    namesOf(statement).length > 0 ||
    WANTS.test(`${said} `)
  return isPart ? undefined : [...tokens.slice(0, at), { ...tokens[at]!, after: "" }]
}

const isAsked = (tokens: Tokens): boolean => {
  if (tokens.length < 2) return false
  const [first] = tokens
  return ASKING_WORDS.has(first!.word) || (stripped(tokens) !== tokens && stripped(tokens).length > 0)
}

/** A statement without a name that has a noun or a time of the data can be a part of the question. */
const narrows = (statement: Tokens, context: Context): boolean =>
  statement.some((_, at) => {
    const rest = statement.slice(at)
    return nounAt(rest, context) !== undefined || timeAt(rest, context.today) !== undefined
  })

/** The runs of capitalized words: "I" is none, and nor is the first word of a sentence alone. */
const namesOf = (tokens: Tokens): ReadonlyArray<Tokens> => {
  const runs: Array<Array<Token>> = []
  let isOpen = false
  for (const [at, token] of tokens.entries()) {
    const begins = at === 0 || /[.!?]/.test(tokens[at - 1]!.after)
    const isName = token.capital && token.word !== "i" && !(begins && tokens[at + 1]?.capital !== true)
    if (isName && isOpen) runs.at(-1)!.push(token)
    else if (isName) runs.push([token])
    isOpen = isName && token.after === ""
  }
  return runs
}

/** The question with the name in place of its one pronoun; undefined if it has none. */
export const pointingTo = (question: Tokens, name: Tokens): Tokens | undefined =>
  question.some(({ word }) => /^(he|she|him|her|his|they|them|their)$/.test(word))
    ? withTopic(question, name)
    : undefined
