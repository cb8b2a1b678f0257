/** Puts the parts of a request together: what one sentence leaves open, another one says. */
import { Condition, type Lookup } from "../Lookup.ts"
import { folded } from "../tokenize.ts"
import { Deed, type Follows, type Part, type Subject } from "./Deed.ts"
import { unsaid } from "./parts.ts"
import type { Word } from "./words.ts"

interface State {
  readonly deed?: Deed
  /** Whether the person asked for the deed, and didn't only state what is so. */
  readonly asked: boolean
  /** Whether it was stated, so that "update that" can follow. */
  readonly stated?: boolean
  readonly subject?: Subject
  readonly people: ReadonlyArray<ReadonlyArray<Word>>
  /** Whether a statement of a value was taken as a reason. */
  readonly isLoose?: boolean
  /** Whether "it" can be a cell that was spoken of. */
  readonly isOfCell?: true
  /** Whether the deed is only reported, so that no other request can be joined to it. */
  readonly isReported?: true
  /** Whether a frame was needed. */
  readonly isFramed?: true
}

/** What a request can mean, and of which readings it is. */
export interface Reading {
  readonly deed: Deed
  readonly among: "deeds" | "loose" | "framed"
}

const MAX_STATES = 24
const AND = unsaid("and")

/** The deeds that the parts make, one part of each clause, while another attempt may be made. A question states nothing. */
export const combine = (
  clauses: ReadonlyArray<ReadonlyArray<Part>>,
  isQuestion: boolean,
  mayTry: () => boolean
): ReadonlyArray<Reading> => {
  let states: ReadonlyArray<State> = [{ asked: false, people: [] }]
  for (const parts of clauses) {
    states = states
      .flatMap((state) => parts.flatMap((part) => (mayTry() ? framed(next(state, part, isQuestion), part) : [])))
      .slice(0, MAX_STATES)
  }
  return states.flatMap(({ asked, deed, isFramed, isLoose, people }) => {
    if (deed === undefined || !asked) return []
    const among = isFramed === true ? "framed" : isLoose === true ? "loose" : "deeds"
    if (people.length === 0) return [{ deed, among }]
    return deed._tag === "Create" ? [{ deed: Deed.Create({ ...deed, people }), among }] : []
  })
}

const framed = (state: State | undefined, part: Part): ReadonlyArray<State> =>
  state === undefined
    ? []
    : (part._tag === "Order" || part._tag === "Statement") && part.isFramed === true
      ? [{ ...state, isFramed: true }]
      : [state]

const isFollowed = ({ deed, subject }: State, follows: Follows | undefined): boolean =>
  follows === undefined ||
  (follows === "new" ? deed?._tag === "Create" : deed !== undefined || (subject !== undefined && subject._tag !== "It"))

const subjectOf = (deed: Deed): Subject | undefined => (deed._tag === "Create" ? undefined : deed.subject)

const next = (state: State, part: Part, isQuestion: boolean): State | undefined => {
  switch (part._tag) {
    case "Reason": {
      const loose = {
        ...state,
        ...(part.isLoose && { isLoose: true }),
        ...(part.isOfCell && { isOfCell: part.isOfCell })
      }
      if (part.subject === undefined) return loose
      if (state.deed !== undefined) return isSame(part.subject, subjectOf(state.deed)) ? loose : undefined
      return state.subject === undefined ? { ...loose, subject: part.subject } : undefined
    }
    case "Except": {
      const subject = state.deed === undefined ? undefined : subjectOf(state.deed)
      if (state.deed === undefined || state.deed._tag === "Create" || subject?._tag !== "Rows") return undefined
      return { ...state, deed: { ...state.deed, subject: without(subject, part) } }
    }
    case "Also": {
      if (state.deed === undefined || state.deed._tag === "Create") return undefined
      const { subject } = state.deed
      if (subject._tag !== "Named") return undefined
      const { each = [subject.words], words } = subject
      const both = [...words, AND, ...part.subject.words]
      return {
        ...state,
        deed: { ...state.deed, subject: { ...subject, words: both, each: [...each, part.subject.words] } }
      }
    }
    case "Counted": {
      if (state.deed === undefined || state.deed._tag === "Create") return undefined
      const { subject } = state.deed
      if (subject._tag === "Named")
        return subject.each === undefined || subject.each.length !== (part.count ?? subject.each.length)
          ? undefined
          : state
      if (subject._tag !== "Rows" || subject.count !== undefined) return undefined
      return part.count === undefined
        ? state
        : { ...state, deed: { ...state.deed, subject: { ...subject, count: part.count } } }
    }
    case "Meet":
      return state.deed === undefined ? { ...state, people: [...state.people, part.who] } : undefined
    case "Please":
      if (state.deed === undefined) return undefined
      return state.stated === true ? { ...state, asked: true, stated: false } : state.asked ? state : undefined
    case "Statement": {
      if (!isFollowed(state, part.follows) || (part.isReported === true && state.deed !== undefined)) return undefined
      const enough = part.enough && !isQuestion
      if (part.deed !== undefined) {
        const after = joined(state, part.deed, state.asked || enough)
        return after && { ...after, stated: true, ...(part.isReported === true && { isReported: true as const }) }
      }
      // "They are no longer a customer", after the request itself.
      if (part.subject?._tag === "It") return state.deed === undefined ? undefined : state
      if (state.deed !== undefined) return isSame(part.subject, subjectOf(state.deed)) ? state : undefined
      return state.subject !== undefined || part.subject === undefined
        ? undefined
        : { ...state, subject: part.subject, ...(part.isOfCell && { isOfCell: part.isOfCell }) }
    }
    case "Detail":
      return state.deed?._tag === "Create"
        ? { ...state, deed: Deed.Create({ ...state.deed, rest: [...state.deed.rest, ...part.rest] }) }
        : undefined
    case "Order":
      return joined(state, part.deed, true)
  }
}

