/**
 * The SQL of assigned cells: stored texts, physical values, the row as it would be, and links. A cell's stored text is
 * exact and independent of the session, so that two texts are equal if and only if the values are.
 */
import type { Column, EntityType } from "../../domain/EntityType.ts"
import { hasOffset } from "./comparisons.ts"
import type { FragmentContext } from "./fragmentContext.ts"
import { fragment } from "./predicate.ts"
import type { Assignment } from "./RowChange.ts"
import { belongs, columnReference, idCast, idReference, linkOf, physicalColumns, relationOf } from "./rows.ts"
import { identifier, literal } from "./SqlWriter.ts"
import { SQL_TYPE } from "./sqlType.ts"

/** `type`: whose ids they are, if it can be a mapped one. */
export const idList = (ids: ReadonlyArray<string>, { writer }: FragmentContext, type?: EntityType): string =>
  `${writer.bind(ids, "text[]")}::${idCast(type?.mapping?.id.type)}[]`

/**
 * That a row has one of the ids. Each id is looked up by the primary key: the length of an array is unknown to a generic plan, which
 * then takes another index of the organization and reads all of it.
 */
export const hasId = (
  type: EntityType,
  alias: string,
  ids: ReadonlyArray<string>,
  context: FragmentContext
): string => {
  const [id, ...others] = ids
  const is =
    id !== undefined && others.length === 0
      ? `= ${context.writer.bind(id, idCast(type.mapping?.id.type))}`
      : `IN (SELECT unnest(${idList(ids, context, type)}))`
  return `${idReference(type, alias)} ${is}`
}

/** The stored text of a cell: exact, and the same in every session. */
export const storedText = (column: Column, alias: string, context: FragmentContext, type: EntityType): string => {
  const { storage } = column
  if (storage._tag === "Many") {
    const link = context.writer.alias()
    const rows = context.links?.(column, alias) ?? linkOf(storage, context.writer)
    return (
      `(SELECT coalesce(array_agg(DISTINCT ${link}.${identifier(storage.to)}), '{}')::text FROM ${rows} ${link} ` +
      `WHERE ${storage.mapped === true ? "" : `${link}.organization_id = ${context.organization} AND `}${link}.${identifier(storage.from)} = ${idReference(type, alias)})`
    )
  }
  const reference = columnReference(column, alias, "value", context)
  switch (column.kind) {
    case "date":
      return `to_char(${reference}, 'YYYY-MM-DD')`
    case "timestamp":
      return `to_char(timezone('UTC', ${reference}), 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`
    case "number":
      // A declared scale adds zeros to what was written.
      return storage._tag === "Value" && storage.source !== undefined
        ? `trim_scale(${reference})::text`
        : `${reference}::text`
    default:
      return SQL_TYPE[column.kind] === "text" ? reference : `${reference}::text`
  }
}

/** The values of physical columns, as SQL. */
export const physicalValues = (
  assignments: ReadonlyArray<Assignment>,
  context: FragmentContext
): ReadonlyMap<string, string> =>
  new Map(
    assignments.flatMap(({ column, target, texts: values }) => {
      const columns = physicalOf(column)
      if (columns.length > 0 && values.length !== columns.length) throw new Error("A value doesn't fit its column")
      return columns.map((name, index): [string, string] => [
        name,
        physicalValue(column, values[index]!, context, target)
      ])
    })
  )

const physicalOf = ({ storage }: Column): ReadonlyArray<string> =>
  storage._tag === "Many"
    ? []
    : storage._tag === "One" || storage.keyColumn === undefined
      ? [storage.column]
      : [storage.column, storage.keyColumn]

const physicalValue = (
  { kind, storage }: Column,
  text: string | null,
  context: FragmentContext,
  target: Assignment["target"]
): string => {
  // The id of another program's row has that program's type.
  if (storage._tag === "One") return context.writer.bind(text, idCast(target?.type.mapping?.id.type))
  const value =
    kind !== "timestamp" || text === null || hasOffset(text)
      ? context.writer.bind(text, SQL_TYPE[kind])
      : `timezone(${context.timeZone()}, ${context.writer.bind(text, "timestamp")})`
  const source = storage._tag === "Value" ? storage.source : undefined
  return kind === "timestamp" && source?.type === "timestamp"
    ? `timezone(${context.writer.bind(source.timeZone ?? "UTC", "text")}, ${value})`
    : value
}

