/** Reads the words for a row: a pronoun, a name, or a description such as "my first meeting with Kofi on December 4". */
import { PEOPLE } from "../../../domain/EntityType.ts"
import { PARTICLES } from "../lexicon.ts"
import type { Context, ContextType } from "../readConversation.ts"
import { nounAt } from "../Lookup.ts"
import { startsWith } from "../patterns.ts"
import { folded } from "../tokenize.ts"
import { Subject } from "./Deed.ts"
import { FUNCTION_WORDS, isBeyond, isRounded, MANY, ORDERS, QUESTION_WORDS } from "./lexicon.ts"
import { type Calendar, dayAt, type Moment, momentAt, timeOfDayAt } from "./moments.ts"
import { readGroup } from "./readGroup.ts"
import { isUnnamed, readOne, readSet } from "./readSet.ts"
import type { Word } from "./words.ts"

type Words = ReadonlyArray<Word>

const PRONOUNS = new Set(
  "it|them|him|her|both|both of them|them both|all of them|them all|they|she|he|that|this|these|those|that one|this one|the one|the record|this record|that record|the entry|this entry|that entry|the contact|that contact|this contact|this person|that person|this customer|that customer|the customer|this lead|that lead|the lead|the meeting|that meeting|this meeting|the event|that event|this event|this task|that task|the task|the card|that card|this card|the ticket|that ticket|the item|that item|the row|that row|their record|their entry|their profile|her record|his record|their account|this account|the new lead|the new customer|the new contact".split(
    "|"
  )
)

/** Whether words are a pronoun. */
export const isPronoun = (words: Words): boolean => !words.some(({ quoted }) => quoted) && PRONOUNS.has(folded(words))

const MAX_NAME = 9
const DETERMINERS = new Set(["the", "my", "our", "that", "this", "a"])
const RECORDS_OF = ["entry", "record", "profile", "card", "contact", "account", "file", "details", "data"].flatMap(
  (noun) => ["for", "of"].map((word) => [noun, word])
)
const RECORDS = new Set(["record", "profile", "entry", "card", "account", "details", "file"])

/** Whether words can be a person's name, as far as one can tell without a lookup. */
export const couldBeName = (words: Words): boolean =>
  words.length > 0 &&
  words.length <= 5 &&
  (words[0]!.quoted === true ||
    !words.some(
      ({ word }, index) =>
        FUNCTION_WORDS.has(word) &&
        !(words.length === 1 && /^(me|i)$/.test(word)) &&
        !(index > 0 && index < words.length - 1 && PARTICLES.has(word))
    )) &&
  !words.some((word) => isBeyond(word) && word.word !== "i" && word.word !== "me") &&
  !words.some(({ after }, index) => index < words.length - 1 && /[,:;]/.test(after)) &&
  !MANY.has(words[0]!.word)

export const readSubject =
  (context: Context, calendar: Calendar) =>
  (said: Words): Subject | undefined => {
    const words = withoutNoun(said, context)
    const [first] = words
    if (first === undefined) return undefined
    if (isPronoun(words)) return Subject.It()
    const end = words.at(-1)!
    // "and Lena's leads" are the rest of a longer description.
    if (first.quoted !== true && /^(and|or|&)$/.test(first.word)) return undefined
    // "The tasks that" is cut from a longer description.
    if (end.quoted !== true && words.length > 1 && /^(that|which|who|whose|what)$/.test(end.text)) return undefined
    const set = exceptedFrom(words, context) ?? readSet(words, context)
    const group = readGroup(words, context, calendar)
    const bare = first.quoted !== true && /^(the|both|my|our)$/.test(first.word) ? words.slice(1) : words
    const noun = nounAt(bare, context)
    // "The tasks Rotate keys and Plan the offsite": a reading for where the words mean no set.
    const each = noun === undefined || set !== undefined ? undefined : namesIn(bare.slice(noun.length))
    if (each !== undefined)
      return group === undefined
        ? Subject.Named({ words: bare.slice(noun!.length), type: noun!.noun.type, each })
        : Subject.Rows({ ...group, each })
    if (set !== undefined) return Subject.Rows({ ...set, ...(group === undefined ? {} : { otherwise: group.lookup }) })
    if (group !== undefined) return Subject.Rows(group)
    if (first.quoted !== true && (QUESTION_WORDS.has(first.word) || MANY.has(first.word))) return undefined
    // Rows that are called by no noun have no name either.
    if (first.quoted !== true && /^(everything|anything|whatever)$/.test(first.word)) return undefined
    const one = readOne(words, context)
    const described = one !== undefined && isUnnamed(words) ? undefined : describedBy(words, context, calendar)
    if (described !== undefined) return described
    return one === undefined ? named(words, context) : Subject.Rows({ lookup: one, count: 1 })
  }

