/** Other words for lists and their numbers. */
import { ANYONE, type Paraphrases, WE } from "./table.ts"

const BUSY =
  "(sitting on|working on|juggling|dealing with|responsible for|in charge of|looking after|handling|managing|working with|taking care of|left with)"
const LOOKED_AFTER = "(look after|manage|handle|own|have|work on|work with|deal with|take care of)"

const FOLLOW_UPS = "(follow-ups|follow ups|followups|follow-up|follow up)"
const OVERDUE = "(overdue|late|past due|in the past|over due)"

const LATEST = "(latest|newest|most recent|last)"
const EARLIEST = "(earliest|oldest|first|soonest)"

export const LIST_PARAPHRASES: Paraphrases = [
  ...["from", "in"].map((place): Paraphrases[number] => [
    [`(which|what) {noun} is ${place} {place}`],
    `{noun} ${place} {place}`
  ]),
  ...["by", "from", "of"].map((side): Paraphrases[number] => [
    [`{rest} ${side} the (band|group|artist|singer) {proper}`],
    `{rest} ${side} {proper}`
  ]),
  [["how many (of)? {lookup} (have|has) {one} as (their|its|the|a) {column}"], "how many {lookup} with {column} {one}"],
  [
    ["(which|what|who|list)? (of)? {lookup} (have|has|with) {one} as (their|its|the|a) {column}"],
    "list {lookup} with {column} {one}"
  ],
  [
    ["{lookup} (except|but not|without|not) (the|those)? (ones|one) (for|with|in|on|from) {one}"],
    "{lookup} except {one}"
  ],
  [["{lookup} (except|but not|without|not) (the|those)? (ones|one) {when}"], "{lookup} not {when}"],
  [
    ["(do|does) (we|i|you) (know|have) (anybody|anyone|somebody|someone|people) (at|from) {place}"],
    "who do we know at {place}"
  ],
  [
    [
      "which of {lookup} (has|have) gone (the)? longest (time)? without (contact|a contact|a call|being contacted|hearing from us)"
    ],
    "which of {lookup} have i not contacted the longest"
  ],
  [["which of {lookup} (bought|ordered|purchased) (something|anything) {when}"], "{lookup} with an invoice {when}"],
  [
    ["how many (of)? {lookup} (have|has|are in|are at) the {concept} {proper}"],
    "how many {lookup} with {concept} {proper}"
  ],
  [
    ["(which|what|who|list)? (of)? {lookup} (have|has|are in|are at) the {concept} {proper}"],
    "list {lookup} with {concept} {proper}"
  ],
  [
    [
      "{lookup} (have|has|with|having) {rest} at the (beginning|start|front) of (their|the|its) (name|names|title|titles)",
      "{lookup} (whose|where the) (name|names|title|titles) (has|have) {rest} at the (beginning|start|front)"
    ],
    "{lookup} starting with {rest}"
  ],
  [
    [
      "how many {lookup} (have|has|with|having) {rest} at the (beginning|start|front) of (their|the|its) (name|names|title|titles)"
    ],
    "how many {lookup} starting with {rest}"
  ],
  [
    [
      "(list|show|show me|give me|find|get me)? (the|all|all the)? {lookup} (but)? (leave out|leaving out|without|skip|skipping|exclude|excluding|ignore|ignoring|not|no) (the)? {one} (ones)? (and|or) (the)? {other} (ones)?"
    ],
    "list {lookup} who are not {one} or {other}"
  ],
  [
    [
      "(list|show|show me|give me|find|get me)? (the|all|all the)? {lookup} but (leave out|leaving out|skip|skipping|exclude|excluding|ignore|ignoring) (the)? {one} (ones)?"
    ],
    "list {lookup} except {one}"
  ],
  [
    ["(with|for) how many of {lookup} (was|is) (the|our|my) (last|latest) contact {when}"],
    "how many {lookup} last contacted {when}"
  ],
  [
    [
      "(of|among|out of) {lookup} (who|whom|which one) (have|did) (i|we) not (been in touch with|contacted|spoken to|talked to|heard from) (for)? (the)? longest (time)?",
      "(which|who|whom) of {lookup} (have|did) (i|we) not (been in touch with|contacted|spoken to|talked to|heard from) (for)? (the)? longest (time)?"
    ],
    "which of {lookup} have i not contacted the longest"
  ],
  [
    [
      "(list|show|show me|give me|find|which are|who are)? (the|all|all the)? {lookup} (that|who|which) (belong to me|are mine|are assigned to me)"
    ],
    "my {lookup}"
  ],
  [["{lookup} (composed|written) by {full}"], "{lookup} by composer {full}"],
  [
    ["(what|which tracks|which songs|what songs|what tracks) (is|are|'s) on (the)? (playlist)? {proper} (playlist)?"],
    "tracks on the playlist {proper}"
  ],
  [
    [
      "(which|who) (of|among)? {lookup} (have|has|with|got) (a|an|the)? (first name|given name|forename|last name|surname|family name) {proper}"
    ],
    "{lookup} named {proper}"
  ],
  [
    [`(which|who) (of|among)? {lookup} (has|have|had) (the)? ${LATEST} {column} (date|day)?`],
    "which {lookup} has the latest {column}"
  ],
  [
    [`(which|who) (of|among)? {lookup} (has|have|had) (the)? ${EARLIEST} {column} (date|day)?`],
    "which {lookup} has the earliest {column}"
  ],
  [
    ["(which|who) (of|among)? {lookup} (have|had|has) (their|his|her|its) {column} {when}"],
    "{lookup} with a {column} {when}"
  ],
  [
    ["{noun} (where|for which|in which|at which) (we|i) (have|know) (nobody|no one|no people|no contacts|no contact)"],
    "{noun} without contacts"
  ],
  [
    [
      "(is there|are there)? (any|a|which|what)? {noun} (where|for which|in which|with whom) (we|i) (have|know) {rest}",
      "{noun} (where|for which|in which) (we|i) have {rest}"
    ],
    "{noun} with {rest}"
  ],
  [
    [
      `how many of my ${FOLLOW_UPS} are ${OVERDUE}`,
      `how many ${OVERDUE} ${FOLLOW_UPS} (do i have|have i got|are mine)`
    ],
    "how many of my people have an overdue follow-up"
  ],
  [
    [`how many ${OVERDUE} ${FOLLOW_UPS} (do we have|are there|have we got)?`, `how many ${FOLLOW_UPS} are ${OVERDUE}`],
    "how many people have an overdue follow-up"
  ],
  [
    [
      `(list|show|show me|give me|what are|which are|which of)? (all)? my ${OVERDUE} ${FOLLOW_UPS}`,
      `(list|show|show me|give me|what are|which of)? (all)? my ${FOLLOW_UPS} (that are|which are|are) ${OVERDUE}`,
      `${FOLLOW_UPS} (that are|which are|are) ${OVERDUE} for me`,
      `(my)? ${OVERDUE} ${FOLLOW_UPS} (for me|of mine)`
    ],
    "list my people with an overdue follow-up"
  ],
  [
    [
      `(list|show|show me|give me|what are|which are)? (all|the|our)? ${OVERDUE} ${FOLLOW_UPS}`,
      `(list|show|show me|give me|which)? (all|the|our)? ${FOLLOW_UPS} (that are|which are|are) ${OVERDUE}`
    ],
    "list people with an overdue follow-up"
  ],
  [
    [
      `(is there|do i have|do we have)? ${ANYONE} (to follow up with|i should follow up with|i need to follow up with|we should follow up with|we need to follow up with) {when}`
    ],
    "list people with a follow-up {when}"
  ],
  [
    ["(the|all|all the)? {family} (that|who|which) (belong to me|are mine|i own|i have|i look after|i manage)"],
    "my {family}"
  ],
  [
    ["(are there|any|have we got|do i have|have i got|is there)? (any|some|a|an) {plural} for me {when}"],
    "my {plural} {when}"
  ],
  [
    [
      "how many {lookup} (work|are employed|are working|do we have working|do we employ) (here|for us|with us|at our company|in our company|in the company)"
    ],
    "how many {lookup}"
  ],
  [
    ["{lookup} (with|having) (a|the)? (first name|given name|forename|last name|surname|family name) {proper}"],
    "{lookup} named {proper}"
  ],
  [
    [
      "who (has|have) (the)? most {lookup} (assigned|assigned to them|on their plate)",
      "(which|what) {by} (has|have) (the)? most {lookup} (assigned|assigned to them|on their plate)"
    ],
    "who has the most {lookup}"
  ],
  [
    [
      "who (has|have) (the)? (fewest|least) {lookup} (assigned|assigned to them|on their plate)",
      "(which|what) {by} (has|have) (the)? (fewest|least) {lookup} (assigned|assigned to them|on their plate)"
    ],
    "who has the fewest {lookup}"
  ],
  [
    ["compare {person} and {rival} (who|which of them|which one) (has|have|had) (the)? (more|most) {lookup}"],
    "who has more {lookup} {person} or {rival}"
  ],
  [
    [
      "how many {lookup} (does|do|did|has|have) {person} (have|got|own|manage)? (compared to|compared with|versus|vs|against|in comparison to|in comparison with) {rival}"
    ],
    "who has more {lookup} {person} or {rival}"
  ],
  [["(show|show me|list|give me)? (which|who) (of|among) {lookup} (are|is|were|was) {conds}"], "list {lookup} {conds}"],
  [
    [
      "(giving|sending|showing|telling|listing|getting|finding) (me|us)? {rest}",
      "(see|have|get) (a|the) (list|rundown|overview) of {rest}"
    ],
    "list {rest}"
  ],
  [
    [
      "(give|show|send|get)? (me|us)? (a|the|any)? (full|complete|quick)? (list|rundown) (of|with) (all|all of)? (the)? {lookup}"
    ],
    "list {lookup}"
  ],
  [
    [
      "(list|show|show me|give me|get me|send me|i need|get)? (the)? (names|name) of (all|all of)? (the)? {lookup}",
      "(what are|what is) the (names|name) of (all|all of)? (the)? {lookup}"
    ],
    "list {lookup}"
  ],
  [
    [
      "(is there|are there|do we have|do i have|have we got|have i got)? (any|some|all|which|what) (one)? (of|among) {lookup}"
    ],
    "list {lookup}"
  ],
  [
    ["(show|show me|list|give me)? (which|who) (of|among) {lookup} (are|is|were|was) {rest}"],
    "list {lookup} who are {rest}"
  ],
  [["(show|show me|list|give me)? (which|who) (of|among) {lookup} (have|has) {rest}"], "list {lookup} who have {rest}"],
  [["(except|excluding) {person} 's how many {lookup}"], "how many {lookup} without {person} 's"],
  [["{lookup} {one} (excluded|excepted|excluding)"], "{lookup} except {one}"],
  [["(who|which people|which ones) at {place} (are|is) my {noun}"], "my {noun} at {place}"],
  [
    ["{person} and {rival} (together|combined|between them) how many {lookup}"],
    "how many {lookup} do {person} and {rival} have together"
  ],
  [
    ["{person} and {rival} (together|combined|between them) how many {one}"],
    "how many {one} people do {person} and {rival} have together"
  ],
  [
    [
      "(for|with|from|of) how many of {lookup} (do|did|have) (we|i|you) (have|got|know|hold|keep) (a|an|the|any|their)? {column} (on record|on file|entered)?"
    ],
    "how many {lookup} have a {column}"
  ],
  [
    [
      "(for|with|from|of) how many of {lookup} (do|did|have) (we|i|you) (have|got|know|hold) no {column} (on record|on file)?",
      "(for|with|from|of) how many of {lookup} (is|are) there no {column} (on record|on file|entered)?",
      "how many (of)? {lookup} (lack|are lacking|miss) (a|an|the|their)? {column}"
    ],
    "how many {lookup} have no {column}"
  ],
  [
    [
      "(for|of) what (percentage|share|percent|proportion) of {lookup} (do|did|have) (we|i|you) (have|know|hold) (a|an|the|any)? {column} (on record|on file)?",
      "what (percentage|share|percent|proportion) of {lookup} (has|have) (a|an|the)? {column} (entered|on record|on file|filled in)"
    ],
    "what percentage of {lookup} have a {column}"
  ],
  // Counts.
  [
    [
      "{lookup} how many (is that|is it|are that|are there|are they|are those|have we|do we have|have we got|all in all)"
    ],
    "how many {lookup}"
  ],
  [["{plural} {when} how many (did|do|have) i (have|had|got)"], "how many {plural} did i have {when}"],
  [["{plural} {when} how many (did|do|have) we (have|had|got)"], "how many {plural} did we have {when}"],
  [["{lookup} (i|we) (only|just)? need (the|a) (count|number|total number)"], "how many {lookup}"],
  [
    [
      "(what is|give me|tell me|get me)? (the|a)? (count|tally|headcount|head count) (of|for|on) (all)? (the)? {lookup}",
      "(what is)? the (number|total number|count) of {lookup} (please)?"
    ],
    "how many {lookup}"
  ],
  [[`how many (of)? {lookup} (is|are|was|were) {name} ${BUSY}`], "how many {lookup} does {name} have"],
  [
    [
      `(what|which) {lookup} (is|are|was|were) {name} ${BUSY}`,
      `(what|which) {lookup} (does|do|did) {name} ${LOOKED_AFTER}`
    ],
    "list {lookup} of {name}"
  ],
  [[`how many (of)? {lookup} (does|do|did) {name} ${LOOKED_AFTER}`], "how many {lookup} does {name} have"],
  [
    [
      "how many {lookup} (did|does|do|has|have) {name} (attend|attended|join|joined|go to|gone to|take part in|participate in|participated in|sit in) {when}"
    ],
    "how many {lookup} did {name} have {when}"
  ],
  [
    [
      "how many {lookup} (did|does|do|has|have) {name} (attend|attended|join|joined|go to|gone to|take part in|participate in|participated in|sit in)"
    ],
    "how many {lookup} did {name} have"
  ],
  [["how many {lookup} (did|has|have) {name} (get|got|receive|received|gotten)"], "how many {lookup} does {name} have"],
  [
    ["how many {lookup} (did|has|have) {name} (get|got|receive|received|gotten) {when}"],
    "how many {lookup} did {name} have {when}"
  ],
  [
    [
      "(which|what|list)? {lookup} (have|has|with) (a|the)? (name|names|title|titles) (starting|beginning|that starts|that begins) with {rest}"
    ],
    "list {lookup} starting with {rest}"
  ],
  [
    [
      "how many {lookup} (have|has|with) (a|the)? (name|names|title|titles) (starting|beginning|that starts|that begins) with {rest}"
    ],
    "how many {lookup} starting with {rest}"
  ],
  [[`how many (of)? {lookup} (am|are|was) i ${BUSY}`], "how many {lookup} do i have"],
  [["how many (of)? {lookup} (have|has) (been|become|turned|gone) {done}"], "how many {lookup} are {state}"],
  [
    ["how many (of)? {lookup} (have|did) we {done} (so far|to date|already|by now|up to now)?"],
    "how many {lookup} have we {state}"
  ],
  [
    ["how many (of)? {lookup} (have|did) i {done} (so far|to date|already|by now|up to now)?"],
    "how many {lookup} that i {state}"
  ],
  [["(what|which|list) {lookup} (have|did) i {done} (so far|to date|already)?"], "list {lookup} that i {state}"],
  [
    ["how many (of)? {lookup} (have|has|did) {name} {done} (so far|to date|already|by now|up to now)?"],
    "how many {lookup} that {name} {state}"
  ],
  [
    ["(what|which) {lookup} (have|has|did) {name} {done} (so far|to date|already)?"],
    "list {lookup} that {name} {state}"
  ],
  [["(of|out of|among) {lookup} how many (are|is|were) {rest}"], "how many {lookup} are {rest}"],
  [["(of|out of|among) {lookup} how many (have|has|had) {rest}"], "how many {lookup} have {rest}"],
  [
    [
      `how many (of)? {lookup} (were|have|are) ${WE} (been)? last (been)? (in touch|in contact) with {when}`,
      `how many (of)? {lookup} (did|have) ${WE} last (speak to|talk to|contact|contacted|spoken to|talked to) {when}`
    ],
    "how many {lookup} last contacted {when}"
  ],
  [
    [
      `(what|which|list) {lookup} (were|have|are) ${WE} (been)? last (been)? (in touch|in contact) with {when}`,
      `(what|which|list) {lookup} (did|have) ${WE} last (speak to|talk to|contact|contacted|spoken to|talked to) {when}`
    ],
    "list {lookup} last contacted {when}"
  ]
]
