/**
 * The model port over Ax's `ai().chat()`, for every provider that Ax supports. Ax's own loop is not used. Ax is an optional
 * dependency, loaded on first use.
 */
import { Effect, Layer, Redacted } from "effect"
import type { AxAIArgs, AxAIService, AxChatRequest, AxChatResponse } from "@ax-llm/ax"
import { ConfigurationError } from "../../domain/errors.ts"
import { type Message, ModelFailure, ModelStep, type StepEvent, type StepRequest, type Usage } from "../ModelStep.ts"
import { statusFailure } from "./statusFailure.ts"
import { parseToolInput } from "./parseToolInput.ts"
import { streamStep } from "./streamStep.ts"

export interface AxSettings {
  /** Ax's name of the provider; the prefix `ax:` selects Ax where Max has its own implementation (`ax:anthropic`). */
  readonly provider: string
  readonly key: Redacted.Redacted<string> | undefined
  readonly model: string | undefined
  readonly url?: string | undefined
}

const MISSING = ConfigurationError.of("This provider needs Ax: npm install @ax-llm/ax")

/** A model of a provider that Ax supports. */
export const axStep = (settings: AxSettings): Layer.Layer<ModelStep, ConfigurationError> =>
  Layer.effect(
    ModelStep,
    Effect.gen(function* () {
      const { ai } = yield* Effect.tryPromise({ try: () => import("@ax-llm/ax"), catch: () => MISSING })
      const name = settings.provider.replace(/^ax:/, "")
      const { model } = settings
      if (model === undefined) {
        return yield* ConfigurationError.of(`Set MAX_MODEL to a model of ${name}.`)
      }
      const send = settings.url === undefined ? fetch : withBaseUrl(settings.url)
      const serviceOver = (own: typeof fetch) =>
        ai({
          name,
          apiKey: settings.key === undefined ? "" : Redacted.value(settings.key),
          config: { model, stream: true },
          options: { debug: false, fetch: own }
        } as unknown as AxAIArgs<string>) as unknown as AxAIService
      yield* Effect.try({
        try: () => serviceOver(send),
        catch: () =>
          ConfigurationError.of(`Ax does not support the provider ${name}, or the provider needs MAX_API_KEY.`)
      })
      return ModelStep.of({
        provider: name,
        model,
        stream: (request) =>
          streamStep(({ emit, headers, signal }) => {
            // A service per step, at 0.2 ms: Ax takes `fetch` only when a service is created.
            const service = serviceOver(withHeaders(headers, send))
            return run(service, model, request, signal, emit)
          }, modelFailure)
      })
    })
  )

/** Adds headers to every request, because Ax has no option for it that works for all providers. */
const withHeaders =
  (more: Readonly<Record<string, string>>, send: typeof fetch): typeof fetch =>
  (input, init) => {
    const headers = new Headers(init?.headers ?? (input instanceof Request ? input.headers : undefined))
    for (const [name, value] of Object.entries(more)) headers.set(name, value)
    return send(input, { ...init, headers })
  }

/** Redirects every request to another base URL, because Ax has no option for it that works for all providers. */
const withBaseUrl =
  (base: string): typeof fetch =>
  (input, init) => {
    const url = new URL(input instanceof Request ? input.url : input)
    const target = new URL(base)
    url.protocol = target.protocol
    url.host = target.host
    if (target.pathname !== "/") url.pathname = target.pathname.replace(/\/$/, "") + url.pathname
    return fetch(input instanceof Request ? new Request(url, input) : url, init)
  }

const run = async (
  service: AxAIService,
  model: string,
  request: StepRequest,
  signal: AbortSignal,
  emit: (event: StepEvent) => void
): Promise<void> => {
  const answered = await service.chat(
    {
      model,
      modelConfig: { maxTokens: request.maxTokens, stream: true },
      chatPrompt: toPrompt(request),
      functions: request.tools.map(({ description, inputSchema, name }) => ({
        name,
        description,
        parameters: inputSchema as NonNullable<NonNullable<AxChatRequest["functions"]>[number]["parameters"]>
      })),
      functionCall: "auto"
    },
    { stream: true, abortSignal: signal, excludeContentFromTrace: true }
  )
  const read = reader(emit)
  if (!(answered instanceof ReadableStream)) {
    read.response(answered)
    return read.end()
  }
  try {
    const chunks = answered.getReader()
    for (let next = await chunks.read(); !next.done; next = await chunks.read()) read.response(next.value)
  } catch (error) {
    if (isRefusal(error)) return read.refused()
    throw read.begun() ? new ModelFailure({ reason: "Broken" }) : error
  }
  read.end()
}

