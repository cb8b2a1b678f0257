/** Finding the one person whom free text introduces: by name and by everything else that was stated, or saying that nobody fits it all. */
import { PEOPLE } from "../../domain/EntityType.ts"
import { foldText } from "../../domain/keys.ts"
import type { Named, Page } from "../../domain/Page.ts"
import type { Filter } from "../../domain/Query.ts"
import { type Choice, choicesOfFact } from "./bind.ts"
import type { Known, KnownType } from "./conversation.ts"
import type { Fact } from "./facts.ts"
import { PERSON_NOUNS } from "./lexicon.ts"
import { eqName, partly, side, type Target } from "./locate.ts"
import type { SpokenName } from "./names.ts"
import { columnsOf, count, type Script, together } from "./script.ts"
import { answerAbout, choosing, presenting } from "./who.ts"
import { among, amount, and, unclear } from "./words.ts"

interface Introduction {
  readonly names: ReadonlyArray<SpokenName>
  readonly facts: ReadonlyArray<Fact>
  readonly sure: boolean
  readonly what?: string
}

/** A name as it is looked for; without filters, whoever the facts fit. */
interface Candidate {
  readonly name?: string
  readonly rank: number
  readonly filters: ReadonlyArray<Filter>
}

interface Fit {
  readonly candidate: Candidate
  readonly filters: ReadonlyArray<Filter>
  readonly found: Page | undefined
  /** Columns that the facts were found in. */
  readonly by: ReadonlyArray<string>
}

/** What came of one type of persons. */
interface Outcome {
  readonly type: KnownType
  readonly columns: ReadonlyArray<Named>
  readonly fit?: Fit
  /** Names that somebody has, whom not everything else fits. */
  readonly tried: ReadonlyArray<string>
  readonly unchecked: ReadonlyArray<Fact>
  readonly limited: boolean
}

/** A turn has few steps with few lookups in each: the likeliest names go first. */
const MAX_AT_ONCE = 6
const MAX_FURTHER = 3
const MAX_CANDIDATES = 2
const MAX_TYPES = 3

/** The types whose entities are persons: people, and the organization's own customers, users, … */
const personTypes = (known: Known): ReadonlyArray<KnownType> =>
  known.types
    .filter(({ id, name, plural }) => id === PEOPLE || [name, plural].some((word) => PERSON_NOUNS.has(foldText(word))))
    .slice(0, MAX_TYPES)

export function* introduce(introduction: Introduction, known: Known): Script<string> {
  const types = personTypes(known)
  const outcomes = yield* together(
    types.map((type) => within(type, introduction, Math.floor(MAX_AT_ONCE / types.length) - 1))
  )
  const fitting = outcomes.filter(({ fit }) => (fit?.found?.total ?? 0) > 0)
  const best = fitting.sort((a, b) => b.fit!.candidate.rank - a.fit!.candidate.rank)[0]
  if (best?.fit === undefined) return nobody(introduction, outcomes, known)
  const { columns, fit, type, unchecked } = best
  const target: Target = { _tag: "Target", type, columns, filters: fit.filters, found: fit.found!, exact: true }
  const aside =
    unchecked.length === 0
      ? ""
      : ` I couldn't check ${and(unchecked.map(sayFact))}: that's not something I can look up for you.`
  if (fit.found!.total === 1) {
    const answering = introduction.what === undefined ? presenting("", fit.by) : answerAbout(introduction.what)
    return (yield* answering(target, known)) + aside
  }
  const lead = `I found ${amount(fit.found!)} people that this fits: ${sayAll(fit.candidate.name, introduction.facts)}${among(best.limited, type)}.`
  return (yield* choosing(target, known, lead, fit.by)) + aside
}

