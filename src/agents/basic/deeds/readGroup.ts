/**
 * Reads the words for a set of rows by what they contain instead of by their order: a noun, and beside it values, people, times and
 * what is missing, each alone, negated, or joined to another by "or". Every word is a part of one of them or says nothing by itself.
 */
import { CARDINALS } from "../../english.ts"
import { structures } from "../conditionParts.ts"
import { Condition, type Lookup, type Noun, nounAt } from "../Lookup.ts"
import { startsWith } from "../patterns.ts"
import type { Context } from "../readConversation.ts"
import { type When, timeAt } from "../readTime.ts"
import { addDays } from "../spans.ts"
import { folded } from "../tokenize.ts"
import { type Calendar, dayAt } from "./moments.ts"
import type { Word } from "./words.ts"

type Words = ReadonlyArray<Word>

const words = (text: string): ReadonlySet<string> => new Set(text.split(" "))
const phrases = (text: string) => text.split("|").map((phrase) => phrase.split(" "))

const EACH = words("every each any")
const ALL = phrases(
  "all of the|all of|all the|all|every single|every|each of the|each of|each|any of the|any of|any|the"
)
/** Words between the conditions that say nothing by themselves. */
const SILENT = words(
  "that which who are is was were be been being still currently now already just right yet also left marked set listed tagged filed kept sitting lying status state stage there the a an of"
)
const PLACES = words("in on at under from within inside")
const WITH = words("with for of by to")
const OWNED = phrases(
  "assigned to|belonging to|belong to|belongs to|owned by|handled by|managed by|held by|looked after by|in the hands of|in the name of"
)
const OWNS = phrases(
  "has got|has|have|had|'s got|got|owns|own|handles|manages|looks after|is responsible for|is on|is assigned to|is assigned"
)
const UNASSIGNED = phrases(
  "nobody 's assigned to|nobody is assigned to|nobody is assigned|nobody owns|nobody has|nobody 's on|nobody is on|no one 's assigned to|no one is assigned to|no one owns|no one has|not assigned to anyone|not assigned to anybody|not assigned|unassigned|unowned|ownerless|up for grabs"
)
const WITHOUT = phrases(
  "without an|without a|without any|without|with no|that have no|that has no|have no|has no|missing an|missing a|missing|lacking"
)
const HAVING = phrases(
  "that have an|that have a|that has an|that has a|have an|have a|has an|has a|with an|with a|having an|having a"
)
const DUE = phrases(
  "with a due date|with a deadline|due on|due by|due in|due at|due|with a due date of|whose due date is|that fall on|falling on"
)
const NOT = words("not isn't aren't never")
const EARLIER = phrases("or earlier|or before|or sooner")
const LATER = phrases("or later|or after|onwards|and later")
const MAX_RUN = 4

interface Read {
  readonly conditions: ReadonlyArray<Condition>
  readonly count?: number
}

