/** Other words for a detail of one, and for the people of a date or a company. */
import { type Paraphrases, WE } from "./table.ts"

const CONTACT =
  "(last)? (contact|contacted|speak to|speak with|spoken to|spoken with|call|called|talk to|talk with|talked to|talked with|reach|reached|reach out to|reached out to|been in touch with|touch base with)"
const THAT =
  "(if|whether|is it true that|is it right that|is it correct that|is it so that|am i right that|confirm that|confirm|i think that|i think|i believe)"

/** Details whose value a small word can be. */
const COMPARABLE =
  "status|stage|phase|state|product|phone|number|email|e-mail|company|city|town|priority|project".split("|")

const NOTES = "(notes|note|comments|comment|remarks)"

/** What someone wants to do with a detail that the message asks for next: "need to call Ada, what's the number". */
const TO = "(i|we)? (need|have|want|must|should|got|gotta|would like|am trying|am about|wanna|going)? (to)?"

const CUSTOMERS = "(customers|clients|accounts)"

export const DETAIL_PARAPHRASES: Paraphrases = [
  [
    [
      `(is|was) {full} one of {name} 's ${CUSTOMERS}`,
      "(is|was) {full} (a|the)? (customer|client|account) of {name} 's",
      `(does|did) {full} belong to {name} 's ${CUSTOMERS}`,
      "does the (company|firm|customer|client|person|lead) {full} belong to {name}",
      "(is|was) {full} (looked after|managed|handled|owned|supported) by {name}"
    ],
    "does {full} belong to {name}"
  ],
  [[`(is|was) {full} one of (my|our) (own)? ${CUSTOMERS}`], "does {full} belong to me"],
  [
    [
      "whose (phone|number|phone number|telephone number|mobile|email|e-mail|email address|e-mail address) is {address}",
      "{address} (which|what) {noun} is (that|this|it)"
    ],
    "who is {address}"
  ],
  [["(who|who all|which employees|which people) (works|work) under {full}"], "who reports to {full}"],
  [["{full} (lives|sits) in (what|which) {one}"], "{full} 's {one}"],
  [["{full} (is|works) (at|for|with) (what|which) (company|firm|co)"], "{full} 's company"],
  [
    [
      "{address} (called|rang|phoned|texted|wrote to|mailed|emailed) (me|us)? whose (number|phone|address|email|e-mail) is (it|that|this)"
    ],
    "who is {address}"
  ],
  [
    [
      "(what|which) (number|phone number) (do|can|should) (i|we) (call|ring|dial|phone|use) (for|to reach|to get)? {proper}"
    ],
    "{proper} 's phone"
  ],
  [["in (what|which) {one} (lives|sits|works) {full}"], "{full} 's {one}"],
  [["(and)? which {concept}"], "the {concept}"],
  [
    ["with which of {lookup} (is|was|are) (the|a|my)? (follow up|follow-up|follow ups|follow-ups) {when}"],
    "which of {lookup} have a follow up {when}"
  ],
  [
    [
      "one of {lookup} (has|have) {rest} (which one|which one is it|who|who is it|which)",
      "one of {lookup} (has|have) {rest} which one (is it|is that)"
    ],
    "which of {lookup} has {rest}"
  ],
  [["when was {full} last (invoiced|billed)"], "when was the last invoice of {full}"],
  [
    [
      "(what is|what was|when is|when was)? (the|my)? (very)? (first|earliest) (thing|item|one|entry|event|call) (i have|i had|i have got|on my calendar|in my calendar|on the calendar|in the calendar|on my agenda|on my schedule|in my diary)? {when}"
    ],
    "my first meeting {when}"
  ],
  [
    [
      "(who|whom) (does|did) (the number|this number|that number|number)? {address} belong to",
      "who (has|owns|uses|is using) (the|this|that)? (phone|number|phone number|telephone number|mobile number|email|e-mail|email address|address)? {address}",
      "(who|which company|what company) (is|was) (this|that|it) {address}",
      "(who|which company|what company|which {noun}|what {noun}) (is|was) {address} (has|have)? (just)? (called|rang|phoned|texted|wrote|mailed|emailed|tried to call|tried calling) (me|us)?",
      "{address} (has)? (just)? (called|rang|phoned|texted|wrote|mailed|emailed|tried to call|tried calling) (me|us)? (who|which company|what company) (is|was) (that|this|it)",
      "(who|which company|what company) (is|was) (someone|somebody)? (has|have)? (just)? (called|rang|phoned|texted|wrote) (me|us)? from {address}",
      "(who|which company|what company) (is|was) (i|we)? (have)? (just)? missed (a|an)? (call|phone call) from {address}",
      "(which|what) {noun} (uses|has|is using|owns) (the|this|that)? (phone|number|phone number|email|e-mail|email address|address)? {address}",
      "(who|whom|what company|which company|whose) (is|was) (i|we)? (have|had|got|received|there is|there was)? (a|an|another)? (mail|email|e-mail|message|text|letter|call|phone call|missed call|voicemail) from {address} (again)?",
      "(i|we)? (have|had|got|received|there is|there was)? (a|an|another)? (mail|email|e-mail|message|text|letter|call|phone call|missed call|voicemail) from {address} (who|whom|what company|which company|whose) (is|was) (that|this|it) (again)?"
    ],
    "who is {address}"
  ],
  [
    ["(is|was) {full} {one} or (is it|is he|is she|are they)? (still|just|only)? (open|pending|ongoing|running)"],
    "is {full} {one}"
  ],
  [
    ["(is|was) {full} (a|an)? {one} or (are they|is it|is he|is she|were they|was it) (a|an)? {other}"],
    "is {full} {one} or {other}"
  ],
  [
    [
      "(is|was) {full} (already|now|still|really)? (a|an) {one} (customer|client|account|deal)",
      "(do|did) we have {full} (as|down as|listed as) (a|an)? {one}"
    ],
    "is {full} {one}"
  ],
  [["does {full} (live|sit) in {proper}", "is {full} (based|located) in {proper}"], "{full} 's city"],
  [
    [
      "(what|which) {column} (is|was) {name} (down for|interested in|listed for|listed under|down as|signed up for|entered for)"
    ],
    "{name} 's {column}"
  ],
  [
    [
      "(is|was) {full} (my|mine) {noun} or {rival} 's (one|customer|client|account|lead)?",
      "(is|was) {full} {rival} 's {noun} or (mine|my one)",
      "(is|was) {full} (mine|one of mine) or (somebody else|someone else) 's",
      "(is|was) {full} my {noun} or (somebody else|someone else) 's",
      "(is|was) {full} (mine|one of mine) or {rival} 's (one|customer|client|account|lead)?",
      "(is|does) {full} (belong to me|belong to|with)? (me|mine) or {rival}"
    ],
    "who owns {full}"
  ],
  [
    [
      "what (does|do|did) (the)? (track|song|album|product|item|article|book|record)? {proper} cost",
      "how much (does|do|did) (the)? (track|song|album|product|item|article|book|record)? {proper} cost",
      "(what is|what was)? the (price|cost) of (the)? (track|song|album|product|item|article|book|record) {proper}"
    ],
    "{proper} 's price"
  ],
  [
    ["(which|what|on which|on what) album (is|was) (the)? (song|track) {proper} (on|from)?"],
    "which album is {proper} on"
  ],
  [
    [
      `${TO} (call|ring|phone|text|reach|call up|give a ring|ring up) {name} what is (the|their|his|her|that)? (number|phone|phone number|telephone number|mobile|mobile number)`
    ],
    "{name} 's phone"
  ],
  [
    [
      `${TO} (write|write to|email|e-mail|mail|reach|send something to|send an email to) {full} what is (the|their|his|her|that)? (email|e-mail|email address|e-mail address|mail address)`
    ],
    "{full} 's email"
  ],
  [
    [
      `${TO} (write to|send something to|send a letter to|send a parcel to|send a card to|send flowers to|visit|mail something to|post something to) {full} what is (the|their|his|her|that)? address`
    ],
    "{full} 's address"
  ],
  [
    ["who (made|recorded|sang|released|performed) (the|that)? (album|record|song|track|single)? {full}"],
    "{full} 's artist"
  ],
  [
    [
      `(what|which) {column} (do|did|have) ${WE} (have|got) (down|noted|noted down|recorded|entered|stored) (for|of|on|against) {name}`
    ],
    "which {column} do we have for {name}"
  ],
  [["{full} current {concept}"], "{full} 's {concept}"],
  [
    [
      "(what|which) (date|day) is (set|planned|scheduled|fixed|agreed) for (following up|a follow-up|the follow-up) with {full}"
    ],
    "when should we follow up with {full}"
  ],
  [
    [
      "(what is|give me)? (the)? main (number|phone|phone number|telephone number|line) (of|for) (the company|the firm)? {full}"
    ],
    "{full} 's phone"
  ],
  [
    [
      `(what are|what is|show|show me|read|read me|read out|any|are there any|do we have any|do you have any|give me)? (the|our|any)? ${NOTES} (on|about|for|of|regarding) {full}`
    ],
    "{full} 's notes"
  ],
  [
    [
      "{full} or {rival} (who|which of them|which one|whom) (did|have) (we|you) (contact|contacted|speak to|spoken to|talk to|talked to|call|called) (more recently|most recently|last|later)",
      "(who|whom|which) (did|have) (we|you) (contact|contacted|speak to|spoken to|talk to|talked to|call|called) (more recently|most recently|last|later) {full} or {rival}",
      "(who|which) (of)? {full} (or|and) {rival} was contacted (more recently|most recently|last|later)",
      "(who|which of them|which) was contacted (more recently|most recently|last|later) {full} or {rival}"
    ],
    "when did we last speak to {full} and {rival}"
  ],
  [
    [
      "(is|are|was) {full} (a|an)? {one} (already|yet|now|by now)? or (still|only|just) (a|an)? {other}",
      "(is|are|was) {full} (still|only|just) (a|an)? {one} or (already|now)? (a|an)? {other} (already|now|by now)?"
    ],
    "is {full} {one} or {other}"
  ],
  [["(who is|who was) {rest} me or {person}", "(who is|who was) {rest} {person} or me"], "who is {rest}"],
  [
    [
      "(has|have|is|was) {full} (been)? {one} or (is|are) (it|that|that one|he|she|they|this one) (still|just|only)? (open|pending|running|ongoing|not)"
    ],
    "is {full} {one}"
  ],
  [
    [
      "(which one of us|which of us|who of us|who) (has|looks after|is looking after|manages|handles|owns) {full} is (it|that) {person}"
    ],
    "who looks after {full}"
  ],
  [
    [
      "do i or does {person} (own|have|look after|manage|handle) {full}",
      "does {person} or do i (own|have|manage) {full}"
    ],
    "who looks after {full}"
  ],
  [
    ["(what is)? (the)? {concepts} (of|for) {name} and (also)? (its|their|his|her) {what}"],
    "{concepts} and {what} of {name}"
  ],
  [["what (did|does) {full} (want|need|buy) (from us)"], "{full} 's interest"],
  [
    [`how long ago was it that ${WE} (last)? (contacted|spoke to|spoke with|talked to|called) {name}`],
    "{name} 's last contact"
  ],
  [[`${THAT} {full} (is|was) (still|now|already)? (a|an)? {one}`], "is {full} a {one}"],
  [
    [
      `${THAT}? {full} (belongs to|is assigned to) {person}`,
      "(does|did) {full} belong to {person}",
      "(is|was) {full} (one of)? {person} 's (customer|customers|client|clients|account|accounts|contact|contacts)"
    ],
    "who looks after {full}"
  ],
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
  [["(is|was) {full} 's {what} {one} or {other}"], "{full} 's {what}"],
  // "Is Ada's owner happy" isn't answered by a name.
  ...COMPARABLE.map((what) => [[`(is|was) {full} 's ${what} {one}`], `{full} 's ${what}`] as const),
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
  [["what (does|do|did) (my|the|your) {when} look like"], "what did i have {when}"],
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
  [
    ["whose {quality} (count|number|total|tally) is (the)? (highest|biggest|largest)"],
    "who has the most {quality} people"
  ],
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
      `(what|which) {concepts} (do|did|have) ${WE} (have|hold|keep|store|got|use|list) (down|noted|noted down|recorded|entered|stored|on file|on record|in the system|in the crm)? (for|of|on) {name}`,
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
    ["when (is|was) (the|our|my)? (next|upcoming)? {column} (with|for|of) {name} due"],
    "when is the {column} of {name}"
  ],
  [
    ["when (is|was) (the|our|my) (next)? (follow-up|follow up|followup) with {name}"],
    "when is the follow up of {name}"
  ],
  [["when (is|was) (the|our|my) {dated} with {name}"], "when is the {dated} of {name}"],
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
      "who (is|are) (our|my|the|your|a)? (contact|contacts|main contact|person|people|guy|point of contact|contact person|contact people) (at|from|over at) {place}"
    ],
    "who works at {place}"
  ],
  [["who (is|are) (our|the|your|a)? (customer|customers|client|clients) (at|over at) {place}"], "customers at {place}"],
  ...["in", "from"].map((place): Paraphrases[number] => [
    [`who (is|are) (our|the|your|a)? (customer|customers|client|clients) ${place} {place}`],
    `customers ${place} {place}`
  ]),
  [["who (is|are) my (customer|customers|client|clients) (at|over at) {place}"], "my customers at {place}"],
  ...["in", "from"].map((place): Paraphrases[number] => [
    [`who (is|are) my (customer|customers|client|clients) ${place} {place}`],
    `my customers ${place} {place}`
  ]),
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
    ["(is|was|does|did) {person} (from|at|work at|work for|working for|working at|employed by|employed at) {place}"],
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
    [
      "(what is|what was|which is)? (the)? (oldest|earliest|first) {column} (date)? (of|among|in|for) (a|an|the|all|all the|our)? {lookup}"
    ],
    "which {lookup} has the earliest {column}"
  ],
  [
    [
      "(what is|what was|which is)? (the)? (latest|newest|most recent|last) {column} (date)? (of|among|in|for) (a|an|the|all|all the|our)? {lookup}"
    ],
    "which {lookup} has the latest {column}"
  ],
  [
    ["(what is|which is|who has)? (the)? (oldest|earliest) last contact (date)? (of|among|in|for|with) {lookup}"],
    "which {lookup} was contacted first"
  ],
  [
    [
      "(what is|which is|who has)? (the)? (latest|newest|most recent) last contact (date)? (of|among|in|for|with) {lookup}"
    ],
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
  ]
]
