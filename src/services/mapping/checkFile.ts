/** Checks what a person asks to map: the names of tables, and all entries of a file. */
import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import { isDeepStrictEqual } from "node:util"
import type { Catalog } from "../../domain/EntityType.ts"
import { orUnavailableInTheEnd } from "../../database/execute.ts"
import { OperatorError } from "../../domain/errors.ts"
import { closest, quoted } from "../../domain/text.ts"
import { type Checked, checkEntry, isFaults } from "./checkMapping.ts"
import type { MappingDocument, TypeEntry } from "./mappingFile.ts"
import { historyOf } from "./publish.ts"
import { type Facts, foreignAdvice, foreignTables } from "./tableFacts.ts"

/** The relation that a name means, with or without its schema. */
export const findRelation = Effect.fnUntraced(function* (owner: PgClient.PgClient, facts: Facts, name: string) {
  const exact = facts.relations.find((relation) => relation.name === name)
  const plain = facts.relations.filter(({ table }) => table === name)
  const relation = exact ?? (plain.length === 1 ? plain[0] : undefined)
  if (relation !== undefined) return relation
  if (plain.length > 1)
    return yield* OperatorError.of(
      `There are several tables ${quoted(name)}. Write one of: ${plain.map((each) => each.name).join(", ")}`
    )
  const foreign = yield* orUnavailableInTheEnd(foreignTables(owner))
  const found = foreign.find((each) => each === name || each.endsWith(`.${name}`))
  if (found !== undefined) return yield* OperatorError.of(foreignAdvice(found))
  const near = closest(
    name,
    facts.relations.flatMap((each) => [each.name, each.table])
  )
  return yield* OperatorError.of(
    `There is no table or view ${quoted(name)}.${near === undefined ? "" : ` Did you mean ${near}?`}`
  )
})

/**
 * The types of all entries, or the problems of all of them. A type in force that only the database keeps from being mapped again
 * doesn't block the others: it stays as it was mapped, and its problems are reported.
 */
export const checkAll = Effect.fnUntraced(function* (
  owner: PgClient.PgClient,
  entries: ReadonlyArray<TypeEntry>,
  catalog: Catalog,
  facts: Facts,
  inForce: ReadonlyArray<MappingDocument>
) {
  if (entries.length === 0) return yield* new OperatorError({ message: "The file maps nothing." })
  const history = yield* historyOf(owner, entries, catalog)
  const checked: Array<Checked> = []
  const kept: Array<string> = []
  const faults: Array<string> = []
  for (const entry of entries) {
    const result = checkEntry(entry, { facts, entries, catalog, history })
    if (!isFaults(result)) checked.push(result)
    else (isKept(entry, facts, inForce) ? kept : faults).push(...result)
  }
  const all = [...faults, ...kept]
  return faults.length === 0 && checked.length > 0
    ? { checked, kept: kept.slice(0, 50) }
    : yield* new OperatorError({
        message: `Nothing is mapped: ${all.length} problem${all.length === 1 ? "" : "s"}.`,
        details: all.slice(0, 50)
      })
})

/** Whether the type is in force from this table, and the database is at fault: the entry is the one in force, or the table can't be read. */
const isKept = (entry: TypeEntry, facts: Facts, inForce: ReadonlyArray<MappingDocument>): boolean => {
  const former = inForce.find((each) => each.entry.type === entry.type && each.entry.table === entry.table)?.entry
  const relation = facts.relations.find(({ name }) => name === entry.table)
  return (
    former !== undefined && (relation === undefined || relation.faults.length > 0 || isDeepStrictEqual(former, entry))
  )
}
