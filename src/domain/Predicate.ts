/**
 * Predicates: what a policy says of a row (`Predicate`, with attributes and "me" still open) and what a plan or a
 * filter says of it (`Bound`, literals only, negation pushed to the leaves). `Bound` is what becomes SQL.
 *
 * Truth is Kleene's: a comparison with NULL, with a missing attribute or across a missing single reference is unknown.
 */
import { Data, Schema } from "effect"

export const CompareOp = Schema.Literals(["eq", "ne", "lt", "lte", "gt", "gte"])
export type CompareOp = typeof CompareOp.Type

export const NEGATED: Readonly<Record<CompareOp, CompareOp>> = {
  eq: "ne",
  ne: "eq",
  lt: "gte",
  lte: "gt",
  gt: "lte",
  gte: "lt"
}

const Scalar = Schema.Union([Schema.String, Schema.Finite, Schema.Boolean])
export type Scalar = typeof Scalar.Type

/** What a column is compared with. There is no null literal: `IsNull` says that. */
export const Operand = Schema.TaggedUnion({
  Literal: { value: Scalar },
  Attribute: { name: Schema.String },
  Me: {}
})
export type Operand = typeof Operand.Type

export type Predicate = Data.TaggedEnum<{
  Always: {}
  Never: {}
  Compare: { readonly column: string; readonly op: CompareOp; readonly operand: Operand }
  In: { readonly column: string; readonly operands: ReadonlyArray<Operand> }
  IsNull: { readonly column: string }
  Related: { readonly relation: string; readonly where: Predicate }
  All: { readonly of: ReadonlyArray<Predicate> }
  Any: { readonly of: ReadonlyArray<Predicate> }
  Not: { readonly of: Predicate }
}>
export const Predicate = Data.taggedEnum<Predicate>()

const Recursive = Schema.suspend((): Schema.Codec<Predicate> => PredicateSchema)
/** How a predicate is stored: column and relation names are immutable keys. */
export const PredicateSchema: Schema.Codec<Predicate> = Schema.TaggedUnion({
  Always: {},
  Never: {},
  Compare: { column: Schema.String, op: CompareOp, operand: Operand },
  In: { column: Schema.String, operands: Schema.Array(Operand) },
  IsNull: { column: Schema.String },
  Related: { relation: Schema.String, where: Recursive },
  All: { of: Schema.Array(Recursive) },
  Any: { of: Schema.Array(Recursive) },
  Not: { of: Recursive }
})

/** A literal as it is bound: numbers and ids as decimal text, dates and times as ISO text. */
export type Literal = string | boolean

/**
 * The place of a caller's value that is filled in when a compiled statement runs: what is written with slots is the same
 * text for every value. `offset`: of a time, whether it says its offset from UTC, which decides how it is written.
 */
export class Slot {
  readonly index: number
  readonly offset: boolean

  constructor(index: number, offset: boolean) {
    this.index = index
    this.offset = offset
  }
}

const SLOTS = Array.from({ length: 64 }, (_, index) => [new Slot(index, false), new Slot(index, true)] as const)

/** A slot: there are never more than a few, and every question has some. */
export const slotAt = (index: number, offset: boolean): Slot =>
  SLOTS[index]?.[offset ? 1 : 0] ?? new Slot(index, offset)

export type BoundValue = Literal | Slot

/** Whether a leaf looks at the value as stored or at its search key. */
export type Side = "value" | "key"

export type Bound = Data.TaggedEnum<{
  Always: {}
  Never: {}
  Compare: { readonly column: string; readonly side: Side; readonly op: CompareOp; readonly value: BoundValue }
  In: {
    readonly column: string
    readonly side: Side
    readonly values: ReadonlyArray<Literal>
    readonly negated: boolean
  }
  IsNull: { readonly column: string; readonly negated: boolean }
  /** The search key contains the folded text; under three characters it begins with it. A slot is given the pattern. */
  Contains: { readonly column: string; readonly text: string | Slot }
  /** Some related row satisfies `where`. */
  Some: { readonly relation: string; readonly where: Bound }
  /** No related row can satisfy `where`: inside it, unknown counts as satisfied. */
  None: { readonly relation: string; readonly where: Bound }
  All: { readonly of: ReadonlyArray<Bound> }
  Any: { readonly of: ReadonlyArray<Bound> }
}>
export const Bound = Data.taggedEnum<Bound>()

