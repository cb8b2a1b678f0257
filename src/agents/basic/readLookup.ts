/**
 * Parses requests for lists, such as "open deals in Boston since March", without knowing the type's columns. Every word is
 * part of the noun or of a condition that means it; otherwise the request is not understood.
 */
import { Condition, type Lookup, nounAt } from "./Lookup.ts"
import { CARDINALS } from "../english.ts"
import { lengthAt } from "./deeds/lengths.ts"
import { PRONOUNS } from "./lexicon.ts"
import { compiled, type Fits, matchStart, startsWith } from "./patterns.ts"
import type { Context } from "./readConversation.ts"
import { type Build, named, qualities as qualitiesOf } from "./conditionBuilders.ts"
import { fitsCondition, isValue } from "./conditionParts.ts"
import { CONDITIONS } from "./conditions.ts"
import { timeAt } from "./readTime.ts"
import { remembered } from "./remembered.ts"
import { withSharedUnit } from "./sharedUnit.ts"
import { folded, type Token, tokenize, written } from "./tokenize.ts"

const MAX_BEFORE_NOUN = 8
const MAX_QUALITY = 3
/** Words of a condition about rows of another type. */
const MAX_RELATED = 12

/** Parses the whole request; undefined if any word does not fit. */
export const readLookup = (
  tokens: ReadonlyArray<Token>,
  context: Context,
  rules: typeof CONDITIONS = ALL
): Lookup | undefined => {
  if (tokens.slice(0, -1).some(({ after }) => /[.;!?]/.test(after))) return undefined
  for (let at = 0; at < Math.min(tokens.length, MAX_BEFORE_NOUN); at++) {
    const found = nounAt(tokens.slice(at), context)
    const head = found && readHead(tokens.slice(0, at), context)
    const tail = found && head && readTail(found.noun.said, tokens.slice(at + found.length), context, rules)
    if (found === undefined || head === undefined || tail === undefined) continue
    return { ...head, noun: found.noun, conditions: [...head.conditions, ...tail] }
  }
  return undefined
}

/** "Anyone lost at Cedar Labs": people who are lost. */
const ANYONE = /^(anyone|anybody|everyone|everybody|someone|somebody)$/i

const readTail = (noun: string, tokens: ReadonlyArray<Token>, context: Context, rules: typeof CONDITIONS) =>
  readConditions(tokens, context, rules) ??
  (ANYONE.test(noun) ? readConditions([...tokenize("who are"), ...tokens], context, rules) : undefined)

const ARTICLES = /^(a|an|any|some)$/
const AT_LEAST_ONE = ["at least one", "at least 1", "one or more"].map((text) => text.split(" "))

/** The rows of another type in a condition: "a meeting this week", "customers in Berlin". They have no such condition themselves. */
const relatedIn = (tokens: ReadonlyArray<Token>, context: Context): Lookup | undefined => {
  const one = AT_LEAST_ONE.some((words) => startsWith(tokens, words))
  const rows = one ? tokens.slice(3) : tokens
  const found = remembered("related", rows, context, () => readLookup(rows, context, CONDITIONS))
  if (found === undefined || found.order !== undefined || found.limit !== undefined) return undefined
  const { said, type } = found.noun
  const isPlural = said.toLowerCase() !== type.name.toLowerCase() && /[^s]s$|people$/i.test(said)
  return isPlural || one || ARTICLES.test(tokens[0]!.word) ? found : undefined
}

const related =
  (none: boolean, joint = none ? "without" : "with"): Build =>
  ({ related: words }, context) => {
    const lookup = relatedIn(words!, context)
    return lookup && [Condition.Related({ lookup, none, said: `${joint} ${written(words!)}` })]
  }

