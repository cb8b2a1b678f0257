/**
 * Reasons beside a request: "Raj has too much work, give …", "… she signed this morning". A reason says why and nothing else, so it
 * needs no reading. A clause that could be a condition, a value or another request is no reason.
 */
import { CARDINALS } from "../../english.ts"
import { Part, type Subject } from "./Deed.ts"
import { CLOSERS, NO_REASON, OPENERS, OTHER_REQUESTS, REASON_PRONOUNS, REASON_VERBS } from "./lexicon.ts"
import { type Fits, matches, shapeOf } from "./shapes.ts"
import type { Word } from "./words.ts"

type Words = ReadonlyArray<Word>

/** Whole sentences that ask for nothing. */
const POLITE = new Set([...OPENERS, ...CLOSERS])
/** Whether words only greet, thank or announce. */
export const isPolite = (words: Words): boolean => POLITE.has(words.map(({ word }) => word).join(" "))
const OF_A_ROW = /^(it|they) (is|are|'s) (assigned|owned|handled|due|for|with|in|on)$/
const FINISHED_NOW =
  /^(is|are|'s|was) (now |already |all |not |no longer )?(done|finished|completed|complete|blocked|closed)( now| any more| anymore| any longer)?$/
const MAX_REASON = 16
const MAX_BEFORE_VERB = 9
const PAST = /^[a-z]{3,}ed$/
const PRESENT = /^[a-z]{3,}[^s]s$/
const MAX_VERBS = 3
/** Words after "Raj's" that make it "Raj is": "Raj's away". */
const IS_SO =
  /^(a|an|the|in|on|at|off|out|up|away|back|home|here|there|under|over|with|without|not|no|never|too|very|so|quite|really|just|already|also|still|now|currently|only|always|been|got|gone|going|done|sick|ill|unwell|busy|free|new|late|ready|happy|sorry|unable|able|pregnant|fine|my|our|[a-z]{2,}ing|[a-z]{3,}ed)$/
/** "do not …", "never …": what isn't to be done. */
const ORDERED_NOT = /^(do not|never|not)\b/

/** "too much", "both declined" after two names, and "we dropped both". */
const isHarmless = (said: ReadonlyArray<string>, at: number): boolean =>
  said[at] === "too"
    ? at < said.length - 1
    : said[at] === "all"
      ? said[at - 1] === "at"
      : said[at] === "both" &&
        (at === 0 ? /^(were|have|had)$/.test(said[1]!) : at === said.length - 1 || PAST.test(said[at + 1]!))

/** Before a participle: "she has put it in writing". */
const HAS = /^(has|have|had|was|were|been)$/
/** What comes before something that isn't so yet: "by the time Raj has tested the backup". */
const BEFOREHAND =
  /^(by the time|by then|by that|as soon as|as long as|the moment|the minute|provided|assuming|supposing|suppose|imagine|in case)\b/

/** When something is so, in "because Lena is away until Monday". */
const WHEN = /^((mon|tues|wednes|thurs|fri|satur|sun)day|tomorrow|next|until)$/

/** "Taylor White just signed". */
const ADVERBS = new Set("just already finally now only recently also has have".split(" "))

const DETERMINED = /^(the|our|my|their|his|her|a|an|another)$/
/** Verbs that say what a person did, not the state of a row: "Raj agreed". */
const ANSWERS = new Set(
  "agreed accepted confirmed called phoned rang asked said says told wrote emailed texted messaged insisted promised signed resigned left went quit refused objected begged complained noticed forgot paid bought retired volunteered offered helped replied answered responded knows checked wants works agrees declined churned apologized apologised".split(
    " "
  )
)

const ROW_IS = /^(is|'s|are|goes|go|gets|get|should|must|needs|need|becomes|moves|belongs|stays)$/
const TELLING =
  /^(said|says|say|told|tells|thinks|think|thought|knows|know|knew|that|because|how|why|when|where|if|whether|what|confirmed|agreed|promised|hopes|hoped|me|us|him|her|wrote)$/

/** Reasons without a person or a thing that they begin with, and what no one knows. */
const SHAPES = [
  "(there is|there 's|is|it is|it 's|with)? (no|not much|little) (panic|rush|hurry|sense|point|stress|pressure|problem|reason|worries|drama|use)",
  "(there is|there 's|is|it is|it 's)? (no|not much|little) (panic|rush|hurry|sense|point|stress|pressure|problem|reason|worries|drama|use) (there|here|with it|with that|about it|at all|anyway|to wait|in waiting) (more|longer|any longer|any more|anymore|further)?",
  "(there is|there 's|it is|it 's)? (no|not much|little) (use|point|sense) (in)? {rest}",
  "(is|was|it is|it 's|it was) (missing|lacking) (the|a|an|its)? {rest}",
  "(nobody|no one|noone) (knows|can say|can tell|has any idea|is sure) (when|how|why|what|where|if|whether) {rest}",
  "(whoever|regardless of whom|no matter whom) (they|it|he|she) (belong|belongs) to",
  "(no matter|regardless of) (whose|who|which|how|what|where) {rest}",
  "no matter whose",
  "(he|she|they) (will|is going to|are going to|wants to|want to) (call|ring|phone|email|e-mail|mail|message|text|get in touch|get back to us|contact us|be in touch|reach out) (himself|herself|themselves|us|again|then|back)?",
  "(as|was|were|all)? (agreed|confirmed|discussed|decided|settled|arranged) (with|by|in|at|over|on) {rest}",
  "(and)? not (the one|what is|as it is) (in|on) (the|our) (system|crm|list|database|calendar|records|file)",
  "(i|we) (do not know|have no idea|am not sure|are not sure|can not say) (when|how|why|where) {rest}",
  "(it|both|they|all|these|those|all of them|both of them) (is|are|'s|were|was) (now)? (obsolete|outdated|out of date|stale|useless|pointless|irrelevant|redundant|superseded|duplicates|a duplicate|not needed|no longer needed|not needed anymore|not needed any more)",
  "(i|we)? (have|got|have got|am at|are at) (a|an|the|my|another)? (dentist|doctor|vet|flight|exam|dentist appointment|doctor 's appointment|appointment|clash|conflict|day off|hospital appointment|parents evening|train to catch)"
].map(shapeOf)
/** Few plain words that ask for nothing. */
const isHarmlessRest: Fits = (_, words) =>
  words.length <= 7 &&
  !words.some(
    ({ after, capital, quoted, text, word }) =>
      quoted === true ||
      capital ||
      /\d/.test(text) ||
      /[?,:;]/.test(after) ||
      OTHER_REQUESTS.has(word) ||
      /^(and|but|or|if|unless|until|except|should|must|to|instead)$/.test(word)
  )

/** The reason that a clause is, also with the row that it is about; none if it could be more than a reason. */
export const reasonsOf = (
  words: Words,
  read: (words: Words) => Subject | undefined,
  isLoose = false,
  isBecause = false
): ReadonlyArray<Part> => {
  const [first] = words
  if (isPolite(words)) return [Part.Reason({ isLoose })]
  // "It is called Handover" says what a new row is called.
  if (words.some(({ quoted, word }, at) => at < 3 && quoted !== true && /^(called|named|titled)$/.test(word))) return []
  // "It is assigned to Leila" says what is so of a row, or should be.
  if (
    OF_A_ROW.test(
      words
        .slice(0, 3)
        .map(({ word }) => word)
        .join(" ")
    )
  )
    return []
  // "Order laptops is Nia's" says whose another row is.
  if (words.at(-1)!.word === "'s" || /^(mine|yours|theirs|hers|his)$/.test(words.at(-1)!.word)) return []
  // "Only Quinn Martin is at Proposal" says which row stays as it is.
  if (first?.quoted !== true && /^(only|just)$/.test(first?.word ?? "") && words[1]?.capital === true) return []
  // "Leila has it" says whose the row is to be.
  if (/ (has|have|owns|gets|takes|got) (it|this|that|them)$/.test(words.map(({ word }) => word).join(" "))) return []
  if (first === undefined || words.length < 2 || words.length > MAX_REASON) return []
  if (SHAPES.some((shape) => !matches(shape, words, isHarmlessRest).next().done)) return [Part.Reason({ isLoose })]
  const said = words.map(({ word }) => word)
  // "Kofi said: set …", "the rule is: set …".
  if (/^(said|says|wrote|writes|thinks|is|are|was)$/.test(said.at(-1)!)) return []
  if (
    words.some(({ after, quoted, text }) => quoted === true || /[\d@]/.test(text) || after.includes("?")) ||
    said.some(
      (word, at) => (at > 0 && OTHER_REQUESTS.has(word) && !HAS.test(said[at - 1]!)) || (CARDINALS[word] ?? 1) > 1
    ) ||
    BEFOREHAND.test(said.slice(0, 3).join(" ")) ||
    words.slice(0, -1).some(({ after }) => /[,:;—–-]/.test(after)) ||
    ORDERED_NOT.test(said.slice(0, 2).join(" "))
  )
    return []
  const isPronoun = REASON_PRONOUNS.has(first.word)
  const verbs = [...said.keys()].filter(
    (at) =>
      at > 0 &&
      !words[at]!.capital &&
      // "Raj's leads": whose they are.
      (said[at] !== "'s" || isPronoun || IS_SO.test(said[at + 1] ?? "")) &&
      (REASON_VERBS.has(said[at]!) || PAST.test(said[at]!) || (isPronoun && at <= 2 && PRESENT.test(said[at]!)))
  )
  // "Kofi's blocked task is unblocked now": the verb that follows a whole row.
  const after = (at: number) => said.slice(0, at).findLastIndex((word) => !ADVERBS.has(word)) + 1
  const verb =
    verbs.slice(0, MAX_VERBS).find((at, index) => index > 0 && read(words.slice(0, after(at)))?._tag === "Rows") ??
    verbs[0] ??
    -1
  // "Since the vendor finally woke up it's In progress" goes on with what is so of the row. "She said it is fine" tells what she said.
  const goesOn = said.findIndex((word, at) => at > 1 && /^(it|they)$/.test(word) && ROW_IS.test(said[at + 1] ?? ""))
  if (goesOn > 0 && !TELLING.test(said[goesOn - 1]!)) return []
  const begins = isPronoun || first.capital || DETERMINED.test(first.word) || first.word === "both"
  if (verb < 1 || verb > MAX_BEFORE_VERB) return []
  const name = after(verb)
  const subject = isPronoun || name === 0 ? undefined : read(words.slice(0, name))
  if (!begins && subject === undefined) return []
  // The words of a set and the conjunctions of several names are read: "all the tasks in review have been approved".
  const isSeveral = subject?._tag === "Named" && subject.each !== undefined
  // "customers interested in consulting" are some of the customers.
  if (subject?._tag === "Rows" && !REASON_VERBS.has(said[verb]!)) return []
  const from = subject?._tag === "Rows" ? verb : 0
  if (
    said.some(
      (word, at) =>
        at >= from &&
        NO_REASON.has(word) &&
        !isHarmless(said, at) &&
        !(isBecause && WHEN.test(word)) &&
        !(isSeveral && at < verb && /^(and|both|all)$/.test(word))
    )
  )
    return []
  // "Yuki has no time for Upgrade Flask": the row that is meant can be named after the verb.
  const isOther =
    subject?._tag === "Named" && words.slice(verb + 1).some(({ capital, text }) => capital && text !== "I")
  const known =
    !isOther && (subject?._tag === "Named" || subject?._tag === "Rows") ? [Part.Reason({ isLoose, subject })] : []
  // "Rotate keys is done. Move …": it may be meant to be marked, too.
  if (!isBecause && FINISHED_NOW.test(said.slice(name).join(" "))) return known
  // "Jaden White is won, Quinn Harris lost": what another row is to be as well. "Nia approved" tells what a person did.
  const told = said.slice(name).filter((word) => !ADVERBS.has(word) && word !== "been")
  const [state = ""] = told
  const isState =
    told.length === 1 &&
    !isPronoun &&
    !DETERMINED.test(first.word) &&
    !ANSWERS.has(state) &&
    (REASON_VERBS.has(state) || (PAST.test(state) && name > 1))
  // "Add dark mode is late": a row's name, and no request, only if there is a row of that name.
  return isState || OTHER_REQUESTS.has(first.word) ? known : [Part.Reason({ isLoose }), ...known]
}
