/** What basic mode says about changes. */
import { uncapitalized } from "../../english.ts"
import type { Context } from "../readConversation.ts"
import { and, called } from "../replies.ts"
import type { Rows } from "./findSet.ts"
import type { Problem } from "./rows.ts"

/** Two requests that can be written, in the organization's own words: without a date or a number, which no result has. */
const examples = (context: Context): string => {
  const meetings = context.types.find(({ id }) => id === "meetings")
  const own = context.types.find(({ id }) => id !== "people" && id !== "meetings" && id !== "companies")
  return [
    "“set the status of Ada Lovelace to Won”",
    meetings === undefined
      ? "“delete Ada Lovelace”"
      : `“cancel my next ${uncapitalized(meetings.name)} with Ada Lovelace”`,
    ...(own === undefined ? [] : [`“rename the ${uncapitalized(own.name)} Kick-off to Start”`])
  ].join(" or ")
}

export const NOT_UNDERSTOOD = "I didn't understand all of that"

/** Declines a request that isn't understood whole. */
export const notWhole = (context: Context): string =>
  `${NOT_UNDERSTOOD}, so I haven't drafted anything. In basic mode I draft one change at a time, said in one plain sentence without an “if”, such as ${examples(context)}.`

export const cannotDo = (reason: string): string => (reason === "" ? "I can't change that for you." : reason)

/** Begins what is said if a part of a change can't be drafted: then none of it is. */
export const NOT_ALL = "I can't draft all of that, so I haven't drafted anything."

/** What is wrong, with the rows to choose from. */
export const which = (found: Problem | undefined): string | undefined => {
  if (found === undefined) return undefined
  if (found.choices === undefined) return found.text
  const lines = found.choices.map(({ name }, index) => `${index + 1}. ${name}`)
  return `${found.text}\n${lines.join("\n")}\nWhich one? Give me the number.`
}

const MAX_NAMED = 5

/** Says the set before the card that changes it; `changed` of its rows don't have the values yet. */
export const ofSet = ({ rows, said, type }: Rows, changed = rows.length): string => {
  const names = rows.slice(0, MAX_NAMED).map(({ name }) => name)
  const more = rows.length - names.length
  const listed = and(more > 0 ? [...names, `${more} more`] : names)
  const same = rows.length - changed
  const kept = same <= 0 ? "" : ` ${same === 1 ? "One of them has" : `${same} of them have`} it already.`
  return `That's ${rows.length} ${called(said, type, rows.length)}: ${listed}.${kept} ${DRAFTED}`
}

/** The card beside it shows the change itself. */
export const DRAFTED = "Here is the change as I understood it. Please check it."
