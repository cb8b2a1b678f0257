/**
 * Named turns of all processes, each answered once. A process claims a name before it asks the model, renews its claims, and
 * stores the answer only while it holds the claim, in one transaction with the events of the turn. The claim of a process
 * that died lapses by the database's clock; then another process answers. Other processes follow a turn by polling its row:
 * the holder writes events there only while a process follows, and at the end.
 */
import { Context, Data, Effect, Layer } from "effect"
import { Database } from "../../database/Database.ts"
import { orUnavailable } from "../../database/execute.ts"
import type { Basis } from "../../domain/Basis.ts"
import type { Unavailable } from "../../domain/errors.ts"
import type { Owner } from "./storeTurns.ts"

/** A turn's name. It belongs to a person and the basis of their answers: other rights are another turn. */
export interface TurnKey extends Owner {
  readonly basis: Basis
  readonly name: string
}

/** A claim: its organization and its random token, which is also the token of the conversation's lease. */
export interface Claim {
  readonly organizationId: bigint
  readonly holder: string
}

export interface ClaimedTurn {
  readonly holder: string
  readonly message: string
  /** 0 unless processes died that had claimed it. */
  readonly attempt: number
  readonly ended: boolean
  /** Whether it can be read (ended), or its holder renews the claim. */
  readonly live: boolean
  /** The encoded events, or those after `read` characters (code points) if the holder is the expected one. */
  readonly more: string
}

/** What an answer was made from, and the conversation that it is stored in. */
interface Answered {
  readonly session: string
  readonly basis: Basis
}

/** Rolls back the answer of a lost claim. */
class ClaimLost extends Data.TaggedError("ClaimLost") {}

/** Seconds until a claim lapses that isn't renewed. */
const CLAIM = 5
/** Seconds for which an ended turn can be read. */
const RETENTION = 60
/** Seconds after that, or after a claim has lapsed, until a row is deleted. */
const GRACE = 60
/** Seconds for which a follower is assumed to need the events; renewed at half of them. */
const FOLLOWED = 4

export class TurnNames extends Context.Service<
  TurnNames,
  {
    /** Claims a name; the number of the attempt, or undefined if the name is in use. Ends the lease that a lapsed claim left. */
    readonly claim: (
      key: TurnKey,
      holder: string,
      message: string,
      session: string | undefined
    ) => Effect.Effect<number | undefined, Unavailable>
    /** Renews claims; the tokens of those that are still held, and whether another process follows. */
    readonly renew: (
      claims: ReadonlyArray<Claim>
    ) => Effect.Effect<ReadonlyArray<{ readonly holder: string; readonly followed: boolean }>, Unavailable>
    /** Appends events for followers, after so many characters (code points). */
    readonly write: (claim: Claim, after: number, more: string) => Effect.Effect<void, Unavailable>
    /** Ends a turn with its events; false if the claim is lost, or the answer has another basis than the claim. */
    readonly end: (claim: Claim, events: string, answer?: Answered) => Effect.Effect<boolean, Unavailable>
    /** The same in one transaction with the saved answer, which isn't saved if the claim is lost. */
    readonly endWith: (
      save: Effect.Effect<void, Unavailable>,
      claim: Claim,
      events: string,
      answer: Answered
    ) => Effect.Effect<boolean, Unavailable>
    /** Lets a claim lapse now: the turn has no answer, and the name is free. */
    readonly release: (claim: Claim) => Effect.Effect<void, Unavailable>
    /** Reads a turn, and asks its holder for its events while it runs. */
    readonly follow: (
      key: TurnKey,
      known: { readonly holder: string | undefined; readonly read: number }
    ) => Effect.Effect<ClaimedTurn | undefined, Unavailable>
    /** Messages of the person's turns under this basis, oldest first. */
    readonly list: (
      key: Omit<TurnKey, "name">
    ) => Effect.Effect<
      ReadonlyArray<{ readonly name: string; readonly message: string; readonly ended: boolean }>,
      Unavailable
    >
    /** Frees a name, also of a process that died; false if it isn't in use. Its holder ends the turn when it next renews the claim. */
    readonly remove: (key: TurnKey) => Effect.Effect<boolean, Unavailable>
    /** Deletes what nothing can read any longer. */
    readonly sweep: Effect.Effect<void, Unavailable>
  }
