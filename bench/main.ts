/**
 * Benchmarks as ratios: contestants take turns in one run on one machine, so that its noise hits all of them alike.
 * Usage: npm run bench [-- store|rls] [--rows 100000] [--json]
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Effect } from "effect"
import { rls } from "./rls.ts"
import { store } from "./store.ts"

export interface Measured {
  readonly scenario: string
  readonly ratio: number
  /** Without one, the figure is reported and nothing else. */
  readonly target?: number
}

const args = process.argv.slice(2)
const rows = Number(args[args.indexOf("--rows") + 1] ?? "")
const json = args.includes("--json")

const print = (measured: ReadonlyArray<Measured>) => {
  if (json) return console.log(JSON.stringify(measured, null, 2))
  for (const { ratio, scenario, target } of measured) {
    const verdict = target === undefined ? "    " : ratio <= target ? "ok  " : "MISS"
    const wanted = target === undefined ? "" : ` (target ≤ ${target}×)`
    console.log(`${verdict} ${scenario.padEnd(72)} ${ratio.toFixed(2)}×${wanted}`)
  }
}

const benchmark = args.includes("rls") ? rls : store
NodeRuntime.runMain(Effect.map(benchmark(args.includes("--rows") && rows > 0 ? rows : 100_000, json), print))
