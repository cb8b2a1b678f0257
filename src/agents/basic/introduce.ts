/** Finding the one person whom free text introduces: by name and by everything else that was stated, or saying that nobody fits it all. */
import { PEOPLE } from "../../domain/EntityType.ts"
import { foldText } from "../../domain/keys.ts"
import type { Context, ContextType } from "./readConversation.ts"
import type { Fact } from "./readFacts.ts"
import { type Match, matchAmong, type MatchOutcome } from "./matchPerson.ts"
import { PERSON_NOUNS } from "./lexicon.ts"
import type { SpokenName } from "./readNames.ts"
import { find, type Script, inParallel } from "./script.ts"
import { answerAbout, distinguishing } from "./describeSubject.ts"
import { among, amount, and, differing, numbered, offer, present, unclear } from "./replies.ts"

interface Introduction {
  readonly names: ReadonlyArray<SpokenName>
  readonly facts: ReadonlyArray<Fact>
  readonly sure: boolean
  readonly what?: string
}

const MAX_AT_ONCE = 6
const MAX_TYPES = 3
const MAX_SHOWN = 5

/** The types whose entities are persons: people, and the organization's own customers, users, … */
const personTypes = (context: Context): ReadonlyArray<ContextType> =>
  context.types
    .filter(({ id, name, plural }) => id === PEOPLE || [name, plural].some((word) => PERSON_NOUNS.has(foldText(word))))
    .slice(0, MAX_TYPES)

export function* introduce(introduction: Introduction, context: Context): Script<string> {
  const { facts, names, what } = introduction
  const types = personTypes(context)
  const atOnce = Math.floor(MAX_AT_ONCE / types.length) - 1
  const outcomes = yield* inParallel(types.map((type) => matchAmong(type, names, facts, atOnce)))
  const best = outcomes
    .filter((outcome): outcome is MatchOutcome & { readonly fit: Match } => outcome.fit !== undefined)
    .sort((a, b) => b.fit.candidate.rank - a.fit.candidate.rank)[0]
  if (best === undefined) return nobody(introduction, outcomes, context)
  const { columns, fit, type, unchecked } = best
  const shown = distinguishing(type, columns, fit.by)
  const page = yield* find({ entityTypeId: type.id, filters: fit.filters, limit: MAX_SHOWN, selectColumns: shown })
  const [entity] = page?.entities ?? []
  if (page === undefined || entity === undefined) return nobody(introduction, outcomes, context)
  const aside = [
    ...(unchecked.length === 0
      ? []
      : [` I couldn't check ${and(unchecked.map(sayFact))}: that's not something I can look up for you.`]),
    ...(fit.dropped ?? []).map(({ said }) => ` I left “${said}” aside: I know of nobody there.`)
  ].join("")
  if (page.total === 1) {
    if (what === undefined) return `${present(entity, type, columns, shown)}${offer(entity, columns, shown)}${aside}`
    const target = { _tag: "Target" as const, type, columns, filters: fit.filters, found: page, exact: true }
    return (yield* answerAbout(what)(target, context)) + aside
  }
  const few = page.total > page.entities.length ? ` The first ${page.entities.length}:` : ""
  const looked = sayAll(
    fit.candidate.name,
    facts.filter(({ weight }) => weight === "stated")
  )
  const telltale = differing(page, shown).slice(0, 3)
  return `${amount(page)} people fit ${looked}${among(page.limited, type)}.${few}\n${numbered(page, columns, telltale)}\nWhich one is it? Give me the number, or an e-mail address or phone number.${aside}`
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

const sayFact = ({ concept, said }: Fact): string => `${FACTS[concept]} ${said}`

const sayAll = (name: string | undefined, facts: ReadonlyArray<Fact>): string =>
  and([...(name === undefined ? [] : [`the name ${name}`]), ...facts.map(sayFact)])

const nobody = (
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
    return `I can't look anybody up by ${and(firm.map(sayFact))}. Give me a name, an e-mail address or a phone number.`
  }
  return firm.length === 0
    ? `I couldn't find ${name!}${where}. Check the spelling, or give me an e-mail address or phone number.`
    : `I found nobody${where} whom all of this fits: ${sayAll(name, firm)}. Check each of them, or give me an e-mail address or phone number instead.`
}
