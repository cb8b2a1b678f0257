/** Checks what an entry of a mapping lets changes write. Pure. */
import {
  type Column,
  type Limit,
  type MappedCreate,
  type MappedWrite,
  nameOfRelation,
  type SourceType
} from "../../domain/EntityType.ts"
import { closest, quoted } from "../../domain/text.ts"
import { carriedBy } from "./carriedRows.ts"
import type { Fault } from "./checkColumn.ts"
import type { MappedKind, TypeEntry, WriteEntry } from "./mappingFile.ts"
import type { Facts, RelationFacts } from "./tableFacts.ts"

/** The kinds that have an exact way back, by the type of the database. */
const WRITES: Readonly<Partial<Record<SourceType, ReadonlyArray<MappedKind>>>> = {
  text: ["text", "phone", "email"],
  integer: ["integer", "number"],
  numeric: ["number"],
  boolean: ["boolean"],
  date: ["date"],
  timestamp: ["timestamp"],
  timestamptz: ["timestamp"]
}

export const writeOf = (
  entry: TypeEntry,
  write: WriteEntry,
  relation: RelationFacts,
  columns: ReadonlyArray<Column>,
  facts: Facts,
  report: Fault
): MappedWrite => {
  const fault = (text: string) => report(`write: ${text}`)
  if (!facts.writes)
    fault("this database has no role that writes mapped tables. Create it as a user who may create roles: max migrate")
  if (relation.kind !== "table") fault(`${relation.name} is a ${relation.kind}; only rows of a table can be changed.`)
  if (relation.rowSecurity)
    fault(`row security on ${relation.name} decides which rows are written; Max's own policy decides that.`)
  if (relation.rules) fault(`a rule on ${relation.name} makes other statements of a change.`)
  for (const name of relation.foreignTriggers)
    fault(`the function of the trigger ${quoted(name)} belongs to a role that could run anything with Max's rights.`)
  const keys = write.columns.flatMap((slug): ReadonlyArray<string> => {
    const column = columns.find((each) => each.slug === slug)
    // The column's own fault was reported.
    if (column === undefined && Object.hasOwn(entry.columns, slug)) return []
    if (column === undefined) {
      const near = closest(slug, Object.keys(entry.columns))
      fault(`there is no column ${quoted(slug)}.${near === undefined ? "" : ` Did you mean ${near}?`}`)
      return []
    }
    const why = unwritable(column, entry, relation)
    if (why !== undefined) fault(`${slug} can't be changed: ${why}.`)
    return [column.key]
  })
  const removal = typeof write.delete === "object" ? removalOf(entry, write.delete.set, relation, fault) : undefined
  if (write.delete === "row" && write.columns.length === 0)
    fault(
      `a row is locked before it is deleted, which Postgres permits with the right to change one column: add one to "columns".`
    )
  const cascades = write.cascades ?? []
  const { carried, uncounted } = write.delete === "row" ? carriedBy(relation, facts) : { carried: [], uncounted: [] }
  const followers = new Set([...carried.map((each) => nameOfRelation(each.relation)), ...uncounted])
  for (const table of followers)
    if (uncounted.includes(table))
      fault(
        `how many rows of ${table} would go with a deleted row can't be counted, because Max may not read them or they take along rows of themselves. Leave "delete" out.`
      )
    else if (!cascades.includes(table))
      fault(
        `rows of ${table} would go or change with a deleted row. Accept that with "cascades": [${JSON.stringify(table)}], or leave "delete" out.`
      )
  for (const table of cascades)
    if (!followers.has(table))
      fault(`no foreign key passes a deletion on to ${quoted(table)}. Take it out of "cascades".`)
  const create = write.create === undefined ? undefined : createOf(entry, keys, relation, columns, fault)
  if (keys.length === 0 && write.columns.length === 0 && write.delete === undefined)
    fault(`it names nothing that may be changed. Leave "write" out.`)
  const limits = Object.fromEntries(
    columns.flatMap(({ key, storage }): ReadonlyArray<readonly [string, Limit]> => {
      if (!keys.includes(key) || storage._tag === "Many") return []
      const { limit } = relation.columns.find(({ name }) => name === storage.column)!
      // What a reference is set to is an id of its target.
      const told = storage._tag === "One" ? (limit.full === true ? { full: true } : {}) : limit
      return Object.keys(told).length === 0 ? [] : [[key, told]]
    })
  )
  return {
    columns: [...new Set(keys)],
    ...(Object.keys(limits).length === 0 ? {} : { limits }),
    ...(create === undefined ? {} : { create }),
    ...(write.delete === undefined ? {} : { delete: true }),
    ...(cascades.length === 0 ? {} : { cascades }),
    ...(carried.length === 0 ? {} : { carried }),
    ...(removal === undefined ? {} : { removal })
  }
}

