/** Checks what a person asks to map: the names of tables, and all entries of a file. */
import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import type { Catalog } from "../../domain/EntityType.ts"
import { orUnavailableInTheEnd } from "../../database/execute.ts"
import { OperatorError } from "../../domain/errors.ts"
import { closest, quoted } from "../../domain/text.ts"
import { type Checked, checkEntry, isFaults } from "./checkMapping.ts"
import type { TypeEntry } from "./mappingFile.ts"
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

/** The types of all entries, or the problems of all of them. */
export const checkAll = Effect.fnUntraced(function* (
  owner: PgClient.PgClient,
  entries: ReadonlyArray<TypeEntry>,
  catalog: Catalog,
  facts: Facts
) {
  if (entries.length === 0) return yield* new OperatorError({ message: "The file maps nothing." })
  const history = yield* historyOf(owner, entries, catalog)
  const checked: Array<Checked> = []
  const faults: Array<string> = []
  for (const entry of entries) {
    const result = checkEntry(entry, { facts, entries, catalog, history })
    if (isFaults(result)) faults.push(...result)
    else checked.push(result)
  }
  return faults.length === 0
    ? checked
    : yield* new OperatorError({
        message: `Nothing is mapped: ${faults.length} problem${faults.length === 1 ? "" : "s"}.`,
        details: faults.slice(0, 50)
      })
})
