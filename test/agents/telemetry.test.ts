import { layer } from "@effect/vitest"
import { Effect, Layer, Logger, References, Tracer } from "effect"
import { afterAll, expect } from "vitest"
import { shortReference } from "../../src/domain/reference.ts"
import { ADMIN, agentFor, company, say } from "../support/agent.ts"
import { calls, inTurn, says, startMessages } from "../support/messages.ts"

const server = await startMessages()
afterAll(() => server.close())

interface Span {
  readonly name: string
  readonly id: string
  readonly traceId: string
  readonly parent: string | undefined
  readonly attributes: ReadonlyMap<string, unknown>
  readonly text: string
  readonly failed: boolean
}

const spans: Array<Span> = []
const logs: Array<string> = []

const replacer = (_: string, value: unknown) =>
  typeof value === "bigint"
    ? String(value)
    : value instanceof Map
      ? [...value]
      : value instanceof Error
        ? [value.message, value.stack]
        : value

/** Records every span as it ends, with its attributes and events. */
const recording = Layer.effect(
  Tracer.Tracer,
  Effect.map(Effect.tracer, (tracer) =>
    Tracer.make({
      ...tracer,
      span: (options) => {
        const span = tracer.span(options)
        const end = span.end.bind(span)
        span.end = (time, exit) => {
          end(time, exit)
          const { attributes, events, name, spanId, traceId } = span as Tracer.Span & { readonly events?: unknown }
          const parent = span.parent._tag === "Some" ? span.parent.value.spanId : undefined
          spans.push({
            name,
            id: spanId,
            traceId,
            parent,
            attributes,
            failed: exit._tag === "Failure",
            // The value of a successful span is never exported.
            text: JSON.stringify([name, attributes, events, exit._tag === "Failure" ? exit.cause : ""], replacer)
          })
        }
        return span
      }
    })
  )
)
const listening = Layer.mergeAll(
  Logger.layer([Logger.make(({ cause, message }) => void logs.push(JSON.stringify([message, cause], replacer)))]),
  Layer.succeed(References.MinimumLogLevel, "All")
)

const CANARIES = [
  "Ada Lovelace",
  "Lovelace",
  "512-555-0142",
  "5125550142",
  "analytical.example",
  "zebra question",
  "canary answer",
  "Porto"
]

const ALLOWED =
  /^(gen_ai\.(operation\.name|provider\.name|request\.model|conversation\.id|tool\.name|usage\.(input|output)_tokens)|max\.[a-z_.]+|took_ms|db\..*|span\.label)$/

layer(agentFor(server).pipe(Layer.provideMerge(recording), Layer.provideMerge(listening)), {
  excludeTestServices: true
})("the telemetry of a turn", (it) => {
  const conversation = Effect.gen(function* () {
    const { organization } = yield* company
    server.reset(
      inTurn(
        calls(
          [
            "findEntities",
            {
              entityTypeId: "people",
              filters: [{ columnId: "name", op: "eq", value: "Ada Lovelace" }],
              selectColumns: ["phone", "email"]
            }
          ],
          [
            "findEntities",
            { entityTypeId: "people", filters: [{ columnId: "phone", op: "eq", value: "512-555-0142" }] }
          ],
          ["findEntities", { wrong: "Ada Lovelace 512-555-0142" }],
          ["canary answer", {}]
        ),
        says("canary answer: Ada Lovelace, 512-555-0142, canary@made-up.example."),
        says("canary answer: Ada Lovelace, 512-555-0142."),
        { status: 400, error: "invalid_request_error" }
      )
    )
    spans.length = 0
    logs.length = 0
    const answered = yield* say(organization, ADMIN, "zebra question: who is Ada Lovelace, 512-555-0142?")
    const failed = yield* say(organization, ADMIN, "zebra question: who is Ada Lovelace?")
    return { answered, failed }
  })

  it.effect("nests invoke_agent, chat, execute_tool and the lookups", () =>
    Effect.gen(function* () {
      const { answered, failed } = yield* conversation
      const names = spans.map(({ name }) => name)
      const root = spans.find(({ name }) => name === "invoke_agent max")!
      expect(names.filter((name) => name === "chat claude-haiku-5-5")).toHaveLength(4)
      expect(names.filter((name) => name.startsWith("execute_tool")).sort()).toEqual([
        "execute_tool findEntities",
        "execute_tool findEntities",
        "execute_tool findEntities",
        "execute_tool unknown"
      ])
      const find = spans.find(
        ({ name, parent }) =>
          name === "EntityQueryService.find" &&
          spans.some((span) => span.id === parent && span.name === "execute_tool findEntities")
      )
      expect(find).toBeDefined()
      expect(find!.traceId).toBe(root.traceId)
      expect(answered.done!.reference).toBe(shortReference(root.traceId))
      expect(failed.error!.message).toContain(`(ref ${failed.error!.reference!})`)
      expect(root.attributes.get("gen_ai.usage.input_tokens")).toBeGreaterThan(20)
      // A turn without an answer marks its trace as failed. Failed traces are always kept, so the reference can be opened.
      expect(spans.filter(({ failed: ended, name }) => name === "invoke_agent max" && ended)).toHaveLength(1)
    })
  )

  it.effect("contains no name, number, address, question or answer, in spans, events, errors and logs", () =>
    Effect.gen(function* () {
      yield* conversation
      expect(spans.length).toBeGreaterThan(10)
      for (const text of [...spans.map((span) => span.text), ...logs]) {
        for (const canary of CANARIES) expect(text).not.toContain(canary)
      }
      for (const { attributes, name } of spans) {
        if (!/^(invoke_agent|chat|execute_tool)/.test(name)) continue
        for (const key of attributes.keys()) expect(key).toMatch(ALLOWED)
      }
    })
  )
})
