/**
 * Basic mode: a deterministic model without a key or a network. Rules parse a message into an intent, a script looks it up
 * with the same three tools and composes the reply. It understands English only, and says so when it understands nothing.
 */
import { Layer, Stream } from "effect"
import { MAX_SCRIPT_STEPS } from "../loop.ts"
import { ModelStep, type StepEvent, type StepRequest } from "../ModelStep.ts"
import { readConversation } from "./readConversation.ts"
import { declines } from "./replies.ts"
import { replay } from "./script.ts"
import { answer, answered } from "./answerIntent.ts"

const usage = { inputTokens: 0, outputTokens: 0 }

/** The next step of a conversation: a pure function of its messages. */
export const basicStep = (request: StepRequest): ReadonlyArray<StepEvent> => {
  const conversation = readConversation(request)
  const whole = replay(answer(conversation), conversation.rounds)
  // Another reading of a declined question that would take too many steps is left out.
  const isLong = whole._tag === "Calls" && conversation.rounds.length >= MAX_SCRIPT_STEPS - 1
  const first = isLong ? replay(answered(conversation), conversation.rounds) : whole
  const turn = first._tag === "Reply" ? first : whole
  const step = conversation.rounds.length + 1
  return turn._tag === "Reply"
    ? [
        { _tag: "Delta", text: turn.text },
        { _tag: "Finished", reason: declines(turn.text) ? "declined" : "end", usage }
      ]
    : [
        ...turn.calls.map((call, index) => ({ _tag: "ToolCall" as const, id: `basic-${step}-${index + 1}`, ...call })),
        { _tag: "Finished", reason: "tools", usage }
      ]
}

export const BasicStep = Layer.succeed(
  ModelStep,
  ModelStep.of({
    provider: "basic",
    model: "basic",
    stream: (request) => Stream.fromIterable(basicStep(request))
  })
)
