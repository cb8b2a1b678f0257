/**
 * Executes a model's tool call, with any name and any input. The outcome is always text that the model can read; a call
 * ends otherwise only by interruption or by a defect.
 */
import { Effect, Option, Result, Schema, Stream } from "effect"
import { InvalidInput, TooManyCalls, Unavailable, UnknownName } from "../domain/errors.ts"
import type { CurrentPrincipal } from "../domain/Principal.ts"
import * as Telemetry from "../observability/Telemetry.ts"
import { quoted } from "../domain/text.ts"
import { renderColumns, renderPage, renderTypes } from "./render.ts"
import { MaxToolkit } from "./Toolkit.ts"
import { describeIssue } from "./describeIssue.ts"

export interface ToolOutcome {
  /** The result as the model reads it. */
  readonly text: string
  readonly failed: boolean
  /** Whether the database was unavailable. */
  readonly unavailable: boolean
  /** The structured result; absent if the call failed. */
  readonly value?: unknown
  /** The page where the person decides about a draft. */
  readonly link?: { readonly uri: string; readonly name: string }
  /** What a client may ask the person about a draft, with the state that belongs to the answer. */
  readonly question?: { readonly message: string; readonly state: string }
}

const RENDER = { listEntityTypes: renderTypes, listColumnsForType: renderColumns, findEntities: renderPage } as const

export type ToolName = keyof typeof RENDER

export const isToolName = (name: string): name is ToolName => Object.hasOwn(RENDER, name)

/** Renders a tool's structured result as text for a model. */
export const renderResult = (name: ToolName, value: unknown): string => RENDER[name](value as never)

const failed = (text: string, unavailable = false): ToolOutcome => ({ text, failed: true, unavailable })

/** Input decoders by tool. Unknown keys are errors, as on every channel. */
const decoders = Object.fromEntries(
  Object.values(MaxToolkit.tools).map((tool) => [
    tool.name,
    Schema.decodeUnknownResult(Schema.toCodecJson(tool.parametersSchema as Schema.Codec<unknown>), {
      onExcessProperty: "error"
    })
  ])
) as Readonly<Record<ToolName, (input: unknown) => Result.Result<unknown, Schema.SchemaError>>>

/** Describes what the tool's schema rejects in an input; undefined if the input is valid. */
export const inputFault = (name: ToolName, input: unknown): string | undefined => {
  const decoded = decoders[name](input)
  return Result.isFailure(decoded) ? describeIssue(decoded.failure.issue) : undefined
}

/** Answers calls of the tool for changes; absent where changes can't be proposed. */
type ChangeCall = (input: unknown) => Effect.Effect<ToolOutcome, never, CurrentPrincipal>

/** Calls a tool for the current principal, after validating the input against the tool's schema. */
export const callTool = (name: string, input: unknown, change?: ChangeCall) => {
  const isChange = name === "requestAction" && change !== undefined
  const tool = isToolName(name) || isChange ? name : "unknown"
  return (isChange ? change(input) : call(name, input)).pipe(
    Effect.tap(({ text }) => Effect.annotateCurrentSpan("max.bytes", Buffer.byteLength(text))),
    Effect.withSpan(
      `execute_tool ${tool}`,
      { attributes: { "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": tool } },
      { captureStackTrace: false }
    )
  )
}

const call = Effect.fnUntraced(function* (name: string, input: unknown) {
  if (!isToolName(name)) return failed(`There is no tool ${quoted(name)}.`)
  const fault = inputFault(name, input)
  if (fault !== undefined) return failed(fault)
  const toolkit = yield* MaxToolkit
  const output = yield* toolkit.handle(name, input as never).pipe(
    Effect.flatMap(Stream.runLast),
    // The input has been validated, so a schema error from here on is a defect.
    Effect.catchTag("AiError", Effect.die),
    // Read-only, because the toolkit writes the call's input on the current span.
    Telemetry.withReadOnlySpan
  )
  const { isFailure, result: value } = Option.getOrThrow(output)
  if (value instanceof Unavailable) return failed(value.message, true)
  if (value instanceof UnknownName || value instanceof InvalidInput || value instanceof TooManyCalls)
    return failed(value.message)
  if (isFailure) return yield* Effect.die(new Error(`${name} returned an undeclared failure`))
  const outcome: ToolOutcome = { text: renderResult(name, value), failed: false, unavailable: false, value }
  return outcome
})
