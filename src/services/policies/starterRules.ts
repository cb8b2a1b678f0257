/** The starter policy's rules after a type was mapped: written with the columns that the type has now. */
import type { EntityType } from "../../domain/EntityType.ts"
import type { PolicyDocument } from "../../permissions/policyDocument.ts"
import starterPolicy from "./starter-policy.json" with { type: "json" }

type Json = Record<string, unknown>

/** The starter policy's role that sees everything. */
export const STARTER_ADMIN = "admin"

const STARTER = new Set(starterPolicy.rules.map((rule) => JSON.stringify(rule)))

/**
 * Rewrites an unedited starter rule for a type that was mapped: a column that has another name now, such as the home_phone that
 * people are found by, is written by that name, and a column that the type has lost is left out. Edited rules stay unchanged.
 */
export const withoutRemovedColumns = (rule: unknown, catalog: ReadonlyArray<EntityType>): ReadonlyArray<unknown> => {
  if (!STARTER.has(JSON.stringify(rule))) return [rule]
  const { columns, where, ...rest } = rule as Json
  const type = catalog.find(({ slug }) => slug === rest["type"])
  // A system column's key is the name that the starter policy writes.
  const now = (name: string) => (name === "id" ? name : type?.columns.find(({ key }) => key === name)?.slug)
  const shown = Array.isArray(columns) ? columns.flatMap((name: string) => now(name) ?? []) : columns
  if (where === undefined) return [{ ...rest, columns: shown }]
  const any = (where as { readonly any: ReadonlyArray<Json> }).any.flatMap((part) => {
    const entries = Object.entries(part).map(([name, value]) => [now(name), value] as const)
    return entries.some(([name]) => name === undefined) ? [] : [Object.fromEntries(entries) as Json]
  })
  return any.length === 0 ? [] : [{ ...rest, columns: shown, where: { any } }]
}

/** The starter rule of an id. */
export const starterRule = (id: string) => starterPolicy.rules.find((rule) => rule.id === id)

/** What a file says about roles other than the starter admin, whose rules imports extend. */
const decided = ({ roles, rules }: PolicyDocument): string =>
  JSON.stringify([roles, rules.filter(({ role }) => role !== STARTER_ADMIN)])

/** Whether a file gives other roles or rules to colleagues than the starter policy. */
export const isBeyondStarter = (text: string): boolean =>
  decided(JSON.parse(text) as PolicyDocument) !== decided(starterPolicy as PolicyDocument)
