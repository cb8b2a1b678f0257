/** Reads the expectations of a test about a change. */
import { type Column, columnBySlug, type EntityType } from "../domain/EntityType.ts"
import { isJsonObject } from "../domain/json.ts"
import type { ChangeTest } from "./Policy.ts"
import type { PolicyProblems } from "./PolicyProblems.ts"

export const CHANGE_KEYS = {
  create: ["create", "values", "allowed"],
  update: ["update", "values", "allows", "refuses"],
  delete: ["delete", "allows", "refuses"]
} as const

/** The most rows that one list of a test may name. */
export const MAX_ROWS = 1000

export const readExpectedChange = (
  action: ChangeTest["action"],
  properties: ReadonlyMap<string, unknown>,
  type: EntityType | undefined,
  path: string,
  problems: PolicyProblems
): Pick<ChangeTest, "values" | "allows" | "refuses" | "creates"> | undefined => {
  const report = (key: string, message: string, fix?: string) => problems.report(`${path}.${key}`, message, fix)
  const rows = (key: "allows" | "refuses"): ReadonlyArray<string> => {
    const list = properties.get(key) ?? []
    if (Array.isArray(list) && list.length <= MAX_ROWS && list.every((item) => typeof item === "string")) return list
    report(key, `\`${key}\` must be a list of at most ${MAX_ROWS} strings.`, `"${key}": ["id-1"]`)
    return []
  }
  const [allows, refuses] = [rows("allows"), rows("refuses")]
  const values = action === "delete" ? {} : readValues(properties.get("values"), type, path, problems)
  const allowed = properties.get("allowed")
  if (action === "create" && typeof allowed !== "boolean")
    report("allowed", "`allowed` must say whether the row can be created.", `"allowed": true`)
  if (action !== "create" && !properties.has("allows") && !properties.has("refuses"))
    report("allows", "The test must have at least one expectation.", `"allows": ["id-1"]`)
  return { values, allows, refuses, ...(action === "create" ? { creates: allowed as boolean } : {}) }
}

const readValues = (
  value: unknown,
  type: EntityType | undefined,
  path: string,
  problems: PolicyProblems
): ChangeTest["values"] => {
  if (!isJsonObject(value) || Object.keys(value).length === 0) {
    problems.report(
      `${path}.values`,
      "`values` must be an object with at least one column.",
      `"values": { "status": "vip" }`
    )
    return {}
  }
  if (type === undefined) return {}
  return Object.fromEntries(
    Object.entries(value).flatMap(([slug, json]) => {
      const column = columnBySlug(type, slug)
      if (column === undefined) {
        const slugs = type.columns.map((known) => known.slug)
        problems.unknownName(`${path}.values`, `column of ${type.slug}`, slug, slugs)
        return []
      }
      const text = textOf(json, column)
      if (text !== undefined) return [[column.key, text]]
      problems.report(`${path}.values.${slug}`, `This is not a valid value of ${slug} (${column.kind}).`)
      return []
    })
  )
}

/** The text of a value; its form is checked where cells are written. */
const textOf = (json: unknown, { kind }: Column): string | ReadonlyArray<string> | null | undefined => {
  if (json === null) return null
  if (kind === "list" || kind === "references")
    return Array.isArray(json) && json.every((item) => typeof item === "string") ? json : undefined
  return typeof json === "string" || typeof json === "number" || typeof json === "boolean" ? String(json) : undefined
}
