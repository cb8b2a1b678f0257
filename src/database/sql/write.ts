/**
 * The statements of changes: propose (reads only), lock, write, verify. They share their fragments with lookups, so that a
 * change is judged by the same conditions.
 */
import {
  type Catalog,
  type Column,
  columnByKey,
  DISPLAY_NAME,
  type EntityType,
  isWritable
} from "../../domain/EntityType.ts"
import type { Bound } from "../../domain/Predicate.ts"
import type { Granted } from "../../permissions/permissionPlan.ts"
import type { WriteGranted } from "../../permissions/WritePlan.ts"
import {
  assignedLinks,
  ctes,
  fixedValues,
  hasId,
  idList,
  ledToVisible,
  physicalValues,
  removedValues,
  removeLinks,
  storedText,
  targetsVisible,
  virtualRow,
  withLinks,
  writtenValues
} from "./assignments.ts"
import { type FragmentContext, fragmentContext } from "./fragmentContext.ts"
import { fragment } from "./predicate.ts"
import { heldCondition, statementOf } from "./held.ts"
import { mappedWrite, writableCondition } from "./mappedWrite.ts"
import type { Statement } from "./ResolvedQuery.ts"
import { type Assignment, changedColumns, type NamedPerson, type RowChange, type ShownRow } from "./RowChange.ts"
import { belongs, columnReference, idCast, idReference, organizationOf, relationOf } from "./rows.ts"
import { identifier, SqlWriter } from "./SqlWriter.ts"

/** Proposes a change: reads as the reading role, locks and writes nothing. One row at least, for `fresh` and the proposer's name. */
export const compilePropose = (change: RowChange, catalog: Catalog, proposer?: NamedPerson): Statement => {
  const { assignments, ids, read, type, write } = change
  const context = contextOf(catalog)
  const epoch = context.writer.bind(catalog.epoch, "bigint")
  const guard = (held: string | undefined) =>
    `g AS MATERIALIZED (SELECT ${held === undefined ? "" : `${held} AND `}o.epoch = ${epoch} AND NOT pg_is_in_recovery() AS fresh FROM max.organizations o WHERE o.organization_id = ${context.organization})`
  const future = { ...context, links: assignedLinks(assignments, context) }
  const columns = changedColumns(change)
  const creates = write.action === "create"
  const before = creates
    ? [
        type.mapping === undefined
          ? `a.organization_id, a.id::text AS id, NULL::text AS name`
          : `${organizationColumn(type, context, "a")}, ${context.writer.bind(ids[0]!, "text")} AS id, ` +
            `${shownName(type, read.cells.get(DISPLAY_NAME), context, "a")} AS name`,
        `${booleans(columns.map(() => "TRUE"))} AS visible`,
        `${texts(columns.map(() => "NULL"))} AS before`
      ]
    : seen(type, columns, assignments, read, context)
  const afterwards = write.action === "delete" ? [] : columns
  const selected = [
    ...before,
    `${texts(afterwards.map((column) => storedText(column, "a", future, type)))} AS after`,
    `${booleans(assignments.map((assignment) => targetsVisible(assignment, context)))} AS targets`,
    `${bits(creates ? [] : write.before, type, "p", context)} AS bits_before`,
    `${bits(write.after, type, "a", future)} AS bits_after`,
    `${write.action === "delete" && type.mapping === undefined ? "to_jsonb(p)::text" : "NULL::text"} AS row`
  ].join(", ")
  const writable = type.mapping === undefined ? "" : `${writableCondition(type, write.action, columns)} AS writable, `
  const rows = creates
    ? `FROM (${virtualRow(type, assignments, context, ids[0])}) a`
    : `FROM ${relationOf(type, context.writer)} p${write.action === "delete" ? "" : ` CROSS JOIN LATERAL (${virtualRow(type, assignments, context)}) a`} ` +
      `WHERE ${byIds(type, ids, context)} AND ${fragment(read.where, type, "p", context)}`
  const named = proposer === undefined ? "" : `${nameOf(proposer, context)} AS proposer, `
  return {
    text:
      `/* max propose ${write.action} */ WITH ${guard(heldCondition(context))} SELECT (SELECT g.fresh FROM g) AS fresh, ${named}${writable}r.* ` +
      `FROM (SELECT) o LEFT JOIN (SELECT ${selected} ${rows}) r ON true ORDER BY r.id`,
    parameters: context.writer.parameters,
    relations: [...context.writer.relations],
    ...(context.writer.mapped.size === 0 ? {} : { mapped: true })
  }
}

