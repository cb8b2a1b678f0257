/**
 * Resolves which entities an answer presents, in its order, from the tool results and the answer's text alone, so it works
 * for every provider. An intermediate entity (a company looked up to find its people) is not presented.
 */
import { Array as Arr } from "effect"
import { foldText } from "../domain/keys.ts"
import type { Entity, Page } from "../domain/Page.ts"
import type { Figures, PresentedList } from "../domain/Presented.ts"
import type { FindQuery } from "../domain/Query.ts"
import { renderCell } from "../tools/render.ts"
import { figuresOf, rowsBehind } from "./figures.ts"
import { words } from "./guards/normalize.ts"

/** An entity in a tool result, with the type it was looked up by. */
export interface Seen {
  readonly type: string
  readonly entity: Entity
  /** The number of its lookup, and whether it was that lookup's only result. */
  readonly lookup: number
  readonly only: boolean
}

/** An entity that an answer presents, with every cell that this turn's lookups returned of it. */
export interface PresentedEntity {
  readonly type: string
  readonly id: string
  readonly name?: string
  readonly status?: string
  readonly columns: Readonly<Record<string, unknown>>
}

/** The number of the lookup before the turn's first. */
const BEFORE = -1

/** The lookups of one turn: their results and their filter values. */
export class Sightings {
  readonly #seen: Array<Seen> = []
  readonly #lookedUp: Array<{ readonly type: string; readonly values: ReadonlyArray<string> }> = []
  readonly #lists: Array<{ readonly list: PresentedList; readonly ids: ReadonlySet<string> }> = []
  readonly #figures: Array<{ readonly figures: Figures; readonly list: PresentedList }> = []
  #lookups = 0

  /** Records the entities that were in focus before the turn: an answer without a name is about the only one, and of several about none. */
  addFocus(focus: ReadonlyArray<{ readonly type: string; readonly page: Page }>) {
    const only = focus.length === 1
    for (const { page, type } of focus)
      this.#seen.push(...page.entities.map((entity) => ({ type, entity, lookup: BEFORE, only })))
  }

  /** Records a lookup of a type with its filter values and its result. */
  addPage(type: string, values: ReadonlyArray<string>, page: Page) {
    const lookup = this.#lookups++
    this.#lookedUp.push({ type, values: values.map(foldText) })
    for (const entity of page.entities) this.#seen.push({ type, entity, lookup, only: page.entities.length === 1 })
  }

  /** Records the lookup of a page, so that its list can be exported. */
  addList({ entityTypeId, filters }: FindQuery, { entities }: Page) {
    if (entities.length < 2) return
    const list = {
      entityTypeId,
      filters: filters.map(({ columnId, op, value }) => ({ columnId, op, value }))
    }
    this.#lists.push({ list, ids: new Set(entities.map(({ entityId }) => entityId)) })
  }

  /** Records the groups of a page; `plural` names the type for people. */
  addFigures(query: FindQuery, plural: string, page: Page) {
    const figures = figuresOf(plural, page)
    if (figures !== undefined) this.#figures.push({ figures, list: rowsBehind(query) })
  }

  /** The groups of the turn's lookups, and the rows behind them. */
  get figures(): ReadonlyArray<{ readonly figures: Figures; readonly list: PresentedList }> {
    return this.#figures
  }

  /** The latest lookup that found all of several presented entities. */
  listOf(presented: ReadonlyArray<PresentedEntity>): PresentedList | undefined {
    if (presented.length < 2) return undefined
    return this.#lists.findLast(({ ids, list }) =>
      presented.every(({ id, type }) => type === list.entityTypeId && ids.has(id))
    )?.list
  }

  /** The entities that a text presents, in its order. */
  presentedIn(text: string): ReadonlyArray<PresentedEntity> {
    const folded = ` ${words(text)} `
    // “who is Ada Lovelace” is an example of a question, and no answer about someone of an earlier one.
    const unquoted = ` ${words(text.replace(/“[^“”]*”/g, " "))} `
    const found = new Map<string, { readonly seen: Seen; readonly at: number }>()
    for (const seen of this.#seen) {
      const isQuoted = seen.lookup === BEFORE && positionOf(seen, unquoted) === undefined
      const at = isQuoted ? undefined : positionOf(seen, folded)
      const key = `${seen.type} ${seen.entity.entityId}`
      const earlier = found.get(key)
      if (at === undefined || (earlier !== undefined && at > earlier.at)) continue
      // Re-inserting keeps namesakes in the order of the latest lookup, which is the answer's order.
      found.delete(key)
      found.set(key, { seen, at })
    }
    const mentioned = this.#withoutSteps(resolveNamesakes([...found.values()], folded, this.#seen))
    const presented =
      mentioned.length > 0 ? mentioned.sort((a, b) => a.at - b.at).map(({ seen }) => seen) : this.#lastOnly()
    return presented.map(({ entity, type }) => ({
      type,
      id: entity.entityId,
      ...(entity.displayName === undefined ? {} : { name: entity.displayName }),
      ...(entity.status === undefined ? {} : { status: entity.status }),
      columns: this.#columnsOf(type, entity.entityId)
    }))
  }

  /** The cells of an entity in all lookups of the turn, by slug. */
  #columnsOf(type: string, id: string): Readonly<Record<string, unknown>> {
    const own = this.#seen.filter((seen) => seen.type === type && seen.entity.entityId === id)
    return Object.assign({}, ...own.map(({ entity }) => entity.columns))
  }

  /** Drops entities that were filter values of another type's lookup, unless nothing else is presented. */
  #withoutSteps(found: ReadonlyArray<{ readonly seen: Seen; readonly at: number }>) {
    const isStep = ({ entity, type }: Seen) =>
      this.#lookedUp.some(
        (lookup) =>
          lookup.type !== type &&
          (lookup.values.includes(entity.entityId) ||
            (entity.displayName !== undefined && lookup.values.includes(foldText(entity.displayName))))
      )
    const results = found.filter(({ seen }) => !isStep(seen))
    return results.length > 0 ? results : [...found]
  }

  /** An answer without a name presents the last lookup's result, if it has exactly one. */
  #lastOnly(): ReadonlyArray<Seen> {
    const last = this.#seen.at(-1)
    return last !== undefined && last.only && last.lookup === this.#lookups - 1 ? [last] : []
  }
}

/** The position of a value in a folded text, as whole words. */
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

/** The position at which a text presents an entity: its name, or a value of a lookup's only result. */
const positionOf = ({ entity, only }: Seen, folded: string): number | undefined => {
  const byName = entity.displayName === undefined ? undefined : position(folded, entity.displayName)
  if (byName !== undefined) return byName
  if (!only) return undefined
  return cellsOf(entity)
    .map((cell) => position(folded, cell))
    .find((at) => at !== undefined)
}

/** Among namesakes, those with the most values in the text; all of them if the text repeats the name for each. */
const resolveNamesakes = (
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
