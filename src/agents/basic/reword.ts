/**
 * Puts a question into the order that rules know. Each word keeps its meaning: "the largest invoice, how much was it" asks
 * "how much was the largest invoice", and "who the owner of Ada is" asks "who is the owner of Ada".
 */
import { MONTHS } from "../english.ts"
import { ASKING_WORDS, SAME_AS } from "./lexicon.ts"
import { YEAR } from "./partOfYear.ts"
import { byLength, startsWith } from "./patterns.ts"
import { timeAt } from "./readTime.ts"
import { folded, type Token, tokenize } from "./tokenize.ts"

type Tokens = ReadonlyArray<Token>

/** Longer messages are free text. */
const MAX_REWORDED = 60

const COMPARATIVE = /^(?:longer|shorter|more|less|fewer|later|earlier|higher|lower|bigger|larger|smaller|older|newer)$/
/** "Longer then 12 minutes", "this coming Friday". */
const spelled = (tokens: Tokens): Tokens =>
  tokens
    .filter(({ word }, at) => !(word === "this" && tokens[at + 1]?.word === "coming"))
    .map((token, at, all) =>
      token.word === "then" && COMPARATIVE.test(all[at - 1]?.word ?? "") ? { ...token, ...THAN } : token
    )
const THAN = { word: "than", text: "than" }

export const reworded = (tokens: Tokens, today: string): Tokens => {
  if (tokens.length > MAX_REWORDED) return tokens
  const plain = lastWeekday(withoutArticle(plainly(spelled(tokens))))
  const owned = singlyOwned(onwards(ahead(plain, today)))
  const meant = direct(aboutTopic(timeLast(ofColleagues(ofFamilies(owned)), today)))
  // "Overall" alone would say nothing.
  return meant.length === 0 ? tokens : meant
}

const BEGINS = /^(?:start|starts|starting|begin|begins|beginning)$/
/** "Begins with an S", "starting with the letter S". */
const withoutArticle = (tokens: Tokens): Tokens => {
  const at = tokens.findIndex(({ word }, index) => word === "with" && BEGINS.test(tokens[index - 1]?.word ?? ""))
  const rest = tokens.slice(at + 1)
  const letter = rest.findIndex(({ text }) => !/^(?:an?|the|letter)$/.test(text))
  return at < 0 || letter < 1 || letter < rest.length - 1 || [...rest[letter]!.word].length > 1
    ? tokens
    : [...tokens.slice(0, at + 1), ...rest.slice(letter)]
}

const WEEKDAY = /^(?:mon|tues|wednes|thurs|fri|satur|sun)day$/
const SAYS_PAST = /^(?:did|had|was|were|met|saw|attended|held|took|came|happened|visited)$/
const SAYS_WHICH =
  /^(?:last|next|this|coming|every|each|past|previous|following|the|a|an|of|since|after|before|until|by|between|from|to|and|or)$/

/** Whether a question is about what is over. */
export const saysPast = (tokens: Tokens): boolean => tokens.some(({ word }) => SAYS_PAST.test(word))

/** "What did I have on Friday": on the last one. */
export const lastWeekday = (tokens: Tokens, isPast = saysPast(tokens)): Tokens => {
  const named = tokens.flatMap(({ word }, at) => (WEEKDAY.test(word) ? [at] : []))
  const [at, ...others] = named
  if (at === undefined || others.length > 0 || !isPast) return tokens
  const on = tokens[at - 1]?.word === "on" ? 1 : 0
  const before = tokens[at - on - 1]
  const next = tokens.slice(at + 1, at + 3)
  const isDated = next.some(
    ({ word }) => /\d/.test(word) || MONTHS[word] !== undefined || word === "the" || word === "of"
  )
  if (isDated || (on === 0 && before !== undefined && SAYS_WHICH.test(before.word))) return tokens
  return [...tokens.slice(0, at - on), ...tokenize("last"), ...tokens.slice(at)]
}

const OWN = /^(?:my|i|our|we)$/
const TO_COME = /^(?:do|does|will|shall|am|is|are|going|coming|upcoming|planned|scheduled)$/
const BARE = /^(?:my|our|list|show)$/
const OF_CALENDAR =
  /^(?:meetings?|calls?|appointments?|calendar|agenda|schedule|seeing|meeting|busy|free|available|booked|see|meet)$/
const IS_OVER =
  /^(?:did|had|was|were|met|saw|seen|held|attended|happened|took|went|last|past|ago|been|already|since|latest|recent)$/
const MONTHS_AHEAD = 6
/** "Do I have site visits in January", unlike customers whom one contacted. */
const HAS = /\b(?:do|will|shall) (?:i|we) have\b|^what is on\b/
const OF_PEOPLE = /^(?:customers?|clients?|leads?|people|contacts?|contacted|compan(?:y|ies)|invoices?|deals?|sales)$/

