/** The compiler's input and output: a query whose names and values are resolved for one caller, and its statement. */
import type { Column, EntityType } from "../../domain/EntityType.ts"
import type { Bound, Literal, Side } from "../../domain/Predicate.ts"
import type { Condition, Parameter } from "./Parameter.ts"
import type { GroupStep } from "./ResolvedGroups.ts"
import type { Hops } from "./fragmentContext.ts"

/** A column to show, with the rows on which its cell is visible. */
export interface SelectedColumn {
  readonly column: Column
  readonly mask: Bound
  /** Of a relation: the rows of the target that the caller may see, and those whose name it may see. */
  readonly target?: { readonly type: EntityType; readonly where: Bound; readonly name: Bound }
  /** Of a column of what references lead to: the way to it, and its type. The mask is about rows of that type. */
  readonly through?: { readonly steps: ReadonlyArray<GroupStep>; readonly at: EntityType }
}

interface ResolvedOrder {
  readonly column: Column
  readonly mask: Bound
  readonly descending: boolean
  /** `key`: by the search key of text, which ignores case and has one order in every database. */
  readonly side?: Side
}

export interface ResolvedQuery {
  readonly type: EntityType
  /** The caller's plan over the type's rows. */
  readonly plan: Bound
  /** The caller's filters in the caller's order, each under the mask of its column. */
  readonly filters: ReadonlyArray<Condition>
  /** The first range filter orders the result; without one, the id does. */
  readonly order?: ResolvedOrder | undefined
  /** Whether the plan can hide matching rows: depends on the plan and the names, never on data. */
  readonly limited?: boolean | undefined
  readonly limit: number
  /** The id of the entity after which the page starts, in its bound form. */
  readonly cursor?: string | Parameter | undefined
  readonly name: Bound
  readonly status: Bound
  readonly select: ReadonlyArray<SelectedColumn>
  readonly hops: Hops
  /** `lookup`: the shared connections, for equality on an indexed identifier. `search`: the pool for all other reads. */
  readonly pool: "lookup" | "search"
  /** Names the statement in the server's statistics: slugs and operators, no values. */
  readonly label: string
  /** The values of its parameters, by index. */
  readonly values?: ReadonlyArray<Literal> | undefined
  /** The filters without masks: with the names, they decide the statement's text. */
  readonly compared?: ReadonlyArray<Condition> | undefined
  /** The statements of queries with the same names, by shape; absent when the text depends on a value. */
  readonly statements?: Statements | undefined
}

export interface Statement {
  readonly text: string
  /** Whether it reads mapped relations: Postgres then refuses to plan it while they aren't what was mapped. */
  readonly mapped?: boolean
  /** Of a cached statement, some are `Parameter`s. */
  readonly parameters: ReadonlyArray<unknown>
  /** The relations that it reads, quoted. */
  readonly relations?: ReadonlyArray<string> | undefined
  /** The form that answers several requests with this text; absent where batching is not allowed. */
  readonly batch?: (() => BatchForm) | undefined
}

/**
 * A statement that answers several requests whose statements have one text. Each parameter is the array of the requests'
 * values in their order, or, if its index is in `shared`, a list that is the same for all of them. Column `n` of a row is
 * the number of its request, counted from 1.
 */
export interface BatchForm {
  readonly text: string
  readonly shared: ReadonlySet<number>
}

/** A cache of compiled statements (`StatementCache` in `prepared.ts`). */
export interface Statements {
  readonly get: (shape: string) => Statement | undefined
  readonly set: (shape: string, statement: Statement) => void
}
