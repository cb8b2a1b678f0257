/**
 * Partial evaluation: specializes a policy's predicate for one principal into a `Bound` predicate, with negation pushed
 * to the leaves. Terms that are unknown for every row (a missing attribute, a removed column) are resolved here, so that
 * they deny.
 *
 * `must` selects how unknown resolves: with `must`, only rows on which the predicate is TRUE match; without it (inside a
 * negated EXISTS), every row on which it isn't FALSE.
 */
import { type Catalog, type Column, type EntityType, resolveColumn, targetOf } from "../domain/EntityType.ts"
import {
  all,
  ALWAYS,
  any,
  Bound,
  type Literal,
  NEGATED,
  NEVER,
  none,
  type Operand,
  type Predicate,
  some
} from "../domain/Predicate.ts"
import { bindScalar } from "../domain/values.ts"
import type { AttributeValue } from "../domain/Principal.ts"

export interface Binding {
  readonly catalog: Catalog
  /** The anchor's entity id; undefined for an actor, which has no anchor. */
  readonly me: string | undefined
  readonly attributes: Readonly<Record<string, AttributeValue>>
}

export const bindPredicate = (
  predicate: Predicate,
  type: EntityType,
  binding: Binding,
  positive: boolean,
  must: boolean
): Bound => {
  const unknown = must ? NEVER : ALWAYS
  switch (predicate._tag) {
    case "Always":
      return positive ? ALWAYS : NEVER
    case "Never":
      return positive ? NEVER : ALWAYS
    case "Not":
      return bindPredicate(predicate.of, type, binding, !positive, must)
    case "All":
    case "Any": {
      const parts = predicate.of.map((part) => bindPredicate(part, type, binding, positive, must))
      return (predicate._tag === "All") === positive ? all(...parts) : any(...parts)
    }
    case "Compare": {
      const column = valueColumn(type, predicate.column)
      const value = column && operandValue(predicate.operand, column, binding)
      if (column === undefined || value === undefined) return unknown
      return Bound.Compare({
        column: column.key,
        side: policySide(column),
        op: positive ? predicate.op : NEGATED[predicate.op],
        value
      })
    }
    case "In": {
      const column = valueColumn(type, predicate.column)
      if (column === undefined) return unknown
      const operands = predicate.operands.map((operand) => operandValue(operand, column, binding))
      const values = [...new Set(operands.filter((value) => value !== undefined))].sort()
      const membership =
        values.length === 0
          ? positive
            ? NEVER
            : ALWAYS
          : Bound.In({ column: column.key, side: policySide(column), values, negated: !positive })
      return operands.includes(undefined) ? (positive ? any : all)(membership, unknown) : membership
    }
    case "IsNull": {
      const column = valueColumn(type, predicate.column)
      return column === undefined ? unknown : Bound.IsNull({ column: column.key, negated: !positive })
    }
    case "Related": {
      const column = resolveColumn(type, predicate.relation)
      const target = column && targetOf(binding.catalog, column)
      if (column === undefined || target === undefined) return unknown
      const inner = (innerPositive: boolean, innerMust: boolean) =>
        bindPredicate(predicate.where, target, binding, innerPositive, innerMust)
      if (column.storage._tag === "One") {
        // A missing reference makes the predicate unknown, so negation moves to the target instead of negating EXISTS.
        return must ? some(column.key, inner(positive, true)) : none(column.key, inner(!positive, true))
      }
      return positive ? some(column.key, inner(true, must)) : none(column.key, inner(true, !must))
    }
  }
}

const valueColumn = (type: EntityType, key: string): Column | undefined => {
  const column = resolveColumn(type, key)
  return column?.storage._tag === "Many" ? undefined : column
}

/** Phone numbers and e-mail addresses compare by search key, which is their normal form. */
const policySide = (column: Column) => (column.kind === "phone" || column.kind === "email" ? "key" : "value")

const operandValue = (operand: Operand, column: Column, binding: Binding): Literal | undefined => {
  switch (operand._tag) {
    case "Literal":
      return bindScalar(column, operand.value, binding.catalog.organization)
    case "Me":
      return binding.me === undefined || column.kind !== "reference"
        ? undefined
        : bindScalar(column, binding.me, binding.catalog.organization)
    case "Attribute": {
      const value = Object.hasOwn(binding.attributes, operand.name) ? binding.attributes[operand.name] : undefined
      return value === undefined || value === "" ? undefined : bindScalar(column, value, binding.catalog.organization)
    }
  }
}
