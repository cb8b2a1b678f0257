/** The entities that an answer mentions. It holds only values that the answer's text states, besides the name. */
import { Schema } from "effect"
import { Group, Page } from "./Page.ts"
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

const { groupsTotal, limited, several, total } = Page.fields

/** Groups and figures of a lookup behind an answer, as the lookup returned them. */
export const Figures = Schema.Struct({
  /** What was counted or added up: `Deals by status`. */
  title: Schema.String,
  /** As asked for: `by status`, `sum amount`. */
  headings: Schema.Array(Schema.String),
  groups: Schema.Array(Group),
  groupsTotal,
  total,
  limited,
  several,
  /** A bar per group, or a line through periods; without it the groups have no common scale. */
  chart: optionalKey(Schema.Literals(["bar", "line"])),
  /** The lines of the answer's text that list these groups, from the first, without the last. */
  lines: optionalKey(Schema.Tuple([Schema.Int, Schema.Int]))
})
export type Figures = typeof Figures.Type

/** What is stored beside an answer. */
export const Beside = Schema.Struct({
  list: optionalKey(PresentedList),
  figures: optionalKey(Schema.Array(Figures))
})
export type Beside = typeof Beside.Type
