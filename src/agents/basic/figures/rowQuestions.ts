/** The sentences that ask for rows in the order of a value or a date, and for the busiest time. */
import { Condition } from "../Lookup.ts"
import type { Captures } from "../patterns.ts"
import type { Context } from "../readConversation.ts"
import { timeAt } from "../readTime.ts"
import { folded, tokenize } from "../tokenize.ts"
import type { Asked } from "./Asked.ts"
import { rows } from "./asking.ts"
import { BUCKET_WORDS } from "./lexicon.ts"
import { measured, rules, WHICH } from "./measures.ts"

/** The day, week or month with the most meetings. */
const busiest =
  (upwards: boolean) =>
  ({ by, when }: Captures, context: Context): Asked | undefined => {
    const time = timeAt(when!, context.today)
    if (BUCKET_WORDS[folded(by!)] === undefined || time === undefined) return undefined
    const measure = measured("count")({ lookup: tokenize("meetings") }, context)
    if (measure?.lookup.noun.type.id !== "meetings") return undefined
    const conditions = [Condition.Time({ when: time.when })]
    return {
      measure: { ...measure, lookup: { ...measure.lookup, conditions } },
      by: [by!],
      best: { upwards, limit: 1 }
    }
  }

export const ROW_QUESTIONS = rules<Asked>(
  // Rows in an order.
  [
    [
      "(who|whom|which people) (have|has) (we|i) not {dated} (for)? (the)? longest (time)?",
      "(who|whom|which people) (haven't|havent) (we|i) {dated} (for)? (the)? longest (time)?",
      "(who|which person) (has not|hasn't|hasnt|have not|haven't) been {dated} (for)? (the)? longest (time)?"
    ],
    ({ dated }, context) => rows(true)({ lookup: tokenize("person"), of: dated! }, context)
  ],
  [
    [
      "which of {lookup} have i not {dated} (the)? longest",
      "(which|who) of {lookup} (was|were|is|are) {dated} (the)? (longest time ago|longest ago|least recently)"
    ],
    ({ dated, lookup }, context) => rows(true)({ lookup: lookup!, of: dated! }, context)
  ],
  [
    [
      "(the)? {lookup} with (the)? (latest|most recent|newest) {of}",
      `${WHICH} {lookup} (has|have|had) (the)? (latest|most recent|newest) {of}`
    ],
    rows(false)
  ],
  [
    [
      "(the)? {lookup} with (the)? (earliest|oldest|first) {of}",
      `${WHICH} {lookup} (has|have|had) (the)? (earliest|oldest|first) {of}`
    ],
    rows(true)
  ],
  [
    ["who (has|have|had) (the)? (earliest|oldest) {of}"],
    (captures, context) => rows(true)({ ...captures, lookup: tokenize("person") }, context)
  ],
  [
    ["who (has|have|had) (the)? (latest|most recent|newest) {of}"],
    (captures, context) => rows(false)({ ...captures, lookup: tokenize("person") }, context)
  ],
  [
    ["who (is|are|was|were|got|has been|have been)? {dated} (last|most recently|latest)"],
    ({ dated }, context) => rows(false)({ lookup: tokenize("person"), of: dated! }, context)
  ],
  [
    [
      "(my|our|the)? busiest {by} (of|in) {when}",
      `${WHICH} {by} (of|in) {when} (is|was|were|are) (the|my|our)? busiest`,
      `${WHICH} {by} (is|was|were|are) (the|my|our)? busiest (of|in) {when}`
    ],
    (captures, context) => busiest(false)(captures, context)
  ],
  [
    [
      "(my|our|the)? quietest {by} (of|in) {when}",
      `${WHICH} {by} (of|in) {when} (is|was|were|are) (the|my|our)? quietest`
    ],
    (captures, context) => busiest(true)(captures, context)
  ],
  [
    [
      `${WHICH} {lookup} (is|are|was|were|got|has been|have been)? {dated} (last|most recently|latest)`,
      "(the)? (last|latest|most recently) {dated} {lookup}",
      "(the)? (last|latest|most recent) {lookup} (to be|that was|who was|we)? {dated}"
    ],
    ({ dated, ...captures }, context) => rows(false)({ ...captures, of: dated! }, context)
  ],
  [
    [
      `${WHICH} {lookup} (is|are|was|were|got|has been|have been)? {dated} (first|earliest)`,
      "(the)? first {dated} {lookup}"
    ],
    ({ dated, ...captures }, context) => rows(true)({ ...captures, of: dated! }, context)
  ],
  [
    [
      `${WHICH} {lookup} (is|are|was|were) (the)? {adjective}`,
      "(the|our)? {n} {adjective} {lookup}",
      "(the|our)? {adjective} {lookup}",
      "(the|our)? {adjective} {n} {lookup}",
      "{my} {n} {adjective} {lookup}",
      "{my} {adjective} {lookup}",
      "{my} {adjective} {n} {lookup}"
    ],
    rows()
  ],
  [
    [
      "(the)? {lookup} with (the)? <max> {of}",
      "(the)? {lookup} with (the)? <max> {of} {tail}",
      "(the)? (top|first) {n} {lookup} (by|in terms of) {of}",
      `${WHICH} {lookup} (has|have|had) (the)? <max> {of}`,
      `${WHICH} {lookup} (has|have|had) (the)? <max> {of} {tail}`
    ],
    rows(false)
  ],
  [
    [
      "(the)? {lookup} with (the)? <min> {of}",
      "(the)? {lookup} with (the)? <min> {of} {tail}",
      `${WHICH} {lookup} (has|have|had) (the)? <min> {of}`,
      `${WHICH} {lookup} (has|have|had) (the)? <min> {of} {tail}`
    ],
    rows(true)
  ],
  [
    [
      "(sort|order|rank) (the|our|all)? {lookup} by {of} (descending|highest first|from high to low)",
      "{lookup} (sorted|ordered|ranked) by {of} (descending|highest first)"
    ],
    rows(false)
  ],
  [
    [
      "(sort|order|rank) (the|our|all)? {lookup} by {of} (ascending|lowest first|from low to high)?",
      "{lookup} (sorted|ordered|ranked) by {of} (ascending|lowest first)?"
    ],
    rows()
  ]
)
