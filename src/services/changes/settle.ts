/** The statements that move a pending change to another state, and the words for one that can't be moved any more. */
import { Effect } from "effect"
import type { SqlError } from "effect/sql"
import { appendAudit } from "../../database/audit.ts"
import type { Database } from "../../database/Database.ts"
import { orUnavailable } from "../../database/execute.ts"
import { faultOf } from "../../database/fault.ts"
import type { Receipt } from "../../domain/Change.ts"
import { Decided, Expired, NotYet, type Unavailable } from "../../domain/errors.ts"
import type { Principal } from "../../domain/Principal.ts"
import { auditDetails } from "./apply.ts"
import { documentOf } from "./document.ts"
import { appendEvents, type ChangeEvent, type Stored, type Via } from "./records.ts"

export const ELSEWHERE = "This is being changed right now. Try again in a minute."
/** Another transaction has the lock. */
export const LOCKED = "55P03"

/** Why a change can't be decided on; the receipt if it was applied. */
export const settled = (stored: Stored): Effect.Effect<Receipt | undefined, Decided | Expired> => {
  switch (stored.state) {
    case "applied":
      return stored.receipt === undefined
        ? Effect.fail(new Decided({ message: DECIDED, state: "applied" }))
        : Effect.succeed(stored.receipt)
    case "open":
    case "waiting":
      return Effect.succeed(undefined)
    case "expired":
      return Effect.fail(Expired.error)
    default:
      return Effect.fail(new Decided({ message: DECIDED_AS[stored.state] ?? DECIDED, state: stored.state }))
  }
}

const DECIDED = "This change has been decided already."
const DECIDED_AS: Readonly<Record<string, string>> = {
  rejected: "This change was rejected: nothing was changed.",
  withdrawn: "This change was withdrawn: nothing was changed.",
  stale: "What this change was about has changed since: nothing was changed. Propose it again.",
  failed: "This change couldn't be made: nothing was changed."
}

/** Changes a pending change's state, if the condition still holds, with its events; false if it doesn't. */
export const decide = (
  { changes: sql }: Database["Service"],
  stored: Stored,
  principal: Principal,
  via: Via,
  set: string,
  condition: string,
  events: ReadonlyArray<ChangeEvent>,
  audited?: string
): Effect.Effect<boolean, NotYet | Unavailable> =>
  Effect.gen(function* () {
    const rows = yield* sql.unsafe(
      `/* max decide */ UPDATE max.changes c SET ${set} WHERE c.organization_id = $1::bigint AND c.change_id = $2::text
         AND c.digest = decode($3::text, 'hex') AND c.expires_at > clock_timestamp() AND ${condition}
         AND $4::text IS NOT NULL AND $5::text IS NOT NULL RETURNING 1`,
      [principal.organizationId, stored.change_id, stored.digest, principal.anchorEntityId, via.channel]
    )
    if (rows.length === 0) return false
    yield* appendEvents(sql, principal.organizationId, stored.change_id, principal.anchorEntityId, via, events)
    if (audited !== undefined) yield* audit(sql, stored, principal, audited)
    return true
  }).pipe(
    sql.withTransaction,
    Effect.catchTag("SqlError", (error): Effect.Effect<never, SqlError.SqlError | NotYet> =>
      faultOf(error).code === LOCKED ? Effect.fail(NotYet.of(ELSEWHERE)) : Effect.fail(error)
    ),
    orUnavailable
  )

export const audit = (sql: Database["Service"]["changes"], stored: Stored, principal: Principal, action: string) => {
  const decider = principal.anchorEntityId
  const { digest } = stored
  const document = documentOf(stored)
  const details = document === undefined ? { digest } : auditDetails(document, digest, decider)
  return appendAudit(sql, principal.organizationId, "changes", [
    { actor: decider, action, subject: stored.change_id, details }
  ])
}
