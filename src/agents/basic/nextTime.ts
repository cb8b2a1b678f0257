/** "And the day after?", "and on the 6th?": the question before, of the period beside its own or of another day of its month. */
import { isoDate } from "../../domain/values.ts"
import type { When } from "./readTime.ts"
import { addDays, pad, unit } from "./spans.ts"
import { folded, type Token } from "./tokenize.ts"

const UNIT = "(day|week|month|quarter|year)"
const AFTER = new RegExp(
  `^(?:on |in )?(?:the )?(?:${UNIT} (?:after|later|following|thereafter)(?: that)?|following ${UNIT})$`
)
const BEFORE = new RegExp(
  `^(?:on |in )?(?:the )?(?:${UNIT} (?:before|earlier)(?: that)?|(?:preceding|previous) (day))$`
)
const NEXT_DAY = /^(?:on )?the next day$/

const SAME_MONTH =
  /^(?:(?:and |what about |how about )?on the|(?:and|what about|how about|and what about) the) (\d{1,2})(?:st|nd|rd|th)$/

/** The period beside the one before, by its unit and how many units later; or a day of the same month. */
type Step =
  | { readonly of: string; readonly by: 1 | -1 }
  | { readonly date: number; readonly said: string; readonly ofDay?: true }

/** Whether words ask for another period than the question before. */
export const stepIn = (tokens: ReadonlyArray<Token>): Step | undefined => {
  const said = folded(tokens)
  const date = SAME_MONTH.exec(said)?.[1]
  // "And the 2nd?" can also be the second of an order.
  const ofDay = /\bon the\b/.test(said) ? {} : { ofDay: true as const }
  if (date !== undefined)
    return {
      ...ofDay,
      date: Number(date),
      said: said.slice(said.indexOf("the ")).replace(/^/, "on ")
    }
  if (NEXT_DAY.test(said)) return { of: "day", by: 1 }
  const after = AFTER.exec(said)
  const before = BEFORE.exec(said)
  const of = after?.[1] ?? after?.[2] ?? before?.[1] ?? before?.[2]
  return of === undefined ? undefined : { of, by: after === null ? -1 : 1 }
}

/** The period beside a whole one; undefined beside a time of day, or an open time. */
export const beside = ({ days, from, said, to }: When, step: Step): When | undefined => {
  if (days !== undefined || from === undefined || to === undefined || from.includes("T") || to.includes("T"))
    return undefined
  if ("date" in step) {
    if (step.ofDay === true && addDays(from, 1) !== to) return undefined
    const month = from.slice(0, 7)
    const found = isoDate(`${month}-${pad(step.date)}`)
    if (found === undefined || addDays(to, -1).slice(0, 7) !== month) return undefined
    return { from: found, to: addDays(found, 1), said: `${step.said} of the same month` }
  }
  const { by, of } = step
  // The date itself is in no result, so the answer names the one that the person wrote.
  const named = said.replace(/^(on|in|during|for) /, "")
  // "The day before yesterday" is such a date, too.
  const start = of === "day" && /^(?:yesterday|tomorrow)$/.test(named) ? "that" : named
  const words = `the ${of} ${by > 0 ? "after" : "before"} ${start}`
  if (of === "day") {
    const day = by > 0 ? to : addDays(from, -1)
    return { from: day, to: addDays(day, 1), said: words }
  }
  // The week after a day is the one after its own week; a longer time has no such unit.
  const own = unit(of, 0, from)
  const found = own !== undefined && to <= own.to ? unit(of, by, from) : undefined
  return found && { ...found, said: words }
}
