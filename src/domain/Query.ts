/** A caller's query, in slugs and text, and its limits. */
import { Schema } from "effect"
export const FilterOp = Schema.Literals(["eq", "ne", "ilike", "gte", "lt"])
export type FilterOp = typeof FilterOp.Type

export interface Filter {
  readonly columnId: string
  readonly op: FilterOp
  readonly value: string
}

/** What a request makes of the values of a column, per group: `sum amount`. */
export type Figure = "sum" | "avg" | "min" | "max" | "distinct"

/** The most rows or groups of an export. */
export const MAX_EXPORTED = 10_000

/** The error where `MAX_FIGURES` is off. */
export const FIGURES_OFF = "Groups and figures are turned off."

/** The periods that a group has in common: `by month due`. */
export const BUCKETS = ["hour", "weekday", "day", "week", "month", "quarter", "year"] as const
export type Bucket = (typeof BUCKETS)[number]

export interface FindQuery {
  readonly entityTypeId: string
  readonly filters: ReadonlyArray<Filter>
  readonly limit?: number | undefined
  readonly cursorEntityId?: string | undefined
  readonly selectColumns?: ReadonlyArray<string> | undefined
}

/** How much one statement may return. */
export interface Bounds {
  readonly rows: number
  readonly columns: number
}

export const DEFAULT_LIMIT = 5
export const MAX_LIMIT = 25
export const MAX_SELECT = 5
/** Columns of one request for groups. */
export const MAX_BY = 2
export const MAX_FILTERS = 10
/** Alternatives in one value: `a|b`. */
export const MAX_ALTERNATIVES = 20
/** Dots in the path of a filter: `company.owner.name`. */
export const MAX_DOTS = 2
/** In characters. */
export const MAX_VALUE_LENGTH = 1000
/** Totals are exact up to this number and a lower bound beyond it. */
export const MAX_TOTAL = 1000
export const MAX_COLUMNS = 50
/** A page of an export. */
export const EXPORT_PAGE: Bounds = { rows: 500, columns: 20 }
