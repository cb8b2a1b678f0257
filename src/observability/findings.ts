/**
 * Findings in recorded traces: slow or repeated work and repeated denials, each as one line with the command to run next.
 */
import { Array as Arr } from "effect"
import { shortReference } from "../domain/reference.ts"
import type { Trace, TraceSpan } from "./Trace.ts"

type FindingKind =
  | "slow statement"
  | "sequential tool calls"
  | "repeated statement"
  | "missing index"
  | "plan cache misses"
  | "connection wait"
  | "model time"
  | "many tokens"
  | "repeated denials"

/** The most actionable kinds first. */
const URGENCY: ReadonlyArray<FindingKind> = [
  "missing index",
  "slow statement",
  "repeated statement",
  "sequential tool calls",
  "connection wait",
  "plan cache misses",
  "repeated denials",
  "many tokens",
  "model time"
]

export interface Finding {
  readonly kind: FindingKind
  readonly message: string
  /** The command to run next. */
  readonly command: string
  /** The reference of the trace in which it weighs most. */
  readonly reference: string
  /** The number of traces with this finding. */
  readonly traces: number
  /** The hash of a slow lookup's statement (`max.statement`). */
  readonly statement?: string
}

export interface Thresholds {
  /** Milliseconds of one statement. */
  readonly slowStatement: number
  /** Executions of one statement in one trace. */
  readonly repeated: number
  /** Milliseconds that a statement waits for a connection. */
  readonly wait: number
  /** Input tokens of one turn. */
  readonly tokens: number
  /** The share of lookups that miss the plan cache, among at least `lookups`. */
  readonly replanned: number
  readonly lookups: number
  /** The model's share of a turn that takes at least `turn` milliseconds. */
  readonly model: number
  readonly turn: number
  /** Traces in which one caller is denied. */
  readonly denied: number
}

const THRESHOLDS: Thresholds = {
  slowStatement: 100,
  repeated: 5,
  wait: 20,
  tokens: 8000,
  replanned: 0.5,
  lookups: 20,
  model: 0.9,
  turn: 1000,
  denied: 20
}

const text = ({ attributes }: TraceSpan, name: string): string => String(attributes[name] ?? "")
const number = ({ attributes }: TraceSpan, name: string): number => Number(attributes[name] ?? 0)
const ms = (nanoseconds: number): number => nanoseconds / 1e6
const rounded = (value: number): string => (value >= 100 ? value.toFixed(0) : value.toFixed(1))

const SUMMARY = "db.query.summary"

/** One occurrence of a finding in one trace. */
interface Observation {
  readonly kind: FindingKind
  /** Observations of one kind and subject form one finding. */
  readonly subject: string
  readonly weight: number
  readonly message: string
  readonly command: (reference: string) => string
  readonly statement?: string
}

const show = (reference: string) => `max trace show ${reference}`
const explain = (reference: string) => `max trace explain ${reference}`

type Detector = (trace: Trace, limits: Thresholds) => ReadonlyArray<Observation>

const WAIT = "db.client.connection.wait_time_ms"

/** Milliseconds without the wait for a connection. */
const inDatabase = (span: TraceSpan): number => ms(span.duration) - number(span, WAIT)

const slowStatements: Detector = ({ spans }, { slowStatement }) =>
  spans
    .filter((span) => span.name === "postgres" && inDatabase(span) >= slowStatement)
    .map((span) => ({
      kind: "slow statement",
      subject: text(span, SUMMARY),
      weight: inDatabase(span),
      message: `${text(span, SUMMARY)} took ${rounded(inDatabase(span))} ms in the database`,
      ...("max.statement" in span.attributes
        ? { command: explain, statement: text(span, "max.statement") }
        : { command: show })
    }))

const siblings = (spans: ReadonlyArray<TraceSpan>): ReadonlyArray<ReadonlyArray<TraceSpan>> =>
  Object.values(Arr.groupBy(spans, ({ parentId }) => parentId ?? "")).map((group) =>
    group.toSorted((a, b) => a.start - b.start)
  )

/** A model requests the tool calls of one step together, so they could run concurrently. */
const sequentialToolCalls: Detector = ({ spans }) =>
  siblings(spans.filter(({ name }) => name.startsWith("execute_tool "))).flatMap((group) => {
    const sequential = group.filter((span, index) => {
      const before = group[index - 1]
      return before !== undefined && span.start >= before.start + before.duration
    })
    const between = (a: number, b: number) =>
      spans.some(({ name, start }) => name.startsWith("chat ") && start >= a && start < b)
    const parallelizable = sequential.filter((span) => {
      const before = group[group.indexOf(span) - 1]!
      return !between(before.start, span.start)
    })
    if (parallelizable.length === 0) return []
    const saved = parallelizable.reduce((sum, { duration }) => sum + ms(duration), 0)
    return [
      {
        kind: "sequential tool calls" as const,
        subject: "tools",
        weight: saved,
        message: `${parallelizable.length + 1} tool calls of one step ran one after another; running them concurrently would have saved ${rounded(saved)} ms`,
        command: show
      }
    ]
  })

