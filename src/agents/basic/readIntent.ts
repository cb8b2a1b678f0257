/**
 * Parses a message into an intent: small talk, a question by its rule, or a person introduced in free text. A question is
 * understood only if every word of it has a part in its rule; otherwise it is declined.
 */
import { YEAR } from "./partOfYear.ts"
import { PEOPLE } from "../../domain/EntityType.ts"
import { browse, type Rule } from "./buildIntent.ts"
import { COMPARISONS } from "./comparing.ts"
import { untilNow } from "./conditionBuilders.ts"
import { isValue } from "./conditionParts.ts"
import { readAsked, readOnly, readRegrouping } from "./figures/readAsked.ts"
import { fitsIn, MAX_NAME } from "./fits.ts"
import { Intent, Subject } from "./Intent.ts"
import { languageOf } from "./languages.ts"
import { AGGREGATE_PHRASES, AGGREGATES, ME, QUESTION_STARTS } from "./lexicon.ts"
import { Condition, nounAt } from "./Lookup.ts"
import { otherwise, paraphrased } from "./paraphrases.ts"
import { compiled, type Fits, matchPattern } from "./patterns.ts"
import { follows, stripped } from "./polite.ts"
import { pointingTo, questionAfter, questionBefore } from "./statements.ts"
import type { Context } from "./readConversation.ts"
import { readFacts } from "./readFacts.ts"
import { readConditions } from "./readLookup.ts"
import { readNames } from "./readNames.ts"
import { MAX_QUESTION, readStory } from "./readStory.ts"
import { reworded } from "./reword.ts"
import { bounded, withoutFocus } from "./remembered.ts"
import { QUESTIONS } from "./rules.ts"
import { inTurn, questionsIn } from "./separate.ts"
import { wordingsOf } from "./slots/loosely.ts"
import { asCounts, asPeriods, asTwo, isAlone } from "./slots/together.ts"
import type { When } from "./readTime.ts"
import { SMALL_TALK } from "./smallTalk.ts"
import { addDays } from "./spans.ts"
import { COMMONEST } from "./spoken.ts"
import { isPlural, readTitled } from "./titled.ts"
import { folded, type Token, tokenize } from "./tokenize.ts"

/** "and the leads?" after a list: the same list of something else. */
const continued = (intent: Intent, said: ReadonlyArray<Token>, meant: ReadonlyArray<Token>): Intent => {
  if (intent._tag !== "Browse" || intent.lookup.conditions.length > 0 || intent.lookup.order !== undefined)
    return intent
  return follows(said, meant) ? Intent.Instead({ noun: intent.lookup.noun }) : intent
}

const PART = /^(with|by|from|under|at|for)$/
const MAX_PART = 4
/** Intents of words that can be part of a question instead. */
const PARTIAL: ReadonlySet<Intent["_tag"]> = new Set(["Who", "Introduce", "Unclear", "NotKnown"] as const)
const HOW_MANY = [
  "how many (do|does|did|has|have) {name} (have|got|own|look after|manage|handle)?",
  "how many (for|with|of|by|from) {name}"
]

/** "And Samir?", "what about at Cedar Labs?": part of a question, which the one before completes. */
const also = (message: string, otherwise: Intent, context: Context): Intent => {
  const said = tokenize(message)
  if (!PARTIAL.has(otherwise._tag) || said.length > MAX_NAME) return otherwise
  const meant = stripped(said)
  // "With Nia?" is part of a question even without "and".
  const isPart = said.length <= MAX_PART && meant.length > 1 && PART.test(meant[0]!.word)
  if (!follows(said, meant) && !isPart) return otherwise
  const asked =
    HOW_MANY.map((text) => matchPattern(compiled(text), meant, fitsIn(context))?.["name"]).find(
      (name) => name !== undefined
    ) ?? meant
  const words = asked.at(-1)!.word === "'s" ? asked.slice(0, -1) : asked
  if (words.length === 0) return otherwise
  const conditions = ME.test(folded(words)) ? undefined : readConditions(words, context)
  if (conditions?.length === 1) return Intent.Also({ words, conditions, otherwise })
  const whose = words === asked ? {} : { whose: true as const }
  return isValue(words, context) || ME.test(folded(words)) ? Intent.Also({ words, ...whose, otherwise }) : otherwise
}

