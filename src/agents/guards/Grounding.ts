/** What a reply may say: the values that are in this conversation's results and in what the person wrote. */
import { foldText } from "../../domain/keys.ts"
import type { DateRange } from "../../domain/values.ts"
import { type Claim, claims, dayKeys, type Place } from "./claims.ts"
import { normal } from "./normalize.ts"

const WORD = /[\p{L}\p{N}]+/gu
const lastDayOf = ({ to }: DateRange): string =>
  new Date(Date.parse(`${to}T00:00:00Z`) - 86_400_000).toISOString().slice(0, 10)

export class Grounds {
  readonly place: Place
  readonly #keys = new Set<string>()
  readonly #days = new Set<string>()
  readonly #ranges: Array<DateRange> = []
  readonly #words = new Set<string>()
  readonly #ids = new Set<string>()

  constructor(place: Place) {
    this.place = place
  }

  /** What somebody wrote: its values and its words may be repeated, its links may not. */
  text(text: string): this {
    const clean = normal(text)
    for (const claim of claims(clean, this.place)) {
      if (claim.kind !== "url") this.#add(claim)
      else for (const key of claim.keys) if (key.startsWith("host ")) this.#keys.add(key)
    }
    return this.words(clean)
  }

  /** Words that the organization uses itself. */
  words(text: string): this {
    for (const [word] of normal(text).matchAll(WORD)) this.#words.add(foldText(word))
    return this
  }

  /** A tool's result: every value in it, at any depth. The ids in it are for looking things up, never for saying. */
  result(value: unknown): this {
    if (typeof value === "string" || typeof value === "number") this.#cell(String(value))
    if (Array.isArray(value)) for (const part of value) this.result(part)
    if (typeof value === "object" && value !== null && !Array.isArray(value)) {
      for (const [name, part] of Object.entries(value)) {
        if ((name === "entityId" || name === "id" || name === "nextCursorEntityId") && typeof part === "string") {
          this.#ids.add(part)
        } else this.result(part)
      }
    }
    return this
  }

  /** An id that must not be said. */
  id(id: string): this {
    this.#ids.add(id)
    return this
  }

  /** Whether the claim is well-founded. */
  holds(claim: Claim): boolean {
    if (claim.keys.some((key) => this.#keys.has(key))) return true
    // An amount in a currency may be a cell that has the bare number.
    const bare = claim.keys.map((key) => /^number [\d.]+/.exec(key)?.[0]).filter((key) => key !== undefined)
    if (claim.kind === "amount" && bare.some((key) => this.#keys.has(`${key} bare`))) return true
    const { range } = claim
    return (
      range !== undefined &&
      (this.#ranges.some(({ from, to }) => from === range.from && to === range.to) ||
        [...this.#days].some((day) => day >= range.from && day < range.to))
    )
  }

  knowsWord(word: string): boolean {
    return this.#words.has(foldText(word))
  }

  isId(word: string): boolean {
    return this.#ids.has(word)
  }

  #cell(text: string) {
    const clean = normal(text).trim()
    this.text(clean)
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
    this.#ranges.push(claim.range)
    this.#day(claim.range.from)
    this.#day(lastDayOf(claim.range))
  }

  #day(day: string) {
    this.#days.add(day)
    for (const key of dayKeys(day)) this.#keys.add(key)
  }
}
