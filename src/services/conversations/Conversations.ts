/** A person's own conversations, for the chat page: a searchable list, and turns in pages. */
import { Context, Effect, Layer, Schema } from "effect"
import { Database } from "../../database/Database.ts"
import { orUnavailable } from "../../database/execute.ts"
import type { Basis } from "../../domain/Basis.ts"
import type { Unavailable } from "../../domain/errors.ts"
import { Beside, type Presented } from "../../domain/Presented.ts"
import { decodePresented, madeFrom, type Owner } from "./storeTurns.ts"

export interface ConversationSummary {
  readonly id: string
  /** The first question. */
  readonly title: string
  readonly turns: number
  readonly createdAt: string
  readonly updatedAt: string
  /** The part of a question that contains the words of a search; absent if the title shows them. */
  readonly matched?: string
}

/** Turns that earlier versions stored have nothing beside them. */
const decodeBeside = Schema.decodeUnknownSync(Schema.NullOr(Beside))

interface ListQuery {
  /** Text in one of its questions. Answers are not searched: they may contain values that the person may no longer see. */
  readonly search?: string | undefined
  /** The last conversation of the previous page. */
  readonly after?: string | undefined
  readonly limit: number
}

interface TurnsQuery {
  /** Only turns before this position. */
  readonly before?: number | undefined
  readonly limit: number
}

export interface SaidTurn extends Beside {
  readonly position: number
  readonly asked: string
  /** Undefined unless the answer may be shown under the caller's basis, like the references. */
  readonly answered?: string
  readonly references?: ReadonlyArray<Presented>
  readonly reference: string
  readonly at: string
}

interface SaidRow extends Pick<SaidTurn, "position" | "asked" | "reference" | "at"> {
  readonly answered: string | null
  readonly refs: unknown
  readonly beside: unknown
}

interface SummaryRow {
  readonly id: string
  readonly title: string | null
  readonly turns: number
  readonly created: string
  readonly updated: string
}

const summary = ({ created, id, title, turns, updated }: SummaryRow): ConversationSummary => ({
  id,
  title: title ?? "",
  turns,
  createdAt: created,
  updatedAt: updated
})

/** Characters of a title. */
const MAX_TITLE = 160

/** Characters of a question around the words of a search. */
const BEFORE_MATCH = 24
const AFTER_MATCH = 80

const isIn = (text: string, words: string): boolean => text.toLowerCase().includes(words.toLowerCase())

/** The part of a question in which a search found its words. */
const excerpt = (asked: string, words: string): string => {
  const at = Math.max(0, asked.toLowerCase().indexOf(words.toLowerCase()))
  const start = Math.max(0, at - BEFORE_MATCH)
  const end = at + words.length + AFTER_MATCH
  return `${start > 0 ? "…" : ""}${asked.slice(start, end).replace(/\s+/g, " ").trim()}${end < asked.length ? "…" : ""}`
}

const pattern = (words: string | undefined): string | null =>
  words === undefined || words.trim() === "" ? null : `%${words.trim().replace(/[\\%_]/g, "\\$&")}%`

export class Conversations extends Context.Service<
  Conversations,
  {
    /** Most recently used first; `next` is the `after` of the next page. */
    readonly list: (
      owner: Owner,
      query: ListQuery
    ) => Effect.Effect<
      { readonly conversations: ReadonlyArray<ConversationSummary>; readonly next?: string },
      Unavailable
    >
    /** One conversation as it may be shown under a basis, with its latest turns, oldest first; undefined if the owner has no such conversation. */
    readonly show: (
      owner: Owner,
      id: string,
      basis: Basis,
      query: TurnsQuery
    ) => Effect.Effect<
      { readonly conversation: ConversationSummary; readonly turns: ReadonlyArray<SaidTurn> } | undefined,
      Unavailable
    >
    /** Deletes a conversation; false if the owner has no such conversation. */
    readonly remove: (owner: Owner, id: string) => Effect.Effect<boolean, Unavailable>
  }
