/**
 * Reads what is said of a new row: its name, time, length, people, owner and cells, in any order, until no word is left. The
 * shortest name counts whose remaining words are all understood.
 */
import { Effort } from "../Effort.ts"
import type { Context } from "../readConversation.ts"
import { byLength, startsWith } from "../patterns.ts"
import { PEOPLE } from "../../../domain/EntityType.ts"
import { type Deed, Setting } from "./Deed.ts"
import { FUNCTION_WORDS, OTHER_REQUESTS } from "./lexicon.ts"
import { lengthAt } from "./lengths.ts"
import { calendarOf, type Moment, momentAt } from "./moments.ts"
import { couldBeName } from "./readSubject.ts"
import { isValue } from "./readCreate.ts"
import {
  type About,
  columnOfConcept,
  columnOfPhrase,
  contactOf,
  type Field,
  isStateWord,
  suits,
  type Vocabulary
} from "./vocabulary.ts"
import type { Word } from "./words.ts"

type Words = ReadonlyArray<Word>

/** A new row, understood whole. */
export interface New {
  readonly name?: Words
  readonly moment: Moment
  readonly minutes?: number
  readonly people: ReadonlyArray<Words>
  readonly settings: ReadonlyArray<Setting>
}

const phrases = (texts: string) => byLength(texts.split("|"))
const SKIPPED = phrases(
  "namely|it 's|it is|to remember|to do|came in|just came in|arrived|for us|for you|and|also|that is|which is|who is|that should be|which should be|that will be|to be|please|it|they|it should be|taking place|happening|scheduled|on my calendar|in my calendar|on the calendar|in the calendar|on our calendar|to my calendar|to the calendar|in the crm|to the crm|in the system|that|which|who|is|are|should be|will be|running|be|down"
)
const NAMED = phrases(
  "subject|with the subject|with subject|topic|with the topic|called|named|titled|his name is|her name is|their name is|its name is|the name is|entitled|labelled|labeled|with the name|with the title|by the name of|with name|with title|name|title|under the name|under the title|known as"
)
const LASTING = phrases(
  "for|lasting|that lasts|lasts|which lasts|of|taking|that takes|it should last|should last|lasting for|running for|with a length of|with a duration of|for about|duration|length|to last|it will last|will last"
)
const GUESTS = phrases(
  "with|inviting|invite|and invite|attended by|including|along with|together with|for me and|guests|attendees|participants|with attendees|featuring|between me and|add|and add"
)
const OWNED = phrases(
  "assigned to|assign to|assign|owner is|assignee is|and give it to|and assign it to|and hand it to|hand it to|assign it to|assign them to|and assign them to|owned by|handled by|managed by|looked after by|belonging to|to be assigned to|to be handled by|under|owner|with owner|assignee|to be owned by|for|give it to|give them to|run by|led by|to be given to|going to|goes to|in the care of|reporting to|responsible"
)
const DUE = phrases(
  "due|due on|due by|by|ready by|has to be ready by|must be ready by|should be ready by|needs to be ready by|to be ready by|done by|has to be done by|must be done by|should be done by|needs to be done by|finished by|has to be finished by|must be finished by|and has to be ready by|with a deadline of|with deadline|with due date|deadline|with the deadline|with a due date of|needed by|to be done by|to finish by|due date|before the end of"
)
const IN = phrases(
  "interested in|keen on|looking for|in|on|under|at|to|into|as|in the|on the|under the|at the|to the|into the|as a|as the|with|with the|with a|set to|marked as|marked"
)

/** Five times the steps of the longest description in the tests that can be read. */
const MAX_STEPS = 80

/** How the words after the noun can be read; undefined if a word is left. `effort` is that of all readings of a request. */
export const readNew = (
  deed: Extract<Deed, { _tag: "Create" }>,
  { columns }: Vocabulary,
  fields: ReadonlyArray<Field>,
  context: Context,
  effort: Effort
): New | undefined => {
  const calendar = calendarOf(context)
  const start: New = { people: [], settings: [], moment: {}, ...(deed.name === undefined ? {} : { name: deed.name }) }
  // "a task to call Ada": words are rather the name than the value of a column.
  const own = new Effort(MAX_STEPS)
  const maySearch = () => own.spend(1) && effort.spend(1)
  const isPerson = deed.type.id === PEOPLE
  const search = (isNamed: boolean): Search => ({
    columns,
    fields,
    calendar,
    isNamed,
    isPerson,
    maySearch,
    failed: new Set()
  })
  // "A high priority task" has no name; a list of cells has none either.
  const { name, rest: more } = deed
  if (name !== undefined && name !== more && !name.some(({ quoted }) => quoted) && isSaidOf(name, search(false)))
    return undefined
  return rest(deed.rest, start, search(true), 0) ?? rest(deed.rest, start, search(false), 0)
}

