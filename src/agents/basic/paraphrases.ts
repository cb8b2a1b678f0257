/**
 * Questions in other words: each shape with the shorter question that means the same. What is captured stands in the shorter
 * question as it was said, so every word is used there; a question of no shape stays as it is.
 */
import { compiled, type Captures, type Fits, matchPattern } from "./patterns.ts"
import { DONE } from "./shorthand.ts"
import { type Token, tokenize } from "./tokenize.ts"

type Tokens = ReadonlyArray<Token>

const WE = "(i|we|you)"
const PERIOD = "(of|in|during|for)"
const CONTACT =
  "(last)? (contact|contacted|speak to|speak with|spoken to|spoken with|call|called|talk to|talk with|talked to|talked with|reach|reached|reach out to|reached out to|been in touch with|touch base with)"
const BUSY =
  "(sitting on|working on|juggling|dealing with|responsible for|in charge of|looking after|handling|managing|working with|taking care of|left with)"
const LOOKED_AFTER = "(look after|manage|handle|own|have|work on|work with|deal with|take care of)"

const THAT =
  "(if|whether|is it true that|is it right that|is it correct that|is it so that|am i right that|confirm that|confirm|i think that|i think|i believe)"

const TABLE: ReadonlyArray<readonly [shapes: ReadonlyArray<string>, means: string]> = [
  // A detail of one.
  [[`${THAT} {full} (is|was) (still|now|already)? (a|an)? {one}`], "is {full} a {one}"],
  [[`${THAT}? {full} (belongs to|is assigned to) {person}`], "who looks after {full}"],
  [
    [
      "(does|did|is|was) {person} (look after|own|manage|handle|take care of|responsible for|in charge of|the owner of|the rep of|the rep for|looking after|handling|managing) {full}",
      "is it {person} or {other} (that|who|whom) {full} (belongs to|is with|works with|is assigned to)",
      "is it {person} or {other} who (looks after|owns|manages|handles|takes care of|is responsible for) {full}",
      "(does|did|is) {full} (belong to|belongs to|assigned to|looked after by|owned by) {person} or {other}"
    ],
    "who looks after {full}"
  ],
  [
    [
      "(does|did|would) {full} (want|use|buy|take|go for) {one}",
      "(does|did|would) {full} (want|use|buy|take|go for) {one} or {other}"
    ],
    "{full} 's interest"
  ],
  [["(is|was) {full} 's {what} {one}", "(is|was) {full} 's {what} {one} or {other}"], "{full} 's {what}"],
  [["{full} (still|already|now|yet) (a|an)? {one}"], "is {full} {one}"],
  [
    ["(is|was) {full} {person} 's or {other} 's {noun}", "(is|was) {full} {person} 's {noun} or {other} 's"],
    "who looks after {full}"
  ],
  [["where (is|are) {full} in (the|our|my) (pipeline|funnel|process|sales process)"], "{full} 's status"],
  [
    [`(is|are|was) {full} {one} (already|yet|now)? or (is|are) (it|he|she|they) (still|now|already)? (a|an)? {other}`],
    "is {full} {one} or {other}"
  ],
  [
    [
      `how long ago (did|have) ${WE} (last)? (contact|contacted|speak to|spoken to|talk to|talked to|call|called) {name}`,
      "how long ago was {name} (last)? contacted"
    ],
    "{name} 's last contact"
  ],
  [
    [
      `when (do|should|will|must|can) ${WE} next (talk to|speak to|speak with|talk with|call|ring|contact) {full}`,
      `when (do|should|will|must) ${WE} (talk to|speak to|speak with|call|ring|contact) {full} (next|again)`,
      "(what is|when is)? (the)? next (step|action|touchpoint|call) (date)? (for|with) {full}"
    ],
    "when should we follow up with {full}"
  ],
  [
    [
      `(what|which) (number|phone number) (do|can|should|must) ${WE} dial (for|to reach|to get|to call)? {name}`,
      "(what is)? (the)? (telephone|phone|tel) (no|nr) (of|for) {name}"
    ],
    "{name} 's phone"
  ],
  [["(what is)? (the)? best way to (reach|contact|get hold of|get in touch with) {name}"], "how do i reach {name}"],
  [
    [
      "{full} 's? contact (info|information|details|data)",
      "(what are|what is|give me|send me|show me|get me|i need)? (the|all)? contact (info|information|details|data) (for|of|on) {full}"
    ],
    "how do i reach {full}"
  ],
  [["what (does|do|did) {rest} look like"], "{rest}"],
  [["(what is|which is|tell me|give me)? (the|their) (company|employer|firm) (of|for) {full}"], "{full} 's company"],
  [
    ["(what|how much) (do|does|did) {lookup} (come to|add up to|amount to|sum up to) (in total|altogether|in all)?"],
    "total of {lookup}"
  ],
  [
    [
      "(what is|what was|how much is)? (the)? (amount|total|value|size|sum) of (the|our)? (biggest|largest|highest) {lookup}"
    ],
    "what is the biggest {lookup}"
  ],
  [["whose {quality} (count|number|total|tally) is (the)? (highest|biggest|largest)"], "who has the most {quality} people"],
  [["whose {quality} (count|number|total|tally) is (the)? (lowest|smallest)"], "who has the fewest {quality} people"],
  [["{full} 's and {person} 's {what}"], "{what} of {full} and {person}"],
  [
    [
      `(how|where) (can|do|could|would|might) ${WE} (reach|call|ring|phone|contact|get|get hold of|get in touch with) {name} (by|on the|by the|over the|via|on) (phone|telephone)`,
      `(what|which) (number|phone number) (can|do|could|should) ${WE} (reach|call|ring|phone|get|contact|get hold of) {name} (on|at|under|by)?`,
      `(on|at|under) (what|which) (number|phone number) (can|do|could|should) ${WE} (reach|call|ring|phone|get|contact|get hold of) {name}`
    ],
    "{name} 's phone"
  ],
  [
    [
      `(how|where) (can|do|could|would|might) ${WE} (reach|contact|write to|get hold of|get in touch with) {name} (by|via|over|on) (email|e-mail|mail)`,
      `(what|which) (email|e-mail|mail) (address)? (can|do|could|should) ${WE} (reach|contact|use for|write to) {name} (on|at|under)?`
    ],
    "{name} 's email"
  ],
  [
    [
      "(where have we got to|where have we got|how far have we got|how far along are we|how far are we|where are we|where do we stand|where do things stand|how do things stand|what stage are we at|what is the state of play) with {name}",
      "(at)? (what|which) {concept} (are we|is it) (at|in) with {name}"
    ],
    "{name} 's status"
  ],
  [
    [
      "(what|which) {what} (is|are|was) {name} (after|looking at|looking for|considering|asking about|asking for|thinking of|thinking about)"
    ],
    "{name} 's {what}"
  ],
  [
    [
      `(what|which) {concepts} (do|did|have) ${WE} (have|hold|keep|store|got|use|list) (on file|on record|in the system|in the crm)? (for|of|on) {name}`,
      `(what|which) {concepts} ${WE} (have|hold|keep|store|have got|use|list) (on file|on record|in the system|in the crm)? (for|of|on) {name}`,
      `(what is|what are)? (the)? {concepts} ${WE} (have|hold|keep|have got|store|use|list) (on file|on record|in the system|in the crm)? (for|of|on) {name}`
    ],
    "{concepts} of {name}"
  ],
  [
    [
      "(what is|when is)? (the)? (next|current|present|latest|upcoming|planned|scheduled) {what} (date|day) (for|of|with) {name}"
    ],
    "{what} of {name}"
  ],
  [
    [
      `{headed} when did ${WE} last (speak|talk|be in touch|get in touch|have contact)`,
      `when did ${WE} last (have|make) contact with {headed}`
    ],
    "when did we last speak to {headed}"
  ],
  [
    ["when (is|was) (the|our|my)? (next|upcoming)? {what} (with|for|of) {name} due", "when (is|was) (the|our|my) {what} with {name}"],
    "when is the {what} of {name}"
  ],
  [["what (is|are) {name} (interested in|after|looking for|keen on|in the market for)"], "{name} 's interest"],
  [
    ["(has|have) {name} been {one} or {other}", "(has|have) {name} (turned|become|gone) {one} or {other}"],
    "is {name} {one} or {other}"
  ],
  [["(has|have) {name} (already|ever)? been {one} (yet|already)?"], "is {name} {one}"],
  [
    ["(has|have) {name} (already)? been {one} or (is it|are they|only|still|just) (a|an)? {other}"],
    "is {name} {one} or {other}"
  ],
  [
    [
      `(when|what date|which date|what day) (am|are|is|do|should|were) ${WE} (due|supposed|meant|scheduled|planning|going)? (to)? follow up (with|on) {name}`
    ],
    "when should we follow up with {name}"
  ],
  [
    [
      "(who|whom) (should|do|must|are|did) (we|you) (due to|supposed to|meant to|need to|have to|going to)? follow up with {when}"
    ],
    "list people with a follow-up {when}"
  ],
  [
    ["(who|whom) (should|do|must|am) i (due to|supposed to|meant to|need to|have to|going to)? follow up with {when}"],
    "list my people with a follow-up {when}"
  ],
  [
    [
      "i (can't|cant|cannot) (find|see|remember|recall) {rest} (anywhere|right now)? (do|have) (you|we) (have|got) (it|that|them)",
      "i (can't|cant|cannot) (find|see|remember|recall) {rest} (anywhere|right now)? what (is|was) (it|that)"
    ],
    "{rest}"
  ],
  [
    [
      `who (would|should|do|can|could|must|will) ${WE} (speak to|talk to|ask|contact|see|go to|turn to|approach) (about|regarding|concerning|for) {name}`
    ],
    "who looks after {name}"
  ],
  [
    [
      "when (is|are) {name} (next|up)? (due|scheduled|up|lined up) (for)? (next)? (a|the|another|their|his|her|our)? (next)? (call|ring|chat|catch-up|check-in|follow-up|contact|touchpoint|nudge|reminder)"
    ],
    "when should we follow up with {name}"
  ],
  [
    [
      `(what|which) {lookup} (do|should|must|have|are) ${WE} (need to|have to|got to|to|supposed to|meant to|due to|going to)? (follow up with|follow up) {when}`,
      `{lookup} (that|who|whom)? ${WE} (need to|have to|should|must|are supposed to|am supposed to|are meant to) follow up with {when}`
    ],
    "list {lookup} with a follow-up {when}"
  ],
  [
    [
      "{noun} {name} (has|owns|manages|looks after|handles|is responsible for) (who|that|which) {rest}",
      "{noun} (who|that|which|whom) {name} (owns|manages|looks after|handles|is responsible for) (and)? (who|that|which) {rest}"
    ],
    "{noun} of {name} who {rest}"
  ],
  [["(which|who) of {name} 's (are|is) {one}"], "{name} 's people who are {one}"],
  [
    [
      "(is|was) {name} (after|interested in|looking for|looking at|keen on|considering|asking for|asking about) {one} or {other}"
    ],
    "{name} 's interest"
  ],
  [["(what|which) {concept} 's {name} (at|in|on|with|under)?"], "{name} 's {concept}"],
  // Questions that are asked indirectly: "remind me what I had".
  [
    [
      "(what|which meetings) {i} (had|have) (got|on|planned|scheduled)? {when}",
      "(what|which meetings) {i} was doing {when}"
    ],
    "what did {i} have {when}"
  ],
  [["(who|whom) {i} (met|saw|was meeting|met with) {when}"], "who did {i} meet {when}"],
  [["when {i} last (met|saw|met with) {name}"], "when did {i} last meet {name}"],
  [["when {i} last (spoke|talked) (to|with) {name}"], "when did {i} last speak to {name}"],
  [["(where|which company|what company) {name} (works|works for|works at|is with|is at)"], "where does {name} work"],
  [["who {name} (belongs to|is with|is assigned to)"], "who does {name} belong to"],
  [["how many {lookup} (there are|we have|we have got)"], "how many {lookup}"],
  [["how many {noun} {name} (has|has got|owns|looks after|manages)"], "how many {noun} does {name} have"],
  [
    [
      "(who|which of us|which rep|which colleague) (is|has|has got|works|is working|is assigned) (on|to|for|with)? (the)? {name} (account|case|file)"
    ],
    "who looks after {name}"
  ],
  [
    [
      `(who|whom) (do|can|should|would|could|must) ${WE} (call|ring|phone|speak to|talk to|ask for|contact|email|e-mail|write to|deal with|reach|reach out to|get in touch with) (at|from|in|over at|about) {place}`,
      "who (is|are) (our|my|the|your|a)? (contact|contacts|main contact|person|people|guy|customer|customers|point of contact|contact person|contact people) (at|from|in|over at) {place}"
    ],
    "who works at {place}"
  ],
  [
    [
      "whose {concept} (date|day)? (is|are|was|were|falls|fell|lands|comes up|comes|is due|was due|is set|is scheduled|is planned) {when}",
      "(who|which people|which customers) (has|have|had|got) (a|an|their|the)? {concept} (falling|due|coming up|scheduled|planned|set)? {when}"
    ],
    "list people whose {concept} is {when}"
  ],
  [
    [`(who|whom) (did|have) we ${CONTACT} {when}`, `(who|whom) was ${CONTACT} {when}`],
    "list people last contacted {when}"
  ],
  [[`(who|whom) (did|have) i ${CONTACT} {when}`], "list my people last contacted {when}"],
  [[`(who|whom) (did|has|have) {name} ${CONTACT} {when}`], "list people of {name} last contacted {when}"],
  [[`how many {lookup} (did|has|have) {name} ${CONTACT} {when}`], "how many {lookup} of {name} last contacted {when}"],
  [["how many {lookup} (are|were) (out|out there|around|about|outstanding)"], "how many {lookup}"],
  [["{name} (is|was) (a|the)? (customer|client|lead|account|contact|deal) of (who|whom)"], "who looks after {name}"],
  [
    [
      "(who|which customers|which people) (should|must|need to|needs to|has to|have to|is to|are to) be (followed up|followed up with|chased|contacted|called) {when}"
    ],
    "list people with a follow-up {when}"
  ],
  [["(show|show me|list|give me|find)? all (the|our)? {proper}"], "list people named {proper}"],
  [["how many {plural} we (had|have|have had|held|did)"], "how many {plural}"],
  [["how many {plural} i (had|have|have had|held|did)"], "how many {plural} do i have"],
  [["(is|are|was) {name} (mine|my customer|my lead|my client|my account|one of mine)"], "who looks after {name}"],
  [
    [
      "(is|was|does|did) {person} (from|at|with|work at|work for|working for|working at|employed by|employed at) {place}"
    ],
    "{person} 's company"
  ],
  [
    [
      "(who|whom|which customer|which person) (did|have) (we|you) (last|most recently) (contact|contacted|speak to|spoken to|talk to|talked to|call|called|reach)",
      "(who|which customer|which person) (is|was) (the)? (most recently|last) contacted (customer|person|one)?"
    ],
    "who was contacted last"
  ],
  [
    ["(what is|which is|who has)? (the)? (oldest|earliest) last contact (of|among|in|for|with) {lookup}"],
    "which {lookup} was contacted first"
  ],
  [
    ["(what is|which is|who has)? (the)? (latest|newest|most recent) last contact (of|among|in|for|with) {lookup}"],
    "which {lookup} was contacted last"
  ],
  [
    ["how many more {lookup} (does|do|did|has|have) {name} (have|got|own)? than {rival}"],
    "who has more {lookup} {name} or {rival}"
  ],
  [
    ["how many (fewer|less) {lookup} (does|do|did|has|have) {name} (have|got|own)? than {rival}"],
    "who has fewer {lookup} {name} or {rival}"
  ],
  [["(who|whom) (did|have) we {done} {conds}"], "list people who are {state} {conds}"],
  [["(who|whom) (did|have) i {done} {conds}"], "list my people who are {state} {conds}"],
  [["(who|whom) (did|has|have) {name} {done} {conds}"], "list people of {name} who are {state} {conds}"],
  [["{name} 's (record|profile|entry|card|data|info|information|details|page|file)"], "who is {name}"],
  [
    ["{proper} (still|already|now|yet) (a|an)? {one}", "{proper} {one} (already|yet|or not|or not yet|already or not)"],
    "is {proper} {one}"
  ],
  [
    [
      "(which|what) {by} (do|did|have) we {done} (the)? (most often|most frequently|most|most of the time)",
      "(which|what) {by} (is|gets|got|was|has been) {done} (the)? (most often|most frequently|most|most of the time)"
    ],
    "which {by} has the most {state} people"
  ],
  [
    [
      "(which|what) {by} (do|did|have) we {done} (the)? (least often|least frequently|least|fewest)",
      "(which|what) {by} (is|gets|got|was|has been) {done} (the)? (least often|least frequently|least)"
    ],
    "which {by} has the fewest {state} people"
  ],
  // A list.
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
  // Counts.
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
  ],
  // Meetings.
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
    ["(who|whom) (am|was|are|were) i (meeting|seeing|meeting with) (for|at|in|during) (the|my)? {rest}"],
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
  [
    ["how many {rest} (took place|happened|occurred|were held|have been held|were there) {when}"],
    "how many {rest} {when}"
  ],
  [["with (whom|who) (was|is|did i have|do i have|will i have) {rest}"], "who attended {rest}"],
  [
    [
      "(who|whom) (came to|attended|was at|was in|is at|joined|took part in|showed up at|turned up at|sat in on|was there for|participated in) (the|my|our)? {bare}"
    ],
    "who attended the {bare}"
  ],
  [
    [
      "(what is|what was|when is|when was)? (the|my)? (first|earliest) (thing|item|one|entry|event|call) (i have|i had|i have got|on my calendar|in my calendar|on the calendar|on my agenda|on my schedule|in my diary)? {when}"
    ],
    "my first meeting {when}"
  ],
  [["(the|my|our)? morning {noun} {when}"], "{noun} {when} in the morning"],
  [["(the|my|our)? afternoon {noun} {when}"], "{noun} {when} in the afternoon"],
  [["(the|my|our)? evening {noun} {when}"], "{noun} {when} in the evening"],
  [["(the)? total {one} (that)? {i} (spent|have spent|had|sat) {rest}"], "how many {one} did {i} spend {rest}"],
  // Figures.
  [
    ["(which|what) {period} (was|is) (the|my|our)? busiest", "(my|the|our)? busiest {period}"],
    "which {period} had the most meetings"
  ],
  [
    ["(which|what) {period} (was|is) (the|my|our)? quietest", "(my|the|our)? quietest {period}"],
    "which {period} had the fewest meetings"
  ],
  [
    ["(which|what) {period} (was|is) (the|my|our)? busiest (for|by|in terms of|with) {lookup}"],
    "which {period} had the most {lookup}"
  ],
  [
    ["(my|the|our)? busiest {period} {conds}", "(which|what) {period} (was|is) (the|my|our)? busiest {conds}"],
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
    ["(which|what) {by} (of|in) {when} (is|was|were) (the|my|our)? busiest (for|with|in terms of|by) {rest}"],
    "which {by} in {when} had the most {rest}"
  ],
  [
    [
      "(in|on|during)? (what|which) {by} " +
        PERIOD +
        " {when} (did|do|have) (i|we) (have|had|get|got|hold|held) (the)? {rest}"
    ],
    "which {by} in {when} had the {rest}"
  ],
  [
    ["(in|on|during) (what|which) {by} (did|do|have) (i|we) (have|had|get|got|hold|held) (the)? {rest}"],
    "which {by} had the {rest}"
  ],
  [
    [
      "(give|give me|show|show me|get me|i need)? (a|the)? (breakdown|split|count) (of|for) {lookup} (by|per|across|over) {rest}"
    ],
    "{lookup} per {rest}"
  ],
  [
    [
      "(the number of|number of|how many)? {lookup} (split out|split up|broken out|grouped|counted|summed up|sorted out) (by|per) {rest}"
    ],
    "{lookup} per {rest}"
  ]
]

