/** Follow-ups that change the conditions of the last question for rows: a list, a count, a figure, or rows by their title. */
import { Intent } from "./Intent.ts"
import { isBare } from "./phrases.ts"
import { Condition, type Lookup, type Noun } from "./Lookup.ts"

type Conditions = ReadonlyArray<Condition>

/** Maps the conditions of the last question to those of the new one; undefined if the two don't fit together. */
type Change = (before: Conditions) => Conditions | undefined

/** The question with changed conditions; undefined if it asks for no rows, or can't be changed so. */
export const changed = (previous: Intent | undefined, change: Change): Intent | undefined => {
  const other = (lookup: Lookup): Lookup | undefined => {
    const conditions = change(lookup.conditions)
    return conditions && { ...lookup, conditions }
  }
  switch (previous?._tag) {
    case "Browse": {
      const lookup = other(previous.lookup)
      return lookup && Intent.Browse({ ...previous, skip: 0, lookup })
    }
    case "Figures": {
      const { asked } = previous
      const lookup = other(asked.measure.lookup)
      // "Only those under 50" after groups: those of a number, or the groups?
      const isOfGroups = asked.by.length > 0 && !asked.measure.lookup.conditions.some(isBare)
      if (isOfGroups && lookup?.conditions.some(isBare)) return undefined
      return lookup && Intent.Figures({ asked: { ...asked, measure: { ...asked.measure, lookup } } })
    }
    case "Titled": {
      const conditions = change(previous.conditions)
      const otherwise = changed(previous.otherwise, change) ?? Intent.Unclear({ tokens: [] })
      return conditions && Intent.Titled({ ...previous, conditions, otherwise })
    }
    default:
      return undefined
  }
}

/** With more conditions: a time replaces the one before. */
export const refinedBy =
  (more: Conditions): Change =>
  (before) => {
    const times = before.filter((one) => one._tag === "Time")
    const others = more.filter((one) => one._tag === "Time")
    if (others.length === 0) return [...before, ...more]
    // "And on Friday?" after a morning, "and in May?" after those not contacted in April: does the rest still count?
    const isPart = times.some(isOfHours) && !others.some(isOfHours)
    const isDenied = times.some(({ latest }) => latest !== undefined) || before.some(deniesTime)
    return isPart || isDenied ? undefined : [...before.filter(({ _tag }) => _tag !== "Time"), ...more]
  }

export const isOfHours = ({ when: { days = [], from = "", to = "" } }: Extract<Condition, { _tag: "Time" }>): boolean =>
  [from, to, ...days].some((time) => time.includes("T"))
const deniesTime = (condition: Condition): boolean => condition._tag === "Not" && condition.of._tag === "Time"

/** The question for a number of its rows, or for a list of them. */
export const asked = (previous: Intent | undefined, mode: "list" | "count"): Intent | undefined => {
  switch (previous?._tag) {
    case "Browse":
      return Intent.Browse({ ...previous, mode })
    case "Titled":
      return Intent.Titled({
        ...previous,
        mode,
        otherwise: asked(previous.otherwise, mode) ?? previous.otherwise
      })
    // Groups, and what isn't a number of rows, have no rows of their own to ask for.
    case "Figures": {
      const { by, measure, rows } = previous.asked
      return by.length === 0 && rows === undefined && measure.figure === "count"
        ? Intent.Browse({ mode, lookup: measure.lookup, skip: 0 })
        : undefined
    }
    default:
      return undefined
  }
}

const lookupOf = (intent: Intent | undefined): Lookup | undefined =>
  intent?._tag === "Browse" ? intent.lookup : intent?._tag === "Figures" ? intent.asked.measure.lookup : undefined

/** The kind of rows that a question is for. */
export const nounOf = (intent: Intent | undefined): Noun | undefined =>
  intent?._tag === "Titled" ? nounOf(intent.otherwise) : lookupOf(intent)?.noun

export const isTime = (one: Condition): one is Extract<Condition, { _tag: "Time" }> => one._tag === "Time"
/** The conditions of the rows that a question is for. */
export const conditionsIn = (intent: Intent | undefined): ReadonlyArray<Condition> =>
  intent?._tag === "Titled" ? intent.conditions : (lookupOf(intent)?.conditions ?? [])

/** Whether the next question has nothing to take over from a question: it is for all rows of a kind, or for none. */
export const carriesNothing = (intent: Intent | undefined): boolean => {
  switch (intent?._tag) {
    case "Browse": {
      const { conditions, limit, order } = intent.lookup
      return conditions.length === 0 && limit === undefined && order === undefined
    }
    case "Figures": {
      const { by, measure, part, rows } = intent.asked
      return by.length === 0 && part === undefined && rows === undefined && measure.lookup.conditions.length === 0
    }
    case "Who":
    case "Detail":
      return intent.subject._tag === "Me"
    default:
      return intent === undefined || WITHOUT_ROWS.has(intent._tag)
  }
}
const WITHOUT_ROWS: ReadonlySet<Intent["_tag"]> = new Set([
  "Greeting",
  "Help",
  "Bye",
  "Thanks",
  "Request",
  "Foreign",
  "Uncountable",
  "Separate"
] as const)
