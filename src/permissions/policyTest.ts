/** Reads one test of a policy file: who reads what, and which rows and cells its author expects. */
import { type Catalog, columnBySlug, type EntityType, typeBySlug } from "../domain/EntityType.ts"
import type { AttributeValue } from "../domain/Principal.ts"
import { closest, quoted } from "../domain/text.ts"
import type { PolicyTest } from "./Policy.ts"

type Report = (path: string, message: string, fix?: string) => void

const KEYS = ["as", "roles", "attributes", "read", "denied", "expect", "includes", "excludes", "shows", "hides"]
const ROWS = ["expect", "includes", "excludes"] as const
const EXAMPLE = `{ "as": "ada@example.com", "read": "people", "expect": ["id-1", "id-2"] }`
/** Rows that one test may name. */
const MAX_ROWS = 1000

export const readPolicyTest = (
  value: unknown,
  path: string,
  catalog: Catalog,
  roles: ReadonlyArray<string>,
  report: Report
): PolicyTest | undefined => {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    report(path, "A test is an object.", EXAMPLE)
    return undefined
  }
  const given = new Map<string, unknown>(Object.entries(value))
  let faults = 0
  const fault = (key: string, message: string, fix?: string) => {
    faults += 1
    report(`${path}.${quoted(key).slice(1, -1)}`, message, fix)
  }
  const unknown = (key: string, what: string, name: string, known: ReadonlyArray<string>) => {
    const near = closest(name, known)
    fault(
      key,
      `There is no ${what} ${quoted(name)}. Known: ${known.slice(0, 20).join(", ")}.`,
      near === undefined ? undefined : `"${near}"`
    )
  }
  for (const key of given.keys()) {
    if (KEYS.includes(key)) continue
    const near = closest(key, KEYS)
    fault(key, `There is no ${quoted(key)} here.`, near === undefined ? undefined : `"${near}"`)
  }
  const texts = (key: string): ReadonlyArray<string> | undefined => {
    if (!given.has(key)) return undefined
    const list = given.get(key)
    if (Array.isArray(list) && list.length <= MAX_ROWS && list.every((item) => typeof item === "string")) return list
    fault(key, `${key} is a list of at most ${MAX_ROWS} texts.`, `"${key}": []`)
    return undefined
  }

  const as = given.get("as")
  if (typeof as !== "string" || as.length === 0 || as.length > 320) {
    fault("as", "A test says as whom it reads: an e-mail address or phone number.", `"as": "ada@example.com"`)
  }
  const read = given.get("read")
  const type = typeof read === "string" ? typeBySlug(catalog, read) : undefined
  const slugs = catalog.types.map(({ slug }) => slug)
  if (typeof read !== "string") fault("read", "A test says which type it reads.", `"read": "people"`)
  else if (type === undefined) unknown("read", "type", read, slugs)

  const testRoles = texts("roles")
  for (const role of testRoles ?? []) if (!roles.includes(role)) unknown("roles", "role", role, roles)
  const attributes = readAttributes(given.get("attributes"))
  if (attributes === undefined) fault("attributes", "Attributes are texts, numbers, true or false.", `"attributes": {}`)
  if (given.has("attributes") && testRoles === undefined) {
    fault(
      "attributes",
      "A test with attributes of its own says its roles, too.",
      `"roles": ["${roles[0] ?? "member"}"]`
    )
  }
  const denied = given.get("denied")
  if (given.has("denied") && typeof denied !== "boolean") fault("denied", "denied is true or false.", `"denied": true`)

  const rows = Object.fromEntries(ROWS.flatMap((key) => (given.has(key) ? [[key, texts(key) ?? []]] : [])))
  const columns = (key: "shows" | "hides") =>
    texts(key)?.flatMap((slug) => {
      const column = type && columnBySlug(type, slug)
      if (type !== undefined && column === undefined)
        unknown(
          key,
          `column of ${type.slug}`,
          slug,
          type.columns.map((known) => known.slug)
        )
      return column === undefined ? [] : [column.key]
    })
  const [shows, hides] = [columns("shows"), columns("hides")]
  if (!["denied", ...ROWS, "shows", "hides"].some((key) => given.has(key))) {
    fault("expect", "This test expects nothing in particular.", `"expect": ["id-1"]`)
  }
  if (denied === true && [...ROWS, "shows", "hides"].some((key) => given.has(key))) {
    fault("denied", "Where the whole type is denied there is nothing else to expect.")
  }
  if (faults > 0) return undefined
  return {
    path,
    as: as as string,
    ...(testRoles === undefined ? {} : { roles: testRoles, attributes: attributes! }),
    type: (type as EntityType).key,
    ...(denied === undefined ? {} : { denied: denied as boolean }),
    ...rows,
    ...(shows === undefined ? {} : { shows }),
    ...(hides === undefined ? {} : { hides })
  }
}

const readAttributes = (value: unknown): Readonly<Record<string, AttributeValue>> | undefined => {
  if (value === undefined) return {}
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined
  const entries = Object.entries(value)
  return entries.every(
    (entry): entry is [string, AttributeValue] =>
      /^[a-z][a-z0-9_]{0,62}$/.test(entry[0]) &&
      (typeof entry[1] === "string" || typeof entry[1] === "boolean" || Number.isFinite(entry[1]))
  )
    ? Object.fromEntries(entries)
    : undefined
}
