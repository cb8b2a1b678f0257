/** Lists, shows and analyzes stored traces. */
import { Console, Effect, Option, Stream } from "effect"
import { Command } from "effect/cli"
import { type Finding, findings } from "../../../observability/findings.ts"
import { shortReference } from "../../../domain/reference.ts"
import { linksOf, type Trace } from "../../../observability/Trace.ts"
import { compareTraces } from "../../../observability/compareTraces.ts"
import { diagnose } from "../../../services/traces/diagnose.ts"
import { TraceStore } from "../../../services/traces/TraceStore.ts"
import type { TraceLine } from "../../../wire/traces.ts"
import { wantsJson } from "../context.ts"
import { argument } from "../flags.ts"
import { bold, columns, dim, listing, note, result } from "../output.ts"
import { milliseconds, waterfall } from "../waterfall.ts"
import { exported, imported } from "./trace/exchange.ts"
import { explain } from "./trace/explain.ts"
import { filters, findTraces, queryOf, reference } from "./trace/select.ts"

const cells = (line: TraceLine): ReadonlyArray<string> => [
  line.reference,
  line.startedAt,
  line.name,
  milliseconds(line.milliseconds * 1e6).padStart(7),
  String(line.spans).padStart(5),
  line.failure ?? (line.denied ? "denied" : "")
]

const list = Command.make(
  "list",
  filters,
  Effect.fnUntraced(function* (input) {
    const store = yield* TraceStore
    const lines = yield* store.list(yield* queryOf(input))
    yield* listing(
      lines,
      "No traces. MAX_TRACE_SHARE=1 stores all of them; slow, failed and denied ones are always stored.",
      cells,
      ["ref", "started", "name", "     ms", "spans", ""]
    )
  })
).pipe(Command.withDescription("List stored traces, the newest first"))

const { limit: _limit, since: _since, ...following } = filters

const tail = Command.make(
  "tail",
  following,
  Effect.fnUntraced(function* (input) {
    const store = yield* TraceStore
    const query = yield* queryOf({ ...input, since: Option.none(), limit: 1 })
    const json = yield* wantsJson
    yield* note("New traces appear here. Ctrl+C stops.")
    yield* Stream.runForEach(store.follow(query), (line) =>
      Console.log(json ? JSON.stringify(line) : cells(line).join("  "))
    )
  })
).pipe(Command.withDescription("Print new traces of every process on this database until interrupted"))

const heading = (trace: Trace): string =>
  `${shortReference(trace.traceId)}  ${new Date(Number(trace.startedAt / 1_000_000n)).toISOString()}  ${trace.spans[0]!.name}  ${milliseconds(trace.spans[0]!.duration)} ms  ${trace.traceId}`

const linkLines = (trace: Trace): ReadonlyArray<string> =>
  linksOf(trace).map((traceId) => dim(`begun by ${shortReference(traceId)}  ${traceId}`))

const show = Command.make(
  "show",
  { reference },
  Effect.fnUntraced(function* (input) {
    const traces = yield* findTraces(input.reference)
    yield* result(
      traces,
      traces.flatMap((trace, index) => [
        ...(index > 0 ? [""] : []),
        heading(trace),
        ...linkLines(trace),
        ...waterfall(trace),
        ...findings([trace]).flatMap(findingLines)
      ])
    )
  })
).pipe(
  Command.withDescription(
    "Show a trace as a waterfall, with self times and the critical path; of several with one reference, all"
  )
)

const top = Command.make(
  "top",
  filters,
  Effect.fnUntraced(function* (input) {
    const store = yield* TraceStore
    const totals = yield* store.top(yield* queryOf(input))
    const whole = totals.reduce((sum, { self }) => sum + self, 0)
    yield* result(
      totals,
      columns(
        totals.map(({ count, name, p50, p95, p99, self }) => [
          name,
          String(count).padStart(7),
          milliseconds(self * 1e6).padStart(9),
          `${((self / whole) * 100).toFixed(0)} %`.padStart(5),
          ...[p50, p95, p99].map((time) => milliseconds(time * 1e6).padStart(7))
        ]),
        ["span", "  count", "  self ms", "share", "    p50", "    p95", "    p99"]
      )
    )
  })
).pipe(Command.withDescription("Show the spans with the largest total self time"))

const findingLines = ({ command, kind, message, reference, traces }: Finding): ReadonlyArray<string> => [
  `${bold(kind)}: ${message}${traces > 1 ? `; in ${traces} traces, the worst ${reference}` : ` (${reference})`}`,
  `  ${dim("→")} ${command}`
]

const findingsOf = Command.make(
  "findings",
  { since: filters.since, name: filters.name },
  Effect.fnUntraced(function* (input) {
    const query = yield* queryOf({
      ...input,
      failed: false,
      denied: false,
      slow: false,
      slower: Option.none(),
      limit: 1
    })
    const { findings: found, traces } = yield* diagnose(query)
    yield* result(
      found,
      found.length === 0
        ? [`No findings in ${traces} traces.`]
        : [`${found.length} findings in ${traces} traces:`, ...found.flatMap(findingLines)]
    )
  })
).pipe(Command.withDescription("Diagnose traces: one line per finding, with the command to run next"))

const compare = Command.make(
  "compare",
  {
    before: reference,
    after: argument("other", "The reference or id of the second trace")
  },
  Effect.fnUntraced(function* (input) {
    const [before] = yield* findTraces(input.before)
    const [after] = yield* findTraces(input.after)
    const rows = compareTraces(before!, after!).map((row) => ({
      path: row.path.join(" › "),
      before: row.before.duration,
      after: row.after.duration
    }))
    yield* result(
      rows.map((row) => ({ path: row.path, before: row.before / 1e6, after: row.after / 1e6 })),
      [
        heading(before!),
        heading(after!),
        ...columns(
          rows.map((row) => [
            row.path,
            row.before === 0 ? "      -" : milliseconds(row.before).padStart(7),
            row.after === 0 ? "      -" : milliseconds(row.after).padStart(7),
            `${row.after >= row.before ? "+" : "−"}${milliseconds(Math.abs(row.after - row.before))}`.padStart(8)
          ]),
          ["path", " before", "  after", "  change"]
        )
      ]
    )
  })
).pipe(Command.withDescription("Compare two traces by path, the largest difference first"))

export const trace = Command.make("trace").pipe(
  Command.withDescription("Show where time goes, from stored traces"),
  Command.withSubcommands([list, show, top, findingsOf, tail, explain, compare, exported, imported])
)
