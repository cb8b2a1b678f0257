/**
 * Reads a request by its parts in any order, without any sentence around them: names of rows, values, columns, people and times.
 * "po-1001 approved", "severity monitor flickers -> major", "close all solved tickets", "new task: buy paper, high, Raj". Names and
 * values are what rows have, so nothing is guessed; every word has to be a part, and what can be two things is no telegram.
 */
import { PEOPLE } from "../../../domain/EntityType.ts"
import { MAX_LIMIT } from "../../../domain/Query.ts"
import type { ListedColumn } from "../../../domain/Page.ts"
import { foldText } from "../../../domain/keys.ts"
import { nounAt } from "../Lookup.ts"
import type { Context, ContextType } from "../readConversation.ts"
import { columnsOf, find, inParallel, type Script } from "../script.ts"
import { withoutClosers, withoutOpeners } from "./clauses.ts"
import { Deed, type Request, Setting, Subject } from "./Deed.ts"
import { withNoun } from "./everything.ts"
import { type Name, namesAmong, type Value, valuesAmong } from "./labels.ts"
import { lengthAt } from "./lengths.ts"
import { FUNCTION_WORDS } from "./lexicon.ts"
import { type Calendar, calendarOf, momentAt } from "./moments.ts"
import { unsaid } from "./parts.ts"
import { couldBeName, readSubject } from "./readSubject.ts"
import { columnOfConcept, columnOfPhrase, contactOf, isStateWord } from "./vocabulary.ts"
import type { Said, Word } from "./words.ts"

type Words = ReadonlyArray<Word>
type Change = Exclude<Deed, { _tag: "Create" | "Stretch" }>

const MAX_TELEGRAM = 16
const MAX_TYPES = 4
/** What makes a sentence more than its parts. */
const NO_TELEGRAM =
  /^(if|unless|when|whenever|until|whether|maybe|perhaps|or|either|only|why|who|whose|which|how|because)$/
