/** The results of lookups. */
import { Schema } from "effect"

const optional = Schema.optionalKey

/** A related entity in a cell; the name is absent where it is hidden. */
export const ReferenceCell = Schema.Struct({ id: Schema.String, name: optional(Schema.String) })
export type ReferenceCell = typeof ReferenceCell.Type

export const Entity = Schema.Struct({
  entityId: Schema.String,
  displayName: optional(Schema.String),
  status: optional(Schema.String),
  columns: optional(Schema.Record(Schema.String, Schema.Unknown))
})
export type Entity = typeof Entity.Type

/** The values that the rows of a group share: a text, a period (`2026-11`), or an entity with its id. */
export const GroupKey = Schema.Struct({ value: optional(Schema.String), id: optional(Schema.String) })
export type GroupKey = typeof GroupKey.Type

/** A figure of a group: exact decimal text or a date, its currency, and the number of values it is made of. */
export const FigureCell = Schema.Struct({ value: Schema.String, unit: optional(Schema.String), of: Schema.Int })
export type FigureCell = typeof FigureCell.Type

export const Group = Schema.Struct({
  /** One per `by`; a key without a value is of the rows that show none. */
  keys: Schema.Array(GroupKey),
  count: Schema.Int,
  /** In percent: of all rows, or of the sum if a sum in one currency comes first. */
  share: optional(Schema.Int),
  /** Against the period before, in percent. */
  change: optional(Schema.Number),
  /** One list per figure, in the order of the request: one cell per currency. */
  figures: optional(Schema.Array(Schema.Array(FigureCell)))
})
export type Group = typeof Group.Type

export const Page = Schema.Struct({
  total: Schema.Int,
  /** The count stopped at `total`; more entities match. */
  totalIsLowerBound: optional(Schema.Literal(true)),
  /** The caller's plan can hide matching rows: depends on the plan and the query's names, never on data. */
  limited: optional(Schema.Literal(true)),
  entities: Schema.Array(Entity),
  nextCursorEntityId: optional(Schema.String),
  /** Of a request for groups or figures, which has no entities. Periods are in the order of time. */
  groups: optional(Schema.Array(Group)),
  /** What was asked for, as written: `by status`, `sum amount`. */
  headings: optional(Schema.Array(Schema.String)),
  groupsTotal: optional(Schema.Int),
  /** The figures are in several currencies, and the groups in the order of their counts. */
  several: optional(Schema.Literal(true)),
  /** The figures took too long: there are none, and the total is a lower bound. */
  tooMany: optional(Schema.Literal(true))
})
export type Page = typeof Page.Type

export const EMPTY_PAGE: Page = { total: 0, entities: [] }

export const Named = Schema.Struct({ id: Schema.String, name: Schema.String })
export type Named = typeof Named.Type

/** A column, with what it holds unless that is text: a kind, or the type that it leads to (`→ people`). */
export const ListedColumn = Schema.Struct({ id: Schema.String, name: Schema.String, holds: optional(Schema.String) })
export type ListedColumn = typeof ListedColumn.Type

export const ListedType = Schema.Struct({ id: Schema.String, name: Schema.String, pluralName: Schema.String })
export type ListedType = typeof ListedType.Type
