/** Applies the events of a running turn to its signals; text is rendered at most once per frame. */
import type { ProblemSlug } from "../../../wire/problems.ts"
import type { TurnEvent, TurnFailure } from "../../../wire/TurnEvent.ts"
import { Problem } from "../../shared/api.ts"

import type { Failure, Turn } from "./Turn.ts"

const TITLES: Readonly<Partial<Record<TurnFailure, string>>> = {
  NotAdmitted: "You have no access here",
  InvalidInput: "This question isn't valid",
  Budget: "Today's questions are used up",
  Model: "No answer this time",
  Timeout: "That took too long",
  Unavailable: "Lookups are unavailable right now"
}

/** Failures after which the same question may succeed. */
const TEMPORARY = new Set<TurnFailure>(["Model", "Timeout", "Unavailable"])

const withoutReference = (message: string, reference: string | undefined): string =>
  reference === undefined ? message : message.replace(` (ref ${reference})`, "")

const failureOf = (event: Extract<TurnEvent, { _tag: "error" }>): Failure => ({
  title: TITLES[event.reason] ?? "There is no answer",
  detail: withoutReference(event.message, event.reference),
  reference: event.reference,
  mayRetry: TEMPORARY.has(event.reason),
  isUnreachable: false
})

const PROBLEM_TITLES: Readonly<Partial<Record<ProblemSlug | "unreachable", string>>> = {
  unreachable: "Max can't be reached",
  unavailable: "Lookups are unavailable right now",
  "no-answer": "No answer this time",
  "not-admitted": "You have no access here",
  "not-in-scope": "You have no access here",
  "too-many-calls": "Too many questions at once",
  "budget-spent": "Today's questions are used up",
  "invalid-input": "This question isn't valid",
  internal: "Something went wrong"
}

/** Problems that the same question runs into again. */
const PERMANENT: ReadonlySet<string> = new Set<ProblemSlug>([
  "invalid-input",
  "not-admitted",
  "not-in-scope",
  "budget-spent"
])

export const failureOfProblem = (error: unknown): Failure => {
  const problem = error instanceof Problem ? error : new Problem("internal", 0, "Something went wrong on this page.")
  return {
    title: PROBLEM_TITLES[problem.name as ProblemSlug] ?? "There is no answer",
    detail:
      problem.name === "unreachable"
        ? "Your earlier questions are still here. Max asks again as soon as it can be reached."
        : withoutReference(problem.message, problem.reference),
    reference: problem.reference,
    mayRetry: !PERMANENT.has(problem.name),
    isUnreachable: problem.name === "unreachable"
  }
}

/** The longest pause between two renderings, in milliseconds. */
const MAX_PAUSE = 250

const onNextFrame = (run: () => void): void => {
  // A hidden page has no animation frames.
  if (document.hidden) setTimeout(run, 200)
  else requestAnimationFrame(run)
}

export const applyEvents = (turn: Turn) => {
  let text = ""
  let waiting = false
  /** Twice the time of the last rendering, so that rendering takes at most a third of the main thread. */
  let pause = 0
  const flush = () => {
    const started = performance.now()
    turn.text.value = text
    setTimeout(() => {
      pause = Math.min(MAX_PAUSE, 2 * (performance.now() - started))
      waiting = false
      if (turn.text.value !== text) show(text)
    })
  }
  const show = (next: string) => {
    text = next
    if (waiting) return
    waiting = true
    setTimeout(() => onNextFrame(flush), pause)
  }
  const settle = (final: string) => {
    text = final
    turn.text.value = final
  }
  return (event: TurnEvent): void => {
    switch (event._tag) {
      case "tool":
        if (turn.activity.value.at(-1) !== event.message) turn.activity.value = [...turn.activity.value, event.message]
        return
      case "delta":
        return show(text + event.text)
      case "retract":
        if (event.preface === true && text.trim() !== "") turn.prefaces.value = [...turn.prefaces.value, text]
        return settle("")
      case "matches":
        turn.choices.value = event.choices
        return
      case "done":
        settle(event.text)
        turn.references.value = event.references
        turn.list.value = event.list
        turn.figures.value = event.figures ?? []
        turn.form.value = event.form
        turn.reference.value = event.reference
        turn.phase.value = "answered"
        return
      case "error":
        if (event.reason === "Stopped") {
          turn.text.value = text
          turn.phase.value = "stopped"
        } else {
          turn.failure.value = failureOf(event)
          turn.phase.value = "failed"
        }
    }
  }
}
