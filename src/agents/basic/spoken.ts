/** Rules for questions in people's own wording: each means what a shorter question means that other rules know. */
import { browse, detail, detailOf, peopleWhere, peopleWho, type Rule } from "./buildIntent.ts"
import { named, untilNow } from "./conditionBuilders.ts"
import { Intent, Subject } from "./Intent.ts"
import { Condition, type Lookup } from "./Lookup.ts"
import type { Captures } from "./patterns.ts"
import { whenOf } from "./readClock.ts"
import type { Context } from "./readConversation.ts"
import { readConditions, readLookup } from "./readLookup.ts"
import { readTitled } from "./titled.ts"
import { DONE } from "./shorthand.ts"
import { folded, tokenize } from "./tokenize.ts"

const WE = "(we|i|you|anyone|anybody|someone|somebody)"
const TALK = "(contact|speak to|speak with|talk to|talk with|hear from|reach|get in touch with|call)"
const TALKED =
  "(contacted|spoke to|spoke with|spoken to|spoken with|talked to|talked with|heard from|reached|got in touch with|called)"
const HOW_LONG = "how long (is it|has it been|is it been)? since"
const LAST_TIME = "(when was)? (the|my|our)? last time"

/** Meetings with a person or at a time: the asker's own if the question says "I". */
const met =
  (mode: "list" | "count", which?: Lookup["order"] | "ahead") =>
  ({ i, name, past, when }: Captures, context: Context): Intent | undefined => {
    const order = which === "ahead" ? undefined : which
    const type = context.types.find(({ id }) => id === "meetings")
    const whom = name && named(name, context)
    const time = when && whenOf(when, context.today)
    if (type === undefined || (name !== undefined && whom === undefined)) return undefined
    const conditions = [
      ...(i![0]!.word === "i" ? [Condition.Mine()] : []),
      ...(whom === undefined ? [] : [Condition.With(whom)]),
      ...(time === undefined ? [] : [Condition.Time({ when: time })]),
      ...(which === "ahead" ? [Condition.Time({ when: { from: context.today, said: "coming up" } })] : []),
      ...(past === undefined || order !== undefined ? [] : [untilNow(context.today)])
    ]
    const said = order === undefined ? type.plural : type.name
    return browse(mode, { noun: { type, said }, conditions, ...(order === undefined ? {} : { order, limit: 1 }) })
  }

/** People with these conditions, and with a quality that is said apart from them. */
const peopleThat = ({ conds, one }: Captures, context: Context): Intent | undefined => {
  const conditions = readConditions(conds!, context)
  const quality = one === undefined ? [] : [Condition.Quality({ words: folded(one) })]
  return conditions && peopleWhere(context, ...conditions, ...quality)
}

/** A list of one type's rows, with what the rule says besides. */
const listed =
  (mode: "list" | "count") =>
  ({ lookup, meeting }: Captures, context: Context): Intent | undefined =>
    browse(mode, readLookup((lookup ?? meeting)!, context))

/** A detail of someone whom the message doesn't name. */
const withoutName = ({ concepts }: Captures): Intent =>
  Intent.Detail({ subject: Subject.Focus(), what: folded(concepts!) })

