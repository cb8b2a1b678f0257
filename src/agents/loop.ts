/**
 * The agent loop: runs a model step, executes its tool calls, and repeats until the model answers. Every step stays within
 * the turn's budget, and all text passes the guard.
 */
import { Data, Effect, Stream } from "effect"
import * as Telemetry from "../observability/Telemetry.ts"
import { changeDefinitions, type Drafts } from "../tools/ChangeTool.ts"
import { toolDefinitions } from "../tools/definitions.ts"
import { CHANGE_PROMPT, SYSTEM_PROMPT } from "../tools/prompt.ts"
import type { Grounding } from "./guards/Grounding.ts"
import type { Provenance } from "./guards/Provenance.ts"
import { lenientGuard, type ReplyGuard, strictGuard } from "./guards/ReplyGuard.ts"
import {
  type Message,
  ModelFailure,
  type ModelStep,
  type Part,
  REFUSED_REPLY,
  type StepEvent,
  type StepRequest
} from "./ModelStep.ts"
import type { EmittedEvents } from "./EmittedEvents.ts"
import type { Sightings } from "./Sightings.ts"
import { SENTENCES } from "./sentences.ts"
import { executeAll, newRoom, recordResult, type ToolCall, toPart, withinLimits } from "./toolCalls.ts"
import { TurnFault, UNAVAILABLE } from "./TurnFault.ts"
import type { TurnWork } from "./TurnWork.ts"

const MAX_STEPS = 6
/** Basic mode spends no tokens, and its scripts end by themselves. */
export const MAX_SCRIPT_STEPS = 14
/** The longest reply, and the smallest budget that is enough for a reply, in tokens. */
const MAX_REPLY = 1024
const MIN_REPLY = 128

/** The cost of a turn so far. Mutable, so that it is known however the turn ends. */
export interface Spent {
  steps: number
  inputTokens: number
  outputTokens: number
  /** Whether the reply answers nothing: it declines, or the guards left nothing of it. */
  declined: boolean
}

export interface Question {
  readonly model: ModelStep["Service"]
  readonly messages: ReadonlyArray<Message>
  readonly grounding: Grounding
  readonly sightings: Sightings
  /** The plural of each type that the person may see, by slug. */
  readonly plurals: ReadonlyMap<string, string>
  readonly tokens: number
  readonly spent: Spent
  readonly work: TurnWork
  readonly events: EmittedEvents
  /** The drafts of this answer; absent where the turn may not propose changes. */
  readonly drafts: Drafts | undefined
  /** The sentence that says what a draft waits for, where it isn't the caller's confirmation. */
  readonly waits?: string | undefined
  readonly provenance: Provenance
}

interface Step {
  readonly text: string
  readonly calls: ReadonlyArray<ToolCall>
  readonly reason: Extract<StepEvent, { _tag: "Finished" }>["reason"]
}

/** The guard rejected a reply; `said` is the reply up to there. */
class Rejected extends Data.TaggedError("Rejected")<{ readonly reason: string; readonly said: string }> {}

/** The prompt and the tools of a turn, of which there are two: with changes and without. */
const offered = (drafts: Drafts | undefined) =>
  drafts === undefined
    ? { system: SYSTEM_PROMPT, tools: toolDefinitions }
    : {
        system: CHANGE_PROMPT,
        tools: changeDefinitions,
        actions: drafts.options.actions.flatMap(({ action, type }) => (type === undefined ? [action] : []))
      }

/** Estimates the input tokens of a conversation, conservatively at three characters per token. */
const estimateTokens = (messages: ReadonlyArray<Message>, { system, tools }: ReturnType<typeof offered>): number => {
  const own = system.length + JSON.stringify(tools).length
  const length = messages.reduce((sum, { parts }) => sum + parts.reduce((all, part) => all + sizeOf(part), 0), own)
  return Math.ceil(length / 3)
}

const sizeOf = (part: Part): number =>
  part._tag === "ToolCall" ? JSON.stringify(part.input ?? {}).length + 60 : part.text.length + 20