export const ALWAYS: Bound = Bound.Always()
export const NEVER: Bound = Bound.Never()

const texts = new WeakMap<Bound, string>()

/** An injective text of a bound predicate: equal texts mean equal predicates. Kept, because plans put the same parts together often. */
export const canonical = (bound: Bound): string => {
  const slotted = slotText(bound)
  if (slotted !== undefined) return slotted
  const known = texts.get(bound)
  if (known !== undefined) return known
  const text = canonicalText(bound)
  texts.set(bound, text)
  return text
}

/** Written without JSON and not kept, because every question makes one: the column comes last, and may be any text. */
const slotText = (bound: Bound): string | undefined => {
  if (bound._tag === "Compare" && bound.value instanceof Slot) {
    return `=${bound.value.index} ${bound.value.offset} ${bound.op} ${bound.side} ${bound.column}`
  }
  return bound._tag === "Contains" && bound.text instanceof Slot ? `~${bound.text.index} ${bound.column}` : undefined
}

const canonicalText = (bound: Bound): string => {
  switch (bound._tag) {
    case "Always":
    case "Never":
      return bound._tag
    case "Compare":
      return JSON.stringify(["c", bound.column, bound.side, bound.op, bound.value])
    case "In":
      return JSON.stringify(["i", bound.column, bound.side, bound.negated, bound.values])
    case "IsNull":
      return JSON.stringify(["n", bound.column, bound.negated])
    case "Contains":
      return JSON.stringify(["m", bound.column, bound.text])
    case "Some":
    case "None":
      return `${bound._tag} ${JSON.stringify(bound.relation)} ${canonical(bound.where)}`
    case "All":
    case "Any": {
      let text = `${bound._tag} ${bound.of.length}`
      for (const part of bound.of) {
        const inner = canonical(part)
        text += ` ${inner.length}:${inner}`
      }
      return text
    }
  }
}

const combine = (tag: "All" | "Any", parts: ReadonlyArray<Bound>): Bound => {
  const [unit, zero] = tag === "All" ? [ALWAYS, NEVER] : [NEVER, ALWAYS]
  const only = parts[0]
  if (parts.length === 1 && only !== undefined) return only
  const distinct = new Map<string, Bound>()
  for (const part of parts) {
    for (const leaf of part._tag === tag ? part.of : [part]) {
      if (leaf._tag === zero._tag) return zero
      if (leaf._tag !== unit._tag) distinct.set(canonical(leaf), leaf)
    }
  }
  if (distinct.size === 0) return unit
  const of = [...distinct].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, leaf]) => leaf)
  return of.length === 1 ? of[0]! : tag === "All" ? Bound.All({ of }) : Bound.Any({ of })
}

/** The conjunction in canonical form: flat, without duplicates, sorted; of nothing it is `Always`. */
export const all = (...parts: ReadonlyArray<Bound>): Bound => combine("All", parts)

/** The disjunction in canonical form; of nothing it is `Never`. */
export const any = (...parts: ReadonlyArray<Bound>): Bound => combine("Any", parts)

export const some = (relation: string, where: Bound): Bound =>
  where._tag === "Never" ? NEVER : Bound.Some({ relation, where })

export const none = (relation: string, where: Bound): Bound =>
  where._tag === "Never" ? ALWAYS : Bound.None({ relation, where })

/** How many values a bound predicate binds: the measure of its size. */
export const parameterCount = (bound: Bound): number => {
  switch (bound._tag) {
    case "Compare":
    case "Contains":
      return 1
    case "In":
      return bound.values.length
    case "Some":
    case "None":
      return parameterCount(bound.where)
    case "All":
    case "Any":
      return bound.of.reduce((sum, part) => sum + parameterCount(part), 0)
    default:
      return 0
  }
}

/** How many leaves, values and hops a bound predicate has: the measure of its text. */
export const leafCount = (bound: Bound): number => {
  switch (bound._tag) {
    case "In":
      return 1 + bound.values.length
    case "Some":
    case "None":
      return 1 + leafCount(bound.where)
    case "All":
    case "Any":
      return bound.of.reduce((sum, part) => sum + leafCount(part), 0)
    default:
      return 1
  }
}
