/**
 * What basic mode does about a message, written as a story: a script yields calls and is given their results. Nothing
 * is kept between two steps. A step runs the script from its beginning, over the results that the conversation already
 * holds, until it asks for something that isn't there yet.
 */
import { Schema } from "effect"
import { Unavailable } from "../../domain/errors.ts"
import { type ListedType, type Named, Page } from "../../domain/Page.ts"
import type { FindQuery } from "../../domain/Query.ts"

interface Call {
  readonly name: string
  readonly input: unknown
}

/** What a call came to: `value` is absent when it failed, and `text` then says why. */
export interface Answer {
  readonly value?: unknown
  readonly text: string
}

export type Script<A> = Generator<ReadonlyArray<Call>, A, ReadonlyArray<Answer>>

/** Where a script stands: it wants calls made, or it knows what to say. */
export type Turn =
  | { readonly _tag: "Calls"; readonly calls: ReadonlyArray<Call> }
  | { readonly _tag: "Reply"; readonly text: string }

/** What a turn's loop makes at once, at most. */
const MAX_AT_ONCE = 6

/** Runs a script over the rounds of answers so far. A failure never becomes an answer: what can't be looked up ends it. */
export const replay = (script: Script<string>, rounds: ReadonlyArray<ReadonlyArray<Answer>>): Turn => {
  const answers = rounds.flat()
  if (answers.some(isOutage)) return { _tag: "Reply", text: Unavailable.error.message }
  let state = script.next()
  let at = 0
  while (state.done !== true) {
    const calls = state.value
    if (answers.length < at + calls.length) {
      return { _tag: "Calls", calls: calls.slice(answers.length - at).slice(0, MAX_AT_ONCE) }
    }
    state = script.next(answers.slice(at, (at += calls.length)))
  }
  return { _tag: "Reply", text: state.value }
}

const isOutage = (answer: Answer): boolean =>
  answer.value === undefined && answer.text.includes(Unavailable.error.message)

/** Several scripts side by side: what they want in one step is asked for in one step. */
export function* inParallel<A>(scripts: ReadonlyArray<Script<A>>): Script<ReadonlyArray<A>> {
  const states = scripts.map((script) => script.next())
  while (true) {
    const waiting = states.flatMap((state, index) => (state.done === true ? [] : [{ index, calls: state.value }]))
    if (waiting.length === 0) return states.map((state) => state.value as A)
    const answers = yield waiting.flatMap(({ calls }) => calls)
    let at = 0
    for (const { calls, index } of waiting) {
      states[index] = scripts[index]!.next(answers.slice(at, at + calls.length))
      at += calls.length
    }
  }
}

const isPage = Schema.is(Page)

/** A page, or nothing when these conditions can't be asked of this type. */
export function* find(query: FindQuery): Script<Page | undefined> {
  const [answer] = yield [{ name: "findEntities", input: query }]
  return isPage(answer?.value) ? answer.value : undefined
}

/** How many there are, without reading one of them. */
export const count = (query: FindQuery): Script<Page | undefined> => find({ ...query, limit: 0 })

/** What is known of a type, as far as the person may see it. */
export function* columnsOf(entityTypeId: string): Script<ReadonlyArray<Named>> {
  const [answer] = yield [{ name: "listColumnsForType", input: { entityTypeId } }]
  return (answer?.value as { readonly columns?: ReadonlyArray<Named> } | undefined)?.columns ?? []
}

/** Every type that the person may see. */
export function* listedTypes(): Script<ReadonlyArray<ListedType>> {
  const [answer] = yield [{ name: "listEntityTypes", input: {} }]
  return (answer?.value as { readonly entityTypes?: ReadonlyArray<ListedType> } | undefined)?.entityTypes ?? []
}