/** The set without what is excepted. */
const without = (set: Subject & { _tag: "Rows" }, part: Part & { _tag: "Except" }): Subject => {
  const narrowed = (lookup: Lookup): Lookup => ({
    ...lookup,
    conditions: [...lookup.conditions, ...(part.conditions ?? []).map((of) => Condition.Not({ of }))]
  })
  return {
    ...set,
    lookup: narrowed(set.lookup),
    ...(set.otherwise === undefined ? {} : { otherwise: narrowed(set.otherwise) }),
    ...(part.names === undefined ? {} : { except: [...(set.except ?? []), ...part.names] })
  }
}

/** A deed after what was said before. */
const joined = (state: State, deed: Deed, asked: boolean): State | undefined => {
  const { deed: before, subject } = state
  if (state.isReported === true) return undefined
  if (before === undefined) {
    const own = subjectOf(deed)
    // "Ada's phone is dead. Delete it": not the row.
    if (deed._tag === "Delete" && own?._tag === "It" && state.isOfCell === true) return undefined
    if (deed._tag === "Create" && deed.name !== undefined && PRONOUN.test(folded(deed.name))) return undefined
    if (own?._tag === "It" && subject !== undefined && deed._tag !== "Create")
      return { ...state, deed: { ...deed, subject }, asked }
    if (subject !== undefined && !isSame(subject, own)) return undefined
    return { ...state, deed, asked }
  }
  if (before._tag === "Create") {
    if (deed._tag === "Update" && deed.subject._tag === "It")
      return { ...state, deed: Deed.Create({ ...before, settings: [...before.settings, ...deed.settings] }), asked }
    // "We've got a new lead called Ada. Can you add them to the crm?"
    if (deed._tag === "Create" && !state.asked) return asSame(before, deed, state, asked)
    return undefined
  }
  // "They can all go, just delete them."
  if (deed._tag === "Delete" && before._tag === "Delete" && deed.subject._tag === "It") return { ...state, asked }
  if (deed._tag === "Create" || before._tag !== "Update") return undefined
  if (deed._tag === "Delete") return undefined
  if (deed._tag !== "Update") return undefined
  const subjects = [before.subject, deed.subject].filter(({ _tag }) => _tag !== "It")
  if (subjects.length === 2 && !isSame(subjects[0], subjects[1])) return undefined
  const { list = deed.list } = before
  if (list !== undefined && before.list !== undefined && deed.list !== undefined) return undefined
  const settings = [...before.settings, ...deed.settings]
  return {
    ...state,
    deed: Deed.Update({
      subject: subjects[0] ?? before.subject,
      settings,
      ...(list === undefined ? {} : { list })
    }),
    asked
  }
}

const PRONOUN =
  /^(it|them|him|her|this|that|this one|that one|the new lead|this lead|the lead|this person|that person)$/

const asSame = (
  before: Deed & { _tag: "Create" },
  deed: Deed & { _tag: "Create" },
  state: State,
  asked: boolean
): State | undefined =>
  deed.name !== undefined && PRONOUN.test(folded(deed.name)) && deed.type.id === before.type.id
    ? {
        ...state,
        asked,
        deed: Deed.Create({
          ...before,
          ...(before.kind === undefined && deed.kind !== undefined ? { kind: deed.kind } : {}),
          rest: [...before.rest, ...deed.rest],
          settings: [...before.settings, ...deed.settings]
        })
      }
    : undefined

const isSame = (a: Subject | undefined, b: Subject | undefined): boolean => {
  if (a === undefined || b === undefined) return false
  if (a._tag === "Named" && b._tag === "Named") return folded(a.words) === folded(b.words)
  return JSON.stringify(a) === JSON.stringify(b)
}
