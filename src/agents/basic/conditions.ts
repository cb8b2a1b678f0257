/** The rules of conditions: what may follow a noun, and the condition that it means. */
import { alternativesIn, isValue } from "./conditionParts.ts"
import {
  anyOf,
  at,
  type Build,
  by,
  called,
  compared,
  lasting,
  named,
  ownedBy,
  part,
  qualities,
  states,
  withOne,
  without
} from "./conditionBuilders.ts"
import { CONCEPT_WORDS, NOT, WHO } from "./conditionWords.ts"
import { CONCEPTS, ME, NEXT_CONDITION } from "./lexicon.ts"
import { Condition } from "./Lookup.ts"
import type { Context } from "./readConversation.ts"
import { timeAt } from "./readTime.ts"
import { DONE, OUTCOMES } from "./shorthand.ts"
import { TIME_CONDITIONS } from "./timeConditions.ts"
import { folded, type Token, tokenize, written } from "./tokenize.ts"

const CONTACTS = new Set<string>(
  [...CONCEPTS.phone, ...CONCEPTS.email].filter((one) => /phone|mobile|e-?mail/.test(one))
)

/** "Won", "have lost": the state that it led to. */
const doneBy = ([verb]: ReadonlyArray<Token>) => Condition.Quality({ words: DONE[verb!.word]! })

const PARTICIPLE = /ed$|^(spoken|been|met|seen|heard|written|sent|got|had|bought|done|taken)$/

const SAYS_WHICH = /ing$|^(that|which|whose|called|named|of|like|in|with|at)$/

const places: ReadonlyArray<string> = ["in", "at", "from", "near", "of", "for"]

/** A name, or the person who asks. */
const ownedByOrMe = (words: ReadonlyArray<Token>, context: Context): Condition | undefined => {
  if (ME.test(folded(words))) return Condition.Mine()
  const whose = named(words, context)
  return whose && Condition.Owned(whose)
}

