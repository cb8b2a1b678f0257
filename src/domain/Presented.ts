/** What an answer was about, as the answer says it: nothing is in here that its text doesn't say, but for the name. */
import { Schema } from "effect"

const { optionalKey } = Schema

/** A value of an entity, with what its column is called and of which kind it is. */
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
