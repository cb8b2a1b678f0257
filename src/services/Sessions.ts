/**
 * Conversations: what was said and what it was about. A session belongs to one anchor of one organization and is
 * nobody else's; tool results are never kept. Turns of a session follow one another in every process: whoever holds the
 * lease answers, and a lease that nobody gives back is over by itself, so no connection is held while a model thinks.
 */
import { Context, Effect, Layer, Schedule, Schema, type Scope } from "effect"
import { randomBytes } from "node:crypto"
import { Database } from "../database/Database.ts"
import { orUnavailable } from "../database/read.ts"
import type { Organization } from "../domain/EntityType.ts"
import { OperatorError, Unavailable } from "../domain/errors.ts"

/** What an answer was about: an entity by the slug of its type and its id. */
export const Reference = Schema.Struct({ type: Schema.String, id: Schema.String })
export type Reference = typeof Reference.Type

/** Whose session it is. */
export interface Owner {
  readonly organizationId: bigint
  readonly anchorId: string
}

export interface Said {
  readonly asked: string
  readonly answered: string
}

interface NewTurn extends Said {
  /** The epoch that the turn's lookups were planned from: its words are shown to nobody's model after that. */
  readonly epoch: bigint
  readonly references: ReadonlyArray<Reference>
  readonly model: string
  readonly inputTokens: number
  readonly outputTokens: number
  /** The short reference of the turn's trace. */
  readonly reference: string
}

export interface OpenSession {
  readonly id: string
  readonly isNew: boolean
  /** What the last answer that was about something was about, in its order. */
  readonly focus: ReadonlyArray<Reference>
  /** The latest turns of an epoch, oldest first. */
  readonly turnsOf: (epoch: bigint) => Effect.Effect<ReadonlyArray<Said>, Unavailable>
  /** Adds the turn and gives the session back; nothing is written when the lease has gone to somebody else. */
  readonly save: (turn: NewTurn) => Effect.Effect<void, Unavailable>
}

export interface SessionSummary {
  readonly id: string
  readonly anchorId: string
  readonly turns: number
  readonly createdAt: string
  readonly updatedAt: string
}

export interface StoredTurn extends NewTurn {
  readonly at: string
}

/** Earlier turns that a model is told of. */
const MAX_TURNS = 8
/** How often a turn that waits for another one looks again. */
const LOOK_AGAIN = Schedule.spaced("100 millis")

const FocusColumn = Schema.Array(Reference)
const decodeReferences = Schema.decodeUnknownSync(FocusColumn)

interface TurnRow {
  readonly asked: string
  readonly answered: string
  readonly refs: unknown
  readonly epoch: bigint
  readonly model: string
  readonly input_tokens: number
  readonly output_tokens: number
  readonly reference: string
  readonly at: string
}

interface SummaryRow {
  readonly session_id: string
  readonly anchor_id: string
  readonly turns: number
  readonly created: string
  readonly updated: string
}

const summary = (row: SummaryRow): SessionSummary => ({
  id: row.session_id,
  anchorId: row.anchor_id,
  turns: row.turns,
  createdAt: row.created,
  updatedAt: row.updated
})

const NO_SESSION = new OperatorError({ message: "There is no session with that id. max sessions list shows them." })

export class Sessions extends Context.Service<
  Sessions,
  {
    /**
     * The owner's session, waited for while another turn of it is being answered; another one's id, an unknown one or
     * none begins a new session. The lease is over after `seconds`, or with the scope.
     */
    readonly open: (
      owner: Owner,
      id: string | undefined,
      seconds: number
    ) => Effect.Effect<OpenSession, Unavailable, Scope.Scope>
    /** An organization's sessions, or one anchor's of them, the latest first. */
    readonly list: (
      organization: Organization,
      anchorId?: string
    ) => Effect.Effect<ReadonlyArray<SessionSummary>, Unavailable>
    /** What was said in a session, oldest first; with an anchor only in one of theirs. */
    readonly show: (
      organization: Organization,
      id: string,
      anchorId?: string
    ) => Effect.Effect<
      { readonly session: SessionSummary; readonly turns: ReadonlyArray<StoredTurn> },
      OperatorError | Unavailable
    >
    readonly remove: (
      organization: Organization,
      id: string,
      anchorId?: string
    ) => Effect.Effect<void, OperatorError | Unavailable>
    /** Removes the organization's sessions that nobody has used for so many days. */
    readonly removeOlderThan: (organizationId: bigint, days: number) => Effect.Effect<number, Unavailable>
  }
