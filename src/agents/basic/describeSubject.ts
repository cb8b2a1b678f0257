/** Presents an entity, or answers one of its details. */
import { possessive, uncapitalized } from "../english.ts"
import { PEOPLE } from "../../domain/EntityType.ts"
import type { Named, Page } from "../../domain/Page.ts"
import { columnsNamed, columnsFor, labelOf } from "./conceptColumns.ts"
import type { Focus, Context, ContextType } from "./readConversation.ts"
import { Unavailable } from "../../domain/errors.ts"
import type { Subject } from "./Intent.ts"
import { COMMON_WORDS, type Concept, PARTICLES } from "./lexicon.ts"
import { personTypes } from "./Lookup.ts"
import { byFocus, eqName, locate, type Missing, type Target } from "./locate.ts"
import { apart, count, find, type Script, inParallel, UNREAD } from "./script.ts"
import { withWords } from "./nameAndColumn.ts"
import { DONE } from "./shorthand.ts"
import { suggestion } from "./suggest.ts"
import { tokenize, written } from "./tokenize.ts"
import {
  among,
  amount,
  and,
  called,
  cell,
  differing,
  nameOf,
  notForYou,
  numbered,
  offer,
  offerable,
  present,
  unclear,
  unreadable
} from "./replies.ts"

/** The columns that distinguish namesakes. */
const namesakeColumns = (type: ContextType, columns: ReadonlyArray<Named>): ReadonlyArray<string> =>
  type.id === "meetings"
    ? []
    : (["company", "city", "state", "zip", "owner"] as const).flatMap((concept) =>
        columnsFor(concept, columns).slice(0, 1)
      )

/** Composes the answer for the entity that was found. */
export type Answering = (target: Target, context: Context) => Script<string>

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
    const wanted = what
      .split(" and ")
      .map((one) => columnsNamed(one, target.columns).slice(0, one === "contact" ? 2 : 1))
    const own = what === "status" || what === "name" ? ["name"] : wanted.flat()
    if (what !== "status" && what !== "name" && wanted.some((columns) => columns.length === 0))
      return yield* noSuchColumn(target, context)
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
    // Of several details that are asked for, one without a value is named, too.
    const lacking = wanted.filter((ids) => ids.every((id) => cell(entity.columns?.[id]) === ""))
    const lacks = lacking.map((ids) => article(uncapitalized(labelOf(ids[0]!, target.columns))))
    const rest = lacks.length === 0 ? "" : ` I can't see ${and(lacks, "or")} for ${name}.`
    return `${possessive(name)} ${and(values.map(({ label, text }) => `${label} ${isMany(label) ? "are" : "is"} ${text}`))}.${rest}`
  }

const isMany = (label: string): boolean => /[^us]s$/.test(label)

const article = (word: string): string => `${isMany(word) ? "any" : /^[aeio]/i.test(word) ? "an" : "a"} ${word}`

const noSuchColumn = function* (target: Target, context: Context): Script<string> {
  const page = yield* find({ entityTypeId: target.type.id, filters: target.filters, limit: 1 })
  const entity = page?.entities[0]
  if (entity === undefined) return notForYou(context)
  return `That's not something I can look up for you.${askFor(target.columns, ` For ${nameOf(entity)} you`)}`
}

const askFor = (columns: ReadonlyArray<Named>, who = " You"): string => {
  const there = offerable(columns)
    .filter(({ id }) => id !== "name")
    .slice(0, 6)
    .map(({ name }) => uncapitalized(name))
  return there.length === 0 ? "" : `${who} can ask for ${and(there, "or")}.`
}

/** One match: answers. Several: asks which one. */
export function* settle(
  located: Target | Missing,
  context: Context,
  answering: Answering,
  me: boolean
): Script<string> {
  if (located._tag === "Missing" && located.unavailable === true) return Unavailable.error.message
  return `${yield* settled(located, context, answering, me)}${unreadable(located.unread ?? [])}`
}

