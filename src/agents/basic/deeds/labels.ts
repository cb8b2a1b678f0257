/** The names and values of the organization's rows among the words of a request, looked up in few steps. */
import { foldText } from "../../../domain/keys.ts"
import type { ListedColumn } from "../../../domain/Page.ts"
import { MAX_ALTERNATIVES, MAX_LIMIT } from "../../../domain/Query.ts"
import { plainValue } from "../../../domain/valueList.ts"
import { statusColumns } from "./vocabulary.ts"
import type { ContextType } from "../readConversation.ts"
import { find, inParallel, type Script } from "../script.ts"
import { type Said, textOf, type Word } from "./words.ts"

type Words = ReadonlyArray<Word>

/** Words from one place to another. */
interface Span {
  readonly from: number
  readonly to: number
}
/** The whole name of a row. */
export interface Name extends Span {
  readonly type: ContextType
}
/** A value of a column. */
export interface Value extends Span {
  readonly column: string
  /** As rows spell it. */
  readonly text: string
}

const MAX_NAME = 7
const MAX_VALUE = 4
/** Values of text that rows have in common are looked up in so many columns. */
const MAX_COLUMNS = 5
const MAX_SPANS = 4 * MAX_ALTERNATIVES
const ENDS = /[,:;.!]/
/** No name begins or ends with these. */
const NO_END = /^(to|for|on|at|in|with|from|by|and|or|as|is|the|a|an|of|&|\+|all|every|each)$/
const SIGN = /^(->|=>|→|=)$/

/** Where words can stand together: not across a sign, and with no such word at their ends. */
const spansOf = (words: Words, longest: number, isEnd: (word: string) => boolean): ReadonlyArray<Span> =>
  words.flatMap((first, from) => {
    const found: Array<Span> = []
    if (first.quoted !== true && isEnd(first.word)) return found
    for (let to = from + 1; to <= Math.min(words.length, from + longest); to++) {
      const last = words[to - 1]!
      if (last.quoted !== true && SIGN.test(last.word)) break
      if (last.quoted === true || !isEnd(last.word)) found.push({ from, to })
      if (ENDS.test(last.after)) break
    }
    return found
  })

const chunked = <A>(all: ReadonlyArray<A>): ReadonlyArray<ReadonlyArray<A>> =>
  Array.from({ length: Math.ceil(all.length / MAX_ALTERNATIVES) }, (_, at) =>
    all.slice(at * MAX_ALTERNATIVES, (at + 1) * MAX_ALTERNATIVES)
  )

/** The longest of the spans that don't overlap. */
const longest = <A extends Span>(found: ReadonlyArray<A>): ReadonlyArray<A> =>
  found
    .toSorted((a, b) => b.to - b.from - (a.to - a.from))
    .reduce<ReadonlyArray<A>>(
      (kept, each) =>
        kept.some(({ from, to }) => each.from < to && from < each.to && !(each.from === from && each.to === to))
          ? kept
          : [...kept, each],
      []
    )
    .toSorted((a, b) => a.from - b.from)

/** The whole names of rows of these types; undefined if there are too many to tell. */
export function* namesAmong(
  said: Said,
  words: Words,
  types: ReadonlyArray<ContextType>
): Script<ReadonlyArray<Name> | undefined> {
  const spans = spansOf(words, MAX_NAME, (word) => NO_END.test(word))
  // Words that don't stand side by side in the message have no text.
  const all = spans.map(({ from, to }) => foldText(textOf(said, words.slice(from, to))))
  const texts = [...new Set(all.filter((text) => text !== ""))]
  if (texts.length > MAX_SPANS) return undefined
  const pages = yield* inParallel(
    types.flatMap((type) =>
      chunked(texts).map((some) =>
        find({
          entityTypeId: type.id,
          filters: [{ columnId: "name", op: "eq", value: some.map(plainValue).join("|") }],
          limit: MAX_LIMIT
        })
      )
    )
  )
  if (pages.some((page) => page === undefined || page.total > page.entities.length)) return undefined
  const each = chunked(texts).length
  return longest(
    types.flatMap((type, at) => {
      const names = pages
        .slice(at * each, (at + 1) * each)
        .flatMap((page) => page?.entities ?? [])
        .map(({ displayName }) => foldText(displayName ?? ""))
      return spans
        .filter(({ from, to }) => names.includes(foldText(textOf(said, words.slice(from, to)))))
        .map((span): Name => ({ ...span, type }))
    })
  )
}

/** Columns of which rows have no values in common. */
const PROSE = /^(name|notes?|description|details|comments?|summary|text|body|phone|email|address|zip)$/i

/** The values of a type's text columns; `forms` adds other forms of the words, by what the value is called then. */
export function* valuesAmong(
  said: Said,
  words: Words,
  type: ContextType,
  columns: ReadonlyArray<ListedColumn>,
  forms: (words: Words) => ReadonlyArray<string>
): Script<ReadonlyArray<Value>> {
  const status = statusColumns(columns)
  const own = columns
    .filter(({ holds, id, name }) => (holds === undefined || holds === "list") && !PROSE.test(id) && !PROSE.test(name))
    .toSorted((a, b) => Number(status.includes(b.id)) - Number(status.includes(a.id)))
    .slice(0, MAX_COLUMNS)
  const spans = spansOf(words, MAX_VALUE, (word) => /^(and|or|&|\+)$/.test(word)).map((span) => {
    const of = words.slice(span.from, span.to)
    return { ...span, texts: [textOf(said, of), ...forms(of)].map(foldText) }
  })
  const texts = [...new Set(spans.flatMap(({ texts }) => texts).filter((text) => text !== ""))]
  if (texts.length > 2 * MAX_ALTERNATIVES) return []
  const found = yield* inParallel(own.flatMap(({ id }) => chunked(texts).map((some) => valuesOf(type, id, some))))
  // A value that wasn't seen could be a second meaning.
  if (found.includes(undefined)) return []
  const each = chunked(texts).length
  return own.flatMap(({ id }, at) =>
    [...new Set(found.slice(at * each, (at + 1) * each).flatMap((values) => values ?? []))].flatMap((text) =>
      spans
        .filter((span) => span.texts.includes(foldText(text)))
        .map(({ from, to }): Value => ({ from, to, column: id, text }))
    )
  )
}

/** Few rows of a turn's room. */
const MAX_ROWS = 8

/** Which of the texts rows have in a column; undefined if that can't be told. */
function* valuesOf(
  type: ContextType,
  column: string,
  texts: ReadonlyArray<string>
): Script<ReadonlyArray<string> | undefined> {
  const values: Array<string> = []
  for (const _ of [1, 2]) {
    const known = values.map((text) => ({ columnId: column, op: "ne", value: plainValue(text) }) as const)
    const page = yield* find({
      entityTypeId: type.id,
      filters: [{ columnId: column, op: "eq", value: texts.map(plainValue).join("|") }, ...known],
      limit: MAX_ROWS,
      selectColumns: [column]
    })
    if (page === undefined) return undefined
    for (const entity of page.entities) {
      const value = column === "status" ? entity.status : entity.columns?.[column]
      if (typeof value === "string" && !values.includes(value)) values.push(value)
    }
    if (page.total <= page.entities.length) return values
  }
  return undefined
}