/** The values of physical columns of a mapped relation, as the types that the relation declares. */
export const writtenValues = (
  assignments: ReadonlyArray<Assignment>,
  context: FragmentContext,
  type: EntityType
): ReadonlyMap<string, string> =>
  new Map(
    [...physicalValues(assignments, context)].map(([name, value]) => {
      const isEnum = assignments.some(
        ({ column: { storage } }) =>
          storage._tag === "Value" && storage.column === name && storage.source?.type === "other"
      )
      return [
        name,
        // An enumeration takes a text only where its type is known.
        isEnum ? asDeclared(name, value, type, context) : value
      ]
    })
  )

/** A text as the value of a column of a mapped relation, whatever the type that the relation declares. */
const asDeclared = (name: string, text: string, type: EntityType, { writer }: FragmentContext): string =>
  `(jsonb_populate_record(NULL::${relationOf(type, writer)}, jsonb_build_object(${literal(name)}, ${text}))).${identifier(name)}`

/** What a deletion that leaves the row sets. */
export const removedValues = (type: EntityType, context: FragmentContext): ReadonlyArray<string> | undefined =>
  type.mapping?.write?.removal?.map(
    ({ column, is }) =>
      `${identifier(column)} = ${asDeclared(column, context.writer.bind(String(is), "text"), type, context)}`
  )

/** The values that make a new row of a mapped relation the organization's, and one that the mapping shows. */
export const fixedValues = (type: EntityType, context: FragmentContext): ReadonlyMap<string, string> => {
  const { organization, where = [] } = type.mapping ?? {}
  const key = context.catalog.organization.externalKey
  const texts: ReadonlyArray<readonly [string, string | null]> = [
    ...where.map(({ column, is }): [string, string | null] => [column, is === null ? null : String(is)]),
    ...(organization === undefined ? [] : [[organization.column, key ?? null] as const])
  ]
  return new Map(
    texts.map(([name, text]) => [name, asDeclared(name, context.writer.bind(text, "text"), type, context)])
  )
}

/** The row as it would be: of the row `p`, or, with an id, a new one; of a mapped type, without what the database gives it. */
export const virtualRow = (
  type: EntityType,
  assignments: ReadonlyArray<Assignment>,
  context: FragmentContext,
  id?: string
): string => {
  const values = physicalValues(assignments, context)
  if (type.mapping !== undefined) {
    const fixed = id === undefined ? undefined : fixedValues(type, context)
    const kept = (name: string) =>
      fixed === undefined
        ? `p.${identifier(name)}`
        : (fixed.get(name) ?? `(NULL::${relationOf(type, context.writer)}).${identifier(name)}`)
    const columns = physicalColumns(type).map((name) => `${values.get(name) ?? kept(name)} AS ${identifier(name)}`)
    return `SELECT ${columns.join(", ")}`
  }
  const cells = type.columns.flatMap((column) =>
    physicalOf(column).map((name) => {
      const kept = id === undefined ? `p.${identifier(name)}` : `NULL::${SQL_TYPE[column.kind]}`
      return `${values.get(name) ?? kept} AS ${identifier(name)}`
    })
  )
  const key =
    id === undefined
      ? "p.organization_id, p.id"
      : `${context.organization} AS organization_id, ${context.writer.bind(id, "bigint")} AS id`
  return `SELECT ${[key, ...cells].join(", ")}`
}

/** The links that the virtual row `a` would have. */
export const assignedLinks =
  (assignments: ReadonlyArray<Assignment>, context: FragmentContext): NonNullable<FragmentContext["links"]> =>
  (relation, alias) => {
    const assigned = assignments.find(({ column }) => column.key === relation.key)
    if (assigned === undefined || alias !== "a" || relation.storage._tag !== "Many") return undefined
    const { from, to } = relation.storage
    return (
      `(SELECT ${context.organization} AS organization_id, a.id AS ${identifier(from)}, u.id AS ${identifier(to)} ` +
      `FROM unnest(${idList(idsOf(assigned), context)}) u(id))`
    )
  }

