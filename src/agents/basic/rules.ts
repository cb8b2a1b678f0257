/** The ways of saying things, each with what it means. The first rule that fits the whole message wins. */
import type { Context } from "./readConversation.ts"
import { readFacts } from "./readFacts.ts"
import { Intent, Subject } from "./Intent.ts"
import { CARDINALS, ORDINALS, PRONOUNS } from "./lexicon.ts"
import { Condition, type Lookup, peopleOf, readLookup } from "./readLookup.ts"
import { readNames } from "./readNames.ts"
import type { Captures } from "./patterns.ts"
import { timeAt } from "./readTime.ts"
import { folded, type Token } from "./tokenize.ts"

export type Rule = readonly [
  patterns: ReadonlyArray<string>,
  build: (captures: Captures, context: Context) => Intent | undefined
]

export const SMALL_TALK: ReadonlyArray<Rule> = [
  [
    [
      "(hi|hello|hey|howdy|greetings|yo|hiya|good morning|good afternoon|good evening|good day) (there|max|everyone|all|again)?"
    ],
    () => Intent.Greeting()
  ],
  [
    [
      "(thanks|thank you|thx|cheers|ta|many thanks|great|perfect|awesome|cool|nice|ok|okay|got it|wonderful|excellent) (so much|a lot|very much|max|thanks|thank you|again)?",
      "(ok|okay|great|perfect) (thanks|thank you) (max|so much|a lot)?",
      "(that|this) is (all|great|perfect|it) (thanks|thank you)?"
    ],
    () => Intent.Thanks()
  ],
  [["(bye|goodbye|good night|see you|see you later|that is all) (max)?"], () => Intent.Bye()],
  [
    [
      "help (me)?",
      "what can (you|max) (do|tell me|look up|answer)",
      "(what can i|how can i|what should i) (ask|say|use this) (you)?",
      "how does this work",
      "what do you (do|know)",
      "(who|what) are you",
      "are you (a|an) {rest}"
    ],
    () => Intent.Help()
  ]
]

const meetings = (context: Context): Lookup["noun"] | undefined => {
  const type = context.types.find(({ id }) => id === "meetings")
  return type && { type, said: type.plural }
}

const browse = (mode: "list" | "count", lookup: Lookup | undefined, ...more: ReadonlyArray<Condition>) =>
  lookup && Intent.Browse({ mode, lookup: { ...lookup, conditions: [...lookup.conditions, ...more] }, skip: 0 })

const list = ({ lookup, name, when }: Captures, context: Context) => {
  const mine = name !== undefined && name.length === 1 && name[0]!.word === "i"
  const time = when === undefined ? undefined : timeAt(when, context.today)
  return browse(
    "list",
    readLookup(lookup!, context),
    ...(name === undefined ? [] : mine ? [Condition.Mine()] : [Condition.With({ words: name })]),
    ...(time === undefined ? [] : [Condition.Time({ when: time.when })])
  )
}

const agenda = ({ when }: Captures, context: Context) => {
  const noun = meetings(context)
  const time = when === undefined ? undefined : timeAt(when, context.today)
  return (
    noun &&
    Intent.Browse({
      mode: "list",
      skip: 0,
      lookup: {
        noun,
        conditions: [Condition.Mine(), ...(time === undefined ? [] : [Condition.Time({ when: time.when })])]
      }
    })
  )
}

const detail = ({ name, what }: Captures, context: Context): Intent | undefined => {
  const lookup = readLookup(what!, context)
  if (lookup !== undefined && name !== undefined) {
    const [first] = name
    return browse("list", lookup, first?.word === "my" ? Condition.Mine() : Condition.With({ words: name }))
  }
  const subject = name === undefined ? Subject.Focus() : subjectOf(name)
  return subject._tag === "Named"
    ? (introduced(subject.tokens, folded(what!)) ?? Intent.Detail({ subject, what: folded(what!) }))
    : Intent.Detail({ subject, what: folded(what!) })
}
const asking =
  (what: string) =>
  ({ name }: Captures) =>
    Intent.Detail({ subject: subjectOf(name!), what })