/** Looks for the introduced person among one type's. */
function* within(type: KnownType, { facts, names }: Introduction, atOnce: number): Script<Outcome> {
  const ask = (filters: ReadonlyArray<Filter>) => count({ entityTypeId: type.id, filters })
  const [columns, first] = yield* side(
    columnsOf(type.id),
    together(names.slice(0, atOnce).map(({ name }) => ask(eqName(name))))
  )
  const stated = facts.filter(({ weight }) => weight === "stated")
  const known = facts.map((fact) => ({ fact, choices: choicesOfFact(fact, columns) }))
  const unchecked = known
    .filter(({ choices, fact }) => choices.length === 0 && fact.weight === "stated")
    .map(({ fact }) => fact)
  const checkable = known.filter(({ choices }) => choices.length > 0)

  let candidates = hits(names, first, eqName)
  const limited = first.some((page) => page?.limited === true)
  if (credible(names) && !candidates.some(({ rank }) => rank >= 3)) candidates = []
  if (candidates.length === 0 && names.length > 0) {
    // Nobody is called exactly so: further names, names with more parts than were said, or one part fewer.
    const shorter = stated.length === 0 ? [] : names.filter(({ length, rank }) => length >= 3 && rank >= 3).map((one) => ({ ...one, name: outer(one.name) })) // prettier-ignore
    const further = [...shorter, ...names.slice(atOnce)].slice(0, MAX_FURTHER)
    const partial = names.filter(({ length, rank }) => length >= 2 || rank >= 3).slice(0, MAX_FURTHER)
    const [exact, parts] = yield* side(
      together(further.map(({ name }) => ask(eqName(name)))),
      together(partial.map(({ name }) => ask(partly(name))))
    )
    const more = hits(further, exact, eqName)
    candidates =
      more.length > 0 && (!credible(names) || more.some(({ rank }) => rank >= 3)) ? more : hits(partial, parts, partly)
    if (credible(names)) candidates = candidates.filter(({ rank }) => rank >= 3)
  }
  const outcome = { type, columns, unchecked, limited, tried: candidates.flatMap(({ name }) => name ?? []) }
  if (candidates.length === 0) {
    const identifying = checkable.some(
      ({ fact }) => fact.weight === "stated" && fact.concept !== "city" && fact.concept !== "state"
    )
    if (credible(names) || !identifying) return outcome
    candidates = [{ rank: 2, filters: [] }]
  }
  // Whom the message is about comes before whoever else it names.
  const top = candidates[0]!.rank
  const meant = candidates.filter(({ rank }) => rank === top || top < 3).slice(0, MAX_CANDIDATES)
  const fits = yield* together(meant.map((candidate) => fitting(candidate, checkable, ask)))
  const fit = fits.find(({ found }) => (found?.total ?? 0) > 0)
  return fit === undefined ? outcome : { ...outcome, fit }
}

const hits = (
  names: ReadonlyArray<SpokenName>,
  pages: ReadonlyArray<Page | undefined>,
  filters: (name: string) => ReadonlyArray<Filter>
): ReadonlyArray<Candidate> =>
  names
    .flatMap(({ length, name, rank }, index) =>
      (pages[index]?.total ?? 0) > 0 ? [{ length, name, rank, filters: filters(name) }] : []
    )
    .sort((a, b) => b.rank - a.rank)

/** Whether somebody was named so clearly that nobody else in the message can be meant. */
const credible = (names: ReadonlyArray<SpokenName>): boolean =>
  names.some(
    ({ length, name, rank }) => rank >= 3 && length >= 2 && name.split(" ").every((word) => /^\P{L}*\p{Lu}/u.test(word))
  )

/** The first and last part of a name. */
const outer = (name: string): string => {
  const words = name.split(" ")
  return `${words[0]!} ${words.at(-1)!}`
}

type Ask = (filters: ReadonlyArray<Filter>) => Script<Page | undefined>
interface Checkable {
  readonly fact: Fact
  readonly choices: ReadonlyArray<Choice>
}

