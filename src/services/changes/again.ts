/** A change that has expired, or whose rows have changed, proposed again: the same steps as a new change, evaluated now. */
import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import type { ChangeDocument } from "../../domain/Change.ts"
import { Decided, UnknownName } from "../../domain/errors.ts"
import { type Call, callOf } from "./calls/Call.ts"
import type { Caller } from "./callers.ts"
import { documentOf } from "./document.ts"
import { leastOf } from "./level.ts"
import { noChange, type Proposing } from "./propose.ts"
import type { Stored, Via } from "./records.ts"
import { type Unit, unitOf } from "./Unit.ts"

/** The document of a change that its proposer may propose again. An undo is proposed by undoing once more. */
export const repeatable = (
  stored: Stored | undefined,
  who: string
): Effect.Effect<ChangeDocument, UnknownName | Decided> => {
  if (stored === undefined || stored.state === "drafted" || stored.proposer_id !== who) return Effect.fail(noChange)
  const isOver = stored.state === "expired" || stored.state === "stale"
  const document = isOver && stored.undoes === null ? documentOf(stored) : undefined
  return document === undefined
    ? Effect.fail(new Decided({ message: "This change can't be proposed again.", state: stored.state }))
    : Effect.succeed(document)
}

/** The units of the document as the catalog is now. Fails when it no longer has a type or a column. */
export const repeated = (
  { calls: documented = [], steps }: ChangeDocument,
  { channel, level, session_id }: Pick<Stored, "channel" | "level" | "session_id">,
  caller: Caller,
  via: Via
): Effect.Effect<{ readonly units: ReadonlyArray<Unit>; readonly how: Proposing }, UnknownName> => {
  const units = steps.map((step) => unitOf(step, caller.catalog))
  const calls = documented.map((call) => callOf(call, caller))
  const how = {
    via,
    calls: calls as ReadonlyArray<Call>,
    state: "open" as const,
    sessionId: session_id ?? undefined,
    // What made a second confirmation necessary holds for the same values, and so does the channel that proposed them first.
    atLeast: leastOf(channel, level === "twice" || level === "second" ? "twice" : "none")
  }
  return units.includes(undefined) || calls.includes(undefined)
    ? Effect.fail(noChange)
    : Effect.succeed({ units: units as ReadonlyArray<Unit>, how })
}

/** Points a change to the one that takes its place, which belongs to the same turn. */
export const replaceBy = (
  sql: PgClient.PgClient,
  organizationId: bigint,
  { change_id, turn }: Pick<Stored, "change_id" | "turn">,
  by: string
) =>
  sql.unsafe(
    `/* max replaced change */ UPDATE max.changes SET replaced_by = CASE change_id WHEN $2::text THEN $3::text ELSE replaced_by END,
       turn = CASE change_id WHEN $3::text THEN $4::int ELSE turn END
     WHERE organization_id = $1::bigint AND change_id = ANY(ARRAY[$2::text, $3::text])`,
    [organizationId, change_id, by, turn]
  )
