/** Words before and after a question: polite ones, and those that continue the question before. */
import { CLOSERS, INDIRECT, OPENERS, QUESTION_STARTS } from "./lexicon.ts"
import { byLength, compiled, endsWith, matchPattern, matchStart, startsWith } from "./patterns.ts"
import { folded, type Token } from "./tokenize.ts"

/** The words without polite openers and closers, unless none would be left. */
export const stripped = (said: ReadonlyArray<Token>): ReadonlyArray<Token> => {
  let tokens = said
  while (true) {
    // "Max" followed by punctuation addresses Max; otherwise it can be the subject's name.
    const called = (words: ReadonlyArray<string>) =>
      !(ADDRESSES.test(words.join()) && tokens[0]!.after === "") && !(words.join() === "just" && isOnly(tokens))
    const framed = withoutFrame(tokens)
    if (framed !== undefined) {
      tokens = framed
      continue
    }
    const opener =
      OPENING.find((words) => words.length < tokens.length && startsWith(tokens, words) && called(words)) ??
      INDIRECTLY.find((words) => startsWith(tokens, words) && ASKING.test(tokens[words.length]?.word ?? ""))
    // "Isn't a customer yet".
    if (
      tokens.length > 2 &&
      tokens.at(-1)!.word === "yet" &&
      tokens.at(-2)!.word !== "not" &&
      tokens.some(({ word }) => NEGATIVE.test(word))
    ) {
      tokens = tokens.slice(0, -1)
      continue
    }
    const closer = CLOSING.find(
      (words) =>
        words.length < tokens.length &&
        endsWith(tokens, words) &&
        !(words[0] === "then" && isPast(tokens)) &&
        !(SO_FAR.test(words.join(" ")) && GOING_ON.test(tokens.at(-1 - words.length)!.word)) &&
        !(words.join() === "for,me" && !BIDS.test(tokens[0]!.word))
    )
    if (opener === undefined && closer === undefined) return tokens
    tokens = tokens.slice(
      opener?.length ?? 0,
      opener === undefined && closer !== undefined ? -closer.length : undefined
    )
  }
}

/** "List the leads for me" asks politely; "overdue follow-ups for me" are the asker's own. */
const BIDS =
  /^(list|show|find|get|give|tell|look|check|pull|search|count|calculate|compute|summarize|summarise|sum|add|work|bring|fetch|dig|please|can|could|would|will|do|run|make|grab|break|split|group|chart|plot|compare|rank|sort|order|name|put|help|go)$/

const NEGATIVE = /^(not|isn't|isnt|aren't|arent|wasn't|weren't|haven't|havent|hasn't|hasnt)$/