>()("max/services/Sessions") {
  static readonly layer = Layer.effect(
    Sessions,
    Effect.gen(function* () {
      const { app } = yield* Database

      const lease = Effect.fnUntraced(function* (owner: Owner, id: string, token: string, seconds: number) {
        const [row] = yield* orUnavailable(app<{ known: boolean; leased: boolean; focus: unknown }>`
          WITH own AS (
            SELECT 1 FROM max.sessions WHERE organization_id = ${owner.organizationId} AND session_id = ${id}
              AND anchor_id = ${owner.anchorId}
          ), leased AS (
            UPDATE max.sessions SET lease = ${token}, leased_until = clock_timestamp() + make_interval(secs => ${seconds}::int)
            WHERE organization_id = ${owner.organizationId} AND session_id = ${id} AND anchor_id = ${owner.anchorId}
              AND (leased_until IS NULL OR leased_until < clock_timestamp()) RETURNING focus
          )
          SELECT EXISTS (SELECT FROM own) AS known, EXISTS (SELECT FROM leased) AS leased, (SELECT focus FROM leased) AS focus`)
        return row!
      })

      const release = (owner: Owner, id: string, token: string) =>
        Effect.ignore(
          orUnavailable(app`
            UPDATE max.sessions SET lease = NULL, leased_until = NULL
            WHERE organization_id = ${owner.organizationId} AND session_id = ${id} AND lease = ${token}`)
        )

      const turnsOf = (owner: Owner, id: string) => (epoch: bigint) =>
        orUnavailable(app<Said>`
          SELECT asked, answered FROM (
            SELECT position, asked, answered FROM max.turns WHERE organization_id = ${owner.organizationId}
              AND session_id = ${id} AND epoch = ${epoch} ORDER BY position DESC LIMIT ${MAX_TURNS}
          ) latest ORDER BY position`)

      const values = (turn: NewTurn) =>
        app`${turn.epoch}::bigint, ${turn.asked}::text, ${turn.answered}::text, ${app.json(turn.references)}::jsonb, ${turn.model}::text,
          ${turn.inputTokens}::int, ${turn.outputTokens}::int, ${turn.reference}::text`

      /** An answer that was about nothing leaves the focus where it was. */
      const focusAfter = (turn: NewTurn) => (turn.references.length === 0 ? null : app.json(turn.references))

      const addTo = (owner: Owner, id: string, token: string) => (turn: NewTurn) =>
        orUnavailable(app`
          WITH held AS (
            UPDATE max.sessions SET turns = turns + 1, updated_at = now(), lease = NULL, leased_until = NULL,
              focus = coalesce(${focusAfter(turn)}::jsonb, focus)
            WHERE organization_id = ${owner.organizationId} AND session_id = ${id} AND lease = ${token}
            RETURNING organization_id, session_id, turns
          )
          INSERT INTO max.turns (organization_id, session_id, position, epoch, asked, answered, refs, model, input_tokens, output_tokens, reference)
          SELECT organization_id, session_id, turns, ${values(turn)} FROM held`).pipe(Effect.asVoid)

      const begin = (owner: Owner, id: string) => (turn: NewTurn) =>
        orUnavailable(app`
          WITH made AS (
            INSERT INTO max.sessions (organization_id, session_id, anchor_id, turns, focus)
            VALUES (${owner.organizationId}, ${id}, ${owner.anchorId}, 1, coalesce(${focusAfter(turn)}::jsonb, '[]'))
            RETURNING organization_id, session_id
          )
          INSERT INTO max.turns (organization_id, session_id, position, epoch, asked, answered, refs, model, input_tokens, output_tokens, reference)
          SELECT organization_id, session_id, 1, ${values(turn)} FROM made`).pipe(Effect.asVoid)

      const fresh = (owner: Owner): OpenSession => {
        const id = randomBytes(16).toString("base64url")
        return { id, isNew: true, focus: [], turnsOf: () => Effect.succeed([]), save: begin(owner, id) }
      }

      const summaries = (organization: Organization, id: string | null, anchorId: string | undefined) =>
        orUnavailable(app<SummaryRow>`
          SELECT session_id, anchor_id, turns, to_char(created_at, 'YYYY-MM-DD"T"HH24:MI:SS"Z"') AS created,
            to_char(updated_at, 'YYYY-MM-DD"T"HH24:MI:SS"Z"') AS updated
          FROM max.sessions WHERE organization_id = ${organization.id} AND (${id}::text IS NULL OR session_id = ${id}::text)
            AND (${anchorId ?? null}::text IS NULL OR anchor_id = ${anchorId ?? null}::text)
          ORDER BY updated_at DESC, session_id LIMIT 1000`)

      return Sessions.of({
        open: Effect.fn("Sessions.open")(function* (owner, id, seconds) {
          if (id === undefined) return fresh(owner)
          const token = randomBytes(12).toString("base64url")
          const found = yield* Effect.acquireRelease(
            lease(owner, id, token, seconds).pipe(
              Effect.repeat({ schedule: LOOK_AGAIN, while: ({ known, leased }) => known && !leased })
            ),
            () => release(owner, id, token),
            { interruptible: true }
          )
          if (!found.leased) return fresh(owner)
          return {
            id,
            isNew: false,
            focus: decodeReferences(found.focus),
            turnsOf: turnsOf(owner, id),
            save: addTo(owner, id, token)
          }
        }),

        list: (organization, anchorId) =>
          Effect.map(summaries(organization, null, anchorId), (rows) => rows.map(summary)),

        show: Effect.fn("Sessions.show")(function* (organization, id, anchorId) {
          const [row] = yield* summaries(organization, id, anchorId)
          if (row === undefined) return yield* NO_SESSION
          const turns = yield* orUnavailable(app<TurnRow>`
            SELECT asked, answered, refs, epoch, model, input_tokens, output_tokens, reference,
              to_char(created_at, 'YYYY-MM-DD"T"HH24:MI:SS"Z"') AS at
            FROM max.turns WHERE organization_id = ${organization.id} AND session_id = ${id} ORDER BY position`)
          return {
            session: summary(row),
            turns: turns.map((turn) => ({
              asked: turn.asked,
              answered: turn.answered,
              references: decodeReferences(turn.refs),
              epoch: turn.epoch,
              model: turn.model,
              inputTokens: turn.input_tokens,
              outputTokens: turn.output_tokens,
              reference: turn.reference,
              at: turn.at
            }))
          }
        }),

        remove: Effect.fn("Sessions.remove")(function* (organization, id, anchorId) {
          const rows = yield* orUnavailable(
            app`DELETE FROM max.sessions WHERE organization_id = ${organization.id} AND session_id = ${id}
              AND (${anchorId ?? null}::text IS NULL OR anchor_id = ${anchorId ?? null}::text) RETURNING 1 AS one`
          )
          if (rows.length === 0) return yield* NO_SESSION
        }),

        removeOlderThan: (organizationId, days) =>
          Effect.map(
            orUnavailable(
              app`DELETE FROM max.sessions WHERE organization_id = ${organizationId}
                AND updated_at < now() - make_interval(days => ${days}::int) RETURNING 1 AS one`
            ),
            (rows) => rows.length
          )
      })
    })
  )
}
