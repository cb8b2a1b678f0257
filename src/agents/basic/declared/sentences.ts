/**
 * The sentences of a declared action: its examples, and other ways of saying each: verbs and prepositions that mean the same, the
 * name of a field before its value, "On PO 1, change …" for "Change … on PO 1", and "The price of … should be 5".
 */
import type { DeclaredAction } from "../../../domain/DeclaredAction.ts"
import { foldText } from "../../../domain/keys.ts"
import type { Pattern } from "../patterns.ts"

/** A way of asking for an action. */
export interface Sentence {
  readonly action: DeclaredAction
  readonly pattern: Pattern
  /** The number of words that aren't values. */
  readonly literal: number
  /** Whether it is an example as it was declared. */
  readonly isExact: boolean
}

type Piece = { readonly word: string } | { readonly field: string }
type Phrases = ReadonlyArray<ReadonlyArray<string>>

const ARTICLE = /^(?:the|a|an)$/
export const isArticle = (word: string): boolean => ARTICLE.test(word)
const PLACEHOLDER = /^\{([a-z][a-z0-9_]*)\}$/
const phrases = (text: string): Phrases => text.split("|").map((phrase) => phrase.split(" "))

/** Verbs of examples that set something "to" a value. */
const SETTING = phrases("change|set|update|adjust|correct|modify|amend|edit|alter|increase|raise|reduce|decrease|lower")
const DELETING = phrases("delete|remove|cancel")
const SHOWING = phrases("show me|show|display|list|give me|see")
const ASKING = phrases("what is|what 's|whats|tell me|check")
const GROUPS = [DELETING, SHOWING]
/** Prepositions before a noun; "for" and "from" are no substitutes for each other. */
const BETWEEN = ["of", "on", "in"]
const PREPOSITIONS = new Set([...BETWEEN, "for", "from"])
const BECOMES = phrases("should be|should now be|should read|needs to be|need to be|must be|has to be|have to be")

const isWord = (piece: Piece | undefined, ...words: ReadonlyArray<string>): boolean =>
  piece !== undefined && "word" in piece && words.includes(piece.word)
const isField = (piece: Piece | undefined): boolean => piece !== undefined && "field" in piece
const has = (group: Phrases, word: string): boolean => group.some(([first]) => first === word)

/** A piece of an example without punctuation around it. */
const withoutMarks = (piece: string): string => {
  const characters = [...piece]
  const from = characters.findIndex((one) => /[\p{L}\p{N}{]/u.test(one))
  return characters.slice(from, characters.findLastIndex((one) => /[\p{L}\p{N}}]/u.test(one)) + 1).join("")
}

const piecesOf = (example: string): ReadonlyArray<Piece> =>
  example
    .split(/\s+/)
    .map(withoutMarks)
    .filter((piece) => piece !== "" && !isArticle(piece.toLowerCase()))
    .map((piece) => {
      const [, field] = PLACEHOLDER.exec(piece) ?? []
      return field === undefined ? { word: foldText(piece) } : { field }
    })

/** Where "on PO {order}" begins and ends: a preposition, words, and one value. */
const placesIn = (pieces: ReadonlyArray<Piece>): ReadonlyArray<readonly [from: number, end: number]> =>
  pieces.flatMap((piece, from) => {
    if (!("word" in piece) || !PREPOSITIONS.has(piece.word)) return []
    const end = pieces.findIndex((one, at) => at > from && isField(one)) + 1
    return end > from + 2 && !pieces.slice(from + 1, end).some((one) => "word" in one && PREPOSITIONS.has(one.word))
      ? [[from, end] as const]
      : []
  })

/** The same in other orders of words. */
const ordersOf = (pieces: ReadonlyArray<Piece>): ReadonlyArray<ReadonlyArray<Piece>> => {
  const moved = placesIn(pieces).flatMap(([from, end]) => {
    const place = pieces.slice(from, end)
    const rest = [...pieces.slice(0, from), ...pieces.slice(end)]
    // What was said before can have told it: "On PO 1, change … and set …".
    return from === 0 ? [rest, [...rest, ...place]] : [rest, [...place, ...rest]]
  })
  return [pieces, ...moved]
}

