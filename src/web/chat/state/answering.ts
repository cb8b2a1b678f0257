/** What a turn's events do to what the page shows of it. Text is shown once a frame, however fast it comes. */
import { Problem } from "../../shared/api.ts"
import type { TurnEvent } from "../wire.ts"
import type { Failure, Turn } from "./Turn.ts"

const TITLES: Readonly<Record<string, string>> = {
  NotAdmitted: "You have no access here",
  InvalidInput: "That can't be asked like this",
  Budget: "Today's questions are used up",
  Model: "No answer this time",
  Timeout: "That took too long",
  Unavailable: "Nothing can be looked up right now"
}

/** Reasons after which the same question may be answered. */
const MAY_HELP = new Set(["Model", "Timeout", "Unavailable"])

const withoutReference = (message: string, reference: string | undefined): string =>
  reference === undefined ? message : message.replace(` (ref ${reference})`, "")

const failureOf = (event: Extract<TurnEvent, { _tag: "error" }>): Failure => ({
  title: TITLES[event.reason] ?? "There is no answer",
  detail: withoutReference(event.message, event.reference),
  reference: event.reference,
  again: MAY_HELP.has(event.reason)
})

const PROBLEM_TITLES: Readonly<Record<string, string>> = {
  unreachable: "Max can't be reached",
  unavailable: "Nothing can be looked up right now",
  "no-answer": "No answer this time",
  "not-admitted": "You have no access here",
  "not-in-scope": "You have no access here",
  "too-many-calls": "That was a lot at once",
  "budget-spent": "Today's questions are used up",
  "invalid-input": "That can't be asked like this",
  internal: "Something went wrong"
}

const FINAL = new Set(["invalid-input", "not-admitted", "not-in-scope", "budget-spent"])

export const failureOfProblem = (error: unknown): Failure => {
  const problem = error instanceof Problem ? error : new Problem("internal", 0, "Something went wrong in this page.")
  return {
    title: PROBLEM_TITLES[problem.name] ?? "There is no answer",
    detail:
      problem.name === "unreachable"
        ? "Check your connection. What was asked before is still here."
        : withoutReference(problem.message, problem.reference),
    reference: problem.reference,
    again: !FINAL.has(problem.name)
  }
}

/** Milliseconds that text waits at most, however slow the machine. */
const MAX_REST = 250

const soon = (run: () => void): void => {
  // A page that nobody looks at has no frames.
  if (document.hidden) setTimeout(run, 200)
  else requestAnimationFrame(run)
}

export const answering = (turn: Turn) => {
  let text = ""
  let waiting = false
  /** How long showing takes on this machine: it is left twice that time for whatever else is going on. */
  let rest = 0
  const flush = () => {
    const started = performance.now()
    turn.text.value = text
    setTimeout(() => {
      rest = Math.min(MAX_REST, 2 * (performance.now() - started))
      waiting = false
      if (turn.text.value !== text) show(text)
    })
  }
  const show = (next: string) => {
    text = next
    if (waiting) return
    waiting = true
    setTimeout(() => soon(flush), rest)
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
        return settle("")
      case "matches":
        turn.choices.value = event.choices
        return
      case "done":
        settle(event.text)
        turn.references.value = event.references
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
