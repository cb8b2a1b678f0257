/**
 * A tool call as a model makes it: any name, any input. What comes back is always something that the model can read;
 * only the end of the caller's access and an interruption end a call otherwise.
 */
import { Effect, Option, Result, Schema, Stream } from "effect"
import { InvalidInput, Unavailable, UnknownName } from "../domain/errors.ts"
import { sealed } from "../observability/spans.ts"
import { quoted } from "../domain/text.ts"
import { renderColumns, renderPage, renderTypes } from "./render.ts"
import { MaxToolkit } from "./Toolkit.ts"
import { describeIssue } from "./describeIssue.ts"

export interface ToolOutcome {
  /** What a model reads. */
  readonly text: string
  readonly failed: boolean
  /** Whether the tool could look nothing up at all, whatever it was asked. */
  readonly unavailable: boolean
  /** The result as the tool returned it; absent when it failed. */
  readonly value?: unknown
}

const RENDER = { listEntityTypes: renderTypes, listColumnsForType: renderColumns, findEntities: renderPage } as const

type ToolName = keyof typeof RENDER

export const isToolName = (name: string): name is ToolName => Object.hasOwn(RENDER, name)

/** A tool's result as a model reads it. */
export const renderResult = (name: ToolName, value: unknown): string => RENDER[name](value as never)

const failed = (text: string, unavailable = false): ToolOutcome => ({ text, failed: true, unavailable })

/** Checks an input as every way in does: a key that isn't known is refused, not ignored. */
const checks = Object.fromEntries(
  Object.values(MaxToolkit.tools).map((tool) => [
    tool.name,
    Schema.decodeUnknownResult(Schema.toCodecJson(tool.parametersSchema as Schema.Codec<unknown>), {
      onExcessProperty: "error"
    })
  ])
) as Readonly<Record<ToolName, (input: unknown) => Result.Result<unknown, Schema.SchemaError>>>

/** What is wrong with the shape of a call's input, in words; undefined when nothing is. */
export const shapeFault = (name: ToolName, input: unknown): string | undefined => {
  const checked = checks[name](input)
  return Result.isFailure(checked) ? describeIssue(checked.failure.issue) : undefined
}

/** The toolkit writes a call's input on the span that is current. */
const withoutInputOnSpans = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.matchEffect(Effect.currentSpan, {
    onFailure: () => effect,
    onSuccess: (span) => Effect.withParentSpan(effect, sealed(span), { captureStackTrace: false })
  })

/** Calls a tool for the current principal; the input is checked by the tool's schema before anything is looked up. */
export const callTool = (name: string, input: unknown) => {
  const known = isToolName(name) ? name : "unknown"
  return call(name, input).pipe(
    Effect.tap(({ text }) => Effect.annotateCurrentSpan("max.bytes", Buffer.byteLength(text))),
    Effect.withSpan(
      `execute_tool ${known}`,
      { attributes: { "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": known } },
      { captureStackTrace: false }
    )
  )
}

const call = Effect.fnUntraced(function* (name: string, input: unknown) {
  if (!isToolName(name)) return failed(`There is no tool ${quoted(name)}.`)
  const fault = shapeFault(name, input)
  if (fault !== undefined) return failed(fault)
  const toolkit = yield* MaxToolkit
  const output = yield* toolkit.handle(name, input as never).pipe(
    Effect.flatMap(Stream.runLast),
    // The shape has been checked: what is left of that kind is a defect.
    Effect.catchTag("AiError", Effect.die),
    withoutInputOnSpans
  )
  const { isFailure, result: value } = Option.getOrThrow(output)
  if (value instanceof Unavailable) return failed(value.message, true)
  if (value instanceof UnknownName || value instanceof InvalidInput) return failed(value.message)
  if (isFailure) return yield* Effect.die(new Error(`${name} failed in a way that isn't declared`))
  const outcome: ToolOutcome = { text: renderResult(name, value), failed: false, unavailable: false, value }
  return outcome
})
