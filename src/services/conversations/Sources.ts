/** The sources of conversations: each ticket or e-mail of a member's integration has one conversation, and is answered once. */
import { Context, Effect, Layer } from "effect"
import { Database } from "../../database/Database.ts"
import { orUnavailable } from "../../database/execute.ts"
import type { Unavailable } from "../../domain/errors.ts"
import type { Owner } from "./storeTurns.ts"

/** Where a message comes from. */
export interface Source {
  /** The system, such as `zendesk` or `mail`. */
  readonly source: string
  /** The message's id in that system. */
  readonly sourceId: string
  /** Its author, as that system names the person. Nothing is permitted because of it. */
  readonly from: string
}

/** What was answered to a message. */
export interface Taken {
  readonly session: string
  readonly asked: string
}

export class Sources extends Context.Service<
  Sources,
  {
    /** The conversation of a message; undefined if it wasn't answered. */
    readonly find: (
      owner: Owner,
      source: Pick<Source, "source" | "sourceId">
    ) => Effect.Effect<Taken | undefined, Unavailable>
    /** Runs `save` and names the source of its conversation, in one transaction. Fails if the message has a conversation. */
    readonly keep: (
      owner: Owner,
      source: Source,
      session: string,
      save: Effect.Effect<void, Unavailable>
    ) => Effect.Effect<void, Unavailable>
  }
>()("max/services/Sources") {
  static readonly layer = Layer.effect(
    Sources,
    Effect.gen(function* () {
      const { app } = yield* Database
      return Sources.of({
        find: ({ anchorId, organizationId }, { source, sourceId }) =>
          Effect.map(
            orUnavailable(app<Taken>`
              SELECT s.session_id AS session, t.asked FROM max.sessions s
              JOIN max.turns t ON t.organization_id = s.organization_id AND t.session_id = s.session_id AND t.position = 1
              WHERE s.organization_id = ${organizationId} AND s.anchor_id = ${anchorId} AND s.source = ${source}
                AND s.source_id = ${sourceId}`),
            ([taken]) => taken
          ),
        keep: ({ anchorId, organizationId }, { from, source, sourceId }, session, save) =>
          Effect.andThen(
            save,
            app`UPDATE max.sessions SET source = ${source}, source_id = ${sourceId}, source_from = ${from}
              WHERE organization_id = ${organizationId} AND anchor_id = ${anchorId} AND session_id = ${session}`
          ).pipe(app.withTransaction, orUnavailable, Effect.asVoid)
      })
    })
  )
}
