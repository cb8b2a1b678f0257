/** A change that has expired, or whose rows have changed, proposed again: the same steps as a new change, evaluated now. */
import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import type { ChangeDocument } from "../../domain/Change.ts"
import type { Catalog } from "../../domain/EntityType.ts"
import { Decided, UnknownName } from "../../domain/errors.ts"
import { open } from "./document.ts"
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
  return !isOver || stored.undoes !== null || stored.document === null
    ? Effect.fail(new Decided({ message: "This change can't be proposed again.", state: stored.state }))
    : Effect.succeed(open(stored.document, stored.digest))
}

/** The units of the document as the catalog is now. Fails when it no longer has a type or a column. */
export const repeated = (
  { steps }: ChangeDocument,
  { level, session_id }: Pick<Stored, "level" | "session_id">,
  catalog: Catalog,
  via: Via
): Effect.Effect<{ readonly units: ReadonlyArray<Unit>; readonly how: Proposing }, UnknownName> => {
  const units = steps.map((step) => unitOf(step, catalog))
  const how = {
    via,
    state: "open" as const,
    sessionId: session_id ?? undefined,
    // What made a second confirmation necessary holds for the same values.
    atLeast: level === "twice" || level === "second" ? ("twice" as const) : undefined
  }
  return units.includes(undefined)
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