const JOINT = /^(and|&|\+|plus|also)$/
const LINK = /^(to|->|=>|→|=|as|into|is|be)$/
/** A link after which a person is whom rows are given to. */
const GIVING = /^(to|->|=>|→|for|with)$/
const SETTING = new RegExp(
  `^(${"set put get do send sent give given made make change changed update updated move moved raise raised".replaceAll(" ", "|")}|(mark|switch|flip|bump|turn|reopen|assign|reassign|pass|hand|push|lower|swap|transfer)(p?ed|red)?)$`
)
const EMPTYING = /^(clear|empty|unset|remove|erase|wipe|blank|delete|take away|take off)$/
const DELETING = /^(delete|remove|erase|cancel|bin|scrap|trash)$/
const CREATING = /^(new|add|create|make|open|log|start)$/
const ARTICLE = /^(a|an|the|new|another|my|our)$/
const SILENT =
  /^(now|instead|again|back|over|up|down|the|then|its|it|'s|status|please|both|all|must|should|be|has|have|needs|need|for|of|from|by|in|on|at|me|that|like|want|i|would|to|so|as)$/
const LATER = /^(later|earlier|sooner|after)$/
const DUE = /^(due|deadline)$/
const SIGNS = /[,:;–—-]/

/** What a request can be read with. */
interface Known {
  readonly said: Said
  readonly type: ContextType
  readonly columns: ReadonlyArray<ListedColumn>
  readonly values: ReadonlyArray<Value & { readonly words: Words }>
  readonly calendar: Calendar
}

/** Whether words can be a telegram, as far as one can tell without a lookup. */
export const mayBeTelegram = ({ words }: Said): boolean =>
  words.length >= 2 &&
  words.length <= MAX_TELEGRAM &&
  !/[?]/.test(words.at(-1)!.after) &&
  !words.some(({ after }) => /[?]/.test(after))

/** The request that the parts are; undefined if a word is left over or can be two things. */
export function* telegram(said: Said, context: Context): Script<Request | undefined> {
  if (!mayBeTelegram(said)) return undefined
  const words = withoutClosers(withoutOpeners(said.words).at(-1)!, () => false, true)
  const nouns = words.flatMap((_, at) => nounAt(words.slice(at), context)?.noun.type ?? [])
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
  if ([...before, ...after].some(({ quoted, word }) => quoted !== true && NO_TELEGRAM.test(word))) return undefined
  const known = yield* knownOf(said, [before, after], type, context)
  const named = Subject.Named({ words: words.slice(from, to), type, ...(each.length > 1 ? { each } : {}) })
  const deed = deedOf(named, withoutNoun(before, context), after, known)
  return deed === undefined ? undefined : { said, deeds: [deed], loose: [], framed: [] }
}

/** A set of rows: "orders over 5000: high, Yuki", "approve all draft orders". */
function* ofSet(
  said: Said,
  words: Words,
  nouns: ReadonlyArray<ContextType>,
  context: Context
): Script<Request | undefined> {
  const read = readSubject(context, calendarOf(context))
  const types = nouns.length > 0 ? [...new Set(nouns)] : context.types.slice(0, MAX_TYPES)
  const [first, ...rest] = words
  const isVerb =
    first!.quoted !== true &&
    participles([first!]).length > 0 &&
    !SETTING.test(first!.word) &&
    nounAt(words, context) === undefined
  const found = yield* inParallel((isVerb ? types : []).map((type) => knownOf(said, [[first!]], type, context)))
  // "Approve all draft orders"; "open tickets" are some of them.
  const verbs = found.flatMap(({ type, values }) =>
    values.filter(({ text }) => foldText(text) !== first!.word).map((value) => ({ ...value, type }))
  )
  const [verb, other] = verbs
  if (verb !== undefined && other === undefined) {
    const subject = rowsOf(rest, verb.type, read)
    if (subject === undefined) return undefined
    const settings = [Setting.Column({ column: named(verb.column), value: [unsaid(verb.text)] })]
    return { said, deeds: [Deed.Update({ subject, settings })], loose: [], framed: [] }
  }
  // "Tasks from Yuki that are due before December 6: priority high".
  const sign = words.findIndex(
    ({ after, quoted, word }) => after.includes(":") || (quoted !== true && /^(->|=>|→|=)$/.test(word))
  )
  const to = sign < 0 ? -1 : words[sign]!.after.includes(":") ? sign + 1 : sign
  const subject = to > 0 ? rowsOf(words.slice(0, to), undefined, read) : undefined
  if (subject !== undefined) {
    const values = words.slice(to)
    const known = yield* knownOf(said, [values], subject.lookup.noun.type, context)
    const settings = settingsOf(values, known, words[to - 1]!.after)
    if (settings !== undefined && settings.length > 0)
      return { said, deeds: [Deed.Update({ subject, settings })], loose: [], framed: [] }
  }
  return undefined
}

/** The rows that the words mean with every one of them, also if they are called by no noun. */
const rowsOf = (
  words: Words,
  type: ContextType | undefined,
  read: (words: Words) => Subject | undefined
): Extract<Subject, { _tag: "Rows" }> | undefined => {
  const { words: own } = (type && withNoun({ text: "", words }, type)) ?? { words }
  const every = /^(all|every|each|any|the|my|our)$/.test(own[0]?.word ?? "") ? own : [unsaid("all"), ...own]
  const subject = own.length === 0 ? undefined : read(every)
  return subject?._tag === "Rows" ? subject : undefined
}

const MAX_POSSESSORS = 3

/** "Kofis tickets": with the apostrophe, where a person has the name without the s. */
export function* possessive(said: Said, context: Context): Script<Said> {
  const { words } = said
  const people = context.types.find(({ id }) => id === PEOPLE)
  const places = words.flatMap((_, at) => (mayPossess(words, at, context) ? [at] : []))
  if (people === undefined || places.length === 0 || places.length > MAX_POSSESSORS) return said
  const stems = places.map((at) => {
    const { end, text } = words[at]!
    const stem = text.slice(0, -1)
    return [
      { ...words[at]!, text: stem, word: foldText(stem), end: end - 1 },
      { ...words[at]!, text: "'s", word: "'s", capital: false, start: end - 1 }
    ] as const
  })
  const pages = yield* inParallel(
    stems.map(([{ word }]) =>
      find({ entityTypeId: PEOPLE, filters: [{ columnId: "name", op: "ilike", value: word }], limit: MAX_LIMIT })
    )
  )
  const isName = (index: number) =>
    pages[index]?.entities.some(({ displayName }) =>
      foldText(displayName ?? "")
        .split(/[\s,-]+/)
        .includes(stems[index]![0].word)
    ) === true
  const named = places.filter((_, index) => isName(index))
  return named.length === 0
    ? said
    : { ...said, words: words.flatMap((each, at) => (named.includes(at) ? stems[places.indexOf(at)]! : [each])) }
}

/** Words between a person and the noun of what is theirs. */
const MAX_BETWEEN = 3
/** Whether a word with an s at its end stands where a person can: before a noun, or after "of". */
const mayPossess = (words: Words, at: number, context: Context): boolean => {
  const each = words[at]!
  if (each.quoted === true || !/^\p{L}{3,}s$/u.test(each.word) || /ss$/.test(each.word) || each.after !== "")
    return false
  const next = words[at + 1]
  if (next?.word === "'s" || nounAt(words.slice(at), context) !== undefined) return false
  if (words[at - 1]?.word === "of") return true
  const noun = words.findIndex((_, index) => index > at && nounAt(words.slice(index), context) !== undefined)
  return (
    noun > at &&
    noun - at <= MAX_BETWEEN + 1 &&
    words.slice(at + 1, noun).every((one) => one.quoted !== true && !FUNCTION_WORDS.has(one.word) && one.after === "")
  )
}

/** What rows have among the words around the names. */
function* knownOf(said: Said, around: ReadonlyArray<Words>, type: ContextType, context: Context): Script<Known> {
  const columns = yield* columnsOf(type.id)
  const found = yield* inParallel(around.map((words) => valuesAmong(said, words, type, columns, participles)))
  const values = found.flatMap((all, at) => all.map((each) => ({ ...each, words: around[at]! })))
  return { said, type, columns, values, calendar: calendarOf(context) }
}

/** "Approve", "close", "ship": the states that the verbs lead to. */
const participles = (words: Words): ReadonlyArray<string> => {
  const [only] = words
  if (words.length !== 1 || !/^[a-z]{3,}$/.test(only!.word)) return []
  const { word } = only!
  return word.endsWith("e") ? [`${word}d`] : [`${word}ed`, `${word}${word.at(-1)}ed`]
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

const deedOf = (subject: Subject, before: Words, after: Words, known: Known): Change | undefined => {
  const { columns } = known
  const [verb] = before
  // "Reject Samir Haddad".
  if (before.length === 1 && verb!.quoted !== true && after.every(isSilent) && !SETTING.test(verb!.word)) {
    const [value, other] = known.values.filter(
      (each) => each.words[0] === verb && (foldText(each.text) !== verb!.word || verb!.word === "open")
    )
    return value === undefined || other !== undefined
      ? undefined
      : Deed.Update({
          subject,
          settings: [Setting.Column({ column: named(value.column), value: [unsaid(value.text)] })]
        })
  }
  const told = before.filter((each) => !isSilent(each) && !SETTING.test(each.word))
  // "Delete me please the task Design new logo".
  if (told.length === 1 && DELETING.test(told[0]!.word) && after.every(isSilent)) return Deed.Delete({ subject })
  const verbs =
    [2, 1].find((length) =>
      EMPTYING.test(
        told
          .slice(0, length)
          .map(({ word }) => word)
          .join(" ")
      )
    ) ?? 0
  if (verbs > 0) {
    const column = told.slice(verbs)
    return column.length > 0 && columnAt(column, columns)?.length === column.length && after.every(isSilent)
      ? Deed.Update({ subject, settings: [Setting.Column({ column, value: [] })] })
      : undefined
  }
  const rest = [...before, ...after]
  const moved = shiftOf(
    subject,
    rest.filter((each) => !SETTING.test(each.word)),
    known
  )
  if (moved !== undefined) return moved
  const settings = settingsOf(rest, known, subject._tag === "Named" ? subject.words.at(-1)!.after : "")
  return settings === undefined || settings.length === 0 ? undefined : Deed.Update({ subject, settings })
}

const isSilent = ({ quoted, word }: Word): boolean => quoted !== true && SILENT.test(word)
const named = (column: string): Words => [unsaid(column.replaceAll("_", " "))]

/** "Start date 1 week later". */
const shiftOf = (subject: Subject, words: Words, { columns }: Known): Change | undefined => {
  const start = words.findIndex((each) => !isSilent(each))
  const column = columnAt(words.slice(start), columns)
  const after = words.slice(Math.max(0, start) + (column?.length ?? 0))
  const rest = after.slice(
    Math.max(
      0,
      after.findIndex((each) => !isSilent(each))
    )
  )
  const length = lengthAt(rest)
  const [direction, ...more] = rest.slice(length?.length ?? 0)
  return length === undefined || direction === undefined || !LATER.test(direction.word) || !more.every(isSilent)
    ? undefined
    : Deed.Shift({
        subject,
        minutes: /^(later|after)$/.test(direction.word) ? length.value : -length.value,
        ...(column === undefined ? {} : { column: words.slice(start, start + column.length) })
      })
}

/** "Both deadlines". */
const inSingular = (phrase: Words): Words =>
  phrase.map((each, at) => (at < phrase.length - 1 ? each : { ...each, word: each.word.replace(/s$/, "") }))

/** The column that the first words name. */
const columnAt = (
  words: Words,
  columns: ReadonlyArray<ListedColumn>
): { readonly id: string; readonly length: number } | undefined => {
  for (let length = Math.min(3, words.length); length >= 1; length--) {
    const phrase = words.slice(0, length)
    if (phrase.some(({ quoted, word }) => quoted === true || FUNCTION_WORDS.has(word))) continue
    if (phrase.slice(0, -1).some(({ after }) => after !== "")) continue
    const id = columnOfPhrase(phrase, columns) ?? columnOfPhrase(inSingular(phrase), columns)
    if (id !== undefined) return { id, length }
  }
  return undefined
}

/** The cells that the words are, one after another; undefined if a word is left. `before` is the sign before them. */
const settingsOf = (words: Words, known: Known, before: string): ReadonlyArray<Setting> | undefined => {
  const found: Array<Setting> = []
  let sign = before
  let isLinked = false
  let isGiving = false
  for (let at = 0; at < words.length;) {
    const here = words.slice(at)
    const [first] = here
    const taken = settingAt(here, known, isLinked, isGiving || SIGNS.test(sign))
    if (taken !== undefined) {
      found.push(taken.setting)
      at += taken.length
      sign = words[at - 1]!.after
      isLinked = isGiving = false
      continue
    }
    const isTwo = first!.word === "2" && here.length > 1
    if (
      first!.quoted === true ||
      !(isSilent(first!) || isTwo || [LINK, GIVING, JOINT, SETTING].some((each) => each.test(first!.word)))
    )
      return undefined
    isLinked ||= LINK.test(first!.word) || isTwo
    isGiving ||= GIVING.test(first!.word) || isTwo
    at += 1
  }
  return isLinked || isGiving ? undefined : found
}

/** A cell at the beginning of the words. */
const settingAt = (
  words: Words,
  known: Known,
  isLinked: boolean,
  isGiven: boolean
): { readonly setting: Setting; readonly length: number } | undefined => {
  const { calendar, columns } = known
  const column = isLinked ? undefined : columnAt(words, columns)
  if (column !== undefined) {
    for (let from = column.length; from < words.length; from++) {
      const length = valueLength(words.slice(from), column.id, known)
      if (length > 0)
        return {
          length: from + length,
          setting: columnSetting(words.slice(0, column.length), words.slice(from, from + length), column.id, known)
        }
      if (!isSilent(words[from]!) && !LINK.test(words[from]!.word)) break
    }
    return undefined
  }
  const value = valueAt(words, known)
  if (value !== undefined) {
    const kind = columnAt(words.slice(value.length), columns)
    const own = kind !== undefined && kind.id === value.column ? kind.length : 0
    const state = own === 0 && isStateWord(words.slice(value.length, value.length + 1)) ? 1 : 0
    return {
      length: value.length + own + state,
      setting: Setting.Column({ column: named(value.column), value: [unsaid(value.text)] })
    }
  }
  const due = DUE.test(words[0]!.word) ? 1 : 0
  const isDue = due > 0 && columnOfConcept("due", columns) !== undefined
  const skipped = isDue && /^(on|by|at)$/.test(words[due]?.word ?? "") ? 1 : 0
  const time = isDue || isLinked ? momentAt(words.slice(due + skipped), calendar) : undefined
  if (time !== undefined && time.value.time === undefined) {
    const when = words.slice(due + skipped, due + skipped + time.length)
    return {
      length: due + skipped + time.length,
      setting: isDue ? Setting.Concept({ concept: "due", value: when }) : Setting.Value({ value: when })
    }
  }
  if (words[0]!.word === "mine" && columnOfConcept("owner", columns) !== undefined)
    return { length: 1, setting: Setting.Concept({ concept: "owner", value: [unsaid("me")] }) }
  if (!isGiven || columnOfConcept("owner", columns) === undefined) return undefined
  const length = personLength(words)
  return length === 0
    ? undefined
    : { length, setting: Setting.Concept({ concept: "owner", value: words.slice(0, length) }) }
}

const columnSetting = (column: Words, said: Words, id: string, { values }: Known): Setting => {
  const own = values.find(
    (each) => each.column === id && each.to - each.from === said.length && each.words[each.from] === said[0]
  )
  return Setting.Column({ column, value: own === undefined ? said : [unsaid(own.text)] })
}

/** The value that the first words are: the longest, of one column only. */
const valueAt = (words: Words, { values }: Known): (Value & { readonly length: number }) | undefined => {
  const here = values
    .filter((each) => each.words[each.from] === words[0])
    // "Close": only as the verb of a request.
    .filter((each) => {
      const said = each.words.slice(each.from, each.to)
      return said.map(({ word }) => word).join(" ") === foldText(each.text) || said[0]!.quoted === true
    })
    .map((each) => ({ ...each, length: each.to - each.from }))
    .toSorted((a, b) => b.length - a.length)
  const [first, second] = here
  return first === undefined || second?.length === first.length ? undefined : first
}

/** How many of the first words are a value of a column that is named before them. */
const valueLength = (words: Words, column: string, { calendar, columns, values }: Known): number => {
  const holds = columns.find(({ id }) => id === column)?.holds ?? "text"
  const [first] = words
  if (first === undefined) return 0
  if (/^(date|time)$/.test(holds)) return momentAt(words, calendar)?.length ?? 0
  if (holds === "number") return /^[$€£]?\d[\d,.]*$/.test(first.text) ? 1 : 0
  if (holds.startsWith("→")) return personLength(words)
  if (first.quoted === true || contactOf([first]) !== undefined) return 1
  const own = values.filter((each) => each.column === column && each.words[each.from] === first)
  if (own.length > 0) return Math.max(...own.map(({ from, to }) => to - from))
  // A new value is all that is left.
  return words.length <= 3 &&
    !words.some(
      ({ after, quoted, word }) => quoted === true || FUNCTION_WORDS.has(word) || SIGNS.test(after) || JOINT.test(word)
    )
    ? words.length
    : 0
}

/** One or two words that can be a person's name, up to a sign, a conjunction or the end. */
const personLength = (words: Words): number => {
  const end = words.findIndex(
    ({ after, word }, at) =>
      SIGNS.test(after) ||
      at === words.length - 1 ||
      JOINT.test(words[at + 1]!.word) ||
      isSilent(words[at + 1]!) ||
      word === "me"
  )
  const name = words.slice(0, end + 1)
  return name.length <= 2 && couldBeName(name) ? name.length : 0
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
  const known = yield* knownOf(said, [rest], type, context)
  const settings = settingsOf(rest, known, ",")
  if (settings === undefined || settings.length === 0) return undefined
  const deed = Deed.Create({ type, name, rest: [], people: [], settings })
  return { said, deeds: [deed], loose: [], framed: [] }
}
