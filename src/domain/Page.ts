/** What a lookup answers. */
import { Schema } from "effect"

const optional = Schema.optionalKey

/** A related entity as it is shown in a cell. */
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
  /** There are more than `total`: counting stops there. */
  totalIsLowerBound: optional(Schema.Literal(true)),
  /** The caller sees only a part of this type, or of what is asked about: a property of the plan, never of the data. */
  limited: optional(Schema.Literal(true)),
  entities: Schema.Array(Entity),
  nextCursorEntityId: optional(Schema.String)
})
export type Page = typeof Page.Type

export const EMPTY_PAGE: Page = { total: 0, entities: [] }

export const Named = Schema.Struct({ id: Schema.String, name: Schema.String })
export type Named = typeof Named.Type

export const ListedType = Schema.Struct({ id: Schema.String, name: Schema.String, pluralName: Schema.String })
export type ListedType = typeof ListedType.Type
