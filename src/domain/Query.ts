/** What a caller asks (`FindQuery`, slugs and text) and what it comes to for this caller (`ResolvedQuery`). */
import { Schema } from "effect"
import type { Column, EntityType } from "./EntityType.ts"
import type { Bound, Literal, Slot } from "./Predicate.ts"

export const FilterOp = Schema.Literals(["eq", "ilike", "gte", "lt"])
export type FilterOp = typeof FilterOp.Type

export interface Filter {
  readonly columnId: string
  readonly op: FilterOp
  readonly value: string
}

export interface FindQuery {
  readonly entityTypeId: string
  readonly filters: ReadonlyArray<Filter>
  readonly limit?: number | undefined
  readonly cursorEntityId?: string | undefined
  readonly selectColumns?: ReadonlyArray<string> | undefined
}

export const DEFAULT_LIMIT = 5
export const MAX_LIMIT = 25
export const MAX_SELECT = 5
export const MAX_FILTERS = 10
/** Characters in one filter value. */
export const MAX_VALUE_LENGTH = 1000
/** Totals are exact up to here; beyond it they are a lower bound. */
export const MAX_TOTAL = 1000
export const MAX_COLUMNS = 50

/** A column to show, with the rows on which its cell is visible. */
export interface SelectedColumn {
  readonly column: Column
  readonly mask: Bound
  /** For relations: which rows of the target the caller may see, and on which of them the name. */
  readonly target?: { readonly type: EntityType; readonly where: Bound; readonly name: Bound }
}

export interface ResolvedQuery {
  readonly type: EntityType
  /** The caller's plan over the type's rows. */
  readonly plan: Bound
  /** The caller's filters in the caller's order, each with the mask of the column that it looks at. */
  readonly filters: ReadonlyArray<Bound>
  /** The first range filter orders the result; without one it is in order of id. */
  readonly order?: { readonly column: Column; readonly mask: Bound; readonly descending: boolean } | undefined
  /** Whether rows can be missing because the caller may not see them, or not what it asks about: fixed by plan and names. */
  readonly limited?: boolean | undefined
  readonly limit: number
  /** The entity after which the page begins, as it is bound. */
  readonly cursor?: string | Slot | undefined
  readonly name: Bound
  readonly status: Bound
  readonly select: ReadonlyArray<SelectedColumn>
  /** How hops to related rows are written (`database/sql/predicate.ts`). */
  readonly shape: "subplan" | "probe" | "array"
  /** Whether equality on indexed keys makes this cheap enough for the shared connection. */
  readonly pool: "lookup" | "search"
  /** What the statement is called in the server's own statistics: slugs and operators, no values. */
  readonly label: string
  /** The values of its slots, and what statements of the same names came to. */
  readonly given?: Given | undefined
}

/** A compiled statement whose parameters may be slots. */
interface Compiled {
  readonly text: string
  readonly parameters: ReadonlyArray<unknown>
  readonly several?: (() => { readonly text: string; readonly shared: ReadonlySet<number> }) | undefined
}

/** Compiled statements by an injective text of the shape of what they were compiled from. */
export interface Kept {
  readonly get: (shape: string) => Compiled | undefined
  readonly set: (shape: string, statement: Compiled) => void
}

export interface Given {
  readonly values: ReadonlyArray<Literal>
  /** Without one, the statement depends on a value and isn't kept. */
  readonly shape: string | undefined
  readonly statements: Kept
}