/** "Raj's tasks and Kofi's tasks" as "Raj's and Kofi's tasks": the noun once, where nothing but names stands beside it. */
const withoutNoun = (words: Words, context: Context): Words => {
  const and = words.findIndex(({ quoted, word }) => quoted !== true && word === "and")
  const [before, after] = [words.slice(0, and), words.slice(and + 1)]
  const isOwned = (each: Words) =>
    each.length >= 3 &&
    each.length <= 5 &&
    each.at(-2)!.word === "'s" &&
    nounAt(each.slice(-1), context) !== undefined &&
    couldBeName(each.slice(/^(all|both)$/.test(each[0]!.word) ? 1 : 0, -2))
  return and > 0 && isOwned(before) && isOwned(after) && before.at(-1)!.word === after.at(-1)!.word
    ? [...before.slice(0, -1), ...words.slice(and)]
    : words
}

export const EXCEPT = [
  "with the exception of",
  "unless it is",
  "unless it 's",
  "unless they are",
  "aside from",
  "leaving out",
  "except for",
  "apart from",
  "other than",
  "but not",
  "except",
  "excluding",
  "besides"
].map((text) => text.split(" "))

/** "all of Raj's tasks except Renew certificates and Pay the rent": a set, and the names of rows that stay as they are. */
const exceptedFrom = (words: Words, context: Context) => {
  // "All tasks but Rotate keys": elsewhere "but" begins a clause.
  const isAll = MANY.has(words[0]!.word) || /^(everything|anything)$/.test(words[0]!.word)
  for (const lead of isAll ? [...EXCEPT, ["but"]] : EXCEPT) {
    const at = words.findIndex((_, from) => from > 0 && startsWith(words.slice(from), lead))
    const rest = at < 0 ? [] : words.slice(at + lead.length)
    if (rest.length === 0) continue
    const own = rest.length > 1 && rest[0]!.word === "for" ? rest.slice(1) : rest
    const bare = own.length > 1 && own[0]!.word === "the" ? own.slice(1) : own
    // "except the done ones" is a condition.
    if (!bare[0]!.capital && bare[0]!.quoted !== true && (own === bare || hasNoun(bare, context))) continue
    const except = namesIn(bare) ?? (bare.length <= MAX_NAME && isName(bare) ? [bare] : undefined)
    const set = except && readSet(words.slice(0, at), context)
    if (set !== undefined) return { ...set, except: except! }
  }
  return undefined
}

const hasNoun = (words: Words, context: Context): boolean =>
  words.some(({ word }, at) => /^ones?$/.test(word) || nounAt(words.slice(at), context) !== undefined)
/** A name, with the noun of its type before or after it: "customer Ada Lovelace", "the Vault doors deal". */
const named = (words: Words, context: Context): Subject | undefined => {
  const whole =
    words.length > 1 && /^(the|our|my)$/.test(words[0]!.word) && words[0]!.quoted !== true ? words.slice(1) : words
  const lead = RECORDS_OF.find((text) => whole.length > 2 && startsWith(whole, text))
  const bare = whole.slice(lead?.length ?? 0)
  const before = nounAt(bare, context)
  const last = bare.at(-1)!
  const recordOf = bare.length > 2 && RECORDS.has(last.word) && bare.at(-2)!.word === "'s" ? bare.slice(0, -2) : bare
  const rest =
    before !== undefined && before.length < bare.length && isSingular(bare.slice(0, before.length), before.noun.type)
      ? bare.slice(before.length)
      : undefined
  const title =
    rest?.[0]?.quoted !== true && /^(called|named|titled)$/.test(rest?.[0]?.word ?? "") ? rest!.slice(1) : rest
  if (title !== undefined && isName(title) && title.length <= MAX_NAME && before !== undefined) {
    return Subject.Named({ words: title, type: before.noun.type })
  }
  const each = namesIn(bare)
  if (recordOf.length > (each === undefined ? MAX_NAME : MAX_NAMES) || !isName(recordOf)) return undefined
  const definite = bare.length < words.length ? { isDefinite: true as const } : {}
  return Subject.Named({ words: recordOf, ...definite, ...(each === undefined ? {} : { each }) })
}

/** The longest list of names, in words. */
const MAX_NAMES = 26