interface Search extends About {
  /** Whether the row has to have a name. */
  readonly isNamed: boolean
  readonly isPerson: boolean
  /** Whether only what tells itself from a name counts: times, lengths, people after "with", columns. */
  readonly isStrict?: true
  readonly maySearch: () => boolean
  /** States from which the words can't be read to their end. */
  readonly failed: Set<string>
}

const rest = (words: Words, so: New, search: Search, depth: number): New | undefined => {
  if (words.length === 0) return search.isNamed && so.name === undefined ? undefined : so
  const state = stateOf(words, so, search, depth)
  if (search.failed.has(state) || !search.maySearch()) return undefined
  for (const [length, more] of steps(words, so, search, depth)) {
    const whole = rest(words.slice(length), more, search, depth + 1)
    if (whole !== undefined) return whole
  }
  search.failed.add(state)
  return undefined
}

/** What decides how the other words can be read: the ways to one state succeed or fail together. */
const stateOf = (words: Words, { minutes, moment, name, people, settings }: New, { columns }: About, depth: number) => {
  const set = settings.flatMap((each) => (each._tag === "Column" ? columnOfPhrase(each.column, columns) : []))
  return JSON.stringify([
    words.length,
    Math.min(depth, MAX_BEFORE_NAME + 1),
    [name, minutes, moment.day, moment.time, moment.until].map((part) => part !== undefined),
    settings.some(isOwner),
    people.at(-1)?.at(-1)?.after.startsWith(","),
    [...new Set(set)].sort()
  ])
}

const isOwner = (each: Setting) => each._tag === "Concept" && each.concept === "owner"

/** Parts that can stand before a name without a word that announces it. */
const MAX_BEFORE_NAME = 2

