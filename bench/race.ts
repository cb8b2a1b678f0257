/** Contestants take turns, so that the machine's noise hits all of them alike. */
import { Effect } from "effect"

export interface Contestant<R = never> {
  readonly name: string
  /** One operation; `round` says which of them all. */
  readonly run: (round: number) => Effect.Effect<unknown, unknown, R>
}

/** What a contestant came to: milliseconds of an operation, and microseconds of this process's CPU. */
export interface Raced {
  readonly name: string
  readonly ms: number
  readonly p95: number
  readonly p99: number
  readonly cpu: number
  readonly rounds: number
}

interface Limits {
  readonly rounds?: number
  /** It ends sooner when this time is over, and at least so many rounds were run. */
  readonly seconds?: number
  readonly atLeast?: number
}

export const quantile = (values: ReadonlyArray<number>, share: number): number => {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]!
}

export const median = (values: ReadonlyArray<number>): number => quantile(values, 0.5)

/** Another one first each round: who goes first after the others' rows finds caches as they left them. */
export const race = Effect.fnUntraced(function* <R = never>(
  contestants: ReadonlyArray<Contestant<R>>,
  { atLeast = 5, rounds = 1500, seconds = 6 }: Limits = {}
) {
  const times = contestants.map((): Array<number> => [])
  const cpu = contestants.map(() => 0)
  const warmUp = Math.ceil(rounds / 8)
  const begun = performance.now()
  const over = (share: number) => performance.now() - begun > 1000 * seconds * share
  let counted = 0
  let warm = false
  for (let round = 0; counted < rounds; round++) {
    warm ||= round >= warmUp || (round > 0 && over(0.15))
    if (over(1) && counted >= atLeast) break
    for (let turn = 0; turn < contestants.length; turn++) {
      const index = (round + turn) % contestants.length
      const before = process.cpuUsage()
      const started = performance.now()
      yield* contestants[index]!.run(round * contestants.length + index)
      const ms = performance.now() - started
      const { system, user } = process.cpuUsage(before)
      if (!warm) continue
      times[index]!.push(ms)
      cpu[index]! += user + system
    }
    if (warm) counted += 1
  }
  return contestants.map(({ name }, index): Raced => ({
    name,
    ms: median(times[index]!),
    p95: quantile(times[index]!, 0.95),
    p99: quantile(times[index]!, 0.99),
    cpu: cpu[index]! / counted,
    rounds: counted
  }))
})

/** A table of a race; CPU is the client's. */
export const raceTable = (title: string, raced: ReadonlyArray<Raced>): string => {
  const first = raced[0]!
  const row = (...cells: ReadonlyArray<string>) =>
    cells.map((cell, index) => (index === 0 ? cell.padEnd(46) : cell.padStart(11))).join("")
  return [
    row(`${title} (${first.rounds} rounds)`, "median", "p95", "CPU", "× time", "× CPU"),
    ...raced.map(({ cpu, ms, name, p95 }) =>
      row(
        `  ${name}`,
        `${ms.toFixed(3)} ms`,
        `${p95.toFixed(3)} ms`,
        `${cpu.toFixed(0)} µs`,
        (first.ms / ms).toFixed(2),
        (first.cpu / cpu).toFixed(2)
      )
    )
  ].join("\n")
}

/** Operations a second with so many in flight for so long. */
export const throughput = <R>(
  run: (round: number) => Effect.Effect<unknown, unknown, R>,
  { inFlight, seconds }: { readonly inFlight: number; readonly seconds: number }
) =>
  Effect.gen(function* () {
    const begun = performance.now()
    const until = begun + 1000 * seconds
    let round = 0
    let done = 0
    const one = Effect.gen(function* () {
      while (performance.now() < until) {
        yield* run(round++)
        done += 1
      }
    })
    yield* Effect.all(
      Array.from({ length: inFlight }, () => one),
      { concurrency: "unbounded", discard: true }
    )
    return (1000 * done) / (performance.now() - begun)
  })
