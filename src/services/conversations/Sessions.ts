/**
 * Conversations: what was said and what it was about. A session belongs to one anchor of one organization and is
 * nobody else's; tool results are never kept. Turns of a session follow one another in every process: whoever holds the
 * lease answers, and a lease that nobody gives back is over by itself, so no connection is held while a model thinks.
 */
import { Context, Effect, Layer, Schedule, Schema, type Scope } from "effect"
import { randomBytes } from "node:crypto"
import { Database } from "../../database/Database.ts"
import { orUnavailable } from "../../database/execute.ts"
import type { Organization } from "../../domain/EntityType.ts"
import { OperatorError, Unavailable } from "../../domain/errors.ts"
import { Presented } from "../../domain/Presented.ts"

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
  readonly references: ReadonlyArray<Presented>
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

const decodeFocus = Schema.decodeUnknownSync(Schema.Array(Reference))
/** Turns of earlier versions have the types and ids alone. */
export const decodePresented = Schema.decodeUnknownSync(Schema.Array(Presented))

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
     * none begins a new session. The lease is over after `seconds`, or with the scope. With `after`, the turn to come
     * follows that one: it is told of none behind it, and takes their place when it is saved.
     */
    readonly open: (
      owner: Owner,
      id: string | undefined,
      seconds: number,
      after?: number
    ) => Effect.Effect<OpenSession, Unavailable, Scope.Scope>
    /** An organization's sessions, the latest first. */
    readonly list: (organization: Organization) => Effect.Effect<ReadonlyArray<SessionSummary>, Unavailable>
    /** What was said in a session, oldest first. */
    readonly show: (
      organization: Organization,
      id: string
    ) => Effect.Effect<
      { readonly session: SessionSummary; readonly turns: ReadonlyArray<StoredTurn> },
      OperatorError | Unavailable
    >
    readonly remove: (organization: Organization, id: string) => Effect.Effect<void, OperatorError | Unavailable>
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

      const turnsOf = (owner: Owner, id: string, after: number | undefined) => (epoch: bigint) =>
        orUnavailable(app<Said>`
          SELECT asked, answered FROM (
            SELECT position, asked, answered FROM max.turns WHERE organization_id = ${owner.organizationId}
              AND session_id = ${id} AND epoch = ${epoch} AND position <= coalesce(${after ?? null}::int, position)
            ORDER BY position DESC LIMIT ${MAX_TURNS}
          ) latest ORDER BY position`)

      /** What the conversation was about at an earlier turn. */
      const focusAt = (owner: Owner, id: string, after: number) =>
        Effect.map(
          orUnavailable(app<{ refs: unknown }>`
            SELECT refs FROM max.turns WHERE organization_id = ${owner.organizationId} AND session_id = ${id}
              AND position <= ${after} AND refs <> '[]' ORDER BY position DESC LIMIT 1`),
          ([row]) => row?.refs ?? []
        )

      const values = (turn: NewTurn) =>
        app`${turn.epoch}::bigint, ${turn.asked}::text, ${turn.answered}::text, ${app.json(turn.references)}::jsonb, ${turn.model}::text,
          ${turn.inputTokens}::int, ${turn.outputTokens}::int, ${turn.reference}::text`

      const focusOf = (references: ReadonlyArray<Presented>) =>
        references.map(({ id, type }): Reference => ({ type, id }))
      /** An answer that was about nothing leaves the focus where it was. */
      const focusAfter = (turn: NewTurn, before: ReadonlyArray<Reference>) =>
        app.json(turn.references.length === 0 ? before : focusOf(turn.references))

      /** A turn that takes the place of others is written over the first of them, and the rest is removed with it. */
      const addTo =
        (owner: Owner, id: string, token: string, after: number | undefined, focus: ReadonlyArray<Reference>) =>
        (turn: NewTurn) =>
          orUnavailable(app`
          WITH held AS (
            UPDATE max.sessions SET turns = least(turns, coalesce(${after ?? null}::int, turns)) + 1, updated_at = now(),
              lease = NULL, leased_until = NULL, focus = ${focusAfter(turn, focus)}::jsonb
            WHERE organization_id = ${owner.organizationId} AND session_id = ${id} AND lease = ${token}
            RETURNING organization_id, session_id, turns
          ), removed AS (
            DELETE FROM max.turns t USING held WHERE t.organization_id = held.organization_id
              AND t.session_id = held.session_id AND t.position > held.turns
          )
          INSERT INTO max.turns (organization_id, session_id, position, epoch, asked, answered, refs, model, input_tokens, output_tokens, reference)
          SELECT organization_id, session_id, turns, ${values(turn)} FROM held
          ON CONFLICT (organization_id, session_id, position) DO UPDATE SET epoch = excluded.epoch, asked = excluded.asked,
            answered = excluded.answered, refs = excluded.refs, model = excluded.model, input_tokens = excluded.input_tokens,
            output_tokens = excluded.output_tokens, reference = excluded.reference, created_at = now()`).pipe(
            Effect.asVoid
          )

      const begin = (owner: Owner, id: string) => (turn: NewTurn) =>
        orUnavailable(app`
          WITH made AS (
            INSERT INTO max.sessions (organization_id, session_id, anchor_id, turns, focus)
            VALUES (${owner.organizationId}, ${id}, ${owner.anchorId}, 1, ${focusAfter(turn, [])}::jsonb)
            RETURNING organization_id, session_id
          )
          INSERT INTO max.turns (organization_id, session_id, position, epoch, asked, answered, refs, model, input_tokens, output_tokens, reference)
          SELECT organization_id, session_id, 1, ${values(turn)} FROM made`).pipe(Effect.asVoid)

      const fresh = (owner: Owner): OpenSession => {
        const id = randomBytes(16).toString("base64url")
        return { id, isNew: true, focus: [], turnsOf: () => Effect.succeed([]), save: begin(owner, id) }
      }

      const summaries = (organization: Organization, id: string | null) =>
        orUnavailable(app<SummaryRow>`
          SELECT session_id, anchor_id, turns, to_char(created_at, 'YYYY-MM-DD"T"HH24:MI:SS"Z"') AS created,
            to_char(updated_at, 'YYYY-MM-DD"T"HH24:MI:SS"Z"') AS updated
          FROM max.sessions WHERE organization_id = ${organization.id} AND (${id}::text IS NULL OR session_id = ${id}::text)
          ORDER BY updated_at DESC, session_id LIMIT 1000`)

      return Sessions.of({
        open: Effect.fn("Sessions.open")(function* (owner, id, seconds, after) {
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
          const focus = decodeFocus(after === undefined ? found.focus : yield* focusAt(owner, id, after))
          return {
            id,
            isNew: false,
            focus,
            turnsOf: turnsOf(owner, id, after),
            save: addTo(owner, id, token, after, focus)
          }
        }),

        list: (organization) => Effect.map(summaries(organization, null), (rows) => rows.map(summary)),

        show: Effect.fn("Sessions.show")(function* (organization, id) {
          const [row] = yield* summaries(organization, id)
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
              references: decodePresented(turn.refs),
              epoch: turn.epoch,
              model: turn.model,
              inputTokens: turn.input_tokens,
              outputTokens: turn.output_tokens,
              reference: turn.reference,
              at: turn.at
            }))
          }
        }),

        remove: Effect.fn("Sessions.remove")(function* (organization, id) {
          const rows = yield* orUnavailable(
            app`DELETE FROM max.sessions WHERE organization_id = ${organization.id} AND session_id = ${id} RETURNING 1 AS one`
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
