/** Several questions in one message: two that can be answered, or a request to ask them one by one. */
import { Intent, Subject } from "./Intent.ts"
import { folded, type Token, written } from "./tokenize.ts"

/** The questions of a message, parted by "and" and by the ends of sentences. */
export const questionsIn = (tokens: ReadonlyArray<Token>): ReadonlyArray<ReadonlyArray<Token>> => {
  const parts: Array<Array<Token>> = [[]]
  for (const token of tokens) {
    if (token.word === "and") parts.push([])
    else parts.at(-1)!.push(token)
    if (/[.;!?]/.test(token.after)) parts.push([])
  }
  return parts.filter((part) => part.length > 0)
}

/** The intent of several questions, if each is understood. */
export const inTurn = (
  asked: ReadonlyArray<ReadonlyArray<Token>>,
  intents: ReadonlyArray<Intent | undefined>,
  tokens: ReadonlyArray<Token>
): Intent | undefined => {
  if (asked.length < 2 || intents.some((intent) => intent === undefined)) return undefined
  const subjects = intents.flatMap((intent) =>
    intent?._tag === "Who" && intent.subject._tag === "Named" ? [intent.subject] : []
  )
  if (subjects.length === 2 && asked.length === 2) return Intent.Several({ subjects, whole: Subject.Named({ tokens }) })
  const [one, two] = withOneVerb(asked, intents).map((intent) => (intent === undefined ? undefined : alone(intent)))
  const second = two ?? completed(intents[1]!, intents[0]!)
  // "Who is the rep of Ada, and how many customers?": hers, or all.
  const isBare = second?._tag === "Browse" && second.mode === "count" && !asked[1]!.some(({ word }) => VERB.test(word))
  const isOpen = isBare && second.lookup.conditions.length === 0 && !(one?._tag === "Browse" && one.mode === "count")
  return asked.length === 2 && one !== undefined && second !== undefined && !isOpen
    ? Intent.Both({ intents: [one, second] })
    : Intent.Separate({ first: written(asked[0]!), count: asked.length })
}

const VERB = /^(is|are|was|were|do|does|did|have|has|had)$/
/** "… do I have", "… are there". */
const endsWithVerb = (tokens: ReadonlyArray<Token>): boolean =>
  /^(have|own|manage|handle)$/.test(tokens.at(-1)!.word)
    ? tokens.some(({ word }) => /^(do|does|did)$/.test(word))
    : /^(are|is) there$/.test(folded(tokens.slice(-2)))

/**
 * "How many leads and how many customers do I have": the verb at the end is that of both questions, with what it says.
 * Where only other conditions end the second question, they may be meant for the second alone.
 */
const withOneVerb = (
  [first, second, ...others]: ReadonlyArray<ReadonlyArray<Token>>,
  intents: ReadonlyArray<Intent | undefined>
): ReadonlyArray<Intent | undefined> => {
  const [one, two] = intents
  if (others.length > 0 || one?._tag !== "Browse" || two?._tag !== "Browse" || first!.at(-1)!.after !== "")
    return intents
  const { conditions } = two.lookup
  if (one.lookup.conditions.length > 0 || conditions.length === 0 || first!.some(({ word }) => VERB.test(word)))
    return intents
  return endsWithVerb(second!)
    ? [Intent.Browse({ ...one, lookup: { ...one.lookup, conditions } }), two]
    : [undefined, two]
}

/** A question, if it can be answered without the one before it. */
const alone = (intent: Intent): Intent | undefined => {
  if (intent._tag === "Browse") return intent
  const whole = intent._tag === "Who" || intent._tag === "Detail" || intent._tag === "Is" || intent._tag === "Via"
  return whole && intent.subject._tag !== "Focus" ? intent : undefined
}

/** "Who is Ada? What is her phone?": a question about the subject of the one before it. */
const completed = (intent: Intent, before: Intent): Intent | undefined =>
  intent._tag === "Detail" && intent.subject._tag === "Focus" && "subject" in before && before.subject._tag === "Named"
    ? Intent.Detail({ ...intent, subject: before.subject })
    : undefined
