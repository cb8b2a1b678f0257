/** The parts of a question, and the question that they make in words that rules know. */
import type { Context } from "../readConversation.ts"
import { type Token, tokenize } from "../tokenize.ts"

type Tokens = ReadonlyArray<Token>

export interface Slots {
  count: boolean
  mine: boolean
  noun?: Tokens
  kind?: true
  type?: string
  name?: Tokens
  preposition?: string
  time?: Tokens
  length?: Tokens
  dated?: "contacted" | "follow-up"
  lacks?: string
  has?: string
  /** "training or consulting" */
  either?: Tokens
  rank?: "most" | "fewest"
  by?: string
  readonly values: Array<Tokens>
  /** Words in small letters after "for" or "by": a value, or the name of an owner. */
  readonly withs: Array<Tokens>
}

const MAX_VALUES = 3

export const isOfNothing = ({ by, dated, either, has, lacks }: Slots): boolean =>
  [by, dated, either, has, lacks].every((part) => part === undefined)

/** Undefined if the parts are no question that can be answered. */
export const rendered = (slots: Slots, context: Context): Tokens | undefined => {
  const { by, count, dated, either, has, lacks, length, mine, name, preposition, rank, time, values, withs } = slots
  const isOfPeople =
    slots.type === "people" ||
    (slots.type === undefined &&
      (values.length > 0 ||
        either !== undefined ||
        dated !== undefined ||
        /^(owner|status|stage|product)$/.test(by ?? "")))
  if (slots.type === undefined && !isOfPeople) return undefined
  if (values.length > MAX_VALUES || withs.length > 2 || (mine && name !== undefined && isOfPeople)) return undefined
  const asksMuch = count || rank !== undefined || by !== undefined
  const parts = [values.length > 0, withs.length > 0, either, mine, name, time, dated, lacks, has, length].filter(
    (part) => part !== undefined && part !== false
  )
  // A noun alone, or a value without any noun, is no question that was understood.
  if (parts.length === 0 && !asksMuch) return undefined
  if (slots.noun === undefined && parts.length < 2 && !asksMuch) return undefined
  // Of several dates of people, one has to be named.
  if (isOfPeople && time !== undefined && dated === undefined) return undefined
  if (dated !== undefined && time === undefined) return undefined
  if (dated !== undefined && !isOfPeople) return undefined
  if (rank !== undefined && (count || mine || name !== undefined)) return undefined
  if (by === "owner" && !isOfPeople) return undefined
  if (rank !== undefined && !isOfPeople && !/^(month|week|day|weekday|quarter|year)$/.test(by ?? "")) return undefined
  const noun = slots.noun ?? tokenize(plural(context))
  const head: Tokens = [
    ...(mine ? tokenize("my") : []),
    ...(length ?? []),
    ...values.flat(),
    ...noun,
    ...(name === undefined
      ? []
      : [...tokenize(isOfPeople ? preposition! : preposition === "of" ? "with" : preposition!), ...name]),
    ...(either === undefined ? [] : [...tokenize("in"), ...either]),
    ...withs.flatMap((words) => [...tokenize("with"), ...words]),
    ...(lacks === undefined ? [] : tokenize(`without a ${lacks}`)),
    ...(has === undefined ? [] : tokenize(`who have a ${has}`)),
    ...(dated === undefined ? [] : tokenize(dated === "contacted" ? "last contacted" : "with a follow-up")),
    ...(time ?? [])
  ]
  if (rank !== undefined)
    return [...tokenize(by === undefined ? `who has the ${rank}` : `which ${by} has the ${rank}`), ...head]
  if (by !== undefined) return [...tokenize("how many"), ...head, ...tokenize(`per ${by}`)]
  return [...tokenize(count ? "how many" : "list"), ...head]
}

const plural = ({ types }: Context): string => types.find(({ id }) => id === "people")?.plural ?? "people"
