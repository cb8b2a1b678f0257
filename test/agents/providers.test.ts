import { layer } from "@effect/vitest"
import { Effect, Fiber, Layer, Redacted, Stream } from "effect"
import { afterAll, describe, expect, it as test } from "vitest"
import { configuredModel } from "../../src/agents/configuredModel.ts"
import { ModelFailure, ModelStep, type StepEvent, type StepRequest } from "../../src/agents/ModelStep.ts"
import { anthropicStep } from "../../src/agents/providers/AnthropicStep.ts"
import { axStep } from "../../src/agents/providers/AxStep.ts"
import { Env } from "../../src/env.ts"
import { toolDefinitions } from "../../src/tools/definitions.ts"
import { calls, inTurn, says, startMessages } from "../support/messages.ts"
import { until } from "../support/until.ts"

const server = await startMessages()
afterAll(() => server.close())

const key = Redacted.make("sk-test")
const PROVIDERS = {
  anthropic: anthropicStep({ key, model: "claude-haiku-5-5", url: server.url, retries: 2 }),
  ax: Layer.orDie(axStep({ provider: "ax:anthropic", key, model: "claude-haiku-5-5", url: server.url }))
}

const text = (value: string) => ({ _tag: "Text" as const, text: value })
const request: StepRequest = {
  system: "You are Max.",
  messages: [{ role: "user", parts: [text("{}"), text("who is Ada?")] }],
  tools: toolDefinitions,
  maxTokens: 300
}
const conversation: StepRequest = {
  ...request,
  messages: [
    ...request.messages,
    {
      role: "assistant",
      parts: [
        { _tag: "ToolCall", id: "toolu_a", name: "listEntityTypes", input: {} },
        { _tag: "ToolCall", id: "toolu_b", name: "findEntities", input: undefined }
      ]
    },
    {
      role: "user",
      parts: [
        { _tag: "ToolResult", id: "toolu_a", name: "listEntityTypes", text: "people", failed: false },
        { _tag: "ToolResult", id: "toolu_b", name: "findEntities", text: "wrong", failed: true }
      ]
    }
  ]
}

const step = (from: StepRequest = request) =>
  Effect.flatMap(ModelStep, (model) => Effect.map(Stream.runCollect(model.stream(from)), (events) => [...events]))
const textOf = (events: ReadonlyArray<StepEvent>) =>
  events.map((event) => (event._tag === "Delta" ? event.text : "")).join("")

