/** Presents an entity, or answers one of its details. */
import { possessive, uncapitalized } from "../english.ts"
import { PEOPLE } from "../../domain/EntityType.ts"
import type { Named } from "../../domain/Page.ts"
import { columnsNamed, columnsFor, labelOf } from "./conceptColumns.ts"
import type { Focus, Context, ContextType } from "./readConversation.ts"
import type { Subject } from "./Intent.ts"
import type { Concept } from "./lexicon.ts"
import { byFocus, locate, type Missing, type Target } from "./locate.ts"
import { find, type Script, inParallel } from "./script.ts"
import { among, amount, and, called, cell, differing, nameOf, notForYou, numbered, offer, offerable, present, unclear } from "./replies.ts" // prettier-ignore

/** The columns that distinguish namesakes. */
const namesakeColumns = (type: ContextType, columns: ReadonlyArray<Named>): ReadonlyArray<string> =>
  type.id === "meetings"
    ? []
    : (["company", "city", "state", "zip", "owner"] as const).flatMap((concept) =>
        columnsFor(concept, columns).slice(0, 1)
      )

/** Composes the answer for the entity that was found. */
type Answering = (target: Target, context: Context) => Script<string>

const MAX_SHOWN = 5

/** The columns that distinguish entities of a type, most telling first. */
export const distinguishing = (
  type: ContextType,
  columns: ReadonlyArray<Named>,
  first: ReadonlyArray<string> = []
): ReadonlyArray<string> => {
  const concepts: ReadonlyArray<Concept> =
    type.id === PEOPLE
      ? ["company", "city", "phone", "email", "role", "zip", "owner"]
      : type.id === "meetings"
        ? ["date", "attendees", "company"]
        : ["date", "company", "owner", "city", "phone", "email"]
  const likely = concepts.flatMap((concept) => columnsFor(concept, columns).slice(0, 1))
  const rest = type.id === PEOPLE || type.id === "meetings" ? [] : columns.map(({ id }) => id)
  return [...new Set([...first, ...likely, ...rest])]
    .filter((id) => id !== "name" && id !== "status")
    .slice(0, MAX_SHOWN)
}

const presenting = (lead?: string): Answering =>
  function* (target) {
    const shown = distinguishing(target.type, target.columns)
    const page = yield* find({ entityTypeId: target.type.id, filters: target.filters, limit: 1, selectColumns: shown })
    const entity = page?.entities[0]
    if (entity === undefined) return notFound({ _tag: "Missing", name: "", type: target.type, limited: false })
    return `${present(entity, target.type, target.columns, shown, lead)}${offer(entity, target.columns, shown)}`
  }

const about = (what: string): Answering =>
  function* (target, context) {
    const asked = columnsNamed(what, target.columns).slice(0, what === "contact" ? 2 : 1)
    const own = what === "status" || what === "name" ? ["name"] : asked
    if (own.length === 0) return yield* noSuchColumn(target, context)
    const page = yield* find({ entityTypeId: target.type.id, filters: target.filters, limit: 1, selectColumns: own })
    const entity = page?.entities[0]
    if (entity === undefined) return notForYou(context)
    const name = nameOf(entity)
    const values = own
      .map((id) => ({ label: uncapitalized(labelOf(id, target.columns)), text: cell(entity.columns?.[id]) }))
      .filter(({ text }) => text !== "")
    if (what === "status") {
      return entity.status === undefined
        ? `I can't see a status for ${name}.`
        : `${possessive(name)} status is ${entity.status}.`
    }
    if (values.length === 0)
      return `I can't see ${article(uncapitalized(labelOf(own[0]!, target.columns)))} for ${name}.`
    return `${possessive(name)} ${and(values.map(({ label, text }) => `${label} ${isMany(label) ? "are" : "is"} ${text}`))}.`
  }

const isMany = (label: string): boolean => /[^us]s$/.test(label)

const article = (word: string): string => `${/^[aeio]/i.test(word) ? "an" : "a"} ${word}`

const noSuchColumn = function* (target: Target, context: Context): Script<string> {
  const page = yield* find({ entityTypeId: target.type.id, filters: target.filters, limit: 1 })
  const entity = page?.entities[0]
  if (entity === undefined) return notForYou(context)
  const there = offerable(target.columns).filter(({ id }) => id !== "name").slice(0, 6).map(({ name }) => uncapitalized(name)) // prettier-ignore
  const instead = there.length === 0 ? "" : ` For ${nameOf(entity)} you can ask for ${and(there, "or")}.`
  return `That's not something I can look up for you.${instead}`
}

