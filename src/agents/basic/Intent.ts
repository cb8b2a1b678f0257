/**
 * What a person wants, read from what was said. To teach basic mode something new: add a case here, a line to RULES
 * with the ways of saying it, and a script that does it (src/agents/basic/scripts.ts).
 */
import { Data } from "effect"
import { PEOPLE } from "../../domain/EntityType.ts"
import type { Known } from "./conversation.ts"
import { type Fact, readFacts } from "./facts.ts"
import { AGGREGATE_PHRASES, AGGREGATES, CARDINALS, CLOSERS, COMMON, CONCEPTS, OPENERS, ORDINALS, PARTICLES, PRONOUNS, TITLES } from "./lexicon.ts" // prettier-ignore
import { Condition, type Lookup, nounAt, readLookup } from "./lookup.ts"
import { readNames, type SpokenName } from "./names.ts"
import { type Captures, endsWith, type Fits, matchPhrase, phrase, startsWith } from "./phrases.ts"
import { timeAt } from "./time.ts"
import { folded, type Token, tokenize, written } from "./tokens.ts"

export type Subject = Data.TaggedEnum<{
  Named: { readonly tokens: ReadonlyArray<Token> }
  /** Whatever the last answer was about. */
  Focus: {}
  Me: {}
}>
export const Subject = Data.taggedEnum<Subject>()

export type Intent = Data.TaggedEnum<{
  Greeting: {}
  Thanks: {}
  Help: {}
  Bye: {}
  Who: { readonly subject: Subject }
  Detail: { readonly subject: Subject; readonly what: string }
  Browse: { readonly mode: "list" | "count"; readonly lookup: Lookup; readonly skip: number }
  /** Somebody is introduced in free text. `sure` when it can't be about anything else. */
  Introduce: {
    readonly names: ReadonlyArray<SpokenName>
    readonly facts: ReadonlyArray<Fact>
    readonly sure: boolean
    readonly what?: string
  }
  Choose: { readonly index: number }
  Again: { readonly condition: Condition }
  More: {}
  Uncountable: { readonly lookup?: Lookup }
  NotKnown: {}
  Unclear: {}
}>
export const Intent = Data.taggedEnum<Intent>()

type Rule = readonly [ways: ReadonlyArray<string>, build: (captures: Captures, known: Known) => Intent | undefined]

const SMALL_TALK: ReadonlyArray<Rule> = [
  [
    ["(hi|hello|hey|howdy|greetings|yo|hiya|good morning|good afternoon|good evening|good day) (there|max|everyone|all|again)?"],
    () => Intent.Greeting()
  ],
  [
    ["(thanks|thank you|thx|cheers|ta|many thanks|great|perfect|awesome|cool|nice|ok|okay|got it|wonderful|excellent) (so much|a lot|very much|max|thanks|thank you|again)?", "(ok|okay|great|perfect) (thanks|thank you) (max|so much|a lot)?", "(that|this) is (all|great|perfect|it) (thanks|thank you)?"],
    () => Intent.Thanks()
  ],
  [["(bye|goodbye|good night|see you|see you later|that is all) (max)?"], () => Intent.Bye()],
  [
    ["help (me)?", "what can (you|max) (do|tell me|look up|answer)", "(what can i|how can i|what should i) (ask|say|use this) (you)?", "how does this work", "what do you (do|know)", "(who|what) are you", "are you (a|an) {rest}"],
    () => Intent.Help()
  ]
] // prettier-ignore

const meetings = (known: Known): Lookup["noun"] | undefined => {
  const type = known.types.find(({ id }) => id === "meetings")
  return type && { type, said: type.plural }
}

const browse = (mode: "list" | "count", lookup: Lookup | undefined, ...more: ReadonlyArray<Condition>) =>
  lookup && Intent.Browse({ mode, lookup: { ...lookup, conditions: [...lookup.conditions, ...more] }, skip: 0 })

const list = ({ lookup, name, when }: Captures, known: Known) => {
  const mine = name !== undefined && name.length === 1 && name[0]!.word === "i"
  const time = when === undefined ? undefined : timeAt(when, known.today)
  return browse(
    "list",
    readLookup(lookup!, known),
    ...(name === undefined ? [] : mine ? [Condition.Mine()] : [Condition.With({ words: name })]),
    ...(time === undefined ? [] : [Condition.Time({ when: time.when })])
  )
}

