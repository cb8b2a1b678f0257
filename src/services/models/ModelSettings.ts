/**
 * What an organization sets about its model: a key of its own with the model that it pays for, where the operator has
 * configured none, and a day's budget within the operator's. A key is tried with its provider before it is stored.
 */
import type { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer, type Redacted } from "effect"
import { appendAudit, OPERATOR } from "../../database/audit.ts"
import { Database } from "../../database/Database.ts"
import { orUnavailable } from "../../database/execute.ts"
import type { Organization } from "../../domain/EntityType.ts"
import { OperatorError, type Unavailable } from "../../domain/errors.ts"
import type { Principal } from "../../domain/Principal.ts"
import { quoted } from "../../domain/text.ts"
import { lockEpochFor } from "../members/suspension.ts"
import { type Given, Secrets, type Shown } from "../secrets/Secrets.ts"

/** The name of the key among an organization's secrets. */
export const MODEL_KEY = "model"

const MODEL = /^[A-Za-z0-9][A-Za-z0-9._:@/-]{0,99}$/

export interface ModelPlan {
  /** Undefined: the default of the provider. */
  readonly model: string | undefined
  /** Questions and tokens per day; undefined: the operator's limits alone. */
  readonly dayTurns: number | undefined
  readonly dayTokens: number | undefined
  /** Whether the organization has a key of its own. */
  readonly hasKey: boolean
}

/** Asks the provider about a key and a model with one call that costs nothing; the error says why it doesn't serve. */
type TryKey = (key: Redacted.Redacted<string>, model: string) => Effect.Effect<void, OperatorError>

export interface ModelLimits {
  readonly tryKey: TryKey
  /** The provider that the operator has configured, where keys of organizations don't count. */
  readonly configured: { readonly provider: string; readonly model: string | undefined } | undefined
  readonly defaultModel: string
  /** The operator's limits. */
  readonly dayTurns: number
  readonly dayTokens: number
}

interface Row {
  readonly model: string | null
  readonly day_turns: number | null
  readonly day_tokens: number | null
  readonly has_key: boolean
}

type Fault = OperatorError | Unavailable

/** What is set; null removes a setting, and one that is left out stays. */
export interface ModelChange {
  readonly model?: string | null | undefined
  readonly dayTurns?: number | null | undefined
  readonly dayTokens?: number | null | undefined
}

export class ModelSettings extends Context.Service<
  ModelSettings,
  {
    readonly limits: Omit<ModelLimits, "tryKey">
    readonly plan: (organizationId: bigint) => Effect.Effect<ModelPlan, Unavailable>
    readonly key: (organization: Organization) => Effect.Effect<Shown | undefined, Unavailable>
    /** Tries a key, then stores it; nothing changes unless the provider takes it. */
    readonly setKey: (organization: Organization, given: Given, by?: Principal) => Effect.Effect<void, Fault>
    readonly removeKey: (organization: Organization, by?: Principal) => Effect.Effect<void, Fault>
    readonly set: (organization: Organization, change: ModelChange, by?: Principal) => Effect.Effect<void, Fault>
  }
