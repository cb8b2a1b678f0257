/**
 * Through whose eyes an explanation is given. An operator sees everything. Somebody who administers sees what their own
 * plan shows, and is told nothing about a row that a hidden cell decides: the decision would say what is in it.
 */
import { type Catalog, columnByKey, type EntityType, ID_COLUMN, targetOf } from "../../domain/EntityType.ts"
import { all, ALWAYS, type Bound, NEVER, type Predicate } from "../../domain/Predicate.ts"
import type { Principal } from "../../domain/Principal.ts"
import type { Policy, Rule } from "../../permissions/Policy.ts"
import { sightOf } from "./judging.ts"

export interface Eyes {
  readonly rows: (type: EntityType) => Bound
  readonly cell: (type: EntityType, column: string) => Bound
  /** The rows that may be explained: they are seen, and so is everything that the rules look at. */
  readonly explained: (type: EntityType, rules: ReadonlyArray<Rule>) => Bound
}

export const OPERATOR_EYES: Eyes = { rows: () => ALWAYS, cell: () => ALWAYS, explained: () => ALWAYS }

export const eyesOf = (policy: Policy, catalog: Catalog, asker: Principal, now: number): Eyes => {
  const sight = (type: EntityType) => sightOf(policy, catalog, asker, type, now)

  const knows = (predicate: Predicate, type: EntityType): Bound => {
    switch (predicate._tag) {
      case "Always":
      case "Never":
        return ALWAYS
      case "All":
      case "Any":
        return all(...predicate.of.map((part) => knows(part, type)))
      case "Not":
        return knows(predicate.of, type)
      case "Compare":
      case "In":
      case "IsNull":
        return predicate.column === ID_COLUMN.key ? sight(type).rows : sight(type).cell(predicate.column)
      case "Related": {
        const column = columnByKey(type, predicate.relation)
        const target = column && targetOf(catalog, column)
        if (target === undefined) return NEVER
        // Which row it leads to isn't told here, so everything that it could lead to has to be seen.
        const everywhere = all(sight(target).rows, knows(predicate.where, target))._tag === "Always"
        return everywhere ? sight(type).cell(predicate.relation) : NEVER
      }
    }
  }

  return {
    rows: (type) => sight(type).rows,
    cell: (type, column) => sight(type).cell(column),
    explained: (type, rules) => all(sight(type).rows, ...rules.map((rule) => knows(rule.where, type)))
  }
}
