/**
 * What is found out once for all questions that differ in nothing but their values: the names in them, and the compiled
 * statement. It holds for one view, whose plans and masks are fixed; all that is kept together has a bound.
 */
import { hasOffset, patternOf } from "../../database/sql/predicate.ts"
import type { Statement } from "../../database/sql/find.ts"
import type { Column } from "../../domain/EntityType.ts"
import { type Bound, type BoundValue, canonical, type Literal, type Slot, slotAt } from "../../domain/Predicate.ts"
import type { FindQuery, Given, Kept } from "../../domain/Query.ts"

/** How a caller's values come into a predicate: as they are, or as slots that are filled later. */
export interface Values {
  readonly give: (column: Column, value: Literal) => BoundValue
  /** A text that a key must contain. */
  readonly contained: (text: string) => string | Slot
  /** Values that a column's own spelling is compared with. */
  readonly listed: (values: ReadonlyArray<string>) => ReadonlyArray<string>
  readonly id: (id: string) => string | Slot
  /** What a query is given for its slots, by what it asks beside its names. */
  readonly given: (
    statements: Kept,
    limit: number,
    cursor: string | Slot | undefined,
    asked: ReadonlyArray<Bound>
  ) => Given | undefined
}

export const LITERALS: Values = {
  give: (_, value) => value,
  contained: (text) => text,
  listed: (values) => values,
  id: (id) => id,
  given: () => undefined
}

/** Values that are put aside, with a slot in the place of each; what is written differently for different values stays. */
export class Slots implements Values {
  private readonly values: Array<Literal> = []
  /** Whether every value has a slot: only then is the statement the same for other values. */
  private complete = true

  give(column: Column, value: Literal): BoundValue {
    if (isWrittenNumber(column)) return this.stay(value)
    return this.slot(value, column.kind === "timestamp" && hasOffset(value))
  }

  contained(text: string): string | Slot {
    const pattern = patternOf(text)
    return pattern === undefined ? this.stay(text) : this.slot(pattern, false)
  }

  listed(values: ReadonlyArray<string>): ReadonlyArray<string> {
    return this.stay(values)
  }

  id(id: string): Slot {
    return this.slot(id, false)
  }

  given(statements: Kept, limit: number, cursor: string | Slot | undefined, asked: ReadonlyArray<Bound>): Given {
    const shape = this.complete ? shapeOf(limit, cursor, asked) : undefined
    return { values: this.values, shape, statements }
  }

  private slot(value: Literal, offset: boolean): Slot {
    this.values.push(value)
    return slotAt(this.values.length - 1, offset)
  }

  private stay<A>(value: A): A {
    this.complete = false
    return value
  }
}

const isWrittenNumber = ({ kind, storage }: Column): boolean =>
  kind === "text" && storage._tag === "Value" && storage.source?.type === "integer"

/** An injective text of the names in a question: every part says how long it is. */
export const namesIn = ({ entityTypeId, filters, selectColumns }: FindQuery): string => {
  let text = `${entityTypeId.length}:${entityTypeId}${filters.length}`
  for (const { columnId, op } of filters) text += ` ${op} ${columnId.length}:${columnId}`
  if (selectColumns !== undefined) for (const slug of selectColumns) text += ` ${slug.length}:${slug}`
  return text
}

/** An injective text of what else, beside the names, a statement's text depends on. */
const shapeOf = (limit: number, cursor: string | Slot | undefined, asked: ReadonlyArray<Bound>): string => {
  let text = cursor === undefined ? `${limit}` : `${limit}+`
  for (const bound of asked) {
    const part = canonical(bound)
    text += ` ${part.length}:${part}`
  }
  return text
}

/** Characters of all statements that are kept, of all views together. */
export const MAX_KEPT = 32 * 1024 * 1024
/** Statements of one view's names that differ in limit, page or form. */
const MAX_STATEMENTS = 64
/** What keeping one costs beside its text. */
const OVERHEAD = 1024

let kept = 0
let generation = 0

/** The statements of one set of names. */
export class Statements implements Kept {
  private readonly made = generation
  private readonly byShape = new Map<string, Statement>()

  /** Whether what was kept since is more than there is room for: then everything is found out again. */
  get over(): boolean {
    return this.made !== generation
  }

  get(shape: string): Statement | undefined {
    return this.byShape.get(shape)
  }

  set(shape: string, statement: Statement): void {
    if (this.byShape.size >= MAX_STATEMENTS) this.byShape.clear()
    this.byShape.set(shape, statement)
    kept += statement.text.length + shape.length + OVERHEAD
    if (kept > MAX_KEPT) {
      kept = 0
      generation += 1
    }
  }
}