/** The possible next parts, most certain first. */
function* steps(words: Words, so: New, about: Search, depth: number): Generator<readonly [number, New]> {
  const [first] = words
  const { calendar, columns } = about
  if (first!.quoted === true) {
    if (so.name === undefined) yield [1, { ...so, name: [first!] }]
    return
  }
  const leads = (texts: ReadonlyArray<ReadonlyArray<string>>) =>
    texts.filter((text) => startsWith(words, text) && words.length > text.length).map((text) => text.length)
  const timed = momentAt(words, calendar)
  if (timed !== undefined) {
    const { day, time } = timed.value
    if ((day === undefined || so.moment.day === undefined) && (time === undefined || so.moment.time === undefined))
      yield [timed.length, { ...so, moment: { ...so.moment, ...timed.value } }]
  }
  if (so.minutes === undefined && so.moment.until === undefined) {
    for (const lead of [0, ...leads(LASTING)]) {
      const length = lengthAt(words.slice(lead))
      if (length !== undefined) yield [lead + length.length, { ...so, minutes: length.value }]
    }
  }
  if (so.name === undefined && about.isStrict !== true) {
    for (const lead of leads(NAMED)) yield* announced(words, lead, so, about)
  }
  if (columnOfConcept("due", columns) !== undefined) {
    for (const lead of leads(DUE)) {
      const at = momentAt(words.slice(lead), calendar)
      if (at?.value.day !== undefined)
        yield [
          lead + at.length,
          setting(so, Setting.Concept({ concept: "due", value: words.slice(lead, lead + at.length) }))
        ]
    }
  }
  const guests = columnOfConcept("attendees", columns)
  const owner = columnOfConcept("owner", columns)
  const ownerSet = so.settings.some(isOwner)
  if (owner !== undefined && !ownerSet) {
    // "with Nadia as the owner".
    for (const lead of [0, ...leads([["with"]])]) {
      for (let length = 1; length <= 3; length++) {
        const after = words.slice(lead + length)
        const tail = OWNING.find((text) => startsWith(after, text))
        if (tail !== undefined && couldBeName(words.slice(lead, lead + length)))
          yield [
            lead + length + tail.length,
            setting(so, Setting.Concept({ concept: "owner", value: words.slice(lead, lead + length) }))
          ]
      }
    }
  }
  // "to Carlos's tasks".
  if (owner !== undefined && !ownerSet) {
    for (const lead of leads([["to"], ["on"], ["onto"]])) {
      for (const length of nameLengths(words.slice(lead))) {
        const [sign, noun] = words.slice(lead + length)
        if (sign?.word === "'s" && LISTS.test(noun?.word ?? ""))
          yield [
            lead + length + 2,
            setting(so, Setting.Concept({ concept: "owner", value: words.slice(lead, lead + length) }))
          ]
      }
    }
  }
  // "a task of Olga's".
  if (owner !== undefined && !ownerSet) {
    for (const lead of leads([["of"]])) {
      for (const length of nameLengths(words.slice(lead)))
        if (words[lead + length]?.word === "'s")
          yield [
            lead + length + 1,
            setting(so, Setting.Concept({ concept: "owner", value: words.slice(lead, lead + length) }))
          ]
    }
  }
  if (guests !== undefined) {
    for (const lead of leads(GUESTS)) {
      for (const length of nameLengths(words.slice(lead)))
        yield [lead + length, { ...so, people: [...so.people, words.slice(lead, lead + length)] }]
    }
    if (first!.word === "and" && so.people.length > 0) {
      for (const length of nameLengths(words.slice(1)))
        yield [1 + length, { ...so, people: [...so.people, words.slice(1, 1 + length)] }]
    }
    if (so.people.length > 0 && (so.people.at(-1)!.at(-1) as Word).after.startsWith(",")) {
      for (const length of nameLengths(words)) yield [length, { ...so, people: [...so.people, words.slice(0, length)] }]
    }
  }
  if (owner !== undefined && !ownerSet) {
    for (const lead of leads(OWNED)) {
      for (const length of nameLengths(words.slice(lead)))
        yield [
          lead + length,
          setting(so, Setting.Concept({ concept: "owner", value: words.slice(lead, lead + length) }))
        ]
    }
  }
  for (let length = 1; length <= Math.min(4, words.length); length++) {
    const contact = contactOf(words.slice(0, length))
    if (contact !== undefined && columnOfConcept(contact, columns) !== undefined)
      yield [length, setting(so, Setting.Concept({ concept: contact, value: words.slice(0, length) }))]
  }
  // "status Lead", "with phone 512-555-0142".
  const withLead = leads([["with"], ["with", "a"], ["with", "the"], ["the"], ["whose"], ["a"], ["their"], ["its"]])
  for (const lead of [0, ...withLead]) {
    for (let length = Math.min(3, words.length - lead - 1); length >= 1; length--) {
      const phrase = words.slice(lead, lead + length)
      if (
        phrase.some(({ quoted, word }) => quoted === true || FUNCTION_WORDS.has(word)) ||
        columnOfPhrase(phrase, columns) === undefined
      )
        continue
      const copula = ["is", "of", "=", "to", "should be"]
        .map((text) => text.split(" "))
        .find((text) => startsWith(words.slice(lead + length), text))
      const from = lead + length + (copula?.length ?? 0)
      // "project Website, low": the value ends at the comma.
      for (const value of valueLengths(words.slice(from)).filter(
        (length) =>
          suits(columnOfPhrase(phrase, columns)!, words.slice(from, from + length), about) &&
          !words.slice(from, from + length - 1).some(({ after }) => after.includes(","))
      ))
        yield [from + value, setting(so, Setting.Column({ column: phrase, value: words.slice(from, from + value) }))]
    }
  }
  // "in the Back end board", "in In Review", "as a lead"; "medium priority" alone.
  const kinded = leads([["for", "the"]])
  // "A task to call Ada": what is to be done.
  const isInfinitive =
    so.name === undefined &&
    !about.isPerson &&
    first!.word === "to" &&
    words[1]?.capital === false &&
    words[1].quoted !== true
  // "A task to set Rotate keys to done": a part of the name.
  const [verb] = so.name ?? []
  const isMoved =
    first!.word === "to" && verb?.capital === false && verb.quoted !== true && OTHER_REQUESTS.has(verb.word)
  for (const lead of [...leads(IN), ...kinded, 0]) {
    for (const length of valueLengths(words.slice(lead)).slice(0, 4)) {
      const value = words.slice(lead, lead + length)
      // "Call the vendor with high priority".
      if (lead === 0 && value.slice(1).some(({ quoted, word }) => quoted !== true && /^(with|for|by|the)$/.test(word)))
        break
      // "Ship the beta, high priority": the name isn't a part of the value.
      if (value.slice(0, -1).some(({ after }) => after.includes(","))) break
      for (let kind = value.at(-1)!.after.includes(",") ? 3 : 1; kind <= 2; kind++) {
        const phrase = words.slice(lead + length, lead + length + kind)
        if (phrase.length < kind || !(isStateWord(phrase) || columnOfPhrase(phrase, columns) !== undefined)) continue
        const own = columnOfPhrase(phrase, columns) !== undefined
        if (own && !suits(columnOfPhrase(phrase, columns)!, value, about)) continue
        // "plan 2024 Equity Plan" names one plan.
        if (lead === 0 && so.settings.some((one) => one._tag === "Column" && isSame(one.column, phrase, columns)))
          continue
        yield [
          lead + length + kind,
          setting(so, own ? Setting.Column({ column: phrase, value }) : Setting.Value({ value, kind: phrase }))
        ]
      }
      // "Slides for the launch" is rather a name.
      if (lead > 0 && about.isStrict !== true && !isInfinitive && !isMoved && !kinded.includes(lead))
        yield [lead + length, setting(so, Setting.Value({ value }))]
    }
  }
  const skipped = SKIPPED.find((text) => startsWith(words, text))
  // "and cancel the one with Nia" is another request.
  const isRequest = first!.word === "and" && OTHER_REQUESTS.has(words[1]?.word ?? "") && skipped?.length === 1
  if (skipped !== undefined && !isRequest && skipped.length < words.length + (depth > 0 ? 1 : 0))
    yield [skipped.length, so]
  if (about.isStrict === true) return
  // "45 minutes with Olga tomorrow at 4 for a Roadmap talk", "about the budget": what follows is all that is left.
  const article = /^(a|an|the)$/.test(words[1]?.word ?? "") ? 2 : 1
  if (
    so.name === undefined &&
    so.moment.time !== undefined &&
    (first!.word === "about" || (first!.word === "for" && article === 2)) &&
    words.length > article
  )
    for (const found of unannounced(words, article, so, about)) if (found[0] === words.length) yield found
  if (so.name === undefined && depth <= MAX_BEFORE_NAME) {
    // "we need someone to clean the kitchen": an infinitive is no person's name.
    if (!/^(for|about|of|to)$/.test(first!.word)) yield* unannounced(words, 0, so, about)
    else if (!about.isPerson) yield* unannounced(words, 1, so, about)
  }
  // "book Fatima for an hour".
  if (depth === 0 && about.fields.some(({ id, kind }) => id === guests && kind === "references"))
    for (const length of nameLengths(words))
      if (words.length > length) yield [length, { ...so, people: [words.slice(0, length)] }]
}

