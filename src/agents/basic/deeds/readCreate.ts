/** Reads requests to add a row: the verbs that ask for it, and the noun and description, or the name, that follow. */
import { PEOPLE } from "../../../domain/EntityType.ts"
import { CARDINALS } from "../../english.ts"
import { GENERIC_PERSON_NOUNS } from "../lexicon.ts"
import { type Noun, nounAt, peopleOf } from "../Lookup.ts"
import { folded } from "../tokenize.ts"
import type { Pattern } from "../patterns.ts"
import type { Context } from "../readConversation.ts"
import { JOINERS, withoutClosers } from "./clauses.ts"
import { Deed } from "./Deed.ts"
import { FUNCTION_WORDS, isBeyond, isRounded, MANY, OTHER_REQUESTS } from "./lexicon.ts"
import { lengthAt } from "./lengths.ts"
import { calendarOf, momentAt } from "./moments.ts"
import { couldBeName, isPronoun } from "./readSubject.ts"
import { shapeOf } from "./shapes.ts"
import type { Word } from "./words.ts"

type Words = ReadonlyArray<Word>

/** Whether unquoted words are no more than a value; in a list "e-mail" isn't the verb of another request. */
export const isValue = (words: Words, isList = false): boolean => {
  if (words.length === 1 && words[0]!.quoted === true) return true
  // "Something better" leaves open what.
  if (words[0]!.quoted !== true && VAGUE.test(words[0]!.text) && !words[0]!.capital) return false
  // "must be changed in …": a part of the sentence.
  if (
    /^(changed|renamed|updated|corrected|switched|replaced)$/.test(words[0]!.word) &&
    PREPOSITION.test(words[1]?.word ?? "")
  )
    return false
  if (words.length > 16 || words[0]!.word === "=" || MANY.has(words[0]!.word) || !isRounded(words)) return false
  return words.every((each, at) => {
    const { after, quoted, word } = each
    if (quoted === true || (isBeyond(each) && word !== "me")) return false
    if (at > 0 && /^(called|named|titled|entitled)$/.test(each.text)) return false
    // "A better name would be …" tells the value, and is none.
    if (at > 0 && /^(would|could|should)$/.test(each.text)) return false
    if (at < words.length - 1 && /[.;!?]/.test(after)) return false
    const next = words[at + 1]?.word ?? ""
    if (!isList && after.includes(",") && JOINERS.has(next) && next !== "and" && next !== "as") return false
    // "…, and no, I haven't called them".
    if (
      !isList &&
      after.includes(",") &&
      next === "and" &&
      /^(no|yes|not|never|i|we|it)$/.test(words[at + 2]?.word ?? "")
    )
      return false
    return isList || !((word === "and" || after.includes(",") || word === "then") && OTHER_REQUESTS.has(next))
  })
}

const VAGUE = /^(something|anything|whatever|somewhere|sometime|somehow|someplace)$/
/** What is called after a kind of row: "task board", "meeting room". */
const COMPOUND =
  /^(board|list|template|tracker|manager|room|app|tool|system|view|type|category|field|column|force|report|overview|folder|series|link)$/
const PREPOSITION = /^(to|in|into|as|by|with|from)$/

export const CREATES: ReadonlyArray<Omit<Way, "place"> & { readonly pattern: Pattern }> = [
  { pattern: shapeOf("<create> {rest}"), statement: false, titled: false, bare: false },
  { pattern: shapeOf("<createormove> {rest}"), statement: false, titled: false, bare: false, moves: true },
  {
    pattern: shapeOf("(add|enter|register|include|insert|create|input|record|save) {rest}"),
    statement: false,
    titled: false,
    bare: true
  },
  { pattern: shapeOf("(put|put in) {rest}"), statement: false, titled: false, bare: true, moves: true },
  {
    pattern: shapeOf(
      "(i|we) (need|want|would like|would love|should have|have to have|would need|will need|could use|still need|also need|forgot|are missing) {rest}"
    ),
    statement: false,
    titled: false,
    bare: false,
    moves: true
  },
  {
    pattern: shapeOf(
      "(schedule|book|set up|arrange|plan|organize|organise|pencil in|calendar|block|block off|block out|reserve|add|slot in|put|put in|put down) {rest}"
    ),
    statement: false,
    titled: true,
    bare: false,
    moves: true
  },
  // "Take down the task" can mean to delete it.
  { pattern: shapeOf("take down (a|an|another|one) {rest}"), statement: false, titled: false, bare: false },
  {
    pattern: shapeOf("(new|another|one more|an extra|one extra|an additional|a further) {rest}"),
    statement: false,
    titled: false,
    bare: false
  },
  {
    pattern: shapeOf("for {who} (i|we) (still|also)? (need|want|would like|will need|have to have) {rest}"),
    statement: false,
    titled: false,
    bare: false
  },
  // "Nia needs a new task: …".
  {
    pattern: shapeOf("{who} (needs|gets|should get|will get) (a|another|one more) (new)? {rest}"),
    statement: false,
    titled: false,
    bare: false
  },
  {
    pattern: shapeOf("(there is|there 's|there should be) (a|another|one more) (new)? {rest}"),
    statement: false,
    titled: false,
    bare: false
  },
  // "Give Nia a new task": with whom it is for.
  { pattern: shapeOf("give {rest}"), statement: false, titled: false, bare: false, gives: true },
  {
    pattern: shapeOf("<have> (a|an|another|one|one more|our|some)? new {rest}"),
    statement: true,
    titled: false,
    bare: false
  }
]

