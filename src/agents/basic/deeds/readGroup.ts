/**
 * Reads the words for a set of rows by what they contain instead of by their order: a noun, and beside it values, people, times and
 * what is missing, each alone, negated, or joined to another by "or". Every word is a part of one of them or says nothing by itself.
 */
import { CARDINALS } from "../../english.ts"
import { structures } from "../conditionParts.ts"
import { Condition, type Lookup, type Noun, nounAt } from "../Lookup.ts"
import type { Context } from "../readConversation.ts"
import { type When, timeAt } from "../readTime.ts"
import { addDays } from "../spans.ts"
import { folded } from "../tokenize.ts"
import {
  ALL,
  DUE,
  EACH,
  EARLIER,
  HAVING,
  isAt,
  LATER,
  lengthOf,
  MAX_RUN,
  NOT,
  OWNED,
  OWNS,
  PLACES,
  SILENT,
  UNASSIGNED,
  WITH,
  WITHOUT
} from "./groupWords.ts"
import { type Calendar, dayAt } from "./moments.ts"
import type { Word } from "./words.ts"

type Words = ReadonlyArray<Word>

interface Read {
  readonly conditions: ReadonlyArray<Condition>
  readonly count?: number
}

/** What was said before the next condition. */
interface State {
  readonly found: ReadonlyArray<Condition>
  readonly count?: number
  readonly isNot?: boolean
  /** Whether all that follows is left out. */
  readonly isExcept?: boolean
  /** Whether the next condition is an alternative to the last one. */
  readonly isOr?: boolean
  /** The preposition before it. */
  readonly place?: string
}

/** Reads the beginning of the words: how many it takes, and what was said then. */
type Step = (here: Words, state: State, context: Context, calendar: Calendar) => readonly [number, State] | undefined

/** The set that all the words mean; undefined if any word is left. */
export const readGroup = (
  said: Words,
  context: Context,
  calendar: Calendar
): { readonly lookup: Lookup; readonly count?: number } | undefined => {
  const all = ALL.find((phrase) => isAt(said, phrase))
  const isEach = all?.length === 1 && EACH.has(all[0]!)
  const rest = joined(said.slice(all?.length ?? 0))
  // "at the blocked tasks" are more than the rows.
  if (rest[0]?.quoted !== true && OUTSIDE.test(rest[0]?.word ?? "")) return undefined
  for (let at = 0; at < rest.length; at++) {
    if (rest[at]!.quoted === true) continue
    const found = nounAt(rest.slice(at), context)
    if (found === undefined || !(isEach || isPlural(found.noun))) continue
    const before = read(rest.slice(0, at), context, calendar)
    const after = read(rest.slice(at + found.length), context, calendar)
    if (before === undefined || after === undefined || after.count !== undefined) continue
    const conditions = [...before.conditions, ...after.conditions]
    // "delete leads" may be half of a sentence.
    if (conditions.length === 0) continue
    return {
      lookup: { noun: found.noun, conditions },
      ...(before.count === undefined ? {} : { count: before.count })
    }
  }
  return undefined
}

const OUTSIDE = /^(at|on|for|with|of|by|to|from|under|into|about)$/

const isPlural = ({ said, type }: Noun): boolean =>
  said.toLowerCase() === type.plural.toLowerCase() || /[^s]s$|^people$|^staff$/i.test(said)

/** "to do" as one word, the words of "high-priority" apart, and "earlier than" as "before". */
const joined = (said: Words): Words =>
  said.flatMap((each, at) => {
    if (each.quoted === true) return [each]
    if (each.word === "than" && /^(earlier|later)$/.test(said[at - 1]?.word ?? "")) return []
    if (said[at + 1]?.word === "than" && /^(earlier|later)$/.test(each.word)) {
      const word = each.word === "earlier" ? "before" : "after"
      return [{ ...each, text: word, word }]
    }
    if (each.word === "to" && said[at + 1]?.word === "do")
      return [{ ...said[at + 1]!, text: "to do", word: "to do", start: each.start }]
    if (each.word === "do" && said[at - 1]?.word === "to") return []
    const parts = /^(\p{L}+)-(priority|level|status|prio)$/u.exec(each.word)
    return parts === null
      ? [each]
      : [
          { ...each, text: parts[1]!, word: parts[1]!, after: "" },
          { ...each, text: parts[2]!, word: parts[2]!, capital: false }
        ]
  })

/** The conditions in the words, in any order. */
const read = (rest: Words, context: Context, calendar: Calendar): Read | undefined => {
  let state: State = { found: [] }
  for (let at = 0; at < rest.length;) {
    const here = rest.slice(at)
    const steps = here[0]!.quoted === true ? [named] : STEPS
    let taken: ReturnType<Step>
    for (const step of steps) if ((taken ??= step(here, state, context, calendar)) !== undefined) break
    if (taken === undefined) return undefined
    at += taken[0]
    state = taken[1]
  }
  const { count, found, isNot, isOr, place } = state
  return isNot === true || isOr === true || place !== undefined
    ? undefined
    : { conditions: found, ...(count === undefined ? {} : { count }) }
}

