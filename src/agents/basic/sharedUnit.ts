/** "At least 5 but under 6 minutes": a number without a unit beside a length of time has the unit of that length. */
import { lengthAt } from "./deeds/lengths.ts"
import { COMPARATORS } from "./lexicon.ts"
import { Condition } from "./Lookup.ts"
import { folded, tokenize, written } from "./tokenize.ts"

const UNIT = /\b(?:seconds?|secs?|minutes?|mins?|hours?|hrs?)\b/

export const withSharedUnit = (conditions: ReadonlyArray<Condition>): ReadonlyArray<Condition> => {
  const units = conditions.flatMap((one) => (one._tag === "Length" ? (UNIT.exec(one.said) ?? []) : []))
  const unit = units[0]
  if (unit === undefined || conditions.some(({ _tag }) => _tag === "Currency")) return conditions
  return conditions.map((one) => {
    if (one._tag !== "Where") return one
    const how = one.words.slice(0, -1)
    if (COMPARATORS[folded(how)] === undefined) return one
    const said = `${written(one.words)} ${unit}`
    const length = lengthAt(tokenize(`${one.words.at(-1)!.text} ${unit}`))
    return length === undefined ? one : Condition.Length({ minutes: length.value, said, how: folded(how) })
  })
}
