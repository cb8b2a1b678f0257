/** A policy's file as it is in force, so that publishing what is shown changes nothing. Pure. */
import type { Catalog } from "../../domain/EntityType.ts"
import { withExpandedStars } from "../../permissions/editPolicy.ts"
import type { Policy } from "../../permissions/Policy.ts"
import { type PolicyDocument, printPolicy, type RuleDocument } from "../../permissions/policyDocument.ts"
import { starterRule, withoutRemovedColumns } from "./starterRules.ts"

/**
 * The stored file, unless it says less or more than what is in force: a "*" that was published before its type gained columns is
 * written as the columns that it shows, and a built-in rule that the file lacks is added. A file that says the same keeps its
 * author's formatting.
 */
export const documentInForce = (text: string, policy: Policy, catalog: Catalog): string => {
  const stored = JSON.parse(text) as PolicyDocument
  const document = withExpandedStars(stored, policy, catalog)
  const unsaid = policy.rules.flatMap(({ id }) => {
    const rule = document.rules.some((each) => each.id === id) ? undefined : starterRule(id)
    return rule === undefined ? [] : (withoutRemovedColumns(rule, catalog.types) as ReadonlyArray<RuleDocument>)
  })
  const shown = { ...document, rules: [...document.rules, ...unsaid] }
  return JSON.stringify(shown) === JSON.stringify(stored) ? text : printPolicy(shown)
}