/** "What meetings do I have in January", asked in November: in the coming one. */
const ahead = (tokens: Tokens, today: string): Tokens => {
  const named = tokens.flatMap(({ word }, at) => (MONTHS[word] === undefined || word === "may" ? [] : [at]))
  const [at, ...others] = named
  if (at === undefined || others.length > 0) return tokens
  const words = tokens.map(({ word }) => word)
  const has = (some: RegExp) => words.some((word) => some.test(word))
  // "How long does it last": no past.
  const isPast = words.some((word, index) => IS_OVER.test(word) && !(word === "last" && index === words.length - 1))
  const isToCome = has(TO_COME) || BARE.test(words[0]!)
  // "Have we run": over, unlike "do we have".
  const isPerfect = has(/^(?:have|has)$/) && !has(/^(?:do|does|will|got)$/)
  if (
    isPast ||
    isPerfect ||
    !isToCome ||
    !has(OWN) ||
    !(has(OF_CALENDAR) || (HAS.test(words.join(" ")) && !has(OF_PEOPLE))) ||
    has(YEAR)
  )
    return tokens
  const month = Number(today.slice(5, 7))
  const months = MONTHS[words[at]!]! - month + 12
  if (months >= 12 || months > MONTHS_AHEAD) return tokens
  const day = /^\d{1,2}(?:st|nd|rd|th)?$/.test(words[at + 1] ?? "") ? 1 : 0
  const end = tokens[at + day]!
  return [
    ...tokens.slice(0, at + day),
    { ...end, after: "" },
    { ...tokenize(String(Number(today.slice(0, 4)) + 1))[0]!, after: end.after },
    ...tokens.slice(at + day + 1)
  ]
}

/** "21 December, afternoon: what have I got?": the time goes to the end. */
const timeLast = (tokens: Tokens, today: string): Tokens => {
  const at = tokens.findIndex(({ after }) => /[,;:]/.test(after))
  const time = at < 0 ? undefined : timeAt(tokens, today)
  if (time === undefined || time.length !== at + 1 || !ASKING_WORDS.has(tokens[at + 1]?.word ?? "")) return tokens
  const last = tokens.at(-1)!
  return [
    ...tokens.slice(at + 1, -1),
    { ...last, after: "" },
    ...tokens.slice(0, at),
    { ...tokens[at]!, after: last.after }
  ]
}

/** "From November 2023 onwards" is since then. */
const onwards = (tokens: Tokens): Tokens => {
  const end = tokens.findIndex(({ word }) => /^onwards?$/.test(word))
  const from = tokens.slice(0, Math.max(0, end)).findLastIndex(({ word }) => word === "from")
  if (from < 0) return tokens
  const last = { ...tokens[end - 1]!, after: tokens[end]!.after }
  return [
    ...tokens.slice(0, from),
    ...tokenize("since"),
    ...tokens.slice(from + 1, end - 1),
    last,
    ...tokens.slice(end + 1)
  ]
}

/** "Meetings with the Patels": with those of that name. */
const ofFamilies = (tokens: Tokens): Tokens =>
  tokens.flatMap((token, at): Tokens => {
    // "Of the Services customers": a value before its noun.
    const isFamily = (index: number) =>
      /^\p{Lu}\p{Ll}{2,}[^s]s$/u.test(tokens[index]?.text ?? "") && !DESCRIBED.test(tokens[index + 1]?.word ?? "")
    const joins = (one: Token | undefined) => one !== undefined && /^(with|of|from|for|by)$/.test(one.word)
    if (token.word === "the" && joins(tokens[at - 1]) && isFamily(at + 1)) return []
    return isFamily(at) && tokens[at - 1]?.word === "the" && joins(tokens[at - 2])
      ? [{ ...tokenize(token.text.slice(0, -1))[0]!, after: token.after }]
      : [token]
  })

const DESCRIBED =
  /^(customer|client|person|lead|deal|meeting|account|contact|task|company|proposal|project|ticket|order|invoice|one|track|album)s?$|^(people|companies|staff)$/

const OURS = /^(our|my)$/
const COLLEAGUE = /^(colleague|coworker|teammate|friend|contact|customer|client|rep)$/

/** "Our colleague Sofia Santos" and "the customer called Sofia Santos" are Sofia Santos. */
const ofColleagues = (tokens: Tokens): Tokens =>
  ofAccounts(uncalled(tokens)).filter(
    ({ word }, at) =>
      !(OURS.test(word) && COLLEAGUE.test(tokens[at + 1]?.word ?? "") && tokens[at + 2]?.capital === true) &&
      !(COLLEAGUE.test(word) && OURS.test(tokens[at - 1]?.word ?? "") && tokens[at + 1]?.capital === true)
  )