/** The set that all the words mean; undefined if any word is left. */
export const readGroup = (
  said: Words,
  context: Context,
  calendar: Calendar
): { readonly lookup: Lookup; readonly count?: number } | undefined => {
  const all = ALL.find((phrase) => isAt(said, phrase))
  const isEach = all?.length === 1 && EACH.has(all[0]!)
  const rest = joined(said.slice(all?.length ?? 0))
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

const isPlural = ({ said, type }: Noun): boolean =>
  said.toLowerCase() === type.plural.toLowerCase() || /[^s]s$|^people$|^staff$/i.test(said)

const isAt = (rest: Words, phrase: ReadonlyArray<string>): boolean =>
  startsWith(rest, phrase) && !rest.slice(0, phrase.length).some(({ quoted }) => quoted)
const lengthOf = (rest: Words, known: ReadonlyArray<ReadonlyArray<string>>): number =>
  known.find((phrase) => isAt(rest, phrase))?.length ?? 0

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
  const found: Array<Condition> = []
  let count: number | undefined
  let isNot = false
  /** Whether the next condition is an alternative to the last one. */
  let isOr = false
  let place: string | undefined
  const add = (condition: Condition) => {
    const own = isNot ? Condition.Not({ of: condition }) : condition
    const last = found.at(-1)
    if (isOr && last === undefined) return false
    if (isOr)
      found[found.length - 1] = Condition.AnyOf({ of: last!._tag === "AnyOf" ? [...last!.of, own] : [last!, own] })
    else found.push(own)
    isNot = false
    isOr = false
    place = undefined
    return true
  }
  for (let at = 0; at < rest.length;) {
    const here = rest.slice(at)
    const { quoted, word } = here[0]!
    const unowned = lengthOf(here, UNASSIGNED)
    const lacking = lengthOf(here, WITHOUT)
    const having = lengthOf(here, HAVING)
    const owned = lengthOf(here, OWNED)
    const due = lengthOf(here, DUE)
    const time =
      quoted === true
        ? undefined
        : (timeAt(here.slice(due), context.today) ?? dayIn(here.slice(due), due > 0, calendar))
    if (unowned > 0) {
      if (!add(Condition.Empty({ words: "owner" }))) return undefined
      at += unowned
    } else if (time !== undefined) {
      const after = here.slice(due + time.length)
      const [earlier, later] = [lengthOf(after, EARLIER), lengthOf(after, LATER)]
      const when = spanOf(time.when, earlier > 0, later > 0)
      if (when === undefined || !add(Condition.Time({ when }))) return undefined
      at += due + time.length + Math.max(earlier, later)
      // "tomorrow's meetings".
      if (rest[at]?.word === "'s") at += 1
    } else if (quoted !== true && word === "overdue") {
      if (!add(Condition.Overdue())) return undefined
      at += 1
    } else if (quoted !== true && /^(my|mine|me|i)$/.test(word)) {
      if (!add(Condition.Mine())) return undefined
      at += 1 + lengthOf(here.slice(1), OWNS)
    } else if (owned > 0) {
      const name = runOf(here.slice(owned), context)
      if (name === 0) {
        if (!/^(me|my)$/.test(here[owned]?.word ?? "")) return undefined
        at += owned
      } else {
        if (!add(Condition.With({ words: here.slice(owned, owned + name) }))) return undefined
        at += owned + name
        const others = alternatives(rest.slice(at), context)
        for (const other of others) {
          isOr = true
          if (!add(Condition.With({ words: other }))) return undefined
          at += 1 + other.length
        }
      }
    } else if (lacking > 0 || having > 0) {
      const length = Math.max(lacking, having)
      const column = runOf(here.slice(length), context)
      if (column === 0 || isNot) return undefined
      const empty = Condition.Empty({ words: folded(here.slice(length, length + column)) })
      if (!add(lacking >= having ? empty : Condition.Not({ of: empty }))) return undefined
      at += length + column
    } else if (quoted !== true && NOT.has(word)) {
      if (isNot) return undefined
      isNot = true
      at += 1
    } else if (quoted !== true && /^(or|and|but)$/.test(word)) {
      // "of Yuki and Kofi" are both people's; "and still not done" is another condition.
      const last = found.at(-1)
      const next = here.slice(1)
      const isPerson = last !== undefined && personal(last)
      isOr = word === "or" || (word === "and" && isPerson && runOf(next, context) > 0 && next[0]!.capital)
      if (found.length === 0 || next.length === 0) return undefined
      if (isOr && isPerson) place = "with"
      at += 1
    } else if (quoted !== true && place === undefined && PLACES.has(word)) {
      place = word
      at += 1
    } else if (quoted !== true && place === undefined && WITH.has(word)) {
      place = "with"
      at += 1
    } else if (quoted !== true && CARDINALS[word] !== undefined && count === undefined && at <= MAX_RUN) {
      count = CARDINALS[word]
      at += 1
    } else if (
      quoted !== true &&
      (SILENT.has(word) || (word === "'s" && /^(that|which|who|what)$/.test(rest[at - 1]?.word ?? "")))
    )
      at += 1
    else {
      const length = runOf(here, context)
      if (length === 0) return undefined
      const run = here.slice(0, length)
      if (isNot && /^(started|begun)$/.test(folded(run))) {
        isNot = false
        if (!add(Condition.Quality({ words: "to do" }))) return undefined
        at += length
        continue
      }
      // "that yuki and raj have".
      const joint = /^(and|or)$/.test(here[length]?.word ?? "") ? runOf(here.slice(length + 1), context) : 0
      const both = joint > 0 ? lengthOf(here.slice(length + 1 + joint), OWNS) : 0
      if (both > 0) {
        const of = [run, here.slice(length + 1, length + 1 + joint)].map((words) => Condition.With({ words }))
        if (!add(Condition.AnyOf({ of }))) return undefined
        at += length + 1 + joint + both
        continue
      }
      const owns = lengthOf(here.slice(length), OWNS)
      const isWhose = here[length]?.word === "'s" && owns === 0
      const condition =
        isWhose || owns > 0 || place === "with"
          ? Condition.With({ words: run })
          : place === undefined
            ? Condition.Quality({ words: folded(run) })
            : Condition.At({ words: run, preposition: place })
      if (!add(condition)) return undefined
      at += length + (isWhose ? 1 : owns)
      // "Kofi's and Raj's tasks", "Kofi and Raj's tasks".
    }
  }
  return isNot || isOr || place !== undefined
    ? undefined
    : { conditions: found, ...(count === undefined ? {} : { count }) }
}

const personal = (condition: Condition): boolean =>
  condition._tag === "With" || (condition._tag === "AnyOf" && condition.of.every(personal))

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
      /^('s|or|and|but|no|nobody|without|overdue|unassigned|unowned|my|due)$/.test(each.word) ||
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
