/**
 * Basic mode: a deterministic model without a key or a network. Rules parse a message into an intent, a script looks it up
 * with the same three tools and composes the reply. It understands English only, and says so when it understands nothing.
 */
import { Layer, Stream } from "effect"
import { ModelStep, type StepEvent, type StepRequest } from "../ModelStep.ts"
import { readConversation } from "./readConversation.ts"
import { declines } from "./replies.ts"
import { replay } from "./script.ts"
import { answer } from "./answerIntent.ts"

const usage = { inputTokens: 0, outputTokens: 0 }

/** The next step of a conversation: a pure function of its messages. */
export const basicStep = (request: StepRequest): ReadonlyArray<StepEvent> => {
  const conversation = readConversation(request)
  const turn = replay(answer(conversation), conversation.rounds)
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
