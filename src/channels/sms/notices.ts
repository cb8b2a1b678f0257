/** What is said by text without asking a model. */
import { printable } from "../../domain/text.ts"

/** An organization may be called anything: a sentence about it stays one text. */
const called = (organization: string): string => [...printable(organization)].slice(0, 40).join("").trim()

export const greeting = (organization: string, provider: string): string =>
  `I'm Max, for ${called(organization)}${provider === "basic" ? " (basic mode)" : ""}.`

/** The same for every number that isn't admitted, known or not. */
export const notAdmitted = (organization: string, contact: string | undefined): string =>
  `I'm Max, for ${called(organization)}. Sorry, I can't answer this number. Please ask ${contact ?? "an administrator"} for access.`

export const SENTENCES = {
  apology: "Sorry, this is taking longer than usual. I'll text you the answer.",
  wordsOnly: "I can't open pictures or files. Please ask me in words.",
  limited: "That's a lot of messages in one hour. Please try again later.",
  failed: "I lost my thread over this. Please ask again in other words."
} as const
