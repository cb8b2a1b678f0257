/** Replies for turns without a model's answer. Each is a whole sentence that says what to do next. */
import { Unavailable } from "../domain/errors.ts"

export const MAX_TEXT_LENGTH = 4000

export const SENTENCES = {
  empty: "Ask me something about the people, companies or meetings that you work with.",
  tooLong: "That's more than I can read at once. Please ask in at most 4,000 characters.",
  noSuchChoice: "That choice has expired. Please ask again.",
  dayIsSpent: "Today's questions are used up here. Please try again tomorrow, or ask an administrator for more.",
  turnIsSpent: "That took more looking up than I can do at once. Please ask for one thing at a time.",
  tooMuchWork: "That took more work than one question may, so I stopped. Please ask for less at once.",
  tooSlow: "That took too long, so I stopped. Please try again, or ask for less at once.",
  busy: "I'm too busy to answer right now. Please try again in a minute.",
  broken: "I was interrupted in the middle of the answer. Please ask again.",
  misconfigured: "I can't answer right now. An administrator must check my setup.",
  unavailable: Unavailable.error.message,
  rightsChanged: "What you may see has changed while I was answering. Please ask again.",
  refused: "I can't help with that. Ask me about people, companies or meetings that you may see.",
  stopped: "I had to stop there. Ask for less at once to get the rest.",
  waits: "Nothing has changed yet: this waits for your confirmation.",
  waitsForAnother: "Nothing has changed yet: this waits for another person's approval.",
  rejected: "All right: nothing was changed.",
  notWhole: "You can't see everything that this change touches, so you can't confirm it.",
  leftOut: "I left out something that I couldn't confirm.",
  nothingLeft: "I couldn't confirm what I was about to say. Please ask again in other words."
} as const
