/**
 * Ending a membership and letting it go on: one way for an operator's command and an administrator's page. Whoever
 * administers can't end their own membership, and is held against the epoch that let them in: so of two who suspend each
 * other at once only one succeeds, and somebody who administers is always left.
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
import type { Identifier } from "./IdentityResolver.ts"

/** A member, by a verified identifier or by the entity id. */
export type Meant = Identifier | { readonly anchorId: string }

export type Standing = "suspended" | "resumed"

export const suspensionEvent = (anchorId: string, standing: Standing, actor: string = OPERATOR): AuditEvent => ({
  actor,
  action: `membership.${standing}`,
  subject: anchorId
})

/** Fails when something changed since the administrator was let in: it may be what let them in. */
export const holdFor = Effect.fnUntraced(function* (
  app: PgClient.PgClient,
  organization: Organization,
  administrator: Principal | undefined
) {
  // The organization's row first, as everywhere: two changes at once wait for each other in one order.
  const epoch = yield* holdEpoch(app, organization.id)
  if (administrator === undefined || administrator.epoch === epoch) return
  return yield* new OperatorError({ message: "Something else changed this organization at the same time. Try again." })
})

export const makeSuspension = (app: PgClient.PgClient) =>
  Effect.fnUntraced(function* (
    organization: Organization,
    meant: Meant,
    standing: Standing,
    administrator?: Principal
  ) {
    if (standing === "suspended" && "anchorId" in meant && meant.anchorId === administrator?.anchorEntityId) {
      return yield* new OperatorError({
        message: "You can't suspend yourself: ask somebody else who administers, or an operator (max member suspend)."
      })
    }
    const changed = yield* orUnavailable(
      app.withTransaction(
        Effect.gen(function* () {
          yield* holdFor(app, organization, administrator)
          const [kind, key] = "anchorId" in meant ? [null, meant.anchorId] : [meant.kind, meant.key]
          const rows = yield* app<{ anchor_id: string }>`
            UPDATE max.memberships m
            SET suspended_at = CASE WHEN ${standing === "suspended"} THEN coalesce(m.suspended_at, now()) END
            WHERE m.organization_id = ${organization.id} AND (${standing === "suspended"} OR m.suspended_at IS NOT NULL)
              AND (${kind}::text IS NULL AND m.anchor_id = ${key}::text OR EXISTS (
                SELECT 1 FROM max.identifiers i WHERE i.organization_id = m.organization_id AND i.anchor_id = m.anchor_id
                  AND i.kind = ${kind}::text AND i.key = ${key}::text))
            RETURNING m.anchor_id`
          const events = rows.map((row) => suspensionEvent(row.anchor_id, standing, administrator?.anchorEntityId))
          if (Arr.isArrayNonEmpty(events)) yield* raiseEpoch(app, organization.id, events)
          return rows.length > 0
        })
      )
    )
    if (changed) return
    const who = "anchorId" in meant ? "this id" : quoted(meant.key)
    return yield* new OperatorError({
      message: `No ${standing === "suspended" ? "member" : "suspended member"} has ${who}. max member list shows them.`
    })
  })
