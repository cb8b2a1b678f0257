/** One column of a mapping held against the database. Pure. */
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
import { collation, written } from "./advice.ts"
import type { ColumnFacts, Facts, RelationFacts } from "./tableFacts.ts"
import type { ColumnEntry, MappedKind, TypeEntry } from "./mappingFile.ts"

/** What the organization's history says of a type: names that it has had mean the same for ever. */
export interface History {
  readonly typeKey: string
  readonly version: number
  readonly position: number | null
  /** Slugs that columns have had, with their keys and what they were read from. */
  readonly columns: ReadonlyMap<string, { readonly key: string; readonly from: string | undefined }>
  /** Rows of the organization in a table of Max's. */
  readonly rows: boolean
}

export interface CheckContext {
  readonly facts: Facts
  readonly entries: ReadonlyArray<TypeEntry>
  readonly catalog: Catalog
  readonly history: ReadonlyMap<string, History>
}

/** The kinds that what the database has can be read as. */
const FITS: Readonly<Record<SourceType, ReadonlyArray<MappedKind>>> = {
  text: ["text", "phone", "email"],
  other: ["text"],
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

/** A value of one column, or of several that are put together. */
export const valueOf = (
  slug: string,
  entry: ColumnEntry,
  relation: RelationFacts,
  fault: Fault,
  column: FindColumn
): Read | undefined => {
  const names = typeof entry.from === "string" ? [entry.from] : entry.from
  const found = names.flatMap((name) => column(name, slug) ?? [])
  if (found.length < names.length) return undefined
  const [first] = found
  if (first === undefined) return void fault(`${slug}: "from" names no column.`)
  for (const one of found) {
    if (one.type === undefined || (one.type === "list" && found.length > 1)) {
      return void fault(
        `${slug}: ${quoted(one.name)} is ${one.typeName}, which isn't read. A view can cast it: SELECT …, ${printable(one.name)}::text FROM ${written(relation)}`
      )
    }
    if (!one.deterministic) return void fault(`${slug}: ${collation(one, relation)}`)
  }
  const type = found.length > 1 ? "text" : first.type!
  const kind = entry.kind ?? FITS[type][0]!
  if (!FITS[type].includes(kind) || (found.length > 1 && kind !== "text")) {
    return void fault(
      `${slug}: ${quoted(first.name)} is ${first.typeName} and can be: ${found.length > 1 ? "text" : FITS[type].join(", ")}.`
    )
  }
  if ((slug === DISPLAY_NAME || slug === STATUS) && kind !== "text")
    return void fault(`${slug}: this is shown as text: "kind": "text".`)
  if (entry.currency !== undefined) {
    if (kind !== "number") return void fault(`${slug}: only numbers have a currency.`)
    if (column(entry.currency, `${slug}, currency`) === undefined) return undefined
  }
  if (entry.timeZone !== undefined && !isTimeZone(entry.timeZone))
    return void fault(`${slug}: ${quoted(entry.timeZone)} isn't a time zone such as UTC or Europe/Berlin.`)
  if (type === "timestamp" && kind === "timestamp" && entry.timeZone === undefined) {
    return void fault(`${slug}: ${quoted(first.name)} has times without a zone. Say which is meant: "timeZone": "UTC"`)
  }
  const source: Source = {
    columns: names,
    type,
    ...(entry.timeZone === undefined ? {} : { timeZone: entry.timeZone }),
    ...(entry.currency === undefined ? {} : { currency: entry.currency })
  }
  return {
    kind,
    // Its beginning is searched too, with an index or without: people are asked for by it.
    storage: Storage.Value({ column: names[0]!, source, ...(slug === DISPLAY_NAME ? { indexed: true } : {}) }),
    ...(entry.values === undefined || (kind !== "text" && kind !== "list") ? {} : { values: entry.values })
  }
}

/** A reference to one, or to many by way of a link table. */
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
  const known = catalog.types.find(
    (type) => type.mapping !== undefined && `${type.relation.schema}.${type.relation.table}` === entry.to
  )
  const targetFacts = facts.relations.find(({ name }) => name === entry.to)
  const targetId = target?.id ?? known?.mapping?.id.column
  const ids = targetFacts?.columns.find(({ name }) => name === targetId)?.idType
  if (targetFacts === undefined || (target === undefined && known === undefined) || ids === undefined) {
    return void fault(`${slug}: ${quoted(entry.to!)} isn't mapped. Put it into the file, or leave the column out.`)
  }
  const key = target === undefined ? known!.key : history.get(target.type)!.typeKey
  if (typeof entry.from !== "string") return void fault(`${slug}: a reference is one column.`)
  if (entry.through === undefined) {
    const found = column(entry.from, slug)
    if (found === undefined) return undefined
    if (found.idType !== ids)
      return void fault(`${slug}: ${quoted(entry.from)} is ${found.typeName}, and the ids of ${entry.to} aren't.`)
    return { kind: "reference", storage: Storage.One({ column: entry.from, target: key }) }
  }
  const link = facts.relations.find(({ name }) => name === entry.through)
  const ends = [entry.from, entry.via ?? ""].map((name) => link?.columns.find((one) => one.name === name))
  const ownId = relation.columns.find(({ name }) => name === own.id)?.idType
  if (link === undefined || ends[0] === undefined || ends[1] === undefined) {
    return void fault(
      `${slug}: "through" is a link table, "from" its column that leads here and "via" the one that leads to ${printable(entry.to!)}.`
    )
  }
  if (link.kind === "view" && link.untrusted.length > 0)
    return void fault(`${slug}: ${link.untrusted[0]!} isn't trusted.`)
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
