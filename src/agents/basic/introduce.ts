/** Finds the one person whom free text introduces, by name and all stated facts, or says that there is no match. */
import { PEOPLE } from "../../domain/EntityType.ts"
import { Unavailable } from "../../domain/errors.ts"
import type { Context } from "./readConversation.ts"
import type { Fact } from "./Fact.ts"
import { type Match, matchAmong, type MatchOutcome } from "./matchPerson.ts"
import { personTypes } from "./Lookup.ts"
import type { SpokenName } from "./readNames.ts"
import { eqName } from "./locate.ts"
import { apart, count, find, type Script, inParallel, UNREAD } from "./script.ts"
import { answerAbout, distinguishing } from "./describeSubject.ts"
import { among, amount, and, differing, numbered, offer, present, unclear, unreadable } from "./replies.ts"

interface Introduction {
  readonly names: ReadonlyArray<SpokenName>
  readonly facts: ReadonlyArray<Fact>
  readonly sure: boolean
  readonly what?: string
}

const MAX_PARALLEL = 6
const MAX_ALONE = 5
const MAX_SHOWN = 5

export function* introduce(introduction: Introduction, context: Context): Script<string> {
  const { facts, names } = introduction
  // An address or a number alone can be that of anything.
  const isAlone = names.length === 0 && facts.length === 1 && /^(email|phone)$/.test(facts[0]!.concept)
  const persons = personTypes(context)
  const types = isAlone ? [...new Set([...persons, ...context.types])].slice(0, MAX_ALONE) : persons
  const parallel = Math.floor(MAX_PARALLEL / types.length) - 1
  const found = yield* inParallel(types.map((type) => apart(matchAmong(type, names, facts, parallel))))
  const unread = types.filter((_, index) => found[index] === UNREAD)
  if (unread.length > 0 && unread.length === types.length) return Unavailable.error.message
  const outcomes = found.filter((outcome) => outcome !== UNREAD)
  const fits = isAlone ? outcomes.filter(({ fit }) => fit !== undefined) : []
  const all = fits.length > 1 ? fits.map((one) => [one]) : [outcomes]
  const answers = yield* inParallel(all.map((some) => answerBest(introduction, some, context)))
  return `${answers.join("\n")}${unreadable(unread)}`
}

/** Presents the best of the matches in several types. */
function* answerBest(
  introduction: Introduction,
  outcomes: ReadonlyArray<MatchOutcome>,
  context: Context
): Script<string> {
  const { facts, what } = introduction
  const best = outcomes
    .filter((outcome): outcome is MatchOutcome & { readonly fit: Match } => outcome.fit !== undefined)
    .sort((a, b) => b.fit.candidate.rank - a.fit.candidate.rank)[0]
  if (best === undefined)
    return (yield* isOther(introduction, outcomes, context))
      ? unclear(context)
      : notFound(introduction, outcomes, context)
  const { columns, fit, type, unchecked } = best
  const shown = distinguishing(type, columns, fit.by)
  const page = yield* find({ entityTypeId: type.id, filters: fit.filters, limit: MAX_SHOWN, selectColumns: shown })
  const [entity] = page?.entities ?? []
  if (page === undefined || entity === undefined) return notFound(introduction, outcomes, context)
  const aside = [
    ...(unchecked.length === 0
      ? []
      : [` I couldn't check ${and(unchecked.map(describeFact))}: that's not something I can look up for you.`]),
    ...(fit.dropped ?? []).map(({ said }) => ` I ignored “${said}”: I know of no person there.`)
  ].join("")
  if (page.total === 1) {
    if (what === undefined) return `${present(entity, type, columns, shown)}${offer(entity, columns, shown)}${aside}`
    const target = { _tag: "Target" as const, type, columns, filters: fit.filters, found: page, exact: true }
    return (yield* answerAbout(what)(target, context)) + aside
  }
  const few = page.total > page.entities.length ? ` The first ${page.entities.length}:` : ""
  const looked = describeAll(
    fit.candidate.name,
    facts.filter((fact) => fact.weight === "stated" && !unchecked.includes(fact))
  )
  const telltale = differing(page, shown).slice(0, 3)
  return `${amount(page)} people match ${looked}${among(page.limited, type)}.${few}\n${numbered(page, columns, telltale)}\nWhich one is it? Give me the number, or an e-mail address or phone number.${aside}`
}

/** Whether a name that is no person's is that of something else, such as a company: then the message isn't about a person. */
function* isOther({ names }: Introduction, outcomes: ReadonlyArray<MatchOutcome>, context: Context): Script<boolean> {
  const name = outcomes.flatMap(({ tried }) => tried)[0] ?? names[0]?.name
  const others = context.types.filter(({ id }) => id !== PEOPLE).slice(0, MAX_PARALLEL)
  if (name === undefined) return false
  const pages = yield* inParallel(others.map(({ id }) => apart(count({ entityTypeId: id, filters: eqName(name) }))))
  return pages.some((page) => page !== UNREAD && (page?.total ?? 0) > 0)
}

const FACTS: Readonly<Record<Fact["concept"], string>> = {
  email: "the e-mail address",
  phone: "the phone number",
  zip: "the zip code",
  city: "the town",
  state: "the state",
  address: "the address",
  handle: "the account"
}

const describeFact = ({ concept, said }: Fact): string => `${FACTS[concept]} ${said}`

const describeAll = (name: string | undefined, facts: ReadonlyArray<Fact>): string =>
  and([...(name === undefined ? [] : [`the name ${name}`]), ...facts.map(describeFact)])

const notFound = (
  { facts, names, sure }: Introduction,
  outcomes: ReadonlyArray<MatchOutcome>,
  context: Context
): string => {
  const name = outcomes.flatMap(({ tried }) => tried)[0] ?? names.find(({ rank }) => rank >= 2)?.name
  const firm = facts.filter(({ weight }) => weight === "stated")
  if (!sure || outcomes.length === 0 || (name === undefined && firm.length === 0)) return unclear(context)
  const limited = outcomes.find((outcome) => outcome.limited)
  const where = limited === undefined ? "" : among(true, limited.type)
  const checked = firm.filter((fact) => outcomes.some(({ unchecked }) => !unchecked.includes(fact)))
  if (firm.length > 0 && checked.length === 0 && names.length === 0) {
    return `I can't look people up by ${and(firm.map(describeFact))}. Give me a name, an e-mail address or a phone number.`
  }
  return firm.length === 0
    ? `I couldn't find ${name!}${where}. Check the spelling, or give me an e-mail address or phone number.`
    : `I found no person${where} who matches all of this: ${describeAll(name, firm)}. Check each of them, or give me an e-mail address or phone number instead.`
}
