/**
 * From a question to an answer: a model's step, the tools that it asked for, and again, until it answers. Every step is
 * within the turn's budget, every word passes the guard.
 */
import { Data, Effect, Queue, Stream } from "effect"
import type { Cause } from "effect"
import type { Page } from "../domain/Page.ts"
import type { FindQuery } from "../domain/Query.ts"
import { callTool, type ToolOutcome } from "../tools/call.ts"
import { toolDefinitions } from "../tools/definitions.ts"
import { SYSTEM_PROMPT } from "../tools/prompt.ts"
import type { Grounding } from "./guards/Grounding.ts"
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
import type { Sightings } from "./Sightings.ts"
import { SENTENCES } from "./sentences.ts"
import type { TurnEvent, TurnFailure } from "../wire/TurnEvent.ts"

const MAX_STEPS = 6
const MAX_CALLS_AT_ONCE = 6
/** Entities and characters of results that one turn may bring before a model. */
const MAX_ROWS = 100
const MAX_RESULT_LENGTH = 48_000
/** The longest reply, in tokens, and the least that is worth asking for. */
const MAX_REPLY = 1024
const MIN_REPLY = 128

/** Why there is no answer, and what the person is told. */
export class TurnFault extends Data.TaggedError("TurnFault")<{
  readonly reason: TurnFailure
  readonly message: string
  /** Of the turn's trace, where somebody may have to look into it; the message ends with it. */
  readonly reference?: string
}> {}

/** What a turn has cost so far; filled while it goes on, so that it is known however the turn ends. */
export interface Spent {
  steps: number
  inputTokens: number
  outputTokens: number
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
  readonly events: Queue.Enqueue<TurnEvent, Cause.Done>
}

type ToolCall = Extract<Part, { _tag: "ToolCall" }>

interface Step {
  readonly text: string
  readonly calls: ReadonlyArray<ToolCall>
  readonly reason: Extract<StepEvent, { _tag: "Finished" }>["reason"]
}

/** A reply that the guard held back, as far as it had come. */
class Held extends Data.TaggedError("Held")<{ readonly reason: string; readonly said: string }> {}

/** About what a conversation costs to read: less than three characters are seldom a token. */
const estimate = (messages: ReadonlyArray<Message>): number => {
  const own = SYSTEM_PROMPT.length + JSON.stringify(toolDefinitions).length
  const length = messages.reduce((sum, { parts }) => sum + parts.reduce((all, part) => all + sizeOf(part), 0), own)
  return Math.ceil(length / 3)
}

const sizeOf = (part: Part): number =>
  part._tag === "ToolCall" ? JSON.stringify(part.input ?? {}).length + 60 : part.text.length + 20

const failureFault = ({ reason }: ModelFailure): TurnFault =>
  new TurnFault({
    reason: "Model",
    message: reason === "Busy" ? SENTENCES.busy : reason === "Broken" ? SENTENCES.broken : SENTENCES.misconfigured
  })

const spentFault = new TurnFault({ reason: "Budget", message: SENTENCES.turnIsSpent })

/** Answers a question; what was said has been sent as events by then. */
export const answer = Effect.fnUntraced(function* (question: Question) {
  const { events, grounding, sightings, spent } = question
  const messages = [...question.messages]
  const room = { rows: MAX_ROWS, length: MAX_RESULT_LENGTH }
  let held = false
  let broken = false

  const oneStep = Effect.fnUntraced(function* () {
    const cost = estimate(messages)
    const maxTokens = Math.min(MAX_REPLY, question.tokens - spent.inputTokens - spent.outputTokens - cost)
    if (spent.steps >= MAX_STEPS || maxTokens < MIN_REPLY) return yield* spentFault
    spent.steps += 1
    const guard = held ? lenientGuard(grounding) : strictGuard(grounding)
    const request: StepRequest = { system: SYSTEM_PROMPT, messages, tools: toolDefinitions, maxTokens }
    return yield* listen(question, request, guard, cost)
  })

  while (true) {
    const outcome = yield* oneStep().pipe(
      Effect.catchTag("ModelFailure", (failure) => {
        if (failure.reason !== "Broken" || broken) return Effect.fail(failureFault(failure))
        broken = true
        return Effect.succeed(failure)
      })
    )
    if (outcome instanceof ModelFailure) continue
    if (outcome instanceof Held) {
      held = true
      messages.push(
        { role: "assistant", parts: [{ _tag: "Text", text: outcome.said }] },
        { role: "user", parts: [{ _tag: "Text", text: rebuke(outcome.reason) }] }
      )
      continue
    }
    if (outcome.reason === "refusal") return yield* instead(events, outcome.text, SENTENCES.refused)
    if (outcome.calls.length === 0) {
      return outcome.text.trim() === ""
        ? yield* instead(events, outcome.text, SENTENCES.nothingLeft)
        : outcome.text.trim()
    }
    // What was said on the way to the tools isn't the answer.
    if (outcome.text !== "") yield* Queue.offer(events, { _tag: "retract" })
    messages.push({
      role: "assistant",
      parts: [...(outcome.text.trim() === "" ? [] : [{ _tag: "Text" as const, text: outcome.text }]), ...outcome.calls]
    })
    const results = yield* Effect.forEach(
      outcome.calls,
      (call, index) => (index < MAX_CALLS_AT_ONCE ? execute(question, call) : Effect.succeed(TOO_MANY)),
      { concurrency: MAX_CALLS_AT_ONCE }
    )
    if (results.some(({ unavailable }) => unavailable)) {
      return yield* new TurnFault({ reason: "Unavailable", message: SENTENCES.unavailable })
    }
    const parts = results.map((result, index) => toPart(outcome.calls[index]!, spend(room, result)))
    for (const [index, part] of parts.entries()) {
      if (part.value !== undefined) see(outcome.calls[index]!, part.value, grounding, sightings)
    }
    messages.push({ role: "user", parts })
  }
})

