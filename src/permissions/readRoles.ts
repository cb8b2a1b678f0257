/** The `roles` of a policy file: resolves inheritance and which roles administer. */
import { isJsonObject } from "../domain/json.ts"
import { quoted } from "../domain/text.ts"
import type { PolicyProblems } from "./PolicyProblems.ts"

export interface Roles {
  /** Each role with the transitive closure of the roles that it inherits, itself included. */
  readonly closures: ReadonlyMap<string, ReadonlySet<string>>
  /** The roles that administer themselves or inherit a role that does. */
  readonly administering: ReadonlyArray<string>
}

export const readRoles = (value: unknown, problems: PolicyProblems): Roles => {
  if (!isJsonObject(value)) {
    problems.report("roles", "`roles` must be an object.", `"roles": { "member": { "inherits": [] } }`)
    return { closures: new Map(), administering: [] }
  }
  const inherits = new Map<string, ReadonlyArray<string>>()
  const administers = new Set<string>()
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
    if (typeof administersItself !== "boolean")
      problems.report(`roles.${role}.administers`, "`administers` must be true or false.", `"administers": true`)
    else if (administersItself) administers.add(role)
    inherits.set(role, parents)
  }
  for (const [role, parents] of inherits) {
    for (const parent of parents) {
      if (!inherits.has(parent)) problems.unknownName(`roles.${role}.inherits`, "role", parent, [...inherits.keys()])
    }
  }
  const closures = new Map([...inherits.keys()].map((role) => [role, closureOf(role, inherits, problems)]))
  return {
    closures,
    administering: [...closures].flatMap(([role, all]) => ([...all].some((one) => administers.has(one)) ? [role] : []))
  }
}

const closureOf = (
  role: string,
  inherits: ReadonlyMap<string, ReadonlyArray<string>>,
  problems: PolicyProblems
): ReadonlySet<string> => {
  const closure = new Set([role])
  const open = [role]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    for (const parent of inherits.get(next) ?? []) {
      if (parent === role) {
        problems.report(`roles.${role}`, `The role ${quoted(role)} inherits itself through ${quoted(next)}.`)
        return closure
      }
      if (!closure.has(parent)) {
        closure.add(parent)
        open.push(parent)
      }
    }
  }
  return closure
}
