/** Rewrites a request before it is read: without polite words, with a name for its pronoun, with a sign for its colon. */
import { MONTH_NAMES, MONTHS, WEEKDAY_NAMES } from "../../english.ts"
import { byWord } from "../../../domain/text.ts"
import { startsWith } from "../patterns.ts"
import type { Context } from "../readConversation.ts"
import { timeAt } from "../readTime.ts"
import { withoutOpeners } from "./clauses.ts"
import { COLUMN_NAMES, NEAR_COLUMN_NAMES } from "./lexicon.ts"
import { couldBeName, EXCEPT } from "./readSubject.ts"
import { reasonsOf } from "./reasons.ts"
import { isMistaken, isSwapped } from "./respelt.ts"
import { type Fits, matches, shapeOf } from "./shapes.ts"
import { readWords, type Said, textOf, type Word } from "./words.ts"

type Words = ReadonlyArray<Word>

const PLEASE = /^(please|pls|plz|pleas|plese|kindly)$/
/** "To Ms. Santos": a person who has something, or gets it. A name that is given keeps its title. */
const TITLE = /^(Mr|Mrs|Ms|Miss|Mx)$/
const BEFORE_PERSON = /^(to|for|from|with|by|off|give|hand|assign)$/
const GIVES_NAME = /^(rename|retitle|call|called|name|names|named|title|new|add|create)$/

/** "One more task for Kofi please: …", "to Ms. Santos": the polite word can stand anywhere. */
export const withoutPlease = ({ text, words }: Said): Said => ({
  text,
  words: words.flatMap((each, at) => {
    if (isTitle(words, at)) return []
    if (at > 0 && at < words.length - 1 && each.quoted !== true && PLEASE.test(each.text)) return []
    const next = words[at + 1]
    const isBefore = at < words.length - 2 && next !== undefined && next.quoted !== true && PLEASE.test(next.text)
    return [isBefore ? { ...each, after: each.after + next.after } : each]
  })
})

const isTitle = (words: Words, at: number): boolean =>
  words[at]!.quoted !== true &&
  TITLE.test(words[at]!.text) &&
  BEFORE_PERSON.test(words[at - 1]?.word ?? "") &&
  words[at + 1]?.capital === true &&
  words[at + 1]!.quoted !== true &&
  !words.some(({ quoted, word }) => quoted !== true && GIVES_NAME.test(word))

const MAX_EXCEPTION = 9

/** "Apart from Rotate keys, all that Kofi has goes to Raj": the exception after the request. */
export const withExceptionLast = (written: Said): Said => {
  const said = withPause(written)
  const { text, words } = said
  const lead = EXCEPT.find((phrase) => startsWith(words, phrase))
  const comma = lead === undefined ? -1 : words.findIndex(({ after }, at) => at >= lead.length && after === ",")
  if (comma < 0 || comma >= MAX_EXCEPTION || words.length - comma < 3) return said
  // "Apart from that, …" goes on.
  if (/^(that|this|it)$/.test(words[comma]!.word)) return said
  const ends = words.findIndex(({ after }, at) => at > comma && /[.;!?]/.test(after))
  const end = ends < 0 ? words.length - 1 : ends
  const rest = words[end + 1] === undefined ? "" : text.slice(words[end + 1]!.start)
  const [exception, request] = [words.slice(0, comma + 1), words.slice(comma + 1, end + 1)]
  return readWords(`${textOf(said, request)}, ${textOf(said, exception)}${words[end]!.after} ${rest}`)
}

/** "Give them to Luis unless they are done": the exception is a clause of its own. */
const withPause = (said: Said): Said => {
  const { words } = said
  const at = words.findIndex(
    ({ quoted, word }, index) =>
      word === "unless" &&
      quoted !== true &&
      words[index - 1]?.after === "" &&
      /^(it|they)$/.test(words[index + 1]?.word ?? "")
  )
  return at < 0 ? said : withComma(said, at)
}

/** The same with a comma before a word. */
const withComma = ({ text, words }: Said, at: number): Said =>
  readWords(`${text.slice(0, words[at - 1]!.end)}, ${text.slice(words[at]!.start)}`)

