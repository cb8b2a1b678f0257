/**
 * Scripts: generators that yield tool calls and receive their results. No state survives between two steps: each step
 * replays the script from the beginning over the results in the conversation, until it yields a call without a result.
 */
import { Schema } from "effect"
import { Unavailable } from "../../domain/errors.ts"
import { type ListedColumn, type ListedType, Page } from "../../domain/Page.ts"
import { FIGURES_OFF, type FindQuery } from "../../domain/Query.ts"

interface Call {
  readonly name: string
  readonly input: unknown
  /** The script goes on if this call fails because its type can't be read: see `apart`. */
  readonly apart?: true
}

/** The result of a call; if it failed, `value` is absent and `text` is the reason. */
export interface Answer {
  readonly value?: unknown
  readonly text: string
}

export type Script<A> = Generator<ReadonlyArray<Call>, A, ReadonlyArray<Answer>>

/** The state of a script: it needs calls, or it has a reply. */
export type Turn =
  | { readonly _tag: "Calls"; readonly calls: ReadonlyArray<Call> }
  | { readonly _tag: "Reply"; readonly text: string }

/** The loop's limit of parallel calls. */
export const MAX_PARALLEL = 6

/**
 * Replays a script over the results so far. A call that was made before isn't made again. An unavailable database ends it,
 * so that an outage never looks like an empty result, and so do figures that are turned off or cost too many calls.
 */
export const replay = (script: Script<string>, rounds: ReadonlyArray<ReadonlyArray<Answer>>): Turn => {
  const answers = rounds.flat()
  const known = new Map<string, Answer>()
  let state = script.next()
  let at = 0
  while (state.done !== true) {
    const calls = new Map(state.value.map((call) => [keyOf(call), call]))
    const missing: Array<Call> = []
    for (const [key, call] of calls) {
      const answer = known.get(key) ?? answers[at]
      if (answer === undefined) missing.push(call)
      else if (!known.has(key)) {
        known.set(key, answer)
        at += 1
      }
    }
    if (state.value.some((call) => call.apart !== true && isOutage(known.get(keyOf(call)))))
      return { _tag: "Reply", text: Unavailable.error.message }
    if (state.value.some((call) => isTurnedOff(known.get(keyOf(call))))) return { _tag: "Reply", text: NO_FIGURES }
    const refused = state.value.map((call) => refusalOf(known.get(keyOf(call)))).find((text) => text !== undefined)
    if (refused !== undefined) return { _tag: "Reply", text: refused }
    if (missing.length > 0) return { _tag: "Calls", calls: missing.slice(0, MAX_PARALLEL) }
    state = script.next(state.value.map((call) => known.get(keyOf(call))!))
  }
  return { _tag: "Reply", text: state.value }
}

const keyOf = ({ input, name }: Call): string => `${name} ${JSON.stringify(input)}`

const isOutage = (answer: Answer | undefined): boolean =>
  answer !== undefined && answer.value === undefined && answer.text.includes(Unavailable.error.message)

const NO_FIGURES =
  "Groups, sums and averages are turned off here. I can still look things up, list them and count them."

const isTurnedOff = (answer: Answer | undefined): boolean =>
  answer !== undefined && answer.value === undefined && answer.text.includes(FIGURES_OFF)

/** Groups and figures cost several calls of the minute: what the answer says when they don't fit. */
const refusalOf = (answer: Answer | undefined): string | undefined =>
  answer?.value === undefined
    ? /Too many calls\. Try again in \d{1,2} seconds\./.exec(answer?.text ?? "")?.[0]
    : undefined

/** The result of a script whose type can't be read now, such as a mapped one that has drifted. */
export const UNREAD = "unread"

/** Runs a script that reads one type, without ending the whole answer if only that type can't be read. */
export function* apart<A>(script: Script<A>): Script<A | typeof UNREAD> {
  let state = script.next()
  while (state.done !== true) {
    const answers = yield state.value.map((call) => ({ ...call, apart: true as const }))
    if (answers.some(isOutage)) return UNREAD
    state = script.next(answers)
  }
  return state.value
}

/** Runs scripts in parallel: their calls of one step become one step. */
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

/** A page; undefined if the type does not support these filters. */
export function* find(query: FindQuery): Script<Page | undefined> {
  const [answer] = yield [{ name: "findEntities", input: query }]
  return isPage(answer?.value) ? answer.value : undefined
}

/** The total, without entities. */
export const count = (query: FindQuery): Script<Page | undefined> => find({ ...query, limit: 0 })

/** The columns of a type that the person may see. */
export function* columnsOf(entityTypeId: string): Script<ReadonlyArray<ListedColumn>> {
  const [answer] = yield [{ name: "listColumnsForType", input: { entityTypeId } }]
  return (answer?.value as { readonly columns?: ReadonlyArray<ListedColumn> } | undefined)?.columns ?? []
}

/** All types that the person may see. */
export function* listedTypes(): Script<ReadonlyArray<ListedType>> {
  const [answer] = yield [{ name: "listEntityTypes", input: {} }]
  return (answer?.value as { readonly entityTypes?: ReadonlyArray<ListedType> } | undefined)?.entityTypes ?? []
}

/** Any tool's answer. */
export function* tool(name: string, input: unknown): Script<Answer> {
  const [answer] = yield [{ name, input }]
  return answer!
}
