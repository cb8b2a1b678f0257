/** Two questions in one, the second of which isn't whole: it is about the one whom the first names, or shares its verb. */
import { Intent } from "../Intent.ts"
import { Condition, type Lookup, nounAt } from "../Lookup.ts"
import { MONTHS } from "../../english.ts"
import { YEAR } from "../partOfYear.ts"
import { byLength, startsWith } from "../patterns.ts"
import type { Context } from "../readConversation.ts"
import { timeAt } from "../readTime.ts"
import { pointingTo } from "../statements.ts"
import { folded, type Token, tokenize, written } from "../tokenize.ts"

type Tokens = ReadonlyArray<Token>

const WH = /^(who|whom|whose|what|which|when|where|how)$/
/** Whether a question can be answered without what was said before it. */
export const isAlone = (intent: Intent): boolean =>
  intent._tag === "Figures" ||
  intent._tag === "Browse" ||
  (intent._tag === "Detail" && intent.subject._tag !== "Focus") ||
  (intent._tag === "Is" && intent.subject._tag !== "Focus") ||
  intent._tag === "HowLong"

const TAIL = /^(do|does|did|has|have|had|are|were)$/

/** "How many won and how many lost customers does Nadia have": two numbers, with what is said of both. */
export const asCounts = (
  tokens: ReadonlyArray<Token>,
  readOne: (words: ReadonlyArray<Token>) => Intent | undefined,
  context: Context
): Intent | undefined => {
  const at = tokens.findIndex(({ word }) => word === "and")
  const end = tokens.findIndex(({ word }, index) => index > at && TAIL.test(word))
  if (!folded(tokens).startsWith("how many ") || at < 3 || end < at + 2) return undefined
  const again = folded(tokens.slice(at + 1, at + 3)) === "how many" ? 2 : 0
  const [first, second, tail] = [tokens.slice(2, at), tokens.slice(at + 1 + again, end), tokens.slice(end)]
  if (second.length === 0 || first.some(({ after, word }) => after !== "" || TAIL.test(word))) return undefined
  const hasNoun = first.some((_, index) => nounAt(first.slice(index), context) !== undefined)
  const nouns = hasNoun ? first : [...first, second.at(-1)!]
  const [one, two] = [nouns, second].map((words) => readOne([...tokens.slice(0, 2), ...words, ...tail]))
  return one?._tag === "Browse" && two?._tag === "Browse" ? Intent.Both({ intents: [one, two] }) : undefined
}

/** "Nadia's e-mail and how many leads she has": the second question is about the one whom the first names. */
export const asTwo = (
  tokens: ReadonlyArray<Token>,
  readOne: (words: ReadonlyArray<Token>) => Intent | undefined
): Intent | undefined => {
  const at = tokens.findIndex(({ word }, index) => word === "and" && WH.test(tokens[index + 1]?.word ?? ""))
  const one = at < 2 ? undefined : readOne(tokens.slice(0, at))
  const name = one === undefined || !isAlone(one) ? undefined : nameIn(one)
  const second = name && pointingTo(tokens.slice(at + 1), name)
  const two = second && readOne(second)
  return one !== undefined && two !== undefined && isAlone(two) ? Intent.Both({ intents: [one, two] }) : undefined
}

/** The one name that a question is about. */
const nameIn = (intent: Intent): ReadonlyArray<Token> | undefined => {
  if (intent._tag === "Detail") return intent.subject._tag === "Named" ? intent.subject.tokens : undefined
  const names =
    intent._tag === "Browse"
      ? intent.lookup.conditions.flatMap((one) => (one._tag === "With" || one._tag === "Owned" ? [one.words] : []))
      : []
  return names.length === 1 && names[0]!.every(({ capital }) => capital) ? names[0] : undefined
}

/** What joins two periods that are compared, and what a comparison is asked with, in the words of one period. */
const JOINED = byLength(
  "and|or|vs|versus|against|with|to|than|compared to|compared with|compare to|compare with|compares to|compares with|as compared to|and in|relative to".split(
    "|"
  )
)
const ASKED: ReadonlyArray<readonly [lead: RegExp, means: string]> = [
  [/^(?:can you |please )?(?:compare|a comparison of|comparison of|comparing) (?:the |our )?/, ""],
  [/^(?:how|in what way) (?:did|does|do) (?:the |our )?(?=.* $)/, ""],
  [/^did (we|i) (sell|make|earn|bill|invoice|bring in|take in) (?:more|less)(?: money)? /, "how much did $1 $2 "],
  [/^(?:was|were|is|are) (?:the |our )?(.*) (?:higher|lower|better|worse|bigger|smaller|larger|more|less) /, "$1 "],
  [/^(?:was|were|are|is) there (?:more|fewer|less) /, "how many "],
  [
    /^(?:did|do|have|had) (we|i) (?:have|had|get|got|hold|write|see) (?:more|fewer|less) (.*) /,
    "how many $2 did $1 have "
  ],
  [/^how much (?:more|less)(?: money)? did (we|i) /, "how much did $1 "],
  [/^how many (?:more|fewer|less) /, "how many "],
  [/^(?:more|fewer|less) /, "how many "],
  [/^(?:difference|the difference|what is the difference) in (?:the )?/, ""]
]
const COMPARES =
  /\b(compare|compared|compares|comparing|comparison|vs|versus|more|less|fewer|higher|lower|better|worse|bigger|smaller|larger|difference|against)\b/
