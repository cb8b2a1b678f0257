/**
 * Reads the file that an operator writes against an organization's catalog and reports everything that is wrong with it,
 * each with where it stands and, when it is known, the line as it should be.
 */
import { Schema } from "effect"
import { type Catalog, columnBySlug, type EntityType, typeBySlug } from "../domain/EntityType.ts"
import type { Predicate } from "../domain/Predicate.ts"
import { closest, printable, quoted } from "../domain/text.ts"
import { isoDate, isoTimestamp, microseconds } from "../domain/values.ts"
import { Action, type Policy, type PolicyTest, type Problem, type Rule } from "./Policy.ts"
import { readPolicyTest } from "./policyTest.ts"
import { repeatedKey } from "./repeatedKey.ts"
import { makeWhereReader } from "./readWhere.ts"

export type PolicyReading =
  | { readonly policy: Policy; readonly tests: ReadonlyArray<PolicyTest> }
  | { readonly problems: ReadonlyArray<Problem> }

/** The largest policy file that is read, in characters. */
export const MAX_POLICY_LENGTH = 1_000_000
const MAX_RULES = 10_000
const MAX_TESTS = 200
const ZONED = /(Z|[+-]\d{2}:?\d{2})$/
const RULE_KEYS = ["id", "effect", "role", "action", "type", "columns", "where", "notBefore", "notAfter"]

type Json = Record<string, unknown>
const isObject = (value: unknown): value is Json => typeof value === "object" && value !== null && !Array.isArray(value)

/** Reads the text of a policy file against an organization's catalog. */
export const readPolicy = (text: string, catalog: Catalog): PolicyReading => {
  if (text.length > MAX_POLICY_LENGTH) {
    return { problems: [{ path: "policy", message: `The file is larger than ${MAX_POLICY_LENGTH / 1000} kB.` }] }
  }
  let document: unknown
  try {
    document = JSON.parse(text)
  } catch (error) {
    return { problems: [{ path: "policy", message: `This isn't JSON: ${(error as Error).message.slice(0, 120)}.` }] }
  }
  const repeated = repeatedKey(text)
  if (repeated !== undefined) {
    return {
      problems: [
        { path: "policy", message: `${quoted(repeated)} stands twice in one object, and only the last would count.` }
      ]
    }
  }
  return new Reader(catalog).read(document)
}

class Reader {
  readonly problems: Array<Problem> = []
  /** The roles that say so themselves. */
  private readonly administers = new Set<string>()
  private readonly catalog: Catalog

  constructor(catalog: Catalog) {
    this.catalog = catalog
  }

  private report(path: string, message: string, fix?: string) {
    if (this.problems.length < 50) this.problems.push(fix === undefined ? { path, message } : { path, message, fix })
  }

  read(document: unknown): PolicyReading {
    if (!isObject(document)) {
      return {
        problems: [
          { path: "policy", message: "A policy is an object.", fix: `{ "version": 1, "roles": {}, "rules": [] }` }
        ]
      }
    }
    this.knownKeys(document, ["$schema", "version", "roles", "rules", "tests"], "policy")
    if (document["version"] !== 1) this.report("version", "The version of the format is 1.", `"version": 1`)
    const roles = this.roles(Object.hasOwn(document, "roles") ? document["roles"] : undefined)
    const rules = this.rules(Object.hasOwn(document, "rules") ? document["rules"] : undefined, roles)
    const tests = Object.hasOwn(document, "tests") ? this.tests(document["tests"], roles) : []
    if (this.problems.length > 0) return { problems: this.problems }
    const administering = [...roles].flatMap(([role, all]) =>
      [...all].some((one) => this.administers.has(one)) ? [role] : []
    )
    return {
      tests,
      policy: {
        roles: Object.fromEntries([...roles].map(([role, all]) => [role, [...all]])),
        ...(administering.length === 0 ? {} : { administering }),
        rules
      }
    }
  }

