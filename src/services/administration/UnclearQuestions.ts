/**
 * The questions that were not understood, for administrators who want to know what people would ask. An organization opts
 * in; a question is kept without names and values (see `withoutNames`), and without who asked it and when on its day.
 */
import { Context, Effect, Layer } from "effect"
import { appendAudit, OPERATOR } from "../../database/audit.ts"
import { Database } from "../../database/Database.ts"
import { orUnavailable } from "../../database/execute.ts"
import type { Organization } from "../../domain/EntityType.ts"
import type { NotAdmitted, NotAllowed, OperatorError, Unavailable } from "../../domain/errors.ts"
import type { Principal } from "../../domain/Principal.ts"
import { todayIn } from "../../domain/values.ts"
import type { UnclearQuestions as Report } from "../../wire/admin/usage.ts"
import { IdentityResolver } from "../members/IdentityResolver.ts"
import { requirePower } from "../members/powers.ts"
import { lockEpochFor } from "../members/suspension.ts"

/** A question that isn't asked again is forgotten after so many days, and the latest so many are kept. */
export const KEPT_DAYS = 90
const MAX_KEPT = 500

type Fault = OperatorError | NotAdmitted | NotAllowed | Unavailable

export class UnclearQuestions extends Context.Service<
  UnclearQuestions,
  {
    /** Keeps a question if the organization has opted in. */
    readonly keep: (organization: Organization, question: string) => Effect.Effect<void, Unavailable>
    readonly report: (organization: Organization) => Effect.Effect<Report, Unavailable>
    readonly reportFor: (administrator: Principal) => Effect.Effect<Report, NotAdmitted | Unavailable>
    /** Opts in or out; opting out forgets what was kept. */
    readonly set: (organization: Organization, kept: boolean, by?: Principal) => Effect.Effect<void, Fault>
    readonly setFor: (administrator: Principal, kept: boolean) => Effect.Effect<void, Fault>
  }
>()("max/services/UnclearQuestions") {
  static readonly layer = Layer.effect(
    UnclearQuestions,
    Effect.gen(function* () {
      const { app } = yield* Database
      const identities = yield* IdentityResolver

      const report = Effect.fnUntraced(function* ({ id, timeZone }: Organization) {
        const rows = yield* orUnavailable(app<{ question: string | null; times: number; day: string }>`
          SELECT q.question, q.times, q.day::text AS day FROM max.question_settings s
          LEFT JOIN max.unclear_questions q ON q.organization_id = s.organization_id
            AND q.day > ${todayIn(timeZone)}::text::date - ${KEPT_DAYS}::int
          WHERE s.organization_id = ${id} ORDER BY q.times DESC, q.day DESC, q.question LIMIT ${MAX_KEPT}`)
        return {
          kept: rows.length > 0,
          days: KEPT_DAYS,
          questions: rows.flatMap(({ day, question, times }) => (question === null ? [] : [{ question, times, day }]))
        }
      })

      const set = Effect.fnUntraced(function* (organization: Organization, kept: boolean, by?: Principal) {
        yield* Effect.gen(function* () {
          yield* lockEpochFor(app, organization, by)
          const changed = yield* kept
            ? app`INSERT INTO max.question_settings (organization_id) VALUES (${organization.id})
                ON CONFLICT (organization_id) DO NOTHING RETURNING 1 AS one`
            : app`DELETE FROM max.question_settings WHERE organization_id = ${organization.id} RETURNING 1 AS one`
          // After the setting is gone, whose lock a question that is being kept holds.
          if (!kept) yield* app`DELETE FROM max.unclear_questions WHERE organization_id = ${organization.id}`
          if (changed.length === 0) return
          yield* appendAudit(app, organization.id, "changes", [
            {
              actor: by?.anchorEntityId ?? OPERATOR,
              action: kept ? "questions.kept" : "questions.forgotten",
              subject: organization.slug
            }
          ])
        }).pipe(app.withTransaction, orUnavailable)
      })

      return UnclearQuestions.of({
        keep: Effect.fn("UnclearQuestions.keep")(function* ({ id, timeZone }, question) {
          const today = todayIn(timeZone)
          yield* orUnavailable(app`
            WITH opted AS (SELECT organization_id FROM max.question_settings WHERE organization_id = ${id} FOR SHARE),
            forgotten AS (
              DELETE FROM max.unclear_questions q USING opted o WHERE q.organization_id = o.organization_id
                AND q.question <> ${question}::text AND (q.day <= ${today}::text::date - ${KEPT_DAYS}::int
                OR q.question NOT IN (SELECT l.question FROM max.unclear_questions l
                  WHERE l.organization_id = ${id}::bigint AND l.question <> ${question}::text
                  ORDER BY l.day DESC, l.times DESC, l.question LIMIT ${MAX_KEPT - 1}))
            )
            INSERT INTO max.unclear_questions AS q (organization_id, question, day)
            SELECT organization_id, ${question}::text, ${today}::text::date FROM opted
            ON CONFLICT (organization_id, question) DO UPDATE SET times = q.times + 1, day = excluded.day`)
        }),

        report: Effect.fn("UnclearQuestions.report")(report),
        reportFor: Effect.fn("UnclearQuestions.reportFor")(function* (administrator) {
          return yield* report((yield* identities.readmit(administrator)).state.catalog.organization)
        }),

        set: Effect.fn("UnclearQuestions.set")(set),
        setFor: Effect.fn("UnclearQuestions.setFor")(function* (administrator, kept) {
          const { principal, state } = yield* identities.readmit(administrator)
          yield* requirePower(state.policy, principal, "policy")
          yield* set(state.catalog.organization, kept, principal)
        })
      })
    })
  )
}
