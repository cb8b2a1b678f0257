/** The sentences that ask for groups, their order or condition, shares, and rows in the order of a value. */
import { Condition } from "../Lookup.ts"
import type { Captures } from "../patterns.ts"
import type { Context } from "../readConversation.ts"
import { DONE } from "../shorthand.ts"
import { peopleOf } from "../Lookup.ts"
import { folded, tokenize } from "../tokenize.ts"
import type { Asked } from "./Asked.ts"
import {
  best,
  bestAverage,
  boundOf,
  counted,
  CUSTOMER,
  grouped,
  having,
  isOne,
  numberOf,
  ofRevenue,
  OWNER,
  rows,
  share
} from "./asking.ts"
import { COMPANION_QUESTIONS } from "./companions.ts"
import { EVERY } from "./lexicon.ts"
import { measured, readMeasure, revenue, rules, WHICH } from "./measures.ts"
import { ROW_QUESTIONS } from "./rowQuestions.ts"

/** "Has lost the most people": the rows with that state. */
const outcome =
  (upwards: boolean) =>
  ({ by = OWNER, done, lookup }: Captures, context: Context): Asked | undefined => {
    const measure = measured("count")({ lookup: lookup! }, context)
    if (measure === undefined) return undefined
    const state = Condition.Quality({ words: DONE[done![0]!.word]! })
    const conditions = [...measure.lookup.conditions, state]
    return {
      measure: { ...measure, lookup: { ...measure.lookup, conditions } },
      by: [by],
      best: { upwards, limit: 1 }
    }
  }

/** One of several: "who of the reps has the most leads". */
const ONE_OF = "(which|who|what) (one of|of|among) (the|our|all our)"

const HELD = "(have|had|hold|held|get|got|see|attend|attended)"