/** Counts below each root: the requests that continue one trace of their caller don't repeat each other's statements. */
const repeatedStatements: Detector = ({ spans }, { repeated }) => {
  const roots = new Map<string, string>()
  for (const { parentId = "", spanId } of spans) roots.set(spanId, roots.get(parentId) ?? spanId)
  const groups = Arr.groupBy(
    spans.filter(({ attributes }) => "max.statement" in attributes),
    (span) => `${roots.get(span.spanId)} ${text(span, SUMMARY)}`
  )
  return Object.values(groups)
    .filter((group) => group.length >= repeated)
    .map((group) => {
      const summary = text(group[0]!, SUMMARY)
      return {
        kind: "repeated statement",
        subject: summary,
        weight: group.length,
        message: `${summary} ran ${group.length} times in one trace (N+1), ${rounded(group.reduce((sum, span) => sum + ms(span.duration), 0))} ms in all`,
        command: show
      }
    })
}

/** Excludes commands: each opens its own connections and always waits for that. */
const connectionWaits: Detector = ({ spans }, { wait }) =>
  (spans[0]?.attributes["max.channel"] === "cli" ? [] : spans)
    .filter((span) => number(span, WAIT) >= wait)
    .map((span) => ({
      kind: "connection wait",
      subject: text(span, "max.pool"),
      weight: number(span, WAIT),
      message: `a statement of the ${text(span, "max.pool")} pool waited ${rounded(number(span, WAIT))} ms for a connection; MAX_SEARCH_CONNECTIONS sets the size of the pool`,
      command: show
    }))

const models: Detector = (trace, { model, tokens, turn }) => {
  const root = trace.spans.find(({ name }) => name.startsWith("invoke_agent "))
  if (root === undefined) return []
  const chats = trace.spans.filter(({ name }) => name.startsWith("chat "))
  const spent = chats.reduce((sum, { duration }) => sum + duration, 0)
  const input = chats.reduce((sum, span) => sum + number(span, "gen_ai.usage.input_tokens"), 0)
  const name = chats[0] === undefined ? "the model" : text(chats[0], "gen_ai.request.model")
  return [
    ...(ms(root.duration) >= turn && spent / root.duration >= model
      ? [
          {
            kind: "model time" as const,
            subject: name,
            weight: ms(spent),
            message: `${name} took ${((spent / root.duration) * 100).toFixed(0)} % of a turn of ${rounded(ms(root.duration))} ms, in ${chats.length} calls; MAX_MODEL selects the model`,
            command: show
          }
        ]
      : []),
    ...(input >= tokens
      ? [
          {
            kind: "many tokens" as const,
            subject: name,
            weight: input,
            message: `a turn sent ${input} tokens to ${name}`,
            command: () => "max usage --by person"
          }
        ]
      : [])
  ]
}

const denials: Detector = ({ spans }) => {
  const span = spans.find(({ attributes }) => attributes["max.denied"] === true)
  const caller = span === undefined ? "" : text(span, "max.caller")
  const organization = spans.map((one) => text(one, "max.organization.id")).find((id) => id !== "") ?? ""
  return span === undefined
    ? []
    : [
        {
          kind: "repeated denials",
          subject: `${organization} ${caller}`,
          weight: 1,
          message: `${caller === "" ? "an unknown caller" : "one caller"} was denied repeatedly`,
          command: () => "max audit list --refused"
        }
      ]
}

const DETECTORS = [slowStatements, sequentialToolCalls, repeatedStatements, connectionWaits, models, denials]

/** Evaluated over all traces together. */
const cacheMisses = (traces: ReadonlyArray<Trace>, limits: Thresholds): ReadonlyArray<Finding> => {
  const lookups = traces.flatMap((trace) =>
    trace.spans.filter(({ attributes }) => "max.plan.cached" in attributes).map((span) => ({ span, trace }))
  )
  const missed = lookups.filter(({ span }) => span.attributes["max.plan.cached"] === false)
  if (lookups.length < limits.lookups || missed.length / lookups.length < limits.replanned) return []
  return [
    {
      kind: "plan cache misses",
      message: `${missed.length} of ${lookups.length} lookups missed the plan cache: the policy, memberships or the catalog change constantly`,
      command: "max audit list",
      reference: shortReference(missed[0]!.trace.traceId),
      traces: new Set(missed.map(({ trace }) => trace)).size
    }
  ]
}

/** The findings in traces: the most actionable kind first, the heaviest of each kind first. */
export const findings = (traces: ReadonlyArray<Trace>, limits: Thresholds = THRESHOLDS): ReadonlyArray<Finding> => {
  const observations = traces.flatMap((trace) =>
    DETECTORS.flatMap((detect) => detect(trace, limits)).map((observation) => ({ observation, trace }))
  )
  const grouped = Arr.groupBy(observations, ({ observation: { kind, subject } }) => `${kind} ${subject}`)
  const inTraces = Object.values(grouped).flatMap((group) => {
    const worst = group.toSorted((a, b) => b.observation.weight - a.observation.weight)[0]!
    const { command, kind, message, statement } = worst.observation
    const shown = new Set(group.map(({ trace }) => trace)).size
    if (kind === "repeated denials" && shown < limits.denied) return []
    const reference = shortReference(worst.trace.traceId)
    return [
      {
        finding: {
          kind,
          message,
          command: command(reference),
          reference,
          traces: shown,
          ...(statement === undefined ? {} : { statement })
        },
        weight: worst.observation.weight
      }
    ]
  })
  return [
    ...inTraces
      .toSorted((a, b) => URGENCY.indexOf(a.finding.kind) - URGENCY.indexOf(b.finding.kind) || b.weight - a.weight)
      .map(({ finding }) => finding),
    ...cacheMisses(traces, limits)
  ]
}
