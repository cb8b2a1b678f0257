/** The `confirm` entries of a policy file, which raise how a change is confirmed. */
import { type Catalog, columnBySlug, type EntityType, typeBySlug } from "../domain/EntityType.ts"
import { isJsonObject, type JsonObject } from "../domain/json.ts"
import { POLICY } from "./limits.ts"
import { type ConfirmEntry, NO_TYPE, type Policy, powersOf } from "./Policy.ts"
import type { PolicyProblems } from "./PolicyProblems.ts"
import type { Roles } from "./readRoles.ts"
import { readActionName } from "./readRules.ts"

const KEYS = ["action", "name", "type", "columns", "above", "by", "approvers"]
const ACTIONS = ["create", "update", "delete", "invoke", "publish"] as const
const LEVELS = ["once", "twice", "second"] as const
const EXAMPLE = `{ "action": "delete", "type": "people", "by": "second", "approvers": ["manager"] }`

export const readConfirm = (
  value: unknown,
  roles: Roles,
  catalog: Catalog,
  problems: PolicyProblems
): Pick<Policy, "confirm" | "publishing"> => {
  if (!Array.isArray(value)) {
    problems.report("confirm", "`confirm` must be a list.", `"confirm": [${EXAMPLE}]`)
    return {}
  }
  if (value.length > POLICY.confirm) {
    problems.report("confirm", `\`confirm\` must have at most ${POLICY.confirm} entries.`)
    return {}
  }
  const names = [...roles.closures.keys()]
  let publishing: Policy["publishing"]
  const confirm = value.flatMap((entry: unknown, index) => {
    const path = `confirm[${index}]`
    if (!isJsonObject(entry) || entry["action"] !== "publish")
      return readEntry(entry, path, names, catalog, problems) ?? []
    if (publishing !== undefined) problems.report(path, "Only one entry may be about publish.")
    publishing = { approvers: readPublishing(entry, path, roles, problems) }
    return []
  })
  return { ...(confirm.length === 0 ? {} : { confirm }), ...(publishing === undefined ? {} : { publishing }) }
}

/**
 * The entry about publishing a policy, which only a second person confirms besides. An approver must be able to see what is
 * published, so these are the roles with the power `policy` that are named or inherit a named one.
 */
const readPublishing = (
  entry: JsonObject,
  path: string,
  { closures, powers }: Roles,
  problems: PolicyProblems
): ReadonlyArray<string> => {
  problems.unknownProperties(entry, ["action", "by", "approvers"], path)
  if (entry["by"] !== "second") {
    problems.report(`${path}.by`, "Publishing can only be confirmed by a second person.", `"by": "second"`)
    return []
  }
  const named = readApprovers(entry, "second", [...closures.keys()], path, problems) ?? []
  for (const role of named)
    if (!powersOf({ powers }, [role]).includes("policy"))
      problems.report(
        `${path}.approvers`,
        `The role ${role} can't approve a publication, because it may not change the policy.`,
        `"${role}": { "administers": ["policy"] }`
      )
  return [...closures].flatMap(([role, all]) => (named.some((one) => all.has(one)) ? [role] : []))
}

const readEntry = (
  value: unknown,
  path: string,
  roles: ReadonlyArray<string>,
  catalog: Catalog,
  problems: PolicyProblems
): ConfirmEntry | undefined => {
  if (!isJsonObject(value)) {
    problems.report(path, "An entry must be an object.", EXAMPLE)
    return undefined
  }
  const before = problems.count
  problems.unknownProperties(value, KEYS, path)
  const property = (key: string) => (Object.hasOwn(value, key) ? value[key] : undefined)
  const one = <Name extends string>(key: string, what: string, known: ReadonlyArray<Name>): Name | undefined => {
    const name = property(key)
    const found = known.find((candidate) => candidate === name)
    if (found !== undefined) return found
    if (typeof name === "string") problems.unknownName(`${path}.${key}`, what, name, known)
    else problems.report(`${path}.${key}`, `\`${key}\` must be one of ${known.slice(0, 20).join(", ")}.`)
    return undefined
  }
  // `publish` is read by itself.
  const action = one("action", "action", ACTIONS) as ConfirmEntry["action"] | undefined
  const by = one("by", "way to confirm", LEVELS)
  const isFree = action === "invoke" && !Object.hasOwn(value, "type")
  const slug = isFree
    ? undefined
    : one(
        "type",
        "type",
        catalog.types.map((known) => known.slug)
      )
  const type = slug === undefined ? undefined : typeBySlug(catalog, slug)
  const name = action === undefined ? undefined : readActionName(value, action, path, problems)
  const columns = type && readColumns(value, action, type, path, problems)
  if (isFree && Object.hasOwn(value, "columns"))
    problems.report(`${path}.columns`, "`columns` belongs to entries about create and update.")
  const above = property("above")
  if (above !== undefined && !(typeof above === "number" && Number.isSafeInteger(above) && above >= 1))
    problems.report(`${path}.above`, "`above` must be a number of rows, at least 1.", `"above": 5`)
  const approvers = readApprovers(value, by, roles, path, problems)
  if (problems.count > before) return undefined
  return {
    action: action!,
    ...(name === undefined ? {} : { name }),
    type: type?.key ?? NO_TYPE,
    ...(columns === undefined ? {} : { columns }),
    ...(above === undefined ? {} : { above: above as number }),
    by: by!,
    ...(approvers === undefined ? {} : { approvers })
  }
}

const readColumns = (
  value: JsonObject,
  action: string | undefined,
  type: EntityType,
  path: string,
  problems: PolicyProblems
): ReadonlyArray<string> | undefined => {
  if (!Object.hasOwn(value, "columns")) return undefined
  const slugs = value["columns"]
  if (action === "delete" || action === "invoke") {
    problems.report(`${path}.columns`, "`columns` belongs to entries about create and update.")
    return undefined
  }
  if (!Array.isArray(slugs) || slugs.length === 0) {
    problems.report(`${path}.columns`, "`columns` must be a list of at least one column.")
    return undefined
  }
  return slugs.flatMap((slug: unknown) => {
    const column = typeof slug === "string" ? columnBySlug(type, slug) : undefined
    if (column !== undefined) return [column.key]
    problems.unknownName(
      `${path}.columns`,
      `column of ${type.slug}`,
      String(slug),
      type.columns.map((known) => known.slug)
    )
    return []
  })
}

/** Only `second` has approvers, and it needs some. */
const readApprovers = (
  value: JsonObject,
  by: string | undefined,
  roles: ReadonlyArray<string>,
  path: string,
  problems: PolicyProblems
): ReadonlyArray<string> | undefined => {
  const approvers = Object.hasOwn(value, "approvers") ? value["approvers"] : undefined
  if (by !== "second") {
    if (approvers !== undefined && by !== undefined)
      problems.report(`${path}.approvers`, '`approvers` belongs to `"by": "second"`.')
    return undefined
  }
  if (!Array.isArray(approvers) || approvers.length === 0) {
    problems.report(
      `${path}.approvers`,
      "`approvers` must be a list of at least one role.",
      `"approvers": ["${roles[0] ?? "manager"}"]`
    )
    return undefined
  }
  return approvers.flatMap((role: unknown) => {
    if (typeof role === "string" && roles.includes(role)) return [role]
    problems.unknownName(`${path}.approvers`, "role", String(role), roles)
    return []
  })
}
