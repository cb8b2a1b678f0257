/**
 * Reads a question by its parts in any order: what is counted or listed, whose, since when, and which values. The parts are put
 * into a question whose words the rules know, so every word is used there or says nothing; with any other word it isn't read.
 */
import { CARDINALS } from "../../english.ts"
import { isName } from "../fits.ts"
import { lengthAt } from "../deeds/lengths.ts"
import { isValue, structures } from "../conditionParts.ts"
import { COMMON_WORDS, GENERIC_PERSON_NOUNS } from "../lexicon.ts"
import { nounAt } from "../Lookup.ts"
import { byLength, startsWith } from "../patterns.ts"
import type { Context } from "../readConversation.ts"
import { timeAt } from "../readTime.ts"
import { DONE } from "../shorthand.ts"
import { folded, type Token, tokenize } from "../tokenize.ts"
import { isOfNothing, rendered, type Slots } from "./rendered.ts"
import * as words from "./words.ts"

type Tokens = ReadonlyArray<Token>

const phrases = (all: ReadonlyArray<string>) => {
  const known = byLength(all)
  return (tokens: Tokens): number => known.find((one) => startsWith(tokens, one))?.length ?? 0
}
const filler = phrases(words.FILLERS)
const owning = phrases(words.OWNING)
const charge = phrases(words.CHARGE)
const contacted = phrases(words.CONTACTED)
const followed = phrases(words.FOLLOWED)
const falls = phrases(words.FALLS)
const lacking = phrases(words.LACKING)
const having = phrases(words.HAVING)
const lacked = phrases(Object.keys(words.LACKED))
const most = phrases(words.MOST)
const fewest = phrases(words.FEWEST)
const grouped = phrases(words.GROUPED)
const groups = phrases(Object.keys(words.GROUPS))
const counting = phrases(
  "nr of|no of|count for me|count me|count up|how many|number of|the number of|how many of|count|total number of|quantity of|amount of|count of|the count of|tally of".split(
    "|"
  )
)
/** "Month by month", "monthly". */
const each = phrases(["month by month", "week by week", "day by day", "year by year", "monthly", "weekly", "daily"])
const place = phrases(["in", "at", "from", "on"])
const article = phrases(["the", "our", "a", "an", "any", "their", "different", "all"])

const bare = (tokens: Tokens): Tokens => tokens.map((token) => ({ ...token, after: "" }))

/** How many words at the beginning are a name in capitals. */
const capitals = (tokens: Tokens): number => {
  let length = 0
  while (
    tokens[length]?.capital === true &&
    tokens[length]!.word !== "i" &&
    (length === 0 || tokens[length - 1]!.after === "")
  )
    length++
  return length
}

const DISTANCE = /^(after|before|of|from|since|earlier|later|prior|ago|away)$/
const EDGE = /^(start|beginning|outset|middle|end|close|top|bottom|half|rest)$/

