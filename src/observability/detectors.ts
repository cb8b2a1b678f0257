/** What each kind of finding looks for in one trace. */
import { Array as Arr } from "effect"
import type { Trace, TraceSpan } from "./Trace.ts"

export type FindingKind =
  | "blocked event loop"
  | "slow statement"
  | "sequential tool calls"
  | "repeated statement"
  | "missing index"
  | "plan cache misses"
  | "connection wait"
  | "model time"
  | "processor time"
  | "many tokens"
  | "repeated denials"

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
  /** Milliseconds in which the event loop was blocked at one time. */
  readonly blocked: number
  /** Milliseconds of processor time for a turn's own work. */
  readonly cpu: number
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

const turnOf = (spans: ReadonlyArray<TraceSpan>) => spans.find(({ name }) => name.startsWith("invoke_agent "))

const show = (reference: string) => `max trace show ${reference}`
const explain = (reference: string) => `max trace explain ${reference}`

type Detector = (trace: Trace, limits: Thresholds) => ReadonlyArray<Observation>

const WAIT = "db.client.connection.wait_time_ms"
const BLOCKED = "max.blocked_ms"
const CPU = "max.cpu_ms"

/** Milliseconds without the wait for a connection, and without the time in which the answer couldn't be read. */
const inDatabase = (span: TraceSpan): number => ms(span.duration) - number(span, WAIT) - number(span, BLOCKED)

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
      message: `a statement of the ${text(span, "max.pool")} pool waited ${rounded(number(span, WAIT))} ms for ${text(span, "max.pool") === "lookup" ? "its organization's turn" : "a connection; MAX_SEARCH_CONNECTIONS sets the size of the pool"}`,
      command: show
    }))

const models: Detector = (trace, { model, tokens, turn }) => {
  const root = turnOf(trace.spans)
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

/** Excludes commands: each has a process of its own. */
const blockedLoops: Detector = ({ spans }, { blocked }) => {
  const [root] = spans
  const turn = turnOf(spans)
  const own = turn === undefined ? 0 : number(turn, CPU)
  return (root?.attributes["max.channel"] === "cli" ? [] : spans)
    .filter((span) => number(span, BLOCKED) >= blocked)
    .map((span) => {
      const weight = number(span, BLOCKED)
      return own >= weight / 2
        ? {
            kind: "blocked event loop",
            subject: `turn ${span.name}`,
            weight,
            message: `a turn held the event loop for ${rounded(weight)} ms in ${span.name}, and every other request waited; its own work took ${rounded(own)} ms of processor time, which MAX_TURN_CPU limits`,
            command: show
          }
        : {
            kind: "blocked event loop",
            subject: "waiting",
            weight,
            message: `${root!.name} waited ${rounded(weight)} ms in ${span.name} for the blocked event loop: for the work of another request, garbage collection, or a busy machine`,
            command: () => "max trace list --slow"
          }
    })
}

const processorTime: Detector = ({ spans }, { cpu }) => {
  const turn = turnOf(spans)
  const own = turn === undefined ? 0 : number(turn, CPU)
  return own < cpu
    ? []
    : [
        {
          kind: "processor time",
          subject: "turns",
          weight: own,
          message: `a turn's own work (reading text, checking the reply) took ${rounded(own)} ms of processor time; MAX_TURN_CPU limits it`,
          command: show
        }
      ]
}

export const DETECTORS: ReadonlyArray<Detector> = [
  blockedLoops,
  slowStatements,
  sequentialToolCalls,
  repeatedStatements,
  connectionWaits,
  models,
  processorTime,
  denials
]