/** Tries what is stated on the people of a name: the likeliest meaning of all of it at once, else each by itself. */
function* fitting(candidate: Candidate, checkable: ReadonlyArray<Checkable>, ask: Ask): Script<Fit> {
  const likeliest = checkable.map(({ choices, fact }) => ({ fact, choice: choices[0]! }))
  const whole = yield* fitted(candidate, likeliest, ask)
  if ((whole.found?.total ?? 0) > 0 || checkable.length === 0) return whole
  const pages = yield* together(
    checkable.flatMap(({ choices, fact }) => [
      ...choices.map((choice) => ask([...candidate.filters, ...choice])),
      ...(fact.weight === "mentioned" ? choices.slice(0, 2).map((choice) => ask(choice)) : [])
    ])
  )
  const held: Array<Held> = []
  let at = 0
  for (const { choices, fact } of checkable) {
    const own = pages.slice(at, (at += choices.length))
    const anywhere = fact.weight === "mentioned" ? pages.slice(at, (at += choices.slice(0, 2).length)) : []
    const choice = choices[own.findIndex((page) => (page?.total ?? 0) > 0)]
    if (choice !== undefined) held.push({ fact, choice })
    else if (fact.weight === "stated" || anywhere.some((page) => (page?.total ?? 0) > 0)) return whole
  }
  return yield* fitted(candidate, held, ask)
}

interface Held {
  readonly fact: Fact
  readonly choice: Choice
}

/** All that has to fit, and with what was only said aside when that leaves one of several. */
function* fitted(candidate: Candidate, held: ReadonlyArray<Held>, ask: Ask): Script<Fit> {
  const firm = held.filter(({ fact }) => fact.weight !== "aside").flatMap(({ choice }) => choice)
  const loose = held.filter(({ fact }) => fact.weight === "aside").flatMap(({ choice }) => choice)
  const filters = [...candidate.filters, ...firm]
  const by = [...new Set([...firm, ...loose].map(({ columnId }) => columnId))].slice(0, 3)
  if (filters.length === 0) return { candidate, filters, found: undefined, by }
  const [found, narrower] = yield* together([ask(filters), ...(loose.length > 0 ? [ask([...filters, ...loose])] : [])])
  return (found?.total ?? 0) > 1 && narrower?.total === 1
    ? { candidate, filters: [...filters, ...loose], found: narrower, by }
    : { candidate, filters, found, by: by.filter((id) => firm.some(({ columnId }) => columnId === id)) }
}

const FACTS: Readonly<Record<Fact["concept"], string>> = {
  email: "the e-mail address",
  phone: "the phone number",
  zip: "the zip code",
  city: "the town",
  state: "the state",
  address: "the address",
  handle: "the number or name"
}

const sayFact = ({ concept, said }: Fact): string => `${FACTS[concept]} ${said}`

const sayAll = (name: string | undefined, facts: ReadonlyArray<Fact>): string =>
  and([
    ...(name === undefined ? [] : [`the name ${name}`]),
    ...facts.filter(({ weight }) => weight !== "aside").map(sayFact)
  ])

const nobody = ({ facts, names, sure }: Introduction, outcomes: ReadonlyArray<Outcome>, known: Known): string => {
  if (!sure || outcomes.length === 0) return unclear(known)
  const name = outcomes.flatMap(({ tried }) => tried)[0] ?? names.find(({ rank }) => rank >= 2)?.name
  const stated = facts.filter(({ weight }) => weight === "stated")
  const limited = outcomes.find((outcome) => outcome.limited)
  if (name === undefined && stated.length === 0) return unclear(known)
  const where = limited === undefined ? "" : among(true, limited.type)
  const looked = sayAll(name, stated)
  return stated.length === 0
    ? `I couldn't find ${name ?? "that person"}${where}. Check the spelling, or give me an e-mail address or phone number.`
    : `I found nobody${where} whom all of this fits: ${looked}. Check each of them, or give me an e-mail address or phone number instead.`
}
