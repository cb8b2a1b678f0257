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

export const Page = Schema.Struct({
  total: Schema.Int,
  /** The count stopped at `total`; more entities match. */
  totalIsLowerBound: optional(Schema.Literal(true)),
  /** The caller's plan can hide matching rows: depends on the plan and the query's names, never on data. */
  limited: optional(Schema.Literal(true)),
  entities: Schema.Array(Entity),
  nextCursorEntityId: optional(Schema.String)
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