/** Takes one part from the beginning of the words: its length, or nothing if the words have no part in such a question. */
const take = (slots: Slots, rest: Tokens, isFirst: boolean, context: Context): number | undefined => {
  // "At the end of October": which days are that?
  if (EDGE.test(rest[0]!.word) && (rest[1]?.word === "of" || timeAt(rest.slice(1), context.today) !== undefined))
    return undefined
  const time = timeAt(rest, context.today)
  if (time !== undefined && time.length > 0) {
    if (slots.time !== undefined) return undefined
    slots.time = bare(rest.slice(0, time.length))
    return time.length
  }
  const long = lengthAt(rest)
  if (long !== undefined) {
    // "Two days after October 2": a day, rather than how long something takes.
    if (slots.length !== undefined || DISTANCE.test(rest[long.length]?.word ?? "")) return undefined
    slots.length = bare(rest.slice(0, long.length))
    return long.length
  }
  const counted = counting(rest)
  if (counted > 0) {
    if (slots.count) return undefined
    slots.count = true
    return counted
  }
  for (const [rank, length] of [
    ["most", most(rest)],
    ["fewest", fewest(rest)]
  ] as const) {
    if (length === 0) continue
    if (slots.rank !== undefined) return undefined
    slots.rank = rank
    return length
  }
  const every = each(rest)
  if (every > 0) {
    if (slots.by !== undefined) return undefined
    slots.by = rest[0]!.word.replace(/ly$/, "").replace(/^dai$/, "day")
    return every
  }
  const by = grouped(rest)
  if (by > 0) {
    const skipped = by + article(rest.slice(by))
    const length = groups(rest.slice(skipped))
    if (length > 0 && (rest[skipped + length] === undefined || rest[skipped + length - 1]!.after === "")) {
      if (slots.by !== undefined) return undefined
      slots.by = words.GROUPS[folded(rest.slice(skipped, skipped + length))]!
      return skipped + length
    }
  }
  const whose = /^(which|what)$/.test(rest[0]!.word) ? groups(rest.slice(1)) : 0
  if (whose > 0 && rest.some((_, at) => most(rest.slice(at)) + fewest(rest.slice(at)) > 0)) {
    if (slots.by !== undefined) return undefined
    slots.by = words.GROUPS[folded(rest.slice(1, 1 + whose))]!
    return 1 + whose
  }
  const some = having(rest)
  const held = some > 0 ? lacked(rest.slice(some)) : 0
  if (held > 0) {
    if (slots.has !== undefined) return undefined
    slots.has = words.LACKED[folded(rest.slice(some, some + held))]!
    return some + held
  }
  const none = lacking(rest)
  if (none > 0) {
    const skipped = none + article(rest.slice(none))
    const length = lacked(rest.slice(skipped))
    if (length === 0 || slots.lacks !== undefined) return undefined
    slots.lacks = words.LACKED[folded(rest.slice(skipped, skipped + length))]!
    return skipped + length
  }
  for (const [dated, length] of [
    ["contacted", contacted(rest)],
    ["follow-up", followed(rest)]
  ] as const) {
    if (length === 0) continue
    if (slots.dated !== undefined && slots.dated !== dated) return undefined
    slots.dated = dated
    return length
  }
  if (slots.dated !== undefined && falls(rest) > 0) return falls(rest)
  if (/^(i|me|my|mine)$/.test(rest[0]!.word)) {
    const polite = filler(rest)
    if (polite > 1) return polite
    slots.mine = true
    return 1
  }
  const phrase = filler(rest)
  if (phrase > 1) return phrase
  // A calendar holds meetings, and an agenda what is talked about.
  if (/^(agenda|calendar|schedule)$/.test(rest[0]!.word)) return undefined
  const noun = nounAt(rest, context)
  if (
    noun !== undefined &&
    !(rest[0]!.capital && !isFirst && noun.noun.kind === undefined && rest[1]?.capital === true)
  ) {
    const { kind, type } = noun.noun
    const said = bare(rest.slice(0, noun.length))
    const isGeneric = type.id === "people" && GENERIC_PERSON_NOUNS.has(folded(said))
    if (slots.type !== undefined && slots.type !== type.id) return undefined
    if (slots.kind === true && kind !== undefined) return undefined
    slots.type = type.id
    if (slots.noun === undefined || !isGeneric) slots.noun = said
    if (kind !== undefined) slots.kind = true
    return noun.length
  }
  const owns = owning(rest)
  const name = (from: number, preposition: string): number | undefined => {
    const tokens = rest.slice(from)
    const taken = capitals(tokens)
    if (taken === 0 || taken > 3 || slots.name !== undefined || !isName(tokens.slice(0, taken), context))
      return undefined
    slots.name = bare(tokens.slice(0, taken))
    const own = tokens[taken]?.word === "'s" ? 1 : 0
    // "In Nadia's hands" are hers.
    slots.preposition = own === 1 ? "of" : preposition
    return from + taken + own
  }
  if (owns > 0) {
    const found = name(owns, "of")
    if (found !== undefined) return found
    if (/^(me|mine)$/.test(rest[owns]?.word ?? "")) {
      slots.mine = true
      return owns + 1
    }
    if (
      isWord(rest[owns], context) &&
      filler(rest.slice(owns)) + charge(rest.slice(owns)) + (nounAt(rest.slice(owns), context)?.length ?? 0) === 0
    ) {
      const [owner] = bare(rest.slice(owns, owns + 1))
      // "Of nadias leads": Nadia's.
      const isOwned = /[^s]s$/.test(owner!.word) && nounAt(rest.slice(owns + 1), context) !== undefined
      slots.withs.push(isOwned ? tokenize(owner!.text.slice(0, -1)) : [owner!])
      return owns + 1 + (rest[owns + 1]?.word === "'s" ? 1 : 0)
    }
  }
  if (rest[0]!.capital && !(isFirst && rest[1]?.capital !== true && rest[1]?.word !== "'s")) {
    const found = name(0, "of")
    if (found !== undefined) return found
    // "Leads of Raj which want Services": a value in capitals.
    if (capitals(rest) === 1 && slots.name !== undefined && slots.type === "people") {
      slots.values.push(tokenize(rest[0]!.word))
      return 1
    }
  }
  // "Has akira got": the name of an owner in small letters.
  if (HAS.test(rest[0]!.word) && slots.name === undefined && isWord(rest[1], context)) {
    const verb = rest.slice(2)
    if (/^(got|have|own|win|won|lose|lost)$/.test(verb[0]?.word ?? "") || charge(verb) > 0) {
      slots.withs.push(bare(rest.slice(1, 2)))
      return 2
    }
  }
  const where = place(rest)
  if (where > 0) {
    const found = name(where, rest[0]!.word)
    if (found !== undefined) return found
    const other = either(rest.slice(where), context)
    if (other !== undefined && slots.either === undefined) {
      slots.either = other
      return where + 3
    }
    // "In training": a value, which has to exist.
    const skipped = where + article(rest.slice(where))
    if (isWord(rest[skipped], context) && charge(rest) === 0) return skipped
  }
  const charged = charge(rest)
  if (charged > 0) {
    if (rest.slice(0, charged).some(({ word }) => word === "my")) slots.mine = true
    return charged
  }
  const polite = filler(rest)
  if (polite > 0) return polite
  // "akiras", "raj's": the name of an owner in small letters.
  if (rest[1]?.word === "'s" && slots.name === undefined && isWord(rest[0], context)) {
    slots.name = bare(rest.slice(0, 1))
    slots.preposition = "of"
    return 2
  }
  const two = either(rest, context)
  if (two !== undefined && slots.either === undefined) {
    slots.either = two
    return 3
  }
  const done = DONE[rest[0]!.word]
  if (done !== undefined) {
    slots.values.push(tokenize(done))
    return 1
  }
  if (!isWord(rest[0], context)) return undefined
  slots.values.push(bare(rest.slice(0, 1)))
  return 1
}

