/**
 * The entities of this turn's results with their values, to find a sentence that gives one entity the value of another: the
 * value is in a result, so it is grounded, but the entity's own card says otherwise.
 */
import { foldText } from "../../domain/keys.ts"
import type { Entity } from "../../domain/Page.ts"
import { type Claim, claims, type Locale } from "./claims.ts"
import { normalize } from "./normalize.ts"

/** Kinds of claims that are compared with an entity's own values. */
const COMPARED: ReadonlySet<Claim["kind"]> = new Set(["phone", "email", "date", "amount"])
/** Entities of a turn, and characters of a sentence, that are compared. */
const MAX_ENTITIES = 200
const MAX_SENTENCE = 600
/** Smaller numbers count and enumerate things. */
const SMALL = /^number \d{1,2}(\.|$| )/
const DENIES = / (not|no|never|isn't|aren't|wasn't|doesn't|isnt|instead|rather|nor|unlike|other) /

interface Seen {
  readonly type: string
  readonly name: string
  readonly status: string | undefined
  /** The keys of the values, by kind. */
  readonly values: ReadonlyMap<Claim["kind"], ReadonlySet<string>>
  /** The names of what it refers to. */
  readonly related: ReadonlySet<string>
}

const padded = (text: string): string =>
  ` ${foldText(text)
    .replace(/[^\p{L}\p{N}@'+-]+/gu, " ")
    .trim()} `

export class SeenEntities {
  readonly #seen: Array<Seen> = []
  readonly #ids = new Set<string>()

  add(type: string, entities: ReadonlyArray<Entity>, locale: Locale): void {
    for (const { columns = {}, displayName, entityId, status } of entities) {
      const key = `${type} ${entityId} ${Object.keys(columns).join()}`
      if (displayName === undefined || this.#seen.length >= MAX_ENTITIES || this.#ids.has(key)) continue
      this.#ids.add(key)
      const values = new Map<Claim["kind"], Set<string>>()
      const related = new Set<string>()
      const read = (value: unknown): void => {
        if (Array.isArray(value)) for (const part of value) read(part)
        else if (typeof value === "object" && value !== null) {
          if ("name" in value && typeof value.name === "string") related.add(padded(value.name))
        } else if (typeof value === "string" || typeof value === "number") {
          for (const { keys, kind } of claims(normalize(String(value)), locale)) {
            if (!COMPARED.has(kind)) continue
            const own = values.get(kind) ?? new Set()
            values.set(kind, own)
            for (const one of keys) own.add(one)
          }
        }
      }
      for (const value of Object.values(columns)) read(value)
      this.#seen.push({
        type,
        name: padded(displayName),
        status: status === undefined ? undefined : padded(status),
        values,
        related
      })
    }
  }

  get size(): number {
    return this.#seen.length
  }

  /** Whether the one entity that a sentence names has another value of the claim's kind, and another entity has this one. */
  contradicts(sentence: string, claim: Claim): boolean {
    if (!COMPARED.has(claim.kind) || claim.keys.every((key) => SMALL.test(key))) return false
    const named = this.#named(sentence)
    if (named === undefined) return false
    const has = ({ values }: Seen) => claim.keys.some((key) => values.get(claim.kind)?.has(key) === true)
    const own = this.#seen.filter((one) => one.name === named || one.related.has(named))
    const linked = new Set(own.flatMap(({ related }) => [...related]))
    const types = new Set(own.filter(({ name }) => name === named).map(({ type }) => type))
    const hasKind = own.some(({ name, values }) => name === named && values.has(claim.kind))
    const others = this.#seen.filter(({ name, type }) => name !== named && !linked.has(name) && types.has(type))
    return hasKind && !own.some(has) && others.some(has)
  }

  /** Whether a sentence gives the one entity that it names the status of another. */
  contradictsStatus(sentence: string): boolean {
    const text = padded(sentence.slice(0, MAX_SENTENCE))
    if (!text.includes(" status ")) return false
    const named = this.#named(sentence)
    const own = this.#seen
      .filter(({ name }) => name === named)
      .flatMap(({ status }) => (status === undefined ? [] : [status]))
    if (named === undefined || own.length === 0 || own.some((status) => text.includes(status))) return false
    return this.#seen.some(
      ({ status }) => status !== undefined && text.replace(named, " ").includes(` status is${status}`)
    )
  }

  /** The name of the one entity that a sentence names, unless the sentence denies something. */
  #named(sentence: string): string | undefined {
    if (sentence.length > MAX_SENTENCE) return undefined
    const text = padded(sentence)
    const bare = text.replaceAll("'s ", " ").replaceAll("' ", " ")
    if (DENIES.test(text)) return undefined
    const names = new Set(
      this.#seen.map(({ name }) => name).filter((name) => bare.includes(name) || text.includes(name))
    )
    return names.size === 1 ? [...names][0] : undefined
  }
}