/** The state after one more condition. */
const and = ({ count, found, isExcept, isNot, isOr }: State, condition: Condition): State => {
  const own = isNot === true ? Condition.Not({ of: condition }) : condition
  const last = found.at(-1)
  const either =
    isOr === true && last !== undefined
      ? Condition.AnyOf({ of: last._tag === "AnyOf" ? [...last.of, own] : [last, own] })
      : undefined
  return {
    found: either === undefined ? [...found, own] : [...found.slice(0, -1), either],
    ...(count === undefined ? {} : { count }),
    ...(isExcept === true ? { isExcept } : {})
  }
}

const unassigned: Step = (here, state) => {
  const length = lengthOf(here, UNASSIGNED)
  return length === 0 ? undefined : [length, and(state, Condition.Empty({ words: "owner" }))]
}

/** "due before Friday or earlier", "tomorrow's". */
const timed: Step = (here, state, context, calendar) => {
  const due = lengthOf(here, DUE)
  const time = timeAt(here.slice(due), context.today) ?? dayIn(here.slice(due), due > 0, calendar)
  if (time === undefined) return undefined
  const after = here.slice(due + time.length)
  const [earlier, later] = [lengthOf(after, EARLIER), lengthOf(after, LATER)]
  const when = spanOf(time.when, earlier > 0, later > 0)
  if (when === undefined) return undefined
  const length = due + time.length + Math.max(earlier, later)
  return [length + (here[length]?.word === "'s" ? 1 : 0), and(state, Condition.Time({ when }))]
}

const overdue: Step = ([first], state) => (first!.word === "overdue" ? [1, and(state, Condition.Overdue())] : undefined)

/** "my", "that I have", "assigned to me". */
const mine: Step = (here, state) => {
  const owned = lengthOf(here, OWNED)
  return /^(my|mine|me|i)$/.test(here[owned]?.word ?? "")
    ? [owned + 1 + lengthOf(here.slice(owned + 1), OWNS), and(state, Condition.Mine())]
    : undefined
}

/** "assigned to Nia or Raj". */
const ownedBy: Step = (here, state, context) => {
  const owned = lengthOf(here, OWNED)
  const length = owned === 0 ? 0 : runOf(here.slice(owned), context)
  if (length === 0) return undefined
  const first = here.slice(owned, owned + length)
  const others = alternatives(here.slice(owned + length), context)
  const names = [first, ...others].map((words) => Condition.With({ words }))
  return [
    owned + length + others.reduce((sum, other) => sum + 1 + other.length, 0),
    and(state, names.length === 1 ? names[0]! : Condition.AnyOf({ of: names }))
  ]
}

/** "without a due date", "that have an owner". */
const emptyOrNot: Step = (here, state, context) => {
  const [lacking, having] = [lengthOf(here, WITHOUT), lengthOf(here, HAVING)]
  const lead = Math.max(lacking, having)
  const length = lead === 0 || state.isNot === true ? 0 : runOf(here.slice(lead), context)
  if (length === 0) return undefined
  const empty = Condition.Empty({ words: folded(here.slice(lead, lead + length)) })
  return [lead + length, and(state, lacking >= having ? empty : Condition.Not({ of: empty }))]
}

const negation: Step = ([first], state) =>
  NOT.has(first!.word) && state.isNot !== true
    ? [1, { ...state, isNot: true, ...(first!.word.startsWith("exc") ? { isExcept: true } : {}) }]
    : undefined

/** "of Yuki and Kofi" are both people's; "and still not done" is another condition; "not done or blocked" is neither. */
const conjunction: Step = ([first, ...next], state, context) => {
  const last = state.found.at(-1)
  if (!/^(or|and|but)$/.test(first!.word) || last === undefined || next.length === 0) return undefined
  if (last._tag === "Not" && (first!.word === "or" || state.isExcept === true)) return [1, { ...state, isNot: true }]
  const isOr = first!.word === "or" || (isPersonal(last) && next[0]!.capital && runOf(next, context) > 0)
  return [1, { ...state, ...(isOr ? { isOr, ...(isPersonal(last) ? { place: "with" } : {}) } : {}) }]
}

const preposition: Step = ([first], state) =>
  state.place !== undefined
    ? undefined
    : PLACES.has(first!.word)
      ? [1, { ...state, place: first!.word }]
      : WITH.has(first!.word)
        ? [1, { ...state, place: "with" }]
        : undefined

