/**
 * Resolved query → statement with its values, compiled once for all queries of one shape. Queries have one shape when
 * they differ in values only: same names under the same view (one `StatementCache` each), same limit, same form of filters.
 */
import type { Catalog, Column } from "../../domain/EntityType.ts"
import { canonical, type Literal } from "../../domain/Predicate.ts"
import { compileBatch, compileFind, type Server } from "./find.ts"
import { Parameter, parameterAt, type Value } from "./Parameter.ts"
import { hasOffset, patternOf } from "./comparisons.ts"
import type { BatchForm, ResolvedQuery, Statement, Statements } from "./ResolvedQuery.ts"

/** The statement of a query with its values. Throws when the catalog doesn't fit the query. */
export const prepare = (query: ResolvedQuery, catalog: Catalog, server: Server = "primary"): Statement => {
  const { statements, values = [] } = query
  const shape = statements === undefined ? undefined : shapeOf(query, server)
  let statement = shape === undefined ? undefined : statements!.get(shape)
  if (statement === undefined) {
    statement = { ...compileFind(query, catalog, undefined, server), batch: batchOf(query, catalog, server) }
    if (shape !== undefined) statements!.set(shape, statement)
  }
  const { batch, mapped, parameters, relations, text } = statement
  return { text, parameters: filled(parameters, values), relations, batch, ...(mapped === true ? { mapped } : {}) }
}

/** An injective text of all that a statement's text depends on besides its names. */
const shapeOf = ({ compared = [], cursor, limit }: ResolvedQuery, server: Server): string => {
  let text = cursor === undefined ? `${limit}` : `${limit}+`
  if (server === "standby") text += "s"
  for (const condition of compared) {
    const part = canonical(condition)
    text += ` ${part.length}:${part}`
  }
  return text
}

/** Lookups only: they are ordered by id and quick, so that no request delays the others of its batch. */
const batchOf = (query: ResolvedQuery, catalog: Catalog, server: Server): Statement["batch"] => {
  if (query.pool !== "lookup") return undefined
  let compiled: BatchForm | undefined
  return () => (compiled ??= compileBatch(query, catalog, server))
}

const filled = (parameters: ReadonlyArray<unknown>, values: ReadonlyArray<Literal>): ReadonlyArray<unknown> =>
  parameters.map((parameter) => {
    if (!(parameter instanceof Parameter)) return parameter
    const value = values[parameter.index]
    if (value === undefined) throw new Error("A parameter has no value")
    return value
  })

/** Where a query's values go while it is resolved: into parameters (`Parameters`) or into its conditions (`LITERALS`). */
export interface Values {
  /** The values of the parameters so far, by index. */
  readonly values: ReadonlyArray<Literal>
  /** Whether the conditions hold parameters only, so that the statement fits other values too. */
  readonly reusable: boolean
  readonly comparand: (column: Column, value: Literal) => Value
  /** A text that a search key must contain. */
  readonly contained: (text: string) => string | Parameter
  /** The spellings of one value that a column without search keys may hold. */
  readonly spellings: (values: ReadonlyArray<string>) => ReadonlyArray<string>
  readonly id: (id: string) => string | Parameter
}

export const LITERALS: Values = {
  values: [],
  reusable: false,
  comparand: (_, value) => value,
  contained: (text) => text,
  spellings: (values) => values,
  id: (id) => id
}

/** Collects values and hands out parameters; a value that decides the SQL text stays a literal. */
export class Parameters implements Values {
  readonly values: Array<Literal> = []
  reusable = true

  comparand(column: Column, value: Literal): Value {
    if (isNumberAsText(column)) return this.literal(value)
    return this.parameter(value, column.kind === "timestamp" && hasOffset(value))
  }

  contained(text: string): string | Parameter {
    const pattern = patternOf(text)
    return pattern === undefined ? this.literal(text) : this.parameter(pattern, false)
  }

  spellings(values: ReadonlyArray<string>): ReadonlyArray<string> {
    return this.literal(values)
  }

  id(id: string): Parameter {
    return this.parameter(id, false)
  }

  private parameter(value: Literal, offset: boolean): Parameter {
    this.values.push(value)
    return parameterAt(this.values.length - 1, offset)
  }

  private literal<A>(value: A): A {
    this.reusable = false
    return value
  }
}

const isNumberAsText = ({ kind, storage }: Column): boolean =>
  kind === "text" && storage._tag === "Value" && storage.source?.type === "integer"

/** Characters of all cached statements together. */
export const MAX_CACHED = 32 * 1024 * 1024
/** Statements in one cache: they differ in limit, cursor or form of filters. */
const MAX_STATEMENTS = 64
/** The memory of an entry besides its text, in characters. */
const OVERHEAD = 1024

let cached = 0
let generation = 0

/** The statements of one set of names under one view. */
export class StatementCache implements Statements {
  private readonly created = generation
  private readonly byShape = new Map<string, Statement>()

  /** Whether the caches together exceeded their bound since this one was created: it and its names are then dropped. */
  get expired(): boolean {
    return this.created !== generation
  }

  get(shape: string): Statement | undefined {
    return this.byShape.get(shape)
  }

  set(shape: string, statement: Statement): void {
    if (this.byShape.size >= MAX_STATEMENTS) this.byShape.clear()
    this.byShape.set(shape, statement)
    cached += statement.text.length + shape.length + OVERHEAD
    if (cached > MAX_CACHED) {
      cached = 0
      generation += 1
    }
  }
}
