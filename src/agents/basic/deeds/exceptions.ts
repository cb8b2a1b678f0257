/** Rows of a set that stay as they are, in a clause of their own: ", except Rotate keys", "but the demo stays with him". */
import { Condition } from "../Lookup.ts"
import { startsWith } from "../patterns.ts"
import type { Context } from "../readConversation.ts"
import { folded } from "../tokenize.ts"
import { Part } from "./Deed.ts"
import type { Calendar } from "./moments.ts"
import { readGroup } from "./readGroup.ts"
import { readSet } from "./readSet.ts"
import { EXCEPT, isName, namesIn } from "./readSubject.ts"
import { matches, shapeOf } from "./shapes.ts"
import type { Word } from "./words.ts"

type Words = ReadonlyArray<Word>

/** "The one that's done", "those in review": rows of the set that was said before. */
const ONES = /^(one|ones|those)$/
/** "But Rotate keys stays with him". */
const KEPT = shapeOf(
  "(but|only|just|except)? {names} (stays|stay|remains|remain|should stay|is to stay|are to stay) (with him|with her|with them|where it is|where they are|as it is|as they are|as is|put|untouched|unchanged)"
)

/** ", apart from the ones that are done": only where all of it is read. */
export const exceptedIn = (words: Words, context: Context, calendar: Calendar): ReadonlyArray<Part> => {
  for (const { names } of matches(KEPT, words, (_, taken) => taken.length <= 20)) {
    const kept = names === undefined ? undefined : (namesIn(names) ?? (isName(names) ? [names] : undefined))
    if (kept !== undefined) return [Part.Except({ names: kept })]
  }
  const lead = EXCEPT.find((phrase) => phrase.length < words.length && startsWith(words, phrase))
  const [type] = context.types
  const rest = lead === undefined ? [] : words.slice(lead.length)
  if (rest.length === 0 || type === undefined) return []
  const ones = rest.map((each) =>
    each.quoted !== true && ONES.test(each.word)
      ? { ...each, text: type.plural, word: type.plural.toLowerCase(), capital: false }
      : each
  )
  const group = ones.some((each, at) => each !== rest[at])
    ? (readSet(ones, context) ?? readGroup(ones, context, calendar))
    : undefined
  if (group !== undefined)
    return group.lookup.conditions.length === 1 ? [Part.Except({ conditions: group.lookup.conditions })] : []
  for (const words of statedOf(rest, lead![0] === "unless", type.plural)) {
    const stated = readSet(words, context) ?? readGroup(words, context, calendar)
    if (stated?.lookup.conditions.length === 1) return [Part.Except({ conditions: stated.lookup.conditions })]
  }
  if (lead![0] === "unless") return []
  const bare = rest[0]!.word === "the" && rest.length > 1 ? rest.slice(1) : rest
  const names = namesIn(bare) ?? (isName(bare) && bare.length <= 6 ? [bare] : undefined)
  // "Except Apollo": a name, or a value of the rows.
  const isValued = names?.length === 1 && bare.length <= 2 && bare[0]!.quoted !== true
  const value = Condition.Quality({ words: folded(bare) })
  return names === undefined
    ? []
    : [Part.Except({ names }), ...(isValued ? [Part.Except({ conditions: [value] })] : [])]
}

const IN = /^(on|in|at|for|with|under|due|without|from|of)$/

/** "Yuki's", "on Apollo", and after "unless it is" also "blocked": said of the rows of the set. */
const statedOf = (rest: Words, isUnless: boolean, plural: string): ReadonlyArray<Words> => {
  const [first, last] = [rest[0]!, rest.at(-1)!]
  if (rest.some(({ quoted }) => quoted === true)) return []
  const word = (text: string): Word => ({ ...first, text, word: text.toLowerCase(), after: "", capital: false })
  if (last.word === "'s") return [[...rest.slice(0, -1), { ...last, after: "" }, word(plural)]]
  if (IN.test(first.word)) return [[word(plural), ...rest]]
  return isUnless ? [[word(plural), word("that"), word("are"), ...rest]] : []
}
