/**
 * Benchmarks as ratios: contestants take turns in one run on one machine, so that its noise hits all of them alike.
 * Usage: npm run bench [-- store|tokens|turn] [--rows 100000] [--json]
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Effect } from "effect"
import { store } from "./store.ts"
import { tokens } from "./tokens.ts"
import { turn } from "./turn.ts"

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

const SCENARIOS = {
  store: () => store(args.includes("--rows") && rows > 0 ? rows : 100_000, json),
  tokens: () => tokens(json),
  turn: () => turn(json)
} as const

const chosen = args[0] === "tokens" || args[0] === "turn" ? args[0] : "store"
NodeRuntime.runMain(Effect.asVoid(Effect.map(SCENARIOS[chosen](), print)))
