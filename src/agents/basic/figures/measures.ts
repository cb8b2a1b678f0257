/** Measures and the parts of the grammar: what is counted or added up, of which rows, and what words may stand for a column. */
import { foldText } from "../../../domain/keys.ts"
import type { Figure } from "../../../domain/Query.ts"
import { named } from "../conditionBuilders.ts"
import { fitsCondition, isValue, structures } from "../conditionParts.ts"
import { CARDINALS } from "../../english.ts"
import { DATE_VERBS } from "../lexicon.ts"
import { Condition, type Lookup, nounAt } from "../Lookup.ts"
import { type Captures, compiled, type Fits, matchPattern } from "../patterns.ts"
import type { Context } from "../readConversation.ts"
import { readConditions, readLookup } from "../readLookup.ts"
import { timeAt } from "../readTime.ts"
import { remembered } from "../remembered.ts"
import { folded, tokenize, written } from "../tokenize.ts"
import type { Measure, Words } from "./Asked.ts"
import { ADJECTIVES, BUCKET_WORDS, EVERY, FIGURE_WORDS, MEASURES as NUMBERS, PARTS, REVENUE_TYPES } from "./lexicon.ts"

/** Replaces the parts of a pattern: `<per>` stands for its alternatives. */
export const withParts = (text: string): string =>
  text.replace(/<(\w+)>/g, (_, name: string) => `(${PARTS[name as keyof typeof PARTS]})`)

/** Question words before what is asked for. */
export const WHICH = "(which|what|in which|in what|on which|on what|for which|at which|at what|from which)"

export type Rule<A> = readonly [
  patterns: ReadonlyArray<string>,
  build: (captures: Captures, context: Context) => A | undefined
]

export const rules = <A>(...all: ReadonlyArray<Rule<A>>): ReadonlyArray<Rule<A>> =>
  all.map(([patterns, build]) => [patterns.map(withParts), build])

const revenueNoun = (context: Context): Lookup["noun"] | undefined => {
  const types = context.types.filter(({ id, name }) => REVENUE_TYPES.has(id) || REVENUE_TYPES.has(foldText(name)))
  return types.length === 1 ? { type: types[0]!, said: types[0]!.plural } : undefined
}

/** The rows that revenue is made of, with the conditions that follow. */
export const revenue = (
  tail: Words | undefined,
  context: Context,
  ...more: ReadonlyArray<Condition>
): Measure | undefined => {
  const noun = revenueNoun(context)
  const conditions = tail === undefined ? [] : readConditions(tail, context)
  return noun && conditions && { figure: "sum", revenue: true, lookup: { noun, conditions: [...conditions, ...more] } }
}

export const measured =
  (figure: Measure["figure"], more: Partial<Measure> = {}) =>
  ({ i, lookup, of, tail }: Captures, context: Context): Measure | undefined => {
    const found = readLookup(lookup!, context)
    const conditions = tail === undefined ? [] : readConditions(tail, context)
    if (found === undefined || conditions === undefined || found.limit !== undefined || found.order !== undefined)
      return undefined
    return {
      ...more,
      figure,
      ...(of === undefined ? {} : { of }),
      lookup: { ...found, conditions: [...mine(i), ...found.conditions, ...conditions] }
    }
  }

/** What "I" did is the asker's own; what "we" did is everyone's. */
export const mine = (who: Words | undefined): ReadonlyArray<Condition> =>
  who?.[0]?.word === "i" ? [Condition.Mine()] : []

export const isPlural = ({ lookup }: Measure): boolean =>
  foldText(lookup.noun.said) !== foldText(lookup.noun.type.name) || lookup.noun.type.name === lookup.noun.type.plural

const FIGURES_OF: ReadonlyArray<Figure> = ["sum", "avg", "max", "min"]

