/**
 * What an answer was about, found in code from what the tools returned and what was said, the same for every provider:
 * the entities that the answer presents, in its order. What was only a step on the way (a company looked up to find who
 * works there) is none of them.
 */
import { Array as Arr } from "effect"
import { foldText } from "../domain/keys.ts"
import type { Entity, Page } from "../domain/Page.ts"
import { renderCell } from "../tools/render.ts"

/** An entity that a tool returned, with the type it was asked for by. */
export interface Seen {
  readonly type: string
  readonly entity: Entity
  /** Which lookup it came from, and whether it was that one's only result. */
  readonly lookup: number
  readonly only: boolean
}

/** An entity that an answer presents, with all that was seen of it in this turn. */
export interface Meant {
  readonly type: string
  readonly id: string
  readonly name?: string
  readonly status?: string
  readonly columns: Readonly<Record<string, unknown>>
}

/** What one turn has seen and what it has looked for. */
export class Sightings {
  readonly #seen: Array<Seen> = []
  readonly #asked: Array<{ readonly type: string; readonly values: ReadonlyArray<string> }> = []
  #lookups = 0

  page(type: string, values: ReadonlyArray<string>, page: Page) {
    const lookup = this.#lookups++
    this.#asked.push({ type, values: values.map(foldText) })
    for (const entity of page.entities) this.#seen.push({ type, entity, lookup, only: page.entities.length === 1 })
  }

  /** The entities that a text presents, in its order. */
  presentedIn(text: string): ReadonlyArray<Meant> {
    const folded = ` ${words(text)} `
    const found = new Map<string, { readonly seen: Seen; readonly at: number }>()
    for (const seen of this.#seen) {
      const at = placeOf(seen, folded)
      const key = `${seen.type} ${seen.entity.entityId}`
      const known = found.get(key)
      if (at === undefined || (known !== undefined && at > known.at)) continue
      // Namesakes stand in the order in which they were seen last, which is the answer's.
      found.delete(key)
      found.set(key, { seen, at })
    }
    const meant = this.#withoutSteps(distinct([...found.values()], folded, this.#seen))
    const presented = meant.length > 0 ? meant.sort((a, b) => a.at - b.at).map(({ seen }) => seen) : this.#lastOnly()
    return presented.map(({ entity, type }) => ({
      type,
      id: entity.entityId,
      ...(entity.displayName === undefined ? {} : { name: entity.displayName }),
      ...(entity.status === undefined ? {} : { status: entity.status }),
      columns: this.#columnsOf(type, entity.entityId)
    }))
  }

  /** What every lookup of the turn has shown of an entity, by slug. */
  #columnsOf(type: string, id: string): Readonly<Record<string, unknown>> {
    const own = this.#seen.filter((seen) => seen.type === type && seen.entity.entityId === id)
    return Object.assign({}, ...own.map(({ entity }) => entity.columns))
  }

  /** Entities that another type's lookup was asked with are steps, when something else is presented too. */
  #withoutSteps(found: ReadonlyArray<{ readonly seen: Seen; readonly at: number }>) {
    const isStep = ({ entity, type }: Seen) =>
      this.#asked.some(
        (asked) =>
          asked.type !== type &&
          (asked.values.includes(entity.entityId) ||
            (entity.displayName !== undefined && asked.values.includes(foldText(entity.displayName))))
      )
    const kept = found.filter(({ seen }) => !isStep(seen))
    return kept.length > 0 ? kept : [...found]
  }

  /** An answer that names nobody is about the one that was looked up last, when it was one. */
  #lastOnly(): ReadonlyArray<Seen> {
    const last = this.#seen.at(-1)
    return last !== undefined && last.only && last.lookup === this.#lookups - 1 ? [last] : []
  }
}

export const words = (text: string): string =>
  foldText(text.normalize("NFKC"))
    .replace(/[^\p{L}\p{N}@+]+/gu, " ")
    .trim()

/** Where a value stands in a text of words, as whole words. */
export const position = (folded: string, value: string): number | undefined => {
  const wanted = words(value)
  const at = wanted === "" ? -1 : folded.indexOf(` ${wanted} `)
  return at < 0 ? undefined : at
}

const cellsOf = ({ columns }: Entity): ReadonlyArray<string> =>
  Object.entries(columns ?? {})
    .filter(([slug]) => slug !== "name" && slug !== "status")
    .map(([, value]) =>
      typeof value === "object" && value !== null && "name" in value ? String(value.name) : renderCell(value)
    )
    .filter((text) => text.length >= 3)

/** Where a text presents an entity: by its name, or by a value that is nobody else's business. */
const placeOf = ({ entity, only }: Seen, folded: string): number | undefined => {
  const byName = entity.displayName === undefined ? undefined : position(folded, entity.displayName)
  if (byName !== undefined) return byName
  if (!only) return undefined
  return cellsOf(entity)
    .map((cell) => position(folded, cell))
    .find((at) => at !== undefined)
}

/** Of several entities by one name, those that the text says more of; all of them when it names them all. */
const distinct = (
  found: ReadonlyArray<{ readonly seen: Seen; readonly at: number }>,
  folded: string,
  all: ReadonlyArray<Seen>
) => {
  const score = (seen: Seen) => {
    const cells = all
      .filter((other) => other.entity.entityId === seen.entity.entityId && other.type === seen.type)
      .flatMap((other) => [
        ...cellsOf(other.entity),
        ...(other.entity.status === undefined ? [] : [other.entity.status])
      ])
    return [...new Set(cells)].filter((cell) => position(folded, cell) !== undefined).length
  }
  const groups = Arr.groupBy(
    found,
    ({ seen }) => `${seen.type} ${foldText(seen.entity.displayName ?? seen.entity.entityId)}`
  )
  return Object.values(groups).flatMap((group) => {
    const name = group[0]!.seen.entity.displayName
    if (group.length === 1 || name === undefined) return group
    const times = folded.replaceAll(" ", "  ").split(` ${words(name).replaceAll(" ", "  ")} `).length - 1
    if (times >= group.length) return group
    const best = Math.max(...group.map(({ seen }) => score(seen)))
    return group.filter(({ seen }) => score(seen) === best)
  })
}
