/**
 * Whom names and facts fit, among the people of one type. A turn has few steps with few lookups in each, so the
 * likeliest reading of everything is tried at once, and each fact by itself only when nobody fits that.
 */
import type { Named, Page } from "../../domain/Page.ts"
import type { Filter } from "../../domain/Query.ts"
import { type Choice, factChoices } from "./filterChoices.ts"
import type { ContextType } from "./readConversation.ts"
import type { Fact } from "./readFacts.ts"
import { eqName, partly, both } from "./locate.ts"
import { type SpokenName, withApostrophe } from "./readNames.ts"
import { columnsOf, count, type Script, inParallel } from "./script.ts"

/** A name as it is looked for; without a name, whoever the facts fit. */
interface Candidate {
  readonly name?: string
  readonly rank: number
  readonly filters: ReadonlyArray<Filter>
}

/** Filters that somebody probably fits, and the columns that the facts were found in. */
export interface Match {
  readonly candidate: Candidate
  readonly filters: ReadonlyArray<Filter>
  readonly by: ReadonlyArray<string>
  /** What stood beside the name and is nobody's town. */
  readonly dropped?: ReadonlyArray<Fact>
}

/** What came of one type of persons. */
export interface MatchOutcome {
  readonly type: ContextType
  readonly columns: ReadonlyArray<Named>
  readonly fit?: Match
  /** Names that somebody has, whom not everything else fits. */
  readonly tried: ReadonlyArray<string>
  /** What was stated and can't be looked at here. */
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
/** Readings of what was mentioned that are tried to find out whether anybody has it. */
const MAX_READINGS = 2
const MAX_TRIES = 6

/** Looks for the introduced person among one type's; `atOnce` names are tried in the first step. */
export function* matchAmong(
  type: ContextType,
  names: ReadonlyArray<SpokenName>,
  facts: ReadonlyArray<Fact>,
  atOnce: number
): Script<MatchOutcome> {
  const ask: Ask = (filters) => count({ entityTypeId: type.id, filters })
  const [columns, pages] = yield* both(
    columnsOf(type.id),
    inParallel(names.slice(0, atOnce).map(({ name }) => ask(eqName(name))))
  )
  const checked = facts.map((fact) => ({ fact, choices: factChoices(fact, columns) }))
  const checkable = checked.filter(({ choices }) => choices.length > 0)
  const unchecked = checked.filter(({ choices, fact }) => choices.length === 0 && fact.weight === "stated").map(({ fact }) => fact) // prettier-ignore
  const clear = credible(names)
  const hits = names
    .slice(0, atOnce)
    .filter(({ rank }, index) => (pages[index]?.total ?? 0) > 0 && (!clear || rank >= 3))
    .map(({ name, rank }): Candidate => ({ name, rank, filters: eqName(name) }))
  const limited = pages.some((page) => page?.limited === true)
  const outcome = { type, columns, unchecked, limited, tried: hits.map(({ name }) => name!) }

  const candidates = hits.length > 0 ? hits : guesses(names, checkable, atOnce, clear)
  // Whom the message is about comes before whoever else it names.
  const top = candidates[0]?.rank ?? 0
  const meant = candidates.filter(({ rank }) => rank === top || top < 3)
  const tried = hits.length > 0 ? meant.slice(0, MAX_CANDIDATES) : meant
  // What is somebody's name isn't a town as well.
  const others = checkable.filter(
    ({ fact }) => fact.weight !== "mentioned" || !tried.some(({ name }) => name === fact.said)
  )
  const fit = yield* fitting(tried, others, ask)
  return fit === undefined ? outcome : { ...outcome, fit }
}

/** Nobody is called exactly as was said: further names, names with more parts or fewer, and whoever the facts fit. */
const guesses = (
  names: ReadonlyArray<SpokenName>,
  checkable: ReadonlyArray<Checkable>,
  atOnce: number,
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
    ...names.slice(atOnce).map(({ name, rank }) => ({ name, rank, filters: eqName(name) }))
  ]
  const own = stated.some((concept) => concept === "email" || concept === "phone" || concept === "handle")
  const placed = stated.some((concept) => concept === "zip" || concept === "address")
  const unnamed = own || (placed && !names.some(({ length, rank }) => rank >= 2 && length >= 2))
  return [
    ...named.filter(({ rank }) => !clear || rank >= 3).slice(0, MAX_OTHERS),
    ...(unnamed && !clear ? [{ rank: 2, filters: [] }] : [])
  ].sort((a, b) => b.rank - a.rank)
}

/** Whether somebody was named so clearly that nobody else in the message can be meant. */
const credible = (names: ReadonlyArray<SpokenName>): boolean =>
  names.some(({ capital, length, rank }) => rank >= 3 && length >= 2 && capital)

/** The first and last part of a name. */
const outer = (name: string): string => {
  const words = name.split(" ")
  return `${words[0]!} ${words.at(-1)!}`
}

const total = (page: Page | undefined): number => page?.total ?? 0
const columnsIn = (...choices: ReadonlyArray<Choice>) => [...new Set(choices.flat().map(({ columnId }) => columnId))]

/** The first candidate that everything stated fits, other readings of the facts included for the likeliest. */
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
      return { candidate, filters: narrowed ? [...filters, ...asides] : filters, by: columnsIn(firm, loose, narrowed ? asides : []) } // prettier-ignore
    }
    if (loose.length > 0 && nowhere && total(pages[1]) > 0 && candidate.filters.length + firm.length > 0) {
      const dropped = mentioned.map(({ fact }) => fact).filter(({ beside }) => beside === true)
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
    ? yield* eachAlone(candidate, [...stated, ...placed], ask)
    : undefined
}

/** Every reading of every fact by itself: a zip code with four more digits, a town that is a part of an address. */
function* eachAlone(candidate: Candidate, facts: ReadonlyArray<Checkable>, ask: Ask): Script<Match | undefined> {
  const tries = facts.map(({ choices }) => choices.slice(0, Math.max(1, Math.floor(MAX_TRIES / facts.length))))
  const pages = yield* inParallel(
    tries.map((choices) => inParallel(choices.map((choice) => ask([...candidate.filters, ...choice]))))
  )
  const held = tries.map((choices, index) => choices[pages[index]!.findIndex((page) => total(page) > 0)])
  if (held.length === 0 || held.some((choice) => choice === undefined)) return undefined
  const filters = held.flatMap((choice) => choice!)
  return { candidate, filters: [...candidate.filters, ...filters], by: columnsIn(filters) }
}
