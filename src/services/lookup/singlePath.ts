/** A path that leads to one value at most. */
import { Result } from "effect"
import { DISPLAY_NAME } from "../../domain/EntityType.ts"
import { NEVER } from "../../domain/Predicate.ts"
import type { GroupPath, GroupStep } from "../../database/sql/ResolvedGroups.ts"
import type { Path } from "./paths.ts"
import { type Fault, invalid } from "./resolveFilter.ts"
import { isId, maskOf, targetIn, type Visible } from "./visible.ts"

/**
 * With the masks and plans of each hop. Figures are of such columns, so that each row counts once; groups may also be of what a
 * type's own list of references leads to, each row in the group of each of them.
 */
export const singlePath = (path: Path, visible: Visible, many = false): Result.Result<GroupPath, Fault> => {
  const { at, column, steps, written } = path
  const single = steps.every(({ back, relation }) => !back && relation.storage._tag === "One")
  const isMany = column?.kind === "references" && !(many && steps.length === 0)
  if (column === undefined || !single || isMany || column.kind === "list")
    return invalid(`${written} can hold several values: name a column with one.`)
  if (isId(column)) return invalid("Name a column, not id.")
  const target = targetIn(visible, column)
  return Result.succeed({
    steps: steps.map(({ of, relation, to }): GroupStep => ({
      relation,
      mask: maskOf(of.plan, relation),
      to: to.type,
      where: to.plan.where
    })),
    at: at.type,
    column,
    mask: maskOf(at.plan, column),
    target: target && {
      type: target.type,
      where: target.plan.where,
      name: target.plan.cells.get(DISPLAY_NAME) ?? NEVER
    }
  })
}