type Finished = Extract<StepEvent, { _tag: "Finished" }>

/** Translates Ax's partial responses to step events. Tool calls are collected, because their input arrives in parts. */
const reader = (emit: (event: StepEvent) => void) => {
  const calls = new Map<string, { name: string; json: string; input?: object }>()
  let latest = ""
  let reason: Finished["reason"] | undefined
  let usage: Usage = { inputTokens: 0, outputTokens: 0 }
  let begun = false
  return {
    begun: () => begun,
    response: ({ modelUsage, results }: AxChatResponse) => {
      const tokens = modelUsage?.tokens
      if (tokens !== undefined) {
        const cached = (tokens.cacheCreationTokens ?? 0) + (tokens.cacheReadTokens ?? 0)
        usage = {
          inputTokens: Math.max(usage.inputTokens, tokens.promptTokens + cached),
          outputTokens: Math.max(usage.outputTokens, tokens.completionTokens)
        }
      }
      for (const result of results) {
        if (result.content !== undefined && result.content !== "") {
          begun = true
          emit({ _tag: "Delta", text: result.content })
        }
        for (const call of result.functionCalls ?? []) {
          begun = true
          // Later parts of an input can lack the id of the first part.
          const id = call.id === "" ? latest : call.id
          latest = id
          const collected = calls.get(id) ?? { name: "", json: "" }
          calls.set(id, collected)
          if (call.function.name !== "") collected.name = call.function.name
          if (typeof call.function.params === "string") collected.json += call.function.params
          else if (call.function.params !== undefined) collected.input = call.function.params
        }
        if (result.finishReason !== undefined) reason = reasonOf(result.finishReason)
      }
    },
    refused: () => emit({ _tag: "Finished", reason: "refusal", usage }),
    end: () => {
      for (const [id, { input, json, name }] of calls) {
        emit({ _tag: "ToolCall", id, name, input: input ?? parseToolInput(json) })
      }
      if (reason === undefined && calls.size === 0) throw new ModelFailure({ reason: "Broken" })
      emit({ _tag: "Finished", reason: calls.size > 0 ? "tools" : (reason ?? "end"), usage })
    }
  }
}

const reasonOf = (reason: string): Finished["reason"] => {
  switch (reason) {
    case "function_call":
      return "tools"
    case "length":
      return "length"
    case "content_filter":
      return "refusal"
    default:
      return "end"
  }
}

const isRefusal = (error: unknown): boolean => error instanceof Error && error.name === "AxAIRefusalError"

const modelFailure = (error: unknown): ModelFailure => {
  const { name, status } = error as { readonly name?: string; readonly status?: number }
  if (typeof status === "number") return statusFailure(status)
  if (name === "AxAIServiceAuthenticationError") return new ModelFailure({ reason: "Refused" })
  return new ModelFailure({ reason: name === "AxAIServiceStreamTerminatedError" ? "Broken" : "Busy" })
}

type Prompt = AxChatRequest["chatPrompt"]

const toPrompt = ({ messages, system }: StepRequest): Prompt => [
  { role: "system", content: system },
  ...messages.flatMap(toMessages)
]

/** Splits a message, because Ax wants each tool result as a separate message. */
const toMessages = ({ parts, role }: Message): Prompt => {
  const words = parts.flatMap((part) => (part._tag === "Text" ? [part.text] : []))
  if (role === "assistant") {
    const functionCalls = parts.flatMap((part) =>
      part._tag === "ToolCall"
        ? [
            {
              id: part.id,
              type: "function" as const,
              function: { name: part.name, params: (part.input ?? {}) as object }
            }
          ]
        : []
    )
    return [
      {
        role,
        ...(words.length === 0 ? {} : { content: words.join("\n") }),
        ...(functionCalls.length === 0 ? {} : { functionCalls })
      }
    ]
  }
  return [
    ...parts.flatMap((part) =>
      part._tag === "ToolResult"
        ? [
            {
              role: "function" as const,
              functionId: part.id,
              result: part.text,
              ...(part.failed ? { isError: true } : {})
            }
          ]
        : []
    ),
    ...(words.length === 0 ? [] : [{ role, content: words.map((text) => ({ type: "text" as const, text })) }])
  ]
}
