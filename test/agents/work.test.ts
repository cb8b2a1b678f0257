/** The processor time of a turn's own work: counted per turn, limited, and recorded. */
import { layer } from "@effect/vitest"
import { Effect, Layer, Redacted, Stream } from "effect"
import { expect } from "vitest"
import { MaxAgent } from "../../src/agents/MaxAgent.ts"
import { ModelStep, type StepEvent, type StepRequest } from "../../src/agents/ModelStep.ts"
import { SENTENCES } from "../../src/agents/sentences.ts"
import { Env } from "../../src/env.ts"
import { ConfiguredDatabase, Services } from "../../src/layers.ts"
import { findings } from "../../src/observability/findings.ts"
import { Recorder } from "../../src/observability/Recorder.ts"
import { ToolHandlers } from "../../src/tools/handlers.ts"
import { ADMIN, company, MEMBER, say } from "../support/agent.ts"
import { migratedDatabase } from "../support/database.ts"
import { EVERYTHING } from "../support/traces.ts"

const usage = { inputTokens: 1, outputTokens: 1 }
const LIMIT = 1000

/** Takes this much processor time without interruption. */
const work = (milliseconds: number) => {
  const before = process.cpuUsage()
  const spent = () => {
    const { system, user } = process.cpuUsage(before)
    return (system + user) / 1000
  }
  while (spent() < milliseconds);
}

const partsOf = ({ messages }: StepRequest) => messages.flatMap(({ parts }) => parts)

const answer = (text: string): ReadonlyArray<StepEvent> => [
  { _tag: "Delta", text },
  { _tag: "Finished", reason: "end", usage }
]
const lookUp = (count: number, step: number): ReadonlyArray<StepEvent> => [
  ...Array.from({ length: count }, (_, index) => ({
    _tag: "ToolCall" as const,
    id: `${step} ${index}`,
    name: "findEntities",
    input: { entityTypeId: "people", filters: [], limit: 25, selectColumns: ["phone", "email"] }
  })),
  { _tag: "Finished", reason: "tools", usage }
]

/** A model that looks people up four at a time; if it is asked for something slow, each step is long work of its own. */
const scripted = Layer.succeed(
  ModelStep,
  ModelStep.of({
    provider: "scripted",
    model: "scripted",
    stream: (request) => {
      const isSlow = partsOf(request).some((part) => part._tag === "Text" && part.text === "slow")
      const done = partsOf(request).filter(({ _tag }) => _tag === "ToolResult").length
      if (isSlow) work(LIMIT * 0.4)
      return Stream.fromIterable(isSlow ? lookUp(1, done) : done < 8 ? lookUp(4, done) : answer("There are people."))
    }
  })
)

const agent = (settings: Parameters<typeof Env.layerWith>[0]) =>
  Layer.unwrap(
    Effect.map(migratedDatabase, (url) =>
      MaxAgent.layer.pipe(
        Layer.provideMerge(scripted),
        Layer.provideMerge(ToolHandlers),
        Layer.provideMerge(Services),
        Layer.provideMerge(ConfiguredDatabase),
        Layer.provideMerge(
          Env.layerWith({
            databaseUrl: Redacted.make(url),
            lookupTimeout: 20_000,
            searchTimeout: 30_000,
            turnSeconds: 300,
            ...settings
          })
        ),
        Layer.orDie
      )
    )
  )

/** Runs a turn, and returns what was heard with its span. */
const traced = (...args: Parameters<typeof say>) =>
  Effect.gen(function* () {
    const recorder = Recorder.make(EVERYTHING)
    const heard = yield* Effect.withTracer(say(...args), recorder.tracer)
    const traces = recorder.take()
    const span = traces.flatMap(({ spans }) => spans).find(({ name }) => name === "invoke_agent max")!
    return { ...heard, span, traces }
  })

layer(agent({ turnCpu: LIMIT }), { excludeTestServices: true })("a turn's own work", (it) => {
  it.effect("ends the turn when its parts together exceed the limit, and the process goes on", () =>
    Effect.gen(function* () {
      const { organization } = yield* company
      const { error, span, traces } = yield* traced(organization, ADMIN, "slow")
      expect(error).toEqual({
        _tag: "error",
        reason: "Budget",
        message: `${SENTENCES.tooMuchWork} (ref ${error?.reference})`,
        reference: expect.any(String)
      })
      // Ended after the third step, of which each takes two fifths of the limit.
      expect(span).toMatchObject({ failure: "TurnFault", attributes: { "max.steps": 3 } })
      expect(span.attributes["max.cpu_ms"]).toBeGreaterThan(LIMIT)
      expect(findings(traces)).toContainEqual(expect.objectContaining({ kind: "processor time" }))
      expect((yield* say(organization, ADMIN, "people?")).done?.text).toBe("There are people.")
    })
  )

  it.effect("isn't charged for the work of concurrent turns", () =>
    Effect.gen(function* () {
      const { organization } = yield* company
      const turns = [
        traced(organization, ADMIN, "slow"),
        ...Array.from({ length: 4 }, () => traced(organization, MEMBER, "people?"))
      ]
      const [first, ...others] = yield* Effect.all(turns, { concurrency: "unbounded" })
      expect(first!.error?.reason).toBe("Budget")
      for (const { done, error, span } of others) {
        expect([done?.text, error]).toEqual(["There are people.", undefined])
        expect(span.attributes["max.cpu_ms"]).toBeLessThan(LIMIT / 2)
      }
    })
  )
})

layer(agent({}), { excludeTestServices: true })("a usual turn", (it) => {
  it.effect("of eight lookups takes a fraction of the default limit", () =>
    Effect.gen(function* () {
      const { organization } = yield* company
      const { turnCpu } = yield* Env
      const { done, span } = yield* traced(organization, ADMIN, "people?")
      expect(done).toMatchObject({ text: "There are people.", usage: { steps: 3 } })
      expect(span.attributes["max.cpu_ms"]).toBeLessThan(turnCpu / 4)
    })
  )
})