/** Reads rows and some of their cells as a viewer's plan shows them: `SeenRow`s. */
export const compileSeen = (
  type: EntityType,
  ids: ReadonlyArray<string>,
  columns: ReadonlyArray<Column>,
  read: Granted,
  catalog: Catalog
): Statement => {
  const context = contextOf(catalog)
  const select = `SELECT ${seen(type, columns, [], read, context).join(", ")} FROM ${relationOf(type, context.writer)} p`
  const where = `${byIds(type, ids, context)} AND ${fragment(read.where, type, "p", context)} ORDER BY ${idReference(type, "p")}`
  return statementOf("seen", select, where, context)
}

/** Locks the rows of an `update` or `delete` that the caller sees, and compares them with what was shown: `LockedRow`s. */
export const compileLock = (
  change: Omit<RowChange, "ids">,
  shown: ReadonlyArray<ShownRow>,
  catalog: Catalog
): Statement => {
  const { assignments, read, type, write } = change
  const context = contextOf(catalog)
  const { writer } = context
  const columns = changedColumns(change)
  const deletes = write.action === "delete"
  const expected = shown.map(
    ({ before, id, name, row }) =>
      `(${[writer.bind(id, idCast(type.mapping?.id.type)), writer.bind(name, "text"), writer.bind(row ?? null, "jsonb"), ...columns.map((_, index) => writer.bind(before[index] ?? null, "text"))].join(", ")})`
  )
  const mask = read.cells.get(DISPLAY_NAME)
  const selected = [
    ...seen(type, columns, assignments, read, context),
    `${booleans(columns.map((column, index) => `${storedText(column, "p", context, type)} IS NOT DISTINCT FROM e.b${index}`))} AS same`,
    `${shownName(type, mask, context)} IS NOT DISTINCT FROM e.name AS same_name`,
    `${deletes && type.mapping === undefined ? `p IS NOT DISTINCT FROM jsonb_populate_record(NULL::${relationOf(type, context.writer)}, e.row)` : "TRUE"} AS same_row`,
    `${booleans(assignments.map((assignment) => targetsVisible(assignment, context)))} AS targets`,
    `${bits(write.before, type, "p", context)} AS bits_before`
  ].join(", ")
  const select =
    `SELECT ${selected} FROM ${relationOf(type, writer)} p ` +
    `JOIN (VALUES ${expected.join(", ")}) e(id, name, row${columns.map((_, index) => `, b${index}`).join("")}) ON e.id = ${idReference(type, "p")}`
  const where = `${belongs(type, "p", context)} AND ${fragment(read.where, type, "p", context)} ORDER BY ${idReference(type, "p")} FOR UPDATE OF p NOWAIT`
  return statementOf("lock", select, where, context)
}

/** Inserts a row: a `WrittenRow`. A mapped relation gives the row its id. */
export const compileInsert = (
  type: EntityType,
  id: string,
  assignments: ReadonlyArray<Assignment>,
  catalog: Catalog
): Statement => {
  const context = writingContext(type, "create", catalog)
  if (type.mapping !== undefined) {
    const values = new Map([...writtenValues(assignments, context, type), ...fixedValues(type, context)])
    const insert = `INSERT INTO ${relationOf(type, context.writer)} AS p (${[...values.keys()].map(identifier).join(", ")}) SELECT ${[...values.values()].join(", ")}`
    return mappedWrite("create", insert, "TRUE", returning(type, assignments, context), context)
  }
  const values = physicalValues(assignments, context)
  const [columns, cells] = [[...values.keys()], [...values.values()]]
  const key = context.writer.bind(id, "bigint")
  return {
    text:
      `/* max create */ ${withLinks(assignments, `ARRAY[${key}]`, false, context)}INSERT INTO ${relationOf(type, context.writer)} AS p ` +
      `(${["organization_id", "id", ...columns.map(identifier)].join(", ")}) ` +
      `VALUES (${[context.organization, key, ...cells].join(", ")}) RETURNING ${returning(type, assignments, context)}`,
    parameters: context.writer.parameters
  }
}

