/**
 * The oracle for changes: whether a policy allows one change of one row, evaluated from the policy file, and the row
 * afterwards. Like the oracle for reading, it imports no planner and no compiler.
 */
import {
  type Asker,
  type Caller,
  applicable,
  type JsonObject,
  type PolicyJson,
  type RuleJson,
  type Truth,
  viewsOf,
  where
} from "./oracle.ts"
import { type Cell, type Entity, type Organization, SHAPES, type TypeName } from "./world.ts"

/** A tool scope's grant for changes; reading is in scope. */
type WriteScope = "*" | ReadonlyArray<string>

/** Cells by column; of a relation to many, the ids. */
export type Assigned = Readonly<Record<string, Cell | ReadonlyArray<bigint>>>

export interface WriteCase {
  readonly policy: PolicyJson
  readonly caller: Caller
  readonly scope?: WriteScope
  readonly type: TypeName
  readonly action: "create" | "update" | "delete"
  readonly id: bigint
  readonly assigned: Assigned
}

export interface Expected {
  /** The row and every cell that the change concerns are visible, and so are the rows that relations are set to. */
  readonly seen: boolean
  /** The rules allow it. */
  readonly allowed: boolean
  /** The rules would allow it with any row afterwards. */
  readonly allowedBefore: boolean
  /** They would allow it if one rule could hold before and another one after. */
  readonly allowedDecoupled: boolean
}

const LINKS = { meetings: "attendees", deals: "watchers" } as const

/** The organization after a change. `virtual`: rows keep their cells, as a proposal reads them; the links are the new ones. */
export const afterwards = (
  { action, assigned, id, type }: Pick<WriteCase, "action" | "assigned" | "id" | "type">,
  organization: Organization,
  virtual: boolean
): { readonly organization: Organization; readonly entity: Entity | undefined } => {
  const kind = (column: string) => SHAPES[type][column]!.kind
  const none = Object.fromEntries(
    Object.keys(SHAPES[type]).flatMap((name) => (kind(name) === "many" ? [] : [[name, null]]))
  )
  const cells = Object.fromEntries(Object.entries(assigned).filter(([column]) => kind(column) !== "many"))
  const old = organization.entities[type].get(id)
  const entity =
    action === "delete" ? undefined : { id, cells: { ...(old?.cells ?? none), ...cells } as Entity["cells"] }
  const relation = type === "meetings" || type === "deals" ? LINKS[type] : undefined
  const linked = relation === undefined ? undefined : action === "delete" ? [] : assigned[relation]
  const links =
    linked === undefined
      ? organization.links
      : {
          ...organization.links,
          [relation!]: [
            ...organization.links[relation!].filter(([from]) => from !== id),
            ...[...new Set(linked as ReadonlyArray<bigint>)].map((to) => [id, to] as const)
          ]
        }
  const rows = new Map(organization.entities[type])
  if (entity === undefined) rows.delete(id)
  else rows.set(id, entity)
  return {
    entity,
    organization: {
      ...organization,
      links,
      entities: virtual ? organization.entities : { ...organization.entities, [type]: rows }
    }
  }
}

/** The columns that a change concerns. */
export const concerned = ({ action, assigned, type }: WriteCase): ReadonlyArray<string> =>
  action === "delete" ? Object.keys(SHAPES[type]) : Object.keys(assigned)

