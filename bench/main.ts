/**
 * Benchmarks report ratios: contestants take turns within one run, so that the machine's noise affects all of them equally.
 * Usage: npm run bench -- NAME [--rows 100000] [--json] [--keep FOLDER | --database-url URL], where NAME is store, growth
 * [--sizes 10000,…] [--plots FOLDER], big (one organization) [--only WORDS], http, changes, groups, sse, page, tracing, traces, rls, replicas, neighbour, soak [--minutes 1], tokens, cold, import,
 * permissions, turn, basic, or report [--minutes 10], which writes docs/performance/figures.md.
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Effect } from "effect"
import { print, printTimes } from "./figures.ts"
import { big } from "./big.ts"
import { basic } from "./basic.ts"
import { changes } from "./changes.ts"
import { cold } from "./cold.ts"
import { contestant } from "./contestants.ts"
import { groups } from "./groups.ts"
import { growth } from "./growth.ts"
import { http } from "./http.ts"
import { importing } from "./import.ts"
import { page } from "./page.ts"
import { permissions } from "./permissions.ts"
import { replicas } from "./replicas.ts"
import { report } from "./report.ts"
import { rls } from "./rls.ts"
import { mcpTokens } from "./mcpTokens.ts"
import { neighbour } from "./neighbour.ts"
import { noise } from "./noise.ts"
import { soak } from "./soak.ts"
import { sse } from "./sse.ts"
import { store } from "./store.ts"
import { tokens } from "./tokens.ts"
import { storing, traces } from "./traces.ts"
import { tracing } from "./tracing.ts"
import { turn } from "./turn.ts"

const args = process.argv.slice(2)
const requested = args.includes("--rows") ? Number(args[args.indexOf("--rows") + 1] ?? "") : Number.NaN
const rows = requested > 0 ? requested : 100_000
const json = args.includes("--json")
const after = (option: string) => (args.includes(option) ? args[args.indexOf(option) + 1] : undefined)
const sizes = after("--sizes")?.split(",").map(Number)
const where = { keep: after("--keep"), url: after("--database-url") }

const BENCHES: Readonly<Record<string, () => Effect.Effect<void, unknown>>> = {
  store: () => Effect.map(store(rows, where, json), print(json)),
  report: () =>
    Effect.map(
      report(requested > 0 ? requested : 2_000_000, Number(after("--minutes") ?? 10), where.keep, json),
      print(json)
    ),
  groups: () => Effect.map(groups(rows, where, json), print(json)),
  growth: () => Effect.map(growth(sizes, where, json, after("--plots")), print(json)),
  big: () => Effect.map(big(rows, where, json, after("--only")), print(json)),
  soak: () => Effect.map(soak(rows, Number(after("--minutes") ?? 1), where, json), print(json)),
  neighbour: () => Effect.map(neighbour(rows, where, json), print(json)),
  tracing: () => Effect.map(tracing(rows, where, json), print(json)),
  traces: () =>
    Effect.gen(function* () {
      printTimes(json)(yield* traces(json))
      print(json)(yield* storing(json))
    }),
  cold: () => Effect.map(Effect.promise(cold), printTimes(json)),
  changes: () => Effect.map(changes(rows, where, json), print(json)),
  http: () => Effect.map(http(rows, where, json), print(json)),
  rls: () => Effect.map(rls(rows, where, json), print(json)),
  replicas: () => Effect.map(replicas(rows, json), print(json)),
  import: () => importing(rows, json),
  tokens: () =>
    Effect.map(Effect.all([tokens(json), mcpTokens(where, json)]), (measured) => print(json)(measured.flat())),
  basic: () => Effect.map(basic(rows), printTimes(json)),
  sse: () =>
    Effect.map(
      Effect.promise(() => sse(json)),
      print(json)
    ),
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
  NodeRuntime.runMain(contestant(args[1]!, args[2]!))
} else if (name === "noise") {
  noise()
} else if (chosen === undefined) {
  console.error(`Unknown benchmark ${name}. Available: ${Object.keys(BENCHES).join(", ")}.`)
  process.exitCode = 2
} else {
  NodeRuntime.runMain(chosen())
}
