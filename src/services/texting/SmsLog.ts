/** The log of messages and texts, for operators and administrators: person, time, state. Numbers are masked. */
import { Context, Effect, Layer, Schema } from "effect"
import { Database } from "../../database/Database.ts"
import { decodeRows } from "../../database/decodeRows.ts"
import { orUnavailable, runWithin } from "../../database/execute.ts"
import { compileNames } from "../../database/sql/identify.ts"
import { type Organization, peopleOf } from "../../domain/EntityType.ts"
import type { NotAdmitted, Unavailable } from "../../domain/errors.ts"
import { masked } from "../../domain/text.ts"
import { parseId, showId } from "../../domain/values.ts"
import { OrganizationState } from "../catalog/OrganizationState.ts"
import { SIMULATION } from "./SmsAdmission.ts"

export interface SmsLogEntry {
  /** ISO 8601, UTC. */
  readonly at: string
  readonly direction: "in" | "out"
  /** The person's number, masked: `…0147`. */
  readonly number: string
  /** The organization's number, masked. */
  readonly line: string
  /** The person, if the number was admitted. */
  readonly person?: { readonly id: string; readonly name: string }
  /** A message's outcome (`answered`, `refused`, …) or a text's delivery state (`queued` to `delivered`). */
  readonly state: string
  /** Of a text: `answer`, `refusal`, `notice`, `apology`, `approval` or `test`. */
  readonly kind?: string
  readonly segments?: number
  /** Why delivery failed: the provider's code, or Max's reason. */
  readonly error?: string
  readonly body?: string
}

export interface SmsLogQuery {
  readonly limit: number
  /** Only entries older than this time. */
  readonly before?: string | undefined
  /** Includes bodies: for operators' commands only, never for a page. */
  readonly bodies?: boolean
}

const decodeLog = decodeRows(
  Schema.Struct({
    at: Schema.String,
    direction: Schema.Literals(["in", "out"]),
    phone: Schema.String,
    line: Schema.String,
    anchor_id: Schema.String,
    state: Schema.String,
    kind: Schema.NullOr(Schema.String),
    segments: Schema.NullOr(Schema.Int),
    error: Schema.NullOr(Schema.String),
    body: Schema.NullOr(Schema.String)
  })
)

export class SmsLog extends Context.Service<
  SmsLog,
  {
    /** Newest first. */
    readonly list: (
      organization: Organization,
      query: SmsLogQuery
    ) => Effect.Effect<ReadonlyArray<SmsLogEntry>, NotAdmitted | Unavailable>
    /** Display names by entity id. */
    readonly names: (
      organization: Organization,
      ids: ReadonlyArray<string>
    ) => Effect.Effect<ReadonlyMap<string, string>, NotAdmitted | Unavailable>
  }
>()("max/services/SmsLog") {
  static readonly layer = Layer.effect(
    SmsLog,
    Effect.gen(function* () {
      const { app, search } = yield* Database
      const states = yield* OrganizationState

      const names = Effect.fnUntraced(function* (organization: Organization, ids: ReadonlyArray<string>) {
        const { state } = yield* states.read(organization.id, { by: "none" })
        const people = peopleOf(state.catalog)
        if (people === undefined) return new Map<string, string>()
        const type = people.mapping?.id.type
        const rowIds = [...new Set(ids)].flatMap((id) => parseId(id, type) ?? [])
        if (rowIds.length === 0) return new Map<string, string>()
        const rows = yield* runWithin<{ id: string; name: string | null }>(
          search,
          organization.id,
          compileNames(people, rowIds, state.catalog)
        )
        return new Map(rows.map(({ id, name }) => [showId(id, type), name ?? ""]))
      })

      return SmsLog.of({
        names,
        list: Effect.fn("SmsLog.list")(function* (organization, { before, bodies = false, limit }) {
          const until = app`coalesce(${before ?? null}::text::timestamptz, 'infinity')`
          const rows = yield* app`
            SELECT to_char(x.at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS at, x.direction, x.phone, x.line, x.anchor_id,
              x.state, x.kind, x.segments, x.error, CASE WHEN ${bodies} THEN x.body END AS body
            FROM ((SELECT received_at AS at, 'in' AS direction, phone, line, anchor_id, state, NULL AS kind, NULL::int AS segments,
                NULL AS error, body FROM max.sms_inbox WHERE organization_id = ${organization.id} AND received_at < ${until}
                AND line <> ${SIMULATION} ORDER BY received_at DESC LIMIT ${limit}::int)
              UNION ALL (SELECT created_at, 'out', phone, line, anchor_id, state, kind, segments, error, body
                FROM max.sms_outbox WHERE organization_id = ${organization.id} AND created_at < ${until}
                AND line <> ${SIMULATION} ORDER BY created_at DESC LIMIT ${limit}::int)) x
            ORDER BY x.at DESC LIMIT ${limit}::int`.pipe(orUnavailable, decodeLog)
          const nameOf = yield* names(
            organization,
            rows.map((row) => row.anchor_id)
          )
          return rows.map(({ anchor_id: id, body, error, kind, line, phone, segments, ...row }) => ({
            ...row,
            number: masked(phone),
            line: masked(line),
            ...(id === "" ? {} : { person: { id, name: nameOf.get(id) ?? "" } }),
            ...(kind === null ? {} : { kind }),
            ...(segments === null ? {} : { segments }),
            ...(error === null ? {} : { error }),
            ...(body === null ? {} : { body })
          }))
        })
      })
    })
  )
}