const literalOf = (pieces: ReadonlyArray<Piece>): number => pieces.filter((piece) => !isField(piece)).length

/** The nouns for a field's value: its name, and the initials of a name of several words. */
const nounsOf = (action: DeclaredAction, slug: string): Phrases => {
  const field = action.fields.find((one) => one.slug === slug)
  const name = foldText(field?.name ?? "").split(" ")
  return name.length > 1 ? [name, [name.map((word) => word[0]).join("")]] : [name]
}

const words = (choices: Phrases, optional = false): Pattern[number] => ({ _tag: "Words", choices, optional })

/** The pattern of a sentence, in which each word stands for those that mean the same. */
const widened = (pieces: ReadonlyArray<Piece>, action: DeclaredAction): Pattern => {
  const verb = pieces.findIndex(
    (piece, at) => "word" in piece && (at === 0 || isField(pieces[at - 1])) && !PREPOSITIONS.has(piece.word)
  )
  const sets = pieces.some((piece, at) => isWord(piece, "to") && isField(pieces[at + 1]))
  const pattern: Array<Pattern[number]> = []
  for (let at = 0; at < pieces.length; at++) {
    const piece = pieces[at]!
    if ("field" in piece) {
      const nouns = nounsOf(action, piece.field)
      const said = nouns.find((noun) => noun.every((word, index) => isWord(pieces[at - noun.length + index], word)))
      if (said === undefined) pattern.push(words(nouns, true))
      else pattern.splice(pattern.length - said.length, said.length, words(nouns))
      pattern.push({ _tag: "Capture", name: piece.field })
      continue
    }
    const { word } = piece
    const group = GROUPS.find((one) => has(one, word))
    if (at === verb && word === "what" && isWord(pieces[at + 1], "is")) {
      pattern.push(words(ASKING))
      at += 1
    } else if (at === verb && sets && has(SETTING, word)) pattern.push(words(SETTING))
    else if (at === verb && group !== undefined) {
      pattern.push(words(group))
      if (isWord(pieces[at + 1], "me")) at += 1
    } else if (PREPOSITIONS.has(word) && !isField(pieces[at + 1]))
      pattern.push(words([...new Set([word, ...BETWEEN, ...(word === "from" ? [] : ["for"])])].map((one) => [one])))
    else if (BETWEEN.includes(word)) pattern.push(words([[word], ["for"]]))
    else pattern.push(words([[word]]))
  }
  return pattern
}

/** "The price of {item} should be {price}" for "Change the price of {item} to {price}". */
const becoming = (pattern: Pattern): ReadonlyArray<Pattern> => {
  const [verb, ...rest] = pattern
  const at = rest.findIndex((element) => element._tag === "Words" && element.choices.some(([word]) => word === "to"))
  const isSetting = verb?._tag === "Words" && verb.choices === SETTING
  return isSetting && at > 0 ? [rest.map((element, index) => (index === at ? words(BECOMES) : element))] : []
}

const known = new WeakMap<DeclaredAction, ReadonlyArray<Sentence>>()

/** The sentences of an action, made once. */
export const sentencesOf = (action: DeclaredAction): ReadonlyArray<Sentence> => {
  const before = known.get(action)
  if (before !== undefined) return before
  const made = action.examples.flatMap((example): ReadonlyArray<Sentence> => {
    const pieces = piecesOf(example)
    const exact = pieces.map((piece): Pattern[number] =>
      "word" in piece ? words([[piece.word]]) : { _tag: "Capture", name: piece.field }
    )
    const wide = ordersOf(pieces)
      .filter((order) => order === pieces || literalOf(order) > 2)
      .flatMap((order) => {
        const pattern = widened(order, action)
        return [pattern, ...becoming(pattern)].map((one) => ({
          action,
          pattern: one,
          literal: literalOf(order),
          isExact: false
        }))
      })
    return [{ action, pattern: exact, literal: literalOf(pieces), isExact: true }, ...wide]
  })
  known.set(action, made)
  return made
}