/** Where a person's rows are kept, in people's words. */
const LISTS = /^(tasks|list|plate|queue|pile|todos|to-dos|work|workload|backlog|desk)$/
const OWNING = [
  "as the owner",
  "as owner",
  "as their owner",
  "as its owner",
  "as the rep",
  "as rep",
  "as the account manager",
  "as the assignee",
  "as the responsible person",
  "in charge",
  "responsible",
  "as account manager"
].map((text) => text.split(" "))

const isSame = (one: Words, other: Words, columns: Vocabulary["columns"]): boolean =>
  columnOfPhrase(one, columns) === columnOfPhrase(other, columns)

const setting = (so: New, more: Setting): New => ({ ...so, settings: [...so.settings, more] })

/**
 * The names after "called": the rest of a name is no column and no person, so that it ends where something else begins, and
 * elsewhere only if nothing can be made of the words otherwise.
 */
function* announced(words: Words, from: number, so: New, { calendar, columns }: About) {
  const labels = new Set(columns.flatMap(({ id, name }) => [id, name.toLowerCase()]))
  const titled = words[from]?.capital === true
  const ends = (at: number): boolean => {
    const [last, next] = [words[at - 1]!, words[at]]
    if (next === undefined || last.after !== "" || next.quoted === true) return true
    if (!next.capital && (titled || FUNCTION_WORDS.has(next.word) || labels.has(next.word))) return true
    return BEGINNING.has(next.word) || momentAt(words.slice(at), calendar) !== undefined
  }
  const all = [...names(words, from, so)]
  yield* all.filter(([length]) => ends(length))
  yield* all.filter(([length]) => !ends(length))
}
/** Words that begin something else than a name's rest, however they are written. */
const BEGINNING = new Set("on at with for and from lasting inviting".split(" "))

