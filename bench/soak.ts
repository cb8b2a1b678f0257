/**
 * A server under sustained load: its memory with 32 requests in flight, whether it stays constant, and the effect of one
 * organization's searches, and of a hostile one, on another's lookups.
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
import { openWorld } from "./world/load.ts"
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
/** Lookups by common names, whose totals are the largest. */
const COMMON_NAMES: Question = (of, round) => ({
  ...QUESTIONS["name, common"]!(of, round),
  limit: 25,
  selectColumns: ["phone", "email", "owner", "company"]
})
const LARGE_PAGES: Question = (of, round) => ({
  ...everyone(of, round),
  limit: 25,
  selectColumns: ["owner", "company"]
})
const COUNTS: Question = (of, round) => ({ ...QUESTIONS["name begins with one"]!(of, round), limit: 0 })
const TURNS = 5
const TURN_SECONDS = 4

export const neighbour = (rows: number, where: Where, quiet: boolean) =>
  onDatabase(where, Effect.scoped(neighbours(rows, quiet)))

const neighbours = Effect.fnUntraced(function* (rows: number, quiet: boolean) {
  const { huge, middle } = (yield* openWorld(rows)).organizations
  const tokens = {
    noisy: yield* Effect.forEach(["company", "masked", "everything"] as const, (role) => tokenOf(huge, role)),
    quiet: yield* tokenOf(middle, "masked")
  }
  const { port } = yield* serving()
  const lookups = (seconds: number) =>
    load({ port, token: tokens.quiet, inFlight: 1, seconds, asked: (round) => byPhone(middle, round) })
  const noise = (question: Question, inFlight: number, token: string, refused = false) =>
    load({ port, token, inFlight, seconds: TURN_SECONDS, refused, asked: (round) => question(huge, round) })
  const compare = Effect.fnUntraced(function* (
    name: string,
    loads: ReadonlyArray<Effect.Effect<{ readonly times: ReadonlyArray<number> }>>
  ) {
    const alone: Array<number> = []
    const beside: Array<number> = []
    let requests = 0
    for (let turn = 0; turn < TURNS; turn++) {
      alone.push(...(yield* lookups(TURN_SECONDS)).times)
      const [noisy, { times }] = yield* Effect.all(
        [
          Effect.all(loads, { concurrency: "unbounded" }),
          // Starts after the noisy organization.
          Effect.delay(lookups(TURN_SECONDS - 1), 500)
        ],
        { concurrency: 2 }
      )
      requests += noisy.reduce((sum, one) => sum + one.times.length, 0)
      beside.push(...times)
    }
    const at = (times: ReadonlyArray<number>, share: number) => quantile(times, share)
    if (!quiet) {
      const row = (times: ReadonlyArray<number>) =>
        [0.5, 0.95, 0.99].map((share) => `p${100 * share} ${at(times, share).toFixed(2)} ms`).join(", ")
      console.log(`lookups alone: ${row(alone)} (${alone.length})`)
      console.log(`beside ${requests} requests of ${name}: ${row(beside)} (${beside.length})`)
    }
    return (share: number) => at(beside, share) / at(alone, share)
  })
  yield* lookups(2)
  const searches = yield* compare("another organization's searches, 16 in flight", [
    noise(HAMMERING, 16, tokens.noisy[0]!)
  ])
  const hostile = yield* compare(
    "a hostile organization, 36 in flight",
    tokens.noisy.flatMap((token) => [
      noise(COMMON_NAMES, 6, token, true),
      noise(HAMMERING, 2, token, true),
      noise(LARGE_PAGES, 2, token, true),
      noise(COUNTS, 1, token, true),
      noise(byPhone, 1, `${token}x`, true)
    ])
  )
  return [
    {
      scenario: "p99 of a lookup beside another organization's searches, against alone",
      ratio: searches(0.99),
      target: 3
    },
    { scenario: "p50 of the same", ratio: searches(0.5) },
    { scenario: "p95 of a lookup beside a hostile organization, against alone", ratio: hostile(0.95), target: 3 },
    { scenario: "p50 of the same, hostile", ratio: hostile(0.5) }
  ] satisfies ReadonlyArray<Measured>
})