/** "As Done apart from Prepare the demo": the exception as a clause of its own; undefined without one. */
export const withExceptionApart = (said: Said): Said | undefined => {
  const { words } = said
  const at = words.findIndex(
    ({ quoted }, index) =>
      index > 2 &&
      quoted !== true &&
      words[index - 1]!.after === "" &&
      EXCEPT.some((phrase) => startsWith(words.slice(index), phrase))
  )
  return at < 0 ? undefined : withComma(said, at)
}

/** A colon, or a dash between spaces. */
const COLON = /^([:–—-]|--)$/

/** "Order laptops: in progress", with the colon as a sign; undefined without exactly one colon. */
export const assigned = ({ text, words }: Said): Said | undefined => {
  const at = words.findIndex(({ after }) => COLON.test(after))
  if (
    at < 0 ||
    at === words.length - 1 ||
    words.at(-1)!.after.includes("?") ||
    words.slice(at + 1).some(({ after }) => COLON.test(after))
  )
    return undefined
  const { end } = words[at]!
  const named = withoutRequest(words.slice(0, at + 1))
  const sign: Word = { text: "=", word: "=", after: "", capital: false, start: end, end: end + 1 }
  return { text, words: [...named.slice(0, -1), { ...named.at(-1)!, after: "" }, sign, ...words.slice(at + 1)] }
}

/** "Decmber 6th", "on Thrusday", "the priorty": months, days of the week and columns, as they are spelt. */
export const withSpelling = (said: Said): Said => ({
  text: said.text,
  words: begun(numbered(apart(said.words))).map((each, at, words) => {
    const [before, next] = [words[at - 1]?.word ?? "", words[at + 1]?.word ?? ""]
    const meant = each.quoted === true || each.capital ? undefined : TYPOS[each.word]
    if (meant !== undefined) return { ...each, word: meant }
    if (each.quoted === true || !/^[a-z]{5,}$/.test(each.word)) return each
    const known =
      NUMBERED.test(before) || NUMBERED.test(next)
        ? MONTH_NAMES
        : BEFORE_DAY.test(before)
          ? WEEKDAY_NAMES
          : COLUMN_NAMES
    if (known === COLUMN_NAMES && (each.capital || NEAR_COLUMN_NAMES.has(each.word))) return each
    // "Frida" and "Sundar" are no days: only letters in the wrong order count there.
    const near = known.filter((name) => (known === WEEKDAY_NAMES ? isSwapped : isMistaken)(each.word, name))
    return near.length === 1 && !known.includes(each.word) ? { ...each, word: near[0]! } : each
  })
})
/** Typos and short forms of words that stand in most requests and are no other word. */
const TYPOS = byWord<string>({
  "w/o": "without",
  prio: "priority",
  tmrw: "tomorrow",
  tmr: "tomorrow",
  tmw: "tomorrow",
  tomorow: "tomorrow",
  tommorow: "tomorrow",
  tommorrow: "tomorrow",
  ppl: "people",
  del: "delete",
  rm: "delete",
  til: "till",
  teh: "the",
  hte: "the",
  tge: "the",
  adn: "and",
  nad: "and",
  taht: "that",
  wiht: "with",
  wtih: "with",
  taks: "task",
  tsak: "task",
  taskt: "task",
  tsk: "task",
  tasls: "tasks",
  taskss: "tasks",
  tsaks: "tasks",
  stauts: "status",
  staus: "status",
  prioriy: "priority",
  dealine: "deadline"
})
/** "Low-priority" as its two words. */
const apart = (words: Words): Words =>
  words.flatMap((each) => {
    const [, first, second] = /^(\p{L}+)-(priority|prio)$/u.exec(each.quoted === true ? "" : each.text) ?? []
    if (first === undefined || second === undefined) return [each]
    const end = each.start + first.length
    return [
      { ...each, text: first, word: first.toLowerCase(), after: "", end },
      { ...each, text: second, word: second, capital: false, start: end + 1 }
    ]
  })
