/**
 * Writes to mapped relations, which belong to other programs: each statement begins with the comparison of the relation with its
 * mapping, and a change is applied only while nothing about the relation would make more of it than was shown.
 */
import type { Column, EntityType } from "../../domain/EntityType.ts"
import type { FragmentContext } from "./fragmentContext.ts"
import { heldCondition } from "./held.ts"
import type { Statement } from "./ResolvedQuery.ts"
import { literal, qualified } from "./SqlWriter.ts"

/** `statement`: an UPDATE or a DELETE of the relation `p`, or an INSERT of one row, without its condition. */
export const mappedWrite = (
  label: string,
  statement: string,
  rows: string,
  returned: string,
  context: FragmentContext
): Statement => ({
  text:
    `/* max ${label} */ WITH g AS MATERIALIZED (SELECT ${heldCondition(context)} AS held) ` +
    `${statement} WHERE (SELECT g.held FROM g) AND ${rows} RETURNING ${returned}`,
  parameters: context.writer.parameters,
  relations: [...context.writer.relations]
})

/**
 * Whether the relation still is as it was mapped, without row security and rules, with triggers of trusted roles only, and without a
 * foreign key that would carry the change into rows of relations that the mapping doesn't name. Constants only.
 */
export const writableCondition = (
  { mapping, relation }: EntityType,
  op: "create" | "update" | "delete",
  columns: ReadonlyArray<Column>
): string => {
  const removal = op === "delete" ? mapping?.write?.removal : undefined
  const names =
    removal?.map(({ column }) => literal(column)) ??
    columns.flatMap(({ storage }) => (storage._tag === "Many" ? [] : [literal(storage.column)]))
  const list = (of: ReadonlyArray<string>) => `ARRAY[${of.join(", ")}]::text[]`
  const carries =
    op === "create"
      ? "FALSE"
      : op === "delete" && removal === undefined
        ? `EXISTS (${deleted("c.oid")} SELECT FROM d JOIN pg_constraint k ON k.contype = 'f' AND k.conparentid = 0 AND k.confrelid = d.oid ` +
          `WHERE k.confdeltype IN ('c', 'n', 'd') AND ${CARRIED} <> ALL(${list((mapping?.write?.cascades ?? []).map(literal))}))`
        : `EXISTS (SELECT FROM pg_constraint k WHERE k.contype = 'f' AND k.confrelid = c.oid AND k.confupdtype IN ('c', 'n', 'd') ` +
          `AND EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attnum = ANY(k.confkey) AND a.attname = ANY(${list(names)})))`
  return (
    `coalesce((SELECT max.relation_shape(c.oid) = ${literal(mapping?.shape ?? "")} AND NOT c.relrowsecurity AND NOT EXISTS (SELECT FROM pg_rewrite w WHERE w.ev_class = c.oid) ` +
    `AND NOT EXISTS (SELECT FROM pg_trigger t JOIN pg_proc f ON f.oid = t.tgfoid WHERE t.tgrelid = c.oid AND NOT t.tgisinternal AND NOT max.trusts(f.proowner)) ` +
    `AND NOT ${carries} ` +
    `FROM pg_class c WHERE c.oid = to_regclass(${literal(qualified(relation))}) AND c.relkind IN ('r', 'p')), false)`
  )
}

/** The relations whose rows can be deleted with a row of this one, itself included: parts, children, and what cascades, however far. */
const deleted = (oid: string): string =>
  `WITH RECURSIVE d(oid) AS (SELECT ${oid} UNION SELECT x.oid FROM d CROSS JOIN LATERAL (SELECT i.inhrelid AS oid FROM pg_inherits i WHERE i.inhparent = d.oid ` +
  `UNION ALL SELECT k.conrelid FROM pg_constraint k WHERE k.contype = 'f' AND k.confrelid = d.oid AND k.confdeltype = 'c') x)`

/** The relation of a foreign key `k`, as schema.table. */
const CARRIED = `(SELECT n.nspname || '.' || r.relname FROM pg_class r JOIN pg_namespace n ON n.oid = r.relnamespace WHERE r.oid = k.conrelid)`

/** Whether the relation still permits the change; `writable` is its one column. */
export const compileWritable = (
  type: EntityType,
  op: "create" | "update" | "delete",
  columns: ReadonlyArray<Column>
): Statement => ({
  text: `/* max writable */ SELECT ${writableCondition(type, op, columns)} AS writable`,
  parameters: []
})
