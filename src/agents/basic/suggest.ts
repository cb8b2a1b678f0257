/**
 * The name that a misspelt one is probably meant to be. It is taken from rows that share three letters with it and that the
 * person may see, so it exists, and it says nothing about hidden rows.
 */
import { foldText } from "../../domain/keys.ts"
import type { Filter } from "../../domain/Query.ts"
import { closest } from "../../domain/text.ts"
import type { Context } from "./readConversation.ts"
import { apart, find, inParallel, type Script, UNREAD } from "./script.ts"
import { folded, type Token } from "./tokenize.ts"

/** Lookups of one step. */
const MAX_TRIES = 6
/** Rows of a lookup with two parts of the name, and with one. */
const FEW = 8
const MANY = 18

const has = (value: string): Filter => ({ columnId: "name", op: "ilike", value })
const starts = (word: string) => word.slice(0, 4)
const ends = (word: string) => word.slice(-3)

/** Parts of the name that a row with the right name probably shares. */
const shared = (name: string): ReadonlyArray<ReadonlyArray<string>> => {
  const words = name.split(" ").filter((word) => [...word].length >= 3)
  const [first, last] = [words[0], words.at(-1)]
  if (first === undefined || last === undefined) return []
  if (words.length === 1) return [[starts(first)], [ends(first)], [first.slice(0, 3)]]
  return [
    [first.slice(0, 3), starts(last)],
    [ends(first), starts(last)],
    [first.slice(0, 3), ends(last)],
    [ends(first), ends(last)],
    [starts(last)],
    [starts(first)]
  ]
}

/** The visible name of one of the types that is most like the given one; undefined if none is close. */
export function* suggestion(
  name: ReadonlyArray<Token>,
  types: ReadonlyArray<string>,
  context: Context
): Script<string | undefined> {
  const said = folded(name)
  const visible = types.filter((id) => context.types.some((type) => type.id === id))
  // With several types, those of the first name's beginning before those of its end.
  const parts = shared(said)
  const ordered = visible.length > 1 ? parts.filter((_, at) => at % 2 === 0) : parts
  const chosen = ordered.flatMap((parts) => visible.map((type) => ({ type, parts }))).slice(0, MAX_TRIES)
  const pages = yield* inParallel(
    chosen.map(({ parts, type }) =>
      apart(find({ entityTypeId: type, filters: parts.map(has), limit: parts.length > 1 ? FEW : MANY }))
    )
  )
  const names = new Map(
    pages
      .flatMap((page) => (page === UNREAD ? [] : (page?.entities ?? [])))
      .flatMap(({ displayName }) => (displayName === undefined ? [] : [[foldText(displayName), displayName]]))
  )
  const near = closest(said, [...names.keys()])
  return near === undefined ? undefined : names.get(near)
}