/** Names that no word announces: what can all be said of a row is none, and neither is "one for Nia". */
function* unannounced(words: Words, from: number, so: New, about: Search) {
  const [first, second] = words.slice(from)
  if (first === undefined) return
  const isPlain = first.quoted !== true
  if (isPlain && (JOINED.test(first.text) || (COUNTED.test(first.word) && FUNCTION_WORDS.has(second?.word ?? ""))))
    return
  // "for an hour": its number was taken for an article.
  const isLength = isPlain && (UNITS.test(first.text) || lengthAt(words.slice(Math.max(0, from - 1))) !== undefined)
  if (isLength) return
  for (const found of names(words, from, so)) {
    const name = words.slice(from, found[0])
    if (name.some(({ quoted }) => quoted) || !isSaidOf(name, about)) yield found
  }
}
/** What is left of a length without its number. */
const UNITS = /^(hours?|hrs?|minutes?|mins?)$/
const COUNTED = /^(one|another|more)$/
/** Words that join what follows to what was said before. */
const JOINED =
  /^(like|out|so|than|because|if|which|that|interested|based|similar|except|instead|without|within|until|since)$/

/** Whether words are a description of a new row without its name: "high priority", "on Monday with Nia", "due". */
const isSaidOf = (name: Words, about: Search): boolean =>
  !name.slice(momentAt(name, about.calendar)?.length ?? 0).some(({ text }) => /\p{L}/u.test(text)) ||
  (about.isPerson && !couldBeName(name)) ||
  (COUNTED.test(name.at(-1)!.text) && name.length > 1) ||
  [...DUE, ...OWNED, ...GUESTS, ...LASTING].some(
    (phrase) => phrase.length === name.length && name.every(({ text }, at) => text === phrase[at])
  ) ||
  rest(
    name,
    { people: [], settings: [], moment: {} },
    { ...about, isNamed: false, isStrict: true, failed: new Set() },
    1
  ) !== undefined

function* names(words: Words, from: number, so: New): Generator<readonly [number, New]> {
  if (words[from]?.quoted === true) {
    yield [from + 1, { ...so, name: [words[from]] }]
    return
  }
  for (let length = 1; from + length <= words.length; length++) {
    const name = words.slice(from, from + length)
    // What follows a comma is said of the row, and no part of its name.
    if (name.some(({ quoted }) => quoted) || name.slice(0, -1).some(({ after }) => after.includes(","))) return
    // "for me to remember: Order toner", "for Raj: Clean the kitchen": the name begins after the colon.
    if (!name[0]!.capital && name.slice(0, -1).some(({ after }) => after.includes(":"))) return
    // "Ship it": more of the name, which has to be quoted.
    const next = words[from + length]
    if (name.at(-1)!.after === "" && next?.quoted !== true && /^(it|them|us|him|her|you)$/.test(next?.text ?? ""))
      continue
    if (isValue(name)) yield [from + length, { ...so, name }]
  }
}

const nameLengths = (words: Words): ReadonlyArray<number> =>
  [1, 2, 3].filter(
    (length) =>
      length <= words.length &&
      couldBeName(words.slice(0, length)) &&
      !words.slice(0, length).some(({ word }) => word === "and")
  )

const valueLengths = (words: Words): ReadonlyArray<number> =>
  words[0]?.quoted === true
    ? [1]
    : Array.from({ length: Math.min(6, words.length) }, (_, index) => index + 1).filter((length) => {
        const value = words.slice(0, length)
        return isValue(value) && !value.some(({ quoted }) => quoted)
      })
