/** The `rules` of a policy file: resolves names to keys and expands "*". */
import { Schema } from "effect"
import { type Catalog, columnBySlug, type EntityType, typeBySlug } from "../domain/EntityType.ts"
import { isJsonObject, type JsonObject } from "../domain/json.ts"
import { printable, quoted } from "../domain/text.ts"
import { isoDate, isoTimestamp, microseconds } from "../domain/values.ts"
import { POLICY } from "./limits.ts"
import { Action, NO_TYPE, type Rule } from "./Policy.ts"
import type { PolicyProblems } from "./PolicyProblems.ts"
import { makeWhereReader } from "./readWhere.ts"

const ZONED = /(Z|[+-]\d{2}:?\d{2})$/
const RULE_KEYS = [
  "id",
  "effect",
  "role",
  "action",
  "name",
  "type",
  "columns",
  "where",
  "becomes",
  "notBefore",
  "notAfter"
]

export const readRules = (
  value: unknown,
  roles: ReadonlyArray<string>,
  catalog: Catalog,
  problems: PolicyProblems
): ReadonlyArray<Rule> => {
  if (!Array.isArray(value)) {
    problems.report("rules", "`rules` must be a list.", `"rules": []`)
    return []
  }
  if (value.length > POLICY.rules) {
    problems.report("rules", `\`rules\` must have at most ${POLICY.rules} entries.`)
    return []
  }
  const ids = new Set<string>()
  const rules: Array<Rule> = []
  for (const [index, entry] of value.entries()) {
    const rule = readRule(entry, `rules[${index}]`, roles, catalog, problems)
    if (rule === undefined) continue
    if (ids.has(rule.id)) problems.report(`rules[${index}].id`, `Duplicate rule id ${quoted(rule.id)}.`)
    ids.add(rule.id)
    rules.push(rule)
  }
  return rules
}

const readRule = (
  value: unknown,
  path: string,
  roles: ReadonlyArray<string>,
  catalog: Catalog,
  problems: PolicyProblems
): Rule | undefined => {
  if (!isJsonObject(value)) {
    problems.report(path, "A rule must be an object.")
    return undefined
  }
  problems.unknownProperties(value, RULE_KEYS, path)
  const before = problems.count
  const text = (key: string): string => {
    const raw = Object.hasOwn(value, key) ? value[key] : undefined
    if (typeof raw === "string" && raw.length > 0 && raw.length <= 200 && printable(raw) === raw) return raw
    problems.report(`${path}.${key}`, `\`${key}\` must be a printable string of 1 to 200 characters.`, `"${key}": "…"`)
    return ""
  }
  const [id, effect, role, action] = [text("id"), text("effect"), text("role"), text("action")]
  // A declared action is about no row.
  const isFree = action === "invoke" && !Object.hasOwn(value, "type")
  const slug = isFree ? NO_TYPE : text("type")
  if (effect !== "" && effect !== "allow" && effect !== "deny")
    problems.unknownName(`${path}.effect`, "effect", effect, ["allow", "deny"])
  if (action !== "" && !Schema.is(Action)(action))
    problems.unknownName(`${path}.action`, "action", action, Action.literals)
  if (role !== "" && !roles.includes(role)) problems.unknownName(`${path}.role`, "role", role, roles)
  const type = typeBySlug(catalog, slug)
  const types = catalog.types.map((known) => known.slug)
  if (slug !== "" && type === undefined) problems.unknownName(`${path}.type`, "type", slug, types)
  const notBefore = readInstant(value, "notBefore", path, problems)
  const notAfter = readInstant(value, "notAfter", path, problems)
  if (isFree) {
    const name = readActionName(value, action, path, problems)
    for (const key of ["where", "becomes"])
      if (Object.hasOwn(value, key))
        problems.report(`${path}.${key}`, `\`${key}\` is about rows, and this rule has no \`type\`.`)
    if (Object.hasOwn(value, "columns") && value["columns"] !== "*")
      problems.report(`${path}.columns`, "`columns` belongs to a rule with a `type`.", `"columns": "*"`)
    if (problems.count > before) return undefined
    const rule = {
      id,
      effect: effect as "allow" | "deny",
      role,
      action: "invoke",
      type: NO_TYPE,
      columns: "*"
    } as const
    return {
      ...rule,
      ...(name === undefined ? {} : { name }),
      where: { _tag: "Always" },
      ...(notBefore === undefined ? {} : { notBefore }),
      ...(notAfter === undefined ? {} : { notAfter })
    }
  }
  if (type === undefined) return undefined
  const columns = readColumns(value["columns"], effect, action, type, path, problems)
  const condition = (key: "where" | "becomes") =>
    Object.hasOwn(value, key) ? makeWhereReader(catalog, problems)(value[key], type, `${path}.${key}`) : undefined
  const where = condition("where") ?? { _tag: "Always" as const }
  const becomes = condition("becomes")
  if (becomes !== undefined && (action !== "update" || effect !== "allow"))
    problems.report(
      `${path}.becomes`,
      "`becomes` belongs to rules that allow an update. A deny looks at the row before and after with `where`."
    )
  const name = readActionName(value, action, path, problems)
  if (problems.count > before) return undefined
  return {
    id,
    effect: effect as "allow" | "deny",
    role,
    action: action as Action,
    ...(name === undefined ? {} : { name }),
    type: type.key,
    columns,
    where,
    ...(becomes === undefined ? {} : { becomes }),
    ...(notBefore === undefined ? {} : { notBefore }),
    ...(notAfter === undefined ? {} : { notAfter })
  }
}

