/** A server under sustained load: its memory with 32 requests in flight, and whether it stays constant. */
import { Effect } from "effect"
import { onDatabase, type Where } from "./database.ts"
import type { Measured } from "./figures.ts"
import { tokenOf } from "./http.ts"
import { load } from "./load.ts"
import { median, quantile } from "./race.ts"
import { serving, UNLIMITED } from "./serving.ts"
import { openWorld } from "./world/load.ts"
import { byEmail, byPhone, everyone, type Question, QUESTIONS } from "./world/questions.ts"

const IN_FLIGHT = 32
const MAX_MB = 200
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

export const soak = (rows: number, minutes: number, where: Where, quiet: boolean) =>
  onDatabase(where, Effect.scoped(soaked(rows, minutes, quiet)))

const soaked = Effect.fnUntraced(function* (rows: number, minutes: number, quiet: boolean) {
  const of = (yield* openWorld(rows)).organizations.huge
  const token = yield* tokenOf(of, "masked")
  const { megabytes: ask, port } = yield* serving(UNLIMITED)
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
