/** Rules and conditions in words, as a colleague would say them: for operators, from what is stored and not from the file. */
import { type Catalog, type Column, type EntityType, resolveColumn, targetOf, typeByKey } from "../domain/EntityType.ts"
import { type CompareOp, NEGATED, type Operand, type Predicate } from "../domain/Predicate.ts"
import type { AttributeValue } from "../domain/Principal.ts"
import { quoted } from "../domain/text.ts"
import { administers, type Policy, type Rule } from "./Policy.ts"

/** For whom words are: a rule's condition says "the person who asks" until it is known who that is. */
export interface DescribedPrincipal {
  readonly name: string
  readonly attributes?: Readonly<Record<string, AttributeValue>>
}

const SOMEBODY: DescribedPrincipal = { name: "the person who asks" }

/** A list as people say it: a, b and c. */
export const listed = (words: ReadonlyArray<string>, last = "and"): string =>
  words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} ${last} ${words.at(-1)!}`

/** A role with its rules as sentences. */
export interface RoleDescription {
  readonly role: string
  /** Roles whose rules it has, too. */
  readonly inherits: ReadonlyArray<string>
  readonly administers: boolean
  readonly rules: ReadonlyArray<{ readonly id: string; readonly effect: Rule["effect"]; readonly words: string }>
}

/** Every rule of a policy as a sentence, role by role. */
export const describePolicy = (policy: Policy, catalog: Catalog): ReadonlyArray<RoleDescription> =>
  Object.entries(policy.roles).map(([role, all]) => ({
    role,
    inherits: all.filter((one) => one !== role),
    administers: administers(policy, [role]),
    rules: policy.rules
      .filter((rule) => rule.role === role)
      .map((rule) => ({ id: rule.id, effect: rule.effect, words: describeRule(rule, catalog) }))
  }))

/** What a rule does, as one sentence without its role's name in front. */
export const describeRule = (rule: Rule, catalog: Catalog, asking: DescribedPrincipal = SOMEBODY): string => {
  const type = typeByKey(catalog, rule.type)
  if (type === undefined) return "is about a type that is gone"
  const columns = describeColumns(rule, type)
  const where = describeCondition(rule.where, type, catalog, asking)
  const verb = rule.action === "read" ? "see" : rule.action
  const when = timeWords(rule)
  if (rule.effect === "allow")
    return `may ${verb} ${columns} of ${where === "" ? `all ${type.slug}` : `${type.slug} where ${where}`}${when}`
  const condition = where === "" ? "" : ` where ${where}, or where that can't be told`
  return rule.columns === "*"
    ? `may not ${verb} ${where === "" ? `any ${type.slug}` : type.slug}${condition}${when}`
    : `may not ${verb} ${columns} of ${where === "" ? `any ${type.slug}` : type.slug}${condition}${when}`
}

/** The columns of a rule by slug; "everything" when it has all that there are. */
export const describeColumns = (rule: Pick<Rule, "columns">, type: EntityType): string => {
  if (rule.columns === "*") return "everything"
  const { columns } = rule
  const slugs = type.columns.filter(({ key }) => columns.includes(key)).map(({ slug }) => slug)
  return slugs.length === type.columns.length ? "everything" : slugs.length === 0 ? "nothing" : listed(slugs)
}

const timeWords = ({ notAfter, notBefore }: Rule): string =>
  (notBefore === undefined ? "" : `, from ${formatInstant(notBefore)}`) +
  (notAfter === undefined ? "" : `, until ${formatInstant(notAfter)}`)

/** A point in time as a rule gives it: a day where it is midnight in UTC. */
export const formatInstant = (millis: number): string =>
  new Date(millis)
    .toISOString()
    .replace(/T00:00:00\.000Z$/, " (UTC)")
    .replace(/\.000Z$/, "Z")

/** A condition in words; empty when it holds for every row. */
export const describeCondition = (
  predicate: Predicate,
  type: EntityType,
  catalog: Catalog,
  asking: DescribedPrincipal = SOMEBODY
): string => {
  const said = say(predicate, true, "", type, catalog, asking)
  return said.words === "always" ? "" : said.words
}

/** Words with what joins them, so that a part of another kind is put in brackets. */
interface Said {
  readonly words: string
  readonly joined?: "and" | "or"
}

const say = (
  predicate: Predicate,
  positive: boolean,
  owner: string,
  type: EntityType,
  catalog: Catalog,
  asking: DescribedPrincipal
): Said => {
  const named = (key: string): readonly [string, Column | undefined] => {
    const column = resolveColumn(type, key)
    return [`${owner}${column?.slug ?? "(a column that is gone)"}`, column]
  }
  switch (predicate._tag) {
    case "Always":
    case "Never":
      return { words: (predicate._tag === "Always") === positive ? "always" : "never" }
    case "Not":
      return say(predicate.of, !positive, owner, type, catalog, asking)
    case "All":
    case "Any": {
      const joined = (predicate._tag === "All") === positive ? "and" : "or"
      const parts = predicate.of.map((part) => say(part, positive, owner, type, catalog, asking))
      if (parts.length === 0) return { words: joined === "and" ? "always" : "never" }
      const words = parts.map((part) =>
        part.joined !== undefined && part.joined !== joined && parts.length > 1 ? `(${part.words})` : part.words
      )
      return { words: words.join(` ${joined} `), ...(parts.length > 1 ? { joined } : {}) }
    }
    case "IsNull":
      return { words: `${named(predicate.column)[0]} is ${positive ? "" : "not "}empty` }
    case "Compare": {
      const [name, column] = named(predicate.column)
      const value = operandWords(predicate.operand, asking)
      const isMe = column?.key === "id" && predicate.operand._tag === "Me" && owner === ""
      const op = positive ? predicate.op : NEGATED[predicate.op]
      if (isMe) return { words: `it ${op === "eq" ? "is" : "isn't"} ${value}` }
      return { words: `${name} ${opWords(op, column)} ${value}` }
    }
    case "In": {
      const [name, column] = named(predicate.column)
      if (predicate.operands.length === 0) return { words: positive ? "never (the list is empty)" : "always" }
      const values = listed(
        predicate.operands.map((operand) => operandWords(operand, asking)),
        "or"
      )
      const holds = column?.kind === "list" ? ["has", "has none of"] : ["is", "is none of"]
      return { words: `${name} ${positive ? holds[0]! : holds[1]!} ${values}` }
    }
    case "Related": {
      const [name, column] = named(predicate.relation)
      const target = column && targetOf(catalog, column)
      if (column === undefined || target === undefined) return { words: "never (it leads to what is gone)" }
      if (column.storage._tag === "One") return say(predicate.where, positive, `${name}'s `, target, catalog, asking)
      const { where } = predicate
      if (where._tag === "Compare" && where.column === "id" && where.op === "eq")
        return { words: `${operandWords(where.operand, asking)} is ${positive ? "" : "not "}among ${name}` }
      const inner = say(where, true, "", target, catalog, asking).words
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

const operandWords = (operand: Operand, asking: DescribedPrincipal): string => {
  switch (operand._tag) {
    case "Literal":
      return typeof operand.value === "string" ? quoted(operand.value) : String(operand.value)
    case "Me":
      return asking.name
    case "Attribute": {
      const { attributes, name } = { attributes: asking.attributes, name: operand.name }
      const value = attributes !== undefined && Object.hasOwn(attributes, name) ? attributes[name] : undefined
      const known =
        attributes === undefined
          ? ""
          : value === undefined || value === ""
            ? " (which is missing)"
            : ` (${JSON.stringify(value)})`
      return `the attribute ${name} of ${asking.name}${known}`
    }
  }
}
