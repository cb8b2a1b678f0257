/** What the sentences for groups, shares and ordered rows build from their captures. */
import { CARDINALS } from "../../english.ts"
import { Condition, nounAt } from "../Lookup.ts"
import type { Captures } from "../patterns.ts"
import type { Context } from "../readConversation.ts"
import { readConditions, readLookup } from "../readLookup.ts"
import { folded, tokenize } from "../tokenize.ts"
import type { Asked, Measure, Words } from "./Asked.ts"
import { ADJECTIVES } from "./lexicon.ts"
import { isPlural, measured, mine, readMeasure, revenue } from "./measures.ts"

const COMPARING = /^(over|above|under|below|more|less|fewer|greater|at|up|exceeding)$/

export const grouped = (captures: Captures, context: Context): Asked | undefined => {
  const { explicit, m } = captures
  const measure = explicit === undefined ? readMeasure("m", m!, context) : readMeasure("explicit", explicit, context)
  const tail = captures["tail"] === undefined ? [] : readConditions(captures["tail"], context)
  // "Invoices per country over 10": the invoices, or their number?
  if (measure === undefined || tail === undefined || COMPARING.test(captures["tail"]?.[0]?.word ?? "")) return undefined
  const { by, other } = captures
  const conditions = [...mine(captures["i"]), ...measure.lookup.conditions, ...tail].map((one) =>
    by === OWNER ? exceptOwner(one) : one
  )
  const lookup = { ...measure.lookup, conditions }
  // "Average minutes per meeting" is that of the meetings.
  const each = nounAt(by!, context)
  if (measure.figure === "avg" && each?.length === by!.length && each.noun.type.id === lookup.noun.type.id)
    return { measure: { ...measure, lookup }, by: other === undefined ? [] : [other] }
  return { measure: { ...measure, lookup }, by: [by!, ...(other === undefined ? [] : [other])] }
}

/** "Who has the most leads, except Nadia": of the owners. */
const exceptOwner = (condition: Condition): Condition =>
  condition._tag === "Not" && condition.of._tag === "Called"
    ? Condition.Not({ of: Condition.Owned({ words: tokenize(condition.of.name) }) })
    : condition

export const counted = (captures: Captures, context: Context): Asked | undefined => {
  const measure = measured("count")(captures, context)
  const tail = captures["tail"] === undefined ? [] : readConditions(captures["tail"], context)
  if (measure === undefined || tail === undefined) return undefined
  return { measure, by: [captures["by"]!] }
}

/** The first groups; one of them where the question is for one. */
export const best =
  (upwards: boolean, one = false) =>
  (captures: Captures, context: Context): Asked | undefined => {
    const asked = grouped(captures, context)
    const { n } = captures
    return (
      asked && { ...asked, best: { upwards, ...(one ? { limit: 1 } : n === undefined ? {} : { limit: numberOf(n) }) } }
    )
  }

export const numberOf = (tokens: Words): number => CARDINALS[tokens[0]!.word] ?? Number(tokens[0]!.word)

export const OWNER = tokenize("owner")
export const CUSTOMER = tokenize("customer")

export const ofRevenue =
  (upwards: boolean, by?: Words) =>
  (captures: Captures, context: Context): Asked | undefined => {
    const measure = revenue(captures["tail"], context, ...mine(captures["i"]))
    return measure && { measure, by: [by ?? captures["by"]!], best: { upwards, limit: 1 } }
  }

/** Whether the person asks for one: "which country", not "which countries". */
export const isOne = ({ by }: Captures): boolean => !/[^s]s$|people$/.test(by!.at(-1)!.word)

export const having = (captures: Captures, context: Context): Asked | undefined => {
  const asked = grouped(captures, context)
  const compared = captures["compared"]
  const bound = boundOf(compared, captures["number"] ?? captures["n"]!)
  return asked && bound && { ...asked, having: bound }
}

/** "More than 10", or exactly so many. */
export const boundOf = (compared: Words | undefined, [value, ...others]: Words): Asked["having"] => {
  if (value === undefined || others.length > 0) return undefined
  const digits = String(CARDINALS[value.word] ?? value.word.replace(/^[$€£]/, "").replace(/(?<=\d),(?=\d{3})/g, ""))
  return /^\d+(\.\d+)?$/.test(digits)
    ? { compared: compared === undefined ? "exactly" : folded(compared), value: digits }
    : undefined
}

/** "Which genre has the longest tracks on average". */
export const bestAverage = (captures: Captures, context: Context): Asked | undefined => {
  const [about, low] = ADJECTIVES[folded(captures["adjective"]!)]!
  const measure = measured("avg", { of: tokenize(about) })(captures, context)
  const { by, n } = captures
  const limit = n === undefined ? (isOne(captures) ? 1 : undefined) : numberOf(n)
  return measure && { measure, by: [by!], best: { upwards: low, ...(limit === undefined ? {} : { limit }) } }
}

/** "Sales were in Germany" isn't what a share is of. */
const VERB = /^(?:is|are|was|were|has|have|had|do|does|did|went|came|belongs?|belonged)$/

export const share = (captures: Captures, context: Context): Asked | undefined => {
  const { m, part } = captures
  const measure = readMeasure("m", m!, context)
  const conditions = readConditions(part!, context)
  if (measure === undefined || conditions?.length !== 1 || m!.some(({ word }) => VERB.test(word))) return undefined
  return { measure, by: [], part: conditions }
}

export const rows =
  (upwards?: boolean) =>
  (captures: Captures, context: Context): Asked | undefined => {
    const { adjective, lookup, n, of } = captures
    const [about, low] = adjective === undefined ? [] : ADJECTIVES[folded(adjective)]!
    const tail = captures["tail"] === undefined ? [] : readConditions(captures["tail"], context)
    const found = readLookup(lookup!, context)
    if (found === undefined || tail === undefined || found.order !== undefined) return undefined
    const { limit: own, ...asked } = found
    const mine = captures["my"] === undefined ? [] : [Condition.Mine()]
    const measure: Measure = {
      figure: "max",
      of: of ?? tokenize(about!),
      lookup: { ...asked, conditions: [...asked.conditions, ...mine, ...tail] }
    }
    const limit = n === undefined ? (own ?? (isPlural(measure) ? undefined : 1)) : numberOf(n)
    return {
      measure,
      by: [],
      rows: {
        ...((upwards ?? low) === undefined ? {} : { upwards: (upwards ?? low)! }),
        ...(limit === undefined ? {} : { limit })
      }
    }
  }
