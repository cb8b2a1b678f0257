/** Reads one test of a policy file: the person, the type, and the rows and cells that its author expects; or a change. */
import { type Catalog, type EntityType, readableColumns, typeBySlug } from "../domain/EntityType.ts"
import type { AttributeValue } from "../domain/Principal.ts"
import { isJsonObject } from "../domain/json.ts"
import type { ChangeTest, PolicyTest } from "./Policy.ts"
import type { PolicyProblems } from "./PolicyProblems.ts"
import { CHANGE_KEYS, MAX_ROWS, readExpectedChange } from "./readChangeTest.ts"

const KEYS = ["as", "roles", "attributes", "read", "denied", "expect", "includes", "excludes", "shows", "hides"]
const ROWS = ["expect", "includes", "excludes"] as const
const EXAMPLE = `{ "as": "ada@example.com", "read": "people", "expect": ["id-1", "id-2"] }`

export const readPolicyTest = (
  value: unknown,
  path: string,
  catalog: Catalog,
  roles: ReadonlyArray<string>,
  problems: PolicyProblems
): PolicyTest | undefined => {
  if (!isJsonObject(value)) {
    problems.report(path, "A test must be an object.", EXAMPLE)
    return undefined
  }
  const before = problems.count
  const properties = new Map<string, unknown>(Object.entries(value))
  const report = (key: string, message: string, fix?: string) => problems.report(`${path}.${key}`, message, fix)
  const unknown = (key: string, what: string, name: string, known: ReadonlyArray<string>) =>
    problems.unknownName(`${path}.${key}`, what, name, known)
  const action = (["create", "update", "delete"] as const).find((key) => properties.has(key)) ?? "read"
  problems.unknownProperties(
    value,
    action === "read" ? KEYS : [...CHANGE_KEYS[action], "as", "roles", "attributes"],
    path
  )
  const texts = (key: string): ReadonlyArray<string> | undefined => {
    if (!properties.has(key)) return undefined
    const list = properties.get(key)
    if (Array.isArray(list) && list.length <= MAX_ROWS && list.every((item) => typeof item === "string")) return list
    report(key, `\`${key}\` must be a list of at most ${MAX_ROWS} strings.`, `"${key}": []`)
    return undefined
  }

  const as = properties.get("as")
  if (typeof as !== "string" || as.length === 0 || as.length > 320) {
    report("as", "`as` must be an e-mail address or phone number.", `"as": "ada@example.com"`)
  }
  const slug = properties.get(action)
  const type = typeof slug === "string" ? typeBySlug(catalog, slug) : undefined
  const slugs = catalog.types.map(({ slug }) => slug)
  if (typeof slug !== "string") report(action, `\`${action}\` must name a type.`, `"${action}": "people"`)
  else if (type === undefined) unknown(action, "type", slug, slugs)

  const testRoles = texts("roles")
  for (const role of testRoles ?? []) if (!roles.includes(role)) unknown("roles", "role", role, roles)
  const attributes = readAttributes(properties.get("attributes"))
  if (attributes === undefined)
    report("attributes", "`attributes` must be strings, numbers or booleans.", `"attributes": {}`)
  if (properties.has("attributes") && testRoles === undefined) {
    report("attributes", "A test with `attributes` must also have `roles`.", `"roles": ["${roles[0] ?? "member"}"]`)
  }
  const subject = (): Pick<ChangeTest, "path" | "as" | "roles" | "attributes" | "type"> => ({
    path,
    as: as as string,
    ...(testRoles === undefined ? {} : { roles: testRoles, attributes: attributes! }),
    type: (type as EntityType).key
  })
  if (action !== "read") {
    const expected = readExpectedChange(action, properties, type, path, problems)
    return problems.count > before || expected === undefined ? undefined : { ...subject(), action, ...expected }
  }
  const denied = properties.get("denied")
  if (properties.has("denied") && typeof denied !== "boolean")
    report("denied", "`denied` must be true or false.", `"denied": true`)

  const rows = Object.fromEntries(ROWS.flatMap((key) => (properties.has(key) ? [[key, texts(key) ?? []]] : [])))
  const columns = (key: "shows" | "hides") =>
    texts(key)?.flatMap((slug) => {
      const column = type && readableColumns(type).find((each) => each.slug === slug)
      if (type !== undefined && column === undefined)
        unknown(
          key,
          `column of ${type.slug}`,
          slug,
          readableColumns(type).map((column) => column.slug)
        )
      return column === undefined ? [] : [column.key]
    })
  const [shows, hides] = [columns("shows"), columns("hides")]
  if (!["denied", ...ROWS, "shows", "hides"].some((key) => properties.has(key))) {
    report("expect", "The test must have at least one expectation.", `"expect": ["id-1"]`)
  }
  if (denied === true && [...ROWS, "shows", "hides"].some((key) => properties.has(key))) {
    report("denied", "A test with `denied: true` must not have other expectations.")
  }
  if (problems.count > before) return undefined
  return {
    ...subject(),
    action,
    ...(denied === undefined ? {} : { denied: denied as boolean }),
    ...rows,
    ...(shows === undefined ? {} : { shows }),
    ...(hides === undefined ? {} : { hides })
  }
}

const readAttributes = (value: unknown): Readonly<Record<string, AttributeValue>> | undefined => {
  if (value === undefined) return {}
  if (!isJsonObject(value)) return undefined
  const entries = Object.entries(value)
  return entries.every(
    (entry): entry is [string, AttributeValue] =>
      /^[a-z][a-z0-9_]{0,62}$/.test(entry[0]) &&
      (typeof entry[1] === "string" || typeof entry[1] === "boolean" || Number.isFinite(entry[1]))
  )
    ? Object.fromEntries(entries)
    : undefined
}