const ACCOUNT = /^(account|file|record|case|contact)$/
/** "The Morgan Garcia account" is Morgan Garcia. */
const ofAccounts = (tokens: Tokens): Tokens => {
  const end = tokens.findIndex(
    ({ capital, word }, at) =>
      !capital && ACCOUNT.test(word) && tokens[at - 1]?.capital === true && tokens[at - 2]?.capital === true
  )
  const the = tokens.slice(0, Math.max(0, end)).findLastIndex(({ capital }) => !capital)
  if (end < 0 || the < 0 || tokens[the]!.word !== "the" || tokens.slice(the, end).some(({ after }) => after !== ""))
    return tokens
  const name = tokens.slice(the + 1, end)
  return [
    ...tokens.slice(0, the),
    ...name.slice(0, -1),
    { ...name.at(-1)!, after: tokens[end]!.after },
    ...tokens.slice(end + 1)
  ]
}

/** "Only the open ones" goes on from the question before. */
const MAX_FOLLOW_UP = 6
const POINTS = /^(the|these|those|which|what|next|last|first|more|other|same|only|my|our|of|any|all)$/
const TWICE = /^(on|in|at|the|a|of|to|for|with|by|is|was|and)$/
const CALLED = /^(called|named)$/
const uncalled = (tokens: Tokens): Tokens => {
  const at = tokens.findIndex(
    ({ word }, index) =>
      word === "the" &&
      COLLEAGUE.test(tokens[index + 1]?.word ?? "") &&
      CALLED.test(tokens[index + 2]?.word ?? "") &&
      tokens[index + 3]?.capital === true
  )
  return at < 0 ? tokens : [...tokens.slice(0, at), ...tokens.slice(at + 3)]
}

const PLAIN = byLength(Object.keys(SAME_AS))

