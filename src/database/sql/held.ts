/** The comparison of mapped relations with the mapping, which begins every statement over them. */
import type { Statement } from "./ResolvedQuery.ts"
import type { RowContext } from "./rows.ts"
import { literal } from "./SqlWriter.ts"

/**
 * The condition that the mapped relations of a finished statement are what the organization's mappings accept; undefined for
 * statements without any. It belongs into the first CTE of the statement, and its arguments are constants: Postgres then
 * evaluates it before it plans the rest (`0017_mapped_relations.ts`).
 */
export const heldCondition = ({ catalog, writer }: Pick<RowContext, "catalog" | "writer">): string | undefined => {
  if (writer.mapped.size === 0) return undefined
  const names = [...writer.mapped]
  const accepted = names.map((name) =>
    [...new Set(catalog.types.flatMap(({ mapping }) => mapping?.reads?.[name] ?? []))].join(" ")
  )
  return `max.held(ARRAY[${names.map(literal).join(", ")}], ARRAY[${accepted.map(literal).join(", ")}])`
}

/** A statement without other CTEs; `where` may end with an order and a limit. */
export const statementOf = (
  label: string,
  select: string,
  where: string,
  context: Pick<RowContext, "catalog" | "writer">
): Statement => {
  const held = heldCondition(context)
  const [start, condition] =
    held === undefined ? ["", ""] : [`WITH g AS MATERIALIZED (SELECT ${held} AS held) `, "(SELECT g.held FROM g) AND "]
  return {
    text: `/* max ${label} */ ${start}${select} WHERE ${condition}${where}`,
    parameters: context.writer.parameters,
    relations: [...context.writer.relations]
  }
}
