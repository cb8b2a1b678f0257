/** Sets of rows in telegrams: "orders over 5000: high, Yuki", "approve all draft orders", "every ticket due Friday set to critical". */
import { foldText } from "../../../domain/keys.ts"
import { nounAt } from "../Lookup.ts"
import type { Context, ContextType } from "../readConversation.ts"
import { inParallel, type Script } from "../script.ts"
import { Deed, type Request, Setting, type Subject } from "./Deed.ts"
import { withNoun } from "./everything.ts"
import { calendarOf } from "./moments.ts"
import { unsaid } from "./parts.ts"
import { readSubject } from "./readSubject.ts"
import { knownOf, named, participles, SETTING, settingsOf } from "./telegramCells.ts"
import type { Said, Word } from "./words.ts"

type Words = ReadonlyArray<Word>

const MAX_TYPES = 4

/** What the words ask for, for each row of a set. */
export function* ofSet(
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
    ({ after, quoted, word }, at) =>
      (at > 1 && quoted !== true && SETTING.test(word) && /^(to|as)$/.test(words[at + 1]?.word ?? "")) ||
      after.includes(":") ||
      (quoted !== true && /^(->|=>|→|=)$/.test(word))
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
  const every = /^(all|every|each|any|whichever|the|my|our)$/.test(own[0]?.word ?? "") ? own : [unsaid("all"), ...own]
  const subject = own.length === 0 ? undefined : read(every)
  // "Close tickets" can be work of every day.
  return subject?._tag === "Rows" && (subject.lookup.conditions.length > 0 || every === own) ? subject : undefined
}
