/** Other words for questions for figures. */
import { type Paraphrases } from "./table.ts"

const PERIOD = "(of|in|during|for)"

const MINE: Paraphrases = [
  [["my busiest {period} (for|of|by|in terms of|with) {noun}"], "which {period} did i have the most {noun}"],
  [["my quietest {period} (for|of|by|in terms of|with) {noun}"], "which {period} did i have the fewest {noun}"],
  [
    ["(which|what) {period} (was|is) my busiest", "(what|which) (was|is) my busiest {period}", "my busiest {period}"],
    "which {period} did i have the most meetings"
  ],
  [
    [
      "(which|what) {period} (was|is) my quietest",
      "(what|which) (was|is) my quietest {period}",
      "my quietest {period}"
    ],
    "which {period} did i have the fewest meetings"
  ],
  [
    ["(which|what) {period} (was|is) my busiest (for|by|in terms of|with) {lookup}"],
    "which {period} did i have the most {lookup}"
  ],
  [
    [
      "(what|which) (was|is)? my busiest {period} {conds}",
      "(which|what) {period} (was|is) my busiest {conds}",
      "my busiest {period} {conds}"
    ],
    "which {period} did i have the most meetings {conds}"
  ],
  [
    ["(which|what) {by} (of|in) {when} (is|was|were) my busiest (for|with|in terms of|by) {rest}"],
    "which {by} in {when} did i have the most {rest}"
  ]
]

/** "Revenue month by month". */
const BY_PERIOD: Paraphrases = ["day", "week", "month", "quarter", "year"].flatMap((period): Paraphrases => {
  const each = `${period} (by|for|after|on) ${period}`
  return [
    [[`{rest} ${each} (in|of|for|during) {when}`], `{rest} in {when} per ${period}`],
    [[`{rest} ${each}`], `{rest} per ${period}`]
  ]
})

/** "Cities where at least two of our customers live". */
const WHERE: Paraphrases = ["at least", "more than", "fewer than", "less than", "exactly", "only", "at most"].map(
  (bound) => [
    [
      `(which|what|the|all|any)? {by} (where|in which|at which|with which) ${bound} {n} (of the|of our|of my)? {noun} (live|are|work|sit|are based|come from)`
    ],
    `which {by} have ${bound} {n} {noun}`
  ]
)

