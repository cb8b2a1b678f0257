/** How a change must be confirmed: the least of its action, raised by the policy's `confirm` entries. */
import { type Confirmation, stricter } from "../domain/Action.ts"
import type { ConfirmEntry, Policy } from "./Policy.ts"

/** A change as `confirm` entries look at it. */
export interface Confirmable {
  readonly action: ConfirmEntry["action"]
  /** Of `invoke`: the action's slug. */
  readonly name?: string
  /** The type's key. */
  readonly type: string
  /** The keys of the columns that are set. */
  readonly columns: ReadonlyArray<string>
  readonly rows: number
}

export interface Confirmed {
  readonly level: Confirmation
  /**
   * Of `second`, where entries name approvers: a second person needs one of these roles in the membership. Where several
   * entries concern the change, these are the roles that satisfy each of them; an empty list means that no role can approve.
   */
  readonly approvers?: ReadonlyArray<string>
}

/** The strictest of `least` and of every entry that concerns one of the changes. */
export const confirmationOf = (policy: Policy, changes: ReadonlyArray<Confirmable>, least: Confirmation): Confirmed => {
  const entries = (policy.confirm ?? []).filter((entry) => changes.some((change) => concerns(entry, change)))
  const level = entries.reduce<Confirmation>((so, { by }) => stricter(so, by), least)
  const named = entries.flatMap(({ approvers }) => (approvers === undefined ? [] : [approvers]))
  if (named.length === 0) return { level }
  const approvers = Object.keys(policy.roles).filter((role) =>
    named.every((roles) => roles.some((one) => policy.roles[role]!.includes(one)))
  )
  return { level, approvers }
}

const concerns = (entry: ConfirmEntry, { action, columns, name, rows, type }: Confirmable): boolean =>
  entry.action === action &&
  entry.type === type &&
  entry.name === name &&
  (entry.columns === undefined || entry.columns.some((column) => columns.includes(column))) &&
  (entry.above === undefined || rows > entry.above)
