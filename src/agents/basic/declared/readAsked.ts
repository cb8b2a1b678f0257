/**
 * Reads requests for declared actions: the sentences are the actions' own examples, in which `{field}` stands for a value. Every
 * word has to be used, so a request that says more than was understood is left to others.
 */
import type { ActionField, DeclaredAction } from "../../../domain/DeclaredAction.ts"
import { foldText } from "../../../domain/keys.ts"
import { compiledPattern, MAX_MATCHED } from "../../../services/actions/pattern.ts"
import { clausesOf, withoutClosers, withoutOpeners } from "../deeds/clauses.ts"
import { CLOSERS, isBeyond, isRounded, MANY, OPENERS, OTHER_REQUESTS } from "../deeds/lexicon.ts"
import { MAX_CHARACTERS, MAX_WORDS, readWords, type Said, textOf, type Word } from "../deeds/words.ts"
import { matchPattern } from "../patterns.ts"
import { isArticle, type Sentence, sentencesOf } from "./sentences.ts"

type Words = ReadonlyArray<Word>

/** What a clause asks for: an action with the values that were said. */
export interface Asked {
  readonly action: DeclaredAction
  readonly values: Readonly<Record<string, string>>
}

const MAX_CAPTURED = 8

/** Whether words can be a value of a field. The action's own reader checks the value itself. */
const suits = ({ kind, pattern, values }: ActionField, words: Words): boolean => {
  if (words.length > MAX_CAPTURED) return false
  if (kind === "integer" || kind === "number") return words.length === 1 && isNumber(words[0]!)
  if (values !== undefined) return values.some((value) => foldText(value) === words.map(({ word }) => word).join(" "))
  if (pattern !== undefined && kind !== "reference")
    return words.length === 1 && words[0]!.text.length <= MAX_MATCHED && compiledPattern(pattern).test(words[0]!.text)
  return (
    isRounded(words) &&
    words.every((word) => word.quoted === true || isPart(word)) &&
    !(words.length > 1 && leadsOn(words))
  )
}

/** Whether a word is one number. A comma between other than three digits is a decimal point to many, and a percentage is no amount. */
const isNumber = ({ after, word }: Word): boolean =>
  /^[$€£]?-?(?:\d{1,12}|\d{1,3}(?:,\d{3}){1,3})(?:\.\d{1,9})?$/.test(word) && !/^[%‰]/.test(after)

/** Whether a word can be a part of one name. */
const isPart = (word: Word): boolean => !SEVERAL.has(word.word) && !MANY.has(word.word) && !isBeyond(word)
const SEVERAL = new Set(["and", "or", "everything", "anything"])

const LEADS = new Set(["of", "on", "in", "for", "from"])
/** Whether words say what they belong to, such as "forks on PO 4500000001": that is no part of a name. */
const leadsOn = (words: Words): boolean => {
  const lead = words.findIndex(({ quoted, word }) => quoted !== true && LEADS.has(word))
  return lead >= 0 && words.slice(lead).some(({ quoted, word }) => quoted !== true && /\d/.test(word))
}

const valueOf = ({ kind }: ActionField, words: Words, said: Said): string => {
  const text = textOf(said, words)
  return kind === "integer" || kind === "number" ? text.replaceAll(/[$€£,]/g, "") : text
}

/** What a clause asks for, by the sentence with the most words of its own, examples first; undefined if two actions fit equally. */
const readClause = (words: Words, said: Said, sentences: ReadonlyArray<Sentence>): Asked | undefined => {
  const found = sentences.flatMap(({ action, isExact, literal, pattern }) => {
    const fieldOf = (name: string) => action.fields.find(({ slug }) => slug === name)
    const captures = matchPattern(pattern, words, (name, taken) => {
      const field = fieldOf(name)
      return field !== undefined && suits(field, taken as Words)
    })
    if (captures === undefined) return []
    const values = Object.entries(captures).map(([name, taken]) => [
      name,
      valueOf(fieldOf(name)!, taken as Words, said)
    ])
    const rank = literal * 2 + (isExact ? 1 : 0)
    return [{ rank, asked: { action, values: Object.fromEntries(values) as Asked["values"] } }]
  })
  const most = Math.max(...found.map(({ rank }) => rank))
  const best = found.filter(({ rank }) => rank === most).map(({ asked }) => asked)
  return best.every((one) => one.action === best[0]!.action) ? best[0] : undefined
}

