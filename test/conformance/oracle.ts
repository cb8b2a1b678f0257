/**
 * The oracle: the rows and cells that a policy shows, evaluated row by row from the policy file as permissions.md defines
 * it. From the product it imports only the spelling of ids: no planner, no compiler, no keys. Deliberately slow and literal.
 */
import { decodeId, encodeId } from "../../src/domain/ids.ts"
import { instantIn, localIn } from "./clock.ts"
import {
  type Cell,
  type ColumnShape,
  EMAIL_KEYS,
  type Entity,
  type Kind,
  type Organization,
  PHONE_KEYS,
  DERIVED,
  READABLE,
  SHAPES,
  type TypeName
} from "./world.ts"

/** Kleene logic: null is unknown. */
export type Truth = true | false | null

const both = (parts: ReadonlyArray<Truth>): Truth =>
  parts.includes(false) ? false : parts.includes(null) ? null : true

const either = (parts: ReadonlyArray<Truth>): Truth =>
  parts.includes(true) ? true : parts.includes(null) ? null : false

const opposite = (truth: Truth): Truth => (truth === null ? null : !truth)

export type Json = null | boolean | number | string | ReadonlyArray<Json> | { readonly [key: string]: Json }
export type JsonObject = { readonly [key: string]: Json }

export interface RuleJson {
  readonly id: string
  readonly effect: "allow" | "deny"
  readonly role: string
  readonly action: string
  readonly type: TypeName
  readonly columns: "*" | ReadonlyArray<string>
  readonly where?: JsonObject
  readonly becomes?: JsonObject
  readonly notBefore?: string
  readonly notAfter?: string
}

export interface PolicyJson {
  readonly version: 1
  readonly roles: { readonly [role: string]: { readonly inherits: ReadonlyArray<string> } }
  readonly rules: ReadonlyArray<RuleJson>
}

interface Party {
  readonly roles: ReadonlyArray<string>
  readonly attributes: { readonly [name: string]: unknown }
}

/** A person, and the actor on their behalf. */
export interface Caller extends Party {
  readonly me: bigint
  readonly actor?: Party
}

export interface Asker extends Party {
  readonly me: bigint | undefined
}

const OPS = ["eq", "ne", "lt", "lte", "gt", "gte"]

const isObject = (value: Json): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value)

export { instantIn, localIn } from "./clock.ts"

// ---- values

/** An exact decimal, in units of 10^-40. */
const decimal = (text: string): bigint | undefined => {
  const match = /^([+-]?)(\d*)(?:\.(\d*))?(?:e([+-]?\d+))?$/i.exec(text)
  if (match === null || `${match[2]}${match[3] ?? ""}` === "") return undefined
  const digits = BigInt(`${match[2]}${match[3] ?? ""}`)
  const shift = 40 + Number(match[4] ?? 0) - (match[3] ?? "").length
  if (shift < 0) return undefined
  return (match[1] === "-" ? -1n : 1n) * digits * 10n ** BigInt(shift)
}

type Comparable = string | bigint | number | boolean

/** Texts that are not meant as phone numbers but are valid somewhere. */
const LIKE_PHONES: Readonly<Record<string, { readonly US: string | null; readonly DE: string | null }>> = {
  "2026-03-01": { US: null, DE: "+4920260301" }
}

/** A value in comparable form; undefined if it doesn't fit the kind. */
const comparable = (kind: Kind, value: unknown, organization: Organization): Comparable | undefined => {
  if (typeof value === "number" && !Number.isFinite(value)) return undefined
  switch (kind) {
    case "boolean":
      return typeof value === "boolean" ? value : undefined
    case "integer": {
      if (typeof value === "number") return Number.isSafeInteger(value) ? BigInt(value) : undefined
      return typeof value === "string" && /^-?\d{1,19}$/.test(value) ? BigInt(value) : undefined
    }
    case "number":
      return typeof value === "number" || typeof value === "string" ? decimal(String(value)) : undefined
    case "text":
    case "list":
      return typeof value === "string" ? value : undefined
    case "phone":
      return typeof value === "string"
        ? ((PHONE_KEYS.get(value) ?? LIKE_PHONES[value])?.[organization.country] ?? undefined)
        : undefined
    case "email":
      return typeof value === "string" ? (EMAIL_KEYS.get(value) ?? undefined) : undefined
    case "date":
      return typeof value === "string" && /^\d{4}-\d\d-\d\d$/.test(value) ? value : undefined
    case "timestamp": {
      if (typeof value !== "string" || !/^\d{4}-\d\d-\d\d/.test(value)) return undefined
      if (/Z$|[+-]\d\d:\d\d$/.test(value.slice(10))) return Date.parse(value)
      return instantIn(value.length === 10 ? `${value}T00:00:00` : value, organization.timeZone)
    }
    case "one":
    case "many":
      return typeof value === "bigint" ? value : typeof value === "string" ? decodeId(value) : undefined
  }
}