const agenda = ({ when }: Captures, known: Known) => {
  const noun = meetings(known)
  const time = when === undefined ? undefined : timeAt(when, known.today)
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

const detail = ({ name, what }: Captures, known: Known): Intent | undefined => {
  const lookup = readLookup(what!, known)
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
  if (name!.slice(0, -1).some(({ after }) => after !== "")) {
    return Intent.Introduce({ names: readNames(name!, true), facts: readFacts(name!), sure: true })
  }
  const subject = subjectOf(name!)
  const found = subject._tag === "Named" ? introduced(subject.tokens) : undefined
  return found ?? Intent.Who({ subject })
}

const QUESTIONS: ReadonlyArray<Rule> = [
  [["who am i", "what is my name", "do you know who i am", "do you know me"], () => Intent.Who({ subject: Subject.Me() })],
  [["(the)? {n} (one|please|person|of them|option|of those)?", "(number|option|no|nr|choice) {n}", "(i mean|i meant|it is|that is|take|show me|tell me about|pick|choose) (the|number)? {n} (one|person)?"], ({ n }) => Intent.Choose({ index: choice(n!)! })],
  [["(show|list|give me|show me|any|see)? (more|the next ones|next page|the rest|more of them|more results)", "what else", "(are there|any) (more|others)"], () => Intent.More()],
  [["{when}", "for {when}", "what is {when}"], ({ when }, known) => again(when!, known)],
  [["how many (of)? {lookup}", "(count|number of|the number of|what is the number of|count of|count all|how many people are|total number of|what is the total number of) {lookup}"], ({ lookup }, known) => browse("count", readLookup(lookup!, known))],
  [["how many {lookup} (does|do|did|has|have) {name} (have|got|own)"], (captures, known) => counted(list(captures, known))],
  [["(what|which) {lookup} (does|do|did|has|have) {name} (have|got|own) (on|for|scheduled|planned)? {when}", "(what|which) {lookup} (does|do|did|has|have|is|are) {name} (have|got|own|in|scheduled|attending)"], list],
  [["who (works|work|is working|are working) (at|for|in|with) {place}", "who (is|are) at {place}", "who do (i|we) (know|have) at {place}"], ({ place }, known) => everybody(known, Condition.At({ words: place!, preposition: "at" }))],
  [["who (is|are|lives|live|sits|comes) (in|from|near) {place}", "who do (i|we) (know|have) in {place}"], ({ place }, known) => everybody(known, Condition.At({ words: place!, preposition: "in" }))],
  [["who has (a|the)? {what} {value}"], ({ value, what }, known) => everybody(known, Condition.Where({ words: [...what!, ...value!] }))],
  [["what is on (my|the)? (calendar|agenda|schedule)", "what is on (my|the)? (calendar|agenda|schedule) (for)? {when}", "what (do|have) i (have|got) (on|planned|scheduled)? (for)? {when}", "(am i|do i) (busy|free|have anything|have any plans) (on|for)? {when}", "(my)? (calendar|agenda|schedule) (for)? {when}", "what is my (day|week|schedule) (like|look like) {when}"], agenda],
  [["(list|show|show me|give me|find|find me|get|get me|display|see|pull up|search|search for|look for|look up|which are|what are|who are|what is|who is|when is|when are|when was|where is|do i have|do we have|have i got|have we got|are there|is there|i see|see) {lookup}", "(what|which) {lookup}", "{lookup}"], list],
  [["(how can|how do|how could) (i|we|you|one) (reach|contact|call|get hold of|get in touch with|email|phone|write to) {name}", "contact (details|info|information|data) (of|for) {name}", "(a|the)? contact for {name}"], asking("contact")],
  [["(which|what) (company|firm|organization) (does|is|do) {name} (work for|work at|at|with|from|in|belong to)", "(who|where) (does|do) {name} work (for|at)?"], asking("company")],
  [["(where) (does|do) {name} (live|come from)", "where (is|are) {name} (based|located|from|living)?", "(what|which) (city|town) (is|does|do|are) {name} (in|from|live in|based in)"], asking("city")],
  [["who (owns|manages|looks after|handles|takes care of|is responsible for|is in charge of|is assigned to) {name}", "whose (customer|client|lead|account|deal) is {name}"], asking("owner")],
  [["who (attends|attended|is attending|is in|was at|joins) {focus}", "who (is|was|will be) (there|coming|attending|invited)"], ({ focus }) => Intent.Detail({ subject: focus === undefined ? Subject.Focus() : subjectOf(focus), what: "attendees" })],
  [["when (is|was|are|does|did) {name} (start|begin|due|happening|scheduled)?", "what time (is|does) {name} (start|begin)?"], asking("date")],
  [["(what|who|which) (is|are|was) {name} 's {what}", "(give|show|send|get|find|tell) (me)? {name} 's {what}", "{name} 's {what}", "(what|who) (is|are|was) (the)? {what} (of|for) {name}", "(give|show|send|get|find) (me)? (the)? {what} (of|for|from) {name}", "(the)? {what} (of|for) {name}", "(does|do|has) {name} (have|got) (a|an|any)? {what}", "(what|which) {what} (does|do|is|has) {name} (have|in|at|on|got)?"], detail],
  [["(what|who|which|when|where) (is|are|was) (her|his|their|its|the|that|this) {what}", "(give|show|send|get|tell) me (her|his|their|its|the) {what}", "(her|his|their|its) {what}", "(the|which|what)? {concept}", "what is {concept}", "the {thing}", "do you have (her|his|their|its|a|the) {what}"], ({ concept, thing, what }, known) => detail({ what: what ?? concept ?? thing! }, known)],
  [["what is my {what}", "my {what}"], ({ what }) => Intent.Detail({ subject: Subject.Me(), what: folded(what!) })],
  [["(who|what) (is|was|are) {name}", "(tell|show|give) me (more|everything|something|all)? (about|on) {name}", "(find|find me|look up|look for|search for|search|pull up|bring up|get|get me|show|show me|open|display|see|lookup|who) {name}", "about {name}", "(information|info|details|profile|record|more|anything|something) (about|on|for|of) {name}", "what do (you|we) (know|have) (about|on) {name}", "(do you know|do we know|do we have|is there|have we got|do you have) (a|an|anyone called|anybody called|someone called|somebody called|anyone named|someone named)? {name}"], who],
  [["{bare}"], ({ bare }) => who({ name: bare! })]
] // prettier-ignore

const counted = (intent: Intent | undefined): Intent | undefined =>
  intent?._tag === "Browse" ? Intent.Browse({ ...intent, mode: "count" }) : intent

const everybody = (known: Known, condition: Condition): Intent | undefined => {
  const type = known.types.find(({ id }) => id === "people")
  return (
    type &&
    Intent.Browse({ mode: "list", skip: 0, lookup: { noun: { type, said: "people" }, conditions: [condition] } })
  )
}

const again = (when: ReadonlyArray<Token>, known: Known): Intent | undefined => {
  const time = timeAt(when, known.today)
  return time && Intent.Again({ condition: Condition.Time({ when: time.when }) })
}

/** The number that somebody chooses by, from 1; 0 for the last one. */
const choice = (tokens: ReadonlyArray<Token>): number | undefined => {
  const word = tokens.length === 1 ? tokens[0]!.word.replace(/^#/, "") : ""
  if (/^\d{1,2}$/.test(word)) return Number(word)
  return word === "last" ? 0 : (ORDINALS[word] ?? CARDINALS[word])
}

const subjectOf = (tokens: ReadonlyArray<Token>): Subject => {
  const [first] = tokens
  if (tokens.length === 1 && (first!.word === "me" || first!.word === "i")) return Subject.Me()
  const points = tokens.length === 1 || (tokens.length <= 3 && /^(that|this|the)$/.test(first!.word) && /^(one|person|meeting|company)$/.test(tokens.at(-1)!.word)) // prettier-ignore
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

const MAX_NAME = 9

const VERBS = new Set("is are was does do has have my".split(" "))

/** What a message means. Free text that says who somebody is comes after everything that is a question. */
export const readIntent = (message: string, known: Known): Intent => {
  const said = tokenize(message)
  if (said.length === 0) return Intent.Unclear()
  const fits: Fits = (slot, tokens) => {
    const [first] = tokens
    const sentence = tokens.slice(0, -1).some(({ after }) => /[.;!?]/.test(after))
    switch (slot) {
      case "lookup":
        return !sentence && readLookup(tokens, known) !== undefined
      case "when":
        return timeAt(tokens, known.today)?.length === tokens.length
      case "n":
        return choice(tokens) !== undefined
      case "what":
        return (
          tokens.length <= 4 &&
          !sentence &&
          !tokens.some(({ word }) => VERBS.has(word)) &&
          (!tokens.every(({ capital }) => capital) || isConcept(folded(tokens)))
        )
      case "concept":
        return tokens.length <= 3 && isConcept(folded(tokens))
      case "thing":
        return (known.focus ?? []).length > 0 && tokens.length <= 2 && tokens.every(({ capital }) => !capital)
      case "bare":
        return tokens.length <= 6 && !sentence && tokens.every(isNameWord)
      case "rest":
        return true
      default:
        return tokens.length <= MAX_NAME && !sentence && !/^(my|how|why)$/.test(tokens.length === 1 ? "" : first!.word)
    }
  }
  const meant = stripped(said)
  if (isAggregate(meant)) return uncountable(meant, known)
  const question = firstRule(SMALL_TALK, said, known, fits) ?? firstRule(QUESTIONS, meant, known, fits)
  const names = readNames(said)
  const facts = readFacts(said)
  const hard = facts.some(({ concept, weight }) => weight === "stated" && concept !== "city" && concept !== "state")
  const told = facts.length > 0 && names.some(({ length, rank }) => length >= 2 && (rank >= 3 || (rank === 2 && hard)))
  const ofPeople = question?._tag === "Browse" && question.lookup.noun.type.id === PEOPLE
  if (question !== undefined && !(told && ofPeople)) return question
  const likely =
    names.some(({ length, rank }) => rank === 2 && length >= 2) && facts.some(({ weight }) => weight === "mentioned")
  const sure = likely || names.some(({ rank }) => rank >= 3) || facts.some(({ weight }) => weight === "stated")
  if (sure || names.length > 0) return Intent.Introduce({ names, facts, sure })
  return unknownKind(meant) ? Intent.NotKnown() : Intent.Unclear()
}

const firstRule = (
  rules: ReadonlyArray<Rule>,
  tokens: ReadonlyArray<Token>,
  known: Known,
  fits: Fits
): Intent | undefined => {
  if (tokens.length > MAX_QUESTION) return undefined
  for (const [ways, build] of rules) {
    for (const way of ways) {
      const captures = matchPhrase(compiled(way), tokens, fits)
      const intent = captures && build(captures, known)
      if (intent !== undefined) return intent
    }
  }
  return undefined
}

/** A question that takes more words than this is a story. */
const MAX_QUESTION = 30

const phrases = new Map<string, ReturnType<typeof phrase>>()
const compiled = (way: string) => {
  const known = phrases.get(way) ?? phrase(way)
  phrases.set(way, known)
  return known
}

/** The words without what is only politeness, as long as some are left. */
const stripped = (said: ReadonlyArray<Token>): ReadonlyArray<Token> => {
  let tokens = said
  while (true) {
    // "Max" is who is spoken to when something parts it from the rest; else it may be whom it is about.
    const called = (words: ReadonlyArray<string>) => words.join() !== "max" || tokens[0]!.after !== ""
    const opener = OPENING.find((words) => words.length < tokens.length && startsWith(tokens, words) && called(words))
    const closer = CLOSING.find((words) => words.length < tokens.length && endsWith(tokens, words))
    if (opener === undefined && closer === undefined) return tokens
    tokens = tokens.slice(
      opener?.length ?? 0,
      opener === undefined && closer !== undefined ? -closer.length : undefined
    )
  }
}
const byLength = (phrases: ReadonlyArray<string>) =>
  phrases.map((text) => text.split(" ")).sort((a, b) => b.length - a.length)
const OPENING = byLength(OPENERS)
const CLOSING = byLength(CLOSERS)

const CONCEPT_WORDS = new Set<string>(Object.values(CONCEPTS).flat())
const isConcept = (words: string): boolean => CONCEPT_WORDS.has(words)

const isNameWord = ({ word }: Token): boolean =>
  !/^\d/.test(word) && (!COMMON.has(word) || PARTICLES.has(word) || TITLES.has(word))

const isAggregate = (tokens: ReadonlyArray<Token>): boolean =>
  tokens.length <= MAX_QUESTION &&
  (tokens.some(({ word }) => AGGREGATES.has(word)) ||
    AGGREGATE_PHRASES.some((words) => ` ${folded(tokens)} `.includes(` ${words} `)))

const uncountable = (tokens: ReadonlyArray<Token>, known: Known): Intent => {
  for (let at = 0; at < tokens.length; at++) {
    const found = nounAt(tokens.slice(at), known)
    if (found !== undefined) return Intent.Uncountable({ lookup: { noun: found.noun, conditions: [] } })
  }
  return Intent.Uncountable({})
}

/** A question for kinds of things that aren't there, or not for this person. */
const unknownKind = (tokens: ReadonlyArray<Token>): boolean =>
  /^(how many|list|show( me)?( all)?|count|number of|what|which) [^ ]+/.test(folded(tokens)) && tokens.length <= 8

export { written }
