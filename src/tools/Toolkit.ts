/**
 * The three tools, defined once and served everywhere. A model pays for their definitions on every call: the budget is
 * 350 tokens for all three.
 */
import { Toolkit } from "effect/ai"
import { Columns, ColumnsQuery, Entities, EntitiesQuery, EntityTypes, TypesQuery } from "../wire/lookup.ts"
import { readonlyTool } from "./readonlyTool.ts"

const ListEntityTypes = readonlyTool("listEntityTypes", {
  description: "The types that can be looked up; call first",
  parameters: TypesQuery,
  success: EntityTypes
})

const ListColumnsForType = readonlyTool("listColumnsForType", {
  description: "Columns of a type, and how to group",
  parameters: ColumnsQuery,
  success: Columns
})

const FindEntities = readonlyTool("findEntities", {
  description: "Entities that match all filters, with total",
  parameters: EntitiesQuery,
  success: Entities
})

export const MaxToolkit = Toolkit.make(ListEntityTypes, ListColumnsForType, FindEntities)
