/** "And Samir?", "and Latin?": the question before about someone or something else. */
import { subjectOf } from "./buildIntent.ts"
import { PERSONAL, UNREADABLE } from "./continuing.ts"
import { Intent, Subject } from "./Intent.ts"
import { ME } from "./lexicon.ts"
import { Condition } from "./Lookup.ts"
import { phraseOf } from "./phrases.ts"
import type { Context } from "./readConversation.ts"
import { carriesNothing, changed } from "./refining.ts"
import { folded, tokenize } from "./tokenize.ts"

type Also = Extract<Intent, { _tag: "Also" }>

/** The conditions with one of them about someone or something else; undefined unless exactly one can be meant. */
const exchanged = (
  all: ReadonlyArray<Condition>,
  also: Also,
  context: Context
): ReadonlyArray<Condition> | undefined => {
  const { conditions, whose, words } = also
  const { person } = context
  const isMe = ME.test(folded(words))
  const [other] = conditions ?? []
  const [first, ...rest] = all
  // "What did customers from France spend? And Portugal?": other customers.
  if (first?._tag === "Related" && rest.every(({ _tag }) => _tag === "Time") && !first.none) {
    const { lookup } = first
    const theirs = exchanged(lookup.conditions, also, context)
    const said = [first.said.split(" ")[0], lookup.noun.said, ...(theirs ?? []).map(phraseOf)].join(" ")
    return theirs && [Condition.Related({ ...first, lookup: { ...lookup, conditions: theirs }, said }), ...rest]
  }
  // "In status Proposal" is about no one.
  const isOfColumn = (one: Condition) => one._tag === "At" && one.words.length > 1 && !one.words[0]!.capital
  const personal = all.filter(
    (one) =>
      PERSONAL.has(one._tag) && !isOfColumn(one) && !(whose === true && one._tag === "At" && one.preposition === "in")
  )
  const others = personal.filter(({ _tag }) => _tag !== "Mine")
  const fits =
    other === undefined
      ? others.length > 0
        ? others
        : personal
      : all.filter(isOwner(other) ? isOwner : ({ _tag }) => _tag === other._tag)
  const [old] = fits
  // "And of Akira's?" after my own: hers instead.
  const own = all.filter(({ _tag }) => _tag === "Mine")
  if (other !== undefined && isOwner(other) && fits.length === 0 && own.length > 0)
    return own.length === personal.length ? all.map((one) => (one === own[0] ? other : one)) : undefined
  // "With Nia?" after "meetings in August": one condition more. "To Michael?" after who reports to Andrew is another one.
  if (other !== undefined && fits.length === 0 && PERSONAL.has(other._tag))
    return all.some(isOfPerson) ? undefined : [...all, other]
  const name = isMe ? person?.name && tokenize(person.name) : words
  // "And Latin?" after "how many tracks are Rock?".
  const qualities = all.filter(({ _tag }) => _tag === "Quality")
  if (old === undefined && other === undefined && personal.length === 0 && !isMe && qualities.length === 1)
    return all.map((one) => (one === qualities[0] ? Condition.Quality({ words: folded(words), instead: one }) : one))
  if (old === undefined || fits.length > 1 || !name) return undefined
  // One is at no place, and no value of a column: "people at Iron Marine", "with status lead".
  if (isMe && old._tag === "At" && !/^(of|for)$/.test(old.preposition)) return undefined
  if (isMe && old._tag === "With" && !old.words.every(({ capital }) => capital)) return undefined
  return all.map((one) => (one === old ? inPlaceOf(old, other ?? aboutOther(old, name)) : one))
}

/** "Reports to Andrew Adams". */
const isOfPerson = (one: Condition): boolean => one._tag === "Where" && one.words.at(-1)?.capital === true

const isOwner = (one: Condition): boolean =>
  one._tag === "Owned" || (one._tag === "At" && /^(of|for)$/.test(one.preposition))

/** "And Software?" after someone's leads is no other person: the new condition is about the column of the old one. */
const inPlaceOf = (old: Condition, condition: Condition): Condition =>
  condition._tag === "Owned" || condition._tag === "At" || condition._tag === "With"
    ? { ...condition, instead: old }
    : condition

const aboutOther = (old: Condition, words: Also["words"]): Condition =>
  old._tag === "Owned"
    ? Condition.Owned({ words })
    : old._tag === "At"
      ? Condition.At({ words, preposition: old.preposition })
      : Condition.With({ words })

/** "Albums by Queen": groups of no column. */
export const isNamed = (intent: Intent | undefined): intent is Extract<Intent, { _tag: "Figures" }> =>
  intent?._tag === "Figures" && intent.asked.by.some((by) => by.every(({ capital }) => capital))

/** The question before about someone or something else, or what the words mean by themselves. */
export const alsoOf = (previous: Intent | undefined, also: Also, context: Context): Intent => {
  switch (previous?._tag) {
    case "Detail":
    case "Is": {
      // "And with Ada?" after "when is the follow-up with Bob?".
      const [only, ...others] = also.conditions ?? []
      const words = only?._tag === "With" && others.length === 0 ? only.words : also.words
      return also.conditions === undefined || words !== also.words
        ? { ...previous, subject: ME.test(folded(words)) ? Subject.Me() : subjectOf(words) }
        : UNREADABLE
    }
    case "Figures": {
      const { asked } = previous
      // "And Nadia's?" after the share of Raj's leads that is lost.
      const isPerson = also.words.every(({ capital }) => capital) || also.whose === true
      const isOfPerson = asked.measure.lookup.conditions.some(({ _tag }) => PERSONAL.has(_tag))
      const [other] = also.conditions ?? []
      const isOfOwner = other !== undefined && isOwner(other) && asked.part?.some(isOwner) === false
      // "And of Latin?" after the share of the tracks that is Rock: of all of them, or of Latin ones?
      if (isOfOwner && !isOfPerson) return UNREADABLE
      const isOfAll = (isPerson && isOfPerson) || isOfOwner
      const part = isOfAll ? undefined : asked.part && exchanged(asked.part, also, context)
      // "What share of the tracks is Rock? And Latin?"
      if (part !== undefined) return Intent.Figures({ asked: { ...asked, part } })
      // "Albums by Queen": no column.
      if (isNamed(previous)) return alsoOf(previous.otherwise, also, context)
      return changed(previous, (before) => exchanged(before, also, context)) ?? UNREADABLE
    }
    case "Browse":
    case "Titled":
      return changed(previous, (before) => exchanged(before, also, context)) ?? UNREADABLE
    case "Who":
    case "Several":
    case "Introduce":
      return also.otherwise
    // "And Margaret?" after whether Jane has more than Steve: no one is asked who she is.
    default:
      return carriesNothing(previous) ? also.otherwise : UNREADABLE
  }
}
