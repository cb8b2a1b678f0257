/** The cells that the words around the names of rows are, in any order: values, columns beside their values, people and times. */
import type { ListedColumn } from "../../../domain/Page.ts"
import { foldText } from "../../../domain/keys.ts"
import { startsWith } from "../patterns.ts"
import type { Context, ContextType } from "../readConversation.ts"
import { columnsOf, inParallel, type Script } from "../script.ts"
import { Deed, Setting, type Subject } from "./Deed.ts"
import { type Value, valuesAmong } from "./labels.ts"
import { lengthAt } from "./lengths.ts"
import { FUNCTION_WORDS } from "./lexicon.ts"
import { type Calendar, calendarOf, momentAt } from "./moments.ts"
import { unsaid } from "./parts.ts"
import { couldBeName } from "./readSubject.ts"
import { columnOfConcept, columnOfPhrase, contactOf, isStateWord, statusColumns } from "./vocabulary.ts"
import type { Said, Word } from "./words.ts"

type Words = ReadonlyArray<Word>
type Change = Exclude<Deed, { _tag: "Create" | "Stretch" }>

export const JOINT = /^(and|&|\+|plus|also)$/
const LINK = /^(to|->|=>|→|=|as|into|is|be)$/
/** A link after which a person is whom rows are given to. */
const GIVING = /^(to|->|=>|→)$/
export const SETTING =
  /^(set|put|get|do|take|send|sent|give|given|make|made|change|changed|update|updated|move|moved|raise|raised|(mark|switch|flip|bump|turn|reopen|assign|reassign|pass|hand|push|lower|swap|transfer)(p?ed|red)?)$/
const EMPTYING = /^(clear|empty|unset|remove|erase|wipe|blank|delete|take away|take off)$/
const DELETING = /^(delete|remove|erase|cancel|bin|scrap|trash)$/
const SILENT =
  /^(now|instead|again|back|over|up|down|the|then|its|it|status|please|both|all|must|should|be|has|have|needs|need|for|of|from|by|in|on|at|me|that|like|want|i|would|to|so|as)$/
const LATER = /^(later|earlier|sooner|after)$/
const DUE = /^(due|deadline)$/
const SIGNS = /[,:;–—-]/

/** What a request can be read with. */
export interface Known {
  readonly said: Said
  readonly type: ContextType
  readonly columns: ReadonlyArray<ListedColumn>
  readonly values: ReadonlyArray<Value & { readonly words: Words }>
  readonly calendar: Calendar
}

/** What rows have among the words around the names. */
export function* knownOf(said: Said, around: ReadonlyArray<Words>, type: ContextType, context: Context): Script<Known> {
  const columns = yield* columnsOf(type.id)
  const found = yield* inParallel(around.map((words) => valuesAmong(said, words, type, columns, participles)))
  const values = found.flatMap((all, at) => all.map((each) => ({ ...each, words: around[at]! })))
  return { said, type, columns, values, calendar: calendarOf(context) }
}

/** "Approve", "close", "ship": the states that the verbs lead to. */
export const participles = (words: Words): ReadonlyArray<string> => {
  const [only] = words
  if (words.length !== 1 || !/^[a-z]{3,}$/.test(only!.word)) return []
  const { word } = only!
  return word.endsWith("e") ? [`${word}d`] : [`${word}ed`, `${word}${word.at(-1)}ed`]
}

export const deedOf = (subject: Subject, before: Words, after: Words, known: Known): Change | undefined => {
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
  const settings = settingsOf(
    rest,
    known,
    before.length === 0 && subject._tag === "Named" ? subject.words.at(-1)!.after : ""
  )
  return settings === undefined || settings.length === 0 ? undefined : Deed.Update({ subject, settings })
}

const isSilent = ({ quoted, word }: Word): boolean => quoted !== true && SILENT.test(word)
export const named = (column: string): Words => [unsaid(column.replaceAll("_", " "))]

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
    const isFollowUp = startsWith(phrase, ["follow", "up"])
    if (phrase.some(({ quoted, word }) => quoted === true || (!isFollowUp && FUNCTION_WORDS.has(word)))) continue
    if (phrase.slice(0, -1).some(({ after }) => after !== "")) continue
    const id = columnOfPhrase(phrase, columns) ?? columnOfPhrase(inSingular(phrase), columns)
    if (id !== undefined) return { id, length }
  }
  return undefined
}

/** The cells that the words are, one after another; undefined if a word is left. `before` is the sign before them. */
export const settingsOf = (words: Words, known: Known, before: string): ReadonlyArray<Setting> | undefined => {
  const found: Array<Setting> = []
  let sign = before
  let isLinked = false
  let isGiving = false
  for (let at = 0; at < words.length;) {
    const here = words.slice(at)
    const [first] = here
    // "Unblocked, back to in progress": the state that follows tells what it is now.
    const isFreed = first!.quoted !== true && FREED.test(first!.word) && statesAmong(here.slice(1), known)
    const taken = isFreed ? undefined : settingAt(here, known, isLinked, isGiving || SIGNS.test(sign))
    if (taken !== undefined) {
      found.push(taken.setting)
      at += taken.length
      sign = words[at - 1]!.after
      isLinked = isGiving = false
      continue
    }
    // "New deadline".
    const isBeforeColumn = first!.word === "new" && columnAt(here.slice(1), known.columns) !== undefined
    // "In review and with Kofi": alone it tells who is there.
    const isWith = first!.word === "with" && found.length > 0
    const isTwo = first!.word === "2" && here.length > 1
    if (
      first!.quoted === true ||
      !(
        isSilent(first!) ||
        isBeforeColumn ||
        isFreed ||
        isTwo ||
        isWith ||
        [LINK, GIVING, JOINT, SETTING].some((each) => each.test(first!.word))
      )
    )
      return undefined
    isLinked ||= LINK.test(first!.word) || isTwo
    isGiving ||= GIVING.test(first!.word) || isTwo || isWith
    // "Keyboard is lost, from Nia": not whose it is.
    if (/^(from|by|of|in|on|at)$/.test(first!.word)) sign = ""
    at += 1
  }
  return isLinked || isGiving ? undefined : found
}

const FREED = /^(unblocked|reopened|resumed|restarted)$/
/** Whether a state is among the words. */
const statesAmong = (words: Words, { columns, values }: Known): boolean => {
  const status = statusColumns(columns)
  return values.some(({ column, from, words: own }) => status.includes(column) && words.includes(own[from]!))
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
      const isNew = !known.values.some((each) => each.column === column.id && each.words[each.from] === words[from])
      // "Supplier: to be discussed".
      if (length > 0 && isNew && words[from - 1]!.word === "be" && isText(column.id, columns)) return undefined
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

const isText = (column: string, columns: ReadonlyArray<ListedColumn>): boolean =>
  columns.find(({ id }) => id === column)?.holds === undefined

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
  if (isSilent(words[0]!) || SETTING.test(words[0]!.word)) return 0
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