const HAS = /^(has|have|had|does|do|did|is)$/

/** "Training or consulting": one of two values. */
const either = (rest: Tokens, context: Context): Tokens | undefined =>
  isWord(rest[0], context) && rest[1]?.word === "or" && isWord(rest[2], context) && rest[3]?.word !== "or"
    ? bare(rest.slice(0, 3))
    : undefined

/** A word that can be a value. */
const isWord = (token: Token | undefined, context: Context): boolean =>
  token !== undefined &&
  /^[\p{L}-]{3,}$/u.test(token.word) &&
  !structures(token) &&
  !token.capital &&
  (!COMMON_WORDS.has(token.word) || DONE[token.word] !== undefined) &&
  CARDINALS[token.word] === undefined &&
  isValue([token], context)

/** The parts of a question that a verb can lead to. */
const objects = ({ by, either, length, mine, name, values, withs }: Slots): number =>
  values.length + withs.length + Number(mine) + [by, either, length, name].filter((part) => part !== undefined).length

const LONG = /(?<!how) long\b/
/** "How many is too many", "how many of us have leads". */
const OTHER_COUNT =
  /\bhow many of (?:us|you|(?:the|our) (?:team|reps|colleagues|sales team))\b|\b(?:is|are|was|were|be) (?:too|so) (?:many|few|much)\b|\b(?:as (?:many|much|few)|the same number of) /
const PAST = /\b(?:did|had|was|were)\b/
/** "How many customers left", "who have left us": they are gone. "How many do I have left" are still there. */
const isGone = (tokens: Tokens, at: number): boolean => {
  const before = tokens.slice(0, at)
  return (
    !before.some(({ word }) => /^(do|does|did|are|is|there|got|still)$/.test(word)) ||
    /^(who|that|which)$/.test(before.at(-1)!.word) ||
    /^(us|me|early|because)$/.test(tokens[at + 1]?.word ?? "")
  )
}