/** Phrases in the words that rules know; a capitalized word can be a name. */
const plainly = (tokens: Tokens): Tokens => {
  const words: Array<Token> = []
  for (let at = 0; at < tokens.length;) {
    const rest = tokens.slice(at)
    const phrase = PLAIN.find(
      (one) =>
        startsWith(rest, one) &&
        rest
          .slice(0, one.length)
          .every(
            ({ after, capital, word }, index) =>
              (!capital || word === "i" || (at === 0 && index === 0 && one.length > 1)) &&
              (after === "" || index === one.length - 1)
          )
    )
    // "On on Monday": a word that was written twice.
    if (phrase === undefined && TWICE.test(rest[0]!.word) && rest[0]!.after === "" && rest[0]!.word === rest[1]?.word) {
      at += 1
      continue
    }
    // "Raj's qualified ones" are people unless a noun says otherwise.
    const owner = words.findLastIndex(({ word }) => /^('s|my|our)$/.test(word))
    if (rest[0]!.word === "ones" && owner >= 0 && owner < words.length - 1 && owner > words.length - 4) {
      words.push({ ...tokenize("people")[0]!, after: rest[0]!.after })
      at += 1
      continue
    }
    // "Software ones" are those rows that are software.
    const before = words.at(-1)
    if (
      tokens.length > MAX_FOLLOW_UP &&
      rest[0]!.word === "ones" &&
      !rest[0]!.capital &&
      before !== undefined &&
      before.after === "" &&
      !POINTS.test(before.word)
    ) {
      words[words.length - 1] = { ...before, after: rest[0]!.after }
      at += 1
      continue
    }
    if (phrase === undefined) words.push(tokens[at]!)
    else {
      const said = tokenize(SAME_AS[phrase.join(" ")]!)
      const last = tokens[at + phrase.length - 1]!
      words.push(...said.map((token, index) => (index === said.length - 1 ? { ...token, after: last.after } : token)))
    }
    at += phrase?.length ?? 1
  }
  return words
}

/** What can follow "of Akira's" where it owns nothing that is named after it. */
const AFTER_OWNER =
  /^(who|that|which|with|without|in|at|on|from|have|has|had|are|is|were|was|do|does|did|haven't|aren't|since|before|after|last|and|or)$/

/** "Customers of Akira's" are those of Akira. */
const singlyOwned = (tokens: Tokens): Tokens => {
  const of = tokens.findIndex(({ word }) => word === "of")
  const at = of < 1 ? -1 : tokens.findIndex(({ word }, index) => index > of + 1 && index < of + 4 && word === "'s")
  const next = tokens[at + 1]
  if (at < 0 || !(next === undefined || tokens[at]!.after !== "" || AFTER_OWNER.test(next.word))) return tokens
  const owner = { ...tokens[at - 1]!, after: tokens[at]!.after }
  return [...tokens.slice(0, at - 1), owner, ...tokens.slice(at + 1)]
}

const COPULA = /^(is|are|was|were)$/

/** "Who the owner of Ada is". */
const direct = (tokens: Tokens): Tokens => {
  const [first, second] = tokens
  const last = tokens.at(-1)
  if (tokens.length < 4 || !/^(who|what|when|where)$/.test(first!.word) || !COPULA.test(last!.word)) return tokens
  if (tokens.slice(1, -1).some(({ after, word }) => after !== "" || COPULA.test(word)) || second!.word === "there")
    return tokens
  return [first!, { ...last!, after: "" }, ...tokens.slice(1, -2), { ...tokens.at(-2)!, after: last!.after }]
}

const PRONOUN = /^(it|that|this|they|them|he|she|him|her|those|these)$/
const POSSESSIVE = /^(its|their|his|her)$/
/** "That meeting": the noun is that of the topic. */
const POINTED = /^(one|ones|meeting|call|person|company|deal|invoice|event)$/
/** What is said of a topic that isn't repeated: "who is responsible". */
const OPEN_ENDED = /^(?:who|which \w+) (?:is|are|was) (responsible|in charge)$/
const TOPIC_LEADS = /^(about|regarding|concerning|re|for)$/

/** Verbs of statements, which are no topic. */
export const STATES =
  /^(am|is|are|was|were|have|has|had|'s|got|need|needs|want|wants|must|should|can't|cannot|forgot|lost|missed|met|asked|asks|called|rang|wrote|told|tells|says|said|think|thought|just|tried|try|keep|promised|owe|don't|didn't|do|did|will|would|heard|spoke|talked|saw|see|know|rang|rings|ringing|phoned|texted|emailed|mailed|messaged|visited|came|left|booked|ordered|replied|answered|waiting|holding|wondering|complained|contacted)$/

/** "The largest invoice of 2022, how much was it?", "Cedar Labs: who is responsible and what is their status?" */
const aboutTopic = (tokens: Tokens): Tokens => {
  const at = tokens.findIndex(({ after }) => /[,;:?!.]/.test(after))
  const asked = tokens.slice(at + 1)
  if (
    at < 0 ||
    asked.length < 2 ||
    tokens[0]!.word === "i" ||
    (tokens[at]!.after.includes(".") && STATES.test(tokens[at]!.word)) ||
    ASKING_WORDS.has(tokens[0]!.word) ||
    !ASKING_WORDS.has(asked[0]!.word)
  )
    return tokens
  const lead = at > 0 && TOPIC_LEADS.test(tokens[0]!.word) ? 1 : 0
  const topic = tokens
    .slice(lead, at + 1)
    .map((token, index, all) => (index === all.length - 1 ? { ...token, after: "" } : token))
  const questions = parted(asked).map((question) => withTopic(question, topic))
  if (questions.some((question) => question === undefined)) return tokens
  return questions.flatMap((question, index) => (index === 0 ? question! : [...tokenize("and"), ...question!]))
}

/** The questions that "and" joins: a question word follows it. */
const parted = (tokens: Tokens): ReadonlyArray<Tokens> => {
  const at = tokens.findIndex(({ word }, index) => word === "and" && ASKING_WORDS.has(tokens[index + 1]?.word ?? ""))
  return at < 1 ? [tokens] : [tokens.slice(0, at), ...parted(tokens.slice(at + 1))]
}

/** The question with the topic in place of its one pronoun; undefined if it isn't about the topic. */
export const withTopic = (question: Tokens, topic: Tokens): Tokens | undefined => {
  const at = question.findIndex(({ word }) => PRONOUN.test(word) || POSSESSIVE.test(word))
  const last = question.at(-1)!
  if (at < 0) {
    if (!OPEN_ENDED.test(folded(question))) return undefined
    return [
      ...question.slice(0, -1),
      { ...last, after: "" },
      ...tokenize(last.word === "charge" ? "of" : "for"),
      ...topic
    ]
  }
  const rest = question.slice(at + 1)
  if (rest.some(({ word }) => PRONOUN.test(word) || POSSESSIVE.test(word))) return undefined
  const { word } = question[at]!
  const owns = POSSESSIVE.test(word) && rest.length > 0 && (word !== "her" || !COPULA.test(rest[0]!.word))
  if (owns) return [...question.slice(0, at), ...topic, ...tokenize("x's").slice(1), ...rest]
  const pointed = /^(that|this|those|these)$/.test(word) && POINTED.test(rest[0]?.word ?? "") ? 1 : 0
  return [...question.slice(0, at), ...topic, ...rest.slice(pointed)]
}