const modelFault = ({ reason }: ModelFailure): TurnFault =>
  new TurnFault({
    reason: "Model",
    message: reason === "Busy" ? SENTENCES.busy : reason === "Broken" ? SENTENCES.broken : SENTENCES.misconfigured
  })

const turnBudgetFault = new TurnFault({ reason: "Budget", message: SENTENCES.turnIsSpent })

/** Answers a question, and emits its text as events while it streams. */
export const answer = Effect.fnUntraced(function* (question: Question) {
  const { events, grounding, spent, work } = question
  const messages = [...question.messages]
  const room = newRoom()
  const offer = offered(question.drafts)
  let rejected = false
  let broken = false

  const oneStep = Effect.fnUntraced(function* () {
    const cost = estimateTokens(messages, offer)
    const maxTokens = Math.min(MAX_REPLY, question.tokens - spent.inputTokens - spent.outputTokens - cost)
    const most = question.model.provider === "basic" ? MAX_SCRIPT_STEPS : MAX_STEPS
    if (spent.steps >= most || maxTokens < MIN_REPLY) return yield* turnBudgetFault
    spent.steps += 1
    const guard = rejected ? lenientGuard(grounding) : strictGuard(grounding)
    const request: StepRequest = { ...offer, messages, maxTokens }
    return yield* runStep(question, request, guard, cost)
  })

  while (true) {
    const outcome = yield* oneStep().pipe(
      Effect.catchTag("ModelFailure", (failure) => {
        if (failure.reason !== "Broken" || broken)
          return Effect.andThen(
            Telemetry.recordCause(`model ${failure.reason.toLowerCase()}`),
            Effect.fail(modelFault(failure))
          )
        broken = true
        return Effect.succeed(failure)
      })
    )
    if (outcome instanceof ModelFailure) continue
    if (outcome instanceof Rejected) {
      rejected = true
      messages.push(
        { role: "assistant", parts: [{ _tag: "Text", text: outcome.said }] },
        { role: "user", parts: [{ _tag: "Text", text: correction(outcome.reason) }] }
      )
      continue
    }
    if (outcome.reason === "refusal") {
      question.drafts?.clear()
      spent.declined = true
      return yield* replaceWith(events, outcome.text, SENTENCES.refused)
    }
    if (outcome.calls.length === 0) {
      const said = outcome.text.trim()
      if (said === SENTENCES.unavailable) return yield* UNAVAILABLE
      // Basic mode drafts all of a request or nothing.
      if (outcome.reason === "declined") question.drafts?.clear()
      const drafted = (question.drafts?.changes.length ?? 0) > 0
      spent.declined = outcome.reason === "declined" || said === "" || said === SENTENCES.nothingLeft
      if (!drafted) return said === "" ? yield* replaceWith(events, outcome.text, SENTENCES.nothingLeft) : said
      // Code says that it waits, whatever the model says.
      const { waits = SENTENCES.waits } = question
      const whole = said === "" ? waits : `${said}\n\n${waits}`
      yield* events.emit({ _tag: "delta", text: whole.slice(said.length) })
      return whole
    }
    // Text before a tool call is not part of the answer.
    if (outcome.text !== "") yield* events.emit({ _tag: "retract", preface: true })
    messages.push({
      role: "assistant",
      parts: [...(outcome.text.trim() === "" ? [] : [{ _tag: "Text" as const, text: outcome.text }]), ...outcome.calls]
    })
    const results = yield* executeAll(question, outcome.calls)
    if (results.some(({ unavailable }, index) => unavailable && outcome.calls[index]!.apart !== true))
      return yield* UNAVAILABLE
    const parts = results.map((result, index) => toPart(outcome.calls[index]!, withinLimits(room, result)))
    for (const [index, part] of parts.entries()) {
      if (part.value !== undefined) yield* work.part(() => recordResult(outcome.calls[index]!, part.value, question))
    }
    messages.push({ role: "user", parts })
  }
})

const correction = (reason: string): string =>
  `${REFUSED_REPLY} ${reason} Answer again in plain words, from the results alone, or look it up.`