const rebuke = (reason: string): string =>
  `${REFUSED_REPLY} ${reason} Answer again in plain words, from the results alone, or look it up.`

/** Takes back what was said, if anything was, and says something else. */
const instead = Effect.fnUntraced(function* (events: Question["events"], said: string, text: string) {
  if (said !== "") yield* Queue.offer(events, { _tag: "retract" })
  yield* Queue.offer(events, { _tag: "delta", text })
  return text
})

/** One step of the model: its words leave as the guard lets them, its calls are collected. */
const listen = (question: Question, request: StepRequest, guard: ReplyGuard, cost: number) => {
  const { events, model, spent } = question
  let said = ""
  let raw = ""
  const calls: Array<ToolCall> = []
  let finished: Extract<StepEvent, { _tag: "Finished" }> | undefined
  const say = ({ fault, text }: { readonly text: string; readonly fault?: string }) => {
    if (fault !== undefined) return Effect.fail(new Held({ reason: fault, said: raw }))
    if (text === "") return Effect.void
    // No reply begins with white space.
    const shown = said === "" ? text.trimStart() : text
    said += shown
    return shown === "" ? Effect.void : Effect.asVoid(Queue.offer(events, { _tag: "delta", text: shown }))
  }
  const hear = (event: StepEvent): Effect.Effect<void, Held> => {
    switch (event._tag) {
      case "Delta":
        raw += event.text
        return say(guard.push(event.text))
      case "ToolCall":
        calls.push(event)
        return Effect.void
      case "Finished":
        finished = event
        return Effect.void
    }
  }
  return Effect.gen(function* () {
    yield* Stream.runForEach(model.stream(request), hear)
    if (finished === undefined) return yield* new ModelFailure({ reason: "Broken" })
    yield* Effect.annotateCurrentSpan({
      "gen_ai.usage.input_tokens": finished.usage.inputTokens,
      "gen_ai.usage.output_tokens": finished.usage.outputTokens
    })
    if (calls.length === 0 && finished.reason !== "refusal") {
      yield* say(guard.end())
      const after = [
        ...(finished.reason === "length" ? [SENTENCES.stopped] : []),
        ...(guard.removedText() ? [said.trim() === "" ? SENTENCES.nothingLeft : SENTENCES.leftOut] : [])
      ]
      if (after.length > 0) yield* say({ text: `${said === "" || /\s$/.test(said) ? "" : " "}${after.join(" ")}` })
    }
    return { text: said, calls, reason: finished.reason } satisfies Step
  }).pipe(
    // A deadline takes back what was said, too; nobody waits for it when nobody listens.
    Effect.onError(() => Effect.sync(() => said !== "" && Queue.offerUnsafe(events, { _tag: "retract" }))),
    Effect.ensuring(
      Effect.sync(() => {
        // A step that was broken off has been paid for, too: what it was asked, and about what it said.
        spent.inputTokens += finished?.usage.inputTokens ?? (model.provider === "basic" ? 0 : cost)
        spent.outputTokens += finished?.usage.outputTokens ?? Math.ceil(raw.length / 3)
      })
    ),
    // What a model said must not become the error of a span.
    Effect.catchTag("Held", (held) => Effect.succeed(held)),
    Effect.withSpan(`chat ${model.model}`, {
      attributes: {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": model.provider,
        "gen_ai.request.model": model.model
      }
    })
  )
}

const TOO_MANY: ToolOutcome = {
  text: "That is too much at once. Ask for this again, with fewer calls.",
  failed: true,
  unavailable: false
}
const NO_ROOM = "That is all that can be looked up for this answer. Say what you have."

const execute = (question: Question, call: ToolCall) =>
  Queue.offer(question.events, { _tag: "tool", message: activity(call, question.plurals) }).pipe(
    Effect.andThen(callTool(call.name, call.input))
  )

/** What a call does, in people's words; a type that the person may not see isn't named. */
const activity = (call: ToolCall, plurals: ReadonlyMap<string, string>): string => {
  const type = (call.input as { readonly entityTypeId?: unknown } | undefined)?.entityTypeId
  const plural = typeof type === "string" ? plurals.get(type)?.toLowerCase() : undefined
  if (call.name === "listEntityTypes") return "Seeing what there is…"
  if (plural === undefined) return "Looking…"
  return call.name === "findEntities" ? `Looking up ${plural}…` : `Seeing what is known of ${plural}…`
}

/** Takes a result out of the turn's room; what doesn't fit is not shown. */
const spend = (room: { rows: number; length: number }, result: ToolOutcome): ToolOutcome => {
  const rows = (result.value as Partial<Page> | undefined)?.entities?.length ?? 0
  if (rows > room.rows || result.text.length > room.length) return { text: NO_ROOM, failed: true, unavailable: false }
  room.rows -= rows
  room.length -= result.text.length
  return result
}

const toPart = (call: ToolCall, result: ToolOutcome): Extract<Part, { _tag: "ToolResult" }> => ({
  _tag: "ToolResult",
  id: call.id,
  name: call.name,
  text: result.text,
  failed: result.failed,
  ...(result.value === undefined ? {} : { value: result.value })
})

/** What the model has been shown may be said, and may be what the answer is about. */
const see = (call: ToolCall, value: unknown, grounding: Grounding, sightings: Sightings): void => {
  grounding.addResult(value)
  if (call.name !== "findEntities") return
  const query = call.input as FindQuery
  sightings.page(
    query.entityTypeId,
    query.filters.map((filter) => filter.value),
    value as Page
  )
}