/** "Total minutes with Sofia": the time of meetings, which aren't said. */
const timeSpent = (spell: Words, tail: Words, who: Words | undefined, context: Context): Measure | undefined => {
  const type = context.types.find(({ id }) => id === "meetings")
  const conditions = readConditions(tail, context)
  const isAbout = ({ _tag }: Condition) => _tag === "With" || _tag === "Time" || _tag === "At"
  if (type === undefined || conditions?.some(isAbout) !== true) return undefined
  const of = spell[0]!.word === "time" ? tokenize("length") : spell
  return { figure: "sum", of, lookup: { noun: { type, said: type.plural }, conditions: [...mine(who), ...conditions] } }
}

/** "How much have Canadian customers spent": the revenue of those rows. */
const spentBy = ({ lookup, tail }: Captures, context: Context): Measure | undefined => {
  const whose = readLookup(lookup!, context)
  const measure = revenue(tail, context)
  if (whose === undefined || measure === undefined || whose.order !== undefined || whose.limit !== undefined)
    return undefined
  const { noun } = measure.lookup
  if (whose.noun.type.id === noun.type.id) return undefined
  // All customers together spent what all invoices add up to.
  if (whose.conditions.length === 0) return /^(customer|client)s?$/i.test(whose.noun.type.name) ? measure : undefined
  const of = Condition.Related({ lookup: whose, none: false, said: `of ${written(lookup!)}` })
  return { ...measure, lookup: { noun, conditions: [...measure.lookup.conditions, of] } }
}

