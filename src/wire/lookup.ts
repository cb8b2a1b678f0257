/**
 * What the three lookup tools take and return. The descriptions are prompt text: a model pays for every word on every
 * call.
 */
import { Schema } from "effect"
import { Entity, ListedColumn, ListedType, Named, Page } from "../domain/Page.ts"
import { FilterOp } from "../domain/Query.ts"

const { optionalKey } = Schema

/** `a|b` asks for names that contain either; a list of words would cost more tokens in the definition. */
export const TypesQuery = Schema.Struct({ nameContains: optionalKey(Schema.String) })

export const EntityTypes = Schema.Struct({ entityTypes: Schema.Array(ListedType) })

export const ColumnsQuery = Schema.Struct({
  entityTypeId: Schema.String,
  filter: optionalKey(
    Schema.Struct({
      nameContains: optionalKey(Schema.Array(Schema.String)),
      max: optionalKey(Schema.Int)
    })
  )
})

export const Columns = Schema.Struct({
  columns: Schema.Array(ListedColumn),
  /** What leads here: `invoices`, or `invoices@owner` where several columns of a type do. */
  leadHere: optionalKey(Schema.Array(Named))
})

export const EntitiesQuery = Schema.Struct({
  entityTypeId: Schema.String,
  filters: Schema.Array(
    Schema.Struct({
      columnId: Schema.String,
      op: FilterOp,
      value: Schema.String.annotate({
        description: "Text, a|b, number, entityId, 2026-03-31, 2026-03, today; * is any"
      })
    })
  ).annotate({ description: "ilike contains; gte and lt also sort" }),
  limit: optionalKey(Schema.Int.annotate({ description: "0 only counts; at most 25" })),
  cursorEntityId: optionalKey(Schema.String),
  selectColumns: optionalKey(Schema.Array(Schema.String).annotate({ description: 'At most 5; or "by X", "sum X"' }))
})

export const Entities = Page

/** One entity with all that the caller may see of it. */
export const EntityRecord = Schema.Struct({
  typeName: Schema.String,
  entity: Entity,
  columns: Schema.Array(Schema.Struct({ id: Schema.String, name: Schema.String, kind: Schema.String }))
})
export type EntityRecord = typeof EntityRecord.Encoded
