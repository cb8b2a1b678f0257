/**
 * What a lookup costs the primary with a standby, against the primary alone: processor time of the servers' processes, from /proc,
 * while both take turns. Unlike rates, it hardly depends on the machine's other load.
 */
import { type Context, Effect, Layer, Redacted } from "effect"
import { readdirSync, readFileSync } from "node:fs"
import { Env } from "../src/env.ts"
import { ConfiguredDatabase, Services } from "../src/layers.ts"
import { replicatedFor } from "../test/support/standby.ts"
import type { Measured } from "./figures.ts"
import { median } from "./race.ts"
import { asking } from "./store.ts"
import { openWorld } from "./world/load.ts"
import { byPhone, everyone, type Question, QUESTIONS } from "./world/questions.ts"

const ROUNDS = 7
const SECONDS = 3

interface Scenario {
  readonly name: string
  readonly question: Question
  readonly inFlight: number
  readonly target?: number
}

const SCENARIOS: ReadonlyArray<Scenario> = [
  { name: "lookup by phone, 1 in flight", question: byPhone, inFlight: 1 },
  { name: "lookup by phone, 8 in flight", question: byPhone, inFlight: 8 },
  { name: "lookup by phone, 32 in flight", question: byPhone, inFlight: 32, target: 0.3 },
  ...["name contains, common", "name contains, rare"].map((name) => ({
    name: `search, ${name}`,
    question: QUESTIONS[name]!,
    inFlight: 8,
    target: 0.15
  })),
  { name: "search, everyone", question: everyone, inFlight: 8, target: 0.15 }
]

/** Microseconds of a clock tick of /proc. */
const TICK = 10_000
const timesOf = (pid: number | string) => {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8")
    const fields = stat
      .slice(stat.lastIndexOf(")") + 2)
      .split(" ")
      .map(Number)
    return { parent: fields[1]!, own: (fields[11]! + fields[12]!) * TICK, ended: (fields[13]! + fields[14]!) * TICK }
  } catch {
    return undefined
  }
}

/** Processor time of a server with its processes, living and ended, in microseconds. */
const timeOf = (postmaster: number): number => {
  const own = timesOf(postmaster)!
  const children = readdirSync("/proc").filter((name) => /^\d+$/.test(name))
  return children.reduce((sum, pid) => {
    const times = timesOf(pid)
    return times?.parent === postmaster ? sum + times.own : sum
  }, own.own + own.ended)
}

export const replicas = (rows: number, quiet: boolean) =>
  Effect.scoped(
    Effect.gen(function* () {
      const cluster = yield* Effect.acquireRelease(
        Effect.promise(() => replicatedFor(1)),
        ({ end }) => Effect.promise(end)
      )
      const servicesWith = (replicaUrls: ReadonlyArray<string>) =>
        Layer.build(
          Layer.fresh(
            Services.pipe(
              Layer.provideMerge(ConfiguredDatabase),
              Layer.provideMerge(
                Env.layerWith({
                  databaseUrl: Redacted.make(cluster.url),
                  replicaUrls: replicaUrls.map((url) => Redacted.make(url)),
                  lookupTimeout: 5000,
                  searchTimeout: 60_000
                })
              )
            )
          )
        )
      const contexts = [yield* servicesWith([]), yield* servicesWith(cluster.standbys)]
      const of = yield* Effect.provideContext(
        Effect.map(openWorld(rows), ({ organizations }) => organizations.huge),
        contexts[0]!
      )
      yield* Effect.promise(async () => {
        const written = await cluster.ask(-1, "SELECT pg_current_wal_lsn()::text")
        while ((await cluster.ask(0, `SELECT pg_last_wal_replay_lsn() >= '${String(written)}'`)) !== true)
          await new Promise((resolve) => setTimeout(resolve, 100))
      })
      const ways = yield* Effect.forEach(contexts, (context) =>
        Effect.map(Effect.provideContext(asking(of, "everything"), context), ({ find }) => ({ find, context }))
      )
      const measured: Array<Measured> = []
      for (const { inFlight, name, question, target } of SCENARIOS) {
        const costs: ReadonlyArray<Array<Cost>> = [[], []]
        // The first round warms both.
        for (let round = -1; round < ROUNDS; round++)
          for (const [way, { context, find }] of ways.entries()) {
            const cost = yield* Effect.promise(() =>
              costOf(context, (count) => find(question(of, count)), inFlight, [cluster.pidOf(-1), cluster.pidOf(0)])
            )
            if (round >= 0) costs[way]!.push(cost)
          }
        const [alone, primary, standby] = [
          median(costs[0]!.map((cost) => cost.primary)),
          median(costs[1]!.map((cost) => cost.primary)),
          median(costs[1]!.map((cost) => cost.standby))
        ]
        if (!quiet)
          console.log(
            `${name.padEnd(40)} primary alone ${alone.toFixed(1)} µs; with a standby ${primary.toFixed(1)} + ${standby.toFixed(1)} µs; ` +
              `${costs[1]!.reduce((sum, { calls }) => sum + calls, 0)} calls`
          )
        measured.push({
          scenario: `${name}: the primary's CPU with a standby, against without`,
          ratio: primary / alone,
          ...(target === undefined ? {} : { target })
        })
      }
      return measured
    })
  )

interface Cost {
  /** Microseconds of a call. */
  readonly primary: number
  readonly standby: number
  readonly calls: number
}

/** Keeps so many calls in flight for some seconds. */
const costOf = async <R>(
  context: Context.Context<R>,
  call: (count: number) => Effect.Effect<unknown, unknown, R>,
  inFlight: number,
  postmasters: readonly [number, number]
): Promise<Cost> => {
  const run = Effect.runPromiseWith(context)
  const before = postmasters.map(timeOf)
  const end = performance.now() + 1000 * SECONDS
  let calls = 0
  const loop = async () => {
    while (performance.now() < end) await run(call(calls++))
  }
  await Promise.all(Array.from({ length: inFlight }, loop))
  const [primary, standby] = postmasters.map((pid, index) => (timeOf(pid) - before[index]!) / calls)
  return { primary: primary!, standby: standby!, calls }
}
