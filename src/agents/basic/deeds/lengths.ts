/** Lengths of time as people write them: "90 minutes", "1 1/2 hours", "half an hour". */
import { byWord } from "../../../domain/text.ts"
import { CARDINALS } from "../../english.ts"
import type { Token } from "../tokenize.ts"

type Tokens = ReadonlyArray<Token>

/** Something at the beginning of the words, and its length in words. */
export interface At<A> {
  readonly value: A
  readonly length: number
}

const UNITS = byWord<number>({
  minute: 1,
  minutes: 1,
  min: 1,
  mins: 1,
  m: 1,
  hour: 60,
  hours: 60,
  hr: 60,
  hrs: 60,
  h: 60,
  day: 1440,
  days: 1440,
  week: 10_080,
  weeks: 10_080
})
const NUMBERS = byWord<number>({
  ...CARDINALS,
  a: 1,
  an: 1,
  "forty-five": 45
})

const numberOf = (word: string): number | undefined => {
  const [, whole, over, under] = /^(\d{1,4}(?:\.\d{1,2})?)$|^(\d)\/(\d)$/.exec(word) ?? []
  return whole !== undefined ? Number(whole) : over !== undefined ? Number(over) / Number(under) : NUMBERS[word]
}

/** Whether a length of time can begin with this word: it is asked at every word, so most are told apart at once. */
const mayBegin = (word: string): boolean => {
  const [first = ""] = word.split("-")
  return /^(\d|half$|quarter$|hour$|forty$)/.test(first) || NUMBERS[first] !== undefined
}

/** The length of time at the beginning of the words, in minutes. */
export const lengthAt = (tokens: Tokens): At<number> | undefined => {
  if (tokens[0] === undefined || !mayBegin(tokens[0].word)) return undefined
  // "90-minute", "half-hour" and "hour-long" are one word each in the text, and several here.
  const words = tokens
    .slice(0, 8)
    .flatMap(({ quoted, word }: Token & { readonly quoted?: true }, index) =>
      quoted === true ? [{ word: "", index }] : hyphenated(word).map((part) => ({ word: part, index }))
    )
  const of = (at: number) => words[at]?.word ?? ""
  const done = (value: number, at: number): At<number> | undefined => {
    const last = words[at - 1]
    // A length ends where a word of the text ends.
    return last === undefined || words[at]?.index === last.index || !Number.isInteger(value) || value <= 0
      ? undefined
      : { value, length: last.index + 1 }
  }
  const long = (value: number, at: number) => done(value, /^(long|worth)$/.test(of(at)) ? at + 1 : at)
  let at = 0
  if (of(0) === "half") {
    at = /^(a|an)$/.test(of(1)) ? 2 : 1
    const unit = UNITS[of(at)]
    return unit === undefined ? undefined : long(unit / 2, at + 1)
  }
  if (of(0) === "a" && of(1) === "half") {
    const unit = UNITS[of(2)]
    return unit === undefined ? undefined : long(unit / 2, 3)
  }
  if (/^(a|one)$/.test(of(0)) && of(1) === "quarter" && of(2) === "of" && of(3) === "an" && of(4) === "hour")
    return long(15, 5)
  if (of(0) === "quarter" && of(1) === "of" && of(2) === "an" && of(3) === "hour") return long(15, 4)
  if (/^hour$/.test(of(0)) && of(1) === "long") return done(60, 2)
  if (of(0) === "hour" && of(1) === "and" && /^(a|one)$/.test(of(2)) && of(3) === "half") return long(90, 4)
  const joined = /^(\d{1,2})h(\d{2})(?:m|min)?$/.exec(of(0))
  if (joined !== null) return done(Number(joined[1]) * 60 + Number(joined[2]), 1)
  let number = numberOf(of(0))
  if (number === undefined) return undefined
  at = 1
  // "1 1/2 hours", "one and a half hours", "a couple of hours".
  if (/^\d\/\d$/.test(of(1))) number += numberOf(of(at++))!
  else if (of(1) === "and" && /^(a|one)$/.test(of(2)) && of(3) === "half" && UNITS[of(4)] !== undefined) {
    number += 0.5
    at = 4
  } else if (of(0) === "a" && of(1) === "couple") {
    number = 2
    at = of(2) === "of" ? 3 : 2
  }
  const unit = UNITS[of(at)]
  if (unit === undefined) return undefined
  at += 1
  if (of(at) === "and" && /^(a|one)$/.test(of(at + 1)) && of(at + 2) === "half")
    return long((number + 0.5) * unit, at + 3)
  const more = of(at) === "and" ? at + 1 : at
  const second = numberOf(of(more))
  const smaller = UNITS[of(more + 1)]
  if (second !== undefined && smaller !== undefined && smaller < unit && of(more) !== "a")
    return long(number * unit + second * smaller, more + 2)
  return long(number * unit, at)
}

const hyphenated = (word: string): ReadonlyArray<string> => {
  if (word === "forty-five") return [word]
  const parts = word.split("-")
  const split = parts.length > 1 && parts.some((part) => UNITS[part] !== undefined) ? parts : [word]
  return split.flatMap((part) => {
    const [, number, unit] = /^(\d{1,4}(?:\.\d{1,2})?)(minutes?|mins?|hours?|hrs?|h|m|d|days?)$/.exec(part) ?? []
    return number === undefined || unit === undefined ? [part] : [number, unit]
  })
}
