/**
 * Tool scopes: what a token or tool may be used for, independent of its holder. A scope is a list of `TYPE` or
 * `TYPE.COLUMN`, each with an optional `:ACTION` (default: read). It is intersected with the plans of the principal and
 * the actor, so it only narrows; an empty scope denies everything.
 */
import { Schema } from "effect"
import { type Catalog, columnBySlug, type EntityType, typeBySlug } from "../domain/EntityType.ts"
import { ALWAYS } from "../domain/Predicate.ts"
import type { ScopeGrant } from "../domain/Principal.ts"
import { closest, quoted } from "../domain/text.ts"
import { TOOL_SCOPE } from "./limits.ts"
import { denied, type Plan, withDerived } from "./permissionPlan.ts"
import { Action } from "./Policy.ts"

/** The plan of a scope: every row of a granted type, and the granted columns. */
export const scopePlan = (scope: ReadonlyArray<ScopeGrant>, type: EntityType, action: Action): Plan => {
  const open = scope.filter((grant) => grant.type === type.key && grant.action === action)
  if (open.length === 0) return denied("out-of-scope")
  const columns = type.columns.filter(({ key }) =>
    open.some((grant) => grant.columns === "*" || grant.columns.includes(key))
  )
  return {
    _tag: "Granted",
    where: ALWAYS,
    cells: withDerived(type, new Map(columns.map(({ key }) => [key, ALWAYS]))),
    ruleIds: [],
    limited: false,
    expiresAt: Infinity
  }
}

/** Parses a scope, or reports the first problems of invalid parts. */
export const readScope = (
  parts: ReadonlyArray<string>,
  catalog: Catalog
): { readonly scope: ReadonlyArray<ScopeGrant> } | { readonly problems: ReadonlyArray<string> } => {
  if (parts.length > TOOL_SCOPE.parts)
    return { problems: [`A tool scope has at most ${TOOL_SCOPE.parts} parts, not ${parts.length}.`] }
  const long = parts.find((part) => part.length > TOOL_SCOPE.characters)
  if (long !== undefined)
    return { problems: [`Each part of a tool scope has at most ${TOOL_SCOPE.characters} characters: ${quoted(long)}.`] }
  const problems: Array<string> = []
  const scope = parts.flatMap((part): ReadonlyArray<ScopeGrant> => {
    if (problems.length >= TOOL_SCOPE.problems) return []
    const [, slug = "", columnSlug, action = "read"] = /^([^.:]*)(?:\.([^.:]*))?(?::(.*))?$/.exec(part) ?? []
    const type = typeBySlug(catalog, slug)
    if (type === undefined) {
      problems.push(unknown("type", slug === "" ? part : slug, catalog.types))
      return []
    }
    if (!Schema.is(Action)(action)) {
      problems.push(
        unknown(
          "action",
          action,
          Action.literals.map((slug) => ({ slug }))
        )
      )
      return []
    }
    if (columnSlug === undefined) return [{ type: type.key, action, columns: "*" }]
    const column = columnBySlug(type, columnSlug)
    if (column !== undefined) return [{ type: type.key, action, columns: [column.key] }]
    problems.push(unknown(`column of ${type.slug}`, columnSlug, type.columns))
    return []
  })
  return problems.length > 0 ? { problems } : { scope }
}

const unknown = (what: string, name: string, known: ReadonlyArray<{ readonly slug: string }>): string => {
  const slugs = known.map(({ slug }) => slug)
  const near = closest(name, slugs)
  return `There is no ${what} ${quoted(name)}. ${near === undefined ? `Known: ${slugs.slice(0, 20).join(", ")}.` : `Did you mean ${near}?`}`
}
