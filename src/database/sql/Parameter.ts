/** Values of a statement that are supplied when it runs, so that queries differing in values only share one text. */
import type { Bound, Literal, Placeholder } from "../../domain/Predicate.ts"

/**
 * The placeholder of the value at `index`. `offset`: of a time, whether it states its offset from UTC, which decides its
 * SQL.
 */
export class Parameter implements Placeholder {
  readonly index: number
  readonly offset: boolean
  readonly text: string

  constructor(index: number, offset: boolean) {
    this.index = index
    this.offset = offset
    this.text = `${index} ${offset}`
  }
}

const SHARED = Array.from(
  { length: 64 },
  (_, index) => [new Parameter(index, false), new Parameter(index, true)] as const
)

/** A parameter; instances are shared for the first indexes, because every query has a few. */
export const parameterAt = (index: number, offset: boolean): Parameter =>
  SHARED[index]?.[offset ? 1 : 0] ?? new Parameter(index, offset)

/** A literal, or the parameter in its place. */
export type Value = Literal | Parameter

/** A predicate whose values may be parameters. */
export type Condition = Bound<Parameter>
