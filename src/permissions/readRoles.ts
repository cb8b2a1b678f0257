/** The `roles` of a policy file: resolves inheritance and which roles administer. */
import { isJsonObject } from "../domain/json.ts"
import { quoted } from "../domain/text.ts"
import { POLICY } from "./limits.ts"
import { Power } from "./Policy.ts"
import type { PolicyProblems } from "./PolicyProblems.ts"

export interface Roles {
  /** Each role with the transitive closure of the roles that it inherits, itself included. */
  readonly closures: ReadonlyMap<string, ReadonlySet<string>>
  /** The roles that administer themselves or inherit a role that does. */
  readonly administering: ReadonlyArray<string>
  /** The powers of each role that has any, those of inherited roles included. */
  readonly powers: Readonly<Record<string, ReadonlyArray<Power>>>
}

const NONE: Roles = { closures: new Map(), administering: [], powers: {} }

/** `true` gives the pages without a power, so that a policy from before powers existed allows nothing more. */
const readPowers = (value: unknown): ReadonlyArray<Power> | undefined => {
  if (typeof value === "boolean") return []
  const isList = Array.isArray(value) && value.length > 0 && new Set(value).size === value.length
  return isList && value.every((one) => Power.literals.includes(one)) ? value : undefined
}

export const readRoles = (value: unknown, problems: PolicyProblems): Roles => {
  if (!isJsonObject(value)) {
    problems.report("roles", "`roles` must be an object.", `"roles": { "member": { "inherits": [] } }`)
    return NONE
  }
  const count = Object.keys(value).length
  if (count > POLICY.roles) {
    problems.report("roles", `\`roles\` must have at most ${POLICY.roles} entries.`)
    return NONE
  }
  const inherits = new Map<string, ReadonlyArray<string>>()
  const administers = new Map<string, ReadonlyArray<Power>>()
  for (const [role, definition] of Object.entries(value)) {
    if (!/^[a-z][a-z0-9_-]{0,62}$/.test(role)) {
      problems.report(
        `roles.${quoted(role)}`,
        "A role's name must begin with a lower-case letter, followed by at most 62 lower-case letters, digits, - and _."
      )
      continue
    }
    const parents = isJsonObject(definition) ? (definition["inherits"] ?? []) : undefined
    if (
      !isJsonObject(definition) ||
      !Array.isArray(parents) ||
      !parents.every((parent) => typeof parent === "string")
    ) {
      problems.report(`roles.${role}`, "`inherits` must be a list of roles.", `"${role}": { "inherits": [] }`)
      continue
    }
    problems.unknownProperties(definition, ["inherits", "administers"], `roles.${role}`)
    const administersItself = Object.hasOwn(definition, "administers") ? definition["administers"] : false
    const powers = readPowers(administersItself)
    if (powers === undefined)
      problems.report(
        `roles.${role}.administers`,
        `\`administers\` must be true, false or a list of ${Power.literals.join(", ")}.`,
        `"administers": ["members"]`
      )
    else if (administersItself !== false) administers.set(role, powers)
    inherits.set(role, parents)
  }
  const known = [...inherits.keys()]
  for (const [role, parents] of inherits) {
    for (const parent of parents)
      if (!inherits.has(parent)) problems.unknownName(`roles.${role}.inherits`, "role", parent, known)
  }
  const closures = closuresOf(inherits, problems)
  const powersIn = (all: ReadonlySet<string>) => {
    const given = new Set([...all].flatMap((one) => administers.get(one) ?? []))
    return Power.literals.filter((power) => given.has(power))
  }
  return {
    closures,
    administering: [...closures].flatMap(([role, all]) => ([...all].some((one) => administers.has(one)) ? [role] : [])),
    powers: Object.fromEntries(
      [...closures].flatMap(([role, all]) => {
        const powers = powersIn(all)
        return powers.length === 0 ? [] : [[role, powers] as const]
      })
    )
  }
}

/** The closure of each role, built from those of its parents, so that each pair of roles is visited once. */
const closuresOf = (
  inherits: ReadonlyMap<string, ReadonlyArray<string>>,
  problems: PolicyProblems
): ReadonlyMap<string, ReadonlySet<string>> => {
  const none = new Map<string, ReadonlySet<string>>()
  const order = parentsFirst(inherits, problems)
  if (order === undefined) return none
  const closures = new Map<string, ReadonlySet<string>>()
  const depths = new Map<string, number>()
  let total = 0
  for (const role of order) {
    const parents = inherits.get(role)!.filter((parent) => inherits.has(parent))
    const depth = parents.reduce((most, parent) => Math.max(most, depths.get(parent)! + 1), 0)
    if (depth > POLICY.inheritance) {
      problems.report(`roles.${role}`, `Roles must inherit at most ${POLICY.inheritance} roles in a row.`)
      return none
    }
    depths.set(role, depth)
    const closure = new Set([role])
    for (const parent of parents.sort((a, b) => closures.get(b)!.size - closures.get(a)!.size))
      if (!closure.has(parent)) for (const one of closures.get(parent)!) closure.add(one)
    closures.set(role, closure)
    total += closure.size
    if (total > POLICY.inherited) {
      problems.report("roles", `Roles must inherit at most ${POLICY.inherited} roles, counted over all of them.`)
      return none
    }
  }
  return new Map([...inherits.keys()].map((role) => [role, closures.get(role)!]))
}

/** The roles, each after those that it inherits; undefined if a role inherits itself. */
const parentsFirst = (
  inherits: ReadonlyMap<string, ReadonlyArray<string>>,
  problems: PolicyProblems
): ReadonlyArray<string> | undefined => {
  const children = new Map<string, Array<string>>()
  const waiting = new Map<string, number>()
  for (const [role, parents] of inherits) {
    const known = parents.filter((parent) => inherits.has(parent))
    waiting.set(role, known.length)
    for (const parent of known) {
      const others = children.get(parent)
      if (others === undefined) children.set(parent, [role])
      else others.push(role)
    }
  }
  const order = [...inherits.keys()].filter((role) => waiting.get(role) === 0)
  for (const role of order) {
    for (const child of children.get(role) ?? []) {
      waiting.set(child, waiting.get(child)! - 1)
      if (waiting.get(child) === 0) order.push(child)
    }
  }
  if (order.length === inherits.size) return order
  const before = problems.count
  for (const role of inherits.keys()) if (waiting.get(role)! > 0) reportCycle(role, inherits, problems)
  if (problems.count === before) problems.report("roles", "A role inherits itself.")
  return undefined
}

const reportCycle = (role: string, inherits: ReadonlyMap<string, ReadonlyArray<string>>, problems: PolicyProblems) => {
  const seen = new Set([role])
  const open = [role]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    for (const parent of inherits.get(next) ?? []) {
      if (parent === role)
        return problems.report(`roles.${role}`, `The role ${quoted(role)} inherits itself through ${quoted(next)}.`)
      if (seen.has(parent)) continue
      seen.add(parent)
      open.push(parent)
    }
  }
}
