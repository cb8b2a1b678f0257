/** "Does Raj have more leads than Nadia?": two counts of the same kind of rows, side by side. */
import { MONTHS } from "../english.ts"
import { meantBy } from "./alternatives.ts"
import { described } from "./browse.ts"
import type { Rule } from "./buildIntent.ts"
import { named } from "./conditionBuilders.ts"
import { Intent } from "./Intent.ts"
import { both } from "./locate.ts"
import { Condition, type Lookup, peopleOf } from "./Lookup.ts"
import { narrow } from "./narrow.ts"
import type { Captures } from "./patterns.ts"
import type { ListedColumn } from "../../domain/Page.ts"
import type { Filter } from "../../domain/Query.ts"
import type { Context, ContextType } from "./readConversation.ts"
import { columnsNamed } from "./conceptColumns.ts"
import { isValue } from "./conditionParts.ts"
import { whenOf } from "./readClock.ts"
import { readConditions, readLookup } from "./readLookup.ts"
import { idsOf } from "./references.ts"
import { among, amount, called, nameOf } from "./replies.ts"
import { columnsOf, count, find, inParallel, type Script } from "./script.ts"
import { DONE } from "./shorthand.ts"
import { folded, type Token, written } from "./tokenize.ts"

type Comparison = Extract<Intent, { _tag: "Comparison" }>

/** Who or what has more: a yes or no, or which of the two. */
const compare =
  (asks: Comparison["asks"], fewer: boolean) =>
  ({ by, done, i, lookup, name, rival, when }: Captures, context: Context): Intent | undefined => {
    const type = done === undefined ? context.types.find(({ id }) => id === "meetings") : peopleOf(context)
    const own =
      lookup === undefined ? type && { noun: { type, said: type.plural }, conditions: [] } : readLookup(lookup, context)
    if (own === undefined || "order" in own || "limit" in own) return undefined
    const conditions = [
      ...own.conditions,
      ...(done === undefined ? [] : [Condition.Quality({ words: DONE[done[0]!.word]! })]),
      ...(i?.[0]?.word === "i" ? [Condition.Mine()] : []),
      ...(when === undefined ? [] : [Condition.Time({ when: whenOf(when, context.today)! })])
    ]
    const sides = [name!, rival!].map((words): Lookup | undefined => {
      const whose = named(words, context)
      const one = /^(i|me)$/.test(folded(words)) ? Condition.Mine() : whose && Condition.With(whose)
      return one && { ...own, conditions: [...conditions, one] }
    })
    const about = by === undefined ? {} : { by: folded(by) }
    return sides[0] && sides[1] && Intent.Comparison({ asks, fewer, sides: [sides[0], sides[1]], ...about })
  }

/** "Do more people want hardware or consulting", "more meetings in October or in November": two values of the last condition. */
const either =
  (fewer: boolean) =>
  ({ i, ...captures }: Captures, context: Context): Intent | undefined => {
    const [lookup, rest] = inOneYear(captures["lookup"]!, captures["rest"]!)
    const own = readLookup(lookup, context)
    const last = own?.conditions.at(-1)
    if (own === undefined || last === undefined || "order" in own || "limit" in own) return undefined
    const before = own.conditions.slice(0, -1)
    const whole = readLookup(rest, context)
    const isSame = isAlike(whole, own) && before.length === 0
    const alone = isSame ? whole.conditions : readConditions(rest, context)
    const rival = alone?.length === 1 && alone[0]!._tag === last._tag ? alone[0] : withValue(last, rest, context)
    const years = [inherited(captures["lookup"]!, lookup), inherited(captures["rest"]!, rest)] as const
    const said = rival && ([valueOf(last, years[0]), valueOf(rival, years[1])] as const)
    if (rival === undefined || said?.[0] === undefined || said[1] === undefined) return undefined
    const mine = i?.[0]?.word === "i" ? [Condition.Mine()] : []
    const sides = [last, rival].map((one): Lookup => ({ ...own, conditions: [...mine, ...before, one] }))
    return Intent.Comparison({ asks: "which", fewer, sides: [sides[0]!, sides[1]!], names: [said[0], said[1]] })
  }

