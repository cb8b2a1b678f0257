/** Describes stored rules and conditions as English sentences for operators. */
import { type Catalog, type Column, type EntityType, resolveColumn, targetOf, typeByKey } from "../domain/EntityType.ts"
import { type CompareOp, NEGATED, type Operand, type Predicate } from "../domain/Predicate.ts"
import type { AttributeValue } from "../domain/Principal.ts"
import { quoted } from "../domain/text.ts"
import type { Denied } from "./permissionPlan.ts"
import { administers, NO_TYPE, type Policy, type Power, powersOf, type Rule } from "./Policy.ts"

/** The person whom `$me` and `$attr` stand for in a description. */
export interface DescribedPrincipal {
  readonly name: string
  readonly attributes?: Readonly<Record<string, AttributeValue>>
}

const ANY_PRINCIPAL: DescribedPrincipal = { name: "the person who asks" }

/** Joins words as an English list: a, b and c. */
export const listed = (words: ReadonlyArray<string>, last = "and"): string =>
  words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} ${last} ${words.at(-1)!}`

/** A role and its own rules as sentences. */
export interface RoleDescription {
  readonly role: string
  /** All roles that it inherits, directly or indirectly. */
  readonly inherits: ReadonlyArray<string>
  readonly administers: boolean
  /** What it may change besides suspending members and revoking tokens. */
  readonly powers: ReadonlyArray<Power>
  readonly rules: ReadonlyArray<{ readonly id: string; readonly effect: Rule["effect"]; readonly words: string }>
}

/** Describes every rule of a policy, grouped by role. */
export const describePolicy = (policy: Policy, catalog: Catalog): ReadonlyArray<RoleDescription> =>
  Object.entries(policy.roles).map(([role, all]) => ({
    role,
    inherits: all.filter((inherited) => inherited !== role),
    administers: administers(policy, [role]),
    powers: powersOf(policy, [role]),
    rules: policy.rules
      .filter((rule) => rule.role === role)
      .map((rule) => ({ id: rule.id, effect: rule.effect, words: describeRule(rule, catalog) }))
  }))

/**
 * Describes a rule as a sentence whose subject, the role, is omitted. `isWhole`: whether the catalog has every column, or
 * only those that the reader sees.
 */
export const describeRule = (
  rule: Rule,
  catalog: Catalog,
  person: DescribedPrincipal = ANY_PRINCIPAL,
  isWhole = true
): string => {
  if (rule.type === NO_TYPE)
    return `${rule.effect === "allow" ? "may" : "may not"} run ${rule.name ?? "(an action without a name)"}${timeWords(rule)}`
  const type = typeByKey(catalog, rule.type)
  if (type === undefined) return "is about a type that no longer exists"
  const columns = describeColumns(rule, type, isWhole)
  const where = describeCondition(rule.where, type, catalog, person)
  const when = timeWords(rule)
  if (rule.effect === "allow") {
    const rows = where === "" ? `all ${type.slug}` : `${type.slug} where ${where}`
    switch (rule.action) {
      case "read":
        return `may see ${columns} of ${rows}${when}`
      case "update":
        return `may update ${columns} of ${rows}${afterwardsWords(rule, type, catalog, person, where)}${when}`
      case "create":
        return `may create ${type.slug} with ${columns}${where === "" ? "" : ` where ${where}`}${when}`
      case "delete":
        return `may delete ${rows}${when}`
      case "invoke":
        return `may run ${rule.name ?? "(an action without a name)"} for ${rows}${when}`
    }
  }
  const besides = rule.action === "update" ? ", before or afterwards" : ""
  const condition = where === "" ? "" : ` where ${where}${besides}, or where that is unknown`
  const rows = where === "" ? `any ${type.slug}` : type.slug
  switch (rule.action) {
    case "create":
      return `may not create ${rows}${rule.columns === "*" ? "" : ` with ${columns}`}${condition}${when}`
    case "delete":
      return `may not delete ${rows}${condition}${when}`
    case "invoke":
      return `may not run ${rule.name ?? "(an action without a name)"} for ${rows}${condition}${when}`
    default: {
      const verb = rule.action === "read" ? "see" : "update"
      return `may not ${verb} ${rule.columns === "*" ? rows : `${columns} of ${rows}`}${condition}${when}`
    }
  }
}

/** What must hold after an update that a rule allows. */
const afterwardsWords = (
  { becomes }: Rule,
  type: EntityType,
  catalog: Catalog,
  person: DescribedPrincipal,
  where: string
): string => {
  if (becomes === undefined) return where === "" ? "" : ", before and afterwards"
  const words = describeCondition(becomes, type, catalog, person)
  return words === "" ? (where === "" ? "" : ", whatever they become") : `, if afterwards ${words}`
}

/** Describes the `confirm` entries of a policy. */
export const describeConfirm = (policy: Policy, catalog: Catalog): ReadonlyArray<string> => [
  ...(policy.publishing === undefined
    ? []
    : [`Publishing a policy takes a second person's approval (${listed(policy.publishing.approvers, "or")}).`]),
  ...(policy.confirm ?? []).map(({ above, action, approvers, by, columns, name, type: key }) => {
    const how = {
      once: "one confirmation",
      twice: "two different confirmations",
      second: `a second person's approval${approvers === undefined ? "" : ` (${listed(approvers, "or")})`}`
    }[by]
    const called = name ?? "(an action without a name)"
    if (key === NO_TYPE)
      return `Running ${called}${above === undefined ? "" : ` more than ${above} times`} takes ${how}.`
    const type = typeByKey(catalog, key)
    if (type === undefined) return "An entry is about a type that no longer exists."
    const rows = above === undefined ? type.slug : `more than ${above} ${type.slug}`
    const deed = {
      create: `Creating ${rows}${columns === undefined ? "" : ` with ${describeColumns({ columns }, type)}`}`,
      update: `Updating ${columns === undefined ? "" : `${describeColumns({ columns }, type)} of `}${rows}`,
      delete: `Deleting ${rows}`,
      invoke: `Running ${called} for ${rows}`
    }[action]
    return `${deed} takes ${how}.`
  })
]