>()("max/services/ModelSettings") {
  static readonly layer = ({ tryKey, ...limits }: ModelLimits) =>
    Layer.effect(
      ModelSettings,
      Effect.gen(function* () {
        const { app } = yield* Database
        const secrets = yield* Secrets

        const plan = Effect.fn("ModelSettings.plan")(function* (organizationId: bigint) {
          const [row] = yield* orUnavailable(app<Row>`/* max model settings */
            SELECT m.model, m.day_turns, m.day_tokens, s.name IS NOT NULL AS has_key
            FROM (SELECT ${organizationId}::bigint AS id) o
            LEFT JOIN max.model_settings m ON m.organization_id = o.id
            LEFT JOIN max.secrets s ON s.organization_id = o.id AND s.name = ${MODEL_KEY}`)
          return {
            model: row!.model ?? undefined,
            dayTurns: row!.day_turns ?? undefined,
            dayTokens: row!.day_tokens ?? undefined,
            hasKey: row!.has_key
          }
        })

        /** One transaction under the administrator's epoch, with its audit event. */
        const recorded = <E>(
          organization: Organization,
          by: Principal | undefined,
          action: string,
          details: Readonly<Record<string, string | number | null>>,
          write: (sql: PgClient.PgClient, actor: string) => Effect.Effect<unknown, E>
        ) =>
          Effect.gen(function* () {
            const actor = by?.anchorEntityId ?? OPERATOR
            yield* lockEpochFor(app, organization, by)
            yield* write(app, actor)
            yield* appendAudit(app, organization.id, "changes", [
              { actor, action, subject: organization.slug, details }
            ])
          }).pipe(app.withTransaction, orUnavailable)

        const ownModel =
          limits.configured === undefined
            ? Effect.void
            : Effect.fail(OperatorError.of(`The operator of Max has chosen the model (${limits.configured.provider}).`))

        return ModelSettings.of({
          limits,
          plan,

          key: (organization) => secrets.shown(organization, MODEL_KEY),

          setKey: Effect.fn("ModelSettings.setKey")(function* (organization, given, by) {
            yield* ownModel
            const { model } = yield* plan(organization.id)
            yield* tryKey(yield* secrets.take(organization, given), model ?? limits.defaultModel)
            const how = "file" in given ? { file: given.file } : { sealed: "yes" }
            yield* recorded(organization, by, "model.key-set", how, (_, actor) =>
              secrets.put(organization, MODEL_KEY, given, actor)
            )
          }),

          removeKey: Effect.fn("ModelSettings.removeKey")(function* (organization, by) {
            yield* recorded(organization, by, "model.key-removed", {}, () =>
              Effect.flatMap(secrets.remove(organization, MODEL_KEY), (removed) =>
                removed ? Effect.void : Effect.fail(OperatorError.of("There is no key to remove."))
              )
            )
          }),

          set: Effect.fn("ModelSettings.set")(function* (organization, { dayTokens, dayTurns, model }, by) {
            if (model !== undefined && model !== null) {
              yield* ownModel
              if (!MODEL.test(model)) return yield* OperatorError.of(`${quoted(model)} isn't the name of a model.`)
            }
            yield* checkBudget("questions", dayTurns, limits.dayTurns)
            yield* checkBudget("tokens", dayTokens, limits.dayTokens)
            // A model is tried with the key that it will be asked with.
            if (model !== undefined) {
              const key = yield* secrets.read(organization, MODEL_KEY)
              if (key !== undefined) yield* tryKey(key.secret, model ?? limits.defaultModel)
            }
            const details = {
              ...(model === undefined ? {} : { model }),
              ...(dayTurns === undefined ? {} : { dayTurns }),
              ...(dayTokens === undefined ? {} : { dayTokens })
            }
            const keeps = (value: unknown) => value === undefined
            yield* recorded(
              organization,
              by,
              "model.set",
              details,
              (sql) => sql`INSERT INTO max.model_settings AS m (organization_id, model, day_turns, day_tokens)
                VALUES (${organization.id}, ${model ?? null}::text, ${dayTurns ?? null}::int, ${dayTokens ?? null}::int)
                ON CONFLICT (organization_id) DO UPDATE SET
                  model = CASE WHEN ${keeps(model)}::boolean THEN m.model ELSE excluded.model END,
                  day_turns = CASE WHEN ${keeps(dayTurns)}::boolean THEN m.day_turns ELSE excluded.day_turns END,
                  day_tokens = CASE WHEN ${keeps(dayTokens)}::boolean THEN m.day_tokens ELSE excluded.day_tokens END`
            )
          })
        })
      })
    )
}

const checkBudget = (what: string, value: number | null | undefined, most: number) =>
  value === undefined || value === null || (Number.isInteger(value) && value >= 0 && value <= most)
    ? Effect.void
    : Effect.fail(OperatorError.of(`A day's ${what}: a whole number from 0 to ${most}, the operator's limit.`))
