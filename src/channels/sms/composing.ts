/** A sender's messages as one question, and an answer as a text of the outbox. */
import type { Basis } from "../../domain/Basis.ts"
import type { Principal } from "../../domain/Principal.ts"
import type { WaitingMessage } from "../../services/texting/SmsInbox.ts"
import type { NewText, TextKind } from "../../services/texting/SmsOutbox.ts"
import type { Choice } from "../../wire/TurnEvent.ts"
import type { Line } from "./Line.ts"
import { greeting } from "./notices.ts"
import { shapeReply } from "./shapeReply.ts"

/** The messages as one question. */
export const textOf = (messages: ReadonlyArray<WaitingMessage>): string =>
  messages
    .map(({ body }) => body.trim())
    .filter((body) => body !== "")
    .join("\n")

/** The handle of the choice that a bare number selects. */
export const chosenHandle = (text: string, choices: ReadonlyArray<string>): string | undefined => {
  const number = /^#?(\d{1,2})[.)]?$/.exec(text)?.[1]
  return number === undefined ? undefined : choices[Number(number) - 1]
}

/** A text to send, before it is shaped for SMS. */
export interface Draft {
  readonly kind: TextKind
  readonly text: string
  readonly choices?: ReadonlyArray<Choice>
  readonly principal?: Principal
  readonly basis?: Basis
  /** The change that the text asks to confirm. */
  readonly changeId?: string
  readonly greet?: boolean
}

/** Makes the texts of a line; `provider` is the model's, which the greeting names in basic mode. */
export const newTexts =
  ({ limits, organization }: Line, provider: string) =>
  (messages: ReadonlyArray<WaitingMessage>, draft: Draft) => {
    const greeted = draft.greet === true ? greeting(organization.name, provider) : ""
    const { body, choices, segments } = shapeReply(draft.text, draft.choices, greeted)
    const text: NewText = {
      body,
      segments,
      kind: draft.kind,
      messageId: messages[0]!.id,
      anchorId: draft.principal?.anchorEntityId ?? "",
      changeId: draft.changeId,
      epoch: draft.principal?.epoch ?? 0n,
      expiresAt: draft.basis?.expiresAt ?? Infinity,
      budget: limits && { segments: limits.segmentsPerDay, timeZone: organization.timeZone }
    }
    return { choices, text }
  }
