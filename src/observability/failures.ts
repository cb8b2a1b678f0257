/**
 * Failures that people see, as log lines for the operator: what failed, the class of its cause, and the reference of its
 * trace. A message of an error never gets here, because it may quote a value.
 */
import { Context, Effect } from "effect"
import { Unavailable } from "../domain/errors.ts"
import * as Telemetry from "./Telemetry.ts"

/** Fails with `Unavailable`; the cause, a SQLSTATE or a fixed word, is recorded in the trace. */
export const unavailable = (cause: string): Effect.Effect<never, Unavailable> =>
  Effect.andThen(
    Telemetry.recordCause(cause),
    Effect.suspend(() => Effect.fail(Unavailable.because(cause)))
  )

/** A defect's name and stack frames. Its message is left out, because it may quote private data. */
export const placeOf = (defect: unknown): string => {
  if (!(defect instanceof Error)) return typeof defect
  const frames = (defect.stack ?? "").split("\n").filter((line) => /^\s+at .*:\d+:\d+\)?$/.test(line))
  return [defect.name, ...frames.slice(0, 12)].join("\n")
}

/** Lines of one kind in a window of time, in milliseconds; the others are counted. */
const MAX_LINES = 5
const WINDOW = 10_000
/** Kinds of lines; there are few routes and causes. */
const MAX_KINDS = 500

interface Window {
  start: number
  lines: number
  suppressed: number
}

/** Decides whether a line is logged: the number of equal lines that were suppressed before it, or undefined. */
export const makeLineLimit = (now: () => number = () => performance.now()) => {
  const windows = new Map<string, Window>()
  return (kind: string): number | undefined => {
    const window = windows.get(kind)
    if (window === undefined || now() - window.start >= WINDOW) {
      if (windows.size >= MAX_KINDS) windows.clear()
      windows.set(kind, { start: now(), lines: 1, suppressed: 0 })
      return window?.suppressed ?? 0
    }
    if (window.lines < MAX_LINES) {
      window.lines += 1
      return 0
    }
    window.suppressed += 1
    return undefined
  }
}

/** One limit for the process, so that an outage doesn't write a line for each request. */
export const LineLimit = Context.Reference("max/observability/LineLimit", { defaultValue: () => makeLineLimit() })

/** Runs `log` with the fields of a failure as annotations, unless there were too many of its kind. */
export const limited = (
  what: string,
  fields: Readonly<Record<string, string | number>>,
  log: Effect.Effect<void>
): Effect.Effect<void> =>
  Effect.gen(function* () {
    const limit = yield* LineLimit
    const suppressed = limit([what, ...Object.values(fields)].join(" "))
    if (suppressed === undefined) return
    yield* Effect.annotateLogs(log, suppressed === 0 ? fields : { ...fields, suppressed })
  })

/** Logs a failure that a person sees, at WARN; the cause is the one that the current trace has recorded. */
export const reportFailure = (what: string, fields: Readonly<Record<string, string | number>> = {}) =>
  Effect.flatMap(Telemetry.recordedCause, (cause = "unknown") =>
    limited(what, { ...fields, cause }, Effect.logWarning(what))
  )
