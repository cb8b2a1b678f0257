/**
 * Benchmarks as ratios: contestants take turns in one run on one machine, so that its noise hits all of them alike.
 * Usage: npm run bench -- store|tracing|traces|cold|import|permissions|http|rls|tokens|turn|basic|page [--rows 100000] [--json]
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Effect } from "effect"
import { print, printTimes } from "./figures.ts"
import { basic } from "./basic.ts"
import { cold } from "./cold.ts"
import { contestant, http } from "./http.ts"
import { importing } from "./import.ts"
import { page } from "./page.ts"
import { permissions } from "./permissions.ts"
import { rls } from "./rls.ts"
import { store } from "./store.ts"
import { tokens } from "./tokens.ts"
import { storing, traces } from "./traces.ts"
import { tracing } from "./tracing.ts"
import { turn } from "./turn.ts"

const args = process.argv.slice(2)
const given = args.includes("--rows") ? Number(args[args.indexOf("--rows") + 1] ?? "") : Number.NaN
const rows = given > 0 ? given : 100_000
const json = args.includes("--json")

const BENCHES: Readonly<Record<string, () => Effect.Effect<void, unknown>>> = {
  store: () => Effect.map(store(rows, json), print(json)),
  tracing: () => Effect.map(tracing(rows, json), print(json)),
  traces: () =>
    Effect.gen(function* () {
      printTimes(json)(yield* traces(json))
      print(json)(yield* storing(json))
    }),
  cold: () => Effect.map(Effect.promise(cold), printTimes(json)),
  http: () => Effect.map(http(rows, json), print(json)),
  rls: () => Effect.map(rls(rows, json), print(json)),
  import: () => importing(rows, json),
  tokens: () => Effect.map(tokens(json), print(json)),
  basic: () => Effect.map(basic(rows), printTimes(json)),
  turn: () => Effect.map(turn(json), print(json)),
  page: () => Effect.map(Effect.promise(page), printTimes(json)),
  permissions: () =>
    Effect.map(
      Effect.promise(() => permissions(json)),
      printTimes(json)
    )
}

const name = args[0] === undefined || args[0].startsWith("--") ? "store" : args[0]
const chosen = Object.hasOwn(BENCHES, name) ? BENCHES[name] : undefined
if (name === "contestant") {
  NodeRuntime.runMain(contestant(args[1]!, args[2]!, args[3]!))
} else if (chosen === undefined) {
  console.error(`There is no benchmark ${name}. There is: ${Object.keys(BENCHES).join(", ")}.`)
  process.exitCode = 2
} else {
  NodeRuntime.runMain(chosen())
}
