/**
 * Matches names and facts against the people of one type. A turn has few steps with few lookups each, so the most likely
 * reading of all facts is tried first, in parallel, and single facts only if that has no match.
 */
import type { Named, Page } from "../../domain/Page.ts"
import type { Filter } from "../../domain/Query.ts"
import type { Choice } from "./Choice.ts"
import { factChoices } from "./filterChoices.ts"
import type { ContextType } from "./readConversation.ts"
import type { Fact } from "./Fact.ts"
import { eqName, partly, both } from "./locate.ts"
import { type SpokenName, withApostrophe } from "./readNames.ts"
import { columnsOf, count, type Script, inParallel } from "./script.ts"

/** A name to try; without a name, the facts alone select the person. */
interface Candidate {
  readonly name?: string
  readonly rank: number
  readonly filters: ReadonlyArray<Filter>
}

/** Filters with at least one match, and the columns of the facts in them. */
export interface Match {
  readonly candidate: Candidate
  readonly filters: ReadonlyArray<Filter>
  readonly by: ReadonlyArray<string>
  /** Ignored words after the name that are not a town in the data. */
  readonly dropped?: ReadonlyArray<Fact>
}

/** The outcome for one type. */
export interface MatchOutcome {
  readonly type: ContextType
  readonly columns: ReadonlyArray<Named>
  readonly fit?: Match
  /** Names that exist in the data. */
  readonly tried: ReadonlyArray<string>
  /** Stated facts for which there is no visible column. */
  readonly unchecked: ReadonlyArray<Fact>
  readonly limited: boolean
}

type Ask = (filters: ReadonlyArray<Filter>) => Script<Page | undefined>

interface Checkable {
  readonly fact: Fact
  readonly choices: ReadonlyArray<Choice>
}

const MAX_CANDIDATES = 2
const MAX_OTHERS = 4
const MAX_MENTIONED = 2
/** Readings of a mentioned fact that are counted to find out whether any row has it. */
const MAX_READINGS = 2
const MAX_TRIES = 6

/** Finds the introduced person in one type; the first step tries `parallel` names. */
export function* matchAmong(
  type: ContextType,
  names: ReadonlyArray<SpokenName>,
  facts: ReadonlyArray<Fact>,
  parallel: number
): Script<MatchOutcome> {
  const ask: Ask = (filters) => count({ entityTypeId: type.id, filters })
  const [columns, pages] = yield* both(
    columnsOf(type.id),
    inParallel(names.slice(0, parallel).map(({ name }) => ask(eqName(name))))
  )
  const checked = facts.map((fact) => ({ fact, choices: factChoices(fact, columns) }))
  const checkable = checked.filter(({ choices }) => choices.length > 0)
  const unchecked = checked
    .filter(({ choices, fact }) => choices.length === 0 && fact.weight === "stated")
    .map(({ fact }) => fact)
  const clear = credible(names)
  const hits = names
    .slice(0, parallel)
    .filter(({ rank }, index) => (pages[index]?.total ?? 0) > 0 && (!clear || rank >= 3))
    .map(({ name, rank }): Candidate => ({ name, rank, filters: eqName(name) }))
  const limited = pages.some((page) => page?.limited === true)
  const outcome = { type, columns, unchecked, limited, tried: hits.map(({ name }) => name!) }

  const candidates = hits.length > 0 ? hits : guesses(names, checkable, parallel, clear)
  // The person whom the message is about precedes other people that it names.
  const top = candidates[0]?.rank ?? 0
  const meant = candidates.filter(({ rank }) => rank === top || top < 3)
  const tried = hits.length > 0 ? meant.slice(0, MAX_CANDIDATES) : meant
  // A word that is part of the name is not also a town.
  const others = checkable.filter(
    ({ fact }) => fact.weight !== "mentioned" || !tried.some(({ name }) => name === fact.said)
  )
  const fit = yield* fitting(tried, others, ask)
  return fit === undefined ? outcome : { ...outcome, fit }
}

/** Further candidates if no name matches exactly: other names, longer and shorter forms, and the facts alone. */
const guesses = (
  names: ReadonlyArray<SpokenName>,
  checkable: ReadonlyArray<Checkable>,
  parallel: number,
  clear: boolean
): ReadonlyArray<Candidate> => {
  const stated = checkable.filter(({ fact }) => fact.weight === "stated").map(({ fact }) => fact.concept)
  const sure = names.filter(({ rank }) => rank >= 3 || stated.length > 0 || (rank === 2 && checkable.length > 0))
  const shorter = stated.length === 0 ? [] : names.filter(({ length, rank }) => length >= 3 && rank >= 3)
  const named: ReadonlyArray<Candidate> = [
    ...shorter.slice(0, 1).map(({ name, rank }) => ({ name: outer(name), rank, filters: eqName(outer(name)) })),
    ...sure.slice(0, 2).flatMap(({ name, rank }) => {
      const other = withApostrophe(name)
      return other === undefined ? [] : [{ name: other, rank, filters: eqName(other) }]
    }),
    ...sure.slice(0, 2).map(({ name, rank }) => ({ name, rank, filters: partly(name) })),
    ...names.slice(parallel).map(({ name, rank }) => ({ name, rank, filters: eqName(name) }))
  ]
  const own = stated.some((concept) => concept === "email" || concept === "phone" || concept === "handle")
  const placed = stated.some((concept) => concept === "zip" || concept === "address")
  const unnamed = own || (placed && !names.some(({ length, rank }) => rank >= 2 && length >= 2))
  return [
    ...named.filter(({ rank }) => !clear || rank >= 3).slice(0, MAX_OTHERS),
    ...(unnamed && !clear ? [{ rank: 2, filters: [] }] : [])
  ].sort((a, b) => b.rank - a.rank)
}