/** The slugs of a rule's columns; "everything" when it covers every column of a whole type. */
export const describeColumns = (rule: Pick<Rule, "columns">, type: EntityType, isWhole = true): string => {
  if (rule.columns === "*") return "everything"
  const { columns } = rule
  const slugs = [...type.columns, ...(type.derived ?? [])]
    .filter(({ key }) => columns.includes(key))
    .map(({ slug }) => slug)
  if (isWhole && slugs.length === type.columns.length) return "everything"
  return slugs.length === 0 ? "other columns" : listed(slugs)
}

const timeWords = ({ notAfter, notBefore }: Rule): string =>
  (notBefore === undefined ? "" : `, from ${formatInstant(notBefore)}`) +
  (notAfter === undefined ? "" : `, until ${formatInstant(notAfter)}`)

/** Formats a point in time; only the date when it is midnight UTC. */
export const formatInstant = (millis: number): string =>
  new Date(millis)
    .toISOString()
    .replace(/T00:00:00\.000Z$/, " (UTC)")
    .replace(/\.000Z$/, "Z")

/** Describes a condition; empty when it holds for every row. */
export const describeCondition = (
  predicate: Predicate,
  type: EntityType,
  catalog: Catalog,
  person: DescribedPrincipal = ANY_PRINCIPAL
): string => {
  const phrase = toPhrase(predicate, true, "", type, catalog, person)
  return phrase.words === "always" ? "" : phrase.words
}

/** A phrase with its top-level connective, which decides whether an enclosing phrase adds parentheses. */
interface Phrase {
  readonly words: string
  readonly connective?: "and" | "or"
}

