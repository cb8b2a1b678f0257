/**
 * Benchmarks as ratios: contestants take turns in one run on one machine, so that its noise hits all of them alike.
 * Usage: npm run bench [-- store|http] [--rows 100000] [--json]
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Effect } from "effect"
import { contestant, http } from "./http.ts"
import { store } from "./store.ts"

export interface Measured {
  readonly scenario: string
  readonly ratio: number
  readonly target: number
  readonly ok: boolean
  /** The target is what has to be reached, not what must not be passed. */
  readonly atLeast?: boolean
}

const args = process.argv.slice(2)
const rows = Number(args[args.indexOf("--rows") + 1] ?? "")
const json = args.includes("--json")

const print = (measured: ReadonlyArray<Measured>) => {
  if (json) return console.log(JSON.stringify(measured, null, 2))
  for (const { atLeast, ok, ratio, scenario, target } of measured) {
    console.log(
      `${ok ? "ok  " : "MISS"} ${scenario.padEnd(72)} ${ratio.toFixed(2)}× (target ${atLeast === true ? "≥" : "≤"} ${target}×)`
    )
  }
}

if (args[0] === "contestant") {
  NodeRuntime.runMain(contestant(args[1]!, args[2]!, args[3]!))
} else {
  const bench = args.includes("http") ? http : store
  NodeRuntime.runMain(Effect.map(bench(args.includes("--rows") && rows > 0 ? rows : 100_000, json), print))
}
