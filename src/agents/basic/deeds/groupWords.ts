/** The English of sets of rows, for readGroup.ts. */
import { startsWith } from "../patterns.ts"
import type { Word } from "./words.ts"

const words = (text: string): ReadonlySet<string> => new Set(text.split(" "))
const phrases = (text: string) => text.split("|").map((phrase) => phrase.split(" "))

export const EACH = words("every each any")
export const ALL = phrases(
  "both|all of the|all of|all the|all|every single|every|each of the|each of|each|any of the|any of|any|the"
)
/** Words between the conditions that say nothing by themselves. */
export const SILENT = words(
  "that which who what are is was were be been being still currently now already just right yet also left marked set listed tagged filed kept sitting lying status state stage there the a an of"
)
export const PLACES = words("in on at under from within inside")
export const WITH = words("with for of by to")
export const OWNED = phrases(
  "assigned to|belonging to|belong to|belongs to|owned by|handled by|managed by|held by|looked after by|in the hands of|in the name of"
)
export const OWNS = phrases(
  "has got|still has|still have|has still|have still|has|have|had|'s got|got|owns|own|handles|manages|looks after|is responsible for|is on|is assigned to|is assigned"
)
const UNOWNED = phrases(
  "'s assigned to|is assigned to|is assigned|is on|'s on|owns|has picked up|has taken on|has taken|has claimed|is working on|is looking after|is doing|has"
)
export const UNASSIGNED = [
  ...["nobody", "no one"].flatMap((who) => [
    ...UNOWNED.map((phrase) => [...who.split(" "), ...phrase]),
    ...phrases("on it|on them|assigned to it|assigned to them|assigned").map((phrase) => [
      "with",
      ...who.split(" "),
      ...phrase
    ])
  ]),
  ...phrases(
    "that has no one on it|that have no one on them|not assigned to anyone|not assigned to anybody|not assigned|unassigned|unowned|ownerless|up for grabs"
  )
]
export const WITHOUT = phrases(
  "without an|without a|without any|without|with no|that have no|that has no|have no|has no|missing an|missing a|missing|lacking"
)
export const HAVING = phrases(
  "that have an|that have a|that has an|that has a|have an|have a|has an|has a|with an|with a|having an|having a"
)
export const DUE = phrases(
  "with a due date|with a deadline|due on|due by|due in|due at|due|with a due date of|whose due date is|that fall on|falling on"
)
export const NOT = words("not isn't aren't never except excluding")
export const EARLIER = phrases("or earlier|or before|or sooner")
export const LATER = phrases("or later|or after|onwards|and later")
export const MAX_RUN = 4

/** Whether words begin with a phrase. */
export const isAt = (rest: ReadonlyArray<Word>, phrase: ReadonlyArray<string>): boolean =>
  startsWith(rest, phrase) && !rest.slice(0, phrase.length).some(({ quoted }) => quoted)
/** The number of words of the phrase at the beginning. */
export const lengthOf = (rest: ReadonlyArray<Word>, known: ReadonlyArray<ReadonlyArray<string>>): number =>
  known.find((phrase) => isAt(rest, phrase))?.length ?? 0