/** "Kerry Martin and Kerry Thompson", "A, B and C": two or more names; undefined for anything else. */
export const namesIn = (words: Words): ReadonlyArray<Words> | undefined => {
  const isAll = (word: Word | undefined) => word?.quoted !== true && /^(both|all)$/.test(word?.word ?? "")
  const start = words[0]?.word === "both" && isAll(words[0]) ? 1 : 0
  const own = words.slice(start, isAll(words.at(-1)) ? -1 : undefined)
  const names: Array<Words> = []
  let from = 0
  for (let at = 0; at <= own.length; at++) {
    const word = own[at]
    const isAnd = word !== undefined && word.quoted !== true && /^(and|&|\+)$/.test(word.word)
    const isComma = at > from && own[at - 1]!.after === ","
    if (word !== undefined && !isAnd && !isComma) continue
    // "The budget and the wiki".
    const first =
      at > from + 1 && own[from]!.quoted !== true && /^(the|my|our)$/.test(own[from]!.word) ? from + 1 : from
    if (at > from) names.push(own.slice(first, at))
    from = isAnd ? at + 1 : at
  }
  return names.length >= 2 && names.length <= 25 && names.every((name) => name.length <= MAX_NAME && isName(name))
    ? names
    : undefined
}

/** Whether a noun means one row: its plural asks for several. */
const isSingular = (noun: Words, type: ContextType): boolean => {
  const said = folded(noun)
  return said === type.name.toLowerCase() || (said !== type.plural.toLowerCase() && !/[^s]s$/.test(said))
}

interface Head {
  readonly mine: boolean
  readonly order?: "first" | "last" | "next"
  readonly moment: Moment
  readonly people: ReadonlyArray<Words>
  readonly title: Words
}

/** A description: an order, a title, a day, a time and people around the noun of a type that has times. */
const describedBy = (words: Words, context: Context, calendar: Calendar): Subject | undefined => {
  for (let at = 0; at < words.length; at++) {
    if (words[at]!.quoted === true) continue
    const noun = nounAt(words.slice(at), context)
    if (noun === undefined || noun.noun.type.id === PEOPLE) continue
    if (!isSingular(words.slice(at, at + noun.length), noun.noun.type)) continue
    const head = headOf(words.slice(0, at), calendar)
    const tail = head && tailOf(words.slice(at + noun.length), head, calendar)
    if (tail === undefined) continue
    const described =
      tail.order !== undefined ||
      tail.people.length > 0 ||
      tail.moment.day !== undefined ||
      tail.moment.time !== undefined
    if (!described && tail.title.length === 0) continue
    return subjectOf(tail, noun.noun.type, words.slice(0, at + noun.length))
  }
  // "my 3:30 on December 8", "the 2pm with Nia", "tomorrow's 9 o'clock".
  const timed = headOf(words, calendar)
  const isDefinite = timed?.mine === true || timed?.moment.day !== undefined || words[0]?.word === "the"
  if (timed !== undefined && isDefinite && timed.moment.time !== undefined) {
    const tail = tailOf(timed.title, { ...timed, title: [] }, calendar)
    if (tail !== undefined && tail.title.length === 0) return subjectOf(tail)
  }
  // "the next annual summary", "the sync up on Friday": a title without a noun.
  const head = headOf(words, calendar)
  if (head !== undefined && head.title.length > 0 && (head.order !== undefined || head.moment.day !== undefined)) {
    return withTail(head, calendar)
  }
  if (head === undefined || head.title.length < 3) return undefined
  const split = withTail(head, calendar)
  return split !== undefined && split._tag === "Described" && (split.moment !== undefined || split.people.length > 0)
    ? split
    : undefined
}

const subjectOf = (
  { mine, moment, order, people, title }: Head,
  type?: ContextType,
  noun: Words = []
): Subject | undefined =>
  title.length > 0 && (!isName(title) || title.some(({ quoted, word }) => quoted !== true && /^(with|by)$/.test(word)))
    ? undefined
    : Subject.Described({
        mine,
        people,
        ...(type === undefined ? {} : { type }),
        ...(order === undefined ? {} : { order }),
        ...(title.length === 0 ? {} : { title }),
        ...(title.length === 0 || noun.length === 0 || !noun.includes(title[0]!)
          ? {}
          : { fuller: noun.slice(noun.indexOf(title[0]!)) }),
        ...(moment.day === undefined && moment.time === undefined ? {} : { moment })
      })

/** Splits a title from the conditions that follow it. */
const withTail = (head: Head, calendar: Calendar): Subject | undefined => {
  for (let at = 1; at <= head.title.length; at++) {
    const tail = tailOf(head.title.slice(at), { ...head, title: head.title.slice(0, at) }, calendar)
    if (tail !== undefined) return subjectOf(tail)
  }
  return undefined
}