const toPhrase = (
  predicate: Predicate,
  positive: boolean,
  owner: string,
  type: EntityType,
  catalog: Catalog,
  person: DescribedPrincipal
): Phrase => {
  const named = (key: string): readonly [string, Column | undefined] => {
    const column = resolveColumn(type, key)
    return [`${owner}${column?.slug ?? "(a removed column)"}`, column]
  }
  switch (predicate._tag) {
    case "Always":
    case "Never":
      return { words: (predicate._tag === "Always") === positive ? "always" : "never" }
    case "Not":
      return toPhrase(predicate.of, !positive, owner, type, catalog, person)
    case "All":
    case "Any": {
      const connective = (predicate._tag === "All") === positive ? "and" : "or"
      const parts = predicate.of.map((part) => toPhrase(part, positive, owner, type, catalog, person))
      if (parts.length === 0) return { words: connective === "and" ? "always" : "never" }
      const words = parts.map((part) =>
        part.connective !== undefined && part.connective !== connective && parts.length > 1
          ? `(${part.words})`
          : part.words
      )
      return { words: words.join(` ${connective} `), ...(parts.length > 1 ? { connective } : {}) }
    }
    case "IsNull":
      return { words: `${named(predicate.column)[0]} is ${positive ? "" : "not "}empty` }
    case "Compare": {
      const [name, column] = named(predicate.column)
      const value = operandWords(predicate.operand, person)
      const isMe = column?.key === "id" && predicate.operand._tag === "Me" && owner === ""
      const op = positive ? predicate.op : NEGATED[predicate.op]
      if (isMe) return { words: `it ${op === "eq" ? "is" : "isn't"} ${value}` }
      return { words: `${name} ${opWords(op, column)} ${value}` }
    }
    case "In": {
      const [name, column] = named(predicate.column)
      if (predicate.operands.length === 0) return { words: positive ? "never (the list is empty)" : "always" }
      const values = listed(
        predicate.operands.map((operand) => operandWords(operand, person)),
        "or"
      )
      const holds = column?.kind === "list" ? ["has", "has none of"] : ["is", "is none of"]
      return { words: `${name} ${positive ? holds[0]! : holds[1]!} ${values}` }
    }
    case "Related": {
      const [name, column] = named(predicate.relation)
      const target = column && targetOf(catalog, column)
      if (column === undefined || target === undefined) return { words: "never (its target type no longer exists)" }
      if (column.storage._tag === "One")
        return toPhrase(predicate.where, positive, `${name}'s `, target, catalog, person)
      const { where } = predicate
      if (where._tag === "Compare" && where.column === "id" && where.op === "eq")
        return { words: `${operandWords(where.operand, person)} is ${positive ? "" : "not "}among ${name}` }
      const inner = toPhrase(where, true, "", target, catalog, person).words
      return {
        words: `for ${positive ? "at least one" : "none"} of ${name}, ${inner === "always" ? "there is a record" : inner}`
      }
    }
  }
}

const opWords = (op: CompareOp, column: Column | undefined): string => {
  const time = column?.kind === "date" || column?.kind === "timestamp"
  const list = column?.kind === "list"
  switch (op) {
    case "eq":
      return list ? "has" : "is"
    case "ne":
      return list ? "doesn't have" : "isn't"
    case "lt":
      return time ? "is before" : "is under"
    case "lte":
      return time ? "is not after" : "is at most"
    case "gt":
      return time ? "is after" : "is over"
    case "gte":
      return time ? "is not before" : "is at least"
  }
}

const operandWords = (operand: Operand, person: DescribedPrincipal): string => {
  switch (operand._tag) {
    case "Literal":
      return typeof operand.value === "string" ? quoted(operand.value) : String(operand.value)
    case "Me":
      return person.name
    case "Attribute": {
      const { attributes, name } = { attributes: person.attributes, name: operand.name }
      const value = attributes !== undefined && Object.hasOwn(attributes, name) ? attributes[name] : undefined
      const suffix =
        attributes === undefined
          ? ""
          : value === undefined || value === ""
            ? " (which is missing)"
            : ` (${JSON.stringify(value)})`
      return `the attribute ${name} of ${person.name}${suffix}`
    }
  }
}

/** Explains to operators why a plan denies a whole type. */
export const DENIAL_REASONS = {
  "no-rule": "no rule in force allows it",
  "nothing-visible": "its denials cover everything that its allows cover",
  "out-of-scope": "it is outside the tool scope",
  "too-large": "its plan exceeds the size limit, so it denies everything",
  "not-bindable": "its rules no longer match the catalog: publish the policy again"
} as const satisfies Record<Denied["reason"], string>