/** Retracts the text shown so far, if any, and shows another one. */
const replaceWith = Effect.fnUntraced(function* (events: Question["events"], said: string, text: string) {
  if (said !== "") yield* events.emit({ _tag: "retract" })
  yield* events.emit({ _tag: "delta", text })
  return text
})

/** Characters of a reply that the guard judges before other turns run. */
const MAX_PIECE = 4000

const piecesOf = (text: string): ReadonlyArray<string> =>
  Array.from({ length: Math.ceil(text.length / MAX_PIECE) }, (_, index) =>
    text.slice(index * MAX_PIECE, (index + 1) * MAX_PIECE)
  )

/** Runs one model step: shows its text as the guard releases it, and collects its tool calls. */
const runStep = (question: Question, request: StepRequest, guard: ReplyGuard, cost: number) => {
  const { events, model, spent, work } = question
  let said = ""
  let raw = ""
  const calls: Array<ToolCall> = []
  let finished: Extract<StepEvent, { _tag: "Finished" }> | undefined
  const show = ({ fault, text }: { readonly text: string; readonly fault?: string }) => {
    if (fault !== undefined) return Effect.fail(new Rejected({ reason: fault, said: raw }))
    if (text === "") return Effect.void
    // A reply never begins with white space.
    const shown = said === "" ? text.trimStart() : text
    said += shown
    return shown === "" ? Effect.void : Effect.asVoid(events.emit({ _tag: "delta", text: shown }))
  }
  const onEvent = (event: StepEvent): Effect.Effect<void, Rejected | TurnFault> => {
    switch (event._tag) {
      case "Delta":
        raw += event.text
        return Effect.forEach(
          piecesOf(event.text),
          (piece) =>
            Effect.andThen(
              Effect.yieldNow,
              Effect.flatMap(
                work.part(() => guard.push(piece)),
                show
              )
            ),
          {
            discard: true
          }
        )
      case "ToolCall":
        calls.push(event)
        return Effect.void
      case "Finished":
        finished = event
        return Effect.void
    }
  }
  return Effect.gen(function* () {
    yield* Stream.runForEach(Stream.unwrap(work.part(() => model.stream(request))), onEvent)
    if (finished === undefined) return yield* new ModelFailure({ reason: "Broken" })
    yield* Effect.annotateCurrentSpan({
      "gen_ai.usage.input_tokens": finished.usage.inputTokens,
      "gen_ai.usage.output_tokens": finished.usage.outputTokens
    })
    if (calls.length > 0 && said !== "") {
      // What announces a lookup is shown whole, or as far as it may be.
      const rest = yield* work.part(() => guard.end())
      if (rest.fault === undefined) yield* show(rest)
    }
    if (calls.length === 0 && finished.reason !== "refusal") {
      yield* show(yield* work.part(() => guard.end()))
      const after = [
        ...(finished.reason === "length" ? [SENTENCES.stopped] : []),
        ...(guard.removedText() ? [said.trim() === "" ? SENTENCES.nothingLeft : SENTENCES.leftOut] : [])
      ]
      if (after.length > 0) yield* show({ text: `${said === "" || /\s$/.test(said) ? "" : " "}${after.join(" ")}` })
    }
    return { text: said, calls, reason: finished.reason } satisfies Step
  }).pipe(
    // Retract after a deadline as well.
    Effect.onError(() => Effect.sync(() => said !== "" && events.emitUnsafe({ _tag: "retract" }))),
    Effect.ensuring(
      Effect.sync(() => {
        // The provider bills an aborted step, too: book its estimated input and output.
        spent.inputTokens += finished?.usage.inputTokens ?? (model.provider === "basic" ? 0 : cost)
        spent.outputTokens += finished?.usage.outputTokens ?? Math.ceil(raw.length / 3)
      })
    ),
    // The error would put the model's text on the span.
    Effect.catchTag("Rejected", (rejection) => Effect.succeed(rejection)),
    Effect.withSpan(`chat ${model.model}`, {
      attributes: {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": model.provider,
        "gen_ai.request.model": model.model
      }
    })
  )
}
