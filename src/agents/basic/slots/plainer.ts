/** A question without words that say nothing in it, and with plain words for others: tried where the question as it was said is read by no rule. */
import { byWord } from "../../../domain/text.ts"
import { isValue } from "../conditionParts.ts"
import { nounAt } from "../Lookup.ts"
import { byLength, compiled, matchPattern, startsWith } from "../patterns.ts"
import type { Context } from "../readConversation.ts"
import { readConditions } from "../readLookup.ts"
import { type Token, tokenize } from "../tokenize.ts"

type Tokens = ReadonlyArray<Token>

/** Words that neither ask for anything nor narrow it. */
const EMPTY =
  "out at the moment|out right now|with us|single|individual|in them|to their name|to his name|to her name|under their belt|under his belt|under her belt|all together|alltogether|all up|in all|all told|combined|as a whole|for me|for us|so far|to date|exactly|precisely|actually|really|these days|nowadays|in our catalog|in our catalogue|in the catalog|in the catalogue|in our shop|in the shop|in our store|in the store|in our library|in the library|in our collection|in the collection|in our database|in the database|in our system|in the system|in our crm|in the crm|in our books|in our records|in our data|who are they|which ones|which are they|listed|on record|on file|roughly|approximately|ballpark|please|pls|thanks|thank you|across the board|across all of them|on offer|on the team|in the team|in our team|in the company|in our company|that we have|that we know of|would you say|do you think|do you reckon"

/** Phrases in the words of rules. */
const PLAIN = byWord<string>({
  ...Object.fromEntries(EMPTY.split("|").map((phrase) => [phrase, ""])),
  "has put out": "has",
  "have put out": "have",
  "put out": "has",
  "has brought out": "has",
  "brought out": "has",
  "came out with": "has",
  "has published": "has",
  published: "has",
  "has produced": "has",
  produced: "has",
  "has created": "has",
  "has issued": "has",
  "is sitting on": "has",
  "sits on": "has",
  "is in charge of": "has",
  "is responsible for": "has",
  "is dealing with": "has",
  "deals with": "has",
  "takes care of": "has",
  "has on file": "has",
  "has got": "has",
  "have got": "have",
  "minutes spent": "minutes",
  "time spent": "time",
  "hours spent": "hours",
  "did we send to": "of",
  "did we write to": "of",
  "did we issue to": "of",
  "we sent to": "of",
  "sent to": "of",
  "billed to": "of",
  "invoiced to": "of",
  "issued to": "of",
  "is winning": "has won",
  "is losing": "has lost",
  "how many percent": "what percentage",
  "sales to": "sales in",
  "sell to": "sell in",
  "number of minutes": "minutes",
  "amount of minutes": "minutes",
  "biggest spender": "who spent the most",
  "who is our biggest spender": "who spent the most",
  "who is the biggest spender": "who spent the most",
  "top spender": "who spent the most",
  "who is our top spender": "who spent the most",
  "is having": "has",
  "are having": "have",
  "sales people": "reps",
  "sales person": "rep",
  "sales guys": "reps",
  "sales guy": "rep",
  salesperson: "rep",
  salespeople: "reps",
  salesmen: "reps",
  salesman: "rep",
  sellers: "reps",
  "made we": "did we make",
  "have we made": "did we make",
  "earned we": "did we earn",
  "have we earned": "did we earn",
  "sold we": "did we sell",
  "have we sold": "did we sell",
  "had we": "did we have",
  "there was": "had",
  "there were": "had",
  "mean length": "average length",
  "avg length": "average length",
  "on avg": "on average",
  "on an average": "on average",
  "in average": "on average",
  "per head": "per person",
  percent: "percentage",
  "per cent": "percentage",
  "what is the percentage": "what percentage",
  "what proportion": "what percentage",
  "how large a share": "what share",
  "how big a share": "what share",
  "in percent": "",
  "outside of": "not in",
  outside: "not in"
})
const KNOWN = byLength(Object.keys(PLAIN))

/** The plainer question; undefined if it has no such word. */
export const plainer = (tokens: Tokens): Tokens | undefined => {
  const words: Array<Token> = []
  let isChanged = false
  for (let at = 0; at < tokens.length;) {
    const rest = tokens.slice(at)
    const phrase = KNOWN.find(
      (one) => startsWith(rest, one) && rest.slice(0, one.length).every(({ capital }) => !capital)
    )
    if (phrase === undefined) {
      words.push(rest[0]!)
      at += 1
      continue
    }
    isChanged = true
    const { after } = rest[phrase.length - 1]!
    const plain = PLAIN[phrase.join(" ")]!
    if (plain !== "") words.push(...tokenize(plain))
    if (words.length > 0)
      words[words.length - 1] = { ...words.at(-1)!, after: after === "" ? words.at(-1)!.after : after }
    at += phrase.length
  }
  // A comma at the end belongs to what was left out.
  return isChanged && words.length > 1 ? [...words.slice(0, -1), { ...words.at(-1)!, after: "" }] : undefined
}

const USUALLY = "(usually|normally|typically|generally)"
/** Shapes of a question for the average length of rows that go by their name: "how long does a sync up take on average". */
const LASTING = [
  `(on average)? how (long|many minutes) (do|does|is|are|did|was|were) (a|an|the|our|my)? {rest} ${USUALLY}? (take|last|run|be)? on average`,
  "on average how (long|many minutes) (do|does|is|are|did|was|were) (a|an|the|our|my)? {rest} (take|last|run|be)?",
  `how (long|many minutes) (do|does|is|are|did|was|were) (a|an|the|our|my)? {rest} ${USUALLY} (take|last|run|be)?`,
  "how (long|many minutes) (is|was) the average {rest}",
  "(what is|what was)? (the)? average (length|duration|time) of (a|an|the|our|my|all)? {rest}"
].map(compiled)
const MAX_TITLE = 3

/** "Average length of sync up meetings": what no noun stands for is a part of a meeting's name, which has to exist. */
export const ofTitled = (tokens: Tokens, context: Context): Tokens | undefined => {
  if (!context.types.some(({ id }) => id === "meetings")) return undefined
  for (const shape of LASTING) {
    const rest = matchPattern(shape, tokens, () => true)?.["rest"]
    if (rest === undefined || rest.some((_, at) => nounAt(rest.slice(at), context) !== undefined)) continue
    for (let length = Math.min(MAX_TITLE, rest.length); length > 0; length--) {
      const title = rest.slice(0, length)
      const last = title.at(-1)!
      const after = rest.slice(length)
      if (!isValue(title, context) || (after.length > 0 && readConditions(after, context) === undefined)) continue
      const one = tokenize(last.text.replace(/(?<=[^s])s$/, ""))
      return [...tokenize("average length of"), ...title.slice(0, -1), ...one, ...tokenize("meetings"), ...after]
    }
  }
  return undefined
}