>()("max/services/TurnNames") {
  static readonly layer = Layer.effect(
    TurnNames,
    Effect.gen(function* () {
      const { admission, app } = yield* Database

      const isKey = ({ anchorId, basis, name, organizationId }: TurnKey) =>
        app`organization_id = ${organizationId} AND anchor_id = ${anchorId}::text AND basis = ${basis.key}::text AND name = ${name}::text`
      const isHeld = ({ holder, organizationId }: Claim) =>
        app`organization_id = ${organizationId} AND holder = ${holder}::text`
      const isLive = app.literal("until > clock_timestamp() AND expires_at > clock_timestamp()")
      const inSeconds = (seconds: number) => app.literal(`clock_timestamp() + interval '${seconds} seconds'`)
      const untraced = <A, E>(effect: Effect.Effect<A, E>) => Effect.withTracerEnabled(orUnavailable(effect), false)

      const end = (claim: Claim, events: string, answer?: Answered) =>
        app<{ one: number }>`
          UPDATE max.turn_names SET ended = true, events = ${events}::text, session_id = ${answer?.session ?? null}::text,
            expires_at = least(expires_at, to_timestamp(${(answer?.basis.expiresAt ?? Infinity) / 1000}::float8)),
            until = ${inSeconds(RETENTION)}
          WHERE ${isHeld(claim)} AND basis = coalesce(${answer?.basis.key ?? null}::text, basis) RETURNING 1 AS one`.pipe(
          Effect.map((rows) => rows.length > 0)
        )

      return TurnNames.of({
        claim: (key, holder, message, session) => {
          const { anchorId, basis, name, organizationId } = key
          return untraced(app<{ attempt: number }>`
            WITH lapsed AS (
              SELECT holder FROM max.turn_names WHERE ${isKey(key)} AND NOT ended
            ), claimed AS (
              INSERT INTO max.turn_names AS t (organization_id, anchor_id, basis, name, message, holder, expires_at, until)
              VALUES (${organizationId}::bigint, ${anchorId}::text, ${basis.key}::text, ${name}::text, ${message}::text, ${holder}::text,
                to_timestamp(${basis.expiresAt / 1000}::float8), ${inSeconds(CLAIM)})
              ON CONFLICT (organization_id, anchor_id, basis, name) DO UPDATE SET message = excluded.message, holder = excluded.holder,
                attempt = CASE WHEN t.ended OR t.message <> excluded.message THEN 0 ELSE t.attempt + 1 END, events = '',
                ended = false, session_id = NULL, created_at = excluded.created_at, followed_until = NULL,
                expires_at = excluded.expires_at, until = excluded.until
              WHERE NOT (t.until > clock_timestamp() AND t.expires_at > clock_timestamp())
              RETURNING t.attempt
            ), freed AS (
              UPDATE max.sessions SET lease = NULL, leased_until = NULL
              WHERE organization_id = ${organizationId} AND session_id = ${session ?? null}::text AND anchor_id = ${anchorId}::text
                AND lease = (SELECT holder FROM lapsed) AND EXISTS (SELECT FROM claimed)
            )
            SELECT attempt FROM claimed`).pipe(Effect.map(([row]) => row?.attempt))
        },

        renew: (claims) =>
          untraced(admission<{ holder: string; followed: boolean }>`/* max turn names */
            UPDATE max.turn_names t SET until = CASE WHEN t.ended THEN t.until ELSE ${inSeconds(CLAIM)} END
            FROM unnest(${claims.map(({ organizationId }) => String(organizationId))}::bigint[], ${claims.map(({ holder }) => holder)}::text[])
              AS held (organization_id, holder)
            WHERE t.organization_id = held.organization_id AND t.holder = held.holder
            RETURNING t.holder, NOT t.ended AND coalesce(t.followed_until > clock_timestamp(), false) AS followed`),

        write: (claim, after, more) =>
          Effect.asVoid(
            untraced(app`
              UPDATE max.turn_names SET events = events || ${more}::text
              WHERE ${isHeld(claim)} AND NOT ended AND length(events) = ${after}::int`)
          ),

        end: (claim, events, answer) => untraced(end(claim, events, answer)),

        endWith: (save, claim, events, answer) =>
          orUnavailable(
            app.withTransaction(
              Effect.gen(function* () {
                yield* save
                return (yield* end(claim, events, answer)) || (yield* new ClaimLost())
              })
            )
          ).pipe(Effect.catchTag("ClaimLost", () => Effect.succeed(false))),

        release: (claim) =>
          Effect.asVoid(
            untraced(app`UPDATE max.turn_names SET until = clock_timestamp() WHERE ${isHeld(claim)} AND NOT ended`)
          ),

        follow: (key, { holder, read }) =>
          untraced(app<ClaimedTurn>`
            WITH marked AS (
              UPDATE max.turn_names SET followed_until = ${inSeconds(FOLLOWED)}
              WHERE ${isKey(key)} AND NOT ended AND (followed_until IS NULL OR followed_until < ${inSeconds(FOLLOWED / 2)})
            )
            SELECT holder, message, attempt, ended, ${isLive} AS live,
              CASE WHEN holder = ${holder ?? null}::text THEN substr(events, ${read + 1}::int) ELSE events END AS more
            FROM max.turn_names WHERE ${isKey(key)}`).pipe(Effect.map(([row]) => row)),

        list: ({ anchorId, basis, organizationId }) =>
          untraced(app<{ name: string; message: string; ended: boolean }>`
            SELECT name, message, ended FROM max.turn_names WHERE organization_id = ${organizationId} AND anchor_id = ${anchorId}::text
              AND basis = ${basis.key}::text AND ${isLive} ORDER BY created_at, name`),

        remove: (key) =>
          untraced(app<{ readable: boolean }>`
            DELETE FROM max.turn_names WHERE ${isKey(key)} RETURNING NOT ended OR (${isLive}) AS readable`).pipe(
            Effect.map(([row]) => row?.readable === true)
          ),

        sweep: Effect.asVoid(
          untraced(app`DELETE FROM max.turn_names WHERE least(until, expires_at) < ${inSeconds(-GRACE)}`)
        )
      })
    })
  )
}
