/**
 * Conversations as the agent sees them. A session belongs to one owner of one organization; tool results are never stored.
 * A lease serializes a session's turns across processes. Its token fences the write, and it expires by itself, so no
 * connection is held while a model answers.
 */
import { Context, Effect, Layer, Schedule, Schema, type Scope } from "effect"
import { randomBytes } from "node:crypto"
import { Database } from "../../database/Database.ts"
import { keptDays } from "../../database/retention.ts"
import { orUnavailable } from "../../database/execute.ts"
import type { Basis } from "../../domain/Basis.ts"
import type { Organization } from "../../domain/EntityType.ts"
import { OperatorError, Unavailable } from "../../domain/errors.ts"
import {
  decodePresented,
  type Keeping,
  madeFrom,
  type NewTurn,
  type Owner,
  Reference,
  type Said,
  storeTurns
} from "./storeTurns.ts"

export interface OpenSession {
  readonly id: string
  readonly isNew: boolean
  /** The entities of the last answer that presented any, in its order. */
  readonly focus: ReadonlyArray<Reference>
  /** The latest turns whose answers may be shown under this basis, oldest first. */
  readonly turnsOf: (basis: Basis) => Effect.Effect<ReadonlyArray<Said>, Unavailable>
  /**
   * Stores the turn and releases the lease; writes nothing if the lease is no longer held. `keeping` runs in the same
   * transaction, and only if the turn is stored.
   */
  readonly save: (turn: NewTurn, basis: Basis, keeping?: Keeping) => Effect.Effect<void, Unavailable>
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

/** The most earlier turns that a model receives. */
const MAX_TURNS = 8
/** The poll of a turn that waits for the lease. */
const LEASE_POLL = Schedule.spaced("100 millis")

const decodeFocus = Schema.decodeUnknownSync(Schema.Array(Reference))
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

const newToken = () => randomBytes(12).toString("base64url")

const NO_SESSION = new OperatorError({ message: "There is no session with that id. max sessions list shows them." })

export class Sessions extends Context.Service<
  Sessions,
  {
    /**
     * Leases the owner's session for `seconds` or until the scope closes, waiting while another turn holds the lease. An
     * unknown id, another owner's or none begins a new session. With `after`, the conversation continues behind that turn:
     * later turns are hidden, and saving replaces them. `lease` is the lease's token.
     */
    readonly open: (
      owner: Owner,
      id: string | undefined,
      seconds: number,
      options?: { readonly after?: number | undefined; readonly lease?: string | undefined }
    ) => Effect.Effect<OpenSession, Unavailable, Scope.Scope>
    /** An organization's sessions, most recently used first. */
    readonly list: (organization: Organization) => Effect.Effect<ReadonlyArray<SessionSummary>, Unavailable>
    /** A session with its turns, oldest first. */
    readonly show: (
      organization: Organization,
      id: string
    ) => Effect.Effect<
      { readonly session: SessionSummary; readonly turns: ReadonlyArray<StoredTurn> },
      OperatorError | Unavailable
    >
    readonly remove: (organization: Organization, id: string) => Effect.Effect<void, OperatorError | Unavailable>
    /** Deletes the organization's sessions unused for so many days, or for fewer if it wants fewer; returns their number. */
    readonly removeOlderThan: (organizationId: bigint, days: number) => Effect.Effect<number, Unavailable>
  }
>()("max/services/Sessions") {
  static readonly layer = Layer.effect(
    Sessions,
    Effect.gen(function* () {
      const { app } = yield* Database
      const { append, begin } = storeTurns(app)

      const lease = Effect.fnUntraced(function* (owner: Owner, id: string, token: string, seconds: number) {
        const [row] = yield* orUnavailable(app<{ owned: boolean; leased: boolean; focus: unknown }>`
          WITH own AS (
            SELECT 1 FROM max.sessions WHERE organization_id = ${owner.organizationId} AND session_id = ${id}
              AND anchor_id = ${owner.anchorId}
          ), leased AS (
            UPDATE max.sessions SET lease = ${token}, leased_until = clock_timestamp() + make_interval(secs => ${seconds}::int)
            WHERE organization_id = ${owner.organizationId} AND session_id = ${id} AND anchor_id = ${owner.anchorId}
              AND (leased_until IS NULL OR leased_until < clock_timestamp()) RETURNING focus
          )
          SELECT EXISTS (SELECT FROM own) AS owned, EXISTS (SELECT FROM leased) AS leased, (SELECT focus FROM leased) AS focus`)
        return row!
      })

      const release = (owner: Owner, id: string, token: string) =>
        Effect.ignore(
          orUnavailable(app`
            UPDATE max.sessions SET lease = NULL, leased_until = NULL
            WHERE organization_id = ${owner.organizationId} AND session_id = ${id} AND lease = ${token}`)
        )

      const turnsOf = (owner: Owner, id: string, after: number | undefined) => (basis: Basis) =>
        orUnavailable(app<Said>`
          SELECT asked, answered FROM (
            SELECT position, asked, answered FROM max.turns WHERE organization_id = ${owner.organizationId}
              AND session_id = ${id} AND ${madeFrom(app, basis)} AND position <= coalesce(${after ?? null}::int, position)
            ORDER BY position DESC LIMIT ${MAX_TURNS}
          ) latest ORDER BY position`)

      /** The focus as of an earlier turn. */
      const focusAt = (owner: Owner, id: string, after: number) =>
        Effect.map(
          orUnavailable(app<{ refs: unknown }>`
            SELECT refs FROM max.turns WHERE organization_id = ${owner.organizationId} AND session_id = ${id}
              AND position <= ${after} AND refs <> '[]' ORDER BY position DESC LIMIT 1`),
          ([row]) => row?.refs ?? []
        )

      const fresh = (owner: Owner): OpenSession => {
        // Hexadecimal: an id with a leading hyphen would read as a flag on the command line.
        const id = randomBytes(16).toString("hex")
        return { id, isNew: true, focus: [], turnsOf: () => Effect.succeed([]), save: begin(owner, id) }
      }

      const summaries = (organization: Organization, id: string | null) =>
        orUnavailable(app<SummaryRow>`
          SELECT session_id, anchor_id, turns, to_char(created_at, 'YYYY-MM-DD"T"HH24:MI:SS"Z"') AS created,
            to_char(updated_at, 'YYYY-MM-DD"T"HH24:MI:SS"Z"') AS updated
          FROM max.sessions WHERE organization_id = ${organization.id} AND (${id}::text IS NULL OR session_id = ${id}::text)
          ORDER BY updated_at DESC, session_id LIMIT 1000`)

      return Sessions.of({
        open: Effect.fn("Sessions.open")(function* (owner, id, seconds, { after, lease: token = newToken() } = {}) {
          if (id === undefined) return fresh(owner)
          const row = yield* Effect.acquireRelease(
            lease(owner, id, token, seconds).pipe(
              Effect.repeat({ schedule: LEASE_POLL, while: ({ leased, owned }) => owned && !leased })
            ),
            () => release(owner, id, token),
            { interruptible: true }
          )
          if (!row.leased) return fresh(owner)
          const focus = decodeFocus(after === undefined ? row.focus : yield* focusAt(owner, id, after))
          return {
            id,
            isNew: false,
            focus,
            turnsOf: turnsOf(owner, id, after),
            save: append(owner, id, token, after, focus)
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
                AND updated_at < now() - make_interval(days => ${keptDays(app, organizationId, days)}) RETURNING 1 AS one`
            ),
            (rows) => rows.length
          )
      })
    })
  )
}