export interface Way {
  /** Where the clause puts the row: "to the CRM", which holds people, or "to the task list". */
  readonly place: Words
  /** The verb can be followed by nothing but a name. */
  readonly bare: boolean
  /** The verb alone means a meeting. */
  readonly titled: boolean
  readonly statement: boolean
  /** The verb is also said of a row that is there: "put the checkout task on medium", "start the checkout task". */
  readonly moves?: boolean
  /** The verb needs the person for whom the row is. */
  readonly gives?: boolean
  /** "for Dmitri", before the noun. */
  readonly receiver?: Words
}

/** "Give Nia a new task", "create for Dmitri the task": whose it is, as "for Nia". */
const receiverOf = (words: Words): Words | undefined => {
  const lead = words[0]?.word === "for" ? 1 : 0
  for (const length of [1, 2]) {
    const name = words.slice(lead, lead + length)
    const next = words[lead + length]
    // "Give Nia the task": it is there already.
    if (next === undefined || next.quoted === true) continue
    if (!/^(a|an|another|one)$/.test(next.word) && !(lead === 1 && next.word === "the")) continue
    if (name.every(({ capital, quoted }) => capital && quoted !== true) && couldBeName(name))
      return [{ ...words[0]!, text: "for", word: "for", after: "", capital: false }, ...name]
  }
  return undefined
}

