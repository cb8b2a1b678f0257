/** All changes of an organization with their phases, for its administrators: no document, so no value of a row. */
import type { PgClient } from "@effect/sql-pg"
import { Effect, Schema } from "effect"
import { decodeRows } from "../../database/decodeRows.ts"
import { orUnavailable } from "../../database/execute.ts"
import { Confirmation } from "../../domain/Action.ts"
import { ChangeState } from "../../domain/Change.ts"
import { actionByKey } from "../../domain/Action.ts"
import type { Catalog } from "../../domain/EntityType.ts"
import { printable } from "../../domain/text.ts"
import type { LoggedChange } from "../../wire/admin/changes.ts"
import { DISTINCT_ACTIONS, EVENTS } from "../changes/records.ts"

export interface ChangeLogQuery {
  /** The id of the last change of the previous page. */
  readonly before?: string | undefined
  readonly limit: number
}

const Phase = Schema.Struct({
  at: Schema.String,
  phase: Schema.String,
  outcome: Schema.String,
  who: Schema.String,
  channel: Schema.String,
  ms: Schema.NullOr(Schema.Int)
})

const decodeLog = decodeRows(
  Schema.Struct({
    change_id: Schema.String,
    at: Schema.String,
    state: ChangeState,
    level: Confirmation,
    rows: Schema.Int,
    channel: Schema.String,
    proposer_id: Schema.String,
    token: Schema.NullOr(Schema.String),
    actions: Schema.Array(Schema.String),
    phases: Schema.NullOr(Schema.Array(Phase))
  })
)

/** Events of one change that are listed; the rest are views. */
const MAX_PHASES = 50
const ISO = `YYYY-MM-DD"T"HH24:MI:SS.US"Z"`

/** Changes, newest first. Drafts of a turn that isn't kept yet, and refused attempts, are none. */
export const readChangeLog = (app: PgClient.PgClient, catalog: Catalog, { before, limit }: ChangeLogQuery) =>
  app`
    SELECT c.change_id, to_char(c.created_at AT TIME ZONE 'UTC', ${ISO}) AS at, c.level, c.rows, c.channel, c.proposer_id,
      CASE WHEN c.state IN ('open', 'waiting') AND c.expires_at <= clock_timestamp() THEN 'expired' ELSE c.state END AS state,
      (SELECT t.name FROM max.credentials t WHERE t.organization_id = c.organization_id AND t.credential_id = c.credential_id
        AND t.kind = 'token') AS token,
      ${app.literal(DISTINCT_ACTIONS)} AS actions,
      (SELECT json_agg(json_build_object('at', to_char(e.at AT TIME ZONE 'UTC', ${ISO}), 'phase', e.phase, 'outcome', e.outcome,
          'who', e.who, 'channel', e.channel, 'ms', e.ms) ORDER BY e.later, e.sequence)
        FROM ${app.literal(EVENTS)} e WHERE e.sequence <= ${MAX_PHASES}::int) AS phases
    FROM max.changes c
    WHERE c.organization_id = ${catalog.organization.id}::bigint AND c.rows > 0 AND c.state <> 'drafted'
      AND (${before ?? null}::text IS NULL OR (c.created_at, c.change_id) < (SELECT b.created_at, b.change_id FROM max.changes b
        WHERE b.organization_id = ${catalog.organization.id}::bigint AND b.change_id = ${before ?? null}::text))
    ORDER BY c.created_at DESC, c.change_id DESC LIMIT ${limit}::int`.pipe(
    orUnavailable,
    decodeLog,
    Effect.map((rows) =>
      rows.map(({ actions, change_id: id, phases, proposer_id, token, ...row }): LoggedChange => ({
        ...row,
        id,
        actionIds: actions.map((key) => actionByKey(catalog, key)?.slug ?? key),
        ...(token === null ? {} : { token: printable(token) }),
        proposer: { id: proposer_id },
        phases: (phases ?? []).map(({ ms, who, ...phase }) => ({
          ...phase,
          who: { id: who },
          ...(ms === null ? {} : { ms })
        }))
      }))
    )
  )

/** The people of changes, each with the name that `named` gives. */
export const withNames = (
  changes: ReadonlyArray<LoggedChange>,
  named: (id: string) => string | undefined
): ReadonlyArray<LoggedChange> => {
  const who = ({ id }: { readonly id: string }) => {
    const name = named(id)
    return name === undefined ? { id } : { id, name }
  }
  return changes.map((change) => ({
    ...change,
    proposer: who(change.proposer),
    phases: change.phases.map((phase) => ({ ...phase, who: who(phase.who) }))
  }))
}

/** The ids of the people of changes. */
export const peopleIn = (changes: ReadonlyArray<LoggedChange>): ReadonlyArray<string> =>
  changes.flatMap(({ phases, proposer }) => [proposer.id, ...phases.map(({ who }) => who.id)])