/** Measures in their own words. */
const MEASURES = rules<Measure>(
  [
    [
      "how many {of} (of|in|did|do) (the|our|all)? {lookup}",
      "how many {of} (did|do|have) {i} (have|spend|spent|sell|sold) (on|in|of) {lookup}"
    ],
    measured("sum")
  ],
  [
    [
      "(the)? (number of|amount of|how many) (minutes|hours) (spent|used) (in|on|for) {lookup}",
      "how much (time|of my time|of our time) (did|do|have|has) {i} (spend|spent|have|had|sit|sat) (in|on|for) {lookup}",
      "(the)? (total)? (time|minutes|hours) {i} (have|had)? (spend|spent|sat) (in|on|for) {lookup}"
    ],
    (captures, context) => measured("sum", { of: tokenize("length") })(captures, context)
  ],
  [
    [
      "(the)? <sum> (number of|amount of)? {spell} (of|in|for|spent|spent in)? {tail}",
      "how (much|many) {spell} (did|do|have|has) {i} (spend|spent|have|had|sit|sat) (in|on|for)? {tail}"
    ],
    ({ i, spell, tail }, context) => timeSpent(spell!, tail!, i, context)
  ],
  [["<count> (all|the|our|all the|all our)? {lookup}"], measured("count")],
  [
    [
      "how long (are|is|do|does|were) (the|our|a)? {lookup} (take|last)? on average",
      "how long (is|are|was) the average {lookup}",
      "how long on average (are|is) {lookup}"
    ],
    (captures, context) => measured("avg", { of: tokenize("length") })(captures, context)
  ],
  [
    [
      "(what|how much) (does|do|is|are|did|was) (a|an|the|our|one)? {lookup} (cost|costs|come to|amount to|make|worth|bring in)? on average",
      "(what|how much) (does|do|is|are|did|was) (a|an|the|our|one)? {lookup} (cost|costs|come to|amount to|make|worth|bring in)? on average {tail}",
      "on average (what|how much) (does|do|is|are|did|was) (a|an|the|our|one)? {lookup} (cost|come to|amount to|worth)?"
    ],
    measured("avg")
  ],
  [["how long (is|was) the longest {lookup}"], measured("max", { of: tokenize("length") })],
  [["how long (is|was) the shortest {lookup}"], measured("min", { of: tokenize("length") })],
  [["how (much|big|large|high) (is|are|was) the average {lookup}"], measured("avg")],
  [["how (much|big|large|high) (is|was) the (biggest|largest|highest) {lookup}"], measured("max")],
  ...FIGURES_OF.map((figure): Rule<Measure> => [
    [
      `(the)? <${figure}> (of)? (the|our|all)? {of} <over> {lookup}`,
      `(the)? <${figure}> {lookup} {of} {tail}`,
      `(the)? <${figure}> {lookup} {of}`
    ],
    measured(figure)
  ]),
  [
    [
      "(the)? (sum|sum of|total of|combined|sum up|add up|sum total|grand total) (of|over|across|for|from)? (all|the|our|all the|all our)? {lookup}"
    ],
    measured("sum")
  ],
  [
    ["(the|our)? {lookup} (total|totals|sum|sums)", "(the|our)? {lookup} (total|totals|sum|sums) {when}"],
    ({ when, ...captures }, context) => {
      const measure = measured("sum")(when === undefined ? captures : { ...captures, tail: when }, context)
      // "Deals total" can be their number.
      return measure === undefined || isPlural(measure) ? undefined : measure
    }
  ],
  [
    ["(the)? (total|overall) (all|of)? {lookup}"],
    (captures, context) => measured("sum", { either: true })(captures, context)
  ],
  [["(the)? <avg> (of)? {of} per {lookup}"], measured("avg")],
  [
    ["(the|an|a)? (average|mean|avg|typical) {lookup}"],
    (captures, context) => {
      const measure = measured("avg")(captures, context)
      // "Average invoices" is a number of them.
      return measure === undefined || isPlural(measure) ? undefined : measure
    }
  ],
  [["(the)? (average|mean) of (all|the|our)? {lookup}"], measured("avg")],
  [
    [
      "(the)? (total|overall|combined|gross|whole)? <revenue>",
      "(the)? (total|overall|combined|gross|whole)? <revenue> {tail}"
    ],
    ({ tail }, context) => revenue(tail, context)
  ],
  [
    [
      "how much (money|revenue)? (did|has) our company <earned>",
      "how much (money|revenue)? (did|has) our company <earned> {tail}",
      "how much (money|revenue)? (did|do|have) {i} <earned>",
      "how much (money|revenue)? (did|do|have) {i} <earned> {tail}",
      "how much (money|revenue) (did|do|have) {i} (have|get) {tail}",
      "what (did|does) our company (earn|make|turn over|take in)",
      "what (did|does) our company (earn|make|turn over|take in) {tail}",
      "(what|how much) (did|do|have) {i} (earn|make|turn over|take in|invoice|invoiced|bill|billed) (altogether|in total|overall|all together)?",
      "(what|how much) (did|do|have) {i} (earn|make|turn over|take in|invoice|invoiced|bill|billed) (altogether|in total|overall|all together)? {tail}",
      "(the)? (total|amount|total amount)? (invoiced|billed|sold|earned) {tail}",
      "(the)? (total|amount|total amount|amount of money) (invoiced|billed|sold|earned)",
      "how much (money|revenue) (came in|came|comes|did we get) {tail}"
    ],
    ({ i, tail }, context) => revenue(tail, context, ...mine(i))
  ],
  [
    [
      "(how much|what) (money)? (has|have|did|does|do) (the|our|all|all our)? {lookup} <spent> (with us|on us|here|so far)?",
      "(how much|what) (money)? (has|have|did|does|do) (the|our|all|all our)? {lookup} <spent> {tail}",
      "how much (money|revenue)? (has|have|did|does|do) (the|our|all|all our)? {lookup} (brought in|bring in|generate|generated)",
      "(the)? (total|overall)? <revenue> (from|of|by|with) (the|our|all|all our)? {lookup}"
    ],
    (captures, context) => spentBy(captures, context)
  ],
  [
    [
      "how much (money)? (has|have|did|does) {value} <spent> (with us|on us|here|so far)?",
      "how much (money)? (has|have|did|does) {value} <spent> {tail}",
      "how much (money|revenue)? (has|have|did|does) {value} (brought in|bring in|generate|generated)"
    ],
    ({ tail, value }, context) => {
      const whose = named(value!, context)
      return whose && revenue(tail, context, Condition.With(whose))
    }
  ],
  [
    [
      "what (do|does|did|would) (the|our|all|all our)? {lookup} (add up to|sum up to|come to|amount to|total)",
      "(what|how much) (are|is|were) (the|our|all)? {lookup} worth",
      "how much (are|is|were) {lookup} worth (together|in total|altogether)"
    ],
    (captures, context) => measured("sum")(captures, context)
  ],
  [
    [
      "(how many|number of|the number of|count of|count)? (different|distinct|unique|separate) {kinds} (are there|do we have|exist|is there)? (among|for|of|in) (the|our|all)? {lookup}",
      "(how many|number of) (different|distinct|unique|separate) {kinds} <does> (the|our|all|all our)? {lookup} (come from|live in|based in|located in|interested in|work in|have|from|in|buy|use|belong to|work for|work at|cover|sit in|with|got)",
      "how many {kinds} (do|are) (the|our|all|all our)? {lookup} (come from|live in|based in|located in|interested in|from)",
      "(how many|number of|the number of|count of) (different|distinct|unique|separate) {kinds} (the|our|all|all our)? {lookup} (come from|live in|are based in|are located in|are interested in|work in|are from|are in|buy|use|belong to|work for|work at)",
      "(how many|number of) (different|distinct|unique|separate) {kinds} (appear|appears|occur|occurs|show up|are|are there|turn up|are mentioned|are used) (on|in|among|across) (the|our|all|all our|all the)? {lookup}",
      "how many {column} (have|has) (any|at least one|one or more)? {lookup}",
      "(in|from) how many (different)? {kinds} (do|are|have) (we|our|the|all our)? (have|got)? {lookup} (live|based|located|come from|come|sit|work)?"
    ],
    ({ column, kinds = column, ...captures }, context) =>
      column !== undefined && nounAt(column, context) !== undefined
        ? undefined
        : measured("distinct")({ ...captures, of: kinds! }, context)
  ]
)