/** The value of a policy's operand; undefined if it is missing. */
const operand = (json: Json, kind: Kind, asker: Asker, organization: Organization): Comparable | undefined => {
  if (json === "$me") return asker.me
  if (typeof json === "string" && json.startsWith("$attr.")) {
    const name = json.slice("$attr.".length)
    const value = Object.hasOwn(asker.attributes, name) ? asker.attributes[name] : undefined
    return value === "" ? undefined : comparable(kind, value, organization)
  }
  return comparable(kind, typeof json === "string" && json.startsWith("$$") ? json.slice(1) : json, organization)
}

const compare = (op: string, left: Comparable, right: Comparable): boolean => {
  switch (op) {
    case "eq":
      return left === right
    case "ne":
      return left !== right
    case "lt":
      return left < right
    case "lte":
      return left <= right
    case "gt":
      return left > right
    default:
      return left >= right
  }
}

// ---- conditions

export interface Scope {
  readonly organization: Organization
  readonly asker: Asker
}

export const where = (json: JsonObject, type: TypeName, entity: Entity, scope: Scope): Truth =>
  both(
    Object.entries(json).map(([name, condition]) => {
      switch (name) {
        case "all":
          return both((condition as ReadonlyArray<JsonObject>).map((part) => where(part, type, entity, scope)))
        case "any":
          return either((condition as ReadonlyArray<JsonObject>).map((part) => where(part, type, entity, scope)))
        case "not":
          return opposite(where(condition as JsonObject, type, entity, scope))
        case "id":
          return onValue(condition, { kind: "one", physical: "id" }, entity.id, scope)
      }
      const shape = SHAPES[type][name]!
      return shape.kind === "many"
        ? onMany(condition, name as "attendees", shape.target!, entity, scope)
        : onValue(condition, shape, entity.cells[name] ?? null, scope)
    })
  )

const onValue = (condition: Json, shape: ColumnShape, cell: Cell, scope: Scope): Truth => {
  if (condition === null) return cell === null
  if (Array.isArray(condition)) return either(condition.map((item) => onCell("eq", shape.kind, cell, item, scope)))
  if (!isObject(condition)) return onCell("eq", shape.kind, cell, condition, scope)
  const names = Object.keys(condition)
  if (names.length === 1 && names[0] === "not") return opposite(onValue(condition["not"]!, shape, cell, scope))
  if (names.length > 0 && names.every((name) => OPS.includes(name))) {
    return both(names.map((op) => onCell(op, shape.kind, cell, condition[op]!, scope)))
  }
  // A relation to one: the condition on the other row; unknown without one.
  const other = cell === null ? undefined : scope.organization.entities[shape.target!].get(cell as bigint)
  return other === undefined ? null : where(condition, shape.target!, other, scope)
}

const onCell = (op: string, kind: Kind, cell: Cell, json: Json, { asker, organization }: Scope): Truth => {
  const right = operand(json, kind, asker, organization)
  if (cell === null || right === undefined) return null
  if (kind === "list") return (cell as ReadonlyArray<string>).includes(right as string) === (op === "eq")
  const left = comparable(kind, cell, organization)
  return left === undefined ? null : compare(op, left, right)
}

/** The existing related rows, ordered by id. */
export const related = (
  relation: "attendees" | "watchers",
  target: TypeName,
  from: bigint,
  organization: Organization
): ReadonlyArray<Entity> =>
  organization.links[relation]
    .filter(([id]) => id === from)
    .flatMap(([, to]) => organization.entities[target].get(to) ?? [])
    .sort((a, b) => (a.id < b.id ? -1 : 1))

/** A relation to many: some related row satisfies the condition, or is the named one. */
const onMany = (
  condition: Json,
  relation: "attendees" | "watchers",
  target: TypeName,
  entity: Entity,
  scope: Scope
): Truth =>
  either(
    related(relation, target, entity.id, scope.organization).map((other) =>
      isObject(condition)
        ? where(condition, target, other, scope)
        : onValue(condition, { kind: "one", physical: "id" }, other.id, scope)
    )
  )

// ---- rules

const heldRoles = (policy: PolicyJson, roles: ReadonlyArray<string>): ReadonlySet<string> => {
  const held = new Set<string>()
  const add = (role: string) => {
    if (held.has(role) || !Object.hasOwn(policy.roles, role)) return
    held.add(role)
    policy.roles[role]!.inherits.forEach(add)
  }
  roles.forEach(add)
  return held
}

export const applicable = (
  policy: PolicyJson,
  party: Party,
  type: TypeName,
  now: number,
  action = "read"
): ReadonlyArray<RuleJson> => {
  const held = heldRoles(policy, party.roles)
  return policy.rules.filter(
    (rule) =>
      rule.type === type &&
      rule.action === action &&
      held.has(rule.role) &&
      (rule.notBefore === undefined || Date.parse(rule.notBefore) <= now) &&
      (rule.notAfter === undefined || now < Date.parse(rule.notAfter))
  )
}