/** Updates rows to the same values: `WrittenRow`s. */
export const compileUpdate = (
  type: EntityType,
  ids: ReadonlyArray<string>,
  assignments: ReadonlyArray<Assignment>,
  catalog: Catalog
): Statement => {
  const context = writingContext(type, "update", catalog)
  const values = [...(type.mapping === undefined ? physicalValues : writtenValues)(assignments, context, type)].map(
    ([column, value]) => `${identifier(column)} = ${value}`
  )
  const hasLinks = assignments.some(({ column }) => column.storage._tag === "Many")
  const links = hasLinks ? withLinks(assignments, idList(ids, context, type), true, context) : ""
  const rows = byIds(type, ids, context)
  const returned = returning(type, assignments, context)
  if (type.mapping !== undefined) {
    const set = `UPDATE ${relationOf(type, context.writer)} p SET ${values.join(", ")}`
    return mappedWrite("update", set, rows, returned, context)
  }
  return {
    text:
      `/* max update */ ${links}` +
      (values.length === 0
        ? `SELECT ${returned} FROM ${relationOf(type, context.writer)} p WHERE ${rows}`
        : `UPDATE ${relationOf(type, context.writer)} p SET ${values.join(", ")} WHERE ${rows} RETURNING ${returned}`),
    parameters: context.writer.parameters
  }
}

/** Deletes rows and their own links; links of other rows to them stay. Returns the rows' `id`s. */
export const compileDelete = (type: EntityType, ids: ReadonlyArray<string>, catalog: Catalog): Statement => {
  const context = writingContext(type, "delete", catalog)
  const rows = byIds(type, ids, context)
  if (type.mapping !== undefined) {
    const id = `${idReference(type, "p")}::text AS id`
    const relation = relationOf(type, context.writer)
    const removed = removedValues(type, context)
    if (removed === undefined) return mappedWrite("delete", `DELETE FROM ${relation} p`, rows, id, context)
    // A trigger can make something else of it: a row that is still shown isn't deleted.
    const gone = `${id}, (${belongs(type, "p", context)}) IS NOT TRUE AS gone`
    return mappedWrite("delete", `UPDATE ${relation} p SET ${removed.join(", ")}`, rows, gone, context)
  }
  const links = type.columns.flatMap(({ storage }) =>
    storage._tag === "Many" ? [removeLinks(storage, idList(ids, context), undefined, context)] : []
  )
  return {
    text:
      `/* max delete */ ${ctes(links)}DELETE FROM ${relationOf(type, context.writer)} p ` +
      `WHERE ${rows} RETURNING p.id::text AS id`,
    parameters: context.writer.parameters
  }
}

/** Inserts a deleted row again as it was (`ProposedRow.row`), with its links as assignments. Returns the row's `id`. */
export const compileRestore = (
  type: EntityType,
  id: string,
  row: string,
  links: ReadonlyArray<Assignment>,
  catalog: Catalog
): Statement => {
  const context = writingContext(type, "create", catalog)
  const key = context.writer.bind(id, "bigint")
  const stored = context.writer.bind(row, "jsonb")
  return {
    text:
      `/* max restore */ ${withLinks(links, `ARRAY[${key}]`, false, context)}INSERT INTO ${relationOf(type, context.writer)} AS p ` +
      `SELECT r.* FROM jsonb_populate_record(NULL::${relationOf(type, context.writer)}, ${stored}) r ` +
      `WHERE r.organization_id = ${context.organization} AND r.id = ${key} RETURNING p.id::text AS id`,
    parameters: context.writer.parameters
  }
}

