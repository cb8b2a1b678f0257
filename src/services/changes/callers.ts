/** A caller's plans for reading and for changing, of one admitted state. */
import { Effect } from "effect"
import type { Action } from "../../domain/Action.ts"
import { actionsOf } from "../../domain/Action.ts"
import type { DeclaredAction } from "../../domain/DeclaredAction.ts"
import type { Catalog, EntityType } from "../../domain/EntityType.ts"
import { isWritable, peopleOf, typeByKey } from "../../domain/EntityType.ts"
import { NotYet } from "../../domain/errors.ts"
import type { Principal } from "../../domain/Principal.ts"
import { mayInvoke } from "../../permissions/invoke.ts"
import type { Granted } from "../../permissions/permissionPlan.ts"
import type { Policy } from "../../permissions/Policy.ts"
import type { NamedPerson } from "../../database/sql/RowChange.ts"
import { parseId } from "../../domain/values.ts"
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
import type { OrgEntityStore } from "../OrgEntityStore.ts"
import type { Reader } from "./reader.ts"

export interface Caller {
  readonly principal: Principal
  readonly catalog: Catalog
  readonly policy: Policy
  readonly view: View
  /** The declared actions that the caller may use now. */
  readonly actions: ReadonlyArray<DeclaredAction>
  /** The slugs of those that only a newer version of Max can use. */
  readonly newerActions: ReadonlyArray<string>
  /** The read plan of a type; undefined when the type is hidden. */
  readonly readOf: (type: EntityType) => Granted | undefined
  /** The plan of a change; undefined when nothing of the type may be changed so. */
  readonly writeOf: (type: EntityType, op: WriteAction) => WriteGranted | undefined
  readonly read: Reader
}

/** An action that is open to a caller. */
export type OpenAction = OpenRowAction | OpenDeclaredAction

/** An action on rows, with the keys of the columns that it may set on some row. */
export interface OpenRowAction {
  readonly action: Action
  /** The type that it acts on. */
  readonly type: EntityType
  readonly columns: ReadonlyArray<string>
}

export interface OpenDeclaredAction {
  readonly action: DeclaredAction
  readonly type?: never
  /** The slugs of its fields. */
  readonly columns: ReadonlyArray<string>
}

export const makeCallers = (store: Pick<OrgEntityStore["Service"], "rows">) => {
  const visibleTo = makeViews()
  /** The plans of changes, beside the read plans of the same principal and state. */
  const plansOf = new WeakMap<View, Map<string, WritePlan>>()
  return (admitted: Admitted): Caller => {
    const { principal, state } = admitted
    const view = visibleTo(admitted)
    const plans = plansOf.get(view) ?? new Map<string, WritePlan>()
    plansOf.set(view, plans)
    const invokes = (slug: string) => mayInvoke(state.policy, principal, slug, Date.now())
    return {
      principal,
      catalog: state.catalog,
      policy: state.policy,
      view,
      actions: (state.actions ?? []).filter(({ slug }) => invokes(slug)),
      newerActions: (state.newerActions ?? []).filter(invokes),
      readOf: view.planOf,
      read: (statement) => store.rows(statement, state.catalog),
      writeOf: (type, op) => {
        if (!isWritable(type, op)) return undefined
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

/** Fails when one of the actions is of a kind that only a newer version of Max can use. */
export const requireKnown = (
  slugs: ReadonlyArray<string>,
  { newerActions }: Pick<Caller, "newerActions">
): Effect.Effect<void, NotYet> => {
  const newer = slugs.find((slug) => newerActions.includes(slug))
  return newer === undefined
    ? Effect.void
    : Effect.fail(NotYet.of(`${newer} isn't available here until this part of Max is updated. Try again later.`))
}

/** The actions that are open to the caller: those on some row in the catalog's order, then the declared ones. */
export const openActions = (caller: Caller): ReadonlyArray<OpenAction> => [
  ...actionsOf(caller.catalog).flatMap((action): ReadonlyArray<OpenAction> => {
    const open = openAction(action, caller)
    return open === undefined ? [] : [open]
  }),
  ...caller.actions.map((action): OpenDeclaredAction => ({ action, columns: action.fields.map(({ slug }) => slug) }))
]

/** The action as it is open to the caller; undefined when it isn't. */
export const openAction = (action: Action, caller: Caller): OpenRowAction | undefined => {
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

/** A caller's own row in People; undefined where nothing is visible, and for a mapped type: its table may be unavailable, and no other type's changes depend on it. */
export const ownPerson = ({ catalog, principal, readOf }: Caller): NamedPerson | undefined => {
  const type = peopleOf(catalog)
  const read = type === undefined ? undefined : readOf(type)
  const id = parseId(principal.anchorEntityId, undefined)
  return type === undefined || type.mapping !== undefined || read === undefined || id === undefined
    ? undefined
    : { type, id, read }
}