/** "Sum of minutes by month": the meetings aren't said. */
const minutesOf =
  (figure: Figure) =>
  (_: Captures, context: Context): Measure | undefined => {
    const type = context.types.find(({ id }) => id === "meetings")
    return type && { figure, of: tokenize("minutes"), lookup: { noun: { type, said: type.plural }, conditions: [] } }
  }

/** Measures that are understood as such only beside groups: "value of deals per owner", "customers per city". */
const BARE = rules<Measure>(
  [["(the|our|all|all the|all our)? (meeting minutes|minutes in meetings|minutes of meetings)"], minutesOf("sum")],
  [
    ["(the|our|all|all the|all our)? (meeting minutes|minutes in meetings|minutes of meetings) {tail}"],
    (captures, context) =>
      measured("sum", { of: tokenize("minutes") })({ ...captures, lookup: tokenize("meetings") }, context)
  ],
  ...FIGURES_OF.map((figure): Rule<Measure> => [
    [
      `(the)? <${figure}> (number of|amount of)? (minutes|meeting minutes|meeting time|time in meetings|minutes in meetings)`
    ],
    minutesOf(figure)
  ]),
  [
    ["(the)? {of} (of|for|in|from) (the|our|all)? {lookup}", "(the)? {measured} {lookup}"],
    ({ measured: words, ...captures }, context) =>
      measured("sum")({ ...captures, ...(words === undefined ? {} : { of: words }) }, context)
  ],
  [["{lookup}", "{lookup} (count|counts)"], measured("count")]
)

/** Dates of people that are counted as rows: "follow-ups per month". */
const DATES = /^(follow[ -]?ups|followups|last contacts)$/
const MAX_PHRASE = 5
const MAX_OF = 3

const JOINING = new Set("and or with for from at to near in on by without per".split(" "))
const PERIODS = /^(day|week|month|quarter|year)s?$/
/** Whether a word can't be the column that is measured: "total" can. */
const isNoMeasure = (word: string): boolean => FIGURE_WORDS.has(word) && !NUMBERS.some(({ words }) => words.has(word))