/** The visible columns of a row; undefined when the row is hidden. */
const rowFor = (
  rules: ReadonlyArray<RuleJson>,
  type: TypeName,
  entity: Entity,
  scope: Scope
): ReadonlySet<string> | undefined => {
  const verdict = (wanted: ReadonlyArray<RuleJson>): Truth =>
    either(wanted.map((rule) => (rule.where === undefined ? true : where(rule.where, type, entity, scope))))
  const allows = rules.filter((rule) => rule.effect === "allow")
  const denies = rules.filter((rule) => rule.effect === "deny")
  if (verdict(allows) !== true || verdict(denies.filter((rule) => rule.columns === "*")) !== false) return undefined
  const about = (column: string) => (rule: RuleJson) => rule.columns === "*" || rule.columns.includes(column)
  const listed = denies.filter((rule) => rule.columns !== "*")
  const stored = Object.keys(SHAPES[type]).filter(
    (column) => verdict(allows.filter(about(column))) === true && verdict(listed.filter(about(column))) === false
  )
  const derived = Object.entries(DERIVED[type]).flatMap(([column, { of }]) =>
    of.every((source) => stored.includes(source)) && verdict(listed.filter(about(column))) === false ? [column] : []
  )
  return new Set([...stored, ...derived])
}

/** The visible rows of a type, each with its visible columns. */
export type View = ReadonlyMap<bigint, ReadonlySet<string>>

export const viewOf = (
  policy: PolicyJson,
  caller: Caller,
  organization: Organization,
  type: TypeName,
  now: number
): View => {
  const askers: ReadonlyArray<Asker> = [
    caller,
    ...(caller.actor === undefined ? [] : [{ ...caller.actor, me: undefined }])
  ]
  const views = askers.map((asker) => {
    const rules = applicable(policy, asker, type, now)
    return (entity: Entity) => rowFor(rules, type, entity, { organization, asker })
  })
  const seen = new Map<bigint, ReadonlySet<string>>()
  for (const entity of organization.entities[type].values()) {
    const rows = views.map((view) => view(entity))
    const [first, ...others] = rows
    if (first === undefined || rows.includes(undefined)) continue
    seen.set(entity.id, new Set([...first].filter((column) => others.every((other) => other!.has(column)))))
  }
  return seen
}

/** The visible rows of every type. */
export type Views = Readonly<Record<TypeName, View>>

export const viewsOf = (policy: PolicyJson, caller: Caller, organization: Organization, now: number): Views => ({
  people: viewOf(policy, caller, organization, "people", now),
  companies: viewOf(policy, caller, organization, "companies", now),
  meetings: viewOf(policy, caller, organization, "meetings", now),
  deals: viewOf(policy, caller, organization, "deals", now)
})

// ---- display

export interface Reference {
  readonly id: string
  readonly name?: string
}

const shownReference = (
  target: TypeName,
  id: bigint,
  views: Views,
  organization: Organization
): Reference | undefined => {
  const columns = views[target].get(id)
  if (columns === undefined) return undefined
  const name = organization.entities[target].get(id)!.cells["name"] as string
  return { id: encodeId(id), ...(columns.has("name") ? { name } : {}) }
}

/** All visible related rows of a cell. */
export const visibleRelated = (
  type: TypeName,
  column: string,
  entity: Entity,
  views: Views,
  organization: Organization
): ReadonlyArray<Reference> => {
  const shape = READABLE[type][column]!
  const ids =
    shape.kind === "many"
      ? related(column as "attendees", shape.target!, entity.id, organization).map((other) => other.id)
      : [entity.cells[column] as bigint]
  return ids.flatMap((id) => shownReference(shape.target!, id, views, organization) ?? [])
}

/** A cell as a page shows it; undefined if it is hidden, empty, or leads to hidden rows only. */
export const shownCell = (
  type: TypeName,
  column: string,
  entity: Entity,
  views: Views,
  organization: Organization
): unknown => {
  if (views[type].get(entity.id)?.has(column) !== true) return undefined
  const { kind } = READABLE[type][column]!
  if (kind === "many") {
    const all = visibleRelated(type, column, entity, views, organization)
    return all.length === 0 ? undefined : all.length > 10 ? [...all.slice(0, 10), { more: true }] : all
  }
  const cell = entity.cells[column] ?? null
  if (cell === null) return undefined
  switch (kind) {
    case "one":
      return visibleRelated(type, column, entity, views, organization)[0]
    case "integer":
      return Number.isSafeInteger(Number(cell)) ? Number(cell) : cell
    case "timestamp":
      return localIn(Date.parse(cell as string), organization.timeZone).replace(/:00$/, "")
    default:
      return cell
  }
}