/** "December fifteenth", "by the twenty-second": as "15th" and "22nd"; "the fourth task" is no day. */
const numbered = (words: Words): Words =>
  words.map((each, at) => {
    const day = each.quoted === true ? undefined : ORDINALS[each.word]
    if (day === undefined) return each
    const [before, next] = [words[at - 1]?.word ?? "", words[at + 1]]
    const month = next?.word === "of" ? words[at + 2]?.word : next?.word
    const isDated = MONTHS[before] !== undefined || MONTHS[month ?? ""] !== undefined
    const isEnd = next === undefined || each.after !== "" || /^(please|instead|and|not|at)$/.test(next.word)
    return isDated || (before === "the" && isEnd && !/^[1-3]\D/.test(day)) ? { ...each, word: day } : each
  })
/** "Since the start of November" as "since November 1". */
const begun = (words: Words): Words =>
  words.flatMap((each, at) => {
    const isStart = (index: number) =>
      /^(start|beginning)$/.test(words[index]?.word ?? "") &&
      words[index + 1]?.word === "of" &&
      MONTHS[words[index + 2]?.word ?? ""] !== undefined
    if (each.quoted === true) return [each]
    if (isStart(at) || (each.word === "the" && isStart(at + 1)) || (each.word === "of" && isStart(at - 1))) return []
    return isStart(at - 2)
      ? [
          { ...each, after: "" },
          { ...each, text: "1", word: "1", capital: false, start: each.end }
        ]
      : [each]
  })
const DAYS =
  "1st first|2nd second|3rd third|4th fourth|5th fifth|6th sixth|7th seventh|8th eighth|9th ninth|10th tenth|11th eleventh|12th twelfth|13th thirteenth|14th fourteenth|15th fifteenth|16th sixteenth|17th seventeenth|18th eighteenth|19th nineteenth|20th twentieth|21st twenty-first|22nd twenty-second|23rd twenty-third|24th twenty-fourth|25th twenty-fifth|26th twenty-sixth|27th twenty-seventh|28th twenty-eighth|29th twenty-ninth|30th thirtieth|31st thirty-first"
const ORDINALS = byWord<string>(
  Object.fromEntries(DAYS.split("|").map((pair) => pair.split(" ").toReversed() as [string, string]))
)
const NUMBERED = /^\d{1,2}(st|nd|rd|th)?$/
const BEFORE_DAY = /^(on|by|until|till|to|for|next|this|before|after)$/
const DO_IT = shapeOf("<doit> <it>")
/** "new phone for Ada, please save it: …", without the request between the comma and the colon. */
const withoutRequest = (words: Words): Words => {
  const comma = words.findLastIndex(({ after }, at) => at < words.length - 1 && after === ",")
  const isRequest =
    comma > 0 &&
    withoutOpeners(words.slice(comma + 1)).some((said) => [...matches(DO_IT, said, () => false)].length > 0)
  return isRequest ? words.slice(0, comma + 1) : words
}

/** "its in progress now": "it is", where no word follows that a thing could have. */
export const withIts = ({ text, words }: Said): Said => ({
  text,
  words: words.flatMap((each, at) =>
    each.quoted !== true && each.word === "its" && IS_SO.test(words[at + 1]?.word ?? "")
      ? [
          { ...each, text: "it", word: "it", after: "" },
          { ...each, text: "is", word: "is" }
        ]
      : [each]
  )
})
const IS_SO =
  /^(in|on|at|now|not|done|finished|completed|blocked|back|due|ready|still|already|for|with|been|assigned|to)$/

const TAKEN = shapeOf("(remove|unassign|take|pull|get) {p} (from|off|off of) {rest}")
/** "Remove Kofi from both of his tasks": his name for the pronoun, which nothing else says. */
export const withOwner = (said: Said): Said => {
  const own = withoutOpeners(said.words).at(-1)!
  const isTaken: Fits = (name, taken) => name === "rest" || couldBeName(taken)
  const [found] = [...matches(TAKEN, own, isTaken)]
  const pronoun = found?.["rest"]!.find(({ quoted, word }) => quoted !== true && PRONOUN.test(word))
  if (found === undefined || pronoun === undefined || /^(her|their)$/.test(found["rest"]!.at(-1)!.word)) return said
  return readWords(`${said.text.slice(0, pronoun.start)}${textOf(said, found["p"]!)}'s${said.text.slice(pronoun.end)}`)
}

