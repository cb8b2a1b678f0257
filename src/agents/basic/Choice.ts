/** Candidate filters of a condition, and how one is made of a column and a value. */
import type { ListedColumn, Named } from "../../domain/Page.ts"
import type { Filter } from "../../domain/Query.ts"
import { plainValue } from "../../domain/valueList.ts"

/** Filters that form one candidate. */
export type Choice = ReadonlyArray<Filter>

export type Columns = ReadonlyArray<Named & Pick<ListedColumn, "holds">>

export const eq = (columnId: string, value: string): Choice => [{ columnId, op: "eq", value: plainValue(value) }]
export const like = (columnId: string, value: string): Choice => [{ columnId, op: "ilike", value }]

export const range = (
  columnId: string,
  when: { readonly from?: string; readonly to?: string; readonly days?: ReadonlyArray<string> }
): Choice => (when.days === undefined ? between(columnId, when) : [{ columnId, op: "eq", value: when.days.join("|") }])

const between = (columnId: string, when: { readonly from?: string; readonly to?: string }): Choice => [
  ...(when.from === undefined ? [] : [{ columnId, op: "gte" as const, value: when.from }]),
  ...(when.to === undefined ? [] : [{ columnId, op: "lt" as const, value: when.to }])
]
