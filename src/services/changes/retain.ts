/** Tidies an organization's changes: marks expired ones, removes drafts of lost turns, and erases values after their time. */
import { Effect } from "effect"
import type { Database } from "../../database/Database.ts"
import { orUnavailable } from "../../database/execute.ts"
import { DECIDABLE, PENDING } from "./records.ts"

/** A turn takes at most ten minutes. */
const DRAFT_MINUTES = 15

export interface Tidied {
  readonly expired: number
  readonly erased: number
}

/** Nothing depends on it: expiry is a condition of every decision. The digests of erased changes stay. */
export const tidy = Effect.fnUntraced(function* (
  organizationId: bigint,
  days: number,
  { changes: sql }: Database["Service"]
) {
  return yield* Effect.gen(function* () {
    yield* sql.unsafe(
      `/* max tidy */ DELETE FROM max.changes WHERE organization_id = $1::bigint AND (
         (state = 'drafted' AND created_at < clock_timestamp() - make_interval(mins => ${DRAFT_MINUTES}))
         OR (rows = 0 AND created_at < clock_timestamp() - interval '1 day'))`,
      [organizationId]
    )
    const expired = yield* sql.unsafe<{ change_id: string }>(
      `UPDATE max.changes SET state = 'expired', decided_at = clock_timestamp() WHERE organization_id = $1::bigint
         AND state IN ${DECIDABLE} AND expires_at <= clock_timestamp() RETURNING change_id`,
      [organizationId]
    )
    yield* sql.unsafe(
      `INSERT INTO max.change_events (organization_id, change_id, sequence, phase, who, channel, outcome)
       SELECT c.organization_id, c.change_id, coalesce((SELECT max(e.sequence) FROM max.change_events e
         WHERE e.organization_id = c.organization_id AND e.change_id = c.change_id), 0) + 1, 'expired', c.proposer_id, c.channel, 'ok'
       FROM max.changes c WHERE c.organization_id = $1::bigint AND c.change_id = ANY($2::text[])`,
      [organizationId, expired.map(({ change_id }) => change_id)]
    )
    const erased = yield* sql.unsafe(
      `UPDATE max.changes SET document = NULL, made = NULL WHERE organization_id = $1::bigint AND document IS NOT NULL AND state NOT IN ${PENDING}
         AND coalesce(decided_at, created_at) < clock_timestamp() - make_interval(days => $2::int) RETURNING 1`,
      [organizationId, days]
    )
    const tidied: Tidied = { expired: expired.length, erased: erased.length }
    return tidied
  }).pipe(sql.withTransaction, orUnavailable)
})