>()("max/services/Conversations") {
  static readonly layer = Layer.effect(
    Conversations,
    Effect.gen(function* () {
      const { app } = yield* Database

      const summaryColumns = app.literal(`s.session_id AS id, s.turns,
        (SELECT left(t.asked, ${MAX_TITLE}) FROM max.turns t WHERE t.organization_id = s.organization_id
          AND t.session_id = s.session_id ORDER BY t.position LIMIT 1) AS title,
        to_char(s.created_at, 'YYYY-MM-DD"T"HH24:MI:SS"Z"') AS created,
        to_char(s.updated_at, 'YYYY-MM-DD"T"HH24:MI:SS"Z"') AS updated`)

      const find = ({ anchorId, organizationId }: Owner, id: string) =>
        orUnavailable(app<SummaryRow>`
          SELECT ${summaryColumns} FROM max.sessions s
          WHERE s.organization_id = ${organizationId} AND s.session_id = ${id} AND s.anchor_id = ${anchorId}`)

      return Conversations.of({
        list: Effect.fn("Conversations.list")(function* ({ anchorId, organizationId }, { after, limit, search }) {
          const words = pattern(search)
          const rows = yield* orUnavailable(app<SummaryRow & { readonly hit: string | null }>`
            SELECT ${summaryColumns}, CASE WHEN ${words}::text IS NOT NULL THEN (SELECT t.asked FROM max.turns t
              WHERE t.organization_id = s.organization_id AND t.session_id = s.session_id AND t.asked ILIKE ${words}::text
              ORDER BY t.position LIMIT 1) END AS hit
            FROM max.sessions s
            LEFT JOIN max.sessions a ON a.organization_id = s.organization_id AND a.session_id = ${after ?? null}::text
              AND a.anchor_id = s.anchor_id
            WHERE s.organization_id = ${organizationId} AND s.anchor_id = ${anchorId}
              AND (${after ?? null}::text IS NULL OR (s.updated_at, s.session_id) < (a.updated_at, a.session_id))
              AND (${words}::text IS NULL OR EXISTS (SELECT FROM max.turns t WHERE t.organization_id = s.organization_id
                AND t.session_id = s.session_id AND t.asked ILIKE ${words}::text))
            ORDER BY s.updated_at DESC, s.session_id DESC LIMIT ${limit + 1}`)
          const said = search?.trim() ?? ""
          const conversations = rows.slice(0, limit).map((row) => ({
            ...summary(row),
            ...(row.hit === null || isIn(row.title ?? "", said) ? {} : { matched: excerpt(row.hit, said) })
          }))
          return { conversations, ...(rows.length > limit ? { next: conversations.at(-1)!.id } : {}) }
        }),

        show: Effect.fn("Conversations.show")(function* (owner, id, basis, { before, limit }) {
          const [row] = yield* find(owner, id)
          if (row === undefined) return undefined
          const turns = yield* orUnavailable(app<SaidRow>`
            SELECT position, asked, CASE WHEN ${madeFrom(app, basis)} THEN answered END AS answered, refs, beside, reference, to_char(created_at, 'YYYY-MM-DD"T"HH24:MI:SS"Z"') AS at
            FROM max.turns WHERE organization_id = ${owner.organizationId} AND session_id = ${id}
              AND position < coalesce(${before ?? null}::int, 2147483647) ORDER BY position DESC LIMIT ${limit}`)
          return {
            conversation: summary(row),
            turns: turns.toReversed().map(({ answered, beside, refs, ...turn }) => ({
              ...turn,
              ...(answered === null ? {} : { answered, references: decodePresented(refs), ...decodeBeside(beside) })
            }))
          }
        }),

        remove: ({ anchorId, organizationId }, id) =>
          Effect.map(
            orUnavailable(app`
              DELETE FROM max.sessions WHERE organization_id = ${organizationId} AND session_id = ${id}
                AND anchor_id = ${anchorId} RETURNING 1 AS one`),
            (rows) => rows.length > 0
          )
      })
    })
  )
}
