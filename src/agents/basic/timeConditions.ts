/** The rules of conditions on times, on what is the asker's own, and of words that add nothing. */
import { type Build, silence, untilNow } from "./conditionBuilders.ts"
import { CONCEPT_WORDS, WHO } from "./conditionWords.ts"
import { MONTHS } from "../english.ts"
import { DATE_VERBS } from "./lexicon.ts"
import { Condition } from "./Lookup.ts"
import { CONTACTED, hoursOn, longAgo, SILENT, TOUCHED } from "./readClock.ts"
import { timeAt } from "./readTime.ts"
import { folded, written } from "./tokenize.ts"

/** Tried in this order; the first that lets the rest be understood is meant. */
export const TIME_CONDITIONS: ReadonlyArray<readonly [patterns: ReadonlyArray<string>, build: Build]> = [
  [
    [
      "(do|did) (we|you) (have|know)",
      "(did|have) we (issue|issued|send|sent|send out|sent out|raise|raised|write|create|created)",
      "do (we|you) (carry|sell|stock|offer|hold|serve|look after)",
      "(that|which)? (we|you) (carry|stock|offer|hold)",
      "have (we|you) got",
      "(that|which)? (we|you) (have|know)",
      "(are|is|were|was) there",
      "exist",
      "of ours",
      "in (the|our|my) (crm|system|database|records|books|files)",
      "on (file|record|the books|our books)",
      "(in|on) the (calendar|agenda|schedule|diary|planner)"
    ],
    () => []
  ],
  [["and", "but"], (_, __, after) => (after.length > 0 ? [] : undefined)],
  [
    [
      "(do|did) i (have|own|manage|look after|handle|do|hold|attend|give|run)",
      "have i (got|owned|looked after|managed|handled)",
      "i (have|had)",
      "(that|which)? i (have|had|own|manage|look after|handle)",
      "(of mine|mine)",
      "(in|on) (my|our) (calendar|agenda|schedule|diary|planner)",
      `${WHO} (are|is) mine`,
      `${WHO} (are|is)? (owned by|assigned to|managed by|belonging to|with|of|by|for) me`
    ],
    () => [Condition.Mine()]
  ],
  [
    ["(have i|i have) (had|attended|held|sat through|been in|been to)"],
    (_, { today }) => [Condition.Mine(), untilNow(today)]
  ],
  [
    [`${WHO} (with|having|have|has) (an|a)? overdue {column}`],
    ({ column }, { today }) => [
      Condition.With({ words: column! }),
      Condition.Time({ when: { to: today, said: `with overdue ${written(column!)}` } })
    ]
  ],
  [["have (we|you|there) (had|held|been)"], (_, { today }) => [untilNow(today)]],
  [
    [
      "{when} (that|which)? (are|is|start|starts|starting|begin|begins|take place|happen)? {hours}",
      "(that|which)? (are|is|start|starts|starting|begin|begins|take place|happen)? {hours} {when}"
    ],
    ({ hours, when }, { today }) => {
      // "From 1 December 2023" is a day, "December 5 at 2" is an hour.
      const [month, day] = when!
      const isDay = /^\d{1,2}$/.test(hours!.at(-1)!.word) && MONTHS[month!.word] !== undefined
      if (isDay && !/^\d{1,2}(?:st|nd|rd|th)?$/.test(day?.word ?? "")) return undefined
      const both = hoursOn(when!, hours!, today)
      return both && [Condition.Time({ when: both })]
    }
  ],
  [
    [
      `${WHO} ${SILENT} (to)? (us|me)? (in|for|within|during|since) {span}`,
      `${WHO} ${SILENT} to (a|an|the|our|their) {quality} (for|about|on) (a|an|the|our)? {other} (in|for|within|during) {span}`,
      `${WHO} ${SILENT} to (a|an|the|our|their) {quality} (in|for|within|during) {span}`,
      `${WHO} ${SILENT} (to)? (us|me)? {when}`,
      `${WHO} (were|was) ${SILENT} {when}`,
      `${WHO} (weren't|werent|wasn't|wasnt) (contacted|spoken to|spoken with|talked to|reached) {when}`,
      `(haven't|havent|have not) (i|we|you) ${TOUCHED} {when}`,
      `${WHO} (i|we|you) (haven't|havent|have not|didn't|didnt) ${TOUCHED} {when}`,
      `${WHO} (has|have|had)? (nobody|no one|noone|none of us) (has|have|had)? ${TOUCHED} {when}`
    ],
    silence
  ],
  [
    [`${WHO} (are|is|were|was|have been|has been)? (last)? {verb} {span} ago`],
    ({ span, verb }, { today }) => {
      const labels = DATE_VERBS[verb![0]!.word]!
      const when = longAgo(span!, today)
      return when && /^(more|over|at)$/.test(span![0]!.word)
        ? [Condition.Time({ when, ...(labels.length === 0 ? {} : { by: labels }) })]
        : undefined
    }
  ],
  [
    [
      `${WHO} (are|is|were|was)? (not assigned|unassigned|unowned|not owned) (to|by)? (anyone|anybody|someone)?`,
      `${WHO} (aren't|isn't|arent|isnt) (assigned|owned) (to|by)? (anyone|anybody)?`,
      "(that|which) (nobody|no one) (owns|has|is assigned to)",
      "assigned to (nobody|no one)"
    ],
    (_, __, [next]) =>
      next !== undefined && /^(to|by)$/.test(next.word) ? undefined : [Condition.Empty({ words: "owner" })]
  ],
  [
    [`(did|have|had) (we|you|i) (last)? ${TOUCHED} {when}`, `${WHO} (we|you|i) (have|had)? (last)? ${TOUCHED} {when}`],
    ({ when }, { today }) => [Condition.Time({ when: timeAt(when!, today)!.when, by: CONTACTED })]
  ],
  [
    [
      `${WHO} (need|needs|want|wants|await|awaits|require|requires) (a|an|the|their)? {column} {when}`,
      `${WHO} (are|is|were|was) due (for)? (a|an|the|their)? {column} {when}`
    ],
    ({ column, when }, { today }) => [
      Condition.With({ words: column! }),
      Condition.Time({ when: timeAt(when!, today)!.when })
    ]
  ],
  [
    [
      `${WHO} (are|is|were|was)? (coming up|planned|lined up|scheduled|fall|falls|falling|fell|land|lands|occur|occurs|occurred|take place|took place|happen|happens|happened|come up|comes up) {when}`
    ],
    ({ when }, { today }) => [Condition.Time({ when: timeAt(when!, today)!.when })]
  ],
  [["(of|for)? {when}"], ({ when }, { today }) => [Condition.Time({ when: timeAt(when!, today)!.when })]],
  [
    [`${WHO} (are|is|were|was|have been|has been|am)? (last)? {verb} {when}`],
    ({ verb, when }, { today }) => {
      const labels = DATE_VERBS[verb![0]!.word]!
      return [Condition.Time({ when: timeAt(when!, today)!.when, ...(labels.length === 0 ? {} : { by: labels }) })]
    }
  ],
  [
    [
      "(whose|where) (the)? {column} (is|was|are|falls|fell|fall|lands|land|landed|happens|occurs|lies|lay|comes|comes up|is due|was due|falls due|is set for|is scheduled for|is planned for) {when}",
      "with (a|an|the|their)? {column} (falling|due|set for|scheduled for|planned for) {when}"
    ],
    ({ column, when }, { today }) =>
      CONCEPT_WORDS.has(folded(column!).replaceAll("-", " "))
        ? [Condition.With({ words: column! }), Condition.Time({ when: timeAt(when!, today)!.when })]
        : undefined
  ],
  [["overdue", `${WHO} (are|is) overdue`], () => [Condition.Overdue()]],
  [
    [
      `${WHO} (aren't|arent|isn't|isnt|are not|is not|not|but not) mine`,
      `${WHO} (aren't|arent|isn't|isnt|are not|is not|not) (owned|managed|handled|looked after) by me`,
      "(except|excluding|except for|without) mine",
      "(that|which|whom|who)? i (don't|dont|do not) (own|have|manage|look after|handle)"
    ],
    () => [Condition.Not({ of: Condition.Mine() })]
  ],
  [
    [`${WHO} (have|has|had|having|with) (a|an|any|some|the|their)? {column} {when}`],
    ({ column, when }, { today }) =>
      CONCEPT_WORDS.has(folded(column!)) || DATE_VERBS[folded(column!)] !== undefined
        ? [Condition.With({ words: column! }), Condition.Time({ when: timeAt(when!, today)!.when })]
        : undefined
  ]
]
