/**
 * Findings in recorded traces: slow or repeated work and repeated denials, each as one line with the command to run next.
 */
import { Array as Arr } from "effect"
import { shortReference } from "../domain/reference.ts"
import { DETECTORS, type FindingKind, type Thresholds } from "./detectors.ts"
import type { Trace } from "./Trace.ts"

/** The most actionable kinds first. */
const URGENCY: ReadonlyArray<FindingKind> = [
  "blocked event loop",
  "missing index",
  "slow statement",
  "repeated statement",
  "sequential tool calls",
  "connection wait",
  "plan cache misses",
  "repeated denials",
  "processor time",
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

const THRESHOLDS: Thresholds = {
  slowStatement: 100,
  repeated: 5,
  wait: 20,
  tokens: 8000,
  replanned: 0.5,
  lookups: 20,
  model: 0.9,
  turn: 1000,
  denied: 20,
  blocked: 100,
  cpu: 1000
}

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
