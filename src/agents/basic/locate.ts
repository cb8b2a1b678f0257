/** Locates the subject of a question by exact name, then by the name's parts, in the most likely type first. */
import type { Named, Page } from "../../domain/Page.ts"
import { plainValue } from "../../domain/valueList.ts"
import { town } from "./filterChoices.ts"
import type { Focus, Context, ContextType } from "./readConversation.ts"
import type { Filter } from "../../domain/Query.ts"
import type { Subject } from "./Intent.ts"
import { type Noun, nounAt, peopleOf, personTypes } from "./Lookup.ts"
import { partsOf } from "./readNames.ts"
import { apart, columnsOf, count, type Script, inParallel, UNREAD } from "./script.ts"
import { type Token, written } from "./tokenize.ts"

/** The matches: one, or several to choose from. */
export interface Target {
  readonly _tag: "Target"
  readonly type: ContextType
  readonly columns: ReadonlyArray<Named>
  readonly filters: ReadonlyArray<Filter>
  readonly found: Pick<Page, "total" | "totalIsLowerBound">
  /** Whether the whole name matched, not only its parts. */
  readonly exact: boolean
  readonly unread?: ReadonlyArray<ContextType>
}

/** No match, with the name and the type that were tried. */
export interface Missing {
  readonly _tag: "Missing"
  readonly name: string
  readonly type: ContextType | undefined
  readonly limited: boolean
  /** Types that might have a match but can't be read now. */
  readonly unread?: ReadonlyArray<ContextType>
  /** None of the types could be read. */
  readonly unavailable?: true
}

const MAX_OTHERS = 11
/** With this many, only the whole name is looked for in each. */
const MAX_PARTLY = 5
/** With more types than this, listing them has already used a step. */
const MAX_TYPES = 8

export const eqName = (name: string): ReadonlyArray<Filter> => [{ columnId: "name", op: "eq", value: plainValue(name) }]

/** Filters by the name's parts, in any order. Parts of one or two letters count only if there are no longer ones. */
export const partly = (name: string): ReadonlyArray<Filter> => {
  const parts = partsOf(name)
  const long = parts.filter((part) => [...part].length > 2)
  return (long.length > 0 ? long : parts).slice(0, 8).map((value) => ({ columnId: "name", op: "ilike", value }))
}

const many = (filters: ReadonlyArray<Filter>) => (type: ContextType) => count({ entityTypeId: type.id, filters })
/** Where a name may be in one type or another, a type that can't be read doesn't keep the others from answering. */
const some = (filters: ReadonlyArray<Filter>) => (type: ContextType) => apart(many(filters)(type))

export const byFocus = function* (focus: Focus, context: Context): Script<Target | Missing> {
  const type = context.types.find(({ id }) => id === focus.type)
  if (type === undefined) return { _tag: "Missing", name: focus.name, type, limited: false }
  const filters: ReadonlyArray<Filter> = [{ columnId: "id", op: "eq", value: focus.id }]
  const [columns, page] = yield* both(columnsOf(type.id), many(filters)(type))
  return page === undefined || page.total === 0
    ? { _tag: "Missing", name: focus.name, type, limited: page?.limited === true }
    : { _tag: "Target", type, columns, filters, found: page, exact: true }
}

/** Runs two scripts with different results in parallel. */
export function* both<A, B>(first: Script<A>, second: Script<B>): Script<readonly [A, B]> {
  return (yield* inParallel<A | B>([first, second])) as unknown as readonly [A, B]
}

/** "rosa marquez san diego": a name of two or three words followed by a town or state. */
const withTown = (tokens: ReadonlyArray<Token>, columns: ReadonlyArray<Named>): ReadonlyArray<ReadonlyArray<Filter>> =>
  [2, 3]
    .filter((length) => length < tokens.length && tokens.length <= length + 3)
    .flatMap((length) => {
      const [choice] = town(written(tokens.slice(length)), columns)
      return choice === undefined ? [] : [[...eqName(written(tokens.slice(0, length))), ...choice]]
    })

interface Spoken {
  readonly noun?: Noun
  readonly tokens: ReadonlyArray<Token>
}

