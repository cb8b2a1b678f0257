/** A name with words after it that aren't a part of it. */
import { PEOPLE } from "../../domain/EntityType.ts"
import { columnsNamed } from "./conceptColumns.ts"
import type { Subject } from "./Intent.ts"
import { eqName, type Target } from "./locate.ts"
import { peopleOf } from "./Lookup.ts"
import type { Context } from "./readConversation.ts"
import { apart, columnsOf, count, inParallel, type Script, UNREAD } from "./script.ts"
import { folded, written } from "./tokenize.ts"

const MAX_LABEL = 3
/** Types in which such a name is looked for: with three lengths of it, one step. */
const MAX_TYPES = 2

/**
 * "Hull coating margin": a person or thing with this whole name, and a column of it. Where the words after a name are no
 * column, the question isn't understood: a name with them isn't what wasn't found.
 */
export function* withWords(
  subject: Subject,
  context: Context
): Script<{ readonly target: Target; readonly what: string | undefined } | undefined> {
  const tokens = subject._tag === "Named" ? subject.tokens : []
  const types = [peopleOf(context), ...context.types.filter(({ id }) => id !== PEOPLE)].flatMap((type) => type ?? [])
  const tries = Array.from(
    { length: Math.min(MAX_LABEL, tokens.length - 2) },
    (_, index) => tokens.length - 1 - index
  ).flatMap((at) => types.slice(0, MAX_TYPES).map((type) => ({ at, type })))
  const pages = yield* inParallel(
    tries.map(({ at, type }) => apart(count({ entityTypeId: type.id, filters: eqName(written(tokens.slice(0, at))) })))
  )
  const index = pages.findIndex((page) => page !== UNREAD && (page?.total ?? 0) > 0)
  const found = pages[index]
  if (found === undefined || found === UNREAD) return undefined
  const { at, type } = tries[index]!
  const columns = yield* columnsOf(type.id)
  const filters = eqName(written(tokens.slice(0, at)))
  const target: Target = { _tag: "Target", type, columns, filters, found, exact: true }
  const words = folded(tokens.slice(at))
  return { target, what: columnsNamed(words, columns).length > 0 ? words : undefined }
}
