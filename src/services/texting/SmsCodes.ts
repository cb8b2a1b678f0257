/**
 * Codes that confirm a change by text. A number has one code at a time, which counts only from that number, on the line that
 * it was sent from, for the person that it was sent to. After three wrong codes the number confirms nothing for an hour.
 */
import { Context, Effect, Layer } from "effect"
import { createHash, randomInt } from "node:crypto"
import { Database } from "../../database/Database.ts"
import { orUnavailable } from "../../database/execute.ts"
import type { Unavailable } from "../../domain/errors.ts"
import { type Lease, type SenderKey, senderConditions } from "./SenderLeases.ts"

const MAX_TRIES = 3
const LOCK_MINUTES = 60

export type Checked =
  | { readonly _tag: "Matches"; readonly changeId: string }
  | { readonly _tag: "Wrong" }
  /** Too many wrong codes; a right one counts as little as a wrong one. */
  | { readonly _tag: "Locked" }

/** The hash that stands for a code of one number. */
const hashOf = ({ organizationId, phone }: SenderKey, code: string): string =>
  createHash("sha256").update(`${organizationId}:${phone}:${code}`).digest("hex")

export class SmsCodes extends Context.Service<
  SmsCodes,
  {
    /**
     * Makes the code that confirms a change, in place of the number's earlier one; undefined if the change doesn't wait for this
     * person at level `once`, if the number is locked, or if the lease is lost.
     */
    readonly issue: (
      lease: Lease,
      of: { readonly changeId: string; readonly anchorId: string }
    ) => Effect.Effect<string | undefined, Unavailable>
    /** Checks a code that a person sent, and counts a wrong one. */
    readonly check: (key: SenderKey, anchorId: string, code: string) => Effect.Effect<Checked, Unavailable>
    readonly isLocked: (key: SenderKey) => Effect.Effect<boolean, Unavailable>
  }
>()("max/services/SmsCodes") {
  static readonly layer = Layer.effect(
    SmsCodes,
    Effect.gen(function* () {
      const { app } = yield* Database
      const { held } = senderConditions(app)
      const ofNumber = ({ organizationId, phone }: SenderKey) =>
        app`c.organization_id = ${organizationId} AND c.phone = ${phone}`
      const recent = app`CASE WHEN c.tried_at > clock_timestamp() - make_interval(mins => ${LOCK_MINUTES}::int) THEN c.tries ELSE 0 END`

      return SmsCodes.of({
        issue: Effect.fn("SmsCodes.issue")(function* (lease, { anchorId, changeId }) {
          const { line, organizationId, phone } = lease.key
          const code = String(randomInt(10_000)).padStart(4, "0")
          const rows = yield* orUnavailable(app`
            INSERT INTO max.sms_codes AS c (organization_id, phone, line, anchor_id, change_id, code_sha256)
            SELECT ${organizationId}::bigint, ${phone}, ${line}, ${anchorId}, ${changeId}, decode(${hashOf(lease.key, code)}, 'hex')
            WHERE EXISTS (SELECT FROM max.sms_senders WHERE ${held(lease)})
              AND EXISTS (SELECT FROM max.changes x WHERE x.organization_id = ${organizationId} AND x.change_id = ${changeId}
                AND x.proposer_id = ${anchorId} AND x.state = 'open' AND x.level = 'once' AND x.expires_at > clock_timestamp())
            ON CONFLICT (organization_id, phone) DO UPDATE SET line = excluded.line, anchor_id = excluded.anchor_id,
              change_id = excluded.change_id, code_sha256 = excluded.code_sha256
            WHERE ${recent} < ${MAX_TRIES}::int RETURNING 1 AS one`)
          return rows.length === 0 ? undefined : code
        }),

        check: Effect.fn("SmsCodes.check")(function* (key, anchorId, code) {
          const { line, organizationId, phone } = key
          const [row] = yield* Effect.gen(function* () {
            yield* app`INSERT INTO max.sms_codes (organization_id, phone) VALUES (${organizationId}, ${phone}) ON CONFLICT DO NOTHING`
            // The row's lock comes first: of codes that arrive at once, each is judged after the one before has counted.
            return yield* app<{ matches: boolean; locked: boolean; change_id: string | null }>`
              WITH code AS (SELECT c.change_id, c.line, c.anchor_id, c.code_sha256, ${recent} AS tries
                FROM max.sms_codes c WHERE ${ofNumber(key)} FOR UPDATE),
              judged AS (SELECT change_id, tries, tries >= ${MAX_TRIES}::int AS locked, tries < ${MAX_TRIES}::int AND coalesce(
                line = ${line} AND anchor_id = ${anchorId} AND code_sha256 = decode(${hashOf(key, code)}, 'hex'), false) AS matches FROM code)
              UPDATE max.sms_codes c SET tries = CASE WHEN j.matches OR j.locked THEN c.tries ELSE j.tries + 1 END,
                tried_at = CASE WHEN j.matches OR j.locked THEN c.tried_at ELSE clock_timestamp() END
              FROM judged j WHERE ${ofNumber(key)}
              RETURNING j.matches, j.change_id, NOT j.matches AND (j.locked OR j.tries + 1 >= ${MAX_TRIES}::int) AS locked`
          }).pipe(app.withTransaction, orUnavailable)
          if (row?.matches === true && row.change_id !== null) return { _tag: "Matches", changeId: row.change_id }
          return { _tag: row?.locked === true ? "Locked" : "Wrong" }
        }),

        isLocked: Effect.fn("SmsCodes.isLocked")(function* (key) {
          const rows = yield* orUnavailable(
            app`SELECT 1 AS one FROM max.sms_codes c WHERE ${ofNumber(key)} AND ${recent} >= ${MAX_TRIES}::int`
          )
          return rows.length > 0
        })
      })
    })
  )
}