/** A name without its article and its type's noun: "the Vault doors deal", "customer Ada Lovelace". */
const withoutNoun = (spoken: ReadonlyArray<Token>, context: Context): Spoken => {
  const tokens = spoken.length > 1 && /^(the|an?)$/.test(spoken[0]!.text) ? spoken.slice(1) : spoken
  const before = nounAt(tokens, context)
  if (before !== undefined && before.length < tokens.length)
    return { noun: before.noun, tokens: tokens.slice(before.length) }
  for (let at = 1; at < tokens.length; at++) {
    const after = nounAt(tokens.slice(at), context)
    if (after !== undefined && after.length === tokens.length - at)
      return { noun: after.noun, tokens: tokens.slice(0, at) }
  }
  return { tokens }
}

const pageOf = (found: Page | typeof UNREAD | undefined): Page | undefined => (found === UNREAD ? undefined : found)

/** Locates a subject other than the focus. */
export function* locate(subject: Exclude<Subject, { _tag: "Focus" }>, context: Context): Script<Target | Missing> {
  const spoken = subject._tag === "Named" ? subject.tokens : []
  const { noun: typed, tokens } = withoutNoun(spoken, context)
  const people = peopleOf(context)
  const first = typed?.type ?? people ?? context.types[0]
  const name = subject._tag === "Me" ? (context.person?.name ?? "") : written(tokens)
  const unread = new Set<ContextType>()
  const others = context.types.filter((type) => type !== first).slice(0, MAX_OTHERS)
  const missing = (limited: boolean): Missing => ({
    _tag: "Missing",
    name,
    type: first,
    limited,
    unread: [...unread],
    ...(unread.size > others.length ? { unavailable: true } : {})
  })
  if (first === undefined || name === "") return missing(false)

  const target = (
    type: ContextType,
    columns: ReadonlyArray<Named>,
    filters: ReadonlyArray<Filter>,
    found: Page,
    exact: boolean
  ): Target => ({ _tag: "Target", type, columns, filters, found, exact, unread: [...unread] })
  const own = both(columnsOf(first.id), many(eqName(name))(first))
  const known = typed === undefined && subject._tag !== "Me" ? yield* apart(own) : yield* own
  if (known === UNREAD) unread.add(first)
  const [columns, exactly] = known === UNREAD ? [[], undefined] : known
  if (exactly !== undefined && exactly.total > 0) return target(first, columns, eqName(name), exactly, true)
  if (subject._tag === "Me") return missing(exactly?.limited === true)

  const wholes = others.map((type) => ({ type, filters: eqName(typed === undefined ? name : written(spoken)) }))
  const towns = withTown(tokens, columns).map((filters) => ({ type: first, filters }))
  // "jaden whites phone", "the Anderssons": the final s is not part of the name.
  const short = /\p{L}\p{L}\p{L}s$/u.test(name) ? [name.slice(0, -1)] : []
  const shorter = short.flatMap((each) => [first, ...others].map((type) => ({ type, filters: eqName(each) })))
  // One word of a name can be anyone's: a colleague's or a customer's.
  const named = typed === undefined ? [first, ...personTypes(context).filter((type) => others.includes(type))] : [first]
  const inPart = [name, ...short].flatMap((each) => named.map((type) => ({ type, filters: partly(each) })))
  const tries = [...wholes, ...towns, ...shorter, ...inPart]
  const readable = tries.filter(({ type }) => !unread.has(type))
  const answers = yield* inParallel(readable.map(({ filters, type }) => some(filters)(type)))
  for (const [index, { type }] of readable.entries()) if (answers[index] === UNREAD) unread.add(type)
  const pages = tries.map((one) => pageOf(answers[readable.indexOf(one)]))
  const hit = pages.findIndex((page) => (page?.total ?? 0) > 0)
  if (hit >= 0) {
    const { filters, type } = tries[hit]!
    const own = type === first ? columns : yield* columnsOf(type.id)
    return target(type, own, filters, pages[hit]!, hit < wholes.length + towns.length + shorter.length)
  }
  const limited = exactly?.limited === true
  if (typed !== undefined || others.length === 0 || context.types.length > MAX_TYPES) return missing(limited)
  const left = others.filter((type) => !named.includes(type) && !unread.has(type)).slice(0, MAX_PARTLY)
  const parts = (yield* inParallel(left.map(some(partly(name))))).map(pageOf)
  const part = parts.findIndex((page) => (page?.total ?? 0) > 0)
  if (part < 0) return missing(limited)
  return target(left[part]!, yield* columnsOf(left[part]!.id), partly(name), parts[part]!, false)
}
