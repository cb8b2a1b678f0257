/**
 * Reads a request by its parts in any order, without any sentence around them: names of rows, values, columns, people and times.
 * "po-1001 approved", "severity monitor flickers -> major", "close all solved tickets", "new task: buy paper, high, Raj". Names and
 * values are what rows have, so nothing is guessed; every word has to be a part, and what can be two things is no telegram.
 */
import { nounAt } from "../Lookup.ts"
import type { Context, ContextType } from "../readConversation.ts"
import type { Script } from "../script.ts"
import { withoutClosers, withoutOpeners } from "./clauses.ts"
import { isOfCell } from "./cellMeant.ts"
import { isRetracted } from "./corrections.ts"
import { Deed, type Request, Subject } from "./Deed.ts"
import { isOwed } from "./duties.ts"
import { type Name, namesAmong } from "./labels.ts"
import { type Led, ledBy, pronounIn } from "./leading.ts"
import { FUNCTION_WORDS } from "./lexicon.ts"
import { asksForChange, readAgain } from "./readRequest.ts"
import { deedOf, JOINT, knownOf, settingsOf } from "./telegramCells.ts"
import { ofSet } from "./telegramSets.ts"
import type { Said, Word } from "./words.ts"

type Words = ReadonlyArray<Word>

const MAX_TELEGRAM = 16
const MAX_TYPES = 4
const NO_TELEGRAM =
  /^(if|unless|when|whenever|until|whether|maybe|perhaps|or|either|only|why|who|whose|which|how|because)$/
const GIVES = /^(give|hand|pass|send|assign|show|tell|lend|to|for|with)$/
const CREATING = /^(new|add|create|make|open|log|start)$/
const ARTICLE = /^(a|an|the|new|another|my|our)$/

/** Whether words can be a telegram, as far as one can tell without a lookup. */
export const mayBeTelegram = ({ words }: Said): boolean =>
  words.length >= 2 &&
  words.length <= MAX_TELEGRAM + (ledBy(words) === undefined ? 0 : MAX_TELEGRAM) &&
  !words.some(({ after }) => /[?]/.test(after)) &&
  // "applied for Support Lead too": beside what there is.
  words.at(-1)!.word !== "too" &&
  !isRetracted(words)

/** The requests that the parts are, in the order in which they count; none if a word is left over or can be two things. */
export function* telegram(said: Said, context: Context): Script<Request | undefined> {
  if (!mayBeTelegram(said) || isOwed(said)) return undefined
  const led = ledBy(said.words)
  const after = led && (yield* afterReason(said, led, context))
  if (after !== undefined || said.words.length > MAX_TELEGRAM) return after
  return yield* partsOf(
    said,
    withoutClosers(withoutOpeners(said.words).at(-1)!, () => false, true),
    context
  )
}

const NO_MORE = /\b(no longer|not [a-z ]{2,30}(any more|anymore|any longer))\b/
/** "PO-1006 arrived today, set it to received": the request, with the name for its pronoun. */
function* afterReason(said: Said, led: Led, context: Context): Script<Request | undefined> {
  const request = withoutClosers(led.request, () => false, true)
  const at = pronounIn(request)
  // "Order laptops isn't blocked any more, set Rotate keys to high" tells of another row what it is now.
  if (at < 0 && NO_MORE.test(led.reason.map(({ word }) => word).join(" "))) return undefined
  const names = at < 0 ? [] : yield* namesAmong(said, led.reason, context.types.slice(0, MAX_TYPES))
  const [name, other] = names ?? []
  if (at >= 0 && (name === undefined || other !== undefined)) return undefined
  const named = withName(request, at, led.reason, name)
  const parts = yield* partsOf(said, named, context)
  // "Kofi has many tickets, close the new ones": which rows are meant is told before.
  const isOfRows = ({ deeds, framed, loose }: Request) =>
    [...deeds, ...loose, ...framed].some((deed) => deed._tag !== "Create" && deed.subject._tag === "Rows")
  const isTold = led.reason.some((_, from) => nounAt(led.reason.slice(from), context) !== undefined)
  // "Give her Rotate keys": a person who was named before.
  const isReceiver = at >= 0 && /^(him|her|them)$/.test(request[at]!.word) && GIVES.test(request[at - 1]!.word)
  const own = parts ?? (isReceiver ? undefined : readAgain({ ...said, words: named }, context))
  if (own === undefined || !asksForChange(own) || (isTold && isOfRows(own))) return undefined
  // "Ada's phone is dead, delete it": not the row.
  return name !== undefined && isOfCell(led.reason, name.from, name.to) && deletes(own) ? undefined : own
}

const deletes = ({ deeds, framed, loose }: Request): boolean =>
  [...deeds, ...loose, ...framed].some(({ _tag }) => _tag === "Delete")

/** The request with the name in the place of its pronoun. */
const withName = (request: Words, at: number, reason: Words, name: Name | undefined): Words =>
  at < 0 || name === undefined
    ? request
    : [...request.slice(0, at), ...reason.slice(name.from, name.to), ...request.slice(at + 1)]