/** "Number of leads and number of customers". */
const TWO_COUNTS = / and (?:the )?(?:number of|how many) /

/** The intent of a message, which can continue the one before. */
export const readIntent = (message: string, context: Context): Intent => {
  const periods =
    COMPARED.test(message) && !BY_HOW_MANY.test(message) && /\d/.test(message)
      ? bounded(context, () => ofPeriods(message, context))
      : undefined
  if (periods !== undefined) return periods
  const read =
    bounded(context, () => also(message, readAlone(message, context), context)) ??
    Intent.Unclear({ tokens: tokenize(message) })
  // A person who is introduced is no question, unless it is asked as one.
  const isTold =
    read._tag === "Introduce" && !tokenize(message).some(({ after, word }) => WH.test(word) || after.includes("?"))
  const intent = ofTheirs(
    OPEN.has(read._tag) && !isTold ? (readByParts(message, context)[0] ?? read) : read,
    message,
    context
  )
  return isOther(intent, message)
    ? Intent.Unclear({ tokens: tokenize(message) })
    : soFar(ownContacts(intent, message), message, context)
}

const SO_FAR = /\b(?:so far|to date|until now|up to now)\b/i
/** Only with a past verb: "do I already have a meeting with Ada" asks for one to come, too. */
const ALREADY = /\balready\b/i
const IS_PAST = /\b(?:had|did|held|done|been|attended|met)\b/i
/** "How many did I have this month" asks for no others; "which did I have planned" does. */
const WAS = /\b(?:did (?:i|we)|(?:i|we) (?:had|held|attended|met|saw))\b/i
const SEVERAL_SENTENCES = /[.!?]\s/
const WAS_TO_COME =
  /\b(?:plan|planned|schedule|scheduled|book|booked|arrange|arranged|set up|add|make|create|supposed|coming|upcoming)\b/i
/** "How many meetings have I already had", "did I have this month": those that are over, or under way. */
const soFar = (intent: Intent, message: string, { today }: Context): Intent => {
  if (intent._tag !== "Browse" || intent.lookup.noun.type.id !== "meetings" || intent.lookup.order !== undefined)
    return intent
  // "Have I had this month so far" says twice that it ends now.
  const all = intent.lookup.conditions
  const conditions = all.some((one) => endsNow(one) && one.when.from !== undefined)
    ? all.filter((one) => !endsNow(one) || one.when.from !== undefined)
    : all
  const [time, ...others] = conditions.filter((one) => one._tag === "Time")
  const isOver = SO_FAR.test(message) || (ALREADY.test(message) && IS_PAST.test(message))
  const those =
    time === undefined
      ? isOver && [...conditions, untilNow(today)]
      : others.length === 0 &&
        (isOver || (WAS.test(message) && !WAS_TO_COME.test(message) && !SEVERAL_SENTENCES.test(message))) &&
        isGoingOn(time.when, today) &&
        conditions.map((one) => (one === time ? Condition.Time({ ...time, when: toNow(time.when, today) }) : one))
  return those === false && conditions === all
    ? intent
    : Intent.Browse({ ...intent, lookup: { ...intent.lookup, conditions: those === false ? conditions : those } })
}
const endsNow = (one: Condition): one is Extract<Condition, { _tag: "Time" }> =>
  one._tag === "Time" && one.when.now === "to"
const isGoingOn = ({ days, from, now, to }: When, today: string): boolean =>
  days === undefined && now === undefined && from !== undefined && to !== undefined && from <= today && to > today
const toNow = (when: When, today: string): When => ({
  ...when,
  to: addDays(today, 1),
  now: "to",
  said: `${when.said} so far`
})