const idsOf = ({ texts: ids }: Assignment): ReadonlyArray<string> => ids.flatMap((id) => id ?? [])

const targetOfAssignment = ({ column, target }: Assignment) => {
  // Without the caller's plan of the target, a relation could be set to any entity.
  if (column.storage._tag !== "Value" && target === undefined)
    throw new Error("A relation is set without a plan of its target")
  return column.storage._tag === "Value" ? undefined : target
}

/** Whether the caller sees all rows that a relation is set to. */
export const targetsVisible = (assignment: Assignment, context: FragmentContext): string => {
  const target = targetOfAssignment(assignment)
  const ids = [...new Set(idsOf(assignment))].filter((id) => target?.created?.includes(id) !== true)
  if (target === undefined || ids.length === 0) return "TRUE"
  const other = context.writer.alias()
  return (
    `(SELECT count(*) = ${context.writer.bind(ids.length, "int")} FROM ${relationOf(target.type, context.writer)} ${other} ` +
    `WHERE ${belongs(target.type, other, context)} AND ${hasId(target.type, other, ids, context)} ` +
    `AND ${fragment(target.where, target.type, other, context)})`
  )
}

/**
 * That the caller sees what an assigned relation leads to now: a cell that looks empty to the caller must not be
 * overwritten. For a caller who may not see every target, a missing one counts as hidden.
 */
export const ledToVisible = (assignment: Assignment, context: FragmentContext): ReadonlyArray<string> => {
  const { storage } = assignment.column
  const target = targetOfAssignment(assignment)
  if (storage._tag === "Value" || target === undefined || target.where._tag === "Always") return []
  const other = context.writer.alias()
  const visible = (id: string) =>
    `EXISTS (SELECT 1 FROM ${relationOf(target.type, context.writer)} ${other} WHERE ${belongs(target.type, other, context)} ` +
    `AND ${idReference(target.type, other)} = ${id} AND ${fragment(target.where, target.type, other, context)} OFFSET 0)`
  if (storage._tag === "One") {
    const reference = `p.${identifier(storage.column)}`
    return [`(${reference} IS NULL OR ${visible(reference)})`]
  }
  const link = context.writer.alias()
  return [
    `NOT EXISTS (SELECT 1 FROM ${linkOf(storage, context.writer)} ${link} WHERE ${link}.organization_id = ${context.organization} ` +
      `AND ${link}.${identifier(storage.from)} = p.id AND NOT ${visible(`${link}.${identifier(storage.to)}`)})`
  ]
}

export const ctes = (parts: ReadonlyArray<string>): string =>
  parts.length === 0 ? "" : `WITH ${parts.map((part, index) => `l${index} AS (${part})`).join(", ")} `

/** The links that are assigned to the rows `keys`, as a WITH clause; `replaces`: other links of these rows go. */
export const withLinks = (
  assignments: ReadonlyArray<Assignment>,
  keys: string,
  replaces: boolean,
  context: FragmentContext
): string =>
  ctes(
    assignments.flatMap((assignment) => {
      const { storage } = assignment.column
      if (storage._tag !== "Many") return []
      const targets = idList(idsOf(assignment), context)
      return [
        ...(replaces ? [removeLinks(storage, keys, targets, context)] : []),
        `INSERT INTO ${linkOf(storage, context.writer)} (organization_id, ${identifier(storage.from)}, ${identifier(storage.to)}) ` +
          `SELECT ${context.organization}, k.id, u.id FROM unnest(${keys}) k(id), unnest(${targets}) u(id) ON CONFLICT DO NOTHING`
      ]
    })
  )

export const removeLinks = (
  storage: Extract<Column["storage"], { readonly _tag: "Many" }>,
  keys: string,
  kept: string | undefined,
  context: FragmentContext
): string =>
  `DELETE FROM ${linkOf(storage, context.writer)} l WHERE l.organization_id = ${context.organization} ` +
  `AND l.${identifier(storage.from)} = ANY(${keys})${kept === undefined ? "" : ` AND l.${identifier(storage.to)} <> ALL(${kept})`}`
