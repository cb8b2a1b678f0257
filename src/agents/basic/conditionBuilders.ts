/** What the rules of conditions build from their captures. */
import { byWord } from "../../domain/text.ts"
import { lengthAt } from "./deeds/lengths.ts"
import { Condition, type Named } from "./Lookup.ts"
import type { Captures } from "./patterns.ts"
import { silentFor } from "./readClock.ts"
import { addDays } from "./spans.ts"
import type { Context } from "./readConversation.ts"
import { folded, type Token, tokenize, written } from "./tokenize.ts"

export type Build = (
  captures: Captures,
  context: Context,
  after: ReadonlyArray<Token>
) => ReadonlyArray<Condition> | undefined

/** What has been is over, or has begun. */
export const untilNow = (today: string): Condition =>
  Condition.Time({ when: { to: addDays(today, 1), now: "to", said: "so far" } })

/** Currencies as people write them beside a number. */
export const CURRENCIES = byWord<string>({
  $: "USD",
  dollar: "USD",
  dollars: "USD",
  bucks: "USD",
  usd: "USD",
  "€": "EUR",
  euro: "EUR",
  euros: "EUR",
  eur: "EUR",
  "£": "GBP",
  pound: "GBP",
  pounds: "GBP",
  gbp: "GBP"
})

export const FOCUS = new Set("him her them it his their its".split(" "))

/** A name, or the one entity in focus for a pronoun. */
export const named = (words: ReadonlyArray<Token>, { focus = [] }: Context): Named | undefined => {
  const [first] = words
  // "That person" is someone of an answer before, but who isn't known.
  if (words.length > 1 && /^(that|this)$/.test(first!.word) && words.every(({ capital }) => !capital)) return undefined
  if (words.length !== 1 || !FOCUS.has(first!.word) || first!.text === "IT") return { words }
  return focus.length === 1 ? { words: tokenize(focus[0]!.name), id: focus[0]!.id, type: focus[0]!.type } : undefined
}

export const by =
  (condition: (words: Named) => Condition): Build =>
  ({ other, value }, context) => {
    const [first, second] = [value && named(value, context), other && named(other, context)]
    if (first === undefined || (other !== undefined && second === undefined)) return undefined
    return [condition(first), ...(second === undefined ? [] : [condition(second)])]
  }

export const anyOf =
  (condition: (words: Named) => Condition): Build =>
  (captures, context) => {
    const of = by(condition)(captures, context, [])
    return of && [Condition.AnyOf({ of })]
  }

export const at = (preposition: string) => (words: Named) => Condition.At({ ...words, preposition })
export const withOne = (words: Named) => Condition.With(words)
export const ownedBy = (words: Named) => Condition.Owned(words)
export const qualities = ({ other, quality }: Captures): Condition => {
  const of = [quality!, ...(other === undefined ? [] : [other])].map((words) =>
    Condition.Quality({ words: folded(words) })
  )
  return of.length === 1 ? of[0]! : Condition.AnyOf({ of })
}
/** "Called from 607-148-6642" is no name. */
export const called: Build = ({ value }) =>
  /^(from|by|at|in|on|for|about|to|us|me|you|him|her|them|back|again)$/.test(value![0]!.text)
    ? undefined
    : [Condition.Called({ name: written(value!) })]
export const part =
  (begins: boolean): Build =>
  ({ letter, value }) => [Condition.Part({ name: written(letter ?? value!), begins })]
export const without = (words: ReadonlyArray<Token>) => Condition.Empty({ words: folded(words) })
/** "over 20000" without a column, which is found later; "longer than 60 minutes" names it after the number. */
export const compared: Build = ({ compared: words, currency, number, unit }) => {
  const code = CURRENCIES[currency?.[0]?.word ?? number![0]!.text.slice(0, 1)]
  return [
    Condition.Where({ words: [...(unit ?? []), ...words!, ...number!] }),
    ...(code === undefined ? [] : [Condition.Currency({ code })])
  ]
}
/** "Longer than an hour", "of 90 minutes". */
export const lasting: Build = ({ compared, length }) => {
  const found = lengthAt(length!)
  return (
    found && [
      Condition.Length({
        minutes: found.value,
        said: [...(compared === undefined ? ["of"] : [written(compared)]), written(length!)].join(" "),
        ...(compared === undefined ? {} : { how: folded(compared) })
      })
    ]
  )
}
export const silence: Build = ({ other, quality, span, when }, { today }) => {
  const time = silentFor(span, when, today)
  const said = [quality, other].flatMap((words) =>
    words === undefined ? [] : [Condition.Quality({ words: folded(words) })]
  )
  return time && [...said, Condition.Time(time)]
}

/** A value, or a state that one is in: "qualified or in proposal". */
export const states: Build = ({ lead, other, quality, second, value }, context) => {
  const of = [
    [lead, quality ?? value],
    [second, other]
  ].flatMap(([preposition, words]): ReadonlyArray<Condition> => {
    if (words === undefined) return []
    // "at Alder Foods or Amber Foods": what follows "or" is at the same preposition.
    if (preposition === undefined && lead === undefined) return [Condition.Quality({ words: folded(words) })]
    const name = named(words, context)
    return name === undefined ? [] : [Condition.At({ ...name, preposition: folded(preposition ?? lead!) })]
  })
  return of.length === (other === undefined ? 1 : 2) ? [of.length === 1 ? of[0]! : Condition.AnyOf({ of })] : undefined
}
