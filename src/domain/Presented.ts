/** The entities that an answer mentions. It holds only values that the answer's text states, besides the name. */
import { Schema } from "effect"

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