function* settled(located: Target | Missing, context: Context, answering: Answering, me: boolean): Script<string> {
  if (located._tag === "Missing") return me ? meMissing(context) : yield* missing(located, context)
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

/** Words that are no name: then the question was not understood, rather than a person not found. */
const isNoName = (name: string): boolean =>
  tokenize(name).some(
    ({ capital, word }) =>
      !capital && ((COMMON_WORDS.has(word) && !PARTICLES.has(word)) || (name.includes(" ") && DONE[word] !== undefined))
  )

/** The reply for a name without a match, with a name like it if there is one. */
function* missing(target: Missing, context: Context): Script<string> {
  if (isNoName(target.name)) return unclear(context)
  const persons = personTypes(context).map(({ id }) => id)
  const types = [...(target.type === undefined ? [] : [target.type.id]), ...persons, "companies"]
  const near = target.name === "" ? undefined : yield* suggestion(tokenize(target.name), [...new Set(types)], context)
  return near === undefined ? notFound(target) : notFound(target, near)
}

const notFound = ({ limited, name, type }: Missing, near?: string): string => {
  const where = type === undefined || !limited ? "" : among(true, type)
  const whom = name === "" ? "that" : `“${name}”`
  if (near !== undefined) return `I couldn't find ${whom}${where}. Did you mean ${near}?`
  const next =
    type?.id === PEOPLE && name.includes(" ")
      ? `Check the spelling, or try only the last name: “who is ${name.split(" ").at(-1)!}”.`
      : "Check the spelling, or try a part of the name."
  return `I couldn't find ${whom}${where}. ${next}`
}

/** Answers for the entity in focus; if there are several, asks which one. */
export function* fromFocus(context: Context, answering: Answering, said: string): Script<string> {
  const focus = context.focus ?? []
  const people = focus.filter(({ type }) => type === PEOPLE)
  const personal = /phone|mail|mobile|contact/.test(said) && people.length > 0
  // "When was it" after the one meeting with someone.
  const others = DATED.test(said) ? focus.filter(({ type }) => type !== PEOPLE) : []
  const meant: ReadonlyArray<Focus> =
    others.length > 0 ? others : focus.length > 1 && (people.length === 1 || personal) ? people : focus
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

/** What a meeting has, and people don't. */
const DATED = /^(?:when|date|time|start|end|attendees|length|duration)\b/

/** Of several that are called so, a detail that none of them has needs no choice. */
const lacks = (located: Target | Missing, what: string | undefined): located is Target =>
  located._tag === "Target" &&
  located.found.total > 1 &&
  what !== undefined &&
  what !== "status" &&
  what.split(" and ").some((one) => columnsNamed(one, located.columns).length === 0)

const answeringFor = (what: string | undefined): Answering => (what === undefined ? presenting() : about(what))

/** Presents a subject, or answers a detail of it. */
export function* describe(subject: Subject, context: Context, what?: string): Script<string> {
  if (subject._tag === "Focus") return yield* fromFocus(context, answeringFor(what), what ?? "")
  const me = subject._tag === "Me"
  const answering =
    what === undefined ? presenting(me ? `You're ${context.person?.name ?? ""}` : undefined) : about(what)
  const located = yield* locate(subject, context)
  const apart = located._tag === "Missing" ? yield* withWords(subject, context) : undefined
  if (apart !== undefined)
    return apart.what === undefined || what !== undefined
      ? unclear(context)
      : yield* settle(apart.target, context, about(apart.what), me)
  if (lacks(located, what)) return `That's not something I can look up for you.${askFor(located.columns)}`
  return yield* settle(located, context, answering, me)
}

/** Answers for the entity in focus that was chosen by number, from 1; 0 is the last one. */
export function* describeChosen(index: number, context: Context, what?: string): Script<string> {
  const focus = context.focus ?? []
  const chosen = index === 0 ? focus.at(-1) : focus[index - 1]
  if (focus.length === 0) return "There is nothing to choose from yet. Ask me about a person first."
  // "The last one" of a list that may go on.
  if (index === 0 && focus.length >= MAX_SHOWN) return "Which one do you mean? Give me the number."
  if (chosen === undefined) return `I named only ${focus.length === 1 ? "one" : focus.length}. Which one do you mean?`
  const located = yield* byFocus(chosen, context)
  return located._tag === "Missing" ? notFound(located) : yield* answeringFor(what)(located, context)
}

/** Two subjects, unless one is called by both names: "Smith and Sons". */
export function* several(
  subjects: ReadonlyArray<Subject>,
  whole: Subject,
  context: Context,
  what?: string
): Script<string> {
  if (subjects.length > MAX_SUBJECTS || subjects.some(({ _tag }) => _tag !== "Named") || whole._tag !== "Named")
    return `I can look up two at a time. Ask me about one: “who is ${whole._tag === "Named" ? written(whole.tokens.slice(0, 2)) : ""}”.`
  type Found = ReadonlyArray<Page | typeof UNREAD | undefined>
  const [pages, ...located] = yield* inParallel<Found | Target | Missing>([
    inParallel(
      context.types
        .slice(0, 2)
        .map(({ id }) => apart(count({ entityTypeId: id, filters: eqName(written(whole.tokens)) })))
    ),
    ...subjects.map((subject) => locate(subject as Exclude<Subject, { _tag: "Focus" }>, context))
  ])
  if ((pages as Found).some((page) => page !== UNREAD && (page?.total ?? 0) > 0))
    return yield* describe(whole, context, what)
  const answers = yield* inParallel(
    (located as ReadonlyArray<Target | Missing>).map((one) => settle(one, context, answeringFor(what), false))
  )
  return answers.join("\n")
}
const MAX_SUBJECTS = 2

/** A detail of the entity that a reference leads to. */
export function* describeVia(subject: Subject, via: string, what: string, context: Context): Script<string> {
  const answering: Answering = function* (target) {
    const [column] = columnsNamed(via, target.columns)
    if (column === undefined) return yield* noSuchColumn(target, context)
    const page = yield* find({
      entityTypeId: target.type.id,
      filters: target.filters,
      limit: 1,
      selectColumns: [column]
    })
    const next = page?.entities[0]?.columns?.[column] as { readonly id?: string; readonly name?: string } | undefined
    if (next?.name === undefined || next.id === undefined)
      return `I can't see ${article(via)} for ${nameOf(page!.entities[0]!)}.`
    const types = context.types.filter(({ id }) => id === "companies" || id === PEOPLE)
    const type =
      types.find(({ id }) => (id === PEOPLE) === columnsFor("owner", target.columns).includes(column)) ?? types[0]
    if (type === undefined) return notForYou(context)
    const located = yield* byFocus({ type: type.id, id: next.id, name: next.name }, context)
    return located._tag === "Missing" ? unclear(context) : yield* about(what)(located, context)
  }
  if (subject._tag === "Focus") return yield* fromFocus(context, answering, "")
  return yield* settle(yield* locate(subject, context), context, answering, subject._tag === "Me")
}

export { about as answerAbout }
