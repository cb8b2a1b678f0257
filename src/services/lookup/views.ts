/** What principals may see, planned once per state and kept until the state or the time is another. */
import { createHash } from "node:crypto"
import { compilable } from "../../database/sql/compilable.ts"
import type { EntityType } from "../../domain/EntityType.ts"
import type { Principal } from "../../domain/Principal.ts"
import type { Plan } from "../../permissions/permissionPlan.ts"
import { plan } from "../../permissions/PermissionEngine.ts"
import type { Admitted } from "../members/IdentityResolver.ts"
import type { State } from "../catalog/OrganizationState.ts"
import type { Visible } from "./visible.ts"

/** Principals whose plans are kept. */
const MAX_VIEWS = 2000

/** A cache of views: each by everything that its plans depend on. */
export const makeViews = () => {
  const views = new Map<string, View>()
  /** The same by the very objects: a session asks with one principal again and again. */
  const latest = new WeakMap<Principal, View>()
  return ({ principal, state }: Admitted): View => {
    const now = Date.now()
    const last = latest.get(principal)
    if (last !== undefined && last.state === state && last.expiresAt() > now) return last
    const key = viewKey(principal, state)
    const known = views.get(key)
    const view = known !== undefined && known.expiresAt() > now ? known : makeView(principal, state)
    if (view !== known) {
      if (views.size >= MAX_VIEWS) views.clear()
      views.set(key, view)
    }
    latest.set(principal, view)
    return view
  }
}

/** What one principal may see in one state, planned type by type as it is asked for. */
interface View extends Visible {
  /** When the first time-bound rule of what was planned begins or ends. */
  readonly expiresAt: () => number
  /** Nanoseconds that went into plans so far. */
  readonly planning: () => bigint
  /** What a plan is called in traces: the same for whoever has the same plan. */
  readonly nameOf: (type: EntityType) => string | undefined
}

const makeView = (principal: Principal, state: State): View => {
  const plans = new Map<string, Plan>()
  const names = new Map<string, string>()
  let expiresAt = Infinity
  let planning = 0n
  return {
    state,
    expiresAt: () => expiresAt,
    planning: () => planning,
    nameOf: ({ key }) => {
      const known = names.get(key)
      const made = plans.get(key)
      if (known !== undefined || made === undefined) return known
      const name = createHash("sha256").update(JSON.stringify(made, written)).digest("hex").slice(0, 8)
      names.set(key, name)
      return name
    },
    planOf: (type) => {
      let found = plans.get(type.key)
      if (found === undefined) {
        const began = process.hrtime.bigint()
        found = compilable(plan(state.policy, state.catalog, principal, type, "read", Date.now()), type, state.catalog)
        plans.set(type.key, found)
        expiresAt = Math.min(expiresAt, found.expiresAt)
        planning += process.hrtime.bigint() - began
      }
      return found._tag === "Granted" ? found : undefined
    }
  }
}

const written = (_: string, value: unknown): unknown =>
  typeof value === "bigint" ? String(value) : value instanceof Map || value instanceof Set ? [...value] : value

/** An injective text of everything that a principal's plans depend on. */
const viewKey = (principal: Principal, state: State): string =>
  JSON.stringify([
    String(principal.organizationId),
    principal.anchorEntityId,
    principal.roles,
    Object.entries(principal.attributes),
    principal.actor === undefined
      ? null
      : [principal.actor.id, principal.actor.roles, Object.entries(principal.actor.attributes)],
    principal.scope?.map(({ action, columns, type }) => [type, action, columns]) ?? null,
    String(state.catalog.epoch),
    state.policyHash
  ])
