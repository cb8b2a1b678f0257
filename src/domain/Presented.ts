/** The entities that an answer mentions. It holds only values that the answer's text states, besides the name. */
import { Schema } from "effect"
import { FilterOp } from "./Query.ts"

const { optionalKey } = Schema

/** A stated value, with the name and kind of its column. */
const SaidCell = Schema.Struct({ name: Schema.String, kind: Schema.String, value: Schema.String })
export type SaidCell = typeof SaidCell.Type

export const Presented = Schema.Struct({
  type: Schema.String,
  id: Schema.String,
  name: optionalKey(Schema.String),
  status: optionalKey(Schema.String),
  cells: optionalKey(Schema.Array(SaidCell))
})
export type Presented = typeof Presented.Type

/** The lookup behind an answer's list, from which the whole list can be exported. */
export const PresentedList = Schema.Struct({
  entityTypeId: Schema.String,
  filters: Schema.Array(Schema.Struct({ columnId: Schema.String, op: FilterOp, value: Schema.String }))
})
export type PresentedList = typeof PresentedList.Type

/** What is stored beside an answer. */
export const Beside = Schema.Struct({ list: optionalKey(PresentedList) })
export type Beside = typeof Beside.Type
