/**
 * The oracle for changes: decides one change of one row by evaluating the rules directly, without bits, plans or SQL. Tests
 * compare `planWrite` and `decide` against it.
 */
import type { Catalog, EntityType } from "../domain/EntityType.ts"
import type { Predicate } from "../domain/Predicate.ts"
import type { Principal } from "../domain/Principal.ts"
import { type CheckedRow, evaluate, type Kleene, type Party, rulesOf } from "./checkRow.ts"
import type { Policy, Rule } from "./Policy.ts"

/** A change of one row: `create` has no row before, `delete` none after. */
export type CheckedChange =
  | { readonly action: "create"; readonly columns: ReadonlyArray<string>; readonly after: CheckedRow }
  | {
      readonly action: "update"
      readonly columns: ReadonlyArray<string>
      readonly before: CheckedRow
      readonly after: CheckedRow
    }
  | { readonly action: "delete"; readonly before: CheckedRow }

/** Whether the principal, and with an actor both, may make the change. */
export const checkWrite = (
  policy: Policy,
  catalog: Catalog,
  principal: Principal,
  type: EntityType,
  change: CheckedChange,
  now: number
): boolean => {
  const { actor, anchorEntityId, attributes, roles, scope } = principal
  const columns = change.action === "delete" ? type.columns.map(({ key }) => key) : change.columns
  const inScope = columns.every(
    (column) =>
      scope === undefined ||
      scope.some(
        (grant) =>
          grant.type === type.key &&
          grant.action === change.action &&
          (grant.columns === "*" || grant.columns.includes(column))
      )
  )
  const parties: ReadonlyArray<Party> = [
    { me: anchorEntityId, roles, attributes },
    ...(actor === undefined ? [] : [{ me: undefined, roles: actor.roles, attributes: actor.attributes }])
  ]
  return (
    inScope &&
    columns.length > 0 &&
    parties.every((party) => {
      const rules = rulesOf(policy, party, type, change.action, now)
      const on = (predicate: Predicate, row: CheckedRow) => evaluate(predicate, row, type, catalog, party)
      return columns.every((column) => {
        const covering = rules.filter((rule) => rule.columns === "*" || rule.columns.includes(column))
        return (
          covering.some(
            (rule) => rule.effect === "allow" && sides(rule, change, on).every((truth) => truth === true)
          ) &&
          covering.every((rule) => rule.effect === "allow" || sides(rule, change, on).every((truth) => truth === false))
        )
      })
    })
  )
}

/** The truths of a rule on the row before and the row after. */
const sides = (
  rule: Rule,
  change: CheckedChange,
  on: (predicate: Predicate, row: CheckedRow) => Kleene
): ReadonlyArray<Kleene> => {
  switch (change.action) {
    case "create":
      return [on(rule.where, change.after)]
    case "delete":
      return [on(rule.where, change.before)]
    case "update":
      return [on(rule.where, change.before), on(rule.becomes ?? rule.where, change.after)]
  }
}