const who = ({ name }: Captures): Intent => {
  // Everything of a kind that isn't there.
  if (/^(all|my|any|every|our)$/.test(name![0]!.word)) return Intent.NotKnown()
  if (name!.slice(0, -1).some(({ after }) => after !== "")) {
    return Intent.Introduce({ names: readNames(name!, true), facts: readFacts(name!), sure: true })
  }
  const subject = subjectOf(name!)
  const found = subject._tag === "Named" ? introduced(subject.tokens) : undefined
  return found ?? Intent.Who({ subject })
}

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
  [["{when}", "for {when}", "what is {when}"], ({ when }, context) => again(when!, context)],
  [
    [
      "how many (of)? {lookup}",
      "(count|number of|the number of|what is the number of|count of|count all|how many people are|total number of|what is the total number of) {lookup}"
    ],
    ({ lookup }, context) => browse("count", readLookup(lookup!, context))
  ],
  [
    ["how many {lookup} (does|do|did|has|have) {name} (have|got|own)"],
    (captures, context) => counted(list(captures, context))
  ],
  [
    [
      "(what|which) {lookup} (does|do|did|has|have) {name} (have|got|own) (on|for|scheduled|planned)? {when}",
      "(what|which) {lookup} (does|do|did|has|have|is|are) {name} (have|got|own|in|scheduled|attending)"
    ],
    list
  ],
  [
    [
      "who (works|work|is working|are working) (at|for|in|with) {place}",
      "who (is|are) at {place}",
      "who do (i|we) (know|have) at {place}"
    ],
    ({ place }, context) => everybody(context, Condition.At({ words: place!, preposition: "at" }))
  ],
  [
    ["who (is|are|lives|live|sits|comes) (in|from|near) {place}", "who do (i|we) (know|have) in {place}"],
    ({ place }, context) => everybody(context, Condition.At({ words: place!, preposition: "in" }))
  ],
  [
    ["who has (a|the)? {what} {value}"],
    ({ value, what }, context) => everybody(context, Condition.Where({ words: [...what!, ...value!] }))
  ],
  [
    [
      "what is on (my|the)? (calendar|agenda|schedule)",
      "what is on (my|the)? (calendar|agenda|schedule) (for)? {when}",
      "what (do|have) i (have|got) (on|planned|scheduled)? (for)? {when}",
      "(am i|do i) (busy|free|have anything|have any plans) (on|for)? {when}",
      "(my)? (calendar|agenda|schedule) (for)? {when}",
      "what is my (day|week|schedule) (like|look like) {when}"
    ],
    agenda
  ],
  [
    ["(what is|who is|and)? (her|his|their|its|the) {concept}"],
    ({ concept }, context) =>
      (context.focus ?? []).length === 1 ? detail({ what: concept! }, { ...context, types: [] }) : undefined
  ],
  [
    [
      "(list|show|show me|give me|find|find me|get|get me|display|see|pull up|search|search for|look for|look up|which are|what are|who are|what is|who is|when is|when are|when was|where is|do i have|do we have|have i got|have we got|are there|is there|i see|see) {lookup}",
      "(what|which) {lookup}",
      "{lookup}"
    ],
    list
  ],
  [
    [
      "(how can|how do|how could) (i|we|you|one) (reach|contact|call|get hold of|get in touch with|email|phone|write to) {name}",
      "contact (details|info|information|data) (of|for) {name}",
      "(a|the)? contact for {name}"
    ],
    asking("contact")
  ],
  [
    [
      "(which|what) (company|firm|organization) (does|is|do) {name} (work for|work at|at|with|from|in|belong to)",
      "(who|where) (does|do) {name} work (for|at)?"
    ],
    asking("company")
  ],
  [
    [
      "(where) (does|do) {name} (live|come from)",
      "where (is|are) {name} (based|located|from|living)?",
      "(what|which) (city|town) (is|does|do|are) {name} (in|from|live in|based in)"
    ],
    asking("city")
  ],
  [
    [
      "who (owns|manages|looks after|handles|takes care of|is responsible for|is in charge of|is assigned to) {name}",
      "whose (customer|client|lead|account|deal) is {name}"
    ],
    asking("owner")
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
    [
      "when (is|was|are|does|did) {name} (start|begin|due|happening|scheduled)?",
      "what time (is|does) {name} (start|begin)?"
    ],
    asking("date")
  ],
  [
    [
      "(what|who|which) (is|are|was) {name} 's {what}",
      "(give|show|send|get|find|tell) (me)? {name} 's {what}",
      "{name} 's {what}",
      "(what|who) (is|are|was) (the)? {what} (of|for) {name}",
      "(give|show|send|get|find) (me)? (the)? {what} (of|for|from) {name}",
      "(the)? {what} (of|for) {name}",
      "(does|do|has) {name} (have|got) (a|an|any)? {what}",
      "(what|which) {what} (does|do|is|has) {name} (have|in|at|on|got)?"
    ],
    detail
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
    who
  ],
  [["(the)? {bare}"], ({ bare }) => who({ name: bare! })]
]

const counted = (intent: Intent | undefined): Intent | undefined =>
  intent?._tag === "Browse" ? Intent.Browse({ ...intent, mode: "count" }) : intent

const everybody = (context: Context, condition: Condition): Intent | undefined => {
  const type = peopleOf(context)
  return (
    type &&
    Intent.Browse({ mode: "list", skip: 0, lookup: { noun: { type, said: "people" }, conditions: [condition] } })
  )
}

const again = (when: ReadonlyArray<Token>, context: Context): Intent | undefined => {
  const time = timeAt(when, context.today)
  return time && Intent.Again({ condition: Condition.Time({ when: time.when }) })
}

/** The number that somebody chooses by, from 1; 0 for the last one. */
export const choice = (tokens: ReadonlyArray<Token>): number | undefined => {
  const word = tokens.length === 1 ? tokens[0]!.word.replace(/^#/, "") : ""
  if (/^\d{1,2}$/.test(word)) return Number(word)
  return word === "last" ? 0 : (ORDINALS[word] ?? CARDINALS[word])
}

const subjectOf = (tokens: ReadonlyArray<Token>): Subject => {
  const [first] = tokens
  if (tokens.length === 1 && (first!.word === "me" || first!.word === "i")) return Subject.Me()
  const points =
    tokens.length === 1 ||
    (tokens.length <= 3 &&
      /^(that|this|the)$/.test(first!.word) &&
      /^(one|person|meeting|company)$/.test(tokens.at(-1)!.word))
  return points && (PRONOUNS.has(first!.word) || tokens.length > 1) ? Subject.Focus() : Subject.Named({ tokens })
}

/** Who is meant when facts about somebody stand beside the name: then it takes more than the name to find them. */
const introduced = (tokens: ReadonlyArray<Token>, what?: string): Intent | undefined => {
  const belongs = tokens.some(({ word }) => word === "of")
  const facts = readFacts(tokens).filter(
    ({ concept, weight }) => weight === "stated" && !(belongs && concept === "city")
  )
  return facts.length === 0
    ? undefined
    : Intent.Introduce({ names: readNames(tokens, true), facts, sure: true, ...(what === undefined ? {} : { what }) })
}