/** Whether words can name a column or a kind of groups. */
export const isPhrase = (
  tokens: Words,
  { today }: Context,
  most: number,
  isExcluded = (word: string) => FIGURE_WORDS.has(word)
): boolean =>
  tokens.length <= most &&
  tokens.every((token, at) => {
    if (/\d/.test(token.word)) return false
    if (/^(of|the|'s)$/.test(token.word)) return at > 0 && at < tokens.length - 1
    return !structures(token) && !isExcluded(token.word) && !JOINING.has(token.word)
  }) &&
  !tokens.slice(0, -1).some(({ after }) => after !== "") &&
  !tokens.some((_, at) => timeAt(tokens.slice(at), today) !== undefined)

/** `explicit` is a measure in its own words, `m` also a noun or a column that is measured beside groups. */
export const readMeasure = (as: "m" | "explicit", tokens: Words, context: Context): Measure | undefined =>
  remembered(as, tokens, context, () => {
    const found = firstOf(as === "m" ? [...MEASURES, ...BARE] : MEASURES, tokens, context)
    return found !== undefined && found.lookup.conditions.some(isOfFigures) ? undefined : found
  })

/** "Median deals", "running deals": not a quality of rows. */
const isOfFigures = (condition: Condition): boolean =>
  condition._tag === "Quality" && condition.words.split(" ").some((word) => FIGURE_WORDS.has(word))

export const fitsIn =
  (context: Context): Fits =>
  (name, tokens) => {
    if (tokens.slice(0, -1).some(({ after }) => /[.;!?]/.test(after))) return false
    switch (name) {
      case "m":
      case "explicit":
        return readMeasure(name, tokens, context) !== undefined
      case "lookup":
        return (
          remembered("lookup", tokens, context, () => readLookup(tokens, context))?.conditions.some(isOfFigures) ===
          false
        )
      case "tail":
        return readConditions(tokens, context) !== undefined
      case "part":
        // What narrows the rows is a part of the measure: "of the leads in software are won".
        return readConditions(tokens, context)?.length === 1
      case "by":
      case "kinds":
      case "other":
        return (
          BUCKET_WORDS[folded(tokens)] !== undefined ||
          // "Four genres" is a number of groups.
          (isPhrase(tokens, context, MAX_PHRASE) && !(tokens.length > 1 && CARDINALS[tokens[0]!.word] !== undefined))
        )
      case "of":
        return (
          isPhrase(tokens, context, MAX_OF, isNoMeasure) &&
          // "The total of invoices in the second quarter of 2023".
          !PERIODS.test(folded(tokens)) &&
          // "The total of the invoices of Ada": no column.
          !tokens.every(({ capital }) => capital) &&
          !tokens.some((_, at) => nounAt(tokens.slice(at), context)?.length === tokens.length - at)
        )
      case "dates":
        return tokens.length <= 2 && DATES.test(folded(tokens))
      case "period":
        return BUCKET_WORDS[folded(tokens)] !== undefined
      case "each":
        return tokens.length === 1 && EVERY[tokens[0]!.word] !== undefined
      case "measured":
        return tokens.length === 1 && /^(value|amount|quantity|minutes|hours)$/.test(tokens[0]!.word)
      case "n":
        return tokens.length === 1 && (CARDINALS[tokens[0]!.word] !== undefined || /^\d{1,3}$/.test(tokens[0]!.word))
      case "spell":
        return tokens.length === 1 && /^(time|minutes|hours)$/.test(tokens[0]!.word)
      case "i":
        return tokens.length === 1 && /^(i|we)$/.test(tokens[0]!.word)
      case "dated":
        return tokens.length === 1 && (DATE_VERBS[tokens[0]!.word] ?? []).length > 0
      case "my":
        return tokens.length === 1 && tokens[0]!.word === "my"
      case "adjective":
        return ADJECTIVES[folded(tokens)] !== undefined
      case "every":
        return tokens.length === 1 && EVERY[tokens[0]!.word] !== undefined
      case "value":
        return isValue(tokens, context)
      default:
        return fitsCondition(context)(name, tokens)
    }
  }

export const firstOf = <A>(all: ReadonlyArray<Rule<A>>, tokens: Words, context: Context): A | undefined => {
  const fits = fitsIn(context)
  for (const [texts, build] of all) {
    for (const text of texts) {
      const captures = matchPattern(compiled(text), tokens, fits)
      const found = captures && build(captures, context)
      if (found !== undefined) return found
    }
  }
  return undefined
}