export const expectedOf = (one: WriteCase, organization: Organization, now: number, virtual: boolean): Expected => {
  const { action, caller, id, policy, scope, type } = one
  const before = organization.entities[type].get(id)
  if (before === undefined && action !== "create")
    return { seen: false, allowed: false, allowedBefore: false, allowedDecoupled: false }
  const { entity: after, organization: later } = afterwards(one, organization, virtual)
  const columns = concerned(one)
  const askers: ReadonlyArray<Asker> = [
    caller,
    ...(caller.actor === undefined ? [] : [{ ...caller.actor, me: undefined }])
  ]
  const inScope = scope === undefined || scope === "*" || columns.every((column) => scope.includes(column))
  const decided = (verdict: (rules: ReadonlyArray<RuleJson>, asker: Asker, column: string) => boolean): boolean =>
    inScope &&
    columns.length > 0 &&
    askers.every((asker) => {
      const rules = applicable(policy, asker, type, now, action)
      return columns.every((column) =>
        verdict(
          rules.filter((rule) => rule.columns === "*" || rule.columns.includes(column)),
          asker,
          column
        )
      )
    })
  const truth = (condition: JsonObject | undefined, row: Entity | undefined, asker: Asker, at: Organization): Truth =>
    condition === undefined ? true : where(condition, type, row!, { organization: at, asker })
  const wasOn = (rule: RuleJson, asker: Asker): Truth =>
    action === "create" ? true : truth(rule.where, before, asker, organization)
  const isOn = (rule: RuleJson, asker: Asker): Truth =>
    action === "delete" ? true : truth(rule.becomes ?? rule.where, after, asker, later)
  const deniedOn = (rule: RuleJson, asker: Asker): boolean =>
    (action !== "create" && truth(rule.where, before, asker, organization) !== false) ||
    (action !== "delete" && truth(rule.where, after, asker, later) !== false)
  const deniedBefore = (rule: RuleJson, asker: Asker): boolean =>
    action !== "create" && truth(rule.where, before, asker, organization) !== false
  const allows = (rules: ReadonlyArray<RuleJson>) => rules.filter(({ effect }) => effect === "allow")
  const denies = (rules: ReadonlyArray<RuleJson>) => rules.filter(({ effect }) => effect === "deny")
  return {
    seen: isSeen(one, columns, organization, now),
    allowed: decided(
      (rules, asker) =>
        allows(rules).some((rule) => wasOn(rule, asker) === true && isOn(rule, asker) === true) &&
        !denies(rules).some((rule) => deniedOn(rule, asker))
    ),
    allowedBefore: decided(
      (rules, asker) =>
        allows(rules).some((rule) => wasOn(rule, asker) === true) &&
        !denies(rules).some((rule) => deniedBefore(rule, asker))
    ),
    allowedDecoupled: decided(
      (rules, asker) =>
        allows(rules).some((rule) => wasOn(rule, asker) === true) &&
        allows(rules).some((rule) => isOn(rule, asker) === true) &&
        !denies(rules).some((rule) => deniedOn(rule, asker))
    )
  }
}

/** Reading comes first: the row, its changed cells, what changed relations lead to, and what they are set to. */
const isSeen = (
  { action, assigned, caller, id, policy, type }: WriteCase,
  columns: ReadonlyArray<string>,
  organization: Organization,
  now: number
): boolean => {
  const views = viewsOf(policy, caller, organization, now)
  const isVisible = (column: string, target: bigint) => views[SHAPES[type][column]!.target!].has(target)
  const relations = Object.keys(assigned).filter((column) => SHAPES[type][column]!.target !== undefined)
  const set = relations.every((column) =>
    [assigned[column] ?? []].flat().every((target) => isVisible(column, target as bigint))
  )
  if (action === "create") return set
  const shown = views[type].get(id)
  if (shown === undefined || !columns.every((column) => shown.has(column))) return false
  return (
    set &&
    relations.every((column) => ledTo(type, id, column, organization).every((target) => isVisible(column, target)))
  )
}

/** The ids that a relation of a row leads to, missing rows included. */
export const ledTo = (
  type: TypeName,
  id: bigint,
  column: string,
  organization: Organization
): ReadonlyArray<bigint> => {
  if (SHAPES[type][column]!.kind === "many")
    return organization.links[column as "attendees"].filter(([from]) => from === id).map(([, to]) => to)
  const cell = organization.entities[type].get(id)!.cells[column]
  return cell === null || cell === undefined ? [] : [cell as bigint]
}
