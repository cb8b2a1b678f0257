/**
 * Suspends and resumes memberships, for operators' commands and administrators' pages. An administrator can't suspend
 * themselves, and must act under the epoch that admitted them: if two administrators suspend each other concurrently, only
 * one succeeds, so an organization always retains an administrator.
 */
import type { PgClient } from "@effect/sql-pg"
import { Array as Arr, Effect } from "effect"
import { type AuditEvent, OPERATOR } from "../../database/audit.ts"
import { holdEpoch, raiseEpoch } from "../../database/epoch.ts"
import { orUnavailable } from "../../database/execute.ts"
import type { Organization } from "../../domain/EntityType.ts"
import { OperatorError } from "../../domain/errors.ts"
import type { Principal } from "../../domain/Principal.ts"
import { quoted } from "../../domain/text.ts"
import type { Policy } from "../../permissions/Policy.ts"
import { keepingHolders } from "./holders.ts"
import type { Identifier } from "./identifier.ts"

/** A member, by verified identifier or by entity id. */
export type MemberReference = Identifier | { readonly anchorId: string }

export type Standing = "suspended" | "resumed"

export const suspensionEvent = (anchorId: string, standing: Standing, actor: string = OPERATOR): AuditEvent => ({
  actor,
  action: `membership.${standing}`,
  subject: anchorId
})

/** Locks the epoch; fails if it has changed since the administrator was admitted, because their access may have changed. */
export const lockEpochFor = Effect.fnUntraced(function* (
  app: PgClient.PgClient,
  organization: Organization,
  administrator: Principal | undefined
) {
  // Every change locks the organization's row first, which prevents deadlocks.
  const epoch = yield* holdEpoch(app, organization.id)
  if (administrator === undefined || administrator.epoch === epoch) return
  return yield* OperatorError.of("Something else changed this organization at the same time. Try again.")
})

export const makeSuspension = (app: PgClient.PgClient) =>
  Effect.fnUntraced(function* (
    organization: Organization,
    member: MemberReference,
    standing: Standing,
    by?: { readonly administrator: Principal; readonly policy: Policy }
  ) {
    const administrator = by?.administrator
    if (standing === "suspended" && "anchorId" in member && member.anchorId === administrator?.anchorEntityId) {
      return yield* OperatorError.of("You can't suspend yourself: ask another administrator or an operator.")
    }
    const changed = yield* Effect.gen(function* () {
      yield* lockEpochFor(app, organization, administrator)
      const [kind, key] = "anchorId" in member ? [null, member.anchorId] : [member.kind, member.key]
      const update = app<{ anchor_id: string }>`
            UPDATE max.memberships m
            SET suspended_at = CASE WHEN ${standing === "suspended"} THEN coalesce(m.suspended_at, now()) END, invited_at = NULL
            WHERE m.organization_id = ${organization.id} AND (${standing === "suspended"} OR m.suspended_at IS NOT NULL)
              AND (${kind}::text IS NULL AND m.anchor_id = ${key}::text OR EXISTS (
                SELECT 1 FROM max.identifiers i WHERE i.organization_id = m.organization_id AND i.anchor_id = m.anchor_id
                  AND i.kind = ${kind}::text AND i.key = ${key}::text))
            RETURNING m.anchor_id`
      const rows = yield* by === undefined ? update : keepingHolders(app, organization, by.policy, update)
      const events = rows.map((row) => suspensionEvent(row.anchor_id, standing, administrator?.anchorEntityId))
      if (Arr.isArrayNonEmpty(events)) yield* raiseEpoch(app, organization.id, events)
      return rows.length > 0
    }).pipe(app.withTransaction, orUnavailable)
    if (changed) return
    const who = "anchorId" in member ? "this id" : quoted(member.key)
    return yield* OperatorError.withCommand(
      `No ${standing === "suspended" ? "member" : "suspended member"} has ${who}.`,
      "max member list shows them."
    )
  })
