/**
 * The groups and figures of this turn's results, to find a sentence that gives one group the figure of another, and a sum,
 * average or percentage that the model made up: its numbers may all be in results, so they are grounded one by one.
 */
import { foldText } from "../../domain/keys.ts"
import type { FigureCell, Group, Page } from "../../domain/Page.ts"
import { perMinuteIn } from "../durations.ts"
import { MONTH_NAMES, TENS, UNITS } from "../english.ts"
import { type Claim, claims, type Locale } from "./claims.ts"
import { asciiDigits, normalize } from "./normalize.ts"

/** Groups of a turn, and characters of a sentence, that are compared. */
const MAX_GROUPS = 200
const MAX_SENTENCE = 600
/** Characters in which a percentage and its two numbers are written. */
const MAX_SHARE = 100

const TOKEN = /\p{L}[\p{L}\p{M}]*(?:['’]\p{L}+)?|\d+(?:[.,]\d+)*|[%#]/gu
const NUMBER = /(?<= )(\d+(?:[.,]\d+)*)(?= )/g
/** A year after the word of a period: "over 2000 euros" has none. */
const YEAR =
  /(?<= (?:in|during|since|until|through|year|(?:quarter|half) of|q [1-4]|jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?) )((?:19|20)\d\d)(?= )/g
const GROUPED = /^\d{1,3}(?:,\d{3})+(?:\.\d+)?$/
const POINTED = /^\d{1,3}(?:\.\d{3})+(?:,\d+)?$/
const SUMS = / (?:total|totaling|altogether|combined|together|sum|overall|average|averaging|mean|avg|in all|all told) /
/** What comes right before a number that is no figure: a rank, a span of time, or a denial. */
const NO_FIGURE_AFTER = / (?:top|first|last|past|previous|next|(?:is|at|as|come) number|rank|ranked|place|page|#|not) $/
/** After the group's name, words that lead to another group. */
/** A percentage and the two numbers that it is the share of: "28% (14 of 50)". */
const QUOTIENT = /^ (\d+) % (\d+(?:[.,]\d+)*) (?:out )?of (?:(?:all|the|your) ){0,2}(\d+(?:[.,]\d+)*) /
const LEADS_ON = / (?:next|rest|other|others|else|runner|second|remaining|followed|versus|vs|compared) /
const NONE = / (?:none|without|unassigned|empty|blank|unknown|missing) /

const OTHERS = "It gives a group the figure of another group of the result."
const MADE_UP = "A sum, average or percentage in it is in no result. Ask for it with findEntities instead."

interface Named {
  /** The ways to write each of its keys; an empty list is the key of the rows that show none. */
  readonly keys: ReadonlyArray<ReadonlyArray<string>>
  readonly numbers: ReadonlySet<string>
}

/** A word without the endings of a plural or genitive. */
const stem = (word: string): string => {
  const bare = word.replace(/['’]s?$/, "").replace(/['’]/, "")
  return bare.length > 3 ? bare.replace(/ies$/, "y").replace(/s$/, "") : bare
}

/** The words, numbers and signs of a text, with a space before, between and after them; number words as numbers. */
const tokens = (text: string): string => {
  const found = (foldText(asciiDigits(text)).match(TOKEN) ?? []).map(stem)
  const parts: Array<string> = []
  for (const token of found) {
    const [unit, ten] = [UNITS.indexOf(token), TENS.indexOf(token)]
    const before = parts.at(-1)
    if (unit > 0 && unit < 10 && before !== undefined && /^[2-9]0w$/.test(before))
      parts[parts.length - 1] = `${before[0]}${unit}w`
    else parts.push(unit > 1 ? `${unit}w` : ten >= 0 ? `${ten + 2}0w` : token === "percent" ? "%" : token)
  }
  return ` ${parts.join(" ")} `.replace(/ (\d+)w(?= )/g, " $1")
}

/** The decimal forms of a number as it is written. */
const forms = (text: string): ReadonlyArray<string> => {
  const plain = (digits: string) => String(Number(digits))
  if (GROUPED.test(text) || /^\d+(?:\.\d+)?$/.test(text)) {
    const first = plain(text.replaceAll(",", ""))
    return POINTED.test(text) ? [first, plain(text.replaceAll(".", ""))] : [first]
  }
  return [plain(text.replaceAll(".", "").replace(",", "."))]
}

/** The ways to write the key of a group: a period also by its name. */
const labels = (value: string): ReadonlyArray<string> => {
  const [, year, month] = /^(\d{4})-(\d{2})$/.exec(value) ?? []
  const [, of, quarter] = /^(\d{4})-Q([1-4])$/.exec(value) ?? []
  const written = [value]
  if (year !== undefined) {
    const name = MONTH_NAMES[Number(month) - 1] ?? value
    written.push(`${name} ${year}`, name, `${name.slice(0, 3)} ${year}`)
  }
  if (of !== undefined) written.push(`Q${quarter} ${of}`, `Q${quarter}`)
  // Shorter ones are found in every sentence.
  return written.map(tokens).filter((label) => !/^ (?:\p{L}?|\d{1,3}) $/u.test(label))
}

/** The share and the change of a group, also as whole percent. */
const percentsOf = ({ change, share }: Group): ReadonlyArray<number> =>
  [share, change].flatMap((one) => (one === undefined ? [] : [Math.abs(one), Math.round(Math.abs(one))]))

/** Percentages have their sign: a count of 15 isn't 15%. */
const numbersOf = (group: Group, headings: ReadonlyArray<string>): ReadonlySet<string> =>
  new Set([
    String(group.count),
    ...percentsOf(group).map((one) => `${one}%`),
    ...figuresOf(group, headings).flatMap(({ value }) => rounded(value))
  ])

/** The figures of a group; one of minutes or seconds also in minutes and hours. */
const figuresOf = ({ figures = [], keys }: Group, headings: ReadonlyArray<string>): ReadonlyArray<FigureCell> =>
  figures.flatMap((cells, index) => {
    const perMinute = perMinuteIn(headings[keys.length + index] ?? "")
    const times = perMinute === undefined || perMinute < 1 ? [] : [perMinute, perMinute * 60]
    return cells.flatMap((cell) => [
      cell,
      ...times.map((one) => ({ ...cell, value: String(Number(cell.value) / one) }))
    ])
  })

/** 11.385 is 11.38 as a binary number and 11.39 as people and `Intl` round it. */
const ROUNDED = [0, 1, 2].map(
  (places) => new Intl.NumberFormat("en-US", { maximumFractionDigits: places, useGrouping: false })
)
/** A number, and a long one as it is rounded. */
const rounded = (value: string): ReadonlyArray<string> => {
  if (!/^-?\d+(?:\.\d+)?$/.test(value)) return []
  const number = Math.abs(Number(value))
  if (!/\.\d{3,}$/.test(value)) return [String(number)]
  return [
    String(number),
    ...ROUNDED.flatMap((format, places) => [
      String(Number(number.toFixed(places))),
      String(Number(format.format(number)))
    ])
  ]
}

export class Figures {
  readonly #results: Array<ReadonlyArray<Named>> = []
  /** The numbers of all groups. */
  readonly #numbers = new Set<string>()
  /** Numbers that a sentence about any group may give. */
  readonly #free = new Set<string>()
  /** Keys of claims, for amounts too small to be claims in a cell. */
  readonly #keys = new Set<string>()
  #groups = 0

  get size(): number {
    return this.#groups
  }

  /** Adds a text of the person. */
  addText(text: string): void {
    const read = tokens(text)
    for (const match of read.matchAll(NUMBER)) {
      const isPercent = read.startsWith(" % ", match.index + match[0].length)
      for (const form of forms(match[1]!)) this.#free.add(isPercent ? `${form}%` : form)
    }
  }

  /** Adds the years of an earlier question: a later answer names the period again. */
  addYears(text: string): void {
    for (const [, year] of tokens(text).matchAll(YEAR)) this.#free.add(year!)
  }

  add(page: Page): void {
    const { entities, groups = [], groupsTotal, headings = [], total } = page
    // A cell doesn't say whether its number is a percentage.
    for (const [, number] of entities.length === 0 ? [] : tokens(JSON.stringify(entities)).matchAll(NUMBER))
      for (const form of forms(number!)) this.#free.add(form).add(`${form}%`)
    for (const one of [total, groupsTotal, groups.length]) if (one !== undefined) this.#free.add(String(one))
    const result: Array<Named> = []
    for (const group of groups) {
      if (this.#groups >= MAX_GROUPS) break
      this.#groups += 1
      const numbers = numbersOf(group, headings)
      for (const one of numbers) this.#numbers.add(one)
      for (const percent of percentsOf(group)) this.#keys.add(`number ${percent}`)
      for (const { value = "" } of group.keys) {
        if (/^\d{4}-\d{2}$/.test(value)) this.#keys.add(`year-month ${value}`).add(`month ${value.slice(5)}`)
      }
      for (const { unit, value } of figuresOf(group, headings)) {
        for (const number of rounded(value))
          this.#keys.add(`number ${number}${unit === undefined ? "" : ` ${unit.toLowerCase()}`}`)
      }
      const keys = group.keys.map(({ value }) => (value === undefined ? [] : labels(normalize(value))))
      if (keys.length > 0) result.push({ keys, numbers })
    }
    if (result.length > 0) this.#results.push(result)
  }

  /** Whether a claim is a share, change, amount or month of a group. */
  has({ keys, kind }: Claim): boolean {
    return (kind === "amount" || kind === "date") && keys.some((key) => this.#keys.has(key))
  }

  /** Whether a text begins with a percentage that is the share of two numbers of results, beside it: "28% (14 of 50)". */
  isShare(text: string): boolean {
    const [percent, ...two] = QUOTIENT.exec(tokens(text.slice(0, MAX_SHARE)))?.slice(1) ?? []
    const [part, whole] = two.map((number) =>
      forms(number).find((form) => this.#free.has(form) || this.#numbers.has(form))
    )
    return (
      part !== undefined && Number(whole) > 0 && Math.round((100 * Number(part)) / Number(whole)) === Number(percent)
    )
  }

  /** Why a sentence must not be shown; undefined if it may. */
  problem(sentence: string, locale: Locale): string | undefined {
    if (this.#groups === 0 || sentence.length > MAX_SENTENCE || !/\p{N}|\p{L}/u.test(sentence)) return undefined
    const text = tokens(sentence)
    let bare = text
    const all = [...new Set(this.#results.flat().flatMap(({ keys }) => keys.flat()))]
    const said = new Map<string, number>()
    // The longest first, so that "New York" isn't "York", too.
    for (const label of all.toSorted((one, other) => other.length - one.length)) {
      const at = bare.lastIndexOf(label)
      if (at < 0) continue
      said.set(label, at + label.length - 1)
      bare = bare.replaceAll(label, ` ${"_".repeat(label.length - 2)} `)
    }
    const dated = new Set(
      claims(sentence, locale)
        .filter(({ kind }) => kind !== "amount")
        .flatMap(({ end, start }) => sentence.slice(start, end).match(/\d+/g) ?? [])
        .map((digits) => String(Number(digits)))
    )
    const saysNone = NONE.test(bare)
    const isNamed = ({ keys }: Named) =>
      keys.every((ways) => (ways.length === 0 ? saysNone : ways.some((way) => said.has(way))))
    const named = this.#results.map((groups) => groups.filter(isNamed))
    const own = new Set(named.flat().flatMap(({ numbers }) => [...numbers]))
    const after = Math.max(0, ...said.values())
    const sums = SUMS.test(bare)
    for (const match of bare.matchAll(NUMBER)) {
      const [, number] = match
      const before = bare.slice(0, match.index)
      const rest = bare.slice(match.index + number!.length)
      const isPercent = rest.startsWith(" % ")
      const ways = forms(number!).map((form) => (isPercent ? `${form}%` : form))
      const isIn = (some: ReadonlySet<string>) => ways.some((way) => some.has(way))
      if (NO_FIGURE_AFTER.test(before) || /^ (?:st|nd|rd|th) /.test(rest) || isIn(dated)) continue
      if (before === " " && /^\s*\d+[.)]\s/.test(sentence)) continue
      if (isIn(own) || isIn(this.#free) || (isPercent && this.isShare(`${number}${rest}`))) continue
      if ((sums || isPercent) && !isIn(this.#numbers)) return MADE_UP
      if (match.index > after && LEADS_ON.test(bare.slice(after))) continue
      for (const [index, groups] of this.#results.entries())
        if (named[index]!.length === 1 && groups.some(({ numbers }) => isIn(numbers))) return OTHERS
    }
    return undefined
  }
}
