/** What `max eval` reports. */
import type { TurnUsage } from "../../wire/TurnEvent.ts"
import type { Verdict } from "./tryDeed.ts"

export type Kind = "find" | "anchor" | "ask" | "do"
export const KINDS: ReadonlyArray<Kind> = ["find", "anchor", "ask", "do"]

export interface Outcome {
  readonly kind: Kind
  readonly passed: boolean
  readonly millis: number
  readonly place: string
  readonly expected: ReadonlyArray<string>
  readonly found: ReadonlyArray<string> | string
  /** The cost of an `ask` case. */
  readonly usage?: TurnUsage
  readonly verdict?: Verdict
}

const quantile = (sorted: ReadonlyArray<number>, share: number): number =>
  Math.round((sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0) * 100) / 100

/** The mean input and output tokens of an answer. */
const tokensPerAsk = (outcomes: ReadonlyArray<Outcome>) => {
  const usages = outcomes.flatMap(({ usage }) => (usage === undefined ? [] : [usage]))
  const mean = (of: (usage: TurnUsage) => number) =>
    usages.length === 0 ? 0 : Math.round(usages.reduce((sum, usage) => sum + of(usage), 0) / usages.length)
  return { input: mean(({ inputTokens }) => inputTokens), output: mean(({ outputTokens }) => outputTokens) }
}

/** The `do` cases without a write, and those with another write than was expected. */
const verdicts = (outcomes: ReadonlyArray<Outcome>) => ({
  nothing: outcomes.filter(({ passed, verdict }) => !passed && verdict === "nothing").length,
  wrong: outcomes.filter(({ verdict }) => verdict === "wrong").length
})

export const summary = (outcomes: ReadonlyArray<Outcome>) => ({
  passed: outcomes.filter((outcome) => outcome.passed).length,
  failed: outcomes.filter((outcome) => !outcome.passed).length,
  kinds: Object.fromEntries(
    KINDS.flatMap((kind) => {
      const own = outcomes.filter((outcome) => outcome.kind === kind)
      if (own.length === 0) return []
      const times = own.map((outcome) => outcome.millis).sort((a, b) => a - b)
      return [
        [
          kind,
          {
            passed: own.filter((outcome) => outcome.passed).length,
            of: own.length,
            p50: quantile(times, 0.5),
            p95: quantile(times, 0.95),
            ...(kind === "ask" ? { tokens: tokensPerAsk(own) } : {}),
            ...(kind === "do" ? verdicts(own) : {})
          }
        ]
      ]
    })
  ),
  failures: outcomes
    .filter((outcome) => !outcome.passed)
    .map(({ expected, found, place }) => ({ place, expected, found }))
})

export const lines = (outcomes: ReadonlyArray<Outcome>): ReadonlyArray<string> => {
  const { failed, failures, kinds, passed } = summary(outcomes)
  return [
    ...Object.entries(kinds).map(
      ([kind, own]) =>
        `${kind.padEnd(7)} ${own.passed} of ${own.of} passed  p50 ${own.p50} ms  p95 ${own.p95} ms` +
        ("tokens" in own ? `  tokens per ask ${own.tokens?.input} in, ${own.tokens?.output} out` : "") +
        ("wrong" in own ? `  ${own.nothing} nothing, ${own.wrong} wrong` : "")
    ),
    ...failures
      .slice(0, 20)
      .map(
        ({ expected, found, place }) =>
          `  ${place}: expected ${list(expected)}, found ${typeof found === "string" ? found : list(found)}`
      ),
    ...(failures.length > 20 ? [`  … and ${failures.length - 20} more`] : []),
    `${passed} passed, ${failed} failed`
  ]
}

const list = (ids: ReadonlyArray<string>): string => (ids.length === 0 ? "nothing" : ids.slice(0, 5).join(", "))
