/** Rows that a request names: what is found, or why not, and people by their names. */
import { PEOPLE } from "../../../domain/EntityType.ts"
import type { Entity, Page } from "../../../domain/Page.ts"
import { foldText } from "../../../domain/keys.ts"
import type { Effort } from "../Effort.ts"
import { eqName, partly } from "../locate.ts"
import type { Context, ContextType } from "../readConversation.ts"
import { find, type Script } from "../script.ts"
import type { Field, Vocabulary } from "./vocabulary.ts"
import { type Said, textOf, type Word } from "./words.ts"

type Words = ReadonlyArray<Word>

export interface Row {
  readonly _tag: "Row"
  readonly type: ContextType
  readonly id: string
  readonly name: string
  /** Whether only a part of its name was said. */
  readonly isPart?: true
  /** Its cells that the change depends on. */
  readonly cells?: Readonly<Record<string, unknown>>
}

/** Why a request can't be drafted; of several reasons the one with the highest rank is said. */
export interface Problem {
  readonly _tag: "Problem"
  readonly rank: number
  readonly text: string
  /** The rows that the person may mean. */
  readonly choices?: ReadonlyArray<Row>
  /** What is looked up only if this reason is said, such as the values that there are. */
  readonly next?: Script<string>
}

export const problem = (rank: number, text: string): Problem => ({ _tag: "Problem", rank, text })
export const RANKS = { words: 1, missing: 2, value: 3, several: 4, refused: 5 } as const

export interface World {
  readonly said: Said
  readonly context: Context
  readonly vocabularies: ReadonlyArray<Vocabulary>
  /** What the actions take, by slug; a text says why one isn't open. */
  readonly fields: ReadonlyMap<string, ReadonlyArray<Field> | string>
  /** The columns of a type whose cells the change depends on. */
  readonly wanted: (type: ContextType) => ReadonlyArray<string>
  /** Whether a name counts whose one misspelt word is nearly the word of one row: tried if nothing else is found. */
  readonly isNear?: true
  /** What the descriptions of new rows may take together. */
  readonly effort: Effort
}

export const MAX_TRIED = 6
export const MAX_NAMESAKES = 25

export const rowOf = (type: ContextType, { columns, displayName, entityId, status }: Entity): Row => ({
  _tag: "Row",
  type,
  id: entityId,
  name: displayName ?? "",
  cells: { name: displayName, status, ...columns }
})

export const several = (rows: ReadonlyArray<Row>, name: string): Problem => ({
  ...problem(RANKS.several, `Several match “${name}”.`),
  choices: rows
})

export const NOT_FOUND = "I couldn't find"
export const notFound = (name: string): Problem => problem(RANKS.missing, `${NOT_FOUND} “${name}”. Check the spelling.`)

export const asksWhich = (page: Page): boolean => page.totalIsLowerBound === true || page.total > page.entities.length

/** Rows of a type whose name has all the words, each whole. */
export function* namesakes(name: string, type: ContextType, wanted: ReadonlyArray<string> = []): Script<Row | Problem> {
  const parts = partly(name)
  const shown = wanted.length === 0 ? {} : { selectColumns: wanted }
  const filters = parts.length === 0 ? eqName(name) : parts
  const like = yield* find({ entityTypeId: type.id, filters, limit: MAX_NAMESAKES, ...shown })
  const folded = foldText(name)
  const isWhole = ({ displayName }: Entity) => foldText(displayName ?? "") === folded
  // Too many to see all: the whole name is looked up by itself.
  const page =
    like !== undefined && asksWhich(like)
      ? yield* find({ entityTypeId: type.id, filters: eqName(name), limit: 8, ...shown })
      : like
  const whole = (page?.entities ?? []).filter(isWhole)
  if (whole.length > 0)
    return whole.length === 1 && (page === like || page!.total === 1)
      ? rowOf(type, whole[0]!)
      : several(
          whole.map((entity) => rowOf(type, entity)),
          name
        )
  const parted = folded.split(" ")
  const found = (like?.entities ?? []).filter(({ displayName }) => {
    const words = foldText(displayName ?? "").split(/[\s,-]+/)
    return parted.every((word) => words.includes(word))
  })
  if (like !== undefined && asksWhich(like) && found.length > 0)
    return several(
      found.slice(0, 8).map((entity) => rowOf(type, entity)),
      name
    )
  const [one] = found
  if (one === undefined) return notFound(name)
  return found.length === 1
    ? rowOf(type, one)
    : several(
        found.slice(0, 8).map((entity) => rowOf(type, entity)),
        name
      )
}

/** A person by name, by e-mail address, or the one who speaks. */
export function* person(words: Words, { context, said }: World): Script<Row | Problem> {
  const people = context.types.find(({ id }) => id === PEOPLE)
  const text = textOf(said, words)
  if (people === undefined) return notFound(text)
  if (/^(me|myself|i)$/.test(words.map(({ word }) => word).join(" "))) {
    const name = context.person?.name
    return name === undefined ? notFound(text) : yield* namesakes(name, people)
  }
  if (text.includes("@")) {
    const page = yield* find({
      entityTypeId: people.id,
      filters: [{ columnId: "email", op: "eq", value: text }],
      limit: 2
    })
    return page?.total === 1 ? rowOf(people, page.entities[0]!) : notFound(text)
  }
  return yield* namesakes(text, people)
}
