/** Caches each principal's view of an organization until its state changes or a time-bound rule starts or ends. */
import { createHash } from "node:crypto"
import { compilable } from "../../database/sql/compilable.ts"
import type { Basis } from "../../domain/Basis.ts"
import type { EntityType } from "../../domain/EntityType.ts"
import type { Principal } from "../../domain/Principal.ts"
import type { Plan } from "../../permissions/permissionPlan.ts"
import { plan } from "../../permissions/PermissionEngine.ts"
import type { Admitted } from "../members/IdentityResolver.ts"
import type { State } from "../catalog/OrganizationState.ts"
import type { Visible } from "./visible.ts"

/** Views in the cache. */
const MAX_VIEWS = 2000

/** A cache of views, keyed by all inputs of their plans. */
export const makeViews = () => {
  const views = new Map<string, View>()
  /** The last view of a principal object: skips the key for sessions, which reuse the object. */
  const latest = new WeakMap<Principal, View>()
  return ({ principal, state }: Admitted): View => {
    const now = Date.now()
    const last = latest.get(principal)
    if (last !== undefined && last.state === state && last.expiresAt() > now) return last
    const key = viewKey(principal, state)
    const cached = views.get(key)
    const view = cached !== undefined && cached.expiresAt() > now ? cached : makeView(principal, state, key)
    if (view !== cached) {
      if (views.size >= MAX_VIEWS) views.clear()
      views.set(key, view)
    }
    latest.set(principal, view)
    return view
  }
}

/** One principal's view of one state; each type is planned on first use. */
export interface View extends Visible {
  /** The time, in epoch milliseconds, at which a rule of its plans next starts or ends. */
  readonly expiresAt: () => number
  /** The basis of every answer made from this view: plans all types, so that it expires with the first of them. */
  readonly basis: () => Basis
  /** Nanoseconds spent on planning so far. */
  readonly planning: () => bigint
  /** A hash of the plan's content, for traces; undefined before the type is planned. */
  readonly planHash: (type: EntityType) => string | undefined
}

const makeView = (principal: Principal, state: State, key: string): View => {
  const plans = new Map<string, Plan>()
  const hashes = new Map<string, string>()
  let expiresAt = Infinity
  let planning = 0n
  let digest: string | undefined
  const view: View = {
    state,
    basis: () => {
      for (const type of state.catalog.types) view.planOf(type)
      digest ??= createHash("sha256").update(key).digest("base64url")
      return { key: digest, expiresAt }
    },
    expiresAt: () => expiresAt,
    planning: () => planning,
    planHash: ({ key }) => {
      const cached = hashes.get(key)
      const planned = plans.get(key)
      if (cached !== undefined || planned === undefined) return cached
      const hash = createHash("sha256").update(JSON.stringify(planned, asJson)).digest("hex").slice(0, 8)
      hashes.set(key, hash)
      return hash
    },
    planOf: (type) => {
      let planned = plans.get(type.key)
      if (planned === undefined) {
        const started = process.hrtime.bigint()
        planned = compilable(
          plan(state.policy, state.catalog, principal, type, "read", Date.now()),
          type,
          state.catalog
        )
        plans.set(type.key, planned)
        expiresAt = Math.min(expiresAt, planned.expiresAt)
        planning += process.hrtime.bigint() - started
      }
      return planned._tag === "Granted" ? planned : undefined
    }
  }
  return view
}

const asJson = (_: string, value: unknown): unknown =>
  typeof value === "bigint" ? String(value) : value instanceof Map || value instanceof Set ? [...value] : value

const attributesOf = ({ attributes }: Pick<Principal, "attributes">) =>
  Object.entries(attributes).toSorted(([a], [b]) => (a < b ? -1 : 1))

/** An injective text of all inputs of a principal's plans. Sorted: a token's claims have no order that matters. */
const viewKey = (principal: Principal, state: State): string =>
  JSON.stringify([
    String(principal.organizationId),
    principal.anchorEntityId,
    principal.roles.toSorted(),
    attributesOf(principal),
    principal.actor === undefined
      ? null
      : [principal.actor.id, principal.actor.roles.toSorted(), attributesOf(principal.actor)],
    principal.scope?.map(({ action, columns, type }) => JSON.stringify([type, action, columns])).toSorted() ?? null,
    String(state.catalog.epoch),
    state.policyHash
  ])
