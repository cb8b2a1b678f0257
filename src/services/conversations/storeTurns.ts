/** The turns of conversations as they are stored, and the statements that store one. */
import type { PgClient } from "@effect/sql-pg"
import { Effect, Schema } from "effect"
import type { SqlClient, SqlError } from "effect/sql"
import { orUnavailable } from "../../database/execute.ts"
import type { Basis } from "../../domain/Basis.ts"
import type { Unavailable } from "../../domain/errors.ts"
import { type Beside, Presented } from "../../domain/Presented.ts"

/** An entity that an answer was about: the slug of its type and its id. */
export const Reference = Schema.Struct({ type: Schema.String, id: Schema.String })
export type Reference = typeof Reference.Type

/** The owner of a session. */
export interface Owner {
  readonly organizationId: bigint
  readonly anchorId: string
}

export interface Said {
  readonly asked: string
  readonly answered: string
}

export interface NewTurn extends Said {
  /** The epoch of the turn's lookups, for operators. */
  readonly epoch: bigint
  readonly references: ReadonlyArray<Presented>
  readonly beside?: Beside
  readonly model: string
  readonly inputTokens: number
  readonly outputTokens: number
  /** The short reference of the turn's trace. */
  readonly reference: string
}

/** What is written together with a turn, such as the drafts that it opens. */
export type Keeping = (
  sql: PgClient.PgClient,
  turn: { readonly sessionId: string; readonly position: number }
) => Effect.Effect<void, SqlError.SqlError>

/** The condition on a turn that its answer may be shown under this basis: it was made from the same, which hasn't expired. */
export const madeFrom = (sql: SqlClient.SqlClient, { key }: Basis) =>
  sql`coalesce(basis = ${key}::text AND expires_at > to_timestamp(${Date.now() / 1000}::float8), false)`

/** Turns that earlier versions stored have types and ids only. */
export const decodePresented = Schema.decodeUnknownSync(Schema.Array(Presented))

/** The statements that store a turn, with what is kept in the same transaction. */
export const storeTurns = (app: PgClient.PgClient) => {
  const values = (turn: NewTurn, { expiresAt, key }: Basis) =>
    app`${turn.epoch}::bigint, ${turn.asked}::text, ${turn.answered}::text, ${app.json(turn.references)}::jsonb, ${turn.model}::text,
      ${turn.inputTokens}::int, ${turn.outputTokens}::int, ${turn.reference}::text, ${key}::text, to_timestamp(${expiresAt / 1000}::float8),
      ${app.json(turn.beside ?? {})}::jsonb`

  const focusOf = (references: ReadonlyArray<Presented>) => references.map(({ id, type }): Reference => ({ type, id }))
  /** An answer without entities keeps the previous focus. */
  const focusAfter = (turn: NewTurn, before: ReadonlyArray<Reference>) =>
    app.json(turn.references.length === 0 ? before : focusOf(turn.references))

  /** Runs the statement that stores a turn, and in the same transaction what is kept with it. */
  const kept = (
    stored: Effect.Effect<ReadonlyArray<{ readonly position: number }>, SqlError.SqlError>,
    sessionId: string,
    keeping: Keeping | undefined
  ): Effect.Effect<void, Unavailable> =>
    keeping === undefined
      ? Effect.asVoid(orUnavailable(stored))
      : orUnavailable(
          app.withTransaction(
            Effect.flatMap(stored, ([turn]) =>
              turn === undefined ? Effect.void : keeping(app, { sessionId, position: turn.position })
            )
          )
        )

  /** Saves a turn under the lease. With `after`, it overwrites the following turn and deletes the rest. */
  const append =
    (owner: Owner, id: string, token: string, after: number | undefined, focus: ReadonlyArray<Reference>) =>
    (turn: NewTurn, basis: Basis, keeping?: Keeping) =>
      kept(
        app<{ position: number }>`
      WITH held AS (
        UPDATE max.sessions SET turns = least(turns, coalesce(${after ?? null}::int, turns)) + 1, updated_at = now(),
          lease = NULL, leased_until = NULL, focus = ${focusAfter(turn, focus)}::jsonb
        WHERE organization_id = ${owner.organizationId} AND session_id = ${id} AND lease = ${token}
        RETURNING organization_id, session_id, turns
      ), removed AS (
        DELETE FROM max.turns t USING held WHERE t.organization_id = held.organization_id
          AND t.session_id = held.session_id AND t.position > held.turns
      )
      INSERT INTO max.turns (organization_id, session_id, position, epoch, asked, answered, refs, model, input_tokens, output_tokens, reference,
        basis, expires_at, beside)
      SELECT organization_id, session_id, turns, ${values(turn, basis)} FROM held
      ON CONFLICT (organization_id, session_id, position) DO UPDATE SET epoch = excluded.epoch, asked = excluded.asked,
        answered = excluded.answered, refs = excluded.refs, model = excluded.model, input_tokens = excluded.input_tokens,
        output_tokens = excluded.output_tokens, reference = excluded.reference,
        basis = excluded.basis, expires_at = excluded.expires_at, beside = excluded.beside, created_at = now() RETURNING position`,
        id,
        keeping
      )

  const begin = (owner: Owner, id: string) => (turn: NewTurn, basis: Basis, keeping?: Keeping) =>
    kept(
      app<{ position: number }>`
      WITH created AS (
        INSERT INTO max.sessions (organization_id, session_id, anchor_id, turns, focus)
        VALUES (${owner.organizationId}, ${id}, ${owner.anchorId}, 1, ${focusAfter(turn, [])}::jsonb)
        RETURNING organization_id, session_id
      )
      INSERT INTO max.turns (organization_id, session_id, position, epoch, asked, answered, refs, model, input_tokens, output_tokens, reference,
        basis, expires_at, beside)
      SELECT organization_id, session_id, 1, ${values(turn, basis)} FROM created RETURNING position`,
      id,
      keeping
    )

  return { append, begin }
}
