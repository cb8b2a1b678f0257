/**
 * Predicates over a row: `Predicate` as policies store it, with attributes and "me" still symbolic, and `Bound` as plans
 * and filters use it, with literals (or placeholders for them) and negation pushed to the leaves.
 *
 * Logic is three-valued (Kleene): a comparison with NULL, with a missing attribute or across a missing single reference is
 * unknown.
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

/** The right-hand side of a comparison. There is no null literal: use `IsNull`. */
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
/** The stored form of a predicate: column and relation names are immutable keys. */
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

/** A literal in its bound form: numbers and ids as decimal text, dates and times as ISO text. */
export type Literal = string | boolean

/** Stands for a literal that is supplied later; `text` identifies the placeholder within one predicate. */
export interface Placeholder {
  readonly text: string
}

/** Whether a leaf compares the stored value or its search key. */
export type Side = "value" | "key"

/** `P`: the placeholders that it may hold; plans and policies hold none. */
export type Bound<P extends Placeholder = never> = Data.TaggedEnum<{
  Always: {}
  Never: {}
  Compare: { readonly column: string; readonly side: Side; readonly op: CompareOp; readonly value: Literal | P }
  In: {
    readonly column: string
    readonly side: Side
    readonly values: ReadonlyArray<Literal>
    readonly negated: boolean
  }
  IsNull: { readonly column: string; readonly negated: boolean }
  /** The cell shows a value: it isn't NULL, blank text, an empty list or an infinite time. Not for links. */
  HasValue: { readonly column: string }
  /** The search key contains the folded text, or starts with it if the text has fewer than three characters. */
  Contains: { readonly column: string; readonly text: string | P }
  /** At least one related row satisfies `where`. */
  Some: { readonly relation: string; readonly where: Bound<P> }
  /** No related row can satisfy `where`: inside it, unknown counts as satisfied. */
  None: { readonly relation: string; readonly where: Bound<P> }
  /** At least one row of another type, whose `relation` leads to this row, satisfies `where`. */
  Referrer: { readonly type: string; readonly relation: string; readonly where: Bound<P> }
  /**
   * The condition is false or unknown. Only in callers' filters: there, what is hidden counts as empty. A policy's negation
   * is pushed to the leaves instead (`None`), because there unknown denies.
   */
  NotTrue: { readonly of: Bound<P> }
  All: { readonly of: ReadonlyArray<Bound<P>> }
  Any: { readonly of: ReadonlyArray<Bound<P>> }
}>
export const Bound = Data.taggedEnum<Bound>()

export const ALWAYS: Bound = Bound.Always()
export const NEVER: Bound = Bound.Never()

const cachedTexts = new WeakMap<object, string>()

/** An injective text of a bound predicate: equal texts mean equal predicates. Cached, because plans share parts. */
export const canonical = (bound: Bound<Placeholder>): string => {
  const direct = placeholderText(bound)
  if (direct !== undefined) return direct
  const cached = cachedTexts.get(bound)
  if (cached !== undefined) return cached
  const text = canonicalText(bound)
  cachedTexts.set(bound, text)
  return text
}

/** Skips JSON and the cache, because every query creates such a leaf. The column comes last: it may contain any character. */
const placeholderText = (bound: Bound<Placeholder>): string | undefined => {
  if (bound._tag === "Compare" && typeof bound.value === "object") {
    return `=${bound.value.text} ${bound.op} ${bound.side} ${bound.column}`
  }
  return bound._tag === "Contains" && typeof bound.text === "object" ? `~${bound.text.text} ${bound.column}` : undefined
}

const canonicalText = (bound: Bound<Placeholder>): string => {
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
    case "HasValue":
      return JSON.stringify(["h", bound.column])
    case "Referrer":
      return `Referrer ${JSON.stringify([bound.type, bound.relation])} ${canonical(bound.where)}`
    case "NotTrue":
      return `NotTrue ${canonical(bound.of)}`
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

const combine = <P extends Placeholder>(tag: "All" | "Any", parts: ReadonlyArray<Bound<P>>): Bound<P> => {
  const [unit, zero] = tag === "All" ? [ALWAYS, NEVER] : [NEVER, ALWAYS]
  const only = parts[0]
  if (parts.length === 1 && only !== undefined) return only
  const distinct = new Map<string, Bound<P>>()
  for (const part of parts) {
    for (const leaf of part._tag === tag ? part.of : [part]) {
      if (leaf._tag === zero._tag) return zero
      if (leaf._tag !== unit._tag) distinct.set(canonical(leaf), leaf)
    }
  }
  if (distinct.size === 0) return unit
  const of = [...distinct].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, leaf]) => leaf)
  return of.length === 1 ? of[0]! : { _tag: tag, of }
}

/** The conjunction in canonical form: flat, without duplicates, sorted; an empty one is `Always`. */
export function all(...parts: ReadonlyArray<Bound>): Bound
export function all<P extends Placeholder>(...parts: ReadonlyArray<Bound<P>>): Bound<P>
export function all<P extends Placeholder>(...parts: ReadonlyArray<Bound<P>>): Bound<P> {
  return combine<P>("All", parts)
}

/** The disjunction in canonical form; an empty one is `Never`. */
export function any(...parts: ReadonlyArray<Bound>): Bound
export function any<P extends Placeholder>(...parts: ReadonlyArray<Bound<P>>): Bound<P>
export function any<P extends Placeholder>(...parts: ReadonlyArray<Bound<P>>): Bound<P> {
  return combine<P>("Any", parts)
}

export function some(relation: string, where: Bound): Bound
export function some<P extends Placeholder>(relation: string, where: Bound<P>): Bound<P>
export function some<P extends Placeholder>(relation: string, where: Bound<P>): Bound<P> {
  return where._tag === "Never" ? NEVER : { _tag: "Some", relation, where }
}

export const none = (relation: string, where: Bound): Bound =>
  where._tag === "Never" ? ALWAYS : Bound.None({ relation, where })

/** The number of values that a bound predicate binds. */
export const parameterCount = (bound: Bound): number => {
  switch (bound._tag) {
    case "Compare":
    case "Contains":
      return 1
    case "In":
      return bound.values.length
    case "Some":
    case "None":
    case "Referrer":
      return parameterCount(bound.where)
    case "NotTrue":
      return parameterCount(bound.of)
    case "All":
    case "Any":
      return bound.of.reduce((sum, part) => sum + parameterCount(part), 0)
    default:
      return 0
  }
}

/** The number of leaves, listed values and hops of a bound predicate: proportional to the length of its SQL. */
export const leafCount = (bound: Bound): number => {
  switch (bound._tag) {
    case "In":
      return 1 + bound.values.length
    case "Some":
    case "None":
    case "Referrer":
      return 1 + leafCount(bound.where)
    case "NotTrue":
      return 1 + leafCount(bound.of)
    case "All":
    case "Any":
      return bound.of.reduce((sum, part) => sum + leafCount(part), 0)
    default:
      return 1
  }
}