const ABSENT = ["{p} <away>", "{p} <away> (on|until|from|for|since|the|all)? {w}"].map(shapeOf)
const PRONOUN = /^(his|her|their)$/
const NO_NOUN = /^(the|a|an|all|every|each|my|our|it|them|this|that|to)$/
/** A verb after "I" or "we", as after a name. */
const AS_OF_A_NAME: Readonly<Record<string, string>> = byWord({ am: "is", are: "is", have: "has" })

/**
 * Removes a sentence that says who is away: "Raj is on holiday. Give his tasks to Lena", "I'm out on May 3, cancel my meetings that
 * day". Its name and its day replace the pronouns of the rest; without any of these the message stays as it is.
 */
export const withoutAbsence = (said: Said, context: Context): Said => {
  const { text, words } = said
  // "Amir has left so cancel the meetings with him".
  const end = words.findIndex(
    ({ after }, at) =>
      /[.,:;!–—-]/.test(after) || (at > 1 && words[at + 1]?.quoted !== true && words[at + 1]?.word === "so")
  )
  const rest = words.slice(end + 1)
  if (end < 1 || end > 12 || rest.length === 0) return said
  const fits: Fits = (name, taken) =>
    name === "p" ? couldBeName(taken) : timeAt(taken, context.today)?.length === taken.length
  const first = words.slice(0, end + 1)
  const isSpeaker = first[0]!.word === "i"
  const stated = first.map((each) => ({
    ...each,
    word: each.word === "'s" ? "is" : isSpeaker ? (AS_OF_A_NAME[each.word] ?? each.word) : each.word
  }))
  const [found] = ABSENT.flatMap((pattern) => [...matches(pattern, stated, fits)])
  const named = isSpeaker ? undefined : (found?.["p"] ?? reasoner(first))
  const day = found?.["w"]
  /** The text in the place of a pronoun, and the words that it replaces. */
  const replaced = (at: number): { readonly by: string; readonly length: number } | undefined => {
    const [{ quoted, word }, next] = [rest[at]!, rest[at + 1]]
    if (quoted === true) return undefined
    const isWith = /^(with|involving)$/.test(rest[at - 1]?.word ?? "")
    if (named !== undefined && isWith && /^(him|her)$/.test(word) && (next === undefined || rest[at]!.after !== ""))
      return { by: textOf(said, named), length: 1 }
    if (next === undefined) return undefined
    if (named !== undefined && PRONOUN.test(word) && !(NO_NOUN.test(next.word) && rest[at + 2]?.word !== "do"))
      return { by: `${textOf(said, named)}'s`, length: 1 }
    return day !== undefined && word === "that" && next.word === "day"
      ? { by: textOf(said, day), length: 2 }
      : undefined
  }
  let from = rest[0]!.start
  let whole = ""
  for (let at = 0; at < rest.length; at++) {
    const change = replaced(at)
    if (change === undefined) continue
    whole += text.slice(from, rest[at]!.start) + change.by
    from = rest[at + change.length - 1]!.end
  }
  if (whole !== "") return readWords(whole + text.slice(from))
  // "I'm sick tomorrow, cancel my meetings": those of that day.
  const isOfThatDay =
    isSpeaker && day !== undefined && !first.some(({ word }) => /^(until|till|from|since|for)$/.test(word))
  return isOfThatDay && cancelsOwn(rest, context)
    ? readWords(`${text.slice(rest[0]!.start, rest.at(-1)!.end)} ${textOf(said, day!)}`)
    : said
}

/** "Cancel everything on my calendar", without any time. */
const cancelsOwn = (rest: Words, { today }: Context): boolean =>
  /^(cancel|delete|remove|drop|scrap)$/.test(withoutOpeners(rest).at(-1)![0]!.word) &&
  rest.some(({ quoted, word }) => quoted !== true && word === "my") &&
  !rest.slice(0, -1).some(({ after }) => after !== "") &&
  !rest.some((_, at) => timeAt(rest.slice(at), today) !== undefined)

/** The name that a reason begins with: "Kofi works half days now". */
const reasoner = (words: Words): Words | undefined => {
  const own = withoutOpeners(words).at(-1)!
  const length = own.findIndex(({ capital, quoted }) => !capital || quoted === true)
  const isReason = length > 0 && length <= 3 && reasonsOf(own, () => undefined).length > 0
  return isReason && couldBeName(own.slice(0, length)) ? own.slice(0, length) : undefined
}
