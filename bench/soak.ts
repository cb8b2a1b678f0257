/**
 * A server under sustained load: its memory with 32 requests in flight, whether it stays constant, and the effect of one
 * organization's continuous searches on another's lookups.
 */
import { Effect } from "effect"
import { spawn, spawnSync } from "node:child_process"
import { join } from "node:path"
import { Database } from "../src/database/Database.ts"
import { onDatabase, type Where } from "./database.ts"
import type { Measured } from "./figures.ts"
import { tokenOf } from "./http.ts"
import { load } from "./load.ts"
import { outside, urlOf } from "./outside.ts"
import { median, quantile } from "./race.ts"
import { openWorld, type WorldOrganization } from "./world/load.ts"
import { byEmail, byPhone, everyone, type Question, QUESTIONS } from "./world/questions.ts"

const IN_FLIGHT = 32
const MAX_MB = 200
/** The options of docs/performance: by default Node collects garbage late. */
const HEAP_MB = 96
const EVERY_SECONDS = 10

/** The mix of requests: mostly lookups, some searches and pages. */
const MIX: ReadonlyArray<Question> = [
  byPhone,
  byEmail,
  QUESTIONS["name, rare"]!,
  QUESTIONS["name contains, rare"]!,
  byPhone,
  everyone,
  QUESTIONS["company contains"]!,
  byEmail,
  QUESTIONS["name contains, common"]!,
  QUESTIONS["status, common"]!
]

/** The built `max serve` on this process's database: its address, and its memory in megabytes. */
const serving = Effect.fnUntraced(function* () {
  const { owner } = yield* Database
  spawnSync(process.execPath, [join("bin", "max"), "--version"], { stdio: "ignore" })
  return yield* Effect.acquireRelease(
    Effect.callback<{ readonly port: number; readonly end: () => void; readonly megabytes: () => number }>((resume) => {
      const child = spawn(
        process.execPath,
        [`--max-old-space-size=${HEAP_MB}`, join("dist", "bin", "max.js"), "serve"],
        {
          env: {
            PATH: process.env["PATH"],
            HOME: process.env["HOME"],
            DATABASE_URL: urlOf(outside(owner)),
            MAX_HTTP_PORT: "0",
            MAX_LOOKUP_TIMEOUT: "5000",
            MAX_SEARCH_TIMEOUT: "60000",
            MAX_CALLS_PER_PERSON: "1000000",
            MAX_CALLS_PER_ORGANIZATION: "100000000"
          },
          stdio: ["ignore", "pipe", "pipe"]
        }
      )
      let said = ""
      const hear = (chunk: Buffer) => {
        said += chunk.toString()
        const port = /Max answers at http:\/\/[^ ]*:(\d+)/.exec(said)?.[1]
        if (port === undefined) return
        const megabytes = () =>
          Number(spawnSync("ps", ["-o", "rss=", "-p", String(child.pid)], { encoding: "utf8" }).stdout) / 1024
        resume(Effect.succeed({ port: Number(port), end: () => void child.kill("SIGTERM"), megabytes }))
      }
      child.stdout.on("data", hear)
      child.stderr.on("data", hear)
      child.on("close", () => resume(Effect.die(new Error(said))))
    }),
    ({ end }) => Effect.sync(end)
  )
})

export const soak = (rows: number, minutes: number, where: Where, quiet: boolean) =>
  onDatabase(where, Effect.scoped(soaked(rows, minutes, quiet)))

const soaked = Effect.fnUntraced(function* (rows: number, minutes: number, quiet: boolean) {
  const of = (yield* openWorld(rows)).organizations.huge
  const token = yield* tokenOf(of, "masked")
  const { megabytes: ask, port } = yield* serving()
  const megabytes: Array<number> = []
  let answered = 0
  const samples = Math.max(6, Math.round((minutes * 60) / EVERY_SECONDS))
  for (let sample = 0; sample < samples; sample++) {
    const { times } = yield* load({
      port,
      token,
      inFlight: IN_FLIGHT,
      seconds: (minutes * 60) / samples,
      asked: (round) => MIX[round % MIX.length]!(of, round + answered)
    })
    answered += times.length
    const now = ask()
    megabytes.push(now)
    if (!quiet) {
      console.log(
        `${(((sample + 1) * minutes) / samples).toFixed(1)} min: ${now.toFixed(0)} MB, ${answered} answered, ` +
          `p50 ${median(times).toFixed(1)} ms, p99 ${quantile(times, 0.99).toFixed(1)} ms`
      )
    }
  }
  // The first third is warm-up: compilation and caches.
  const third = Math.floor(samples / 3)
  const [middle, last] = [median(megabytes.slice(third, 2 * third)), median(megabytes.slice(2 * third))]
  return [
    {
      scenario: `most memory with ${IN_FLIGHT} in flight, of ${MAX_MB} MB`,
      ratio: Math.max(...megabytes) / MAX_MB,
      target: 1
    },
    { scenario: `memory in the last third of ${minutes} minutes against the second`, ratio: last / middle, target: 1.1 }
  ] satisfies ReadonlyArray<Measured>
})

const HAMMERING: Question = (of, round) =>
  QUESTIONS[["name contains, common", "name contains three", "owner contains"][round % 3]!]!(of, round)
const TURNS = 5
const TURN_SECONDS = 4

export const neighbour = (rows: number, where: Where, quiet: boolean) =>
  onDatabase(where, Effect.scoped(neighbours(rows, quiet)))

const neighbours = Effect.fnUntraced(function* (rows: number, quiet: boolean) {
  const { huge, middle } = (yield* openWorld(rows)).organizations
  const tokens = { noisy: yield* tokenOf(huge, "company"), quiet: yield* tokenOf(middle, "masked") }
  const { port } = yield* serving()
  const looking = (of: WorldOrganization, question: Question, inFlight: number, seconds: number, token: string) =>
    load({ port, token, inFlight, seconds, asked: (round) => question(of, round) })
  const lookups = looking(middle, byPhone, 1, TURN_SECONDS, tokens.quiet)
  const alone: Array<number> = []
  const beside: Array<number> = []
  yield* looking(middle, byPhone, 1, 2, tokens.quiet)
  let searches = 0
  for (let turn = 0; turn < TURNS; turn++) {
    alone.push(...(yield* lookups).times)
    const [hammering, { times }] = yield* Effect.all(
      [
        looking(huge, HAMMERING, 16, TURN_SECONDS, tokens.noisy),
        // Starts after the noisy organization.
        Effect.delay(looking(middle, byPhone, 1, TURN_SECONDS - 1, tokens.quiet), 500)
      ],
      { concurrency: 2 }
    )
    searches += hammering.times.length
    beside.push(...times)
  }
  const p99 = (times: ReadonlyArray<number>) => quantile(times, 0.99)
  if (!quiet) {
    console.log(
      `lookups alone: p50 ${median(alone).toFixed(2)} ms, p99 ${p99(alone).toFixed(2)} ms (${alone.length}); beside ${searches} searches of ` +
        `another organization, 16 in flight: p50 ${median(beside).toFixed(2)} ms, p99 ${p99(beside).toFixed(2)} ms (${beside.length})`
    )
  }
  return [
    {
      scenario: "p99 of a lookup beside another organization's searches, against alone",
      ratio: p99(beside) / p99(alone),
      target: 3
    },
    { scenario: "p50 of the same", ratio: median(beside) / median(alone) }
  ] satisfies ReadonlyArray<Measured>
})
