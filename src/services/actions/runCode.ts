/** Runs the function that a program declared for an action, and judges what came of it as of a request. */
import { Cause, Effect, Exit, Result, Schema } from "effect"
import type { ActionField, CallValues, DeclaredAction } from "../../domain/DeclaredAction.ts"
import { isJsonObject } from "../../domain/json.ts"
import { type ActionDefinition, ActionDelayed, ActionRefused, type Deed } from "./defineAction.ts"
import { cutTo, MAX_PROBLEM, MAX_RESULT, type Sent } from "./send.ts"

/** The functions of a program, by the action's slug. */
export type Runs = ReadonlyMap<string, ActionDefinition>

/** What a promise was rejected with. */
class Thrown {
  readonly _tag = "Thrown"
  readonly thrown: unknown
  constructor(thrown: unknown) {
    this.thrown = thrown
  }
}

/** More parts of a result aren't shown. */
const MAX_PARTS = 20

/** Runs it once. What fails in another way than by saying so may have been done. */
export const runCode = Effect.fn("Actions.run")(function* (
  definition: ActionDefinition,
  { fields, slug }: Pick<DeclaredAction, "fields" | "slug">,
  seconds: number,
  values: CallValues,
  deed: Deed
): Effect.fn.Return<Sent> {
  yield* Effect.annotateCurrentSpan("max.action", slug)
  const input = Schema.decodeUnknownResult(definition.input)(typed(values, fields))
  if (Result.isFailure(input))
    return { _tag: "Refused", error: "values", problem: "The program takes other values by now." }
  const running = Effect.suspend(() => {
    const outcome = definition.run(input.success, deed)
    return Effect.isEffect(outcome)
      ? outcome
      : Effect.tryPromise({ try: () => Promise.resolve(outcome), catch: (error) => new Thrown(error) })
  })
  // The caller can't be interrupted while it delivers, and a function that takes too long is.
  const exit = yield* Effect.exit(Effect.timeoutOption(Effect.interruptible(running), `${seconds} seconds`))
  const sent = judge(exit)
  yield* Effect.annotateCurrentSpan({
    "max.action.outcome": sent._tag,
    ...("error" in sent ? { "max.action.error": sent.error } : {})
  })
  return sent
})

const judge = (exit: Exit.Exit<{ readonly _tag: string; readonly value?: unknown }, unknown>): Sent => {
  if (Exit.isSuccess(exit)) {
    if (exit.value._tag === "None") return { _tag: "Unsure", error: "timeout" }
    return { _tag: "Done", result: resultOf(exit.value.value) }
  }
  const failure: unknown = Cause.squash(exit.cause)
  const thrown = failure instanceof Thrown ? failure.thrown : failure
  if (thrown instanceof ActionRefused)
    return { _tag: "Refused", error: "refused", problem: cutTo(thrown.message, MAX_PROBLEM) }
  if (thrown instanceof ActionDelayed)
    return {
      _tag: "Later",
      error: "delayed",
      ...(thrown.seconds === undefined ? {} : { seconds: Math.min(Math.max(1, thrown.seconds), 3600) })
    }
  return { _tag: "Unsure", error: "failed" }
}

const resultOf = (value: unknown): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(isJsonObject(value) ? value : {})
      .filter(([, part]) => ["string", "number", "boolean"].includes(typeof part))
      .slice(0, MAX_PARTS)
      .map(([name, part]) => [cutTo(name, MAX_RESULT), cutTo(String(part), MAX_RESULT)])
  )

/** Texts as the values of the schema that the fields were made from. */
const typed = (values: CallValues, fields: ReadonlyArray<ActionField>): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    fields.flatMap((field) => {
      const value = values[field.slug]
      return value === undefined ? [] : [[field.slug, typedValue(value, field)]]
    })
  )

const typedValue = (value: string, { fields = [], kind }: ActionField): unknown => {
  switch (kind) {
    case "integer":
    case "number":
      return Number(value)
    case "boolean":
      return value === "true"
    case "list":
      return JSON.parse(value)
    case "group":
      return (JSON.parse(value) as ReadonlyArray<CallValues>).map((entry) => typed(entry, fields))
    default:
      return value
  }
}
