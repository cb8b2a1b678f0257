/**
 * Remembers readings of the same words: a message has many partitions, and most parts come again in several of them. What is
 * known lasts as long as the context of the turn's step, and the readings of one question are bounded together.
 */
import { Effort } from "./Effort.ts"
import type { Context } from "./readConversation.ts"
import type { Token } from "./tokenize.ts"

/** Twice what the questions of the tests need. */
const MAX_READINGS = 160

interface Memory {
  readonly known: Map<unknown, Map<string, unknown>>
  /** Of the question that is read now. */
  effort: Effort | undefined
}

const memories = new WeakMap<Context, Memory>()
const memoryOf = (context: Context): Memory => {
  const memory = memories.get(context) ?? { known: new Map<unknown, Map<string, unknown>>(), effort: undefined }
  memories.set(context, memory)
  return memory
}

/** The result for these words, made once. `reader` tells readers apart: a name, or the rules that it reads by. */
export const remembered = <A>(
  reader: unknown,
  tokens: ReadonlyArray<Token>,
  context: Context,
  make: () => A
): A | undefined => {
  const { effort, known } = memoryOf(context)
  const own = known.get(reader) ?? new Map<string, unknown>()
  known.set(reader, own)
  const key = tokens.map((token) => `${token.text} ${token.word}${token.after}${placeOf(token)}`).join(" ")
  if (!own.has(key)) {
    if (effort?.spend(1) === false) return undefined
    own.set(key, make())
  }
  return own.get(key) as A
}

/** A request's words have a place in its text, of which their value is read. */
const placeOf = (token: Token): string => ("start" in token ? String(token.start) : "")

/** Reads a question with a bound on its readings; undefined if it needs more, because a part that wasn't read could change its meaning. */
export const bounded = <A>(context: Context, read: () => A): A | undefined => {
  const memory = memoryOf(context)
  const effort = new Effort(MAX_READINGS)
  const { effort: before } = memory
  memory.effort = effort
  const result = read()
  memory.effort = before
  if (!effort.isSpent) return result
  // Readings that were cut short aren't known.
  memory.known.clear()
  return undefined
}

/** The context without the rows of the last answer; readings in it count as those of the same question. */
export const withoutFocus = (context: Context): Context => {
  const { focus: _, ...fresh } = context
  memoryOf(fresh).effort = memoryOf(context).effort
  return fresh
}
