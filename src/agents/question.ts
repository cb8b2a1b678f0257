/** What the person asks in a turn, as text. */
import { Effect } from "effect"
import type { OpenSession } from "../services/conversations/Sessions.ts"
import { handleOf } from "./cards.ts"
import { MAX_TEXT_LENGTH, SENTENCES } from "./sentences.ts"
import { TurnFault } from "./TurnFault.ts"

/** The person's message, or the handle of an offered choice. */
export type Say = { readonly text: string } | { readonly choice: string }

const invalid = (message: string) => Effect.fail(new TurnFault({ reason: "InvalidInput", message }))

export const validate = (say: Say) => {
  if ("choice" in say) return Effect.void
  if (cleaned(say.text) === "") return invalid(SENTENCES.empty)
  return say.text.length > MAX_TEXT_LENGTH ? invalid(SENTENCES.tooLong) : Effect.void
}

/** Removes lone surrogates and control characters, which neither Postgres nor a model can read. */
export const cleaned = (text: string): string =>
  text
    .replace(/\p{Cs}/gu, "")
    .replace(/[\u0000-\u0008\u000b-\u001f\u007f]/g, "")
    .trim()

/** The question's text. A choice becomes its number, never the row's name. */
export const questionOf = (say: Say, session: OpenSession): Effect.Effect<string, TurnFault> => {
  if ("text" in say) return Effect.succeed(cleaned(say.text))
  const index = session.focus.findIndex((one) => handleOf(one) === say.choice)
  return index < 0 ? invalid(SENTENCES.noSuchChoice) : Effect.succeed(`number ${index + 1}`)
}