const counted: Step = ([first], state) => {
  const count = CARDINALS[first!.word]
  return count === undefined || state.count !== undefined ? undefined : [1, { ...state, count }]
}

const silent: Step = ([first, second], state) =>
  SILENT.has(first!.word)
    ? [/^(that|which|who|what)$/.test(first!.word) && second?.word === "'s" ? 2 : 1, state]
    : undefined

/** "that yuki and raj have". */
const ownedByBoth: Step = (here, state, context) => {
  const length = runOf(here, context)
  const joint = length > 0 && /^(and|or)$/.test(here[length]?.word ?? "") ? runOf(here.slice(length + 1), context) : 0
  const owns = joint === 0 ? 0 : lengthOf(here.slice(length + 1 + joint), OWNS)
  if (owns === 0) return undefined
  const of = [here.slice(0, length), here.slice(length + 1, length + 1 + joint)].map((words) =>
    Condition.With({ words })
  )
  return [length + 1 + joint + owns, and(state, Condition.AnyOf({ of }))]
}

/** A value, or a person's name: "Platform", "Raj's", "that Raj has", "in review". */
const named: Step = (here, state, context) => {
  const length = runOf(here, context)
  if (length === 0) return undefined
  const words = here.slice(0, length)
  if (state.isNot === true && /^(started|begun)$/.test(folded(words)))
    return [length, and({ ...state, isNot: false }, Condition.Quality({ words: "to do" }))]
  const owns = lengthOf(here.slice(length), OWNS)
  const isWhose = here[length]?.word === "'s" && owns === 0
  const { place } = state
  const condition =
    isWhose || owns > 0 || place === "with"
      ? Condition.With({ words })
      : place === undefined
        ? Condition.Quality({ words: folded(words) })
        : Condition.At({ words, preposition: place })
  return [length + (isWhose ? 1 : owns), and(state, condition)]
}

/** Tried in this order. */
const STEPS: ReadonlyArray<Step> = [
  unassigned,
  timed,
  overdue,
  mine,
  ownedBy,
  emptyOrNot,
  negation,
  conjunction,
  preposition,
  counted,
  silent,
  ownedByBoth,
  named
]

const isPersonal = (condition: Condition): boolean =>
  condition._tag === "With" || (condition._tag === "AnyOf" && condition.of.every(isPersonal))

/** "Nia or Raj": the names after the first. */
const alternatives = (rest: Words, context: Context): ReadonlyArray<Words> => {
  if (!/^(or|and)$/.test(rest[0]?.word ?? "") || rest[1]?.capital !== true) return []
  const length = runOf(rest.slice(1), context)
  return length === 0 ? [] : [rest.slice(1, 1 + length), ...alternatives(rest.slice(1 + length), context)]
}

/** The number of words of a value or a name at the beginning. */
const runOf = (rest: Words, context: Context): number => {
  let length = 0
  for (const [at, each] of rest.entries()) {
    if (each.quoted === true) return at === 0 ? 1 : at
    const here = rest.slice(at)
    const ends =
      structures(each) ||
      SILENT.has(each.word) ||
      PLACES.has(each.word) ||
      WITH.has(each.word) ||
      NOT.has(each.word) ||
      /^('s|or|and|but|no|without|overdue|my|due)$/.test(each.word) ||
      lengthOf(here, UNASSIGNED) > 0 ||
      lengthOf(here, OWNS) > 0 ||
      lengthOf(here, OWNED) > 0 ||
      nounAt(here, context) !== undefined ||
      timeAt(here, context.today) !== undefined
    if (ends) break
    length = at + 1
    if (each.after !== "" || length === MAX_RUN) break
  }
  return length
}

/** "due on the 8th", which questions don't know. */
const dayIn = (
  rest: Words,
  isDue: boolean,
  calendar: Calendar
): { readonly when: When; readonly length: number } | undefined => {
  const lead = /^(on|by)$/.test(rest[0]?.word ?? "") ? 1 : 0
  const found = isDue || lead > 0 ? dayAt(rest.slice(lead), calendar) : undefined
  return (
    found && {
      length: lead + found.length,
      when: {
        from: found.value,
        to: addDays(found.value, 1),
        said: rest
          .slice(0, lead + found.length)
          .map(({ text }) => text)
          .join(" ")
      }
    }
  )
}

/** "Yesterday or earlier" has no beginning. */
const spanOf = ({ from, now, said, to }: When, isEarlier: boolean, isLater: boolean): When | undefined => {
  if (!isEarlier && !isLater) return { said, ...(from && { from }), ...(to && { to }), ...(now && { now }) }
  if (isEarlier)
    return to === undefined
      ? from === undefined
        ? undefined
        : { said, to: addDays(from.slice(0, 10), 1) }
      : { said, to }
  return from === undefined ? undefined : { said, from }
}