const OTHER_QUESTIONS = rules<Asked>(
  [
    [
      `${WHICH} {by} <have> (the)? {adjective} {lookup} on average`,
      `${WHICH} {by} <have> (the)? {adjective} average {lookup}`,
      "(the)? {by} with (the)? {adjective} {lookup} on average",
      "(the)? {by} with (the)? {adjective} average {lookup}",
      "(the)? {n} {by} with (the)? {adjective} average {lookup}",
      "(the)? {n} {by} <have> (the)? {adjective} {lookup} on average",
      `${WHICH} {n} {by} <have> (the)? {adjective} {lookup} on average`
    ],
    bestAverage
  ],
  [
    [
      `${WHICH} {by} <have> {compared} {number} (minutes|minutes of|minutes in) {lookup}`,
      `(the|all)? {by} (that|which|who)? <have> {compared} {number} (minutes|minutes of|minutes in) {lookup}`
    ],
    ({ lookup, ...captures }, context) =>
      having({ ...captures, explicit: [...tokenize("total minutes of"), ...lookup!] }, context)
  ],
  [
    [`${WHICH} {by} (of|in) {when} <have> (the)? <highest> {explicit}`],
    ({ when, ...captures }, context) => best(false, true)({ ...captures, tail: when! }, context)
  ],
  [
    [`${WHICH} {by} (of|in) {when} <have> (the)? <lowest> {explicit}`],
    ({ when, ...captures }, context) => best(true, true)({ ...captures, tail: when! }, context)
  ],
  [
    [
      `${WHICH} {by} (of|in) {when} <have> (the)? <most> {m}`,
      `${WHICH} {by} (of|in) {when} <does> {i} ${HELD}? (the)? <most> {m}`
    ],
    ({ when, ...captures }, context) => best(false, true)({ ...captures, tail: when! }, context)
  ],
  [
    [
      `${WHICH} {by} (of|in) {when} <have> (the)? <fewest> {m}`,
      `${WHICH} {by} (of|in) {when} <does> {i} ${HELD}? (the)? <fewest> {m}`
    ],
    ({ when, ...captures }, context) => best(true, true)({ ...captures, tail: when! }, context)
  ],
  [[`${ONE_OF} {by} <have> (the)? <most> {m}`], best(false, true)],
  [[`${ONE_OF} {by} <have> (the)? <fewest> {m}`], best(true, true)],
  [
    [
      `${WHICH} {by} (has|have|had)? {done} (the)? <most> {lookup}`,
      `${ONE_OF} {by} (has|have|had)? {done} (the)? <most> {lookup}`,
      "who (has|have|had)? {done} (the)? <most> {lookup}"
    ],
    outcome(false)
  ],
  [
    [
      `${WHICH} {by} (has|have|had)? {done} (the)? <fewest> {lookup}`,
      `${ONE_OF} {by} (has|have|had)? {done} (the)? <fewest> {lookup}`,
      "who (has|have|had)? {done} (the)? <fewest> {lookup}"
    ],
    outcome(true)
  ],
  // Groups in an order, or the first of them.
  [
    [
      `${WHICH} {by} <have> (the)? <most> {m}`,
      `${WHICH} {by} <does> {i} ${HELD}? (the)? <most> {m}`,
      `${WHICH} {by} <does> <we>? (have|had|hold|get|got|see|sell|make|carry|stock|offer|keep)? (the)? <most> {m}`
    ],
    (captures, context) => best(false, isOne(captures))(captures, context)
  ],
  [
    [
      `${WHICH} {by} <have> (the)? <fewest> {m}`,
      `${WHICH} {by} <does> {i} ${HELD}? (the)? <fewest> {m}`,
      `${WHICH} {by} <does> <we>? (have|had|hold|get|got|see|sell|make)? (the)? <fewest> {m}`
    ],
    (captures, context) => best(true, isOne(captures))(captures, context)
  ],
  [
    [
      `${WHICH} {by} <have> (the)? <highest> {explicit}`,
      `${WHICH} {by} (was|is|were|are|had|has) (the|our)? {explicit} (the)? <highest>`
    ],
    (captures, context) => best(false, isOne(captures))(captures, context)
  ],
  [
    [
      `${WHICH} {by} <have> (the)? <lowest> {explicit}`,
      `${WHICH} {by} (was|is|were|are|had|has) (the|our)? {explicit} (the)? <lowest>`
    ],
    (captures, context) => best(true, isOne(captures))(captures, context)
  ],
  [
    [
      "who is (the)? (top|best|first|leading|number one|ahead) (on|in|for|by|at|with) {m}",
      "who (leads|tops|is leading) (on|in|for|by|at|with) {m}"
    ],
    (captures, context) => best(false, true)({ ...captures, by: OWNER }, context)
  ],
  [
    ["who <have> (the)? <most> {m}", "who <have> (the)? <highest> {explicit}"],
    (captures, context) => best(false, true)({ ...captures, by: OWNER }, context)
  ],
  [
    ["who <have> (the)? <fewest> {m}", "who <have> (the)? <lowest> {explicit}"],
    (captures, context) => best(true, true)({ ...captures, by: OWNER }, context)
  ],
  [
    [
      `${WHICH} {by} <spent> (the)? most (money)?`,
      `${WHICH} {by} <spent> (the)? most (money)? {tail}`,
      `${WHICH} {by} (sold|sells) (the)? most`,
      `${WHICH} {by} (sold|sells) (the)? most {tail}`
    ],
    ofRevenue(false)
  ],
  [
    [
      `${WHICH} {by} <spent> (the)? least (money)?`,
      `${WHICH} {by} <spent> (the)? least (money)? {tail}`,
      `${WHICH} {by} (sold|sells) (the)? least`,
      `${WHICH} {by} (sold|sells) (the)? least {tail}`
    ],
    ofRevenue(true)
  ],
  [
    [
      `${WHICH} {by} (did|do|have|had) {i} <earned> (the)? most (money)?`,
      `${WHICH} {by} (did|do|have|had) {i} <earned> (the)? most (money)? {tail}`
    ],
    ofRevenue(false)
  ],
  [
    [
      `${WHICH} {by} (did|do|have|had) {i} <earned> (the)? least (money)?`,
      `${WHICH} {by} (did|do|have|had) {i} <earned> (the)? least (money)? {tail}`
    ],
    ofRevenue(true)
  ],
  [["who <spent> (the)? most (money)?", "who <spent> (the)? most (money)? {tail}"], ofRevenue(false, CUSTOMER)],
  [["who <spent> (the)? least (money)?", "who <spent> (the)? least (money)? {tail}"], ofRevenue(true, CUSTOMER)],
  [["who (sold|sells) (the)? most", "who (sold|sells) (the)? most {tail}"], ofRevenue(false, OWNER)],
  [
    [
      "(the)? most (common|frequent|popular|used|wanted|requested|chosen) {by} (of|for|among|in) (the|our|all)? {m}",
      "busiest {by} (for|by|in|of|in terms of) {m}",
      `${WHICH} {by} (is|are|was|were) (the)? most (common|frequent|popular|used|wanted) (with|among|for|in|amongst|of) (the|our|all)? {m}`
    ],
    best(false, true)
  ],
  [["(the)? least (common|frequent|popular|used) {by} (of|for|among|in) (the|our|all)? {m}"], best(true, true)],
  [
    [
      "(the)? (top)? {n} {by} <have> (the)? <most> {m}",
      `${WHICH} (top)? {n} {by} <have> (the)? <most> {m}`,
      "(the)? <top> {n} {by} <ranking> (the|our)? {m}",
      "(the)? {n} {by} <have> (the)? <highest> {explicit}",
      "(the)? {n} <top> {by} <ranking> (the|our)? {m}"
    ],
    best(false)
  ],
  [
    [
      "(the)? {n} {by} <have> (the)? <fewest> {m}",
      `${WHICH} {n} {by} <have> (the)? <fewest> {m}`,
      "(the)? <bottom> {n} {by} <ranking> (the|our)? {m}",
      "(the)? {n} {by} <have> (the)? <lowest> {explicit}"
    ],
    best(true)
  ],
  [
    ["(the)? {by} <have> (the)? <most> {m}", "(the)? {by} <have> (the)? <highest> {explicit}"],
    (captures, context) => best(false, isOne(captures))(captures, context)
  ],
  [
    ["(the)? {by} <have> (the)? <fewest> {m}", "(the)? {by} <have> (the)? <lowest> {explicit}"],
    (captures, context) => best(true, isOne(captures))(captures, context)
  ],
  [
    ["<top> {by} <ranking> (the|our)? {explicit}"],
    (captures, context) => best(false, isOne(captures))(captures, context)
  ],
  [
    ["<lowest> {by} <ranking> (the|our)? {explicit}"],
    (captures, context) => best(true, isOne(captures))(captures, context)
  ],
  [
    ["<top> {by} (of|in|for) {when} <ranking> (the|our)? {explicit}"],
    ({ when, ...captures }, context) => best(false, isOne(captures))({ ...captures, tail: when! }, context)
  ],
  [
    ["<lowest> {by} (of|in|for) {when} <ranking> (the|our)? {explicit}"],
    ({ when, ...captures }, context) => best(true, isOne(captures))({ ...captures, tail: when! }, context)
  ],
  [
    ["<top> {by} (by|in terms of|based on|measured by|going by) (the)? (number of)? (the|our)? {m}"],
    (captures, context) => best(false, isOne(captures))(captures, context)
  ],
  [
    [
      "(the)? (ranking|leaderboard|rank|ranked list|ordering) of (the|our|all)? {by} (by|in terms of|based on) (the)? (number of)? (the|our)? {m}"
    ],
    best(false)
  ],
  [
    [
      "how much (money)? (did|has|have|does|do) (each|every|each of the|each of our) {by} <spent>",
      "how much (money)? (did|has|have|does|do) (each|every) {by} <spent> {tail}"
    ],
    ({ by, tail }, context) => {
      const measure = revenue(tail, context)
      return measure && { measure, by: [by!] }
    }
  ],
  [["rank (the|our|all)? {by} by {explicit}", "{by} (ranked|sorted|ordered)? by {explicit}"], best(false)],
  [
    [
      `${WHICH} {by} (do|are) (most|most of|the most of|the majority of) (the|our|all|all our)? {m} (come from|from|in|live in|based in|located in|have|work for|on|take place|take place on|happen|happen on|occur|start|fall on)`,
      `${WHICH} {by} (is|was|were|are) (the)? busiest (for|with|in terms of) {m}`
    ],
    best(false, true)
  ],
  // Groups with a condition.
  [
    [
      `${WHICH} {by} (that|who)? <have> {compared} {n} {m}`,
      "(the|all|any|are there any|is there any)? {by} (that|which|who)? <have> {compared} {n} {m}",
      "who <have> {compared} {n} {m}",
      `${WHICH} {by} <have> (exactly|only|just)? {n} {m}`,
      `${WHICH} {by} (do|did|have) {i} (have|got) {compared} {n} {m}`,
      `${WHICH} {by} (do|did|have) {i} (have|got) (exactly|only|just)? {n} {m}`,
      "(the|all)? {by} (that|which|who)? <have> (exactly|only|just) {n} {m}",
      "(the|all)? {by} (with|that have|who have|which have) {n} {m}",
      `${WHICH} {by} (where|in which|for which|with which) there (are|were) {compared} {n} {m}`,
      `${WHICH} {by} (where|in which|for which|with which) {i} (have|had) {compared} {n} {m}`,
      "(the|all)? {by} (where|in which|for which|with which) there (are|were) {compared} {n} {m}",
      "(the|all)? {by} (where|in which|for which|with which) {i} (have|had) {compared} {n} {m}"
    ],
    (captures, context) => having({ by: OWNER, ...captures }, context)
  ],
  [
    ["(the|all)? {by} (that|which|who)? <have> {n} or more {m}", `${WHICH} {by} <have> {n} or more {m}`],
    (captures, context) => having({ ...captures, compared: tokenize("at least") }, context)
  ],
  [
    [
      `${WHICH} {by} <have> {explicit} (of|worth)? {compared} {number}`,
      "(the|all)? {by} (with|that have|whose) {explicit} (of|is|are|was)? {compared} {number}"
    ],
    having
  ],
  [
    [
      `${WHICH} {by} (that|who)? (has|have|had)? <spent> {compared} {number} (dollars|euros|pounds)?`,
      "(the|all)? {by} (that|which|who)? (has|have|had)? <spent> {compared} {number} (dollars|euros|pounds)?"
    ],
    ({ by, compared, number }, context) => {
      const measure = revenue(undefined, context)
      const limit = measure && boundOf(compared, number!)
      return limit && { measure: measure!, by: [by!], having: limit }
    }
  ],
  // Shares.
  [["(what)? <share> of (the|our|all|all the|all our)? {m} {part}"], share],
  [["(out of|of|among) (the|our|all|all our|all the)? {m} (what|which)? <share> (is|are|was|were)? {part}"], share],
  [
    [
      "(the)? (top)? {n} {by} (who|that|which) <spent> (the)? most (money)?",
      "(the)? (top)? {n} {by} (who|that|which) <spent> (the)? most (money)? {tail}"
    ],
    ({ n, ...captures }, context) => {
      const asked = ofRevenue(false)(captures, context)
      return asked && { ...asked, best: { upwards: false, limit: numberOf(n!) } }
    }
  ],
  [["how much of (the|our|all)? {m} {part}"], share],
  [
    ["(what)? <share> of {value} (among|in|within|out of) (the|our|all|all our)? {m}"],
    ({ value, ...captures }, context) => share({ ...captures, part: [...tokenize("that are"), ...value!] }, context)
  ],
  [
    [
      `${WHICH} {by} (do|does|are|is|did) (the)? <fewest> {m} (have|has|in|belong to|work for|work at|come from|live in|with|from|own)`
    ],
    best(true, true)
  ],
  ...ROW_QUESTIONS,
  // Groups.
  [
    [
      "how (is|are|do|does|was|were) (the|our|all)? {m} (split|distributed|spread|divided|divide|broken down|split up)? <per> (the|our)? {by}",
      "(break|split|group|divide|sort|separate) (the|our|all)? {m} (down|up|out|apart)? (by|per|into|between|across) (the|our)? {by}",
      "{m} (split|distributed|spread|divided|broken down) (by|per|into|over) {by}",
      "(the)? {by} (mix|split|breakdown|distribution|spread) (of|for|among|across) (the|our)? {m}",
      "(the)? (mix|split|breakdown|distribution|spread) of (the|our)? {m} (by|per|across|over) (the|our)? {by}",
      "how (is|are|was|were) (the|our|all)? {m} (split|distributed|spread|divided|broken down) (over|between|among|across|into) (the|our)? {by}",
      "(what)? <share> of (the|our|all|all our)? {m} <per> (the|our)? {by}",
      "(by|per|for each|for every|in each) {by} {m}"
    ],
    grouped
  ],
  [
    ["<count>? (the|our|all)? {dates} <per> (the)? {period}", "<count>? (the|our|all)? {dates} {each}"],
    ({ dates, each, period }, context) => {
      const type = peopleOf(context)
      const label = folded(dates!).replace("-", " ").replace(/s$/, "")
      const dated = Condition.Not({ of: Condition.Empty({ words: label }) })
      const by = [...tokenize(each === undefined ? folded(period!) : EVERY[each[0]!.word]!), ...tokenize(`of ${label}`)]
      return (
        type && {
          measure: { figure: "count", lookup: { noun: { type, said: type.plural }, conditions: [dated] } },
          by: [by]
        }
      )
    }
  ],
  [
    ["(the|our)? {adjective} {lookup} <per> (the|our)? {by}"],
    (captures, context) => {
      const sorted = rows()(captures, context)
      return (
        sorted && {
          measure: { ...sorted.measure, figure: sorted.rows!.upwards === true ? "min" : "max" },
          by: [captures["by"]!]
        }
      )
    }
  ],
  [
    ["who (has|have|owns|handles|manages) how many {lookup}"],
    (captures, context) => counted({ ...captures, by: OWNER }, context)
  ],
  [
    [
      "how many {lookup} <does> (each|every|each of the|each of our|every one of our) {by} (have|own|got|handle|manage|look after|get)?",
      "how many {lookup} <does> (each|every|each of the|each of our) {by} (have|own|got|handle|manage|look after|get)? {tail}",
      "how many {lookup} (each|every) {by} (has|have|owns|manages|handles|looks after|takes care of|supports|gets|got)",
      "how many {lookup} <does> (you|they|there) (have|get|got|hold|had)? (in|for|on|per|at)? (each|every|per) {by}",
      "how many {lookup} <does> {i} (have|get|got|hold|had)? (in|for|on|per|at)? (each|every|per) {by}",
      "how many {lookup} <does> (you|they|there) (have|get|got|hold|had)? (in|for|on|per|at)? (each|every|per) {by} {tail}",
      "how many {lookup} <does> {i} (have|get|got|hold|had)? (in|for|on|per|at)? (each|every|per) {by} {tail}"
    ],
    counted
  ],
  [
    [
      "{m} <per> (the|our)? {by} (and|and by|and per|for each|for every|per|by) {other}",
      "{m} <per> (the|our)? {by} (and|and by|and per) {other} {tail}",
      "{m} <per> (the|our)? {by}",
      "{m} <per> (the|our)? {by} {tail}"
    ],
    grouped
  ],
  [
    ["{every} {explicit}"],
    ({ every, ...captures }, context) => grouped({ ...captures, by: tokenize(EVERY[every![0]!.word]!) }, context)
  ],
  [
    ["{m} {every}"],
    ({ every, ...captures }, context) => grouped({ ...captures, by: tokenize(EVERY[every![0]!.word]!) }, context)
  ],
  [
    ["{explicit}"],
    ({ explicit }, context) => {
      const measure = readMeasure("explicit", explicit!, context)
      return measure === undefined || measure.figure === "count" ? undefined : { measure, by: [] }
    }
  ]
)

export const FIGURE_QUESTIONS = [...COMPANION_QUESTIONS, ...OTHER_QUESTIONS]
