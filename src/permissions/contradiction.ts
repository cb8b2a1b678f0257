/** Detects conditions that no row can satisfy. It is sound but incomplete: every contradiction that it reports is certain. */
import { type Catalog, type Column, type EntityType, resolveColumn, targetOf } from "../domain/EntityType.ts"
import type { Operand, Predicate } from "../domain/Predicate.ts"
import { bindScalar, compareDecimals } from "../domain/values.ts"
import { listed } from "./describe.ts"

/** The reason why no row can satisfy a predicate; undefined when none is found. */
export const contradiction = (
  predicate: Predicate,
  positive: boolean,
  type: EntityType,
  catalog: Catalog
): string | undefined => {
  switch (predicate._tag) {
    case "Always":
      return positive ? undefined : "the condition is the negation of a tautology"
    case "Never":
      return positive ? "the condition is never true" : undefined
    case "Not":
      return contradiction(predicate.of, !positive, type, catalog)
    case "In":
      return positive && predicate.operands.length === 0 ? "the list is empty" : undefined
    case "Related": {
      const column = resolveColumn(type, predicate.relation)
      const target = column && targetOf(catalog, column)
      if (column === undefined || target === undefined || (column.storage._tag === "Many" && !positive))
        return undefined
      return contradiction(predicate.where, positive, target, catalog)
    }
    case "All":
    case "Any": {
      if ((predicate._tag === "All") === positive) {
        for (const part of predicate.of) {
          const why = contradiction(part, positive, type, catalog)
          if (why !== undefined) return why
        }
        return positive ? conflict(predicate.of, type, catalog) : undefined
      }
      if (predicate.of.length === 0) return "the list is empty"
      const reasons = predicate.of.map((part) => contradiction(part, positive, type, catalog))
      return reasons.every((why) => why !== undefined) ? reasons[0] : undefined
    }
    default:
      return undefined
  }
}

/** Finds a column whose conditions exclude each other. */
const conflict = (parts: ReadonlyArray<Predicate>, type: EntityType, catalog: Catalog): string | undefined => {
  const flat = (predicate: Predicate): ReadonlyArray<Predicate> =>
    predicate._tag === "All" ? predicate.of.flatMap(flat) : [predicate]
  const leaves = parts.flatMap(flat)
  for (const column of type.columns) {
    if (column.kind === "list" || column.storage._tag === "Many") continue
    const values: Array<ReadonlyArray<string>> = []
    let [lower, upper]: Array<string | undefined> = []
    let [empty, present] = [false, false]
    for (const leaf of leaves) {
      if (leaf._tag === "IsNull" && leaf.column === column.key) empty = true
      if (leaf._tag === "Not" && leaf.of._tag === "IsNull" && leaf.of.column === column.key) present = true
      if (leaf._tag === "Related" && leaf.relation === column.key) present = true
      if (leaf._tag === "In" && leaf.column === column.key) {
        present = true
        const literals = leaf.operands.map((operand) => literalOf(operand, column, catalog))
        if (literals.every((literal) => literal !== undefined)) values.push(literals)
      }
      if (leaf._tag !== "Compare" || leaf.column !== column.key) continue
      present = true
      const literal = literalOf(leaf.operand, column, catalog)
      if (literal === undefined) continue
      if (leaf.op === "eq") values.push([literal])
      else if (column.kind === "integer" || column.kind === "number" || column.kind === "date") {
        const order = (a: string, b: string) =>
          column.kind === "date" ? (a < b ? -1 : a > b ? 1 : 0) : compareDecimals(a, b)
        if ((leaf.op === "gt" || leaf.op === "gte") && (lower === undefined || order(literal, lower) > 0))
          lower = literal
        if ((leaf.op === "lt" || leaf.op === "lte") && (upper === undefined || order(literal, upper) < 0))
          upper = literal
        if (lower !== undefined && upper !== undefined && order(lower, upper) > 0)
          return `${column.slug} can't be above ${lower} and below ${upper} at the same time`
      }
    }
    if (empty && present) return `${column.slug} can't be empty and have a value at the same time`
    const sets = values.slice(1).map((list) => new Set(list))
    if (values[0] !== undefined && !values[0].some((value) => sets.every((set) => set.has(value))))
      return `${column.slug} can't be ${listed(values.map((list) => list.join(" or ")))} at the same time`
  }
  return undefined
}

const literalOf = (operand: Operand, column: Column, catalog: Catalog): string | undefined => {
  if (operand._tag !== "Literal") return undefined
  const bound = bindScalar(column, operand.value, catalog.organization)
  return bound === undefined ? undefined : String(bound)
}