/** What stands before the noun; the words that are neither order nor time are a title. */
const headOf = (words: Words, calendar: Calendar): Head | undefined => {
  let at = 0
  let mine = false
  let order: Head["order"]
  let moment: Moment = {}
  for (; at < words.length; at++) {
    const { quoted, word } = words[at]!
    if (quoted === true) break
    if (word === "my" || word === "our") mine = true
    else if (word === "very" && ORDERS[words[at + 1]?.word ?? ""] !== undefined) continue
    else if (ORDERS[word] !== undefined && order === undefined) order = ORDERS[word]
    else if (!DETERMINERS.has(word) || (word === "a" && at > 0)) {
      const day = moment.day === undefined ? dayAt(words.slice(at), calendar) : undefined
      const time = day === undefined && moment.time === undefined ? timeOfDayAt(words.slice(at), false) : undefined
      if (day === undefined && time === undefined) break
      moment = day === undefined ? { ...moment, time: time!.value } : { ...moment, day: day.value }
      at += (day ?? time)!.length - 1
      if (words[at + 1]?.word === "'s") at += 1
    }
  }
  const title = words.slice(at)
  if (title.some((word) => word.quoted !== true && NOT_IN_TITLES.has(word.word))) return undefined
  return { mine, moment, people: [], title, ...(order === undefined ? {} : { order }) }
}

const NOT_IN_TITLES = new Set(
  [...MANY, ...Object.keys(ORDERS), "'s", "my", "our"].filter(
    (word) => word !== "opening" && word !== "final" && word !== "closest"
  )
)

const LEADS = new Set(["up", "down", "off", "out", "over", "on", "in", "at", "for", "with", "about"])

/** Whether words can be a name: no name begins or ends with a function word, or has a clause of its own. */
export const isName = (words: Words): boolean =>
  words.length > 0 &&
  (words.every(({ quoted }) => quoted) || (isRounded(words) && !LEADS.has(words[0]!.text) && !words.some(isBeyond)))

/** Words between the conditions of a description that carry no meaning. */
const FILLERS: ReadonlyArray<ReadonlyArray<string>> = [
  "i have scheduled",
  "i have planned",
  "that i have",
  "which i have",
  "i have got",
  "i have",
  "that is",
  "which is",
  "scheduled",
  "planned",
  "booked",
  "of the day",
  "that day",
  "in my calendar",
  "on my calendar",
  "on the calendar",
  "in the calendar",
  "set",
  "happening",
  "taking place",
  "and",
  "due",
  "in my schedule",
  "on my schedule",
  "on my agenda",
  "starting",
  "slot"
].map((text) => text.split(" "))

/** The conditions after the noun; undefined if any word is left. */
const tailOf = (words: Words, head: Head, calendar: Calendar): Head | undefined => {
  let { mine, moment, order, title } = head
  const people: Array<Words> = [...head.people]
  for (let at = 0; at < words.length;) {
    const rest = words.slice(at)
    const word = rest[0]!.quoted === true ? "" : rest[0]!.word
    const timed = momentAt(rest, calendar)
    if (timed !== undefined) {
      const { day, time, until } = timed.value
      if (
        until !== undefined ||
        (day !== undefined && moment.day !== undefined) ||
        (time !== undefined && moment.time !== undefined)
      )
        return undefined
      moment = { ...moment, ...timed.value }
      at += timed.length
      continue
    }
    const filler = FILLERS.find((texts) =>
      texts.every((text, index) => rest[index]?.word === text && rest[index]?.quoted !== true)
    )
    if (filler !== undefined) {
      mine ||= filler.includes("i") || filler.includes("my")
      at += filler.length
      continue
    }
    if (/^(with|and|between|involving)$/.test(word)) {
      const who = rest.slice(1)
      const length = namesLength(who, calendar)
      if (length === 0) return undefined
      people.push(who.slice(0, length))
      at += 1 + length
      continue
    }
    if (title.length === 0 && /^(called|named|titled|entitled)$/.test(word)) {
      const length = rest[1]?.quoted === true ? 1 : titleLength(rest.slice(1), calendar)
      if (length === 0) return undefined
      title = rest.slice(1, 1 + length)
      at += 1 + length
      continue
    }
    return undefined
  }
  return { mine, moment, people, title, ...(order === undefined ? {} : { order }) }
}

/** The number of words of a name, which ends where a time or another condition begins. */
const namesLength = (words: Words, calendar: Calendar): number => {
  let length = 0
  while (length < words.length && length < 4) {
    const { quoted, word } = words[length]!
    if (quoted === true) return length === 0 ? 1 : length
    if (length > 0 && (momentAt(words.slice(length), calendar) !== undefined || startsFiller(words.slice(length))))
      break
    if (FUNCTION_WORDS.has(word)) return length
    length += 1
  }
  return length
}
const startsFiller = (words: Words): boolean =>
  FILLERS.some((texts) => texts.every((text, index) => words[index]?.word === text))

const titleLength = (words: Words, calendar: Calendar): number => {
  let length = 1
  while (length < words.length) {
    const rest = words.slice(length)
    if (momentAt(rest, calendar) !== undefined || rest[0]!.word === "with") break
    length += 1
  }
  return Math.min(length, words.length)
}