/** A question is put into shorter words so many times at most. */
const MAX_TIMES = 3

const render = (means: string, captures: Captures, last: Token): Tokens => {
  const words = means.split(" ").flatMap((part): Tokens => {
    const name = /^\{(\w+)\}$/.exec(part)?.[1]
    if (part === "'s") return tokenize("x's").slice(1)
    if (name === undefined) return tokenize(part)
    if (name === "state") return tokenize(DONE[captures["done"]![0]!.word]!)
    const taken = captures[name]!
    return [...taken.slice(0, -1), { ...taken.at(-1)!, after: "" }]
  })
  return [...words.slice(0, -1), { ...words.at(-1)!, after: last.after }]
}

/** The question in shorter words; undefined if it has no shape of these. */
export const paraphrased = (tokens: Tokens, fits: Fits): Tokens | undefined => {
  let current = tokens
  for (let time = 0; time < MAX_TIMES; time++) {
    const next = once(current, fits)
    if (next === undefined) break
    current = next
  }
  return current === tokens ? undefined : current
}

const once = (tokens: Tokens, fits: Fits): Tokens | undefined => {
  for (const [shapes, means] of TABLE) {
    for (const shape of shapes) {
      const captures = matchPattern(compiled(shape), tokens, fits)
      if (captures !== undefined) return render(means, captures, tokens.at(-1)!)
    }
  }
  return undefined
}