/** "In October or in November 2023": both months have the year that is said once. */
const inOneYear = (
  first: ReadonlyArray<Token>,
  second: ReadonlyArray<Token>
): readonly [ReadonlyArray<Token>, ReadonlyArray<Token>] => {
  const isMonth = (words: ReadonlyArray<Token>) => MONTHS[words.at(-1)?.word ?? ""] !== undefined
  const yearOf = (words: ReadonlyArray<Token>) =>
    /^\d{4}$/.test(words.at(-1)!.word) && isMonth(words.slice(0, -1)) ? [words.at(-1)!] : []
  return [
    isMonth(first) ? [...first, ...yearOf(second)] : first,
    isMonth(second) ? [...second, ...yearOf(first)] : second
  ]
}

const inherited = (said: ReadonlyArray<Token>, read: ReadonlyArray<Token>): string | undefined =>
  read.length > said.length ? read.at(-1)!.word : undefined

/** The condition with another value. */
const withValue = (condition: Condition, words: ReadonlyArray<Token>, context: Context): Condition | undefined => {
  if (!isValue(words, context)) return undefined
  switch (condition._tag) {
    case "Quality":
      return Condition.Quality({ words: folded(words) })
    case "At":
      return Condition.At({ words, preposition: condition.preposition })
    default:
      return undefined
  }
}

/** Whether both are the same kind of rows, the first with one condition. */
const isAlike = (whole: Lookup | undefined, own: Lookup): whole is Lookup =>
  whole?.noun.type.id === own.noun.type.id &&
  whole.noun.kind === own.noun.kind &&
  whole.conditions.length === 1 &&
  !("order" in whole || "limit" in whole)

/** "More Software or Hardware customers", "more Software customers or Hardware customers". */
const eitherKind =
  (fewer: boolean) =>
  ({ lookup, value }: Captures, context: Context): Intent | undefined => {
    const own = readLookup(lookup!, context)
    const whole = readLookup(value!, context)
    const last = own?.conditions.at(-1)
    if (own === undefined || last === undefined || "order" in own || "limit" in own) return undefined
    // "Software or Hardware customers in Boston": the place is that of both.
    if (own.conditions.length !== 1) return undefined
    const isSame = isAlike(whole, own)
    const rival = isSame ? whole.conditions.at(-1) : withValue(last, value!, context)
    const said = rival && ([valueOf(rival), valueOf(last)] as const)
    if (rival?._tag !== last._tag || said?.[0] === undefined || said[1] === undefined) return undefined
    const sides = [rival, last].map((one): Lookup => ({ ...own, conditions: [...own.conditions.slice(0, -1), one] }))
    const names = said.map((one) => asWritten(one!, [...value!, ...lookup!]))
    return Intent.Comparison({ asks: "which", fewer, sides: [sides[0]!, sides[1]!], names: [names[0]!, names[1]!] })
  }

/** A value as the person wrote it: "Software", not "software". */
const asWritten = (words: string, tokens: ReadonlyArray<Token>): string =>
  words
    .split(" ")
    .map((word) => tokens.find((token) => token.word === word)?.text ?? word)
    .join(" ")

/** What a condition is called, without a year that wasn't said with it. */
const valueOf = (condition: Condition, year?: string): string | undefined => {
  switch (condition._tag) {
    case "Quality":
      return condition.words
    case "At":
      return written(condition.words)
    case "Time":
      return condition.when.said
        .replace(/^(in|on|during) /, "")
        .replace(year ?? "", "")
        .trim()
    default:
      return undefined
  }
}

/** "How many fewer meetings did I have in December than in November": by how much. */
const byHowMany =
  (fewer: boolean) =>
  ({ conds, i, lookup, rest }: Captures, context: Context): Intent | undefined =>
    either(fewer)({ lookup: [...lookup!, ...conds!], rest: rest!, ...(i === undefined ? {} : { i }) }, context)

const HAVE = "(have|has|had|is|are|own|owns|manage|manages|handle|handles|look after|looks after|did|does)"
const MET = "(meet|meet with|met|met with|see|seen|saw|talk to|talked to)"
const OR = "(or|and|vs|versus)"
const OFTEN = "(often|frequently|times)"