export const SPOKEN: ReadonlyArray<Rule> = [
  [
    [
      "(what is|what are|give me|show me)? (the|a)? {concepts} (of|for|from) (someone|somebody|anyone|a person|one person|a customer|a client)",
      "(someone|somebody|anyone) 's {concepts}",
      "(give|show|send|get|tell|find) (me|us) (the|a|an) {concepts}",
      "(what|which) {concepts} (do|have) (i|we|you) (have|got)"
    ],
    withoutName
  ],
  // The question word last: "Cedar Labs is whose account".
  [
    [
      "{name} (is|are) whose (customer|client|account|lead|deal|company|contact)?",
      "{name} belongs to (who|whom|which rep)",
      "{name} (is|are) (owned|managed|handled|looked after) by (who|whom|which rep)",
      "{name} (is|are) with (who|whom|which rep)"
    ],
    detailOf("owner")
  ],
  [
    ["{name} (was|were|is)? (last)? {dated} (when|on what day|on which day)"],
    ({ dated, name }, context) => detail({ name: name!, what: dated! }, context)
  ],
  [
    ["(was|am|were) i (at|in) (any|a|an|the)? {rest}", "have i been (to|at|in) (any|a|an|the)? {rest}"],
    ({ rest }, context) => {
      const found = readTitled([...tokenize("my"), ...rest!], Intent.Unclear({ tokens: rest! }), context)
      return found?.conditions.some(({ _tag }) => _tag === "With" || _tag === "Time") === true ? found : undefined
    }
  ],
  [["{name} works (where|for who|for whom|at which company|for which company)"], detailOf("company")],
  [["{name} (lives|is based|is located|sits) (where|in which city|in which town)"], detailOf("city")],
  [["{name} (is|was|starts|started|happens|happened) (when|on what day|on which day)"], detailOf("date")],
  [
    ["{name} (has|have|is in|is on|is at) (what|which) {concept}"],
    ({ concept, name }, context) => detail({ name: name!, what: concept! }, context)
  ],
  [
    ["(have|did) (we|i|you) {done} {name}", "(have|did) (we|i|you) {done} {name} (yet|already)"],
    ({ done, name }) => Intent.Is({ subject: Subject.Named({ tokens: name! }), words: DONE[done![0]!.word]! })
  ],
  [
    ["(what is|which is)? (the)? {possessor} (company|employer)"],
    ({ possessor }) => detailOf("company")({ name: possessor! })
  ],
  [["(what|when)? (is|was)? {name} ('s)? last contact (date)?"], detailOf("last contact")],
  [
    [
      "when (do|should|must|are) (i|we|you) (need to|have to|supposed to)? follow up (with|on)? (him|her|them|it|there)?"
    ],
    () => Intent.Detail({ subject: Subject.Focus(), what: "follow up" })
  ],
  [
    ["what {concept} {name} (is|has|have|are) (in|at|on|got)?"],
    ({ concept, name }, context) => detail({ name: name!, what: concept! }, context)
  ],
  [
    [
      "how long (is|was|will) {row} (be|going to be|going to take|take|last)?",
      "how long (does|did|do|will) {row} (take|last|run|go on|go)",
      "(what is|what was)? (the)? (length|duration) of {row}",
      "how long (is|was|will) the {bare} (be|take|last)?",
      "how long (does|did|will) the {bare} (take|last|run)"
    ],
    ({ bare, row = bare }, context) => {
      const titled = bare === undefined ? row! : [...tokenize("which"), ...bare]
      const of =
        browse("list", readLookup(row!, context)) ?? readTitled(titled, Intent.Unclear({ tokens: row! }), context)
      return of && Intent.HowLong({ of })
    }
  ],
  [
    [
      "(what time|what day|which day|at what time|on what day) (is|was|are|were|do i have|did i have) {lookup}",
      "when do i have {lookup}"
    ],
    listed("list")
  ],
  [
    [
      "(who|whom) (came to|attended|was at|was in|is coming to|is at|will be at|joined|is attending|attends|took part in) {meeting}"
    ],
    listed("list")
  ],
  [
    [
      "(who|whom) (came to|attended|was at|was in|is coming to|is at|will be at|joined|is attending|attends|took part in|was there at|was there in) (the|my|our)? {rest}"
    ],
    ({ rest }, context) => {
      const found = readTitled(rest!, Intent.Unclear({ tokens: rest! }), context)
      return found?.conditions.some(({ _tag }) => _tag === "With" || _tag === "Time") === true ? found : undefined
    }
  ],
  [
    [
      "{lookup} how many (are there|were there|is that|are they|were they|do we have|do i have|did i have|did we have|have we got|have i got|have i had)?"
    ],
    listed("count")
  ],
  [
    [
      "(did|do|have|will|am) {i} (meet with|meet|met with|met|see|seen|meeting with|meeting|seeing) {name} {when}",
      "(did|do|have) {i} (meet with|meet|met with|met|see|seen|meeting with|meeting|seeing) {name}"
    ],
    met("list")
  ],
  [["(will|am) {i} (meet with|meet|see|meeting with|meeting|seeing) {name}"], met("list", "ahead")],
  [
    [
      "(did|have) {name} and {i} (meet|met|talk|talked|speak|spoken) {when}",
      "(did|have) {name} and {i} (meet|met|talk|talked|speak|spoken)",
      "(did|have) {i} and {name} (meet|met|talk|talked|speak|spoken) {when}"
    ],
    met("list")
  ],
  [
    [
      `when did ${WE} last ${TALK} {name}`,
      `when did ${WE} ${TALK} {name} last`,
      `when have ${WE} last ${TALKED} {name}`,
      `${HOW_LONG} ${WE} (have)? (last)? ${TALKED} {name}`,
      `${LAST_TIME} ${WE} (have)? ${TALKED} {name}`,
      `when (was|were) {name} last ${TALKED}`,
      "(when was|what was)? (the|our|my)? last contact (with|to) {name}"
    ],
    detailOf("last contact")
  ],
  [
    [
      "when did {i} last (meet|meet with|see) {name}",
      "when did {i} (meet|meet with|see) {name} last",
      `${LAST_TIME} {i} (met|met with|saw) {name}`,
      `${HOW_LONG} {i} (have)? (last)? (met|met with|saw|seen) {name}`
    ],
    met("list", "latest")
  ],
  [
    [
      "when (do|will) {i} (next)? (meet|meet with|see) {name} (next|again)?",
      "when (am|are) {i} (next)? (meeting|meeting with|seeing) {name} (next|again)?"
    ],
    met("list", "next")
  ],
  [
    [
      "(how many times|how often) {past} {i} (meet|meet with|see|met|met with|seen) {name} {when}",
      "(how many times|how often) {past} {i} (meet|meet with|see|met|met with|seen) {name}"
    ],
    met("count")
  ],
  [
    [
      "(who|whom) (did|do|will) {i} (meet|meet with|see) {when}",
      "(who|whom) (am|are|was|were) {i} (meeting|meeting with|seeing) {when}",
      "(who|whom) have {i} (met|met with|seen) {when}"
    ],
    met("list")
  ],
  [
    [
      "(is there|was there|have i got|do i have|did i have|show me|show|list|give me|find|see)? (everything|anything|something) {conds}",
      "what (have i got|do i have|did i have) {conds}"
    ],
    ({ conds }, context) => {
      const type = context.types.find(({ id }) => id === "meetings")
      const conditions = readConditions(conds!, context)
      return conditions?.some(({ _tag }) => _tag === "With" || _tag === "Time") !== true
        ? undefined
        : browse("list", type && { noun: { type, said: type.plural }, conditions: [Condition.Mine(), ...conditions] })
    }
  ],
  [
    [
      "who does {name} belong to",
      "whose is {name}",
      "who (is|was) (in charge of|responsible for|the owner of|looking after|handling|managing|taking care of) {name}"
    ],
    detailOf("owner")
  ],
  [["when (do|should|must) (i|we|you) (need to|have to)? follow up (with|on) {name}"], detailOf("follow up")],
  [["when did {name} (start|begin) (working|work)? (here|with us|for us|at the company)"], detailOf("hired")],
  [["who does {name} (report|answer) to"], detailOf("reports to")],
  [["where (is|does) {name} (working|work|employed)"], detailOf("company")],
  [
    ["when (was|were|is|are) {name} {dated}", "when did {name} (get)? {dated}"],
    ({ dated, name }, context) => detail({ name: name!, what: dated! }, context)
  ],
  [
    [
      "(is|are|was|were) {name} (still|now|currently|already|really|actually) (a|an)? {quality}",
      "(is|are|was|were) {name} (a|an) {quality} (yet|already|now|still)",
      "(is|are|was|were) {name} {one} (yet|already|now|still)"
    ],
    ({ name, one, quality }) => Intent.Is({ subject: Subject.Named({ tokens: name! }), words: folded(quality ?? one!) })
  ],
  [
    ["is {name} (one of|among) (our|my|the) {noun}"],
    ({ name, noun }) => Intent.Who({ subject: Subject.Named({ tokens: [...noun!, ...name!] }) })
  ],
  // Who else, where the question names the one who isn't meant.
  [
    ["who else {tail}"],
    ({ tail }, context) => {
      const lookup = peopleWho(tail!, context)
      return lookup?.conditions.some(({ _tag }) => _tag === "Not") === true ? browse("list", lookup) : undefined
    }
  ],
  [
    [
      "(has|have|had) (anyone|anybody|someone|somebody) {conds} been {one}",
      "(has|have|had) (anyone|anybody|someone|somebody) been {one} {conds}",
      "(is|are|was|were) (there)? (anyone|anybody|someone|somebody) {conds} {one}",
      "(is|are|was|were) (there)? (anyone|anybody|someone|somebody) {conds}",
      "(is|are|was|were) (there)? (anyone|anybody|someone|somebody) {one} {conds}",
      "who (do|did) (i|we) (know|have) {conds}"
    ],
    peopleThat
  ]
]

/** "The most common status", without the type that has one. */
export const COMMONEST: ReadonlyArray<Rule> = (
  [
    ["most", false],
    ["least", true]
  ] as const
).flatMap(([most, upwards]): ReadonlyArray<Rule> => [
  [
    [`(what is|which is|what are)? (the|our)? ${most} (common|frequent|usual) {by}`],
    ({ by }) => Intent.Commonest({ by: by!, upwards, popular: false })
  ],
  [
    [
      `(what is|which is|what are)? (the|our)? ${most} popular {by}`,
      `(what|which) {by} (is|are) (the)? ${most} popular`
    ],
    ({ by }) => Intent.Commonest({ by: by!, upwards, popular: true })
  ]
])

/** The first, last or next row that is called so: "when was the last board dinner". */
export const IN_ORDER: Rule = [
  ["when (is|was|are|were) {rest}", "what (is|was) {rest}"],
  ({ rest }, context) => {
    const found = readTitled(rest!, detailOf("date")({ name: rest! }), context)
    // "When was process review with Carlos": such rows show their dates.
    const isList = found?.conditions.some(({ _tag }) => _tag === "With" || _tag === "Time") === true
    return found?.order === undefined && !isList ? undefined : found
  }
]