/** Reads rows after they were written, and judges them: `VerifiedRow`s. */
export const compileVerify = (
  type: EntityType,
  ids: ReadonlyArray<string>,
  columns: ReadonlyArray<Column>,
  write: WriteGranted,
  catalog: Catalog
): Statement => {
  const context = contextOf(catalog)
  const after = texts(columns.map((column) => storedText(column, "p", context, type)))
  const select =
    `SELECT ${organizationColumn(type, context)}, ${idReference(type, "p")}::text AS id, ${after} AS after, ` +
    `${bits(write.after, type, "p", context)} AS bits_after FROM ${relationOf(type, context.writer)} p`
  return statementOf("verify", select, `${byIds(type, ids, context)} ORDER BY ${idReference(type, "p")}`, context)
}

/** Rows are few and known by id, so that hops probe. */
const contextOf = (catalog: Catalog): FragmentContext => fragmentContext(catalog, new SqlWriter(), "probe")

/** Of a statement that writes. */
const writingContext = (type: EntityType, op: "create" | "update" | "delete", catalog: Catalog): FragmentContext => {
  if (!isWritable(type, op)) throw new Error("A mapped type is read only")
  return contextOf(catalog)
}

const byIds = (type: EntityType, ids: ReadonlyArray<string>, context: FragmentContext): string =>
  `${belongs(type, "p", context)} AND ${hasId(type, "p", ids, context)}`

const organizationColumn = (type: EntityType, context: FragmentContext, alias = "p"): string =>
  type.mapping === undefined ? `${alias}.organization_id` : `${organizationOf(type, alias, context)} AS organization_id`

const booleans = (parts: ReadonlyArray<string>): string => `ARRAY[${parts.join(", ")}]::boolean[]`
const texts = (parts: ReadonlyArray<string>): string => `ARRAY[${parts.join(", ")}]::text[]`

/** One bit per judgement: true where it is TRUE. */
const bits = (judgements: ReadonlyArray<Bound>, type: EntityType, alias: string, context: FragmentContext): string =>
  booleans(judgements.map((bound) => `(${fragment(bound, type, alias, context)}) IS TRUE`))

/** The columns of a `SeenRow`. A cell that is assigned is seen only if the row that it leads to is seen too. */
const seen = (
  type: EntityType,
  columns: ReadonlyArray<Column>,
  assignments: ReadonlyArray<Assignment>,
  read: Granted,
  context: FragmentContext
): ReadonlyArray<string> => {
  const masks = columns.map((column, index) => {
    const mask = read.cells.get(column.key)
    if (mask === undefined) return "FALSE"
    const led = assignments[index] === undefined ? [] : ledToVisible(assignments[index], context)
    return [`(${fragment(mask, type, "p", context)}) IS TRUE`, ...led].join(" AND ")
  })
  const cells = columns.map((column, index) =>
    masks[index] === "FALSE" ? "NULL" : `CASE WHEN ${masks[index]} THEN ${storedText(column, "p", context, type)} END`
  )
  return [
    organizationColumn(type, context),
    `${idReference(type, "p")}::text AS id`,
    `${shownName(type, read.cells.get(DISPLAY_NAME), context)} AS name`,
    `${booleans(masks)} AS visible`,
    `${texts(cells)} AS before`
  ]
}

const shownName = (type: EntityType, mask: Bound | undefined, context: FragmentContext, alias = "p"): string => {
  const column = columnByKey(type, DISPLAY_NAME)
  return column === undefined || mask === undefined
    ? "NULL::text"
    : `CASE WHEN ${fragment(mask, type, alias, context)} THEN ${columnReference(column, alias, "value", context)} END`
}

const nameOf = ({ id, read, type }: NamedPerson, context: FragmentContext): string => {
  const name = shownName(type, read.cells.get(DISPLAY_NAME), context, "m")
  return (
    `(SELECT ${name} FROM ${relationOf(type, context.writer)} m WHERE ${belongs(type, "m", context)} ` +
    `AND ${idReference(type, "m")} = ${context.writer.bind(id, idCast(type.mapping?.id.type))} AND ${fragment(read.where, type, "m", context)})`
  )
}

const returning = (type: EntityType, assignments: ReadonlyArray<Assignment>, context: FragmentContext): string => {
  const after = assignments.map(({ column }) =>
    column.storage._tag === "Many" ? "NULL" : storedText(column, "p", context, type)
  )
  return `${idReference(type, "p")}::text AS id, ${texts(after)} AS after`
}
