/** Evaluates bound predicates on in-memory rows, without SQL and without a database. */
import { type Column, type EntityType, readableColumn, typeByKey } from "../../src/domain/EntityType.ts"
import { encodeId } from "../../src/domain/ids.ts"
import type { Condition, Value } from "../../src/database/sql/Parameter.ts"
import type { Principal } from "../../src/domain/Principal.ts"
import { compareDecimals, microseconds } from "../../src/domain/values.ts"
import type { CheckedRow } from "../../src/permissions/checkRow.ts"
import { type Policy, problemText } from "../../src/permissions/Policy.ts"
import { readPolicy } from "../../src/permissions/readPolicy.ts"
import { catalog } from "./catalog.ts"
import { type Caller, type PolicyJson, related } from "./oracle.ts"
import { type Entity, keyOf, type Organization, type TypeName, READABLE } from "./world.ts"

export interface MemoryRow extends CheckedRow {
  /** Search keys by column key. */
  readonly keys: Readonly<Record<string, string | boolean | ReadonlyArray<string> | null>>
  readonly related: (relation: string) => ReadonlyArray<MemoryRow>
}

export const rowOf = (type: TypeName, entity: Entity, organization: Organization): MemoryRow => {
  const values: Record<string, string | boolean | ReadonlyArray<string> | null> = { id: entity.id.toString() }
  const keys: Record<string, string | boolean | ReadonlyArray<string> | null> = {}
  for (const [name, { key, kind }] of Object.entries(READABLE[type])) {
    const cell = entity.cells[name] ?? null
    if (kind === "many") continue
    if (key !== undefined) keys[name] = keyOf(kind, cell, organization.country) as string | null
    if (kind === "phone" || kind === "email") {
      values[name] = keyOf(kind, cell, organization.country) as string | null
      values[`${name}:null`] = cell as string | null
    } else {
      values[name] = typeof cell === "bigint" ? cell.toString() : cell
    }
  }
  return {
    values,
    keys,
    related: (relation) => {
      const { kind, target } = READABLE[type][relation]!
      const others =
        kind === "many"
          ? related(relation as "attendees", target!, entity.id, organization)
          : [organization.entities[target!].get((entity.cells[relation] ?? -1n) as bigint)].flatMap(
              (other) => other ?? []
            )
      return others.map((other) => rowOf(target!, other, organization))
    }
  }
}

export const principalOf = (who: Caller): Principal => ({
  organizationId: catalog.organization.id,
  anchorEntityId: encodeId(who.me),
  roles: who.roles,
  attributes: who.attributes as Principal["attributes"],
  epoch: 1n,
  ...(who.actor === undefined ? {} : { actor: { id: "agent", ...who.actor } as NonNullable<Principal["actor"]> })
})

export const storedPolicy = (file: PolicyJson): Policy => {
  const reading = readPolicy(JSON.stringify(file), catalog)
  if ("problems" in reading) throw new Error(reading.problems.map(problemText).join("\n"))
  return reading.policy
}

const orderOf = (column: Column, left: string | boolean, right: Value): number => {
  switch (column.kind) {
    case "integer":
    case "number":
      return compareDecimals(String(left), String(right))
    case "timestamp":
      return (
        microseconds(String(left), catalog.organization.timeZone) -
        microseconds(String(right), catalog.organization.timeZone)
      )
    default:
      return left === right ? 0 : left < right ? -1 : 1
  }
}

const compare = (op: string, order: number): boolean => {
  switch (op) {
    case "eq":
      return order === 0
    case "ne":
      return order !== 0
    case "lt":
      return order < 0
    case "lte":
      return order <= 0
    case "gt":
      return order > 0
    default:
      return order >= 0
  }
}

/** Whether a row satisfies a predicate; with `may`, what NULL makes unknown counts as satisfied. */
export const satisfies = (bound: Condition, row: MemoryRow, type: EntityType, may = false): boolean => {
  const column = (key: string) => readableColumn(type, key)!
  const cell = (key: string, side: "value" | "key") => (side === "key" ? row.keys[key] : row.values[key]) ?? null
  const target = (relation: string) => {
    const { storage } = column(relation)
    return typeByKey(catalog, (storage as { readonly target: string }).target)!
  }
  switch (bound._tag) {
    case "Always":
      return true
    case "Never":
      return false
    case "All":
      return bound.of.every((part) => satisfies(part, row, type, may))
    case "Any":
      return bound.of.some((part) => satisfies(part, row, type, may))
    case "IsNull":
      return ((row.values[`${bound.column}:null`] ?? cell(bound.column, "value")) === null) !== bound.negated
    case "Compare": {
      const left = cell(bound.column, bound.side)
      if (left === null) return may
      if (Array.isArray(left)) return left.includes(bound.value as string) === (bound.op === "eq")
      return compare(bound.op, orderOf(column(bound.column), left as string | boolean, bound.value))
    }
    case "In": {
      const left = cell(bound.column, bound.side)
      if (left === null) return may
      const some = bound.values.some((value) =>
        Array.isArray(left)
          ? left.includes(value as string)
          : orderOf(column(bound.column), left as string | boolean, value) === 0
      )
      return some !== bound.negated
    }
    case "Contains": {
      const key = cell(bound.column, "key")
      if (key === null) return may
      const text = bound.text as string
      return [...text].length >= 3 ? (key as string).includes(text) : (key as string).startsWith(text)
    }
    case "Some":
      return row.related(bound.relation).some((other) => satisfies(bound.where, other, target(bound.relation), may))
    case "None":
      return !row.related(bound.relation).some((other) => satisfies(bound.where, other, target(bound.relation), !may))
    default:
      throw new Error(`Plans have no ${bound._tag}`)
  }
}
