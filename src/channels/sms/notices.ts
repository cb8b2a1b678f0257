/** Texts that Max sends without asking a model. */
import { printable } from "../../domain/text.ts"

/** An organization's name, shortened so that a notice with it stays one text. */
const called = (organization: string): string => [...printable(organization)].slice(0, 40).join("").trim()

export const greeting = (organization: string, provider: string): string =>
  `I'm Max, for ${called(organization)}${provider === "basic" ? " (basic mode)" : ""}.`

/** The notice for every number that is not admitted, whatever the reason. */
export const notAdmitted = (organization: string, contact: string | undefined): string =>
  `I'm Max, for ${called(organization)}. Sorry, I can't answer this number. Please ask ${contact ?? "an administrator"} for access.`

export const NOTICES = {
  apology: "Sorry, this is taking longer than usual. I'll text you the answer.",
  textOnly: "I can't open pictures or files. Please ask me in words.",
  limited: "That's a lot of messages in one hour. Please try again later.",
  codeWords: "Reply OK and the code, or NO and the code. Nothing was changed.",
  wrongCode: "This isn't the code of a change that waits for you. Nothing was changed.",
  codesLocked: "Too many wrong codes: this number confirms no change for an hour. Nothing was changed.",
  rejected: "All right: nothing was changed.",
  waits: "Nothing has changed yet: this waits for another confirmation.",
  failed: "I couldn't answer this. Please ask again in other words."
} as const
