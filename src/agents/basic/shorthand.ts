/** Short forms in messages, and words that begin a condition after "who is". */
import { byWord } from "../../domain/text.ts"

/** Abbreviations of a message's lower-case words. */
export const SHORTHAND = byWord<ReadonlyArray<string>>({
  mtg: ["meeting"],
  mtgs: ["meetings"],
  appt: ["appointment"],
  appts: ["appointments"],
  cust: ["customer"],
  custs: ["customers"],
  ppl: ["people"],
  pls: ["please"],
  plz: ["please"],
  tmrw: ["tomorrow"],
  tmr: ["tomorrow"],
  tmw: ["tomorrow"],
  tomorow: ["tomorrow"],
  tommorow: ["tomorrow"],
  tommorrow: ["tomorrow"],
  gimme: ["give", "me"],
  lemme: ["let", "me"],
  wk: ["week"],
  hrs: ["hours"],
  n: ["and"],
  u: ["you"],
  w: ["with"],
  mins: ["minutes"]
})

/** "who is Ada" asks for a person; before these words "who is" asks for people. */
export const TAIL_STARTS: ReadonlySet<string> = new Set(
  "in at from near not last still currently now interested assigned working employed missing lacking without due overdue owned managed handled based located contacted scheduled".split(
    " "
  )
)

/** Verbs after "did we", and the state that they lead to. */
export const OUTCOMES = byWord<string>({
  lose: "lost",
  win: "won",
  qualify: "qualified",
  pause: "paused",
  close: "closed",
  cancel: "cancelled",
  sign: "signed",
  ship: "shipped"
})

/** The same verbs as they are said of what was done: "we have won". */
export const DONE = byWord<string>({
  ...OUTCOMES,
  ...Object.fromEntries(Object.values(OUTCOMES).map((one) => [one, one]))
})
