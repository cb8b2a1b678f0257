/**
 * The three tools, defined once and served everywhere. Their words are the product's whole interface to a model, so
 * every one is paid for on every call: the budget is 350 tokens for all three.
 */
import { Schema } from "effect"
import { Tool, Toolkit } from "effect/ai"
import { InvalidInput, Unavailable, UnknownName } from "../domain/errors.ts"
import { ListedType, Named, Page } from "../domain/Page.ts"
import { CurrentPrincipal } from "../domain/Principal.ts"
import { FilterOp } from "../domain/Query.ts"

const { optionalKey } = Schema
const text = (description: string) => Schema.String.annotate({ description })

const failure = Schema.Union([UnknownName, InvalidInput, Unavailable])

const ListEntityTypes = Tool.make("listEntityTypes", {
  description: "The types that can be looked up; call first",
  parameters: Tool.EmptyParams,
  success: Schema.Struct({ entityTypes: Schema.Array(ListedType) }),
  failure,
  failureMode: "return",
  dependencies: [CurrentPrincipal]
})
  .annotate(Tool.Readonly, true)
  .annotate(Tool.Destructive, false)
  .annotate(Tool.OpenWorld, false)

const ListColumnsForType = Tool.make("listColumnsForType", {
  description: "The columns of a type that can be filtered and selected",
  parameters: Schema.Struct({
    entityTypeId: Schema.String,
    filter: optionalKey(
      Schema.Struct({
        nameContains: optionalKey(Schema.Array(Schema.String)),
        max: optionalKey(Schema.Int)
      })
    )
  }),
  success: Schema.Struct({ columns: Schema.Array(Named) }),
  failure,
  failureMode: "return",
  dependencies: [CurrentPrincipal]
})
  .annotate(Tool.Readonly, true)
  .annotate(Tool.Destructive, false)
  .annotate(Tool.OpenWorld, false)

const FindEntities = Tool.make("findEntities", {
  description: "Entities that match all filters, with total. Next page: cursorEntityId",
  parameters: Schema.Struct({
    entityTypeId: Schema.String,
    filters: Schema.Array(
      Schema.Struct({
        columnId: Schema.String,
        op: FilterOp,
        value: text("Text, number, entityId or date: 2026, 2026-03, 2026-03-31, today")
      })
    ).annotate({ description: "ilike contains; gte and lt also sort" }),
    limit: optionalKey(Schema.Int.annotate({ description: "0 only counts; default 5, at most 25" })),
    cursorEntityId: optionalKey(Schema.String),
    selectColumns: optionalKey(Schema.Array(Schema.String).annotate({ description: "At most 5" }))
  }),
  success: Page,
  failure,
  failureMode: "return",
  dependencies: [CurrentPrincipal]
})
  .annotate(Tool.Readonly, true)
  .annotate(Tool.Destructive, false)
  .annotate(Tool.OpenWorld, false)

export const MaxToolkit = Toolkit.make(ListEntityTypes, ListColumnsForType, FindEntities)
