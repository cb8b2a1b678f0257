/**
 * Benchmarks as ratios: contestants take turns in one run on one machine, so that its noise hits all of them alike.
 * Usage: npm run bench [-- store|import] [--rows 100000] [--json]
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Effect } from "effect"
import { importing } from "./import.ts"
import { store } from "./store.ts"

export interface Measured {
  readonly scenario: string
  readonly ratio: number
  readonly target: number
  readonly ok: boolean
}

const args = process.argv.slice(2)
const rows = Number(args[args.indexOf("--rows") + 1] ?? "")
const json = args.includes("--json")

const print = (measured: ReadonlyArray<Measured>) => {
  if (json) return console.log(JSON.stringify(measured, null, 2))
  for (const { ok, ratio, scenario, target } of measured) {
    console.log(`${ok ? "ok  " : "MISS"} ${scenario.padEnd(72)} ${ratio.toFixed(2)}× (target ≤ ${target}×)`)
  }
}

const size = args.includes("--rows") && rows > 0 ? rows : 100_000
NodeRuntime.runMain(args.includes("import") ? importing(size, json) : Effect.map(store(size, json), print))