const MAX_WORDS = 24
/** Questions for something else than rows or their number. */
const OTHERWISE =
  /^(?:why|when|where|how (?!many\b)|whose|who (?:owns|manages|handles|supports|looks after|takes care of) |(?:is|are|has|have) .*\bwork(?:ed|ing)? on\b)/

/** Figures that a number of rows is no answer to. */
const FIGURES =
  /\b(running total|cumulative|median|moving|growth|trend|average|mean|sum|ratio|forecast|projected|predicted|change|increase|decrease)\b/
/** Of rows with an amount, "the total" is what they add up to. */
const ADDED = /\b(total|overall|amount|value|worth)\b/

/** The question in words that rules know; undefined if any of its words has no part in it. */
export const readSlots = (tokens: Tokens, context: Context, isNamed = false): Tokens | undefined => {
  if (tokens.length < 2 || tokens.length > MAX_WORDS || OTHERWISE.test(folded(tokens))) return undefined
  if (tokens.slice(0, -1).some(({ after }) => /[.;!?]/.test(after))) return undefined
  // "Cameron Jones still a lead": a question about one, too.
  if (capitals(tokens) > 1 && !COMMON_WORDS.has(tokens[0]!.word) && tokens[capitals(tokens)]?.word !== "'s")
    return undefined
  // "Is Riley Thomas due": a question about one.
  if (/^(is|are|was|were|will|can|does|did|has)$/.test(tokens[0]!.word) && capitals(tokens.slice(1)) > 1)
    return undefined
  // "Is Raj a lead", too: not a question for leads of his.
  if (/^(is|are|was|were)$/.test(tokens[0]!.word) && capitals(tokens.slice(1)) > 0 && tokens[2]?.word !== "'s")
    return undefined
  // "Do my customers like it": only what is there can be listed.
  if (/^(is|are|was|were|will|can|do|does|did|has|have)$/.test(tokens[0]!.word)) {
    const next = tokens[1]!
    if (!next.capital && !/^(i|we|you|there|any|anyone|anybody|someone|somebody)$/.test(next.word)) return undefined
  }
  // "Is a customer of whom": what is asked for comes last.
  if (/^(who|whom|whose|which|what)$/.test(tokens.at(-1)!.word)) return undefined
  const said = folded(tokens)
  if (FIGURES.test(said) || OTHER_COUNT.test(said)) return undefined
  // What was so at a time that isn't said.
  if (tokens.at(-1)!.word === "then" && PAST.test(said)) return undefined
  const slots: Slots = { count: false, mine: false, values: [], withs: [] }
  // How many parts a verb has to lead to one more than.
  let led = -1
  for (let at = 0; at < tokens.length;) {
    const length = take(slots, tokens.slice(at), at === 0, context)
    if (length === undefined || length === 0) return undefined
    if (words.LEADING.has(folded(tokens.slice(at, at + length)))) led = objects(slots)
    if (tokens[at]!.word === "left" && length === 1 && isGone(tokens, at)) return undefined
    at += length
  }
  // "How many leads bought" isn't the number of leads, and nor is "how many meetings were long".
  if ((slots.by === undefined && objects(slots) <= led) || (slots.length === undefined && LONG.test(said)))
    return undefined
  // "Raj meetings", "lost customers, akira": the last word can be a name.
  if (isNamed) {
    const last = slots.values.pop()
    if (last === undefined || slots.name !== undefined || slots.mine || slots.withs.length > 0) return undefined
    slots.withs.push(last)
  }
  // "What I had with Leila in December": meetings.
  if (
    slots.type === undefined &&
    slots.mine &&
    slots.time !== undefined &&
    slots.values.length === 0 &&
    isOfNothing(slots)
  ) {
    const type = context.types.find(({ id }) => id === "meetings")
    if (type !== undefined) Object.assign(slots, { type: type.id, noun: tokenize(type.plural) })
  }
  // "What do most leads want" is no question for the one that has the most.
  if (slots.rank !== undefined && slots.by === undefined && tokens[0]!.word !== "who") return undefined
  // "The remaining meetings of 2023" are those ahead.
  if (slots.type === "meetings" && /\b(?:remain|remains|remaining|left)\b/.test(said)) return undefined
  const isAmount = slots.type !== undefined && !/^(people|meetings|companies)$/.test(slots.type)
  return isAmount && ADDED.test(said) ? undefined : rendered(slots, context)
}
