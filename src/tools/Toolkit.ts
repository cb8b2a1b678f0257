/**
 * The three tools, defined once and served everywhere. Their words are the product's whole interface to a model, so
 * every one is paid for on every call: the budget is 350 tokens for all three.
 */
import { Schema } from "effect"
import { Tool, Toolkit } from "effect/ai"
import { InvalidInput, Unavailable, UnknownName } from "../domain/errors.ts"
import { CurrentPrincipal } from "../domain/Principal.ts"
import { Columns, ColumnsQuery, Entities, EntitiesQuery, EntityTypes } from "../wire/lookup.ts"

const failure = Schema.Union([UnknownName, InvalidInput, Unavailable])

const ListEntityTypes = Tool.make("listEntityTypes", {
  description: "The types that can be looked up; call first",
  parameters: Tool.EmptyParams,
  success: EntityTypes,
  failure,
  failureMode: "return",
  dependencies: [CurrentPrincipal]
})
  .annotate(Tool.Readonly, true)
  .annotate(Tool.Destructive, false)
  .annotate(Tool.OpenWorld, false)

const ListColumnsForType = Tool.make("listColumnsForType", {
  description: "The columns of a type that can be filtered and selected",
  parameters: ColumnsQuery,
  success: Columns,
  failure,
  failureMode: "return",
  dependencies: [CurrentPrincipal]
})
  .annotate(Tool.Readonly, true)
  .annotate(Tool.Destructive, false)
  .annotate(Tool.OpenWorld, false)

const FindEntities = Tool.make("findEntities", {
  description: "Entities that match all filters, with total. Next page: cursorEntityId",
  parameters: EntitiesQuery,
  success: Entities,
  failure,
  failureMode: "return",
  dependencies: [CurrentPrincipal]
})
  .annotate(Tool.Readonly, true)
  .annotate(Tool.Destructive, false)
  .annotate(Tool.OpenWorld, false)

export const MaxToolkit = Toolkit.make(ListEntityTypes, ListColumnsForType, FindEntities)