const I_CONTACTED = /\b(?:(?:did|have) i (?:last )?(?:contact|contacted)|i (?:last |have |have last )?contacted)\b/i
/** "Who did I contact on Monday": of my own people. */
const ownContacts = (intent: Intent, message: string): Intent =>
  intent._tag === "Browse" &&
  intent.lookup.noun.type.id === PEOPLE &&
  I_CONTACTED.test(message) &&
  intent.lookup.conditions.some(({ _tag }) => _tag === "Time") &&
  !intent.lookup.conditions.some(({ _tag }) => _tag === "Mine" || _tag === "With" || _tag === "Owned")
    ? browse(intent.mode, intent.lookup, Condition.Mine())!
    : intent

/** "Who owns that company" after an answer about a person: who owns the person's company. */
const ofTheirs = (intent: Intent, message: string, context: Context): Intent => {
  const [focus] = context.focus ?? []
  if (focus === undefined || intent._tag !== "Detail" || intent.subject._tag !== "Focus") return intent
  const said = tokenize(message)
  const other = said
    .flatMap(({ word }, at) => (/^(that|this)$/.test(word) ? (nounAt(said.slice(at + 1), context) ?? []) : []))
    .find(({ noun }) => noun.type.id !== focus.type)
  return other === undefined ? intent : Intent.Via({ subject: intent.subject, via: other.noun.said, what: intent.what })
}