export const COMPARISONS: ReadonlyArray<Rule> = (
  [
    ["more", false],
    ["(fewer|less)", true]
  ] as const
).flatMap(([more, fewer]): ReadonlyArray<Rule> => [
  [
    [
      `(does|do|did|has|have|had) {name} {done} ${more} {lookup} than {rival} (does|do|did|has|have)?`,
      `(does|do|did|has|have|had|is|are) {name} (have|got|had|own|manage|handle|look after)? ${more} {lookup} than {rival} (does|do|did|has|have|is|am)?`,
      `(did|do|have) {i} ${MET} {name} ${more} ${OFTEN}? than {rival}`
    ],
    compare("whether", fewer)
  ],
  [
    [
      `(who|which|which one|which rep|which person|which of them|which of the two) ${HAVE}? got? ${more} {lookup} {name} ${OR} {rival}`,
      `(who|which|which one|which rep|which of them) (has|have|had|is|did)? {done} ${more} {lookup} {name} ${OR} {rival}`,
      `(who|which|which one|which rep|which of them) (has|have|had|is|did)? {done} ${more} {name} ${OR} {rival}`,
      `(does|do|did|has|have|had|is|are) {name} or {rival} (have|got|had|won|own|manage|handle|look after)? ${more} {lookup}`,
      `(did|has|have) {name} or {rival} {done} ${more} {lookup}`,
      `(who|which) of {name} ${OR} {rival} ${HAVE}? got? ${more} {lookup}`,
      `(which|what) {by} ${HAVE} ${more} {lookup} {name} ${OR} {rival}`,
      `(which|what) {by} ${HAVE} ${more} {lookup} {name} ${OR} {rival} and how many`,
      `{name} ${OR} {rival} (who|which|which one|which of them) ${HAVE}? got? ${more} {lookup}`,
      `(who|which|which one|which rep|which of them) ${HAVE}? got? the ${more === "more" ? "(most|more)" : "(fewest|least|fewer)"} {lookup} {name} ${OR} {rival}`,
      "{name} 's {lookup} (vs|versus|against|compared with|compared to) {rival} 's",
      `(between|of|out of) {name} and {rival} (who|which|which one|which of them|which rep) ${HAVE}? got? ${more} {lookup}`,
      `(between|of|out of) {name} and {rival} (who|which|which one|which of them|which rep) (has|have|had)? {done} ${more} {lookup}`,
      `{name} ${OR} {rival} (who|which|which one|which of them) (has|have|had)? {done} ${more} {lookup}`,
      "compare {name} 's {lookup} (with|to|and|against) {rival} 's",
      `(who|whom) (did|do|have) {i} ${MET} ${more} ${OFTEN}? {name} ${OR} {rival}`,
      ...["", " {when}"].flatMap((when) => [
        `(did|do|have) {i} ${MET} {name} or {rival} ${more} ${OFTEN}?${when}`,
        `(did|do|have|had|has) {i} (have|had|get|got|hold|held)? ${more} {lookup} (with|for|from) {name} or (with|for|from)? {rival}${when}`
      ])
    ],
    compare("which", fewer)
  ],
  [
    [
      `(did|do|have|had) {i} (have|had|get|got|hold|held)? ${more} {lookup} or {rest}`,
      `(do|are|did|have|were|was|is) (there)? ${more} {lookup} or {rest}`,
      `(do|did|have) (we|you) (have|had|get|got)? ${more} {lookup} or {rest}`
    ],
    either(fewer)
  ],
  [
    [
      `(do|are|did|have|were|was|is) (there|we have|we|you have)? (have|had|get|got)? ${more} {value} or (${more.replace(/[()]/g, "")})? {lookup}`,
      `which (is|are) there ${more} of {value} or {lookup}`
    ],
    eitherKind(fewer)
  ],
  [
    [
      `how many ${more} {lookup} (did|do|have|had|will) {i} (have|had|get|got|hold|held)? {conds} than {rest}`,
      `how many ${more} {lookup} (are|were|was|is|do|did) (there|we have)? {conds} than {rest}`
    ],
    byHowMany(fewer)
  ],
  [
    [
      `how many ${more} {lookup} (does|do|did|has|have|had) {name} (have|got|had|own|manage|handle|look after)? than {rival} (does|do|did|has|have)?`
    ],
    compare("which", fewer)
  ]
])