const RELATED: typeof CONDITIONS = [
  [["(that|which|who)? (with|have|has|having|had|got|have got) {related}"], related(false)],
  [
    [
      "(without|with no|missing) {related}",
      "(that|which|who)? (have|has) no {related}",
      "(that|which|who)? (don't|dont|do not|doesn't|doesnt|does not|haven't|havent) (have|got|had)? {related}"
    ],
    (captures, context, after) => {
      const found = related(true)(captures, context, after)
      // Without a condition, a column can be called so: "without a company".
      return found?.some((one) => one._tag === "Related" && one.lookup.conditions.length > 0) === true
        ? found
        : undefined
    }
  ],
  [
    [
      "(that|which|who)? (work|works|working|employed|live|lives|are|is)? (of|at|from|for|in) {related}",
      "(that|which|who)? (belong|belongs|belonging) to {related}"
    ],
    related(false, "of")
  ],
  [
    ["whose {noun} (is|are) (a|an) {quality}"],
    ({ noun, quality }, context) => {
      const lookup = {
        noun: nounAt(noun!, context)!.noun,
        conditions: [Condition.Quality({ words: folded(quality!) })]
      }
      return [Condition.Related({ lookup, none: false, said: `whose ${written(noun!)} is ${written(quality!)}` })]
    }
  ]
]

/** "Leads that want training" are those whose product it is. */
export const WANTED: typeof CONDITIONS = [
  [
    [
      "(that|which|who|whom)? (want|wants|wanted|need|needs|needed|buy|buys|bought|take|use|uses|chose|choose|picked|go for|goes for|went for|opted for|signed up for|ordered|asked for|asked about|would like) {quality}",
      "(that|which|who|whom)? (are|is|were|was)? (after|looking for|asking for|asking about) {quality}"
    ],
    ({ quality }) => [Condition.Quality({ words: folded(quality!) })]
  ],
  [
    [
      "(that|which|who|whom)? (want|wants|wanted|need|needs|bought|chose) neither {quality} nor {other}",
      "(that|which|who|whom)? (don't|dont|do not|doesn't|does not|didn't|did not) (want|need|buy|take|choose) (either)? {quality} (or|nor) {other}",
      "(that|which|who|whom)? (don't|dont|do not|doesn't|does not|didn't|did not) (want|need|buy|take|choose) {quality}"
    ],
    (captures) => [Condition.Not({ of: qualitiesOf(captures) })]
  ]
]

const ALL: typeof CONDITIONS = [...RELATED, ...CONDITIONS, ...WANTED]

type Head = Pick<Lookup, "conditions" | "order" | "limit">

const DETERMINERS = new Set("the all both any a an our some every each".split(" "))
const LATEST = new Set("latest newest last recent".split(" "))

