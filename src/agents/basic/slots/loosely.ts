/** Other wordings of a question that no rule knows: as many words fewer as have no part in it. */
import type { Context } from "../readConversation.ts"
import { timeAt } from "../readTime.ts"
import { ASKING_WORDS, REQUESTS } from "../lexicon.ts"
import { nounAt } from "../Lookup.ts"
import { byLength, endsWith, startsWith } from "../patterns.ts"
import { type Token, tokenize } from "../tokenize.ts"
import { framedOf } from "./framed.ts"
import { ofTitled, plainer } from "./plainer.ts"
import { readDetail } from "./readDetail.ts"
import { readSlots } from "./readSlots.ts"

type Tokens = ReadonlyArray<Token>

/** What follows a list or a number of which the question is put last. */
const COUNTED = byLength(
  "how many|number|count|total|quantity|the count|the number|the total|how many were it|how many were that|how many was it|how many were there|how many is this|and how many|how many have i|how many have we|how many is it|how many is that|how many was that|how many are there|how many were there|how many are there exactly|how many is it really|how many exactly|how many really|how many are they|how many do we have|how many have we got|how many in total|how many of them|how many of those|how many would that be|what is the number|what is the count|number please|count please".split(
    "|"
  )
)
const LISTED = byLength(
  "list them|list them please|names|names please|their names|who are they|which ones|who|which|show me|show them|show them to me|name them|give me the names|what are they|can you list them|i need the names|the names".split(
    "|"
  )
)

/** Asked of a row that is said before: it answers that itself. */
const POINTED = byLength(
  "what was it called|what is it called|what was it about|what was its name|what was the name|which one was it|which one is it|which one was it and when|which one was that|which was it|which one and when|what was it|when was it|when was that|and when was it".split(
    "|"
  )
)

const closed = (tokens: Tokens): Tokens =>
  tokens.map((token, at) => (at === tokens.length - 1 ? { ...token, after: "" } : token))

/** "Training proposals, how many?": the question comes first. */
const questionFirst = (tokens: Tokens): Tokens | undefined => {
  for (const [endings, lead] of [
    [COUNTED, "how many"],
    [LISTED, "list"],
    [POINTED, "the"]
  ] as const) {
    const end = endings.find((words) => endsWith(tokens, words))
    const topic = end === undefined ? [] : tokens.slice(0, -end.length)
    if (topic.length > 0 && /[,;:.?!]/.test(topic.at(-1)!.after) && !ASKING_WORDS.has(topic[0]!.word))
      return [...tokenize(lead), ...closed(topic)]
  }
  return undefined
}

/** "In October how often did I meet Raj": the time goes to the end. */
const timeLast = (tokens: Tokens, today: string): Tokens | undefined => {
  const time = timeAt(tokens, today)
  if (time === undefined || tokens.length - time.length < 3) return undefined
  return [...closed(tokens.slice(time.length)), ...closed(tokens.slice(0, time.length))]
}

/** Of these, "how much" is an amount. */
const MONEY = /^(have|has|had|do|does|did|spent|spend|pay|paid|cost|costs|worth|earn|earned|make|made|sell|sold|money)$/

/** "How much customers": they are counted. */
const counted = (tokens: Tokens, context: Context): Tokens =>
  tokens[0]?.word === "how" &&
  tokens[1]?.word === "much" &&
  !tokens.some(({ word }) => MONEY.test(word)) &&
  [2, 3, 4].some((at) => tokens[at]?.word.endsWith("s") === true && nounAt(tokens.slice(at), context) !== undefined)
    ? [...tokenize("how many"), ...tokens.slice(2)]
    : tokens

/** What is believed before the question: "I think Akira has a lot of lost ones, how many is it?" */
const OPINIONS = byLength(
  "i think|i believe|i feel like|i guess|apparently|it seems|seems like|looks like|it looks like|i heard|i have a feeling|i suspect|i reckon|i bet|i assume|pretty sure|i am pretty sure|i am sure".split(
    "|"
  )
)

/** "Accounts" are customers where no company is meant. */
const ofCustomers = (tokens: Tokens): Tokens | undefined => {
  const at = tokens.findIndex(({ capital, word }) => !capital && /^accounts?$/.test(word))
  return at < 0 ? undefined : tokens.with(at, { ...tokenize("customers")[0]!, after: tokens[at]!.after })
}

/** Wordings to try in this order. */
export const wordingsOf = (said: Tokens, context: Context): ReadonlyArray<Tokens> => {
  const framed = framedOf(said, context)
  const inFrames = () => framed.flatMap((one) => [one, ...wordingsIn(one, context)])
  // "Call Noah for me" asks for something to be done.
  if (REQUESTS.send.has(said[0]!.word) || REQUESTS.change.has(said[0]!.word)) return inFrames()
  const plain = plainer(said)
  const named = [said, ...(plain === undefined ? [] : [plain])]
    .map((words) => readSlots(words, context, true))
    .filter((words) => words !== undefined)
  const own = [
    ...wordingsIn(said, context),
    ...inFrames(),
    ...(plain === undefined ? [] : [plain, ...wordingsIn(plain, context)]),
    ...named
  ]
  const customers = ofCustomers(said)
  return customers === undefined ? own : [...own, customers, ...wordingsIn(customers, context)]
}

const wordingsIn = (said: Tokens, context: Context): ReadonlyArray<Tokens> => {
  const lead = OPINIONS.find((words) => startsWith(said, words))?.length ?? 0
  const told = lead === 0 ? said : said.slice(lead)
  const tokens = counted(told, context)
  const first = questionFirst(tokens) ?? (lead === 0 && tokens === said ? undefined : tokens)
  const plain = first ?? tokens
  const time = timeLast(plain, context.today)
  return [first, time, ofTitled(plain, context), readDetail(plain, context), readSlots(plain, context)].filter(
    (one) => one !== undefined
  )
}
