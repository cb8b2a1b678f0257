/**
 * Reads requests for declared actions: the sentences are the actions' own examples, in which `{field}` stands for a value. Every
 * word has to be used, so a request that says more than was understood is left to others.
 */
import type { ActionField, DeclaredAction } from "../../../domain/DeclaredAction.ts"
import { foldText } from "../../../domain/keys.ts"
import { compiledPattern, MAX_MATCHED } from "../../../services/actions/pattern.ts"
import { clausesOf, withoutClosers, withoutOpeners } from "../deeds/clauses.ts"
import { CLOSERS, isBeyond, isRounded, OPENERS } from "../deeds/lexicon.ts"
import { MAX_WORDS, readWords, type Said, textOf, type Word } from "../deeds/words.ts"
import { matchPattern, type Pattern } from "../patterns.ts"

type Words = ReadonlyArray<Word>

/** What a clause asks for: an action with the values that were said. */
export interface Asked {
  readonly action: DeclaredAction
  readonly values: Readonly<Record<string, string>>
}

const MAX_CAPTURED = 8
const ARTICLE = /^(?:the|a|an)$/
const PLACEHOLDER = /^\{([a-z][a-z0-9_]*)\}$/

interface Sentence {
  readonly action: DeclaredAction
  readonly pattern: Pattern
  /** The words that aren't values. */
  readonly literal: number
}

/** A piece of an example without punctuation around it. */
const withoutMarks = (piece: string): string => {
  const characters = [...piece]
  const from = characters.findIndex((one) => /[\p{L}\p{N}{]/u.test(one))
  return characters.slice(from, characters.findLastIndex((one) => /[\p{L}\p{N}}]/u.test(one)) + 1).join("")
}

const sentencesOf = (action: DeclaredAction): ReadonlyArray<Sentence> =>
  action.examples.map((example) => {
    const pieces = example
      .split(/\s+/)
      .map(withoutMarks)
      .filter((piece) => piece !== "" && !ARTICLE.test(piece.toLowerCase()))
    const pattern = pieces.map((piece): Pattern[number] => {
      const [, name] = PLACEHOLDER.exec(piece) ?? []
      return name === undefined
        ? { _tag: "Words", choices: [[foldText(piece)]], optional: false }
        : { _tag: "Capture", name }
    })
    return { action, pattern, literal: pattern.filter(({ _tag }) => _tag === "Words").length }
  })

/** Whether words can be a value of a field. The action's own reader checks the value itself. */
const suits = ({ kind, pattern, values }: ActionField, words: Words): boolean => {
  if (words.length > MAX_CAPTURED) return false
  if (kind === "integer" || kind === "number") return words.length === 1 && /^[$€£]?-?\d[\d.,]*$/.test(words[0]!.word)
  if (values !== undefined) return values.some((value) => foldText(value) === words.map(({ word }) => word).join(" "))
  if (pattern !== undefined && kind !== "reference")
    return words.length === 1 && words[0]!.text.length <= MAX_MATCHED && compiledPattern(pattern).test(words[0]!.text)
  return isRounded(words) && words.every((word) => word.quoted === true || (word.word !== "and" && !isBeyond(word)))
}

const valueOf = ({ kind }: ActionField, words: Words, said: Said): string => {
  const text = textOf(said, words)
  return kind === "integer" || kind === "number" ? text.replaceAll(/[$€£,]/g, "") : text
}

/** What a clause asks for, by the sentence with the most words of its own; undefined if two actions fit equally. */
const readClause = (words: Words, said: Said, sentences: ReadonlyArray<Sentence>): Asked | undefined => {
  const found = sentences.flatMap(({ action, literal, pattern }) => {
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
    return [{ literal, asked: { action, values: Object.fromEntries(values) as Asked["values"] } }]
  })
  const most = Math.max(...found.map(({ literal }) => literal))
  const best = found.filter(({ literal }) => literal === most).map(({ asked }) => asked)
  return best.every((one) => one.action === best[0]!.action) ? best[0] : undefined
}

const POLITE = new Set([...OPENERS, ...CLOSERS])
/** Whether a clause says more than "Hello" or "Thanks". */
const isMore = (words: Words): boolean => !POLITE.has(words.map(({ word }) => word).join(" "))

const isArticle = ({ quoted, word }: Word): boolean => quoted !== true && ARTICLE.test(word)

/** What a message asks for, clause by clause; undefined if any part of it is something else. */
export const readAsked = (text: string, actions: ReadonlyArray<DeclaredAction>): ReadonlyArray<Asked> | undefined => {
  const said = readWords(text)
  if (said.words.length < 2 || said.words.length > MAX_WORDS) return undefined
  const sentences = actions.flatMap(sentencesOf)
  for (const clauses of clausesOf(said.words)) {
    const read = clauses.filter(isMore).map((clause) => {
      for (const stage of withoutOpeners(clause)) {
        const words = withoutClosers(stage, () => false, false).filter((word) => !isArticle(word))
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
