/** A caller's plans for reading and for changing, of one admitted state. */
import type { Action } from "../../domain/Action.ts"
import { actionsOf } from "../../domain/Action.ts"
import type { Catalog, EntityType } from "../../domain/EntityType.ts"
import { typeByKey } from "../../domain/EntityType.ts"
import type { Principal } from "../../domain/Principal.ts"
import type { Granted } from "../../permissions/permissionPlan.ts"
import type { Policy } from "../../permissions/Policy.ts"
import { compilableWrite } from "../../database/sql/compilable.ts"
import {
  planWrite,
  settableColumns,
  type WriteAction,
  type WriteGranted,
  type WritePlan
} from "../../permissions/WritePlan.ts"
import type { Admitted } from "../members/IdentityResolver.ts"
import { makeViews, type View } from "../lookup/views.ts"
import { visibleColumns } from "../lookup/visible.ts"

export interface Caller {
  readonly principal: Principal
  readonly catalog: Catalog
  readonly policy: Policy
  readonly view: View
  /** The read plan of a type; undefined when the type is hidden. */
  readonly readOf: (type: EntityType) => Granted | undefined
  /** The plan of a change; undefined when nothing of the type may be changed so. */
  readonly writeOf: (type: EntityType, op: WriteAction) => WriteGranted | undefined
}

/** An action that is open to a caller, with the keys of the columns that it may set on some row. */
export interface OpenAction {
  readonly action: Action
  /** The type that it acts on. */
  readonly type: EntityType
  readonly columns: ReadonlyArray<string>
}

export const makeCallers = () => {
  const visibleTo = makeViews()
  /** The plans of changes, beside the read plans of the same principal and state. */
  const plansOf = new WeakMap<View, Map<string, WritePlan>>()
  return (admitted: Admitted): Caller => {
    const { principal, state } = admitted
    const view = visibleTo(admitted)
    const plans = plansOf.get(view) ?? new Map<string, WritePlan>()
    plansOf.set(view, plans)
    return {
      principal,
      catalog: state.catalog,
      policy: state.policy,
      view,
      readOf: view.planOf,
      writeOf: (type, op) => {
        if (type.mapping !== undefined) return undefined
        const now = Date.now()
        const key = `${type.key} ${op}`
        let planned = plans.get(key)
        if (planned === undefined || planned.expiresAt <= now) {
          planned = compilableWrite(
            planWrite(state.policy, state.catalog, principal, type, op, now),
            type,
            state.catalog
          )
          plans.set(key, planned)
        }
        return planned._tag === "Granted" ? planned : undefined
      }
    }
  }
}

/** The actions that are open to the caller on some row, in the catalog's order. */
export const openActions = (caller: Caller): ReadonlyArray<OpenAction> =>
  actionsOf(caller.catalog).flatMap((action): ReadonlyArray<OpenAction> => {
    const open = openAction(action, caller)
    return open === undefined ? [] : [open]
  })

/** The action as it is open to the caller; undefined when it isn't. */
export const openAction = (action: Action, caller: Caller): OpenAction | undefined => {
  const type = typeByKey(caller.catalog, action.subject.type)!
  const plan = caller.readOf(type)
  const write = caller.writeOf(type, action.executor.op)
  if (plan === undefined || write === undefined) return undefined
  const visible = new Set(visibleColumns({ type, plan }, caller.view).map(({ key }) => key))
  const columns = settableColumns(write).filter(
    (key) => visible.has(key) && action.fields.some((field) => field.key === key)
  )
  return action.executor.op !== "delete" && columns.length === 0 ? undefined : { action, type, columns }
}