/** "Just the won ones", "just mine" narrow the list before. */
const isOnly = (tokens: ReadonlyArray<Token>): boolean =>
  tokens.length < 6 && /^(?:ones?|mine|'s)$/.test(tokens.at(-1)!.word)

/** "How many did Raj have then": at that time. */
const isPast = (tokens: ReadonlyArray<Token>): boolean => tokens.some(({ word }) => /^(did|had|was|were)$/.test(word))

/** "This month so far" ends now; "how many do we have so far" says nothing more. */
const SO_FAR = /^(?:so far|thus far|to date|until now|up to now)$/
const GOING_ON = /^(?:today|week|month|quarter|year)$/

const PERHAPS = "(possibly|perhaps|maybe|please|kindly|just|quickly|ever so kindly)?"
const LET_ME =
  "(tell me|tell us|show me|give me|let me know|help me find|find out|find out for me|find|check|confirm|say|know|see)"
/** Polite frames before any question. */
const BEFORE = [
  `(i was|i am|we were|just|was)? (wondering|hoping|curious) (if|whether)? (you|someone|anyone|i|we) (could|can|might|would|may|will|would be able to|are able to|happen to know|know) ${PERHAPS} ${LET_ME}?`,
  `(is it|would it be) possible (to|for you to) ${PERHAPS} ${LET_ME}?`,
  `(is there|do you think there is)? (any chance|any way|a chance) (that)? (you|i|we) (could|can|might|would) ${PERHAPS} ${LET_ME}?`,
  `(would|will|could) you (be so|be) (kind|good) (as to|enough to) ${PERHAPS} ${LET_ME}?`,
  "(would|do) you mind (telling me|telling us|showing me|giving me|letting me know|checking|confirming|finding|listing)",
  `(do|would|could) you (think)? (you could|you can|you might be able to|be able to) ${PERHAPS} ${LET_ME}?`,
  "(i would be|we would be|i would be so|would be) (grateful|glad|happy|thankful|obliged) (if|for) (you could|you would|you can)? (tell me|show me|give me|let me know|check)?",
  "(i am|we are|i was|we were) (trying|meant|supposed|hoping) to (find out|find|see|work out|figure out|remember|recall|check|look up|get)",
  "(i|we) (have to|need to|must|should|want to|would like to|would love to|am going to|could do with|could use) (find out|work out|figure out|check|know|see|look up|get|confirm|report|knowing)",
  `(can|could) (someone|anyone|max) ${PERHAPS} ${LET_ME}`,
  "(can|could|may) (i|we) (please|just)? (see|have|get)",
  "for (the|my|our) (board deck|deck|report|presentation|slides|board meeting|board|review|minutes|newsletter|forecast|meeting|call) (i|we) (need|want|would like|have to know|need to know) (to know|to see|to have)?",
  "(the|my|our)? (boss|manager|director|team|ceo|cfo|board|chief|team lead|head of sales) (wants|needs|would like|wanted|is asking|asked|asks|just asked|keeps asking) (to know|to find out|to see|me|us|for)?"
].map(compiled)
/** Words before any question, with punctuation after them: "great meetings" says more. */
const PAUSED = compiled(
  "(both please|both|two things|2 things|sorry to bother you|sorry to ask|sorry for asking|stupid question|silly question|dumb question|one more thing|one thing|last one|last question|one last thing|one last question|another one|another question|quick check|question for you|oh and|right|alright|all right|great|perfect|brilliant|lovely|cool|fine|excuse me|apologies|sorry|erm|um|uh|hmm|er|oh|ah|actually|basically|honestly|anyway|anyhow|btw|by the way|fyi|for the record|to be sure|just to be sure|just to check|just checking|just the number|just a number|names only|in short|briefly|quick one|(i am)? new here|intern here|first day here)"
)
/** Polite frames after any question. */
const AFTER = [
  "(i would|would) (be)? (appreciate it|grateful|be grateful|much appreciated)",
  "(it is)? (much|greatly|really)? appreciated",
  "(can|could|would|will) you (please|just|quickly)? (check|check it|check that|look|look it up|look that up|have a look|take a look|help|help me|help me out|find out|tell me|confirm|confirm that|remind me|see) (for me|please|in the system|in the crm)?",
  "(if|when|whenever|as soon as) (you|u) (have|get|find|got|have got|can spare|can find) (a)? (chance|second|sec|minute|min|moment|time|it|that|them|it handy|that handy)",
  "for (my|our|the|a) (quarterly|weekly|monthly|annual|board|sales|team|status|pipeline)? (report|records|timesheet|notes|presentation|slides|deck|forecast|newsletter|expenses|spreadsheet)",
  "(so|so that) (i|we) can (call|ring|phone|contact|reach|email|e-mail|write to|text|message|get back to) (him|her|them|back|him back|her back|them back)?",
  "(across|in) (the|our) (whole|entire) (team|office|company)",
  "across (the|our) team",
  "(in|on) (our|the) (list|database|data|books|system|crm)",
  "overall",
  "no matter (whose|who has|who owns) (customer|client|lead|deal|account|they|it|them)? (it is|they are|is it|are they|is)?",
  "(that is all|that is it|that will be all|that would be all|that is everything|nothing else|nothing more|real quick|real quickly|thank you very much|thank you so much|thanks so much|thanks very much|thanks again|cheers mate|many thanks in advance|please and thank you|if that is okay|if that is all right|if you would|if you please|if you could|would you|could you|can you|will you|i wonder|i would say|though|again please|quickly|urgently|quick|when you can|if it is not too much trouble|i mean|so i know|just so i know|roughly|approximately|or so|do you think|i forgot|i forget|i can't remember|i cannot remember|remind me|as it stands|as things stand|in our system|in the system|in the crm|in our crm|on our books|on the books|on file|on record|in our records)"
].map(compiled)
/** What the answer has anyway, after punctuation: "with numbers" can mean telephone numbers. */
const ANYWAY = [
  "(with|and|in)? (the|exact|all the)? (numbers|figures|counts|amounts) (too|each)?",
  "(and)? (how many|how much) each",
  "(both)? past and (future|upcoming)",
  "(just|only)? (give|send|show)? (me)? (just|only)? the (whole|full|complete|entire) list",
  "(just|only)? (give|send|show) (me|us)? (just|only)? the (numbers|figures|counts|names|amounts|totals)",
  "(just|only) (the)? (numbers|figures|counts|names|amounts|totals)",
  "(numbers|figures|counts|names|amounts|totals) only",
  "(in)? (percentages|percent|percents) (not|and not|rather than) (counts|numbers)",
  "(all|every one|each one|each) of (them|those)",
  "(how many|a count|counts) (in|of|for|per) each (one|of them)?",
  "(a|the) (count|list|number|figure) (will|would) do"
].map(compiled)
/** What a detail is for: "the number to ring her back on". */
const PURPOSE = compiled(
  "(to|i can|we can) (call|ring|phone|contact|reach|email|e-mail|write to|text|message|use) (him|her|them)? (back)? (on|at|to|with)?"
)
const DETAILED = /^(number|phone|mobile|address|email|e-mail)$/
/** Before these words, what something is for has a meaning: "responsible for my report". */
const NEEDS = /^(responsible|charge|due|time|scheduled|planned)$/
/** The longest frame after a question, in words. */
const MAX_AFTER = 10

const NOTHING = () => false

/** The words without one polite frame; undefined if there is none, or nothing else. */
const withoutFrame = (tokens: ReadonlyArray<Token>): ReadonlyArray<Token> | undefined => {
  for (const frame of [...BEFORE, PAUSED]) {
    const rest = matchStart(frame, tokens, NOTHING, (_, rest) => {
      const isPaused = rest.length > 1 && /[,.;:!]/.test(tokens.at(-rest.length - 1)!.after)
      return isPaused || (rest.length > 1 && frame !== PAUSED && asks(rest)) ? rest : undefined
    })
    if (rest !== undefined) return rest
  }
  for (let at = Math.max(2, tokens.length - MAX_AFTER); at < tokens.length; at++)
    if (!NEEDS.test(tokens[at - 1]!.word) && endsPolitely(tokens, at)) return tokens.slice(0, at)
  return undefined
}

const endsPolitely = (tokens: ReadonlyArray<Token>, at: number): boolean => {
  const begins = /[.?!]/.test(tokens[at - 1]!.after)
  if (tokens[at]!.capital && tokens[at]!.word !== "i" && !begins) return false
  const is = (frame: ReturnType<typeof compiled>) => matchPattern(frame, tokens.slice(at), NOTHING) !== undefined
  if (/[,.;?!-]$/.test(tokens[at - 1]!.after) && ANYWAY.some(is)) return true
  return AFTER.some(is) || (DETAILED.test(tokens[at - 1]!.word) && is(PURPOSE))
}

/** Whether words go on as a question: with a word that asks, lists or points. */
const asks = ([first]: ReadonlyArray<Token>): boolean =>
  QUESTION_STARTS.has(first!.word) || POINTS.test(first!.word) || ASKING.test(first!.word)
const POINTS = /^(the|my|our|a|an|me|this|that|need|i|can|could|would|please|any|tell|give|get|names|name)$/

const OPENING = byLength(OPENERS)
const CLOSING = byLength(CLOSERS)
const INDIRECTLY = byLength(INDIRECT)
/** These are also a name, and a part of a day. */
const ADDRESSES = /^(max|morning)$/
const ASKING = /^(who|whom|whose|what|which|when|where|how|if|whether)$/

const FOLLOWING =
  /^(and|now|and now|ok now|okay now|what about|how about|and what about|and how about|(and )?(the )?same (thing )?for)$/

/** Whether the words before the question continue the one before: "and …", "what about …". */
export const follows = (said: ReadonlyArray<Token>, meant: ReadonlyArray<Token>): boolean =>
  FOLLOWING.test(folded(said.slice(0, Math.max(0, said.indexOf(meant[0]!)))))