/** What a deletion sets instead: `where` must no longer show the row. */
const removalOf = (
  { id, organization, where = {} }: TypeEntry,
  set: Readonly<Record<string, string | boolean>>,
  relation: RelationFacts,
  fault: (text: string) => void
): MappedWrite["removal"] => {
  const cant = (text: string) => fault(`rows can't be deleted by "set": ${text}`)
  const entries = Object.entries(set)
  for (const [name, is] of entries) {
    const physical = relation.columns.find((each) => each.name === name)
    const referrer = relation.referrers.find(({ columns }) => columns.includes(name))
    if (physical === undefined) cant(`${relation.name} has no column ${quoted(name)}.`)
    else if (physical.generated) cant(`Postgres generates ${quoted(name)}.`)
    else if (name === id || name === organization || relation.primaryKey.includes(name))
      cant(`${quoted(name)} says which row it is, or whose.`)
    else if (referrer !== undefined) cant(`rows of ${referrer.table} refer to ${quoted(name)}.`)
    else if (typeof is === "boolean" && physical.type !== "boolean") cant(`${quoted(name)} isn't true or false.`)
  }
  if (
    !entries.some(
      ([name, is]) => Object.hasOwn(where, name) && where[name] !== is && String(where[name]) !== String(is)
    )
  )
    cant(`"where" would still show the row. Let it name one of these columns with another value.`)
  return entries.map(([column, is]) => ({ column, is }))
}

/** How rows are added, whose other columns get what Postgres and the mapping give them. */
const createOf = (
  entry: TypeEntry,
  keys: ReadonlyArray<string>,
  relation: RelationFacts,
  columns: ReadonlyArray<Column>,
  fault: (text: string) => void
): MappedCreate => {
  const cant = (text: string) => fault(`rows can't be added: ${text}`)
  const where = Object.entries(entry.where ?? {})
  const set = new Map(
    columns.flatMap(({ key, storage }) =>
      keys.includes(key) && storage._tag !== "Many" ? [[storage.column, key]] : []
    )
  )
  if (keys.length === 0) cant(`name the columns that a new row gets in "columns".`)
  const given = new Set([
    ...(entry.organization === undefined ? [] : [entry.organization]),
    ...where.map(([name]) => name)
  ])
  for (const { filled, generated, limit, name } of relation.columns) {
    const says = `every row needs ${quoted(name)}`
    if (name === entry.id && !filled)
      cant(
        `Postgres gives ${quoted(name)} no value. Make it an identity or give it a default: the id is never chosen here.`
      )
    else if (given.has(name) && generated)
      cant(`Postgres generates ${quoted(name)}, which decides whether a row is shown.`)
    else if (limit.full === true && !filled && !set.has(name) && !given.has(name))
      cant(`${says}, which "columns" doesn't set. Add it there, give it a default, or leave "create" out.`)
    else if (limit.full === true && where.some(([column, is]) => column === name && is === null))
      cant(`${says}, and "where" shows only rows without it.`)
  }
  return {
    needed: relation.columns.flatMap(({ filled, limit, name }) =>
      limit.full === true && !filled ? (set.get(name) ?? []) : []
    ),
    sequences: relation.sequences
  }
}

/** Why changes can't set a column. */
const unwritable = ({ kind, storage }: Column, entry: TypeEntry, relation: RelationFacts): string | undefined => {
  if (storage._tag === "Many" || (storage._tag === "Value" && storage.source === undefined))
    return "its links are rows of another table"
  const columns = storage._tag === "One" ? [storage.column] : storage.source!.columns
  if (columns.length > 1) return "it is put together from several columns"
  const physical = relation.columns.find(({ name }) => name === columns[0])!
  const referrer = relation.referrers.find(({ columns: referred }) => referred.includes(physical.name))
  if (physical.generated) return "Postgres generates its value"
  if (physical.name === entry.id || relation.primaryKey.includes(physical.name)) return "it identifies the row"
  if (physical.name === entry.organization) return "it says whose row it is"
  if (Object.hasOwn(entry.where ?? {}, physical.name)) return 'it decides in "where" whether the row is shown'
  if (referrer !== undefined) return `rows of ${referrer.table} refer to it`
  // What it is set to is the id of a row that the person sees.
  if (storage._tag === "One") return undefined
  const { type } = storage.source!
  if (type === "other" ? physical.enumerated : WRITES[type]?.includes(kind as MappedKind) === true) return undefined
  return `${physical.typeName} read as ${kind} has no exact way back`
}
