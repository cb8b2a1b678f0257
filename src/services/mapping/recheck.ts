/**
 * Mapped types after other programs changed their relations. Decides what a process may accept by itself: a relation that was
 * dropped and made again as it was mapped, and types that lost columns. Pure.
 */
import { qualified } from "../../database/sql/SqlWriter.ts"
import { connectedAmong } from "../../domain/connected.ts"
import { type Column, DISPLAY_NAME, type EntityType, type Relation } from "../../domain/EntityType.ts"
import { checkEntry, isFaults } from "./checkMapping.ts"
import type { CheckContext } from "./checkColumn.ts"
import { readAs } from "./drift.ts"
import type { TypeEntry } from "./mappingFile.ts"
import type { Facts, RelationFacts } from "./tableFacts.ts"

/** What a version of a type says anew; undefined when nothing has changed. */
export interface Rechecked {
  readonly type: EntityType
  readonly reads: Readonly<Record<string, string | null>>
  /** The columns that can't be read now. */
  readonly missing: ReadonlyArray<Column>
  /** The relations that were made again. */
  readonly recreated: ReadonlyArray<string>
}

/** `drifted`: the relations whose columns, keys or definition differ from those that were mapped. */
export const recheckType = (
  type: EntityType,
  entry: TypeEntry,
  context: CheckContext,
  drifted: ReadonlyArray<string>
): Rechecked | undefined => {
  const { facts } = context
  const own = relationIn(facts, type.relation)
  const { reads } = type.mapping ?? {}
  if (own === undefined || reads === undefined) return undefined
  const before = type.missing ?? []
  const all = [...type.columns, ...before]
  const missing = all.filter((column) => column.key !== DISPLAY_NAME && !isReadable(column, own, context))
  const present = new Map(facts.relations.map((relation) => [qualified(relation), relation]))
  const replaced = Object.entries(reads).filter(([name, identity]) => {
    const now = present.get(name)?.identity ?? null
    return now !== null && now !== identity
  })
  const recreated =
    replaced.every(([, identity]) => isGone(identity, facts)) && isAsMapped(type, all, missing, entry, context, drifted)
      ? replaced.map(([name]) => name)
      : []
  const same =
    missing.length === before.length && missing.every(({ key }) => before.some((column) => column.key === key))
  if (same && recreated.length === 0) return undefined
  return {
    type,
    reads: { ...reads, ...Object.fromEntries(recreated.map((name) => [name, present.get(name)!.identity])) },
    missing,
    recreated
  }
}

const relationIn = ({ relations }: Facts, { schema, table }: Relation): RelationFacts | undefined =>
  relations.find((relation) => relation.schema === schema && relation.table === table)

/** A relation that still exists, under another name, wasn't made again: another one took its name. */
const isGone = (identity: string | null, { relations }: Facts): boolean =>
  !relations.some((relation) => relation.identity !== null && relation.identity === identity)

const isReadable = ({ storage }: Column, own: RelationFacts, { catalog, facts }: CheckContext): boolean => {
  const has = (relation: RelationFacts | undefined, ...columns: ReadonlyArray<string>) =>
    relation !== undefined && columns.every((column) => relation.columns.some(({ name }) => name === column))
  if (storage._tag === "Value") {
    const { columns, currency } = storage.source!
    return has(own, ...columns, ...(currency === undefined ? [] : [currency]))
  }
  const target = catalog.types.find(({ key }) => key === storage.target)
  if (target?.mapping !== undefined && relationIn(facts, target.relation) === undefined) return false
  return storage._tag === "One"
    ? has(own, storage.column)
    : has(relationIn(facts, storage.link), storage.from, storage.to)
}

/** Whether the entry, without what is missing, gives the type that is in force. A view must also be defined as it was. */
const isAsMapped = (
  type: EntityType,
  all: ReadonlyArray<Column>,
  missing: ReadonlyArray<Column>,
  entry: TypeEntry,
  context: CheckContext,
  drifted: ReadonlyArray<string>
): boolean => {
  const mapping = type.mapping!
  if (!mapping.unique && drifted.includes(entry.table)) return false
  const columns = Object.entries(entry.columns).filter(([slug]) => !missing.some((column) => column.slug === slug))
  // What may be written decides nothing about what is read.
  const { write: _, ...read } = entry
  const checked = checkEntry({ ...read, columns: Object.fromEntries(columns) }, context)
  if (isFaults(checked)) return false
  const now = connectedAmong(checked.type, context.catalog.types)
  const rows = ({ mapping }: EntityType) =>
    JSON.stringify([mapping!.id, mapping!.organization, mapping!.where, mapping!.unique])
  return (
    rows(now) === rows(type) &&
    all
      .filter((column) => !missing.includes(column))
      .every((former) => {
        const column = now.columns.find(({ slug }) => slug === former.slug)
        return column !== undefined && readAs(column) === readAs(former)
      })
  )
}
