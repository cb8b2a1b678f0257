/** Where time went: traces on the command line. */
import { Console, Effect, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { InvalidInput, OperatorError } from "../../../domain/errors.ts"
import { type Finding, findings } from "../../../domain/findings.ts"
import { fromOtlp, toOtlp } from "../../../domain/otlp.ts"
import { shortReference } from "../../../domain/reference.ts"
import { quoted } from "../../../domain/text.ts"
import type { Trace } from "../../../domain/Trace.ts"
import { explainStatement, parametersOf, type PlanNode, sequentialScans } from "../../../services/explainStatement.ts"
import { TraceStore, type TraceQuery } from "../../../services/TraceStore.ts"
import { version } from "../../../version.ts"
import { currentOrganization, max, wantsJson } from "../context.ts"
import { bold, columns, dim, result } from "../output.ts"
import { readTextFile } from "../readTextFile.ts"
import { milliseconds, waterfall } from "../waterfall.ts"

const UNITS = { m: 1, h: 60, d: 1440 } as const

/** `30m`, `12h` or `7d`, in minutes. */
const readSpan = (text: string): number | undefined => {
  const match = /^(\d{1,5})([mhd])$/.exec(text)
  return match === null ? undefined : Number(match[1]) * UNITS[match[2] as keyof typeof UNITS]
}

const MAX_LISTED = 1000

const filters = {
  since: Flag.String("since").pipe(Flag.withDescription("How far back: 30m, 12h or 7d"), Flag.optional),
  name: Flag.String("name").pipe(
    Flag.withDescription('Only traces whose name begins with this, such as "max find"'),
    Flag.optional
  ),
  failed: Flag.Boolean("failed").pipe(
    Flag.withDescription("Only traces that failed or were denied"),
    Flag.withDefault(false)
  ),
  slower: Flag.Int("slower").pipe(Flag.withDescription("Only traces of at least so many milliseconds"), Flag.optional),
  limit: Flag.Int("limit").pipe(Flag.withDescription(`At most this many, 1 to ${MAX_LISTED}`), Flag.withDefault(30))
}

interface Filters {
  readonly since: Option.Option<string>
  readonly name: Option.Option<string>
  readonly failed: boolean
  readonly slower: Option.Option<number>
  readonly limit: number
}

/** One organization with --org, all of them without. */
const scope = Effect.gen(function* () {
  const { org } = yield* max
  return Option.isNone(org) ? {} : { organizationId: (yield* currentOrganization).id }
})

const queryOf = Effect.fnUntraced(function* (input: Filters) {
  const sinceMinutes = Option.map(input.since, readSpan)
  if (Option.isSome(sinceMinutes) && sinceMinutes.value === undefined)
    return yield* new InvalidInput({ message: "--since takes minutes, hours or days: 30m, 12h or 7d." })
  if (input.limit < 1 || input.limit > MAX_LISTED)
    return yield* new InvalidInput({ message: `--limit is 1 to ${MAX_LISTED}.` })
  const query: TraceQuery = {
    ...(yield* scope),
    name: Option.getOrUndefined(input.name),
    failed: input.failed,
    atLeastMilliseconds: Option.getOrUndefined(input.slower),
    sinceMinutes: Option.getOrUndefined(sinceMinutes),
    limit: input.limit
  }
  return query
})

const list = Command.make("list", filters, (input) =>
  Effect.gen(function* () {
    const store = yield* TraceStore
    const lines = yield* store.list(yield* queryOf(input))
    yield* result(
      yield* wantsJson,
      lines,
      lines.length === 0
        ? ["No trace yet. MAX_TRACE_SHARE=1 keeps all of them; slow, failed and denied ones always are."]
        : columns(
            lines.map((line) => [
              line.reference,
              line.startedAt,
              line.name,
              milliseconds(line.milliseconds * 1e6).padStart(7),
              String(line.spans).padStart(5),
              line.failure ?? (line.denied ? "denied" : "")
            ]),
            ["ref", "started", "what", "     ms", "spans", ""]
          )
    )
  })
).pipe(Command.withDescription("The traces that were kept, the newest first"))

const found = Effect.fnUntraced(function* (idOrReference: string) {
  const store = yield* TraceStore
  const { organizationId } = { organizationId: undefined, ...(yield* scope) }
  const traces = yield* store.get(idOrReference, organizationId)
  if (traces.length > 0) return traces
  return yield* new OperatorError({
    message: `No trace ${quoted(idOrReference)} is kept. max trace list shows those that are.`
  })
})

const reference = Argument.String("ref").pipe(
  Argument.withDescription("The reference that was shown, such as 7F3K, or a trace's id")
)

const heading = (trace: Trace): string =>
  `${shortReference(trace.traceId)}  ${new Date(Number(trace.startedAt / 1_000_000n)).toISOString()}  ${trace.spans[0]!.name}  ${milliseconds(trace.spans[0]!.duration)} ms  ${trace.traceId}`

const show = Command.make("show", { reference }, (input) =>
  Effect.gen(function* () {
    const traces = yield* found(input.reference)
    yield* result(
      yield* wantsJson,
      traces,
      traces.flatMap((trace, index) => [
        ...(index > 0 ? [""] : []),
        heading(trace),
        ...waterfall(trace),
        ...findings([trace]).flatMap(said)
      ])
    )
  })
).pipe(Command.withDescription("A trace as a waterfall: when what ran, its own time, and what the end waited for"))

const top = Command.make("top", filters, (input) =>
  Effect.gen(function* () {
    const store = yield* TraceStore
    const totals = yield* store.top(yield* queryOf(input))
    const whole = totals.reduce((sum, { self }) => sum + self, 0)
    yield* result(
      yield* wantsJson,
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
).pipe(Command.withDescription("Where the time went: spans by the time that they took themselves"))

/** Traces that are looked at, at most. */
const MAX_LOOKED_AT = 2000

const said = ({ command, kind, message, reference, traces }: Finding): ReadonlyArray<string> => [
  `${bold(kind)}: ${message}${traces > 1 ? `; in ${traces} traces, the worst ${reference}` : ` (${reference})`}`,
  `  ${dim("→")} ${command}`
]

const findingsOf = Command.make("findings", { since: filters.since, name: filters.name }, (input) =>
  Effect.gen(function* () {
    const store = yield* TraceStore
    const query = yield* queryOf({ ...input, failed: false, slower: Option.none(), limit: 1 })
    const traces = yield* store.read({ ...query, limit: MAX_LOOKED_AT })
    const found = findings(traces)
    yield* result(
      yield* wantsJson,
      found,
      found.length === 0
        ? [`Nothing stands out in ${traces.length} traces.`]
        : [`${found.length} in ${traces.length} traces:`, ...found.flatMap(said)]
    )
  })
).pipe(Command.withDescription("What stands out, one line each, with the command to go on from there"))

const planLines = (plan: PlanNode, depth = 0): ReadonlyArray<ReadonlyArray<string>> => [
  [
    `${"  ".repeat(depth)}${plan.what}`,
    String(plan.estimated).padStart(9),
    plan.rows === undefined ? "" : String(plan.rows).padStart(9),
    plan.milliseconds === undefined ? "" : milliseconds(plan.milliseconds * 1e6).padStart(8),
    plan.filter === undefined ? "" : `left out by ${plan.filter}`
  ],
  ...plan.children.flatMap((child) => planLines(child, depth + 1))
]

/** The slowest lookup of a trace, or the one with this hash. */
const lookupOf = (trace: Trace, hash: string | undefined): string | undefined => {
  const lookups = trace.spans.filter(({ attributes }) => "max.statement" in attributes)
  const wanted =
    hash === undefined
      ? lookups.toSorted((a, b) => b.duration - a.duration)[0]
      : lookups.find(({ attributes }) => attributes["max.statement"] === hash)
  return wanted === undefined ? undefined : trace.statements[String(wanted.attributes["max.statement"])]
}

const explain = Command.make(
  "explain",
  {
    reference,
    statement: Flag.String("statement").pipe(
      Flag.withDescription("Which of the trace's statements, as show names it; the slowest lookup by default"),
      Flag.optional
    ),
    value: Flag.KeyValuePair("value").pipe(
      Flag.withDescription(
        "A value for a parameter, 3=lead; with values the lookup is run and measured. May be repeated"
      ),
      Flag.withDefault({})
    ),
    sql: Flag.Boolean("sql").pipe(Flag.withDescription("Print the statement, too"), Flag.withDefault(false))
  },
  (input) =>
    Effect.gen(function* () {
      const [trace] = yield* found(input.reference)
      const statement = lookupOf(trace!, Option.getOrUndefined(input.statement))
      if (statement === undefined)
        return yield* new OperatorError({
          message: "That trace has no such lookup. max trace show names its statements."
        })
      const count = parametersOf(statement)
      const values = new Map(Object.entries(input.value).map(([place, value]) => [Number(place), value]))
      if ([...values.keys()].some((place) => !Number.isInteger(place) || place < 1 || place > count))
        return yield* new InvalidInput({ message: `--value takes NUMBER=VALUE, with a number from 1 to ${count}.` })
      const plan = yield* explainStatement(statement, values.size === 0 ? undefined : values)
      const scans = sequentialScans(plan)
      yield* result(yield* wantsJson, { plan, ...(input.sql ? { statement } : {}) }, [
        ...(input.sql ? [statement, ""] : []),
        ...columns(planLines(plan), [
          "step",
          "estimated",
          values.size === 0 ? "" : "     rows",
          values.size === 0 ? "" : "      ms",
          ""
        ]),
        ...scans.map(
          ({ what }) =>
            `${bold("read from end to end")}: ${what}. For a large table that wants an index: max doctor says which.`
        ),
        ...(values.size === 0
          ? [dim("Planned for any value. --value NUMBER=VALUE runs it with values that you enter.")]
          : [])
      ])
    })
).pipe(Command.withDescription("How the database runs a lookup of a trace: its plan, estimates against rows"))

/** Spans of two traces that stand at the same place: the names from the root down, and the how-manieth of that name. */
const byPath = (trace: Trace): ReadonlyMap<string, number> => {
  const names = new Map(trace.spans.map((span) => [span.spanId, span]))
  const path = (spanId: string): string => {
    const span = names.get(spanId)
    if (span === undefined) return ""
    const above = span.parentId === undefined ? "" : path(span.parentId)
    return above === "" ? span.name : `${above} › ${span.name}`
  }
  const found = new Map<string, number>()
  for (const span of trace.spans) found.set(path(span.spanId), (found.get(path(span.spanId)) ?? 0) + span.duration)
  return found
}

const compare = Command.make(
  "compare",
  { before: reference, after: Argument.String("other").pipe(Argument.withDescription("The other one")) },
  (input) =>
    Effect.gen(function* () {
      const [before] = yield* found(input.before)
      const [after] = yield* found(input.after)
      const [a, b] = [byPath(before!), byPath(after!)]
      const rows = [...new Set([...a.keys(), ...b.keys()])]
        .map((path) => ({ path, before: a.get(path) ?? 0, after: b.get(path) ?? 0 }))
        .toSorted((x, y) => Math.abs(y.after - y.before) - Math.abs(x.after - x.before))
      yield* result(
        yield* wantsJson,
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
).pipe(Command.withDescription("Two traces, place by place, the largest difference first"))

const exported = Command.make("export", { reference: Argument.optional(reference), ...filters }, (input) =>
  Effect.gen(function* () {
    const store = yield* TraceStore
    const ids = Option.isSome(input.reference)
      ? [input.reference.value]
      : (yield* store.list(yield* queryOf(input))).map(({ traceId }) => traceId)
    const traces = (yield* Effect.forEach([...new Set(ids)], found)).flat()
    yield* Console.log(JSON.stringify(toOtlp(traces, version)))
  })
).pipe(Command.withDescription("Traces as OTLP in JSON, for every other tool that reads it"))

/** A document of 20,000 traces is about this long. */
const MAX_DOCUMENT = 200_000_000

const imported = Command.make(
  "import",
  { file: Argument.String("file").pipe(Argument.withDescription("OTLP in JSON, as max trace export writes it")) },
  (input) =>
    Effect.gen(function* () {
      const store = yield* TraceStore
      const text = yield* readTextFile(input.file, MAX_DOCUMENT)
      const document = yield* Effect.try({
        try: (): unknown => JSON.parse(text),
        catch: () => new OperatorError({ message: `${quoted(input.file)} isn't JSON.` })
      })
      const traces = fromOtlp(document)
      if (traces === undefined)
        return yield* new OperatorError({
          message: `${quoted(input.file)} isn't OTLP in JSON: max trace export writes it.`
        })
      yield* store.write(traces)
      yield* result(yield* wantsJson, { traces: traces.length }, [
        `${traces.length} trace${traces.length === 1 ? "" : "s"} read. max trace list shows them.`
      ])
    })
).pipe(Command.withDescription("Read traces that were exported elsewhere"))

export const trace = Command.make("trace").pipe(
  Command.withDescription("Where time goes: traces that were kept"),
  Command.withSubcommands([list, show, top, findingsOf, explain, compare, exported, imported])
)