for (const [name, provider] of Object.entries(PROVIDERS)) {
  layer(provider, { excludeTestServices: true })(`a step over ${name}`, (it) => {
    it.effect("streams text and ends with the token usage", () =>
      Effect.gen(function* () {
        server.reset(() => says("Ada is a customer.", { usage: { input_tokens: 70, output_tokens: 9 } }))
        const events = yield* step()
        expect(textOf(events)).toBe("Ada is a customer.")
        expect(events.filter((event) => event._tag === "Delta").length).toBeGreaterThan(1)
        expect(events.at(-1)).toMatchObject({ _tag: "Finished", reason: "end", usage: { inputTokens: 70 } })
        expect(server.requests[0]!.rejected).toBeUndefined()
        expect(server.requests[0]!.body.max_tokens).toBe(300)
      })
    )

    it.effect("sends the traceparent header inside a trace, and none outside", () =>
      Effect.gen(function* () {
        server.reset(() => says("Ada is a customer."))
        yield* step()
        const { spanId, traceId } = yield* Effect.withSpan(Effect.andThen(step(), Effect.currentSpan), "chat")
        const told = server.requests.map(({ headers }) => headers["traceparent"])
        expect(told).toEqual([undefined, `00-${traceId}-${spanId}-01`])
      })
    )

    it.effect("emits complete tool calls, and malformed input as undefined", () =>
      Effect.gen(function* () {
        const input = { entityTypeId: "people", filters: [{ columnId: "name", op: "eq", value: 'A "quoted" ñame' }] }
        server.reset(() => ({
          content: [
            ...calls(["findEntities", input], ["listEntityTypes", {}]).content!,
            { type: "broken_tool_use", name: "findEntities", json: '{"entityTypeId": "people", ' }
          ]
        }))
        const found = (yield* step()).filter((event) => event._tag === "ToolCall")
        expect(found.map((call) => [call.name, call.input])).toEqual([
          ["findEntities", input],
          ["listEntityTypes", {}],
          ["findEntities", undefined]
        ])
        expect(new Set(found.map(({ id }) => id)).size).toBe(3)
      })
    )

    it.effect("sends conversations that the Messages API accepts, including failed tool results", () =>
      Effect.gen(function* () {
        server.reset(() => says("Done."))
        yield* step(conversation)
        expect(server.requests[0]!.rejected).toBeUndefined()
        expect(server.requests[0]!.raw).toContain('"is_error":true')
      })
    )

    it.effect("reports truncation and refusal as the reason", () =>
      Effect.gen(function* () {
        server.reset(inTurn(says("Ada is", { stop: "max_tokens" }), says("I can't.", { stop: "refusal" })))
        expect((yield* step()).at(-1)).toMatchObject({ reason: "length" })
        expect((yield* step()).at(-1)).toMatchObject({ reason: "refusal" })
      })
    )

    it.effect("retries after 529, 429 and 500", () =>
      Effect.gen(function* () {
        for (const status of [529, 429, 500]) {
          server.reset(
            inTurn({ status, error: "overloaded_error", headers: { "retry-after-ms": "10" } }, says("Here."))
          )
          expect(textOf(yield* step())).toBe("Here.")
          expect(server.requests.length).toBe(2)
        }
      })
    )

    it.effect("fails with Refused after an authentication error, without a retry", () =>
      Effect.gen(function* () {
        server.reset(() => ({ status: 401, error: "authentication_error" }))
        expect(yield* Effect.flip(step())).toEqual(new ModelFailure({ reason: "Refused" }))
        expect(server.requests).toHaveLength(1)
      })
    )

    it.effect("fails with Broken when the stream dies or carries an error event", () =>
      Effect.gen(function* () {
        for (const death of [{ diesAfter: 2 }, { failsAfter: 2 }]) {
          server.reset(() => says("Ada is a customer of ours.", death))
          expect(yield* Effect.flip(step())).toEqual(new ModelFailure({ reason: "Broken" }))
          expect(server.requests).toHaveLength(1)
        }
      })
    )

    it.effect("aborts the request on interruption", () =>
      Effect.gen(function* () {
        server.reset(() => says("x".repeat(400), { pace: 20 }))
        const fiber = yield* Effect.forkChild(step())
        yield* Effect.promise(() =>
          until(() => server.requests[0] !== undefined && server.requests[0].sentAt.length > 3)
        )
        yield* Fiber.interrupt(fiber)
        yield* Effect.promise(() => until(() => server.requests[0]!.aborted))
      })
    )
  })
}

describe("the configured provider", () => {
  const modelOf = (settings: Parameters<typeof Env.layerWith>[0]) =>
    Effect.runPromise(
      Effect.map(ModelStep, ({ model, provider }) => [provider, model]).pipe(
        Effect.provide(configuredModel.pipe(Layer.provide(Env.layerWith(settings)))),
        Effect.catchTag("ConfigurationError", ({ message }) => Effect.succeed(message))
      )
    )

  test("is Anthropic if there is a key, with the default or the configured model", async () => {
    expect(await modelOf({ anthropicKey: key, provider: undefined, model: undefined })).toEqual([
      "anthropic",
      "claude-haiku-5-5"
    ])
    expect(await modelOf({ anthropicKey: key, provider: "anthropic", model: "claude-sonnet-5-5" })).toEqual([
      "anthropic",
      "claude-sonnet-5-5"
    ])
  })

  test("is Ax for any other provider name", async () => {
    expect(await modelOf({ provider: "openai", axKey: key, model: "gpt-5.6" })).toEqual(["openai", "gpt-5.6"])
  })

  test("fails with the name of the missing setting", async () => {
    expect(await modelOf({ provider: "anthropic", anthropicKey: undefined })).toContain("ANTHROPIC_API_KEY")
    expect(await modelOf({ provider: "openai", axKey: key, model: undefined })).toContain("MAX_MODEL")
    expect(await modelOf({ provider: "no-such", axKey: key, model: "x" })).toContain("no-such")
  })
})
