/** The rules: sentence patterns with the intent that each builds. The first rule that matches the whole message wins. */
import {
  agenda,
  againWith,
  asCount,
  browse,
  busy,
  busyOther,
  choice,
  detail,
  detailOf,
  detailsIn,
  listOf,
  peopleWhere,
  peopleWho,
  type Rule,
  subjectOf,
  whoIs
} from "./buildIntent.ts"
import { Intent, Subject } from "./Intent.ts"
import { Condition } from "./Lookup.ts"
import { readLookup } from "./readLookup.ts"
import { IN_ORDER, SPOKEN } from "./spoken.ts"
import { readTitled } from "./titled.ts"
import { labelsIn } from "./fits.ts"
import { folded, tokenize } from "./tokenize.ts"

/** Verbs before a detail that is asked for. */
const GIVE =
  "(give|show|send|get|find|tell|fetch|pass|got|have you got|have we got|have i got|do you have|do we have|is there|any|grab|look up|need)"

/** Dates that rows have, and that no row is called. */
const OWN_DATE =
  /^(follow[- ]ups?|deadline|due date|last contact|close date|start date|end date|hire date|invoice date)$/

export const QUESTIONS: ReadonlyArray<Rule> = [
  [
    ["who am i", "what is my name", "do you know who i am", "do you know me"],
    () => Intent.Who({ subject: Subject.Me() })
  ],
  [
    [
      "(the)? {n} (one|please|person|of them|option|of those)?",
      "(number|option|no|nr|choice) {n}",
      "(i mean|i meant|it is|that is|take|show me|tell me about|pick|choose) (the|number)? {n} (one|person)?"
    ],
    ({ n }) => Intent.Choose({ index: choice(n!)! })
  ],
  [
    [
      "(show|list|give me|show me|any|see)? (more|the next ones|next page|the rest|more of them|more results)",
      "what else",
      "(are there|any) (more|others)"
    ],
    () => Intent.More()
  ],
  [["what is on {when}"], agenda],
  [["{when}", "for {when}", "what is {when}"], ({ when }, context) => againWith(when!, context)],
  [
    [
      "how many (of)? {lookup}",
      "(count|number of|no of|nr of|the number of|what is the number of|count of|count all|how many people are|total number of|what is the total number of) {lookup}"
    ],
    ({ lookup }, context) => browse("count", readLookup(lookup!, context))
  ],
  // "Number of process reviews": rows that are called so, or the number of someone whose name ends in s.
  [
    ["(the)? number of {plural}"],
    ({ plural }, context) =>
      readTitled([...tokenize("how many"), ...plural!], detailOf("phone")({ name: plural! }), context)
  ],
  [
    ["(the)? number of {plural} {conds}"],
    ({ conds, plural }, context) =>
      readTitled([...tokenize("how many"), ...plural!, ...conds!], Intent.NotKnown(), context)
  ],
  [
    [
      "how many {lookup} (does|do|did|has|have) {name} (have|got|own|had|manage|handle|look after|looked after)",
      "how many {lookup} (has|have) {name}",
      "how many {lookup} {name} (has|have|owns|manages|handles|looks after)"
    ],
    (captures, context) => asCount(listOf(captures, context))
  ],
  [
    ["(what|which) {noun} (is|are|was) {proper} (on|in|by|from|at|with|of)?"],
    ({ noun, proper }) => detailOf(folded(noun!))({ name: proper! })
  ],
  [
    [
      "(what|which) {lookup} (does|do|did|has|have) {name} (have|got|own) (on|for|scheduled|planned)? {when}",
      "(what|which) {lookup} (does|do|did|has|have|is|are) {name} (have|got|own|in|scheduled|attending)"
    ],
    listOf
  ],
  [
    ["who do (i|we) (know|have) (at|from) {place}"],
    ({ place }, context) => peopleWhere(context, Condition.At({ words: place!, preposition: "at" }))
  ],
  [
    ["who do (i|we) (know|have) in {place}"],
    ({ place }, context) => peopleWhere(context, Condition.At({ words: place!, preposition: "in" }))
  ],
  // "My site visits next week": rows that are called so.
  [
    [
      "my {plural} {when}",
      "(do|did|will) i have (any|some)? {plural} {when}",
      "(which|what) {plural} (do|did|will) i have {when}"
    ],
    ({ plural, when }, context) => readTitled([...tokenize("my"), ...plural!, ...when!], Intent.NotKnown(), context)
  ],
  ...SPOKEN,
  [["(who|which) (of|among) {lookup}"], ({ lookup }, context) => browse("list", readLookup(lookup!, context))],
  [["who {tail}"], ({ tail }, context) => browse("list", peopleWho(tail!, context))],
  [
    [
      "what (is|was) (on|in) (my|the)? (calendar|agenda|schedule)",
      "what (is|was) (on|in) (my|the)? (calendar|agenda|schedule) (for)? {when}",
      "what (is|was) (on|up|planned|scheduled|happening|going on) (for)? {when}",
      "what is on my (plate|list|diary) (for)? {when}",
      "what (did i do|am i doing|was i doing|happened|happens|took place|is happening|was happening|went on) {when}",
      "(is there|was there|have we got)? anything (on|up|planned|scheduled|happening) (for)? {when}",
      "what (do|did|have|had|will) i (have|got|had) (on|planned|scheduled)? (for|on)? {when}",
      "(do|did|will) i have (anything|any plans|plans|something) (on|for|planned|scheduled)? {when}",
      "have i got (anything|any plans|plans|something) (on|for|planned|scheduled)? {when}",
      "(have you|have i|you|have we)? got (anything|something) (on|planned|scheduled)? (for)? {when}",
      "(is|was)? (anything|something) (going on|happening|coming up) (on|for)? {when}",
      "(show|show me|list) {when}",
      "is there (anything|something) (on|in) (my|the) (calendar|agenda|schedule) (for)? {when}",
      "(my)? (calendar|agenda|schedule) (for)? {when}",
      "what is my (day|week|schedule) (like|look like) {when}",
      "what does (my|the|your) {when} look like",
      "how (does|is) (my|the) {when} (look|looking|shaping up)?",
      "what is (my|the) {when} (like|looking like)",
      "what does (my|the)? (day|week|calendar|schedule|agenda) look like (for)? {when}",
      "how (does|is) (my|the)? (day|week|calendar|schedule|agenda) (look|looking)? (for)? {when}"
    ],
    agenda
  ],
  [
    [
      "(am|was) i (busy|free|available|booked) (on|for)? {when}",
      "(how busy am i|do i have time|have i got time|do i have a gap) (on|for)? {when}"
    ],
    busy
  ],
  [
    ["(is|was|will) {name} (be)? (busy|free|available|booked|in a meeting|tied up|double booked) (on|for|at)? {when}"],
    busyOther
  ],
  [
    [
      "who else (works|is|sits) (there|at the same company|at that company)",
      "who else do (we|you|i) (know|have) there",
      "(his|her|their) colleagues",
      "who are (his|her|their) colleagues"
    ],
    () => Intent.Colleagues()
  ],
  [
    [
      "(what is|what are|what was)? (the)? {name} 's {via} 's {what}",
      "(what is|what are|what was)? {pronoun} {via} 's {what}"
    ],
    ({ name, pronoun, via, what }) =>
      Intent.Via({
        subject: name === undefined || pronoun !== undefined ? Subject.Focus() : subjectOf(name),
        via: folded(via!),
        what: folded(what!)
      })
  ],
  [
    ["(is|are|was) {name} (a|an)? {one} or (still|now|already)? (a|an)? {other}"],
    ({ name, one, other }) => Intent.Is({ subject: subjectOf(name!), words: folded(one!), or: folded(other!) })
  ],
  [
    ["(is|are|was) {name} (a|an) {quality}", "(is|are|was) {name} {one}"],
    ({ name, one, quality }) => Intent.Is({ subject: subjectOf(name!), words: folded(quality ?? one!) })
  ],
  [
    ["(the|what is|what are|give me|show me|tell me)? (the)? {labels} (of|for) {name}", "{name} 's {labels}"],
    ({ labels, name }) =>
      labelsIn(labels!)!.includes(" and ") ? detailOf(labelsIn(labels!)!)({ name: name! }) : undefined
  ],
  [["{headed} {labels}"], ({ headed, labels }) => detailOf(labelsIn(labels!)!)({ name: headed! })],
  [
    ["(what is|who is|and)? (her|his|their|its|the) {concept}"],
    ({ concept }, context) =>
      (context.focus ?? []).length === 1 ? detail({ what: concept! }, { ...context, types: [] }) : undefined
  ],
  [
    [
      "(what|who|when|where) (is|are|was) (the)? {name} 's {concepts}",
      "(give|show|send|get|find|tell) (me)? {name} 's {concepts}",
      "{name} 's {concepts}"
    ],
    ({ concepts, name }) => detailOf(detailsIn(concepts!, () => true)!)({ name: name! })
  ],
  [
    [
      "(what|who|when|where) (is|are|was) (the)? {concepts} (of|for) {name}",
      `${GIVE} (me|us)? (the|a|an)? {concepts} (of|for|from) {name}`,
      "(the|a|an)? {concepts} (of|for) {name}"
    ],
    // A single detail can also be a list: "the contacts of Ada".
    ({ concepts, name }) => {
      const what = detailsIn(concepts!, () => true)!
      return what.includes(" and ") ? detailOf(what)({ name: name! }) : undefined
    }
  ],
  [
    [
      "(list|show|show me|give me|find|find me|get|get me|display|see|pull up|search|search for|look for|look up|which are|what are|who are|what is|what was|what were|who is|when is|when are|when was|where is|do we have|do you have|we have|have we got|there are|are there|is there|see) {lookup}",
      "(what|which) {lookup}",
      "{lookup}"
    ],
    listOf
  ],
  IN_ORDER,
  [
    ["(do i have|have i got|did i have|do i see|i have) {lookup}"],
    ({ lookup }, context) => browse("list", readLookup(lookup!, context), Condition.Mine())
  ],
  [["(list|show|show me|find|who are|which are)? (all)? the {family}"], ({ family }) => whoIs({ name: family! })],
  [
    [
      "(how can|how do|how could) (i|we|you|one) (reach|contact|call|get hold of|get in touch with|email|phone|write to) {name}",
      "contact (details|info|information|data) (of|for) {name}",
      "(a|the)? contact for {name}"
    ],
    detailOf("contact")
  ],
  [
    [
      "(which|what) (company|firm|organization) (does|is|do) {name} (work for|work at|at|with|from|in|belong to)",
      "(who|where) (does|do) {name} work (for|at)?"
    ],
    detailOf("company")
  ],
  [
    [
      "(where) (does|do) {name} (live|come from)",
      "where (is|are) {name} (based|located|from|living)?",
      "(what|which) (city|town) (is|does|do|are) {name} (in|from|live in|based in)"
    ],
    detailOf("city")
  ],
  [
    [
      "who (owns|manages|looks after|handles|takes care of|is responsible for|is in charge of|is assigned to) {name}",
      "whose (customer|client|lead|account|deal) is {name}"
    ],
    detailOf("owner")
  ],
  [
    [
      "who (attends|attended|is attending|is in|was at|joins) {focus}",
      "who (is|was|will be) (there|coming|attending|invited)"
    ],
    ({ focus }) =>
      Intent.Detail({ subject: focus === undefined ? Subject.Focus() : subjectOf(focus), what: "attendees" })
  ],
  [
    ["when (is|was) (the)? {concepts} (of|for) {name}", "when (is|was) {name} 's {what}"],
    ({ concepts, name, what }, context) => detail({ name: name!, what: what ?? concepts! }, context)
  ],
  // "When is the follow-up?", after an answer about one row.
  [
    ["when (is|was) (the|his|her|their|its) (next|last)? {concepts}"],
    ({ concepts }) =>
      OWN_DATE.test(folded(concepts!))
        ? Intent.Detail({ subject: Subject.Focus(), what: folded(concepts!) })
        : undefined
  ],
  [
    [
      "when (is|was|are|does|did) {name} (start|begin|due|happening|scheduled)?",
      "what time (is|does) {name} (start|begin)?"
    ],
    detailOf("date")
  ],
  [
    [
      "(what|who) (is|are|was) (the)? {name} {concepts}",
      "(give|show|send|get|find|tell) (me)? {name} {concepts}",
      "{name} {concepts}"
    ],
    ({ concepts, name }, context) => detail({ name: name!, what: concepts! }, context)
  ],
  [
    [
      "(what|who|which) (is|are|was) {name} 's {what}",
      "(give|show|send|get|find|tell) (me)? {name} 's {what}",
      "{name} 's {what}",
      "(what|who) (is|are|was) (the)? {what} (of|for) {name}",
      `${GIVE} (me|us)? (the|a|an|any)? {what} (of|for|from) {name}`,
      "(the|a|an)? {what} (of|for) {name}",
      "(does|do|has) {name} (have|got) (a|an|any)? {what}",
      "(what|which) {what} (does|do|did|is|are|has) {name} (have|in|at|on|got|with|under|belong to|assigned to|looked after by|handled by|managed by|owned by|owned)?",
      "(in|at|with|on|under|for) (what|which) {what} (is|are|does|do) {name} (work|live|sit)?"
    ],
    detail
  ],
  [
    [
      "(what|which) {what} (does|do|did|is|are|has) {name} (want|need|like|use|buy|take|pick|choose|go for|opt for|go with|sign up for|into|interested in|keen on)"
    ],
    // "Which leads did Raj want": not those that he has.
    (captures, context) => {
      const found = detail(captures, context)
      return found?._tag === "Browse" ? undefined : found
    }
  ],
  [
    [
      "(what|who|which|when|where) (is|are|was) (her|his|their|its|the|that|this) {what}",
      "(give|show|send|get|tell) me (her|his|their|its|the) {what}",
      "(her|his|their|its) {what}",
      "(the|which|what)? {concept}",
      "what is {concept}",
      "the {thing}",
      "do you have (her|his|their|its|a|the) {what}"
    ],
    ({ concept, thing, what }, context) => detail({ what: what ?? concept ?? thing! }, context)
  ],
  [
    ["(who is|who was)? my (boss|manager|supervisor|line manager|superior|team lead)", "who do i (report|answer) to"],
    () => Intent.Detail({ subject: Subject.Me(), what: "reports to" })
  ],
  [["what is my {what}", "my {what}"], ({ what }) => Intent.Detail({ subject: Subject.Me(), what: folded(what!) })],
  [
    [
      "(who|what) (is|was|are) {name}",
      "(tell|show|give) me (more|everything|something|all)? (about|on) {name}",
      "(find|find me|look up|look for|search for|search|pull up|bring up|get|get me|show|show me|open|display|see|lookup|who) {name}",
      "about {name}",
      "(information|info|details|profile|record|more|anything|something) (about|on|for|of) {name}",
      "what do (you|we) (know|have) (about|on) {name}",
      "(do you know|do we know|do we have|is there|have we got|do you have) (a|an|anyone called|anybody called|someone called|somebody called|anyone named|someone named)? {name}"
    ],
    whoIs
  ],
  [["(the)? {plural}"], ({ plural }, context) => readTitled(plural!, whoIs({ name: plural! })!, context)],
  [["(the)? {bare}"], ({ bare }) => whoIs({ name: bare! })]
]