/** Whether a name is so clear that other names in the message are ignored. */
const credible = (names: ReadonlyArray<SpokenName>): boolean =>
  names.some(({ capital, length, rank }) => rank >= 3 && length >= 2 && capital)

/** The first and last part of a name. */
const outer = (name: string): string => {
  const words = name.split(" ")
  return `${words[0]!} ${words.at(-1)!}`
}

const total = (page: Page | undefined): number => page?.total ?? 0
const columnsIn = (...choices: ReadonlyArray<Choice>) => [...new Set(choices.flat().map(({ columnId }) => columnId))]

/** The first candidate that matches every stated fact; the most likely one also with other readings of the facts. */
function* fitting(
  candidates: ReadonlyArray<Candidate>,
  checkable: ReadonlyArray<Checkable>,
  ask: Ask
): Script<Match | undefined> {
  const of = (weight: Fact["weight"]) => checkable.filter(({ fact }) => fact.weight === weight)
  const stated = of("stated")
  const mentioned = of("mentioned").slice(0, MAX_MENTIONED)
  const first = (parts: ReadonlyArray<Checkable>) => parts.flatMap(({ choices }) => choices[0]!)
  const [firm, loose, asides] = [first(stated), first(mentioned), candidates.length === 1 ? first(of("aside")) : []]
  const [elsewhere, ...tries] = yield* inParallel([
    inParallel(mentioned.flatMap(({ choices }) => choices.slice(0, MAX_READINGS).map(ask))),
    ...candidates.map(({ filters }) =>
      inParallel([
        ask([...filters, ...firm, ...loose]),
        ...(loose.length > 0 ? [ask([...filters, ...firm])] : []),
        ...(asides.length > 0 ? [ask([...filters, ...firm, ...loose, ...asides])] : [])
      ])
    )
  ])
  const nowhere = elsewhere!.every((page) => total(page) === 0)
  for (const [index, candidate] of candidates.entries()) {
    const pages = tries[index]!
    const filters = [...candidate.filters, ...firm, ...loose]
    if (filters.length === 0) continue
    if (total(pages[0]) > 0) {
      const narrowed = total(pages[0]) > 1 && asides.length > 0 && total(pages.at(-1)) === 1
      return {
        candidate,
        filters: narrowed ? [...filters, ...asides] : filters,
        by: columnsIn(firm, loose, narrowed ? asides : [])
      }
    }
    if (loose.length > 0 && nowhere && total(pages[1]) > 0 && candidate.filters.length + firm.length > 0) {
      const dropped = mentioned.map(({ fact }) => fact).filter(({ followsName }) => followsName === true)
      return { candidate, filters: [...candidate.filters, ...firm], by: columnsIn(firm), dropped }
    }
  }
  const [candidate] = candidates
  let at = 0
  const placed = mentioned.filter(({ choices }) => {
    const own = elsewhere!.slice(at, (at += Math.min(MAX_READINGS, choices.length)))
    return own.some((page) => total(page) > 0)
  })
  return candidate !== undefined && stated.length + placed.length > 0
    ? yield* separately(candidate, [...stated, ...placed], ask)
    : undefined
}

/** Tries every reading of every fact separately: a zip code with four more digits, a town inside an address. */
function* separately(candidate: Candidate, facts: ReadonlyArray<Checkable>, ask: Ask): Script<Match | undefined> {
  const tries = facts.map(({ choices }) => choices.slice(0, Math.max(1, Math.floor(MAX_TRIES / facts.length))))
  const pages = yield* inParallel(
    tries.map((choices) => inParallel(choices.map((choice) => ask([...candidate.filters, ...choice]))))
  )
  const held = tries.map((choices, index) => choices[pages[index]!.findIndex((page) => total(page) > 0)])
  if (held.length === 0 || held.some((choice) => choice === undefined)) return undefined
  const filters = held.flatMap((choice) => choice!)
  return { candidate, filters: [...candidate.filters, ...filters], by: columnsIn(filters) }
}
