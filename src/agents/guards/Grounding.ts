/** The grounding of a reply: the values and words in this conversation's tool results and in what the person wrote. */
import { foldText } from "../../domain/keys.ts"
import type { DateRange } from "../../domain/values.ts"
import { type Claim, claims, dayKeys, type Locale, monthsIn, weekdaysIn } from "./claims.ts"
import type { Deeds } from "./deeds.ts"
import { Figures } from "./figures.ts"
import { normalize } from "./normalize.ts"
import { SeenEntities } from "./SeenEntities.ts"

const WORD = /[\p{L}\p{N}]+/gu
const lastDayOf = ({ to }: DateRange): string =>
  new Date(Date.parse(`${to}T00:00:00Z`) - 86_400_000).toISOString().slice(0, 10)

const rangeKey = ({ from, to }: DateRange): string => `${from} ${to}`

export class Grounding {
  readonly locale: Locale
  readonly seen = new SeenEntities()
  readonly figures = new Figures()
  /** What the reply may say of deeds: whether one of the conversation was applied, and what it is compared with otherwise. */
  deeds: { readonly isApplied: () => boolean; readonly of: () => Deeds } = {
    isApplied: () => false,
    of: () => ({ wide: false })
  }
  readonly #keys = new Set<string>()
  readonly #days = new Set<string>()
  /** The days in order; undefined after a change. */
  #sorted: ReadonlyArray<string> | undefined
  readonly #ranges = new Set<string>()
  readonly #words = new Set<string>()
  readonly #ids = new Set<string>()

  constructor(locale: Locale) {
    this.locale = locale
  }

  /** Adds a text of the person's or of an earlier turn. A reply may repeat its values and words, but not its links. */
  addText(text: string): this {
    const clean = normalize(text)
    for (const claim of claims(clean, this.locale)) {
      if (claim.kind !== "url") this.#add(claim)
      else for (const key of claim.keys) if (key.startsWith("host ")) this.#keys.add(key)
    }
    return this.addWords(clean)
  }

  /**
   * Adds a question. A reply may name its dates with a year that the question leaves out (this one, the last or the next),
   * and the last and the next two dates of its days of the week.
   */
  addQuestion(text: string): this {
    const clean = normalize(text)
    const year = Number(this.locale.today.slice(0, 4))
    const years = [year - 1, year, year + 1]
    for (const weekday of weekdaysIn(clean)) this.#weekday(weekday)
    for (const month of monthsIn(clean)) for (const one of years) this.#keys.add(`year-month ${one}-${month}`)
    for (const key of claims(clean, this.locale).flatMap(({ keys }) => keys)) {
      const [kind, date] = key.split(" ", 2)
      if (kind === "month-day") for (const one of years) this.#keys.add(`day ${one}-${date}`)
    }
    this.figures.addText(clean)
    return this.addText(text)
  }

  /** Adds the organization's own words, which a reply may use even where they name the machinery. */
  addWords(text: string): this {
    for (const [word] of normalize(text).matchAll(WORD)) this.#words.add(foldText(word))
    return this
  }

  /** Adds every value of a tool result, at any depth. Its ids are for lookups: a reply must not show one. */
  addResult(value: unknown): this {
    if (typeof value === "string" || typeof value === "number") this.#cell(String(value))
    if (Array.isArray(value)) for (const part of value) this.addResult(part)
    if (typeof value === "object" && value !== null && !Array.isArray(value)) {
      for (const [name, part] of Object.entries(value)) {
        if ((name === "entityId" || name === "id" || name === "nextCursorEntityId") && typeof part === "string") {
          this.#ids.add(part)
        } else this.addResult(part)
      }
    }
    return this
  }

  /** Adds an id that a reply must not show. */
  addId(id: string): this {
    this.#ids.add(id)
    return this
  }

  /** Whether a value of this conversation supports the claim. */
  isGrounded(claim: Claim): boolean {
    if (claim.keys.some((key) => this.#keys.has(key)) || this.figures.has(claim)) return true
    // A cell may hold the bare number of an amount that the reply gives with its currency.
    const bare = claim.keys.map((key) => /^number [\d.]+/.exec(key)?.[0]).filter((key) => key !== undefined)
    if (claim.kind === "amount" && bare.some((key) => this.#keys.has(`${key} bare`))) return true
    const { range } = claim
    return range !== undefined && (this.#ranges.has(rangeKey(range)) || this.#hasDayIn(range))
  }

  knowsWord(word: string): boolean {
    return this.#words.has(foldText(word))
  }

  isId(word: string): boolean {
    return this.#ids.has(word)
  }

  #weekday(weekday: number) {
    const today = Date.parse(`${this.locale.today}T00:00:00Z`)
    const ahead = (weekday - new Date(today).getUTCDay() + 7) % 7
    this.#keys.add(`weekday ${weekday}`)
    for (const days of [ahead - 7, ahead, ahead + 7]) {
      const day = new Date(today + days * 86_400_000).toISOString().slice(0, 10)
      for (const key of [`day ${day}`, `month-day ${day.slice(5)}`]) this.#keys.add(key)
    }
  }

  #hasDayIn({ from, to }: DateRange): boolean {
    const days = (this.#sorted ??= [...this.#days].sort())
    let [low, high] = [0, days.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if (days[middle]! < from) low = middle + 1
      else high = middle
    }
    return low < days.length && days[low]! < to
  }

  #cell(text: string) {
    const clean = normalize(text).trim()
    this.addText(clean)
    this.#keys.add(`url ${clean}`)
  }

  #add(claim: Claim) {
    for (const key of claim.keys) {
      this.#keys.add(key)
      if (/^number [\d.]+$/.test(key)) this.#keys.add(`${key} bare`)
      else if (key.startsWith("number ")) this.#keys.add(key.split(" ", 2).join(" "))
      if (key.startsWith("day ")) this.#day(key.slice(4))
    }
    if (claim.range === undefined) return
    this.#ranges.add(rangeKey(claim.range))
    this.#day(claim.range.from)
    this.#day(lastDayOf(claim.range))
  }

  #day(day: string) {
    if (this.#days.has(day)) return
    this.#days.add(day)
    this.#sorted = undefined
    for (const key of dayKeys(day)) this.#keys.add(key)
  }
}