/** One match: answers. Several: asks which one. */
function* settle(located: Target | Missing, context: Context, answering: Answering, me: boolean): Script<string> {
  if (located._tag === "Missing") return me ? meMissing(context) : notFound(located)
  if (located.found.total === 1) return yield* answering(located, context)
  return yield* choosing(located, context)
}

const meMissing = (context: Context): string =>
  context.person?.name === undefined ? notForYou(context) : `You're ${context.person.name}. I can't see more about you.`

/** Lists the first of several matches and asks which one. */
function* choosing(target: Target, context: Context, lead?: string, first: ReadonlyArray<string> = []): Script<string> {
  const { columns, filters, type } = target
  const chosen = distinguishing(type, columns, [...first, ...namesakeColumns(type, columns)])
  const page = yield* find({ entityTypeId: type.id, filters, limit: MAX_SHOWN, selectColumns: chosen })
  if (page === undefined || page.entities.length === 0) return notForYou(context)
  const shown = differing(page, chosen).slice(0, 3)
  const more = page.total > page.entities.length ? ` The first ${page.entities.length}:` : ""
  const head =
    lead ??
    `I found ${amount(page)} ${called(type.plural, type, page.total)}${target.exact ? " with that name" : ` with “${nameIn(filters)}” in the name`}${among(page.limited, type)}.`
  const narrower =
    page.total > page.entities.length
      ? " Give me the number, or tell me more, such as the full name."
      : " Give me the number."
  return `${head}${more}\n${numbered(page, columns, shown)}\nWhich one?${narrower}`
}

const nameIn = (filters: Target["filters"]): string =>
  filters.flatMap(({ columnId, value }) => (columnId === "name" ? [value] : [])).join(" ")

const notFound = ({ limited, name, type }: Missing): string => {
  const where = type === undefined || !limited ? "" : among(true, type)
  const whom = name === "" ? "that" : `“${name}”`
  const next =
    type?.id === PEOPLE && name.includes(" ")
      ? `Check the spelling, or try only the last name: “who is ${name.split(" ").at(-1)!}”.`
      : "Check the spelling, or try a part of the name."
  return `I couldn't find ${whom}${where}. ${next}`
}

/** Answers for the entity in focus; if there are several, asks which one. */
function* fromFocus(context: Context, answering: Answering, said: string): Script<string> {
  const focus = context.focus ?? []
  const people = focus.filter(({ type }) => type === PEOPLE)
  const personal = /phone|mail|mobile|contact/.test(said) && people.length > 0
  const meant: ReadonlyArray<Focus> = focus.length > 1 && (people.length === 1 || personal) ? people : focus
  if (meant.length === 0)
    return `Whom do you mean? Give me the name, such as “who is ${context.person?.name ?? "Ada Lovelace"}”.`
  if (meant.length > 1) {
    const found = yield* inParallel(meant.slice(0, MAX_SHOWN).map((one) => byFocus(one, context)))
    const there = found.flatMap((one) => (one._tag === "Target" ? [one] : []))
    const pages = yield* inParallel(
      there.map(({ filters, type }) => find({ entityTypeId: type.id, filters, limit: 1 }))
    )
    const names = pages
      .flatMap((page) => page?.entities ?? [])
      .map((entity, index) => `${index + 1}. ${nameOf(entity)}`)
    return names.length === 0 ? unclear(context) : `Which one do you mean?\n${names.join("\n")}\nGive me the number.`
  }
  const located = yield* byFocus(meant[0]!, context)
  return located._tag === "Missing" ? notFound(located) : yield* answering(located, context)
}

const answeringFor = (what: string | undefined): Answering => (what === undefined ? presenting() : about(what))

/** Presents a subject, or answers a detail of it. */
export function* describe(subject: Subject, context: Context, what?: string): Script<string> {
  if (subject._tag === "Focus") return yield* fromFocus(context, answeringFor(what), what ?? "")
  const me = subject._tag === "Me"
  const answering =
    what === undefined ? presenting(me ? `You're ${context.person?.name ?? ""}` : undefined) : about(what)
  return yield* settle(yield* locate(subject, context), context, answering, me)
}

/** Answers for the entity in focus that was chosen by number, from 1; 0 is the last one. */
export function* describeChosen(index: number, context: Context, what?: string): Script<string> {
  const focus = context.focus ?? []
  const chosen = index === 0 ? focus.at(-1) : focus[index - 1]
  if (focus.length === 0) return "There is nothing to choose from yet. Ask me about a person first."
  if (chosen === undefined)
    return `There ${focus.length === 1 ? "was only one" : `were only ${focus.length}`}. Which one do you mean?`
  const located = yield* byFocus(chosen, context)
  return located._tag === "Missing" ? notFound(located) : yield* answeringFor(what)(located, context)
}

export { about as answerAbout }
