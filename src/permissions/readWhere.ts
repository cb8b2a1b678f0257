/** The `where` of a policy rule: parses JSON into a `Predicate`, with names resolved and values checked by column kind. */
import {
  type Catalog,
  type Column,
  type ColumnKind,
  columnBySlug,
  type EntityType,
  ID_COLUMN,
  idColumn,
  peopleOf,
  targetOf
} from "../domain/EntityType.ts"
import { CompareOp, type Operand, type Predicate } from "../domain/Predicate.ts"
import { isJsonObject, type JsonObject } from "../domain/json.ts"
import { quoted } from "../domain/text.ts"
import { bindScalar } from "../domain/values.ts"
import { POLICY } from "./limits.ts"
import type { PolicyProblems } from "./PolicyProblems.ts"

const NEVER: Predicate = { _tag: "Never" }
const ORDERED: ReadonlySet<ColumnKind> = new Set<ColumnKind>(["integer", "number", "date", "timestamp"])
const EXAMPLE: Readonly<Record<ColumnKind, string>> = {
  text: `"vip"`,
  phone: `"+14155550100"`,
  email: `"ada@example.com"`,
  integer: "10",
  number: "9.5",
  boolean: "true",
  date: `"2027-01-31"`,
  timestamp: `"2027-01-31T09:00:00Z"`,
  list: `"vip"`,
  reference: `"$me"`,
  references: `"$me"`
}