/** Tried in this order; the first that lets the rest be understood is meant. */
export const CONDITIONS: ReadonlyArray<readonly [patterns: ReadonlyArray<string>, build: Build]> = [
  ...TIME_CONDITIONS,
  [[`${WHO} (are|is)? (called|named) {value} (something|or something|or similar|and so on)`], part(false)],
  [
    [
      `${WHO} (are|is)? (called|named) {value}`,
      "(by|with|of|under) the name (of)? {value}",
      "with (the|a)? (name|last name|first name|family name|surname) (of)? {value}",
      "whose (last|first|family)? name is {value}"
    ],
    called
  ],
  [
    [
      "whose (first)? name (starts|begins) with (the letter)? {value}",
      "whose names (start|begin) with (the letter)? {value}",
      `${WHO} (with|have|has|having) (a|the)? (name|names) (starting|beginning|that starts|that begins|that start|that begin|which starts|which begins) with (the letter)? {value}`,
      "(starting|beginning) with (the letter)? {value}",
      "(that|which|who)? (start|starts|begin|begins) with (the letter)? {value}",
      "(that|which|who|whose name|whose names)? (start|starts|begin|begins|starting|beginning) with (the letter)? {letter}"
    ],
    part(true)
  ],
  [
    [
      "whose (name|names) (contains|includes|contain|include) {value}",
      "containing {value}",
      `${WHO} (with|have|has|having) (a|the)? (name|names) (containing|that contains|that contain|with) {value}`,
      `${WHO} (with|have|has|having) {value} in (the|their|its|his|her) (name|names|title|titles)`
    ],
    part(false)
  ],
  [
    [
      `${WHO} (are|is)? (without|with no|missing|lacking) (a|an|any|the|their)? {column}`,
      `${WHO} (have|has|with) no {column}`,
      `${WHO} (don't|dont|do not|doesn't|doesnt|does not) have (a|an|any|the)? {column}`,
      `${WHO} (haven't|havent|have not|hasn't|hasnt|has not) got (a|an|any|the)? {column}`
    ],
    ({ column }) => [without(column!)]
  ],
  [
    [
      `${WHO} (have|has|with) (nobody|no one|noone) (assigned|responsible|assigned to it|assigned to them|on it|on them)?`,
      `${WHO} (nobody|no one|noone) (is assigned to|is responsible for|is on|owns|has|handles|has taken|is working on)`
    ],
    // A participle after it says what was not done: the rows can have an owner.
    (_, __, [next]) => (next !== undefined && PARTICIPLE.test(next.word) ? undefined : [without(tokenize("owner"))])
  ],
  [
    [`${WHO} (have|has|with)? neither (a|an|any|the)? {column} nor (a|an|any|the)? {unit}`],
    ({ column, unit }) => [without(column!), without(unit!)]
  ],
  [
    [
      `${WHO} (have|has|with) (a|an|any)? {column} (but|and) (have|has|with)? no {unit}`,
      `${WHO} (have|has|with) (a|an|any)? {column} but not (a|an|any)? {unit}`
    ],
    ({ column, unit }) => [Condition.Not({ of: without(column!) }), without(unit!)]
  ],
  [
    ["(outside|outside of) (the)? {value} (and|or|nor) (the)? {other}"],
    ({ other, value }) => [
      Condition.Not({
        of: Condition.AnyOf({ of: [value!, other!].map((words) => Condition.At({ words, preposition: "in" })) })
      })
    ]
  ],
  [
    [`${WHO} (with|have|has|had|having) {value} as (a|an|the|their|its|his|her)? {column}`],
    ({ column, value }) => [Condition.Where({ words: [...column!, ...value!] })]
  ],
  [
    [`${WHO} (have|has|had) (a|an|the|their)? (follow up|follow-up|followup) (date|day) {when}`],
    ({ when }, context) => [
      Condition.With({ words: tokenize("follow up") }),
      Condition.Time({ when: timeAt(when!, context.today)!.when })
    ]
  ],
  [
    ["with (a|an|any)? {column}"],
    ({ column }, _, [next]) =>
      CONTACTS.has(folded(column!)) && (next === undefined || !SAYS_WHICH.test(next.word))
        ? [Condition.Not({ of: without(column!) })]
        : undefined
  ],
  [
    [`${WHO} (have|has) (a|an|any|some) {column}`],
    // What follows can say which one: "a phone starting with 7" isn't any phone.
    ({ column }, _, [next]) =>
      next !== undefined && SAYS_WHICH.test(next.word)
        ? undefined
        : [Condition.Not({ of: Condition.Empty({ words: folded(column!) }) })]
  ],
  [
    [`${WHO} ${NOT} (with|owned by|managed by)? {value} 's (or|nor) {other} 's`, "neither {value} 's nor {other} 's"],
    ({ other, value }, context) =>
      [value!, other!].map((words) => named(words, context)).every((one) => one !== undefined)
        ? [value!, other!].map((words) => Condition.Not({ of: Condition.Owned(named(words, context)!) }))
        : undefined
  ],
  [
    [
      `${WHO} (are|is|were|was)? neither {value} 's nor (mine|my own)`,
      `${WHO} (are|is|were|was)? neither mine nor {value} 's`
    ],
    (captures, context) => {
      const whose = by(ownedBy)(captures, context, [])
      return whose && [...whose, Condition.Mine()].map((of) => Condition.Not({ of }))
    }
  ],
  [
    [
      `${WHO} (don't|dont|do not|doesn't|doesnt|does not) (live|work|sit) (in|at|for) (the)? {value}`,
      `${WHO} (don't|dont|do not|doesn't|doesnt|does not) come from (the)? {value}`
    ],
    (captures, context) => by(at("in"))(captures, context, [])?.map((of) => Condition.Not({ of }))
  ],
  [
    ["whose {column} (isn't|isnt|is not) {value}"],
    ({ column, value }) => [Condition.Not({ of: Condition.Where({ words: [...column!, ...value!] }) })]
  ],
  [
    ["(except|except for|excluding|without|but not) {value} 's"],
    (captures, context) => by(ownedBy)(captures, context, [])?.map((of) => Condition.Not({ of }))
  ],
  [
    [
      `${WHO} (are|is|were|was)? with (anyone|anybody|everyone|everybody|people) (except|except for|but|excluding) {value}`
    ],
    ({ value }) => [Condition.Not({ of: Condition.With({ words: value! }) })]
  ],
  [
    [
      `${WHO} (we|i) (haven't|havent|have not|didn't|didnt|did not) {done} (or|nor) {other} (yet|so far)?`,
      `${WHO} (haven't|havent|have not|hasn't|has not) been {done} (or|nor) {other} (yet|so far)?`
    ],
    ({ done, other }) =>
      DONE[folded(other!)] === undefined
        ? undefined
        : [Condition.Not({ of: Condition.AnyOf({ of: [doneBy(done!), doneBy(other!)] }) })]
  ],
  [
    [
      `${WHO} (we|i) (haven't|havent|have not|didn't|didnt|did not) {done} (yet|so far)?`,
      `${WHO} (haven't|havent|have not|hasn't|has not) been {done} (yet|so far)?`
    ],
    ({ done }) => [Condition.Not({ of: doneBy(done!) })]
  ],
  [
    [
      `${WHO} ${NOT} (from|in|based in|living in|located in) (the)? {value} (or|nor) (from|in|based in)? (the)? {other}`
    ],
    ({ other, value }) => [
      Condition.Not({ of: Condition.AnyOf({ of: [value!, other!].map((words) => at("in")({ words })) }) })
    ]
  ],
  [
    [
      `${WHO} ${NOT} (owned|managed|handled|looked after) by {value}`,
      `${WHO} (don't|dont|do not|doesn't|doesnt|does not) (belong|report) to {value}`,
      `${WHO} ${NOT} (assigned|belonging) to {value}`
    ],
    (captures, context) => by(ownedBy)(captures, context, [])?.map((of) => Condition.Not({ of }))
  ],
  [
    [
      `${WHO} (belong|belongs|assigned|are assigned|is assigned) (to)? neither (to|with|of|by)? {whom} nor (to|with|of|by)? {who}`,
      `${WHO} (are|is|work)? (to|with|by) neither {whom} nor (to|with|by)? {who}`,
      `${WHO} (are|is|work)? neither (to|with|by) {whom} nor (to|with|by) {who}`,
      `${WHO} (owned|managed|handled|looked after)? by neither {whom} nor (by)? {who}`,
      `${WHO} (don't|dont|do not|doesn't|doesnt|does not) belong to (either)? {whom} (or|nor) (to)? {who}`
    ],
    ({ who, whom }, context) => {
      const [first, second] = [ownedByOrMe(whom!, context), ownedByOrMe(who!, context)]
      return first && second && [Condition.Not({ of: first }), Condition.Not({ of: second })]
    }
  ],
  [
    [`${WHO} ${NOT} {value} 's`],
    (captures, context) => by(ownedBy)(captures, context, [])?.map((of) => Condition.Not({ of }))
  ],
  [[`${WHO} (are|is|were|was) {value} 's`, "of {value} 's"], by(ownedBy)],
  [
    [
      "(do|should|must|did) (we|i) (need to|have to)? follow up (with|on) {when}",
      `${WHO} (we|i) (should|must|need to|have to) follow up (with|on) {when}`
    ],
    ({ when }, { today }) => [Condition.Time({ when: timeAt(when!, today)!.when, by: ["follow up", "follow up date"] })]
  ],
  [
    [`${WHO} (have|has|with) (both)? (a|an|any|the)? {column} and (a|an|any|the)? {unit}`],
    ({ column, unit }) =>
      [column!, unit!].every((words) => CONCEPT_WORDS.has(folded(words)))
        ? [Condition.Not({ of: without(column!) }), Condition.Not({ of: without(unit!) })]
        : undefined
  ],
  [
    [`${WHO} ${NOT} (working|employed)? (at|with) {value}`],
    (captures, context) => by(at("at"))(captures, context, [])?.map((of) => Condition.Not({ of }))
  ],
  [
    ["(except|except for|excluding|but not|not) (the ones|those|ones|the meetings|meetings|anything)? with {value}"],
    ({ value }) => [Condition.Not({ of: Condition.With({ words: value! }) })]
  ],
  [
    ["(except|except for|excluding|but not) {value}"],
    ({ value }) =>
      value!.every(({ capital }) => capital)
        ? [Condition.Not({ of: Condition.Called({ name: written(value!) }) })]
        : undefined
  ],
  [
    [
      `${WHO} (aren't|arent|isn't|isnt|wasn't|wasnt|weren't|werent|are not|is not|was not|were not|not|but not) (a|an|the|in|at|from|with)? (a|an|the)? {quality}`,
      `${WHO} (aren't|arent|isn't|isnt|are not|is not|not) (a|an)? {quality} (or|nor) (a|an)? {other}`,
      "(except|except for|excluding|apart from|other than|but not|but no) (the|a)? {quality}"
    ],
    (captures) => [Condition.Not({ of: qualities(captures) })]
  ],
  [
    [
      `${WHO} (are|is|were|was)? (owned|managed|handled|sold|served|taken|looked after) by {value}`,
      `${WHO} (are|is)? assigned to {value}`,
      `${WHO} (belong|belongs|belonged) to {value}`,
      "(belonging to|by) {value}"
    ],
    by(ownedBy)
  ],
  [[`${WHO} (are|is|were|was)? (owned|managed|handled) by {value} or {other}`], anyOf(ownedBy)],
  [
    [
      "(does|do|did) {value} and {other} (own|manage|look after|handle) (together|between them|jointly)?",
      "(does|do|did) {value} and {other} have (together|between them|jointly|combined)"
    ],
    anyOf(ownedBy)
  ],
  [[`${WHO} {value} (owns|manages|handles|looks after|is responsible for|supports|serves)`], by(ownedBy)],
  [["(does|do|did) {value} (own|manage|look after|handle|support|serve)"], by(ownedBy)],
  [
    [
      `${WHO} (are|is|were|was)? (billed|invoiced|shipped|sold|sent|delivered) to (the)? {value}`,
      "(that|which)? (went|go|goes|going) to (the)? {value}",
      "(invoiced|billed|sold) to {value}"
    ],
    by(at("in"))
  ],
  [
    [`${WHO} (report|reports|reporting|answer|answers) (directly)? to {value}`],
    ({ value }) => [Condition.Where({ words: [...tokenize("reports to"), ...value!] })]
  ],
  [[`${WHO} (i|me) (have|had)? {done}`], ({ done }) => [Condition.Mine(), doneBy(done!)]],
  [[`${WHO} we (have|had)? {done}`], ({ done }) => [doneBy(done!)]],
  [
    [`${WHO} {value} (has|have|had)? {done}`, "(has|have|had|did) {value} {done}"],
    (captures, context) => {
      const whose = by(ownedBy)(captures, context, [])
      // "With status lost" names no person.
      if (NEXT_CONDITION.has(captures["value"]![0]!.word) || CONCEPT_WORDS.has(captures["value"]![0]!.word))
        return undefined
      return whose && [...whose, doneBy(captures["done"]!)]
    }
  ],
  [
    ["(that|which|whom)? {value} (has|have|had|has got|have got|attended|joined|took part in|went to|was at)"],
    by(withOne)
  ],
  [["(does|do|did|has|have) {value} (have|got|made|make|released|release|recorded|record|written|write)"], by(withOne)],
  [
    [
      `${WHO} (work|works|worked|working|are working|is working|employed|are employed) (at|for|in|with) {value}`,
      "(is|are) (working)? at {value}"
    ],
    by(at("at"))
  ],
  [
    [
      `${WHO} (live|lives|living|are living|based|located|are based|are located|is based|is located|are|come|comes) (in|near|from) (the)? {value}`
    ],
    by(at("in"))
  ],
  [
    ["with (a|an|the)? {value} {range}"],
    ({ range, value }, context) => {
      const whom = named(value!, context)
      return whom && [Condition.With(whom), Condition.Time({ when: timeAt(range!, context.today)!.when })]
    }
  ],
  [
    ["(whose|where|having) (the)? {where}", "with (a|an|the)? {where}", `${WHO} (have|has) (a|an|the)? {where}`],
    ({ where }, context) => [
      isValue(where!, context) ? Condition.With({ words: where! }) : Condition.Where({ words: where! })
    ]
  ],
  [
    [
      `${WHO} (are|is|were|was|took|take|takes|last|lasts|lasted|lasting|taking|run|runs|ran|running|of)? {compared} {length}`,
      `${WHO} (took|take|takes|last|lasts|lasted|lasting|taking|of) (exactly)? {length}`,
      `${WHO} (are|is|were|was) (exactly)? {length} (long)`
    ],
    lasting
  ],
  [["(that|which)? (are|is|were|was)? (worth|costing)? (at|for)? {compared} {number}"], compared],
  [["(that|which)? (are|is|were|was)? (worth|costing|of|for|at|with)? {compared} {number} {currency}"], compared],
  [["{compared} {number} {unit}"], compared],
  [
    ["(worth|costing|of)? between {number} and {amount} {currency}"],
    ({ amount, number, ...captures }, context, after) => {
      const ends = [
        compared({ ...captures, compared: tokenize("at least"), number: number! }, context, after)!,
        compared({ ...captures, compared: tokenize("at most"), number: amount! }, context, after)!
      ]
      return [...ends[0]!, ends[1]![0]!]
    }
  ],
  [
    [
      `${WHO} (cost|costs|costing|priced at|sell for|sells for|go for|goes for) (exactly)? {number}`,
      `${WHO} (cost|costs|costing|priced|sell for|sells for|go for|goes for) (at)? {compared} {number}`,
      `${WHO} (cost|costs|costing|priced at|sell for|sells for|go for|goes for) (exactly)? {number} {currency}`,
      `${WHO} (cost|costs|costing|priced|sell for|sells for|go for|goes for) (at)? {compared} {number} {currency}`
    ],
    (captures, context, after) => compared({ compared: [], ...captures, unit: tokenize("price") }, context, after)
  ],
  [
    [`${WHO} (is|are|was|were)? (interested in|keen on|into|in the market for) {quality}`],
    (captures) => [qualities(captures)]
  ],
  [
    [`${WHO} (is|are|was|were)? neither (a|an)? {quality} nor (a|an)? {other}`],
    (captures) => [Condition.Not({ of: qualities(captures) })]
  ],
  [["(did|do) (we|you) {won}"], ({ won }) => [Condition.Quality({ words: OUTCOMES[won![0]!.word]! })]],
  [
    [
      `${WHO} (is|are|was|were)? (currently|still|now)? either {quality} or {second} (the)? {other}`,
      `${WHO} (is|are|was|were)? (currently|still|now)? either {quality} or {other}`,
      `${WHO} (is|are|was|were)? (currently|still|now)? (either)? {lead} (the)? {value} or {second} (the)? {other}`,
      `${WHO} (is|are|was|were)? (currently|still|now)? (either)? {lead} (the)? {value} or {other}`,
      `${WHO} (is|are|was|were) (currently|still|now)? {quality} or {second} (the)? {other}`,
      `${WHO} (is|are|was|were) (currently|still|now)? {lead} (the)? {value}`
    ],
    states
  ],
  [
    [`${WHO} (is|are|was|were)? (at|in|on) (the|a)? {quality} (stage|phase|state|status)`],
    (captures) => [qualities(captures)]
  ],
  [
    [
      `${WHO} (is|are|was|were) (a|an)? {quality} or {other}`,
      `${WHO} (is|are|was|were) (still|now|currently|already)? (a|an)? {quality}`,
      "(have|has) (we|you) {quality}"
    ],
    (captures) => [qualities(captures)]
  ],
  [[`${WHO} (are|is|were|was) with {value}`], by(withOne)],
  [["with {value} (and|as well as) (with)? {other}", "with (a|an|the)? {value}"], by(withOne)],
  [["with {value} or (with)? {other}"], anyOf(withOne)],
  ...places.flatMap((preposition): typeof CONDITIONS => [
    [[`${preposition} (the)? {value}`], by(at(preposition))],
    [[`${preposition} {value} (and|or) (${preposition})? {other}`], anyOf(at(preposition))]
  ]),
  [["on (the)? {value}", "under (the)? {value}", `${WHO} (are|is|were|was) on (the)? {value}`], by(at("on"))],
  [["(by|to) {value}"], by(ownedBy)],
  [["by {value} (and|or) (by)? {other}"], anyOf(ownedBy)],
  [
    [`${WHO} (is|are|was|were|have been|has been)? (a|an|either)? {either}`],
    ({ either }) => [
      Condition.AnyOf({ of: alternativesIn(either!)!.map((words) => Condition.Quality({ words: folded(words) })) })
    ]
  ],
  ...places.map((preposition): (typeof CONDITIONS)[number] => [
    [`${WHO} (work|works|working|live|lives|living|are|is|based)? ${preposition} (the|either)? {either}`],
    ({ either }) => [Condition.AnyOf({ of: alternativesIn(either!)!.map((words) => at(preposition)({ words })) })]
  ]),
  [
    ["with (either)? {either}"],
    ({ either }) => [Condition.AnyOf({ of: alternativesIn(either!)!.map((words) => withOne({ words })) })]
  ],
  [
    ["by (either)? {either}"],
    ({ either }) => [Condition.AnyOf({ of: alternativesIn(either!)!.map((words) => ownedBy({ words })) })]
  ],
  [
    ["and (with)? (the|a)? {where}"],
    ({ where }) => (/^(number|count)$/.test(where![0]!.word) ? undefined : [Condition.Where({ words: where! })])
  ]
]
