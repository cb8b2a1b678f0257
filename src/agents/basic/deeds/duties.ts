/** Sentences about what is to be worked on, which ask for no change: "the tasks should be done", "get the tasks done". */
import type { Deed } from "./Deed.ts"
import { FINISHED } from "./setValues.ts"
import type { Said } from "./words.ts"

/** "The tasks of last week should be done": what is to be worked on, or what is to be marked. */
const DUTY = /\b(?:should|must|needs? to|has to|have to|ought to) (?:now |all )*be (?:done|finished|completed?)\b/i
/** "Get the Apollo tasks done", "I need them finished". */
const isWish = ({ words }: Said): boolean =>
  FINISHED.includes(words.at(-1)!.word) &&
  words.some(({ word }) => /^(get|have|need|want|like)$/.test(word)) &&
  !words.some(({ word }) => /^(marked|set|moved|closed|as|to)$/.test(word))
/** Whether something is said to be to do. */
export const isOwed = ({ text }: Said): boolean => DUTY.test(text)
/** Whether a request only says that something has to be finished. */
export const isDuty = (said: Said): boolean => isOwed(said) || isWish(said)
/** Whether a deed would mark a set of rows as finished, or a row beside another change: "give A to Raj, it needs to be done". */
export const isFinishing = (deed: Deed): boolean =>
  deed._tag === "Update" &&
  (deed.subject._tag === "Rows" || deed.settings.length > 1) &&
  (deed.list !== undefined ||
    deed.settings.some(({ value }) => value.length === 1 && FINISHED.includes(value[0]!.word)))