const readColumns = (
  value: unknown,
  effect: string,
  action: string,
  type: EntityType,
  path: string,
  problems: PolicyProblems
): "*" | ReadonlyArray<string> => {
  if (action === "delete") {
    if (value !== "*")
      problems.report(`${path}.columns`, '`columns` of a rule about delete must be "*".', `"columns": "*"`)
    return "*"
  }
  if (value === "*") return effect === "deny" ? "*" : type.columns.map((column) => column.key)
  if (!Array.isArray(value) || value.length === 0) {
    problems.report(`${path}.columns`, `\`columns\` must be "*" or a list of at least one column.`, `"columns": "*"`)
    return []
  }
  const slugs = type.columns.map((column) => column.slug)
  return value.flatMap((slug: unknown) => {
    const column = typeof slug === "string" ? columnBySlug(type, slug) : undefined
    if (column !== undefined) return [column.key]
    const derived = type.derived?.find((each) => each.slug === slug)
    if (derived !== undefined) {
      if (effect === "deny" && action === "read") return [derived.key]
      problems.report(
        `${path}.columns`,
        `${derived.slug} is computed from other columns: it is visible where all of those are, and only a rule that denies reading can name it.`
      )
      return []
    }
    problems.unknownName(`${path}.columns`, `column of ${type.slug}`, String(slug), slugs)
    return []
  })
}

/** The name of a declared action: only `invoke` has one. */
export const readActionName = (
  value: JsonObject,
  action: string,
  path: string,
  problems: PolicyProblems
): string | undefined => {
  const name = Object.hasOwn(value, "name") ? value["name"] : undefined
  if (action !== "invoke") {
    if (name !== undefined) problems.report(`${path}.name`, "`name` belongs to rules about invoke.")
    return undefined
  }
  if (typeof name === "string" && /^[a-z][a-z0-9_]{0,62}$/.test(name)) return name
  problems.report(`${path}.name`, "`name` must be the name of an action.", `"name": "send_reminder"`)
  return undefined
}

const readInstant = (
  rule: JsonObject,
  key: "notBefore" | "notAfter",
  path: string,
  problems: PolicyProblems
): number | undefined => {
  if (!Object.hasOwn(rule, key)) return undefined
  const text = rule[key]
  const point = typeof text === "string" ? isoTimestamp(text) : undefined
  const millis =
    point === undefined || (!ZONED.test(point.slice(11)) && isoDate(String(text)) === undefined)
      ? Number.NaN
      : Math.floor(microseconds(point, "UTC") / 1000)
  if (!Number.isNaN(millis)) return millis
  problems.report(
    `${path}.${key}`,
    `\`${key}\` must be a date (UTC) or a time with an offset.`,
    `"${key}": "2027-01-01T00:00:00Z"`
  )
  return undefined
}
