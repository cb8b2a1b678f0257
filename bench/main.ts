/**
 * Benchmarks as ratios: contestants take turns in one run on one machine, so that its noise hits all of them alike.
 * Usage: npm run bench [-- store | permissions] [--rows 100000] [--json]
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Effect } from "effect"
import { permissions, type Timed } from "./permissions.ts"
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

const printTimes = (measured: ReadonlyArray<Timed>) => {
  if (json) return console.log(JSON.stringify(measured, null, 2))
  for (const { ms, ok, scenario, target } of measured) {
    const wanted = target === undefined ? "" : ` (target ≤ ${target} ms)`
    console.log(
      `${target === undefined ? "    " : ok ? "ok  " : "MISS"} ${scenario.padEnd(84)} ${ms.toFixed(3)} ms${wanted}`
    )
  }
}

const scenario = args.includes("permissions")
  ? Effect.map(
      Effect.promise(() => permissions(json)),
      printTimes
    )
  : Effect.map(store(args.includes("--rows") && rows > 0 ? rows : 100_000, json), print)

NodeRuntime.runMain(scenario)