const POLITE = new Set([...OPENERS, ...CLOSERS, "yes", "thanks in advance", "thank you in advance"])
const GREETING = /^(?:hi|hello|hey|dear|good (?:morning|afternoon|evening|day))(?: \p{L}+){0,4}$/u
const MAX_GREETING = 60
/** Whether a clause says more than "Hello" or "Thanks"; the first one can greet by name. */
const isMore = (clause: Words, at: number): boolean => {
  const text = clause.map(({ word }) => word).join(" ")
  const greets = at === 0 && text.length <= MAX_GREETING && GREETING.test(text)
  return !POLITE.has(text) && !(greets && !clause.some(({ word }) => OTHER_REQUESTS.has(word)))
}
/** The mark of a list at the beginning of a line. */
const MARK = /^(?:\d{1,2}[.)]|[-*•])[ \t]/u
/** The lines of a text as sentences, without the marks of lists. */
const sentencesIn = (text: string): string =>
  text
    .split(/[\r\n]/)
    .map((line) => line.trim().replace(MARK, ""))
    .filter((line) => line !== "")
    .join("; ")

/** What a message asks for, clause by clause; undefined if any part of it is something else. */
export const readAsked = (text: string, actions: ReadonlyArray<DeclaredAction>): ReadonlyArray<Asked> | undefined => {
  // A longer one would be read in part.
  if (text.length > MAX_CHARACTERS) return undefined
  const said = readWords(sentencesIn(text))
  if (said.words.length < 2 || said.words.length > MAX_WORDS) return undefined
  const sentences = actions.flatMap(sentencesOf)
  for (const clauses of clausesOf(said.words)) {
    const read = clauses.filter(isMore).map((clause) => {
      for (const stage of withoutOpeners(clause)) {
        const words = withoutClosers(stage, () => false, false).filter(
          ({ quoted, word }) => quoted === true || !isArticle(word)
        )
        const asked = words.length === 0 ? undefined : readClause(words, said, sentences)
        if (asked !== undefined) return asked
      }
      return undefined
    })
    if (read.length > 0 && read.every((each) => each !== undefined)) return read
  }
  return undefined
}

/** A request with the identifying values that were said before: the order of the question before, for example. */
const completed = ({ action, values }: Asked, known: Asked["values"]): Asked => ({
  action,
  values: {
    ...Object.fromEntries(
      action.fields.flatMap(({ needed, pattern, slug }) =>
        needed && pattern !== undefined && known[slug] !== undefined ? [[slug, known[slug]]] : []
      )
    ),
    ...values
  }
})

/** What a message asks for, each part with what was said before it, and what is known after it. */
export const readPlan = (
  text: string,
  actions: ReadonlyArray<DeclaredAction>,
  before: Asked["values"] = {}
): { readonly asked: ReadonlyArray<Asked>; readonly known: Record<string, string> } | undefined => {
  const known = { ...before }
  const asked = readAsked(text, actions)?.map((each) => {
    const whole = completed(each, known)
    Object.assign(known, whole.values)
    return whole
  })
  return asked && { asked, known }
}

/** The first field that an action needs and that has no value. */
export const missingOf = ({ action, values }: Asked): ActionField | undefined =>
  action.fields.find(
    ({ default: standard, needed, slug }) => needed && standard === undefined && values[slug] === undefined
  )

/** The value that a message gives for a field that was asked for. */
export const readAnswer = (text: string, field: ActionField): string | undefined => {
  const said = readWords(text)
  for (const stage of withoutOpeners(said.words)) {
    const words = withoutClosers(stage, () => false, false)
    if (words.length > 0 && suits(field, words)) return valueOf(field, words, said)
  }
  return undefined
}
