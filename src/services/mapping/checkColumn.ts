/** Checks one column of a mapping against the database. Pure. */
import {
  type Catalog,
  type Column,
  DISPLAY_NAME,
  type Source,
  type SourceType,
  STATUS,
  Storage
} from "../../domain/EntityType.ts"
import { printable, quoted } from "../../domain/text.ts"
import { isTimeZone } from "../../domain/values.ts"
import { collation, sqlName } from "./advice.ts"
import type { ColumnFacts, Facts, RelationFacts } from "./tableFacts.ts"
import type { ColumnEntry, MappedKind, TypeEntry } from "./mappingFile.ts"

/** The earlier versions of a type: a slug keeps its meaning forever. */
export interface History {
  readonly typeKey: string
  readonly version: number
  readonly position: number | null
  /** Earlier columns by slug, with their keys and physical columns. */
  readonly columns: ReadonlyMap<string, { readonly key: string; readonly from: string | undefined }>
  /** Whether the organization has rows of this type in a managed table. */
  readonly rows: boolean
}

export interface CheckContext {
  readonly facts: Facts
  readonly entries: ReadonlyArray<TypeEntry>
  readonly catalog: Catalog
  readonly history: ReadonlyMap<string, History>
}

/** The kinds that each type of the database can be read as. */
const FITS: Readonly<Record<SourceType, ReadonlyArray<MappedKind>>> = {
  text: ["text", "phone", "email"],
  other: ["text"],
  inet: ["text"],
  integer: ["integer", "number", "text"],
  numeric: ["number", "text"],
  float: ["number"],
  money: ["number"],
  boolean: ["boolean", "text"],
  date: ["date"],
  timestamp: ["timestamp", "date"],
  timestamptz: ["timestamp"],
  list: ["list"]
}

export type Fault = (text: string) => void
export type FindColumn = (name: string, what: string) => ColumnFacts | undefined

export type Read = Pick<Column, "kind" | "storage" | "values">

/** A value of one physical column, or of several that are joined. */
export const valueOf = (
  slug: string,
  entry: ColumnEntry,
  relation: RelationFacts,
  fault: Fault,
  column: FindColumn
): Read | undefined => {
  const names = typeof entry.from === "string" ? [entry.from] : entry.from
  const parts = names.flatMap((name) => column(name, slug) ?? [])
  if (parts.length < names.length) return undefined
  const [first] = parts
  if (first === undefined) return void fault(`${slug}: "from" names no column.`)
  for (const part of parts) {
    if (part.type === undefined || (part.type === "list" && parts.length > 1)) {
      return void fault(
        `${slug}: ${quoted(part.name)} is ${part.typeName}, which isn't supported. A view can cast it: SELECT …, ${printable(part.name)}::text FROM ${sqlName(relation)}`
      )
    }
    if (!part.deterministic) return void fault(`${slug}: ${collation(part, relation)}`)
  }
  const type = parts.length > 1 ? "text" : first.type!
  const kind = entry.kind ?? FITS[type][0]!
  if (!FITS[type].includes(kind) || (parts.length > 1 && kind !== "text")) {
    return void fault(
      `${slug}: ${quoted(first.name)} is ${first.typeName} and can be: ${parts.length > 1 ? "text" : FITS[type].join(", ")}.`
    )
  }
  if ((slug === DISPLAY_NAME || slug === STATUS) && kind !== "text")
    return void fault(`${slug}: results show this as text: "kind": "text".`)
  if (entry.currency !== undefined) {
    if (kind !== "number") return void fault(`${slug}: only numbers have a currency.`)
    if (column(entry.currency, `${slug}, currency`) === undefined) return undefined
  }
  if (entry.timeZone !== undefined && !isTimeZone(entry.timeZone))
    return void fault(`${slug}: ${quoted(entry.timeZone)} isn't a time zone such as UTC or Europe/Berlin.`)
  if (type === "timestamp" && kind === "timestamp" && entry.timeZone === undefined) {
    return void fault(`${slug}: ${quoted(first.name)} has times without a zone. Add theirs: "timeZone": "UTC"`)
  }
  const source: Source = {
    columns: names,
    type,
    ...(entry.timeZone === undefined ? {} : { timeZone: entry.timeZone }),
    ...(entry.currency === undefined ? {} : { currency: entry.currency })
  }
  return {
    kind,
    // Names are also searched by prefix, with or without an index.
    storage: Storage.Value({ column: names[0]!, source, ...(slug === DISPLAY_NAME ? { indexed: true } : {}) }),
    ...(entry.values === undefined || (kind !== "text" && kind !== "list") ? {} : { values: entry.values })
  }
}

/** A reference to one entity, or to many through a link table. */
export const relationOf = (
  slug: string,
  entry: ColumnEntry,
  own: TypeEntry,
  relation: RelationFacts,
  { catalog, entries, facts, history }: CheckContext,
  fault: Fault,
  column: FindColumn
): Read | undefined => {
  const target = entries.find(({ table }) => table === entry.to)
  const mapped = catalog.types.find(
    (type) => type.mapping !== undefined && `${type.relation.schema}.${type.relation.table}` === entry.to
  )
  const targetFacts = facts.relations.find(({ name }) => name === entry.to)
  const targetId = target?.id ?? mapped?.mapping?.id.column
  const ids = targetFacts?.columns.find(({ name }) => name === targetId)?.idType
  if (targetFacts === undefined || (target === undefined && mapped === undefined) || ids === undefined) {
    return void fault(`${slug}: ${quoted(entry.to!)} isn't mapped. Add it to the file, or leave the column out.`)
  }
  const key = target === undefined ? mapped!.key : history.get(target.type)!.typeKey
  if (typeof entry.from !== "string") return void fault(`${slug}: a reference is one column.`)
  if (entry.through === undefined) {
    const physical = column(entry.from, slug)
    if (physical === undefined) return undefined
    if (physical.idType !== ids)
      return void fault(`${slug}: ${quoted(entry.from)} is ${physical.typeName}, but the ids of ${entry.to} aren't.`)
    return { kind: "reference", storage: Storage.One({ column: entry.from, target: key }) }
  }
  const link = facts.relations.find(({ name }) => name === entry.through)
  const ends = [entry.from, entry.via ?? ""].map((name) => link?.columns.find((each) => each.name === name))
  const ownId = relation.columns.find(({ name }) => name === own.id)?.idType
  if (link === undefined || ends[0] === undefined || ends[1] === undefined) {
    return void fault(
      `${slug}: "through" is a link table, "from" its column that leads here and "via" the one that leads to ${printable(entry.to!)}.`
    )
  }
  if (link.faults.length > 0) {
    for (const each of link.faults) fault(`${slug}: ${each}`)
    return undefined
  }
  if (ends[0].idType !== ownId || ends[1].idType !== ids)
    return void fault(`${slug}: the columns of ${link.name} aren't ids of both sides.`)
  return {
    kind: "references",
    storage: Storage.Many({
      link: { schema: link.schema, table: link.table },
      from: entry.from,
      to: entry.via!,
      target: key,
      mapped: true
    })
  }
}
