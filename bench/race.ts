/** Runs contestants alternately, so that the machine's noise affects all of them equally. */
import { Effect } from "effect"

export interface Contestant<R = never> {
  readonly name: string
  /** One operation; `round` is unique over all operations of the race. */
  readonly run: (round: number) => Effect.Effect<unknown, unknown, R>
  /** Runs before each operation and isn't measured. */
  readonly prepare?: (round: number) => Effect.Effect<unknown, unknown, R>
}

/** A contestant's result per operation: milliseconds of time, and microseconds of this process's CPU. */
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
  /** Ends the race after this time, once `atLeast` rounds have run. */
  readonly seconds?: number
  readonly atLeast?: number
}

export const quantile = (values: ReadonlyArray<number>, share: number): number => {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]!
}

export const median = (values: ReadonlyArray<number>): number => quantile(values, 0.5)

/** Rotates the order each round, because the first contestant finds the caches in the state that the others left. */
export const race = Effect.fnUntraced(function* <R = never>(
  contestants: ReadonlyArray<Contestant<R>>,
  { atLeast = 5, rounds = 1500, seconds = 6 }: Limits = {}
) {
  const times = contestants.map((): Array<number> => [])
  const cpu = contestants.map(() => 0)
  const warmUp = Math.ceil(rounds / 8)
  const start = performance.now()
  const elapsed = (share: number) => performance.now() - start > 1000 * seconds * share
  let counted = 0
  let warm = false
  for (let round = 0; counted < rounds; round++) {
    warm ||= round >= warmUp || (round > 0 && elapsed(0.15))
    if (elapsed(1) && counted >= atLeast) break
    for (let turn = 0; turn < contestants.length; turn++) {
      const index = (round + turn) % contestants.length
      const operation = round * contestants.length + index
      yield* contestants[index]!.prepare?.(operation) ?? Effect.void
      const before = process.cpuUsage()
      const started = performance.now()
      yield* contestants[index]!.run(operation)
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

/** A race as a table; CPU is the client's. */
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

/** Operations per second with `inFlight` concurrent operations. */
export const throughput = <R>(
  run: (round: number) => Effect.Effect<unknown, unknown, R>,
  { inFlight, seconds }: { readonly inFlight: number; readonly seconds: number }
) =>
  Effect.gen(function* () {
    const start = performance.now()
    const until = start + 1000 * seconds
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
    return (1000 * done) / (performance.now() - start)
  })