const readHead = (tokens: ReadonlyArray<Token>, context: Context): Head | undefined => {
  const whose = tokens.findLastIndex(({ word }) => word === "'s")
  if (whose > 0 && timeAt(tokens.slice(0, whose), context.today) === undefined) {
    const rest = readHead(tokens.slice(whose + 1), context)
    const words = tokens.slice(DETERMINERS.has(tokens[0]!.word) ? 1 : 0, whose)
    const owners = several(words)
    if (rest && owners.length > 1 && owners.every((name) => isValue(name, context)))
      return {
        ...rest,
        conditions: [Condition.AnyOf({ of: owners.map((name) => Condition.With({ words: name })) }), ...rest.conditions]
      }
    return rest && isValue(words, context)
      ? { ...rest, conditions: [Condition.With({ words }), ...rest.conditions] }
      : undefined
  }
  const conditions: Array<Condition> = []
  let order: Lookup["order"]
  let limit: number | undefined
  let at = 0
  for (; at < tokens.length; at++) {
    const { word } = tokens[at]!
    const time = timeAt(tokens.slice(at), context.today)
    const long = lengthAt(tokens.slice(at))
    const number = CARDINALS[word] ?? (/^\d{1,2}$/.test(word) ? Number(word) : undefined)
    if (time !== undefined) {
      conditions.push(Condition.Time({ when: time.when }))
      at += time.length - 1
    } else if (long !== undefined) {
      const said = written(tokens.slice(at, at + long.length))
      conditions.push(Condition.Length({ minutes: long.value, said, before: true }))
      at += long.length - 1
    } else if (word === "my") conditions.push(Condition.Mine())
    else if (/^(her|his|their|its)$/.test(word)) {
      const focus = named(tokens.slice(at, at + 1), context)
      if (focus === undefined) return undefined
      conditions.push(Condition.With(focus))
    } else if (/^(unassigned|unowned)$/.test(word)) conditions.push(Condition.Empty({ words: "owner" }))
    else if (word === "overdue") conditions.push(Condition.Overdue())
    else if (LATEST.has(word)) order = "latest"
    else if (word === "next" || word === "first") order = word
    else if (number !== undefined) limit = number
    else if (word === "most" && tokens[at + 1]?.word === "recent") continue
    else if (word === "very" && /^(first|last|latest|next)$/.test(tokens[at + 1]?.word ?? "")) continue
    else if (!DETERMINERS.has(word) && !(word === "of" && (at === 0 || DETERMINERS.has(tokens[at - 1]!.word)))) break
  }
  const quality = tokens.slice(at)
  const kinds = qualities(quality)
  if (kinds.length > 1) {
    if (/\b(number|count|how|many)\b/.test(folded(quality))) return undefined
    if (!kinds.every((words) => words.length <= MAX_QUALITY && isValue(words, context))) return undefined
    const of = kinds.map((words) => Condition.Quality({ words: folded(words) }))
    conditions.push(Condition.AnyOf({ of }))
  } else if (quality.length > 0) {
    if (/\b(number|count|how|many)\b/.test(folded(quality))) return undefined
    // "Any with lost people": of the rows before.
    if (/^with(?:out)?$/.test(quality[0]!.word)) return undefined
    if (quality.length > MAX_QUALITY || quality.some(({ word }) => PRONOUNS.has(word)) || !isValue(quality, context))
      return undefined
    conditions.push(Condition.Quality({ words: folded(quality) }))
  }
  return {
    conditions,
    ...(order === undefined ? {} : { order }),
    ...(limit === undefined ? {} : { limit })
  }
}

/** "high and medium priority" as "high priority" and "medium priority"; one kind if nothing joins several. */
const qualities = (words: ReadonlyArray<Token>): ReadonlyArray<ReadonlyArray<Token>> => {
  const kinds = words.some(({ word }) => word === "'s") ? [words] : several(words)
  const last = kinds.at(-1)!
  const shared = last.length > 1 ? last.slice(-1) : []
  return kinds.map((kind) => (kind !== last && kind.length === 1 ? [...kind, ...shared] : kind))
}

/** The names of "Kofi's and Nia's" and of "Kofi and Nia's". */
const several = (words: ReadonlyArray<Token>): ReadonlyArray<ReadonlyArray<Token>> => {
  const names: Array<Array<Token>> = [[]]
  for (const token of words) {
    if (token.word === "and" || token.word === "or") names.push([])
    else if (token.word !== "'s") names.at(-1)!.push(token)
  }
  return names
}

/** The conditions after the noun, each by its rule, until no word is left. What was read is remembered: time stays bounded. */
export const readConditions = (
  tokens: ReadonlyArray<Token>,
  context: Context,
  rules: typeof CONDITIONS = ALL
): ReadonlyArray<Condition> | undefined => {
  const fits: Fits = (name, words) => {
    if (name === "related") return words.length <= MAX_RELATED && relatedIn(words, context) !== undefined
    return name === "noun" ? nounAt(words, context)?.length === words.length : fitsCondition(context)(name, words)
  }
  const from = (rest: ReadonlyArray<Token>): ReadonlyArray<Condition> | undefined =>
    rest.length === 0 ? [] : remembered(rules, rest, context, () => first(rest))
  const first = (rest: ReadonlyArray<Token>): ReadonlyArray<Condition> | undefined => {
    for (const [patterns, build] of rules) {
      for (const pattern of patterns) {
        const found = matchStart(
          compiled(pattern),
          rest,
          fits,
          (captures, after) => {
            const own = build(captures, context, after)
            const others = own && from(after)
            return own && others && [...own, ...others]
          },
          true
        )
        if (found !== undefined) return found
      }
    }
    return undefined
  }
  const read = from(tokens)
  return read && withSharedUnit(read)
}