export const makeWhereReader = (catalog: Catalog, problems: PolicyProblems) => {
  let hops = 0
  const where = (value: unknown, type: EntityType, path: string, depth = 0): Predicate => {
    if (depth > POLICY.conditions)
      return reject(path, `Conditions must be nested at most ${POLICY.conditions} levels deep.`)
    if (!isJsonObject(value))
      return reject(path, "A condition must be an object.", `{ "${type.columns[0]?.slug ?? "name"}": … }`)
    const parts = Object.entries(value).map(([name, condition]): Predicate => {
      const at = `${path}.${quoted(name).slice(1, -1)}`
      switch (name) {
        case "all":
          return { _tag: "All", of: list(condition, type, at, depth) }
        case "any":
          return { _tag: "Any", of: list(condition, type, at, depth) }
        case "not":
          return { _tag: "Not", of: where(condition, type, at, depth + 1) }
      }
      const column = name === ID_COLUMN.slug ? idColumn(type) : columnBySlug(type, name)
      if (type.derived?.some(({ slug }) => slug === name) === true)
        return reject(at, `${quoted(name)} is computed from other columns: a condition names those.`)
      if (column === undefined) {
        const slugs = type.columns.map((known) => known.slug)
        problems.suggest(at, `There is no column or operator ${quoted(name)} in ${type.slug}.`, name, slugs)
        return NEVER
      }
      return columnCondition(condition, column, type, at, depth)
    })
    return parts.length === 1 ? parts[0]! : { _tag: "All", of: parts }
  }

  const list = (value: unknown, type: EntityType, path: string, depth: number): ReadonlyArray<Predicate> =>
    Array.isArray(value)
      ? value.map((part, index) => where(part, type, `${path}[${index}]`, depth + 1))
      : [reject(path, "`all` and `any` must be lists of conditions.", `[ … ]`)]

  const columnCondition = (
    value: unknown,
    column: Column,
    type: EntityType,
    path: string,
    depth: number
  ): Predicate => {
    if (depth > POLICY.conditions)
      return reject(path, `Conditions must be nested at most ${POLICY.conditions} levels deep.`)
    if (column.storage._tag === "Many") return many(value, column, path, depth)
    if (value === null) return { _tag: "IsNull", column: column.key }
    if (Array.isArray(value)) {
      return {
        _tag: "In",
        column: column.key,
        operands: value.flatMap((item) => operand(item, column, type, path) ?? [])
      }
    }
    if (!isJsonObject(value)) return compare("eq", value, column, type, path)
    const keys = Object.keys(value)
    if (keys.length === 1 && keys[0] === "not") {
      return { _tag: "Not", of: columnCondition(value["not"], column, type, `${path}.not`, depth + 1) }
    }
    if (column.storage._tag === "One" && !(keys.length > 0 && keys.every(isCompareOp))) {
      return related(value, column, path, depth)
    }
    if (keys.length === 0)
      return reject(path, "A condition must have at least one comparison.", `{ "eq": ${EXAMPLE[column.kind]} }`)
    const parts = keys.map((op): Predicate => {
      if (isCompareOp(op)) return compare(op, value[op], column, type, `${path}.${op}`)
      problems.unknownName(path, "comparison", op, [...CompareOp.literals, "not"])
      return NEVER
    })
    return parts.length === 1 ? parts[0]! : { _tag: "All", of: parts }
  }

  const many = (value: unknown, column: Column, path: string, depth: number): Predicate => {
    if (isJsonObject(value)) return related(value, column, path, depth)
    const target = targetOf(catalog, column)
    const id = target && operand(value, idColumn(target), target, path)
    if (id === undefined) return NEVER
    return {
      _tag: "Related",
      relation: column.key,
      where: { _tag: "Compare", column: ID_COLUMN.key, op: "eq", operand: id }
    }
  }

  const related = (value: JsonObject, column: Column, path: string, depth: number): Predicate => {
    const target = targetOf(catalog, column)
    if (target === undefined) return reject(path, `The target type of ${column.slug} doesn't exist.`)
    if (hops === POLICY.hops) return reject(path, `A condition must follow at most ${POLICY.hops} relations in a row.`)
    hops += 1
    const inner = where(value, target, path, depth + 1)
    hops -= 1
    return { _tag: "Related", relation: column.key, where: inner }
  }

  const compare = (op: CompareOp, value: unknown, column: Column, type: EntityType, path: string): Predicate => {
    if (op !== "eq" && op !== "ne" && !ORDERED.has(column.kind)) {
      return reject(
        path,
        `${column.slug} (${column.kind}) has no order: only eq and ne compare it.`,
        `{ "eq": ${EXAMPLE[column.kind]} }`
      )
    }
    const right = operand(value, column, type, path)
    return right === undefined ? NEVER : { _tag: "Compare", column: column.key, op, operand: right }
  }

  const operand = (value: unknown, column: Column, type: EntityType, path: string): Operand | undefined => {
    if (typeof value === "string" && value.startsWith("$") && !value.startsWith("$$")) {
      if (value === "$me") {
        if (leadsToPeople(column, type, catalog)) return { _tag: "Me" }
        problems.report(
          path,
          `$me is a person, so ${column.slug} can't be compared with it.`,
          column.kind === "reference" ? undefined : EXAMPLE[column.kind]
        )
        return undefined
      }
      const name = /^\$attr\.([a-z][a-z0-9_]{0,62})$/.exec(value)?.[1]
      if (name !== undefined) return { _tag: "Attribute", name }
      problems.report(
        path,
        `${quoted(value)} is neither $me nor $attr.name. Write $$ for a literal value that begins with $.`,
        `"$attr.region"`
      )
      return undefined
    }
    if (typeof value === "string" || typeof value === "number" || typeof value === "boolean") {
      const literal = typeof value === "string" && value.startsWith("$$") ? value.slice(1) : value
      if (bindScalar(column, literal, catalog.organization) !== undefined) return { _tag: "Literal", value: literal }
    }
    problems.report(path, `This is not a valid value of ${column.slug} (${column.kind}).`, EXAMPLE[column.kind])
    return undefined
  }

  const reject = (path: string, message: string, fix?: string): Predicate => {
    problems.report(path, message, fix)
    return NEVER
  }

  return where
}

/** Whether the column holds ids of people: only those can be compared with $me. */
const leadsToPeople = (column: Column, type: EntityType, catalog: Catalog): boolean =>
  (column.key === ID_COLUMN.key ? type : targetOf(catalog, column))?.key === peopleOf(catalog)?.key

const isCompareOp = (name: string): name is CompareOp => (CompareOp.literals as ReadonlyArray<string>).includes(name)