  private tests(value: unknown, roles: ReadonlyMap<string, unknown>): ReadonlyArray<PolicyTest> {
    if (!Array.isArray(value)) {
      this.report("tests", "Tests are a list.", `"tests": []`)
      return []
    }
    if (value.length > MAX_TESTS) {
      this.report("tests", `There are more than ${MAX_TESTS} tests.`)
      return []
    }
    const report = (path: string, message: string, fix?: string) => this.report(path, message, fix)
    return value.flatMap(
      (test: unknown, index) => readPolicyTest(test, `tests[${index}]`, this.catalog, [...roles.keys()], report) ?? []
    )
  }

  private knownKeys(value: Json, known: ReadonlyArray<string>, path: string) {
    for (const key of Object.keys(value)) {
      if (known.includes(key)) continue
      const near = closest(key, known)
      this.report(
        `${path}.${quoted(key).slice(1, -1)}`,
        `There is no ${quoted(key)} here.`,
        near === undefined ? undefined : `"${near}"`
      )
    }
  }

  private roles(value: unknown): ReadonlyMap<string, ReadonlySet<string>> {
    const inherits = new Map<string, ReadonlyArray<string>>()
    if (!isObject(value)) {
      this.report("roles", "Roles are an object.", `"roles": { "member": { "inherits": [] } }`)
      return new Map()
    }
    for (const [role, definition] of Object.entries(value)) {
      if (!/^[a-z][a-z0-9_-]{0,62}$/.test(role)) {
        this.report(
          `roles.${quoted(role)}`,
          "A role's name is lower-case letters, digits, - and _, beginning with a letter."
        )
        continue
      }
      const parents = isObject(definition) ? (definition["inherits"] ?? []) : undefined
      if (!Array.isArray(parents) || !parents.every((parent) => typeof parent === "string")) {
        this.report(`roles.${role}`, "A role says what it inherits.", `"${role}": { "inherits": [] }`)
        continue
      }
      this.knownKeys(definition as Json, ["inherits", "administers"], `roles.${role}`)
      const administers = Object.hasOwn(definition as Json, "administers") ? (definition as Json)["administers"] : false
      if (typeof administers !== "boolean")
        this.report(`roles.${role}.administers`, "A role administers or doesn't.", `"administers": true`)
      else if (administers) this.administers.add(role)
      inherits.set(role, parents)
    }
    for (const [role, parents] of inherits) {
      for (const parent of parents) {
        if (!inherits.has(parent)) this.unknown(`roles.${role}.inherits`, "role", parent, [...inherits.keys()])
      }
    }
    return new Map([...inherits.keys()].map((role) => [role, this.ancestors(role, inherits)]))
  }