const MEETING = /^(?:and |so |hey |hi )?(?:who|whom)(?:'s| is| are| was| were| will be) (?:meeting|seeing|visiting) /i
/** "Are all of Raj's leads in hardware": those that are don't answer it. */
const WHETHER_ALL =
  /^(?:and |but |so |hey |hi )?(?:is|are|was|were|do|does|did|have|has|had) (?:all|each|every|everyone|everybody|both)\b/i
/** "Do I ever have meetings on Saturday": not the next one. */
const EVER = /\bever\b/i
const WEEKDAY = /\b(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b/i
/** "How many customers does that person have": someone of an answer before. */
const POINTS =
  /\b(?:that|this) (?:person|customer|client|contact|colleague|employee|owner|rep|guy|man|woman|lady|company|account|lead|meeting|one)\b/i
/** "Who owns the customer at Amber Marine": the owner of the company is someone else. */
const ONE_AT = /\b(?:the|a|an) (?:customer|client|lead|person|deal|employee)s? (?:at|of|from|in|with|for) /i
/** "The IT manager" is no manager of it. */
const IN_CAPITALS = /\bIT\b/
const ROWS_OF = /^(?:Browse|Figures)$/
/** "What was the meeting called?": one that was named before, rather than all. */
const THE_ROW =
  /\bthe (?:meeting|call|appointment|invoice|track|song|album|company|customer|client|lead|person|deal)\b/i
const isOfOneRow = ({ lookup }: Extract<Intent, { _tag: "Browse" }>, message: string): boolean =>
  lookup.conditions.length === 0 && lookup.order === undefined && lookup.limit === undefined && THE_ROW.test(message)
/** "Which album is the best of all time?": an opinion, and no title. */
const IS_BEST = /\b(?:is|are|was|were) the (?:best|worst|nicest|greatest|coolest)\b/i
/** "In numbers please": no one is called "in". */
const NO_NAME = /^(?:in|on|at|by|of|to|for|from|with|and|or|as|than|per|not|no|so|if|it|is|be|do|the|an?)$/
const isNameless = (intent: Intent): boolean =>
  "subject" in intent &&
  intent.subject._tag === "Named" &&
  intent.subject.tokens.every(({ word }) => NO_NAME.test(word))
/** Whether an intent leaves out what a word of the message asks for. */
const isOther = (intent: Intent, message: string): boolean =>
  (intent._tag === "Detail" &&
    (ONE_AT.test(message) ||
      (intent.subject._tag === "Focus" && IN_CAPITALS.test(message) && message !== message.toUpperCase()))) ||
  (ROWS_OF.test(intent._tag) && POINTS.test(message)) ||
  isNameless(intent) ||
  (intent._tag === "Browse" && (isOfOneRow(intent, message) || IS_BEST.test(message))) ||
  WHETHER_ALL.test(message.trim()) ||
  (intent._tag === "Browse" && EVER.test(message) && WEEKDAY.test(message)) ||
  // "Who is meeting Ada": no meeting is called “Ada”.
  (intent._tag !== "Browse" && MEETING.test(message.trim())) ||
  isOfNow(intent, message) ||
  (intent._tag === "Introduce" &&
    (LISTS.test(message) || (!intent.names.some(({ name }) => /\p{Lu}/u.test(name)) && FIGURED.test(message)))) ||
  (intent._tag !== "Unclear" && (isOneOfThem(message) || UNFINISHED.test(message.trim()) || UNNAMED.test(message))) ||
  (isAPerson(intent) && ONLY.test(message)) ||
  (intent._tag !== "Browse" && FORETELLS.test(message.trim())) ||
  (intent._tag === "Browse" && IN_PERCENT.test(message)) ||
  (intent._tag === "Browse" && LAST_THERE.test(message) && !IS_THERE.test(message)) ||
  ((intent._tag === "Both" || intent._tag === "Browse") && BY_HOW_MANY.test(message)) ||
  isStillAhead(intent, message)

/** "I'm looking for a Xavier. Can you list me all who are mine?": more than one person. */
const LISTS =
  /[.;!?,] (?:please |so |then |now )?(?:can|could|would|will)? ?(?:you )?(?:please )?(?:list|show) (?:me |us )?(?:all|the|every|everyone|everybody|those)\b/i

/** "Won in hardware, split by owner": no town. */
const FIGURED =
  /\b(?:split|grouped?|broken down|count|total|altogether|average|median|percent(?:age)?|hours?|minutes)\b/i

const isAPerson = (intent: Intent): boolean =>
  intent._tag === "Introduce" || intent._tag === "Who" || (intent._tag === "Titled" && intent.title.length === 1)
/** "Just akiras", after a question: whose rows are meant, rather than who is called so. */
const ONLY = /^(?:only|just) [^A-Z]+$/

/** "How many people do we have there?": at a place that was named before, unlike "how many people are there?". */
const LAST_THERE = /\bthere\W*$/i
const IS_THERE = /\b(?:is|are|was|were|be|been) there\W*$/i

/** "Will Jordan Davis pay on time?": a forecast, and no Will. */
const FORETELLS = /^Will \p{Lu}[\p{L}-]+ \p{Lu}[\p{L}-]+ \p{Ll}[^?]*\?$/u

/** "We have won just one Jordan. Whose customer is that?": which one is told in the first sentence. */
const isOneOfThem = (message: string): boolean => {
  const [told, asked] = message.slice(0, MAX_TOLD).split(/[.!] +/)
  return asked !== undefined && JUST_ONE.test(told!) && WHICH_ONE.test(asked) && THAT_ONE.test(asked)
}
const MAX_TOLD = 300
const JUST_ONE = /\b(?:just|only|exactly) one\b/i
const WHICH_ONE = /^(?:who|whose|what|which|where|when)\b/i
const THAT_ONE = /\b(?:that|it)\W?$/i

/** "How many meetings did the": half a sentence. */
const UNFINISHED =
  /\b(?:the|my|our|your|their|every|than|(?:have|has|had|is|are|was|were|with|for|of|in|on|at|to|get|got|did|do|does) an?)[.?! ]*$/

/** "Are there any customers of": no "who are my meetings with". */
const UNNAMED =
  /^(?:(?!\b(?:who|whom|whose|which|what|where|how)\b).)*\b(?:customers|clients|leads|people|companies|meetings|calls|invoices|tracks|albums|deals) (?:of|with|from|at|by|for|in|on)\W*$/i

/** A number of rows is no share of them. */
const IN_PERCENT = /\b(?:in|as an?) (?:percents?|percentages?|%)\W*$|\bhow many percent\b/i

/** "What have I still got today": not what is over. */
const isStillAhead = (intent: Intent, message: string): boolean =>
  intent._tag === "Browse" &&
  intent.lookup.noun.type.id === "meetings" &&
  /\bstill\b/i.test(message) &&
  intent.lookup.conditions.some((one) => one._tag === "Time" && one.when.now === undefined && one.when.ahead !== true)

const NOW = /\S (?:right now|now|at the moment|at present|currently|as we speak|still|yet)\b/i
/** "Meetings right now": those under way, which aren't all of them. */
const isOfNow = (intent: Intent, message: string): boolean =>
  intent._tag === "Browse" &&
  intent.lookup.noun.type.id === "meetings" &&
  intent.lookup.order === undefined &&
  !intent.lookup.conditions.some(({ _tag }) => _tag === "Time") &&
  NOW.test(message)

/** What is asked is the difference, which two counts leave to the reader. */
const BY_HOW_MANY = /\bhow (?:many|much) (?:more|fewer|less)\b/i
/** Words that compare two periods. */
const COMPARED = /\b(compare|compared|comparing|comparison|vs|versus|higher|lower|better|worse|more|fewer|less)\b/i

const ofPeriods = (message: string, context: Context): Intent | undefined => {
  const said = tokenize(message)
  if (said.length > MAX_QUESTION) return undefined
  return asPeriods(reworded(stripped(said), context.today), (words) => readable(words, context), context)
}

/** The intent of a message by itself, in shorter words if these are understood. */
const readAlone = (message: string, context: Context): Intent => {
  const said = tokenize(message)
  if (said.length === 0) return Intent.Unclear({ tokens: said })
  const language = languageOf(message, said)
  if (language !== undefined) return Intent.Foreign({ reply: language.reply, tokens: said })
  const polite = stripped(said)
  const meant = reworded(polite, context.today)
  const read = inOtherWords(meant, context) ?? readWords(said, polite, meant, context)
  return UNREAD.has(read._tag) ? (afterStatement(polite, context) ?? read) : read
}

const readable = (wording: ReadonlyArray<Token>, context: Context): Intent | undefined => {
  const intent = inOtherWords(wording, context) ?? readWords(wording, wording, wording, context)
  return READABLE.has(intent._tag) ? intent : undefined
}

/** How many wordings of a question are looked up at most. */
const MAX_READINGS = 4

/** What a question means besides, if rules know it. */
const besides = (meant: ReadonlyArray<Token>, context: Context): Intent | undefined => {
  const other = otherwise(meant, fitsIn(context))
  return other && readable(other, context)
}

/** What a message means besides, where no one is called so: "UK sales". */
export const readBesides = (message: string, context: Context): ReadonlyArray<Intent> => {
  const said = tokenize(message)
  if (said.length === 0 || said.length > MAX_QUESTION) return []
  const found = bounded(context, () => besides(reworded(stripped(said), context.today), context))
  return found === undefined ? [] : [found]
}

/** The intents of a question that is read by its parts, if rules know the parts. */
const byParts = (meant: ReadonlyArray<Token>, context: Context): ReadonlyArray<Intent> => {
  const readOne = (wording: ReadonlyArray<Token>) => readable(wording, context)
  const all = wordingsOf(meant, context).flatMap((wording) => readOne(wording) ?? [])
  const both = asTwo(meant, readOne) ?? asCounts(meant, readOne, context)
  return [besides(meant, context), asPeriods(meant, readOne, context), ...all.slice(0, MAX_READINGS), both].filter(
    (one) => one !== undefined
  )
}

/** The intents of a message by the parts of its question, whatever rules made of the whole; the first is meant unless it finds nothing. */
export const readByParts = (message: string, context: Context): ReadonlyArray<Intent> => {
  const said = tokenize(message)
  return said.length === 0 || said.length > MAX_QUESTION
    ? []
    : (bounded(context, () => byParts(reworded(stripped(said), context.today), context)) ?? []).filter(
        (intent) => !isOther(intent, message)
      )
}

/** What no rule knows, and what is then found by its parts. */
const OPEN: ReadonlySet<Intent["_tag"]> = new Set([
  "Unclear",
  "NotKnown",
  "Uncountable",
  "Separate",
  "Introduce"
] as const)
const READABLE: ReadonlySet<Intent["_tag"]> = new Set(["Browse", "Figures", "Detail", "Comparison"] as const)

/** The intent of a question in shorter words, if these are understood. */
const inOtherWords = (meant: ReadonlyArray<Token>, context: Context): Intent | undefined => {
  const other = meant.length > MAX_QUESTION ? undefined : paraphrased(meant, fitsIn(context))
  const read = other && readWords(other, other, other, context)
  const isAsked = read?._tag === "Introduce" && read.sure === true
  return read === undefined || (UNREAD.has(read._tag) && !isAsked) ? undefined : read
}

/** The intent of a question that follows a statement, of the person whom the statement names if the question names none. */
const afterStatement = (tokens: ReadonlyArray<Token>, context: Context): Intent | undefined => {
  const before = questionBefore(tokens, context)
  if (before !== undefined) {
    const meant = reworded(stripped(before), context.today)
    const intent = inOtherWords(meant, context) ?? readWords(before, meant, meant, context)
    const isAsked = intent._tag === "Detail" || QUESTION_STARTS.has(meant[0]!.word)
    if (!UNREAD.has(intent._tag) && isAsked && isAlone(intent)) return intent
  }
  const found = questionAfter(tokens, context)
  // What is told of a person besides the name finds the one who is meant.
  if (found === undefined || readFacts(tokens.slice(0, -found.question.length)).length > 0) return undefined
  const fresh = withoutFocus(context)
  const read = (words: ReadonlyArray<Token>): Intent | undefined => {
    const meant = reworded(stripped(words), context.today)
    const intent = inOtherWords(meant, fresh) ?? readWords(words, meant, meant, fresh)
    return UNREAD.has(intent._tag) ? undefined : intent
  }
  const { name, question } = found
  const about = name === undefined ? undefined : pointingTo(question, name)
  const intent = read(about ?? question)
  if (name === undefined || about !== undefined) return intent !== undefined && isAlone(intent) ? intent : undefined
  return intent?._tag === "Detail" && intent.subject._tag === "Focus"
    ? Intent.Detail({ ...intent, subject: Subject.Named({ tokens: name }) })
    : undefined
}

/** Intents of words that no rule understands as a question. */
const UNREAD: ReadonlySet<Intent["_tag"]> = new Set([
  ...PARTIAL,
  ...(["Request", "Uncountable", "Separate", "Choose"] as const)
])

/** The intent of words. Questions take precedence over free text that introduces a person. */
const readWords = (
  said: ReadonlyArray<Token>,
  polite: ReadonlyArray<Token>,
  meant: ReadonlyArray<Token>,
  context: Context
): Intent => {
  const names = readNames(said)
  const facts = readFacts(said)
  const spoken = names.some(({ length, rank }) => rank >= 3 && length >= 2)
  const fits = fitsIn(context)
  const compared = firstRule(COMPARISONS, meant, context, fits)
  if (compared !== undefined) return compared
  const counts = TWO_COUNTS.test(folded(meant)) ? separate(meant, context, fits) : undefined
  if (counts !== undefined) return counts
  const figures = meant.length > MAX_QUESTION ? undefined : readFigures(meant, context, fits)
  if (figures !== undefined) return figures
  const commonest = firstRule(COMMONEST, meant, context, fits)
  if (commonest !== undefined) return commonest
  if (isAggregate(meant) && !spoken) return uncountable(meant, context)
  const question = firstRule(SMALL_TALK, said, context, fits) ?? firstRule(QUESTIONS, meant, context, fits)
  const hard = facts.some(({ concept, weight }) => weight === "stated" && concept !== "city" && concept !== "state")
  const introduces =
    facts.length > 0 && names.some(({ length, rank }) => length >= 2 && (rank >= 3 || (rank === 2 && hard)))
  const ofPeople = question?._tag === "Browse" && question.lookup.noun.type.id === PEOPLE
  if (question !== undefined && !(introduces && ofPeople)) return continued(question, said, polite)
  const parts = separate(meant, context, fits)
  if (parts !== undefined) return parts
  const story = readStory(said, meant, names, facts, spoken, context)
  // "The total hours Ada was in meetings": who she is doesn't answer it.
  if (story._tag === "Introduce" && !story.sure && isAggregate(meant)) return uncountable(meant, context)
  const titled =
    story._tag === "Introduce" && meant.length <= MAX_QUESTION ? readTitled(meant, story, context) : undefined
  // "Process reviews in December": with a time it is a list rather than a person.
  const isList = titled?.conditions.some(({ _tag }) => _tag === "Time") === true
  // "Process reviews with Amir Ali": who he is doesn't answer it.
  const isSeveral =
    titled !== undefined &&
    isPlural(titled.title) &&
    titled.conditions.some((one) => one._tag === "With" && one.words.every(({ capital }) => capital))
  const isNoName = isSeveral || names.every(({ rank }) => rank === 0)
  if (isList || isSeveral) return { ...titled, ...(isNoName ? { otherwise: Intent.Unclear({ tokens: meant }) } : {}) }
  if (story._tag !== "Introduce") return story
  // "Health & Wellness Expo": half of a name finds no one.
  if (said.some(({ after }) => after.includes("&")) && said.some(({ word }) => WH.test(word)))
    return Intent.Unclear({ tokens: meant })
  const what = askedOfThem(said, context, fits)
  if (what !== undefined) return { ...story, what }
  // "get hold of Ada Lovelace": a name isn't a town.
  const isStated = facts.some((fact) => fact.weight === "stated" && !names.some(({ name }) => name === fact.said))
  const isQuestion = (!isStated && asksMore(said)) || EXCLUDES.test(folded(said))
  return said.length <= MAX_QUESTION && isQuestion ? Intent.Unclear({ tokens: meant }) : story
}

/** "Everyone at Cedar Labs besides Ada Lovelace": not about her. */
const EXCLUDES = /\b(?:except|besides|apart from|aside from|other than|excluding|all but)\b/

const WH = /^(who|whom|whose|what|which|when|where|how)$/
const ASKS = /^(whose|whom|what|which|how|why)$/
const ASKS_FIRST = /^(should|would|could|will|shall|may|might|is|are|was|were|do|does|did|has|have|had)$/
/** "Ada Lovelace, when did we last speak?", "should Raj call Ada Lovelace?": who she is doesn't answer it. */
const asksMore = (said: ReadonlyArray<Token>): boolean => {
  if (said.some(({ word }) => ASKS.test(word)) || WANTED.test(folded(said))) return true
  if (WH.test(said[0]!.word) && !/^(is|are|was|were|'s)$/.test(said[1]?.word ?? "")) return true
  // "Did we contact Ada Lovelace before May", "owner of Ada Lovelace or Grace Hopper", "Ada Lovelace's owner's customers".
  if (/^(do|does|did|has|have|had)$/.test(said[0]!.word)) return true
  if (/^(leads?|customers?|clients?|people|deals|proposals|meetings|companies)$/.test(said.at(-1)!.word)) return true
  if (said.some(({ word }, at) => word === "or" && said[at - 1]?.capital === true)) return true
  if (said.filter(({ word }) => word === "'s").length > 1) return true
  if (!said.at(-1)!.after.includes("?")) return false
  return (
    ASKS_FIRST.test(said[0]!.word) ||
    said.some(({ word }, at) => word === "or" || (WH.test(word) && (at < 2 || /[,.;:!?]/.test(said[at - 1]!.after))))
  )
}

/** "just need Ada Lovelace's e-mail, that is all", "I have to call Ada Lovelace, give me a number". */
const WANTED =
  /\b(?:the|a|an|his|her|their) (?:phone|mobile|e ?mail|email|number|address|extension|status|owner|company) (?:of|for)\b|(?:'s|\b(?:need|want|get|give me|send me|just)(?: a| an| the| his| her| their)?) (?:phone|mobile|cell|number|e ?mail|mail|address|extension|details)\b/

/** "I missed a call from Ada Lovelace. What's the number?": what the last sentence asks of the person who was named before. */
const askedOfThem = (said: ReadonlyArray<Token>, context: Context, fits: Fits): string | undefined => {
  const end = said.slice(0, -1).findLastIndex(({ after }) => /[.!?]/.test(after))
  if (end < 0) return undefined
  const asked = firstRule(QUESTIONS, stripped(said.slice(end + 1)), withoutFocus(context), fits)
  return asked?._tag === "Detail" && asked.subject._tag === "Focus" ? asked.what : undefined
}

const firstRule = (
  rules: ReadonlyArray<Rule>,
  tokens: ReadonlyArray<Token>,
  context: Context,
  fits: Fits
): Intent | undefined => {
  if (tokens.length > MAX_QUESTION) return undefined
  for (const [texts, build] of rules) {
    for (const text of texts) {
      const captures = matchPattern(compiled(text), tokens, fits)
      const intent = captures && build(captures, context)
      if (intent !== undefined) return intent
    }
  }
  return undefined
}

/** A question for figures, with what else its words can mean. */
const readFigures = (tokens: ReadonlyArray<Token>, context: Context, fits: Fits): Intent | undefined => {
  const regrouped = readRegrouping(tokens, context)
  if (regrouped !== undefined)
    return Intent.Regroup({ ...regrouped, isOfYear: tokens.some(({ word }) => YEAR.test(word)) })
  const only = readOnly(tokens, context)
  if (only !== undefined) return Intent.Only({ ...only, isOfYear: tokens.some(({ word }) => YEAR.test(word)) })
  const asked = readAsked(tokens, context)
  if (asked === undefined) return undefined
  const { either, lookup } = asked.measure
  const otherwise = either === true ? browse("count", lookup) : firstRule(QUESTIONS, tokens, context, fits)
  return Intent.Figures({ asked, ...(otherwise?._tag === "Browse" ? { otherwise } : {}) })
}

/** Questions that follow each other: "who is Ada? how many deals are there?", "who is Ada and who is Bo". */
const separate = (tokens: ReadonlyArray<Token>, context: Context, fits: Fits): Intent | undefined => {
  if (tokens.length > 4 * MAX_QUESTION) return undefined
  const asked = questionsIn(tokens)
  // No question of several is about the answer before the message.
  const fresh = withoutFocus(context)
  const intents = asked.map((part) => {
    const meant = stripped(part)
    return QUESTION_STARTS.has(meant[0]!.word) ? firstRule(QUESTIONS, meant, fresh, fits) : undefined
  })
  return inTurn(asked, intents, tokens)
}

const isAggregate = (tokens: ReadonlyArray<Token>): boolean =>
  tokens.length <= MAX_QUESTION &&
  (tokens.some(({ word }) => AGGREGATES.has(word)) ||
    AGGREGATE_PHRASES.some((words) => ` ${folded(tokens)} `.includes(` ${words} `)))

const uncountable = (tokens: ReadonlyArray<Token>, context: Context): Intent => {
  for (let at = 0; at < tokens.length; at++) {
    const found = nounAt(tokens.slice(at), context)
    if (found !== undefined) return Intent.Uncountable({ lookup: { noun: found.noun, conditions: [] } })
  }
  return Intent.Uncountable({})
}