/** The name of the one entity that the last filter means; undefined if it means several. */
function* theOne(
  filters: ReadonlyArray<Filter>,
  columns: ReadonlyArray<ListedColumn>,
  type: ContextType
): Script<string | undefined> {
  const filter = filters.at(-1)!
  const entities = yield* meantBy([filter], columns)
  if (entities?.length === 1) return nameOf(entities[0]!)
  // Others are called so, too, but may have no such rows.
  const query = { entityTypeId: type.id, limit: 1, selectColumns: [filter.columnId] }
  const page = yield* find({ ...query, filters })
  const cell = page?.entities[0]?.columns?.[filter.columnId]
  if (!isReference(cell)) return undefined
  const same = yield* find({ ...query, filters: [...filters.slice(0, -1), { ...filter, op: "eq", value: cell.id }] })
  return same?.total === page?.total && same?.totalIsLowerBound !== true ? cell.name : undefined
}

const isReference = (cell: unknown): cell is { readonly id: string; readonly name: string } =>
  typeof cell === "object" && cell !== null && "id" in cell && "name" in cell && typeof cell.name === "string"

/** Answers with both counts. Both have to be of the same column, and each of one entity. */
export function* comparison({ asks, by, fewer, names, sides }: Comparison, context: Context): Script<string> {
  const { type } = sides[0].noun
  const conditions = sides.flatMap((side) => side.conditions)
  const [columns, references] = yield* both(columnsOf(type.id), idsOf(conditions, context))
  const narrowed = yield* inParallel(sides.map((side) => narrow(side, columns, context, references)))
  const declined = narrowed.find((one) => typeof one === "string")
  if (declined !== undefined) return declined
  const own = narrowed.filter((one) => typeof one === "object")
  const filters = own.map((one) => one.filters.at(-1)!)
  const [found, pages] = yield* both(
    inParallel(names === undefined ? own.map((one) => theOne(one.filters, columns, type)) : []),
    inParallel(own.map((one) => count({ entityTypeId: type.id, filters: one.filters })))
  )
  const [first, second] = names ?? found
  const [one, two] = pages
  // "Which city has more leads, Jordan or Chase?": no city is called so.
  const isMeant = by === undefined || columnsNamed(by, columns).includes(filters[0]!.columnId)
  const isSame = filters[0]!.columnId === filters[1]!.columnId && first !== second && isMeant
  if (first === undefined || second === undefined || one === undefined || two === undefined || !isSame)
    return `I can't compare these two. Ask for each, such as “how many ${called(type.plural, type, 2)} does ${context.person?.name ?? "Ada Lovelace"} have”.`
  // The name is said before the count, so the condition on it isn't said again.
  const isMine = sides.map((side) => side.conditions.at(-1)?._tag === "Mine")
  const said = own[0]!.said.slice(0, isMine[0] === true ? undefined : -1)
  const noun = own[0]!.noun ?? sides[0].noun
  const part = (at: 0 | 1) =>
    `${isMine[at] === true ? "you have" : `${[first, second][at]!} has`} ${amount(pages[at]!)}`
  const limited = among(one.limited === true || two.limited === true, type)
  const counts = `${part(0)} ${described({ ...sides[0], noun }, said, one.total)}${limited}, and ${part(1)}.`
  if (one.totalIsLowerBound === true && two.totalIsLowerBound === true) return `I can't tell: ${counts}`
  const difference = (one.total - two.total) * (fewer ? -1 : 1)
  if (asks === "whether") return `${difference > 0 ? "Yes" : "No"}: ${counts}`
  const winner = difference > 0 ? 0 : 1
  const name = [first, second][winner]!
  const lead = isMine[winner] === true ? `You (${name}) have` : `${name} has`
  const isExact = one.totalIsLowerBound !== true && two.totalIsLowerBound !== true
  const gap = isExact ? `${amount({ total: Math.abs(difference) })} ` : ""
  return difference === 0 ? `Both have as many: ${counts}` : `${lead} ${gap}${fewer ? "fewer" : "more"}: ${counts}`
}
