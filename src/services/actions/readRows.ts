/**
 * Reads in another system: one GET of a declared action, whose answer is rows of named texts. Nothing but an answer in the
 * declared form counts: whatever else comes is a failure, never an empty list.
 */
import { Effect } from "effect"
import type { CallValues, DeclaredAction, HttpRequest } from "../../domain/DeclaredAction.ts"
import { InvalidInput, type Unavailable } from "../../domain/errors.ts"
import { unavailable } from "../../observability/failures.ts"
import type { ActionSettings } from "./Actions.ts"
import { listAt } from "./pointer.ts"
import { documentOf, exchangeOf, problemOf, resultOf } from "./send.ts"

/** An entry of the other system: texts by the names of the action's `result`. */
export type SourceRow = Readonly<Record<string, string>>

/** The most entries of an answer. A longer list is refused, because what is looked for could be in the rest. */
const MAX_ENTRIES = 1000

/** Reads with the values of an action. */
export type ReadRows = (
  action: DeclaredAction,
  values: CallValues
) => Effect.Effect<ReadonlyArray<SourceRow>, InvalidInput | Unavailable>

export const makeReadRows = (settings: ActionSettings): ReadRows =>
  Effect.fn("Actions.read")(function* (action, values) {
    yield* Effect.annotateCurrentSpan("max.action", action.slug)
    const { executor } = action
    // Only files declare reads, and a file has requests only.
    if (executor._tag !== "Http") return yield* unavailable("action-read")
    const exchange = yield* exchangeOf(action, executor, values, "", settings)
    if (exchange._tag === "Refused") return yield* InvalidInput.of(exchange.problem)
    if (exchange._tag !== "Answered") return yield* unavailable("action-read")
    const { status } = exchange
    const document = documentOf(exchange)
    if (status >= 400 && status < 500 && ![401, 403, 407, 408, 425, 429].includes(status))
      return yield* InvalidInput.of(problemOf(document, executor.problem, status))
    const rows = status === 200 && document !== undefined ? rowsOf(document, executor) : undefined
    return rows === undefined ? yield* unavailable("action-read") : rows
  })

/** The rows of an answer; undefined when it isn't in the declared form. */
const rowsOf = (document: unknown, { entries, result = {} }: HttpRequest): ReadonlyArray<SourceRow> | undefined => {
  const list = entries === undefined ? [document] : listAt(document, entries)
  if (list === undefined || list.length > MAX_ENTRIES) return undefined
  const rows = list.map((entry) => resultOf(entry, result))
  return rows.some((row) => Object.keys(row).length === 0) ? undefined : rows
}
