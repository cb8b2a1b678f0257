/** Other words for questions about meetings. */
import { ANYONE, type Paraphrases } from "./table.ts"

const MEET = "(meet|met|meet with|met with|see|seen|saw|talk to|talked to|speak to|spoken to)"
const CALENDAR = "(calendar|agenda|schedule|diary|plate|books)"

export const MEETING_PARAPHRASES: Paraphrases = [
  ...["morning", "afternoon", "evening"].map((part): Paraphrases[number] => [
    [`{rest} in the ${part} (of|on) {when}`],
    `{rest} {when} in the ${part}`
  ]),
  ...["before", "after", "at"].map((side): Paraphrases[number] => [
    [`{rest} (that|which) (began|begin|start|started|starts|begins|were|are|was|is) ${side} {clock}`],
    `{rest} ${side} {clock}`
  ]),
  [
    [
      "(on)? (what|which) (date|day) (of|in|during) {when} (did|have) i last (see|meet|meet with|seen|met|met with) (with)? {full}",
      "when (did|have) i last (see|meet|meet with|seen|met|met with) (with)? {full} {when}"
    ],
    "my last meeting with {full} {when}"
  ],
  [
    [
      "(the)? last time (that)? (i|we) (saw|met|met with|spoke to|talked to) {full} was (when|what day|which day)",
      "(when was)? (the)? last time (that)? (i|we) (saw|met|met with|spoke to|talked to) {full}"
    ],
    "when did i last meet {full}"
  ],
  [
    [
      "(with)? (what|which) (companies|firms|customers|clients) (did|do|will|have) i (have|had|got) (a|an|any)? {rest} with {when}",
      "with (what|which) (companies|firms|customers|clients) (did|do|will|have) i (have|had|got) (a|an|any)? {rest} {when}"
    ],
    "list my {rest} {when}"
  ],
  [
    [
      "(who|whom) (had|has|held) (a|an|the)? {rest} with me {when}",
      "(which|what) (people|persons) (did|do|will|have) i (have|had|got) (a|an|any)? {rest} with {when}"
    ],
    "list my {rest} {when}"
  ],
  [
    [
      "(list|name|tell me|show me|show|give me|who are|who were)? (all|everyone|everybody)? (the)? (people|persons|everyone|everybody) (that|who|whom)? i (met|saw|met with|spoke to|talked to) {when}"
    ],
    "who did i meet {when}"
  ],
  [
    ["who are (all)? (the)? (people|persons) (that|who|whom)? i (am|will be) (meeting|seeing|meeting with) {when}"],
    "who am i meeting {when}"
  ],
  [["{row} (with|who with) (who|whom)?"], "who attended {row}"],
  [
    [
      `(what|which) (thing|things)? (was|were) (on|in) my ${CALENDAR} {when}`,
      `{when} (what|which) (was|were) (on|in) my ${CALENDAR}`
    ],
    "what did i have {when}"
  ],
  [["how many minutes took {row}"], "how long was {row}"],
  // Before "from Cedar Labs": "from 16 to 20 October".
  [["(who|whom) did i (see|meet|meet with) {when}"], "who did i meet {when}"],
  [
    [
      "(what time|when|at what time) (did|do|will) i (see|meet|meet with|have) {name} {when}",
      "(on)? (which|what) (days|dates|day|date) (did|do|will) i (see|meet|meet with) {name} {when}",
      "(who|whom) (did|do|will) i (see|meet|meet with) (from|at|of) {name} {when}"
    ],
    "my meetings with {name} {when}"
  ],
  [
    [
      "(which|what)? (companies|firms|clients) (am i|i am) (meeting|seeing|visiting) (with)? {when}",
      "(which|what)? (companies|firms|clients) (do|will|did) i (meet|see|visit) {when}"
    ],
    "my meetings {when}"
  ],
  [["(who|whom) (are|is|were|was) my {plural} with {when}"], "my {plural} {when}"],
  [["(who|whom) (is|was) (my|the) {hour} (meeting|call|appointment) with {when}"], "my meetings {when} at {hour}"],
  [["(which|what) (person|people) (did|have|do|will) i (see|meet|met|seen) {when}"], "who did i meet {when}"],
  [["(the)? number of times (that)? i (met|saw|met with) {rest}"], "how many times did i meet {rest}"],
  [
    [
      "(everyone|everybody|people|the people|all the people) (that|who|whom)? i (had|have|held) (a|an|the)? {rest} with {when}"
    ],
    "my {rest} {when}"
  ],
  [["how long (will|does|did|do) {rest} (take|last) {when}"], "how long is {rest} {when}"],
  [["how many {one} (was|am|were) {i} in {meeting}"], "how many {one} did {i} spend in {meeting}"],
  [["(what time|at what time) (is|are|was|were) {row}"], "when was {row}"],
  [["(what is|what was|give me|tell me)? (the)? (date|day|time) of {row}"], "when was {row}"],
  [
    [
      "(what time|when|at what time|at which time) (did|does|do|will) {rest} (begin|start|take place|happen|kick off|commence) {when}"
    ],
    "when was {rest} {when}"
  ],
  [
    [
      "(who|whom) (was|is|were|will be|attended) (in|at)? (my|the) {hour} (meeting|call|appointment) {when}",
      "(who|whom) (did|do|will) i (meet|see|have) (in|at|for) (my|the) {hour} (meeting|call|appointment) {when}",
      "(what is|what was|when is|when was)? (my|the) {hour} (meeting|call|appointment) {when}"
    ],
    "my meetings {when} at {hour}"
  ],
  [
    [
      "(who|whom) (did|do|will|have) i (meet|see|met|seen) at {clock} {when}",
      "(who|whom) (am|was) i (meeting|seeing) at {clock} {when}"
    ],
    "my meetings {when} at {clock}"
  ],
  [
    [
      "(am|was) i (seeing|meeting|meeting with|talking to) {name} {when} (what time|at what time|when|which time)",
      "(when|what time|at what time) (am|was) i (seeing|meeting|meeting with|talking to) {name} {when}"
    ],
    "my meetings with {name} {when}"
  ],
  [
    [
      "(which|what) (company|firm|customer|client) (is|was) {row} with",
      "with (which|what) (company|firm|customer|client) (is|was) {row}"
    ],
    "{row}"
  ],
  [
    ["how many {lookup} will {i} have {when}", "how many {lookup} (am|are) {i} having {when}"],
    "how many {lookup} do {i} have {when}"
  ],
  [
    [
      "how many {one} (in total|altogether|overall|all in all|all together) (did|do|have) {i} (spend|spent|have|had|sit|sat) (in|on|with)? {meeting}"
    ],
    "how many {one} did {i} spend in {meeting}"
  ],
  [
    ["(how much time|how long) (did|do|have) {i} (spend|spent|sit|sat) (in|on) {meeting}"],
    "how many minutes did {i} spend in {meeting}"
  ],
  [
    [
      "how many {one} (did|does|has) {full} (spend|spent|sit|sat) (in|on) {meeting} (altogether|in total|overall|all together)?",
      "how much {one} (did|does|has) {full} (spend|spent|sit|sat) (in|on) {meeting} (altogether|in total|overall|all together)?"
    ],
    "total {one} of {meeting} with {full}"
  ],
  // Someone else's time.
  [
    [
      "what (does|did|will|has) {name} (have|got) (on|planned|scheduled|coming up|going on)? (on|for)? {when}",
      `what is (on|in) {name} 's ${CALENDAR} (on|for)? {when}`,
      `what (does|did) {name} 's ${CALENDAR} look like (on|for)? {when}`,
      `(show|show me|give me|list)? {name} 's ${CALENDAR} (on|for)? {when}`
    ],
    "what meetings does {name} have {when}"
  ],
  [[`(did|have|had|do|will) i ${MEET} ${ANYONE} (from|at|of) {place} {when}`], "my meetings with {place} {when}"],
  [[`(did|have|had|do|will) i ${MEET} ${ANYONE} (from|at|of) {place}`], "my meetings with {place}"],
  [[`(did|have|had|do|will) we ${MEET} ${ANYONE} (from|at|of) {place} {when}`], "meetings with {place} {when}"],
  [[`(did|have|had|do|will) we ${MEET} ${ANYONE} (from|at|of) {place}`], "meetings with {place}"],
  [["what my {when} looks like", "how my {when} looks"], "what does my {when} look like"],
  [
    ["how many {meeting} (had|has) {name} with {rival} {when}"],
    "how many {meeting} did {name} have with {rival} {when}"
  ],
  [["what is (on|planned|scheduled|happening) (for|on)? {when}"], "what do i have {when}"],
  [["(who|whom) (was|is|were|did i have) (in|at) (the|my) {when}"], "who did i meet {when}"],
  [
    ["{name} and (i|me) (how often|how many times) (did|have) we (meet|met|see each other) {when}"],
    "how many times did i meet {name} {when}"
  ],
  [["(me|i) and {name} (met|saw each other|have met) (how often|how many times)"], "how many times have i met {name}"],
  [
    ["(me|i) and {name} (met|saw each other) (how often|how many times) {when}"],
    "how many times did i meet {name} {when}"
  ],
  [["how (is|are|was|were) {answer} called", "what (is|are|was|were) {answer} called"], "{answer}"],
  [
    ["what is (next|up next|next up|coming up next) (on|in)? (my|the)? (calendar|agenda|schedule|diary)?"],
    "what is my next meeting"
  ],
  [["(when was)? (the|my|our)? (very)? first time {i} (met|saw|met with) {name}"], "my first meeting with {name}"],
  [
    ["what (is|was|were) {meeting} about", "(what is|what was)? (the)? (topic|subject|title|name) of {meeting}"],
    "{meeting}"
  ],
  [
    [
      "(which|what|on which|on what) (days|dates|day|date) (of|in|during) {when} (had|have|has|did i have|was there|were there) (a|an|any)? {rest}",
      "(which|what|on which|on what) (days|dates|day|date) (did|do|have) i (have|had) (a|an|any)? {rest} {when}"
    ],
    "list {rest} {when}"
  ],
  [["(list|give me|show|show me)? (the|all)? (days|dates) of {rest}"], "list {rest}"],
  [["(when|what time|at what time) (does|did|will) my day (start|begin) (on)? {when}"], "my first meeting {when}"],
  [
    [
      "how (packed|full|busy|booked) (was|is|were) (i|my day)? (on)? {when}",
      "(is|was) {when} (busy|full|packed|free|empty|open|booked|a busy day)"
    ],
    "what do i have {when}"
  ],
  [["what (is|was|are|were) {meeting} (called|named)", "which (one)? (is|was|are|were) {meeting}"], "{meeting}"],
  [
    [
      "(at what time|at which time|what time|when|on which day|on what day) (starts|begins|started|began|was starting) {rest}"
    ],
    "when was {rest}"
  ],
  [
    ["(with)? (who|whom) (was|were|did i have) {rest} with", "with (who|whom) (was|were|did i have) {rest}"],
    "who attended {rest}"
  ],
  [["when (is|was) {rest} (scheduled|planned|happening|taking place|due)"], "when was {rest}"],
  [["(who|whom) (was|is|were|are) with me (in|at|for) (the|my)? {rest}"], "who attended {rest}"],
  [
    [
      "(how many times|how often) do {name} and i (meet|see each other)",
      "(how many times|how often) do i (meet|see|meet with) {name}"
    ],
    "how many times have i met {name}"
  ],
  [["when did {i} first (meet|see|meet with) {name}"], "my first meeting with {name}"],
  [["how many {rest} (are|were) (there)? (in|on) (my|the) (calendar|schedule|diary|agenda)"], "how many {rest}"],
  [
    ["how many {rest} (are|were) (there)? (in|on) (my|the) (calendar|schedule|diary|agenda) {when}"],
    "how many {rest} {when}"
  ],
  [
    [
      "(what|which) (people|persons|colleagues|coworkers|teammates) (did|do|will|have) {i} (meet|met|see|seen|meet with|met with) {when}"
    ],
    "who did {i} meet {when}"
  ],
  [
    [
      "(how many times|how often) (did|have)? (me|i) and {name} (met|meet|have met|saw each other|see each other) {when}",
      "(how many times|how often) (did|have)? {name} and me (met|meet|have met|saw each other|see each other) {when}"
    ],
    "how many times did i meet {name} {when}"
  ],
  [
    [
      "when i (met|saw|met with) {name} (last|last time|the last time|for the last time)",
      "when (did|have) i (meet|see|met|seen|meet with) {name} (last time|the last time|for the last time)"
    ],
    "when did i last meet {name}"
  ],
  [
    [
      "how many {one} (did|have) {name} and (i|me) (spend|spent|sit|sat|meet|met|have|had) (together)? {when}",
      "how many {one} (did|have) (i|me) and {name} (spend|spent|sit|sat|meet|met|have|had) (together)? {when}"
    ],
    "how many {one} did i spend with {name} {when}"
  ],
  [
    [
      `(what|which) {lookup} (did|do|have|will) {name} and i (have|had|get|share|hold)? {when}`,
      `(what|which) {lookup} (did|do|have|will) i and {name} (have|had|get|share|hold)? {when}`
    ],
    "my {lookup} with {name} {when}"
  ],
  [
    [
      `how many {lookup} (did|do|have|will) {name} and i (have|had|get|share|hold)? {when}`,
      `how many {lookup} (did|do|have|will) i and {name} (have|had|get|share|hold)? {when}`
    ],
    "how many {lookup} with {name} {when} did i have"
  ],
  [
    ["(how many times|how often) (did|have) {name} and {i} (meet|met|see each other|seen each other) {when}"],
    "how many times did {i} meet {name} {when}"
  ],
  [
    ["(how many times|how often) (did|have) {name} and {i} (meet|met|see each other|seen each other)"],
    "how many times have {i} met {name}"
  ],
  [
    ["(in|at|to) how many {lookup} (was|is|were) {name} (there|present|involved|invited|in attendance)?"],
    "how many {lookup} with {name}"
  ],
  [
    ["(in|at|to) (what|which) {lookup} (was|is|were) {name} (there|present|involved|invited|in attendance)?"],
    "list {lookup} with {name}"
  ],
  [["(what|which) {noun} {rest} (did|do|have|will) i (have|got|get|attend) {when}"], "my {noun} {when} {rest}"],
  [
    [
      "(who|whom) (am|was|are|were) i (meeting|seeing|meeting with) (for|at|in|during) (the|my) {rest}",
      "(who|whom) (am|was|are|were) i (meeting|seeing|meeting with) (for|in|during) {rest}"
    ],
    "who attended {rest}"
  ],
  [
    [
      "(when was)? (the|my|our)? last time {name} and (i|me) (met|saw each other|had a meeting|have met)",
      "(when was)? (the|my|our)? last time (i|me) and {name} (met|saw each other|had a meeting|have met)",
      "when did {name} and (i|me) last (meet|see each other|have a meeting)",
      "when did (i|me) and {name} last (meet|see each other|have a meeting)"
    ],
    "when did i last meet {name}"
  ],
  [
    ["(who|whom) (did|do|will|have) i (have|got|had)? {rest} with {when}", "(who|whom) (is|was) {rest} with {when}"],
    "list {rest} {when}"
  ],
  [["(who|whom) (did|do|will|have) i (have|got|had)? {rest} with", "(who|whom) (is|was) {rest} with"], "list {rest}"],
  [
    [
      "(what time|when|at what time|at which time) (did|does|do|will) {rest} (begin|start|take place|happen|kick off|commence)"
    ],
    "when was {rest}"
  ],
  [
    ["(what time|when|at what time|at which time) (did|do) (i|we) (start|begin|kick off|have|hold|attend|open) {row}"],
    "when was {row}"
  ],
  [
    [
      "(for)? how (many minutes|long) (was|is|were) {row} (scheduled|planned|booked|set|down) (for)?",
      "how many minutes (did|does|do|will|was|is) {row} (take|last|take up|run|go on|go on for|be|run for)?",
      "(for)? how (many minutes|long) (did|does|do|will) {row} (take up|go on for|run for)"
    ],
    "how long was {row}"
  ],
  [["how many {rest} were there {when}"], "how many {rest} {when}"],
  // What is still ahead in this month hasn't been held.
  [
    ["how many {rest} (took place|happened|occurred|were held|have been held|have taken place) {when}"],
    "how many {rest} have there been {when}"
  ],
  [["with (whom|who) (was|is|did i have|do i have|will i have) {rest}"], "who attended {rest}"],
  [
    [
      "(who|whom) (came to|attended|was at|was in|is at|joined|took part in|showed up at|turned up at|sat in on|was there for|participated in) (the|my|our)? {bare}"
    ],
    "who attended the {bare}"
  ],
  [
    ["(what|how) (was|is|did|does) my morning (like|look like|look)? (on)? {when}"],
    "what did i have {when} in the morning"
  ],
  [
    ["(what|how) (was|is|did|does) my afternoon (like|look like|look)? (on)? {when}"],
    "what did i have {when} in the afternoon"
  ],
  [
    ["(how many times|how often) (did|have|do)? (me|i) and {name} (met|meet|have met|see each other)"],
    "how many times have i met {name}"
  ],
  [
    ["when did {i} (meet|see|meet with) {name} (for the first time|the first time|first)"],
    "my first meeting with {name}"
  ],
  [["did i (meet|see|meet with) {name} or {rival} {when}"], "my meetings with {name} or {rival} {when}"],
  [["(who|whom) did {i} (see|meet|meet with) (at|in|during) (the|my)? {rest}"], "who attended {rest}"],
  [["how many {weekday} {noun} {when}"], "how many {noun} on every {weekday} {when}"],
  [["(the|my|our)? {weekday} {noun} {when}"], "{noun} on every {weekday} {when}"],
  ...["morning", "afternoon", "evening"].flatMap((part): Paraphrases => [
    [[`(show|show me|list|give me|what are|what were)? my ${part} {noun} {when}`], `my {noun} {when} in the ${part}`],
    [
      [`(show|show me|list|give me|what are|what were)? (the|our)? ${part} {noun} {when}`],
      `{noun} {when} in the ${part}`
    ]
  ]),
  [
    ["(the)? total {one} (that)? {full} (was|were|spent|sat|had|has been|attended) (in|of)? {meeting}"],
    "total {one} of {meeting} with {full}"
  ],
  [["(the)? total {one} (that)? {i} (spent|have spent|had|sat) {rest}"], "how many {one} did {i} spend {rest}"]
]