const LEAD = /^(in|on|during|for)$/
const ABOUT = /^(for|in terms of|by|on|in|regarding) (the )?(number of|count of|amount of) /

/** "Revenue in 2024 compared with 2023": the same question of two periods. */
export const asPeriods = (
  tokens: Tokens,
  readOne: (words: Tokens) => Intent | undefined,
  { today }: Context
): Intent | undefined => {
  if (!COMPARES.test(folded(tokens))) return undefined
  for (let at = 0; at < tokens.length - 2; at++) {
    const first = timeAt(tokens.slice(at), today)
    if (first === undefined) continue
    const rest = tokens.slice(at + first.length)
    const joint = JOINED.find((words) => startsWith(rest, words))
    const second = joint && timeAt(rest.slice(joint.length), today)
    if (joint === undefined || second === undefined) return undefined
    const time = tokens.slice(at, at + first.length)
    const other = rest.slice(joint.length, joint.length + second.length)
    const tail = rest.slice(joint.length + second.length)
    const led = LEAD.test(other[0]!.word) || !LEAD.test(time[0]!.word) ? other : [time[0]!, ...other]
    const times = withYears(time, led)
    const [before, after] = around(tokens.slice(0, at), tail)
    const intents = [time, led].map((said, index) => {
      const dated = times[index]!
      const intent = readOne([...before, ...dated, ...after].map((token) => ({ ...token, after: "" })))
      return intent && counted(dated === said ? intent : inWords(intent, `${written(said)} of the same year`))
    })
    const [a, b] = intents
    const isSame =
      a !== undefined && b !== undefined && a._tag === b._tag && (a._tag === "Browse" || a._tag === "Figures")
    return isSame ? Intent.Both({ intents: [a, b] }) : undefined
  }
  return undefined
}

/** What stands before the time of one question, and what after it. */
const around = (before: Tokens, after: Tokens): readonly [Tokens, Tokens] => {
  const own = asked(before)
  if (own.length > 0) return [own, after]
  // "How does November compare with October for number of meetings".
  const about = ABOUT.exec(`${folded(after)} `)?.[0]
    .trim()
    .split(" ").length
  if (about !== undefined) return [[...tokenize("how many"), ...after.slice(about)], []]
  // "September or October 2023, when did we have more meetings": the question comes last.
  const [first] = after
  const skipped = /^(which|in)$/.test(first?.word ?? "") ? 2 : 1
  return /^(when|which|where|what|in)$/.test(first?.word ?? "") ? [asked(after.slice(skipped)), []] : [own, after]
}

const counted = (intent: Intent): Intent =>
  intent._tag === "Browse" && intent.lookup.order === undefined ? Intent.Browse({ ...intent, mode: "count" }) : intent

/** The intent with the person's own words for its time: the year stands elsewhere in the question. */
const inWords = (intent: Intent, said: string): Intent => {
  const renamed = (lookup: Lookup): Lookup => ({
    ...lookup,
    conditions: lookup.conditions.map((one) =>
      one._tag === "Time" ? Condition.Time({ ...one, when: { ...one.when, said } }) : one
    )
  })
  if (intent._tag === "Browse") return Intent.Browse({ ...intent, lookup: renamed(intent.lookup) })
  if (intent._tag !== "Figures") return intent
  const { asked } = intent
  return Intent.Figures({ asked: { ...asked, measure: { ...asked.measure, lookup: renamed(asked.measure.lookup) } } })
}

/** "In October and November 2023": both are of the year that one of them has. */
const withYears = (...times: ReadonlyArray<Tokens>): ReadonlyArray<Tokens> => {
  const years = times.map((time) => time.filter(({ word }) => YEAR.test(word) || /^\d{4}-/.test(word)))
  const year = years.find((own) => own.length === 1)?.[0]
  return times.map((time, at) =>
    years[at]!.length > 0 ||
    year === undefined ||
    !YEAR.test(year.word) ||
    !time.some(({ word }) => MONTHS[word] !== undefined)
      ? time
      : [...time, year]
  )
}

const asked = (tokens: Tokens): Tokens => {
  const said = `${folded(tokens)} `
  for (const [lead, means] of ASKED)
    if (lead.test(said)) {
      const words = said.replace(lead, means).trim()
      return words === "" ? [] : tokenize(words)
    }
  return tokens
}