/** Reads what follows the verb: a noun and its description, or a name. */
export const readCreate = (
  words: Words,
  context: Context,
  way: Way,
  isPlace: (words: Words) => boolean
): ReadonlyArray<Deed> => {
  const found: Array<Deed> = []
  const receiver = way.statement ? undefined : receiverOf(words)
  if (receiver === undefined && way.gives === true && way.receiver === undefined) return []
  if (receiver !== undefined) {
    const rest = words.slice(receiver.length - (words[0]!.word === "for" ? 0 : 1))
    return readCreate(rest, context, { ...way, receiver }, isPlace)
  }
  const WITH = { word: "with", text: "with", after: "", capital: false } as const
  const of = (
    fields: Partial<Parameters<typeof Deed.Create>[0]> & Pick<Parameters<typeof Deed.Create>[0], "type" | "rest">
  ) => found.push(Deed.Create({ people: [], settings: [], ...fields }))
  // "get rid of" deletes; "get" alone also adds.
  if (words[0]?.word === "rid" || (MANY.has(words[0]?.word ?? "") && lengthAt(words) === undefined)) return []
  let at = 0
  while (
    at < words.length &&
    words[at]!.quoted !== true &&
    /^(a|an|the|another|new|one|quick|short|brand|more|me|us|down|in)$/.test(words[at]!.word)
  )
    at += 1
  const length = lengthAt(words.slice(at)) ?? lengthAt(words.slice(Math.max(0, at - 1)))
  const lengthStart = lengthAt(words.slice(at)) === undefined ? Math.max(0, at - 1) : at
  const start = length === undefined ? at : lengthStart + length.length
  const { receiver: whose = [] } = way
  const lead = [...whose, ...(length === undefined ? [] : words.slice(lengthStart, start))]
  for (let noun = start; noun < Math.min(words.length, start + 8); noun++) {
    if (words[noun]!.quoted === true) break
    const there = nounAt(words.slice(noun), context) ?? ticketAt(words.slice(noun), context)
    if (there === undefined) continue
    // "The tasks in review" are there already, and one row is added at a time.
    if (isSeveral(folded(words.slice(noun, noun + there.length)), there.noun)) break
    const title = words.slice(start, noun)
    const { kind, type } = there.noun
    const generic = kind !== undefined && GENERIC_PERSON_NOUNS.has(kind)
    if (
      title.length > 0 &&
      (type.id === PEOPLE ||
        !isValue(title) ||
        title.some(({ word }) => FUNCTION_WORDS.has(word) && !/^(and|of|in|for|the|to)$/.test(word)))
    )
      break
    // One row is added at a time: "two tasks".
    if (title.some(({ word }) => CARDINALS[word] !== undefined || /^\d+$/.test(word))) break
    const kinds = kind === undefined || generic ? {} : { kind: kind.replace(/s$/, "") }
    const after = words.slice(noun + there.length)
    const isNamed = after[0]?.quoted === true || /^(called|named|titled|entitled)$/.test(after[0]?.word ?? "")
    // "Start the checkout task", "put checkout task on high": it is there already.
    const isThere =
      !words.slice(0, start).some(({ word }) => /^(a|an|another|new|one)$/.test(word)) &&
      (way.moves === true || (way.bare && words[0]!.word === "the"))
    if (title.length > 0 && isThere && !isNamed && !(way.titled && type.id === "meetings")) break
    // "A task board" is no task.
    if (
      words[noun + there.length - 1]!.after === "" &&
      after[0]?.quoted !== true &&
      COMPOUND.test(after[0]?.text ?? "")
    )
      break
    // "a new task: Book the photographer, due May 3": the name ends at the comma.
    const comma = after.findIndex(({ after: sign }) => /[,;]/.test(sign))
    const called = after.slice(0, comma < 0 ? after.length : comma + 1)
    if (
      called.length > 0 &&
      title.length === 0 &&
      words[noun + there.length - 1]!.after.includes(":") &&
      isValue(called) &&
      (type.id !== PEOPLE || couldBeName(called))
    )
      of({ type, name: called, rest: [...lead, ...after.slice(called.length)], ...kinds })
    // "A blocked Apollo task named Ship the beta": what stands before the noun isn't the name.
    if (title.length === 0 || !isNamed || after[0]!.quoted === true)
      of({ type, rest: [...lead, ...after], ...kinds, ...(title.length === 0 ? {} : { name: title }) })
    // "a high priority task called Rotate keys".
    if (title.length > 0) of({ type, rest: [...lead, { ...title[0]!, ...WITH }, ...title, ...after], ...kinds })
    break
  }
  // "Ada Lovelace as a new lead", "Ship the beta as a blocked task".
  const as = words.findIndex(({ quoted, word }) => quoted !== true && word === "as")
  const before = as > 0 ? withoutClosers(words.slice(0, as), isPlace, false) : []
  if (as > 0 && whose.length === 0 && (couldBeName(before) || isPronoun(before) || (way.bare && isValue(before)))) {
    let from = as + 1
    while (/^(a|an|the|our|another|new|brand|one)$/.test(words[from]?.word ?? "")) from += 1
    const noun = words.findIndex((_, at) => at >= from && nounAt(words.slice(at), context) !== undefined)
    const there = noun < 0 || noun > from + 3 ? undefined : nounAt(words.slice(noun), context)
    const title = there === undefined ? [] : words.slice(from, noun)
    if (there !== undefined && (couldBeName(before) || isPronoun(before) || there.noun.type.id !== PEOPLE)) {
      const { kind, type } = there.noun
      of({
        type,
        name: before,
        rest: [
          ...(title.length === 0 ? [] : [{ ...title[0]!, ...WITH }, ...title]),
          ...words.slice(noun + there.length)
        ],
        ...(kind === undefined || GENERIC_PERSON_NOUNS.has(kind) ? {} : { kind: kind.replace(/s$/, "") })
      })
    }
  }
  if (way.statement) return found
  const people = peopleOf(context)
  if (people !== undefined && way.bare && at === 0 && isPronoun(words)) of({ type: people, name: words, rest: [] })
  const type = way.place.length === 0 ? undefined : (typeIn(way.place, context) ?? people)
  if (type !== undefined && way.bare && at === 0 && !isPronoun(words))
    if (type === people ? couldBeName(words) : words.length === 1 && words[0]!.quoted === true)
      of({ type, name: words, rest: [] })
  // "add “Renew the domain” to the Platform project": the type whose columns the rest fits.
  if (way.bare && at === 0 && words[0]?.quoted === true && words.length > 1)
    for (const type of context.types) of({ type, name: words.slice(0, 1), rest: words.slice(1) })
  const meetings = context.types.find(({ id }) => id === "meetings")
  // "Schedule it for Friday at 4": it is there already.
  const timed =
    way.titled &&
    !isPronoun(words.slice(at, at + 1)) &&
    words.some((_, from) => momentAt(words.slice(from), calendarOf(context)) !== undefined)
  if (timed && found.length === 0 && meetings !== undefined)
    of({ type: meetings, rest: [...lead, ...words.slice(start)] })
  return found
}

/** "Open a ticket called …": other words for a new task, which in a row's name are no noun. */
const ticketAt = ([first]: Words, context: Context): ReturnType<typeof nounAt> => {
  const type = context.types.find(({ name }) => name.toLowerCase() === "task")
  return type !== undefined && first !== undefined && /^(ticket|card|reminder|action|item)$/.test(first.text)
    ? { noun: { type, said: first.text }, length: 1 }
    : undefined
}

/** The type that a place names: "the task list". */
const typeIn = (place: Words, context: Context) =>
  place.map((_, at) => nounAt(place.slice(at), context)?.noun.type).find((type) => type !== undefined)

const isSeveral = (said: string, { kind, type }: Noun): boolean =>
  kind === undefined ? said === type.plural.toLowerCase() && said !== type.name.toLowerCase() : /[^s]s$/.test(kind)
