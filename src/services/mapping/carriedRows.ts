/** The rows of other tables that a deletion takes along or changes, by their foreign keys, however far they lead. Pure. */
import type { Carried, CarriedHop } from "../../domain/EntityType.ts"
import type { Facts, RelationFacts } from "./tableFacts.ts"

/** The most ways to a table: each is a part of the statement that counts its rows. */
const MAX_PATHS = 20

/** A way of foreign keys from the deleted row, whose last table has the rows. */
interface Way {
  readonly name: string
  readonly hops: ReadonlyArray<CarriedHop>
  readonly goesAlong: boolean
}

/**
 * What a deletion carries on to. `uncounted`: the tables whose rows can't be counted, because they take along rows of themselves or Max
 * may not read them.
 */
export const carriedBy = (
  relation: RelationFacts,
  { relations }: Pick<Facts, "relations">
): { readonly carried: ReadonlyArray<Carried>; readonly uncounted: ReadonlyArray<string> } => {
  const uncounted = new Set<string>()
  const ways: Array<Way> = []
  const follow = (
    { name, referrers }: RelationFacts,
    hops: ReadonlyArray<CarriedHop>,
    passed: ReadonlyArray<string>
  ) => {
    for (const { columns, followsDelete, from, goesAlong, table } of referrers) {
      if (!followsDelete) continue
      const next = relations.find((each) => each.name === table)
      if (next === undefined || next.identity === null) uncounted.add(table)
      if (goesAlong && (table === name || passed.includes(table))) uncounted.add(table)
      if (next === undefined || ways.length > MAX_PATHS) continue
      const hop: CarriedHop = {
        relation: { schema: next.schema, table: next.table },
        columns: from.map((column, index) => [column, columns[index]!])
      }
      ways.push({ name: table, hops: [...hops, hop], goesAlong })
      if (goesAlong && !uncounted.has(table)) follow(next, [...hops, hop], [...passed, name])
    }
  }
  follow(relation, [], [])
  const carried = new Map<string, Carried>()
  for (const { goesAlong, hops, name } of ways) {
    const known = carried.get(name)
    carried.set(name, {
      relation: hops.at(-1)!.relation,
      deletes: known?.deletes === true || goesAlong,
      paths: [...(known?.paths ?? []), hops]
    })
  }
  if (ways.length > MAX_PATHS) for (const { name } of ways) uncounted.add(name)
  return { carried: [...carried.values()], uncounted: [...uncounted] }
}
