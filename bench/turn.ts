/**
 * The overhead of a turn beyond model and database: the scripted model answers immediately, and the time of statements is
 * subtracted. Also measures how long the guard holds releasable text.
 */
import { Effect, Layer, Queue, Stream, Tracer } from "effect"
import { chmodSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { MaxAgent } from "../src/agents/MaxAgent.ts"
import { ModelStep, type StepEvent } from "../src/agents/ModelStep.ts"
import { Env } from "../src/env.ts"
import { ConfiguredDatabase, Services } from "../src/layers.ts"
import { ToolHandlers } from "../src/tools/handlers.ts"
import { addPeople, asMember, makeOrganization } from "../test/support/atlas.ts"
import type { Measured } from "./figures.ts"

const ADMIN = "admin@harbor.example"
const ROUNDS = 400
const WARM_UP = 50
const MAX_OVERHEAD_MS = 5
const MAX_WAIT_MS = 20

/** The words of the answer, with the times at which the model sent them. */
const WORDS =
  "Ada Lovelace is a customer of ours and her phone number is +1 512-555-0142 as far as we know here. ".split(/(?<= )/)
const given: Array<number> = []

const usage = { inputTokens: 900, outputTokens: 30 }
const instant = Layer.succeed(
  ModelStep,
  ModelStep.of({
    provider: "bench",
    model: "instant",
    stream: ({ messages }) => {
      const answered = messages.at(-1)!.parts[0]!._tag === "ToolResult"
      const call: StepEvent = {
        _tag: "ToolCall",
        id: "1",
        name: "findEntities",
        input: {
          entityTypeId: "people",
          filters: [{ columnId: "name", op: "eq", value: "Ada Lovelace" }],
          selectColumns: ["phone"]
        }
      }
      return answered
        ? Stream.callback<StepEvent>((queue) =>
            Effect.gen(function* () {
              given.length = 0
              for (const text of WORDS) {
                given.push(performance.now())
                yield* Queue.offer(queue, { _tag: "Delta", text })
                yield* Effect.yieldNow
              }
              yield* Queue.offer(queue, { _tag: "Finished", reason: "end", usage })
              yield* Queue.end(queue)
            })
          )
        : Stream.make<ReadonlyArray<StepEvent>>(call, { _tag: "Finished", reason: "tools", usage })
    }
  })
)

/** The intervals in which statements ran. */
const statements: Array<readonly [from: number, to: number]> = []
const timed = Layer.effect(
  Tracer.Tracer,
  Effect.map(Effect.tracer, (tracer) =>
    Tracer.make({
      ...tracer,
      span: (options) => {
        const span = tracer.span(options)
        if (options.kind !== "client") return span
        const from = performance.now()
        const end = span.end.bind(span)
        span.end = (time, exit) => {
          statements.push([from, performance.now()])
          end(time, exit)
        }
        return span
      }
    })
  )
)

/** Milliseconds in which at least one statement ran. */
const covered = (): number => {
  let [sum, until] = [0, 0]
  for (const [from, to] of [...statements].sort((a, b) => a[0] - b[0])) {
    sum += Math.max(0, to - Math.max(from, until))
    until = Math.max(until, to)
  }
  return sum
}

const quantile = (values: ReadonlyArray<number>, share: number): number =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length * share)]!

export const turn = (quiet: boolean) =>
  Effect.acquireUseRelease(
    Effect.sync(() => {
      const home = mkdtempSync(join(tmpdir(), "max-bench-data-"))
      chmodSync(home, 0o755)
      return home
    }),
    (home) =>
      rounds(quiet).pipe(
        Effect.provide(
          MaxAgent.layer.pipe(
            Layer.provideMerge(instant),
            Layer.provideMerge(ToolHandlers),
            Layer.provideMerge(Services),
            Layer.provideMerge(ConfiguredDatabase),
            Layer.provideMerge(
              Env.layerWith({ databaseUrl: undefined, dataDir: join(home, "data"), stateDir: join(home, "state") })
            ),
            Layer.provideMerge(timed)
          )
        )
      ),
    (home) => Effect.sync(() => rmSync(home, { recursive: true, force: true }))
  )

const rounds = Effect.fnUntraced(function* (quiet: boolean) {
  const agent = yield* MaxAgent
  const organization = yield* makeOrganization("harbor")
  yield* addPeople(organization, [{ name: "Ada Lovelace", status: "Customer", phone: "+1 512-555-0142" }])
  yield* asMember(organization, ADMIN, "admin")
  const overheads: Array<number> = []
  const processor: Array<number> = []
  const waits: Array<number> = []
  let session: string | undefined
  for (let round = 0; round < ROUNDS + WARM_UP; round++) {
    statements.length = 0
    let shown = ""
    const before = process.cpuUsage()
    const started = performance.now()
    const input = {
      organization,
      who: { kind: "email", key: ADMIN },
      session,
      say: { text: "who is Ada Lovelace?" }
    } as const
    yield* Stream.runForEach(agent.turn(input), (event) =>
      Effect.sync(() => {
        if (event._tag === "done") session = event.session
        if (event._tag !== "delta") return
        shown += event.text
        // A word is complete when the next one arrives.
        let length = 0
        const last = WORDS.findIndex((word) => (length += word.length) >= shown.length)
        if (round >= WARM_UP) waits.push(performance.now() - (given[last] ?? given.at(-1)!))
      })
    )
    if (shown.trim() !== WORDS.join("").trim()) return yield* Effect.die(new Error(`The turn said: ${shown}`))
    const used = process.cpuUsage(before)
    if (round < WARM_UP) continue
    overheads.push(performance.now() - started - covered())
    processor.push((used.user + used.system) / 1000)
  }
  const [p50, p95, wait] = [quantile(overheads, 0.5), quantile(overheads, 0.95), quantile(waits, 0.95)]
  if (!quiet) {
    console.log(`A turn without model and database: p50 ${p50.toFixed(2)} ms, p95 ${p95.toFixed(2)} ms`)
    // CPU time excludes other programs on a loaded machine, but includes the driver's part of a statement.
    console.log(
      `Its processor time, database driver included: p50 ${quantile(processor, 0.5).toFixed(2)} ms, p95 ${quantile(processor, 0.95).toFixed(2)} ms`
    )
    console.log(
      `Text behind its safe boundary waits: p95 ${wait.toFixed(2)} ms, at most ${Math.max(...waits).toFixed(2)} ms`
    )
  }
  return [
    measured(`overhead of a turn, p95, of ${MAX_OVERHEAD_MS} ms`, p95 / MAX_OVERHEAD_MS),
    measured(`wait of text behind its safe boundary, p95, of ${MAX_WAIT_MS} ms`, wait / MAX_WAIT_MS)
  ]
})

const measured = (scenario: string, ratio: number): Measured => ({ scenario, ratio, target: 1 })