  private ancestors(role: string, inherits: ReadonlyMap<string, ReadonlyArray<string>>): ReadonlySet<string> {
    const found = new Set([role])
    const open = [role]
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      for (const parent of inherits.get(next) ?? []) {
        if (parent === role) {
          this.report(`roles.${role}`, `The role ${quoted(role)} inherits itself by way of ${quoted(next)}.`)
          return found
        }
        if (!found.has(parent)) {
          found.add(parent)
          open.push(parent)
        }
      }
    }
    return found
  }

  private rules(value: unknown, roles: ReadonlyMap<string, unknown>): Array<Rule> {
    if (!Array.isArray(value)) {
      this.report("rules", "Rules are a list.", `"rules": []`)
      return []
    }
    if (value.length > MAX_RULES) {
      this.report("rules", `There are more than ${MAX_RULES} rules.`)
      return []
    }
    const ids = new Set<string>()
    const rules: Array<Rule> = []
    for (const [index, entry] of value.entries()) {
      const rule = this.rule(entry, `rules[${index}]`, roles)
      if (rule === undefined) continue
      if (ids.has(rule.id)) this.report(`rules[${index}].id`, `Two rules have the id ${quoted(rule.id)}.`)
      ids.add(rule.id)
      rules.push(rule)
    }
    return rules
  }

  private rule(value: unknown, path: string, roles: ReadonlyMap<string, unknown>): Rule | undefined {
    if (!isObject(value)) {
      this.report(path, "A rule is an object.")
      return undefined
    }
    this.knownKeys(value, RULE_KEYS, path)
    const before = this.problems.length
    const text = (key: string): string => {
      const found = Object.hasOwn(value, key) ? value[key] : undefined
      if (typeof found === "string" && found.length > 0 && found.length <= 200 && printable(found) === found)
        return found
      this.report(
        `${path}.${key}`,
        `A rule has ${key === "id" || key === "effect" || key === "action" ? "an" : "a"} ${key}.`,
        `"${key}": "…"`
      )
      return ""
    }
    const [id, effect, role, action, slug] = [text("id"), text("effect"), text("role"), text("action"), text("type")]
    if (effect !== "" && effect !== "allow" && effect !== "deny")
      this.unknown(`${path}.effect`, "effect", effect, ["allow", "deny"])
    if (action !== "" && !Schema.is(Action)(action)) this.unknown(`${path}.action`, "action", action, Action.literals)
    if (role !== "" && !roles.has(role)) this.unknown(`${path}.role`, "role", role, [...roles.keys()])
    const type = typeBySlug(this.catalog, slug)
    if (slug !== "" && type === undefined)
      this.unknown(
        `${path}.type`,
        "type",
        slug,
        this.catalog.types.map((known) => known.slug)
      )
    const notBefore = this.instant(value, "notBefore", path)
    const notAfter = this.instant(value, "notAfter", path)
    if (type === undefined) return undefined
    const columns = this.columns(value["columns"], effect, type, path)
    const where: Predicate = Object.hasOwn(value, "where")
      ? makeWhereReader(this.catalog, (at, message, fix) => this.report(at, message, fix))(
          value["where"],
          type,
          `${path}.where`
        )
      : { _tag: "Always" }
    if (this.problems.length > before) return undefined
    return {
      id,
      effect: effect as "allow" | "deny",
      role,
      action: action as Action,
      type: type.key,
      columns,
      where,
      ...(notBefore === undefined ? {} : { notBefore }),
      ...(notAfter === undefined ? {} : { notAfter })
    }
  }

  private columns(value: unknown, effect: string, type: EntityType, path: string): "*" | Array<string> {
    if (value === "*") return effect === "deny" ? "*" : type.columns.map((column) => column.key)
    if (!Array.isArray(value) || value.length === 0) {
      this.report(
        `${path}.columns`,
        `A rule says which columns it is about; leaving them out would mean none or all.`,
        `"columns": "*"`
      )
      return []
    }
    return value.flatMap((slug: unknown) => {
      const column = typeof slug === "string" ? columnBySlug(type, slug) : undefined
      if (column !== undefined) return [column.key]
      this.unknown(
        `${path}.columns`,
        `column of ${type.slug}`,
        String(slug),
        type.columns.map((known) => known.slug)
      )
      return []
    })
  }

  private instant(value: Json, key: "notBefore" | "notAfter", path: string): number | undefined {
    if (!Object.hasOwn(value, key)) return undefined
    const text = value[key]
    const point = typeof text === "string" ? isoTimestamp(text) : undefined
    const millis =
      point === undefined || (!ZONED.test(point.slice(11)) && isoDate(String(text)) === undefined)
        ? Number.NaN
        : Math.floor(microseconds(point, "UTC") / 1000)
    if (!Number.isNaN(millis)) return millis
    this.report(
      `${path}.${key}`,
      "A point in time is a date (UTC) or has an offset.",
      `"${key}": "2027-01-01T00:00:00Z"`
    )
    return undefined
  }

  private unknown(path: string, what: string, name: string, known: ReadonlyArray<string>) {
    const near = closest(name, known)
    this.report(
      path,
      `There is no ${what} ${quoted(name)}.${known.length === 0 ? "" : ` Known: ${known.slice(0, 20).join(", ")}.`}`,
      near === undefined ? undefined : `"${near}"`
    )
  }
}