function* partsOf(said: Said, words: Words, context: Context): Script<Request | undefined> {
  const nouns = words.flatMap((_, at) => {
    const noun = nounAt(words.slice(at), context)?.noun
    // "Buyer" can be a column.
    return noun === undefined || noun.kind !== undefined ? [] : [noun.type]
  })
  const types = nouns.length > 0 ? [...new Set(nouns)] : context.types.slice(0, MAX_TYPES)
  const made = creating(words, context)
  if (made !== undefined) return yield* creation(said, made, context)
  const names = yield* namesAmong(said, words, types)
  if (names === undefined) return undefined
  if (names.length === 0) return yield* ofSet(said, words, nouns, context)
  const subject = subjectOf(words, names)
  if (subject === undefined) return undefined
  const { each, from, to, type } = subject
  const [before, after] = [words.slice(0, from), words.slice(to)]
  const around = [...before, ...after].filter(({ quoted }) => quoted !== true)
  if (around.some(({ word }) => NO_TELEGRAM.test(word) || (each.length === 1 && /^(both|all)$/.test(word))))
    return undefined
  if (/^(is|are)$/.test(before[0]?.word ?? "")) return undefined
  // "Customers like Ada": others than Ada.
  const isLikened = before.at(-1)?.word === "like" && !/^(would|'d)$/.test(before.at(-2)?.word ?? "")
  if (isLikened) return undefined
  const known = yield* knownOf(said, [before, after], type, context)
  const named = Subject.Named({ words: words.slice(from, to), type, ...(each.length > 1 ? { each } : {}) })
  const deed = deedOf(named, withoutNoun(before, context), after, known)
  return deed === undefined ? undefined : { said, deeds: [deed], loose: [], framed: [] }
}

interface Named {
  readonly from: number
  readonly to: number
  readonly type: ContextType
  readonly each: ReadonlyArray<Words>
}

/** The names as one subject: of one type, side by side. */
const subjectOf = (words: Words, names: ReadonlyArray<Name>): Named | undefined => {
  const [first] = names
  const last = names.at(-1)!
  const isOne = names.every(({ from, type }, at) => {
    const before = names[at - 1]
    const gap = before === undefined ? [] : words.slice(before.to, from)
    return (
      type.id === first!.type.id &&
      (before === undefined || (from >= before.to && gap.every(({ word }) => JOINT.test(word)))) &&
      (gap.length > 0 || before === undefined || words[before.to - 1]!.after === ",")
    )
  })
  return isOne
    ? {
        from: first!.from,
        to: last.to,
        type: first!.type,
        each: names.map(({ from, to }) => words.slice(from, to))
      }
    : undefined
}

/** "The ticket", before its name. */
const withoutNoun = (before: Words, context: Context): Words => {
  for (let at = 0; at < before.length; at++) {
    const noun = nounAt(before.slice(at), context)
    if (noun !== undefined && at + noun.length === before.length) return withoutNoun(before.slice(0, at), context)
  }
  return before.at(-1)?.word === "the" ? before.slice(0, -1) : before
}

interface Made {
  readonly type: ContextType
  readonly name: Words
  readonly rest: Words
}

/** "New ticket: keyboard broken, hardware, Luis": a new row, of which is said more after a comma. */
const creating = (words: Words, context: Context): Made | undefined => {
  if (words[0]!.quoted === true || !CREATING.test(words[0]!.word)) return undefined
  let at = 1
  while (words[at] !== undefined && words[at]!.quoted !== true && ARTICLE.test(words[at]!.word)) at += 1
  const noun = nounAt(words.slice(at), context)
  if (noun === undefined) return undefined
  const from = at + noun.length
  const comma = words.findIndex(({ after }, index) => index >= from && after === ",")
  return comma < 0 || comma - from > 7
    ? undefined
    : { type: noun.noun.type, name: words.slice(from, comma + 1), rest: words.slice(comma + 1) }
}

function* creation(said: Said, { name, rest, type }: Made, context: Context): Script<Request | undefined> {
  if (rest.length === 0 || rest.some(({ quoted, word }) => quoted !== true && NO_TELEGRAM.test(word))) return undefined
  const known = yield* knownOf(said, [name, rest], type, context)
  // "New task: high, Raj": a value is no name.
  if (known.values.some((each) => each.words === name && each.to - each.from === name.length)) return undefined
  const settings = settingsOf(rest, known, ",")
  if (settings === undefined || settings.length === 0) return undefined
  // "New task Clean the kitchen for Raj, high": "for Raj" can be the assignee, so the words are read like any description.
  const isPlain = name.every(({ quoted, word }) => quoted !== true && !FUNCTION_WORDS.has(word))
  const deed = Deed.Create({ type, ...(isPlain ? { name, rest: [] } : { rest: name }), people: [], settings })
  return { said, deeds: [deed], loose: [], framed: [] }
}
