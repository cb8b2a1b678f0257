/**
 * Budget reservations and usage. A turn reserves its maximum of the organization's daily budget before it begins, in one
 * atomic statement, so concurrent processes cannot exceed the budget together. Settling returns the unused part. If a
 * process dies, its reservation lasts until the end of the day.
 */
import { Context, Effect, Layer } from "effect"
import { Database } from "../../database/Database.ts"
import { orUnavailable } from "../../database/execute.ts"
import { type Organization } from "../../domain/EntityType.ts"
import type { Unavailable } from "../../domain/errors.ts"
import { todayIn } from "../../domain/values.ts"
import type { Owner } from "./storeTurns.ts"

export interface DailyLimits {
  readonly turns: number
  readonly tokens: number
}

/** A turn's reservation of a day's budget. */
export interface Reservation {
  /** YYYY-MM-DD in the organization's time zone. */
  readonly day: string
  readonly tokens: number
}

export interface Spent {
  readonly model: string
  readonly inputTokens: number
  readonly outputTokens: number
}

/** How a turn ended. Declined: it has a reply that answers nothing, because the question isn't understood or can't be done. */
export type Outcome = "answered" | "declined" | "failed" | "stopped"

/** What a report has one row of, besides the model. */
export type Grouping = "model" | "day" | "person"

export interface UsageRow extends Spent {
  /** The person's anchor, in a report by person; empty for a person without one. */
  readonly anchorId?: string
  /** YYYY-MM-DD in the organization's time zone, in a report by day. */
  readonly day?: string
  readonly turns: number
  /** The rest of the turns was stopped, or was asked before Max recorded outcomes. */
  readonly answered: number
  readonly declined: number
  readonly failed: number
}

interface ReportRow {
  readonly anchor_id: string | null
  readonly day: string | null
  readonly model: string
  readonly turns: number
  readonly answered: number
  readonly declined: number
  readonly failed: number
  readonly input_tokens: number
  readonly output_tokens: number
}

export class Spending extends Context.Service<
  Spending,
  {
    /** Reserves a turn and its tokens; undefined if the day's budget is exhausted. */
    readonly reserve: (
      organization: Organization,
      tokens: number,
      limits: DailyLimits
    ) => Effect.Effect<Reservation | undefined, Unavailable>
    /** Returns the unused part of a reservation, and records the usage. */
    readonly settle: (
      owner: Owner,
      reservation: Reservation,
      spent: Spent,
      outcome: Outcome
    ) => Effect.Effect<void, Unavailable>
    /** Turns and tokens of the last `days`, including today, by model alone or by day or person as well. */
    readonly report: (
      organization: Organization,
      days: number,
      by: Grouping
    ) => Effect.Effect<ReadonlyArray<UsageRow>, Unavailable>
  }
>()("max/services/Spending") {
  static readonly layer = Layer.effect(
    Spending,
    Effect.gen(function* () {
      const { app } = yield* Database
      return Spending.of({
        reserve: Effect.fn("Spending.reserve")(function* (organization, tokens, limits) {
          const day = todayIn(organization.timeZone)
          const rows = yield* orUnavailable(app`
            INSERT INTO max.spending (organization_id, day, turns, tokens)
            SELECT ${organization.id}::bigint, ${day}::text::date, 1, ${tokens}::int WHERE ${limits.turns}::int > 0 AND ${tokens}::int <= ${limits.tokens}::int
            ON CONFLICT (organization_id, day) DO UPDATE SET turns = spending.turns + 1, tokens = spending.tokens + excluded.tokens
            WHERE spending.turns < ${limits.turns}::int AND spending.tokens + excluded.tokens <= ${limits.tokens}::int
            RETURNING 1 AS one`)
          return rows.length === 0 ? undefined : { day, tokens }
        }),

        settle: Effect.fn("Spending.settle")(function* (owner, { day, tokens }, spent, outcome) {
          const one = (which: Outcome) => (which === outcome ? 1 : 0)
          const unused = tokens - spent.inputTokens - spent.outputTokens
          yield* orUnavailable(app`
            WITH returned AS (
              UPDATE max.spending SET tokens = greatest(0, tokens - ${unused}::int)
              WHERE organization_id = ${owner.organizationId} AND day = ${day}::text::date
            )
            INSERT INTO max.usage (organization_id, day, anchor_id, model, turns, answered, declined, failed, input_tokens, output_tokens)
            VALUES (${owner.organizationId}::bigint, ${day}::text::date, ${owner.anchorId}::text, ${spent.model}::text, 1,
              ${one("answered")}::int, ${one("declined")}::int, ${one("failed")}::int,
              ${spent.inputTokens}::int, ${spent.outputTokens}::int)
            ON CONFLICT (organization_id, day, anchor_id, model) DO UPDATE SET turns = usage.turns + excluded.turns,
              answered = usage.answered + excluded.answered, declined = usage.declined + excluded.declined, failed = usage.failed + excluded.failed,
              input_tokens = usage.input_tokens + excluded.input_tokens, output_tokens = usage.output_tokens + excluded.output_tokens`)
        }),

        report: Effect.fn("Spending.report")(function* (organization, days, by) {
          const rows = yield* orUnavailable(app<ReportRow>`
            SELECT CASE WHEN ${by === "person"}::boolean THEN anchor_id END AS anchor_id,
              CASE WHEN ${by === "day"}::boolean THEN day::text END AS day, model, sum(turns)::int AS turns,
              sum(answered)::int AS answered, sum(declined)::int AS declined, sum(failed)::int AS failed,
              sum(input_tokens)::float8 AS input_tokens, sum(output_tokens)::float8 AS output_tokens
            FROM max.usage WHERE organization_id = ${organization.id}
              AND day > ${todayIn(organization.timeZone)}::text::date - ${days}::int
            GROUP BY 1, 2, 3 ORDER BY 2 DESC, turns DESC, 1, 3`)
          return rows.map((row) => ({
            ...(row.anchor_id === null ? {} : { anchorId: row.anchor_id }),
            ...(row.day === null ? {} : { day: row.day }),
            model: row.model,
            turns: row.turns,
            answered: row.answered,
            declined: row.declined,
            failed: row.failed,
            inputTokens: row.input_tokens,
            outputTokens: row.output_tokens
          }))
        })
      })
    })
  )
}