export const FIGURE_PARAPHRASES: Paraphrases = [
  ...MINE,
  [
    [
      "(where|in which country|in which city|in which one|in which of the two) (do|did|are) (more|most) {noun} (live|come from|sit|based|located|work) {proper} or (in)? {place}"
    ],
    "are there more {noun} in {proper} or in {place}"
  ],
  ...["most", "fewest"].map((most): Paraphrases[number] => [
    [
      `(which|who) of my {noun} (has|have|had|got) (the)? ${most === "most" ? most : "(fewest|least)"} {plural}`,
      `(which|what) (one)? of my {noun} (has|have|had|got) (the)? ${most === "most" ? most : "(fewest|least)"} {plural}`
    ],
    `which {noun} has the ${most} {plural} of my {noun}`
  ]),
  [
    ["(with|for|at) (which|what) {by} (did|do|have) {i} (have|had|got|get)? (the)? most {noun}"],
    "which {by} did {i} have the most {noun}"
  ],
  [
    [
      "(what is|what was)? (the)? total (amount|sum|money)? (that|which)? {name} (has|have)? (spent|paid) (with us|here|so far|to date)?",
      "(what is|what was)? (the)? total (amount|sum)? (spent|paid) by {name} (with us|here|so far|to date)?"
    ],
    "how much has {name} spent"
  ],
  [["(name|tell me)? (the)? {answer} (we|that we|which we) (sell|have|offer|stock|carry|own)"], "{answer}"],
  ...BY_PERIOD,
  ...WHERE,
  [
    [
      "{lookup} counted (for|by|per) (each|every)? {by}",
      "{lookup} (how many|a count|counted) (in|for|of|per) each {by}"
    ],
    "{lookup} per {by}"
  ],
  [["{lookup} how many (in|for|of|per) each {by}"], "{lookup} per {by}"],
  [
    [
      "(do|does|did|are there) any {by} (have|has|with|that have|who have) {n} or more {noun}",
      "(do|does|did|are there) any {by} (have|has|with|that have|who have) at least {n} {noun}"
    ],
    "which {by} have at least {n} {noun}"
  ],
  [
    [
      "(if i take|take|taking|only|just)? {lookup} (what|how much) (is|are|was) (the|their)? (total|sum|grand total)",
      "(only|just)? {lookup} (what|how much) (do|does|did) (they|it|those|these|that) (add up to|come to|amount to|sum up to)"
    ],
    "total of {lookup}"
  ],
  [
    ["(what is|give me)? (the)? (sum|total) of (all|all the)? {noun} (for|from|of) {name}"],
    "total of {noun} of {name}"
  ],
  [
    [
      "(which|what) (was|is) (our|the) (weakest|worst|poorest) {period} (going by|judging by|by|in terms of|for) (the)? (revenue|sales|turnover)"
    ],
    "which {period} had the lowest revenue"
  ],
  [
    [
      "(which|what) (was|is) (our|the) (strongest|best) {period} (going by|judging by|by|in terms of|for) (the)? (revenue|sales|turnover)"
    ],
    "which {period} had the highest revenue"
  ],
  [["how much (have|did|do) we (invoice|invoiced|bill|billed) (to|in|for)? {proper}"], "revenue in {proper}"],
  [
    ["how much (have|did|do) we (invoice|invoiced|bill|billed) (to|in|for)? {proper} {when}"],
    "revenue in {proper} {when}"
  ],
  [
    [
      "(show|show me|give me|what is|what was|list)? (the)? invoice (total|totals) (per|by|for each|for every|of each|of every|each|every) {rest}"
    ],
    "revenue per {rest}"
  ],
  [
    ["(list|show|show me|give me)? (the)? top {n} {by} (by|in terms of|going by) invoice (total|totals)"],
    "top {n} {by} by revenue"
  ],
  [
    ["(which|what) {period} (of|in) {when} had the (highest|biggest|largest) invoice (total|totals)"],
    "which {period} in {when} had the highest revenue"
  ],
  [
    ["(which|what) {period} (of|in) {when} had the (lowest|smallest) invoice (total|totals)"],
    "which {period} in {when} had the lowest revenue"
  ],
  [
    ["(which|what) {by} had the (highest|biggest|largest) invoice (total|totals)"],
    "which {by} has the highest revenue"
  ],
  [["(which|what) {noun} (has|have) (spent|paid) (the)? most (money)? {when}"], "who spent the most {when}"],
  [["(which|what) {noun} (has|have)? (spent|paid) (the)? most (money)?"], "who spent the most"],
  [
    ["what (share|percentage|percent|proportion) of {lookup} (is|are) (from|in) {rest}"],
    "what percentage of {lookup} are in {rest}"
  ],
  [
    ["(what is|what was|give me)? (the)? total (number of|amount of)? {one} minutes {when}"],
    "total minutes of {one} {when}"
  ],
  [
    [
      "(what is|what was|show|give me)? (the)? average {one} (length|duration) in (minutes|milliseconds|seconds|hours|days) (for|per|by|of|in) {rest}"
    ],
    "average length of {one} per {rest}"
  ],
  [
    ["how (long|many milliseconds) (is|are|was|were) (a|an|the)? {rest} on average in milliseconds"],
    "average milliseconds of {rest}"
  ],
  [["how many (different|distinct) {one} (names|titles) are there"], "how many different names of {one}"],
  [["(the)? {noun} who (spent|paid) (the)? most (money)? {when}"], "who spent the most {when}"],
  [
    ["(which|the|all)? {by} (that|which|who) (got|get|have|has|had|received) {n} {noun} or more (from us)?"],
    "which {by} have at least {n} {noun}"
  ],
  [
    ["(which|the|all)? {by} (that|which|who) (got|get|have|has|had|received) at least {n} {noun} (from us)?"],
    "which {by} have at least {n} {noun}"
  ],
  [["(on average)? how many minutes (did|do|does) {lookup} (take|last) (on average)?"], "average minutes of {lookup}"],
  [["(on average|on avg) how long (are|were) {lookup} (in minutes|minutes)?"], "average minutes of {lookup}"],
  [
    ["how long (does|did|do) (a|an|the)? {noun} (last|take|run) on average {when} (in minutes)?"],
    "average minutes of {noun} {when}"
  ],
  [
    [
      "(what)? (do|does|did)? {lookup} (come|add up) to in minutes",
      "add up the minutes of (all|all of)? (the|our)? {lookup}"
    ],
    "total minutes of {lookup}"
  ],
  [
    ["(what|how much) did each {by} (bring in|make|generate|earn|sell) (during|in|for) {when}"],
    "sales per {by} in {when}"
  ],
  [["(what|how much) did each {by} (bring in|make|generate|earn|sell)"], "sales per {by}"],
  [
    ["(give me|show me|show|list|get me)? (the|our)? {noun} (count|counts|numbers) (for|per|by) (every|each)? {by}"],
    "{noun} per {by}"
  ],
  [
    [
      "(the)? {by} (that|which|who) (brought|brings|made|makes|earned|earns|generated|generates|gave|gives) (us|in|us in)? (the)? most (revenue|money|sales|income|turnover)",
      "(which|what) {by} (has|have)? (brought|brings|earned|earns|generated|generates) (us|in|us in)? (the)? most (revenue|money|sales|income|turnover)"
    ],
    "which {by} has the highest revenue"
  ],
  [
    [
      "(what|which) {period} of {when} (was|is) (our|the)? (strongest|best) (by|in|for|in terms of) (revenue|sales|turnover)"
    ],
    "which {period} in {when} had the highest revenue"
  ],
  [
    ["(on|in|for|with|at)? (which|what) {by} (have|did|do) we (lost|lose) the most {noun}"],
    "which {by} has the most lost {noun}"
  ],
  [
    ["(on|in|for|with|at)? (which|what) {by} (have|did|do) we (won|win) the most {noun}"],
    "which {by} has the most won {noun}"
  ],
  [["(which|what) {by} (have|has|had|got) a dozen {noun} or more"], "which {by} have at least 12 {noun}"],
  [["(which|what) {by} (have|has|had|got) {n} {noun} or more"], "which {by} have at least {n} {noun}"],
  [["(which|what) {by} (have|has|had|got) {n} {noun} or (fewer|less)"], "which {by} have at most {n} {noun}"],
  [
    ["(what is|which is)? (the|our) busiest {period} (going by|judging by|by|in terms of) (the)? (number of)? {noun}"],
    "which {period} had the most {noun}"
  ],
  [["{proper} (sales|revenue|turnover) (in|of|for)? {when}"], "sales in {proper} {when}"],
  [
    [
      "(what is|give me|show me|show|list)? (the)? (share|percentage|proportion|percentages|shares) of (each|every) {by} (among|in|of|for|across) (the|our|all|all our)? {lookup} (in percent)?"
    ],
    "{lookup} by {by}"
  ],
  [["(the|our)? busiest {period} (for|of|by|in terms of|with) {noun}"], "which {period} had the most {noun}"],
  [["(the|our)? quietest {period} (for|of|by|in terms of|with) {noun}"], "which {period} had the fewest {noun}"],
  [
    [
      "(in)? (which|what) {period} (of|in) {when} (did|do|have) {i} (meet|see|met|seen|meet with) {name} (the)? (most|most often|most frequently)"
    ],
    "which {period} in {when} did {i} have the most meetings with {name}"
  ],
  [
    ["(in)? (which|what) {period} (did|do|have) {i} (meet|see|met|seen|meet with) {name} (the)? (most|most often)"],
    "which {period} did {i} have the most meetings with {name}"
  ],
  [
    ["how many minutes (did|do|does) {lookup} (take|last|take up) (altogether|in total|overall|together)?"],
    "total minutes of {lookup}"
  ],
  [
    ["(which|what) {period} (was|is) (the|our)? busiest", "(the|our)? busiest {period}"],
    "which {period} had the most meetings"
  ],
  [
    ["(which|what) {period} (was|is) (the|our)? quietest", "(the|our)? quietest {period}"],
    "which {period} had the fewest meetings"
  ],
  [
    ["(which|what) {period} (was|is) (the|our)? busiest (for|by|in terms of|with) {lookup}"],
    "which {period} had the most {lookup}"
  ],
  [
    ["(the|our)? busiest {period} {conds}", "(which|what) {period} (was|is) (the|our)? busiest {conds}"],
    "which {period} had the most meetings {conds}"
  ],
  [
    ["(what|which) {by} (do|does|did|have|has) {lookup} (use|want|have|buy|need|go for|take|like|bought|chosen)"],
    "{lookup} per {by}"
  ],
  [
    [
      "(what is|which is)? (the|our)? most (popular|common|frequent) {by} (by|in terms of|going by|measured by|judging by) (the)? (number|count|amount) of {lookup}"
    ],
    "most popular {by} among {lookup}"
  ],
  [
    [
      "(what is|which is)? (the|our)? least (popular|common|frequent) {by} (by|in terms of|going by|measured by|judging by) (the)? (number|count|amount) of {lookup}"
    ],
    "least popular {by} among {lookup}"
  ],
  [
    [
      "(which|who) (of|in|on|from|among) (us|the team|our team|the sales team|our sales team|the reps|our reps|our salespeople|the salespeople|our people|my colleagues|our colleagues|the colleagues|the account managers|our account managers) (has|have|had|owns|looks after|handles|manages) {rest}",
      "(which|what) (rep|salesperson|sales rep|account manager|colleague|team member) (has|have|had|owns|looks after|handles|manages) {rest}"
    ],
    "who has {rest}"
  ],
  [
    [
      "how (are|is|do) {lookup} (spread|split|distributed|divided|divide|divide up|divided up|broken down|split up|spread out|shared out|break down|break up|fall|stack up|add up) (across|over|by|between|among|into|per) (the|our|different|the different)? {by}"
    ],
    "{lookup} per {by}"
  ],
  [
    ["(which|what) {by} (of|in) {when} (is|was|were) (the|our)? busiest (for|with|in terms of|by) {rest}"],
    "which {by} in {when} had the most {rest}"
  ],
  [
    [
      "(in|on|during)? (what|which) {by} " +
        PERIOD +
        " {when} (did|do|have) {i} (have|had|get|got|hold|held) (the)? {rest}"
    ],
    "which {by} in {when} did {i} have the {rest}"
  ],
  [
    ["(in|on|during) (what|which) {by} (did|do|have) {i} (have|had|get|got|hold|held) (the)? {rest}"],
    "which {by} did {i} have the {rest}"
  ],
  [
    [
      "(give|give me|show|show me|get me|i need)? (a|the)? (breakdown|split|count) (of|for) {lookup} (by|per|across|over) {rest}"
    ],
    "{lookup} per {rest}"
  ],
  [
    [
      "(the number of|number of|how many)? {lookup} (split out|split up|broken out|grouped|counted|summed up|sorted out) (by|per|for each|for every) {rest}"
    ],
    "{lookup} per {rest}"
  ],
  // After all shapes that say more.
  [["how many minutes (long)? (was|is|did|does|will) {rest} (take|last|be)?"], "how long was {rest}"],
  [["(what|which) (day|date) (was|is) {rest}", "on (what|which) (day|date) (was|is) {rest}"], "when was {rest}"]
]
