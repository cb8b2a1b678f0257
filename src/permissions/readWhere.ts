/** The `where` of a policy rule: JSON in, `Predicate` out, every name looked up in the catalog and every value in its column's kind. */
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
import { closest, quoted } from "../domain/text.ts"
import { bindScalar } from "../domain/values.ts"

type Report = (path: string, message: string, fix?: string) => void
type Json = Record<string, unknown>

const NEVER: Predicate = { _tag: "Never" }
const MAX_DEPTH = 32
/** Relations one behind the other: the planner of Postgres needs seconds for twenty. */
const MAX_HOPS = 8
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

const isObject = (value: unknown): value is Json => typeof value === "object" && value !== null && !Array.isArray(value)

export const makeWhereReader = (catalog: Catalog, report: Report) => {
  let hops = 0
  const where = (value: unknown, type: EntityType, path: string, depth = 0): Predicate => {
    if (depth > MAX_DEPTH) return reject(path, `Conditions are nested deeper than ${MAX_DEPTH}.`)
    if (!isObject(value))
      return reject(path, "A condition is an object.", `{ "${type.columns[0]?.slug ?? "name"}": … }`)
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
      if (column === undefined) {
        const near = closest(
          name,
          type.columns.map((known) => known.slug)
        )
        return reject(
          at,
          `There is nothing called ${quoted(name)} in ${type.slug}.`,
          near === undefined ? undefined : `"${near}"`
        )
      }
      return condition_(condition, column, type, at, depth)
    })
    return parts.length === 1 ? parts[0]! : { _tag: "All", of: parts }
  }

  const list = (value: unknown, type: EntityType, path: string, depth: number): ReadonlyArray<Predicate> =>
    Array.isArray(value)
      ? value.map((part, index) => where(part, type, `${path}[${index}]`, depth + 1))
      : [reject(path, "all and any have a list of conditions.", `[ … ]`)]

  const condition_ = (value: unknown, column: Column, type: EntityType, path: string, depth: number): Predicate => {
    if (depth > MAX_DEPTH) return reject(path, `Conditions are nested deeper than ${MAX_DEPTH}.`)
    if (column.storage._tag === "Many") return many(value, column, path, depth)
    if (value === null) return { _tag: "IsNull", column: column.key }
    if (Array.isArray(value)) {
      return {
        _tag: "In",
        column: column.key,
        operands: value.flatMap((item) => operand(item, column, type, path) ?? [])
      }
    }
    if (!isObject(value)) return compare("eq", value, column, type, path)
    const keys = Object.keys(value)
    if (keys.length === 1 && keys[0] === "not") {
      return { _tag: "Not", of: condition_(value["not"], column, type, `${path}.not`, depth + 1) }
    }
    if (column.storage._tag === "One" && !(keys.length > 0 && keys.every(isCompareOp))) {
      return related(value, column, path, depth)
    }
    if (keys.length === 0) return reject(path, "This condition says nothing.", `{ "eq": ${EXAMPLE[column.kind]} }`)
    const parts = keys.map((op): Predicate =>
      isCompareOp(op)
        ? compare(op, value[op], column, type, `${path}.${op}`)
        : reject(
            path,
            `There is no comparison ${quoted(op)}. Known: ${CompareOp.literals.join(", ")}, not.`,
            near(op, CompareOp.literals)
          )
    )
    return parts.length === 1 ? parts[0]! : { _tag: "All", of: parts }
  }

  const many = (value: unknown, column: Column, path: string, depth: number): Predicate => {
    if (isObject(value)) return related(value, column, path, depth)
    const target = targetOf(catalog, column)
    const id = target && operand(value, idColumn(target), target, path)
    if (id === undefined) return NEVER
    return {
      _tag: "Related",
      relation: column.key,
      where: { _tag: "Compare", column: ID_COLUMN.key, op: "eq", operand: id }
    }
  }

  const related = (value: Json, column: Column, path: string, depth: number): Predicate => {
    const target = targetOf(catalog, column)
    if (target === undefined) return reject(path, `What ${column.slug} leads to doesn't exist.`)
    if (hops === MAX_HOPS)
      return reject(path, `A condition leads over at most ${MAX_HOPS} relations, one behind the other.`)
    hops += 1
    const inner = where(value, target, path, depth + 1)
    hops -= 1
    return { _tag: "Related", relation: column.key, where: inner }
  }

  const compare = (op: CompareOp, value: unknown, column: Column, type: EntityType, path: string): Predicate => {
    if (op !== "eq" && op !== "ne" && !ORDERED.has(column.kind)) {
      return reject(
        path,
        `${column.slug} has no order: it can be compared with eq and ne only.`,
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
        report(
          path,
          `$me is a person, and ${column.slug} isn't.`,
          column.kind === "reference" ? undefined : EXAMPLE[column.kind]
        )
        return undefined
      }
      const name = /^\$attr\.([a-z][a-z0-9_]{0,62})$/.exec(value)?.[1]
      if (name !== undefined) return { _tag: "Attribute", name }
      report(
        path,
        `${quoted(value)} is neither $me nor $attr.name. A value that begins with $ is written with $$.`,
        `"$attr.region"`
      )
      return undefined
    }
    if (typeof value === "string" || typeof value === "number" || typeof value === "boolean") {
      const literal = typeof value === "string" && value.startsWith("$$") ? value.slice(1) : value
      if (bindScalar(column, literal, catalog.organization) !== undefined) return { _tag: "Literal", value: literal }
    }
    report(path, `This isn't a value that ${column.slug} (${column.kind}) can have.`, EXAMPLE[column.kind])
    return undefined
  }

  const reject = (path: string, message: string, fix?: string): Predicate => {
    report(path, message, fix)
    return NEVER
  }

  return where
}

/** Whether the column's ids are those of persons: the only ids that $me can be. */
const leadsToPeople = (column: Column, type: EntityType, catalog: Catalog): boolean =>
  (column.key === ID_COLUMN.key ? type : targetOf(catalog, column))?.key === peopleOf(catalog)?.key

const isCompareOp = (name: string): name is CompareOp => (CompareOp.literals as ReadonlyArray<string>).includes(name)

const near = (word: string, candidates: ReadonlyArray<string>): string | undefined => {
  const found = closest(word, candidates)
  return found === undefined ? undefined : `"${found}"`
}
