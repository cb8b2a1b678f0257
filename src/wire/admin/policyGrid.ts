/** A policy file as a grid of roles and columns, on the administration page. */
import { Schema } from "effect"
import { Strings, textUpTo } from "../scalars.ts"
import { policyText, Remark } from "./policyEditor.ts"

const { optionalKey } = Schema

const GridAction = Schema.Literals(["read", "update", "create", "delete"])
export type GridAction = typeof GridAction.Encoded

const GridReach = Schema.Literals(["none", "own", "company", "all"]).annotate({
  description: "No row, the person's own rows, those of the person's company too, or every row"
})
export type GridReach = typeof GridReach.Encoded

const name = textUpTo(200)

const GridEdit = Schema.Struct({
  role: name,
  action: GridAction,
  columns: optionalKey(
    Schema.Array(name)
      .check(Schema.isMinLength(1), Schema.isMaxLength(2000))
      .annotate({ description: "Every column when omitted, as for delete." })
  ),
  reach: GridReach
})
export type GridEdit = typeof GridEdit.Encoded

export const AskGrid = Schema.Struct({
  document: policyText,
  type: optionalKey(name.annotate({ description: "The first type when omitted." })),
  edit: optionalKey(GridEdit.annotate({ description: "Cells of this type to set in the text." }))
})
export type AskGrid = typeof AskGrid.Encoded

const GridCell = Schema.Struct({
  reach: GridReach.annotate({ description: "By the role's own rules that the grid can say." }),
  inherited: GridReach,
  others: Schema.Array(Schema.Int).annotate({
    description: "Positions in `others` of the rules about this cell that only the file says."
  })
})
export type GridCell = typeof GridCell.Encoded

const GridTable = Schema.Struct({
  action: GridAction,
  reaches: Schema.Array(Schema.Struct({ reach: GridReach, words: Schema.String })).annotate({
    description: "What a cell can be set to, with the condition in words."
  }),
  roles: Schema.Array(Schema.Struct({ role: Schema.String, cells: Schema.Array(GridCell) })).annotate({
    description: "The cells are in the order of `columns`; of delete there is one, the whole row."
  }),
  others: Schema.Array(
    Schema.Struct({
      id: Schema.String,
      role: Schema.String,
      effect: Schema.Literals(["allow", "deny"]),
      words: Schema.String,
      line: Schema.Int
    })
  )
})
export type GridTable = typeof GridTable.Encoded

const ReadGrid = Schema.Struct({
  document: Schema.String.annotate({ description: "The text, with the edit if there is one." }),
  types: Schema.Array(Schema.Struct({ id: Schema.String, name: Schema.String })),
  type: Schema.String,
  columns: Schema.Array(Schema.Struct({ column: Schema.String, name: Schema.String })),
  tables: Schema.Array(GridTable),
  omitted: Strings.annotate({ description: "Roles that only the file shows, because there are too many." })
})
export type ReadGrid = typeof ReadGrid.Encoded

export const PolicyGrid = Schema.Union([Schema.Struct({ problems: Schema.Array(Remark) }), ReadGrid])
export type PolicyGrid = typeof PolicyGrid.Encoded
