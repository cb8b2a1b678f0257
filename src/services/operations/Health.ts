/**
 * Doctor's findings for the administrators' page. The examination is of the whole installation, so only what can't be about
 * another organization is shown, unless there is no other one; addresses of servers are the operator's.
 */
import { Context, Effect, Exit, Layer } from "effect"
import { Database } from "../../database/Database.ts"
import { orUnavailable } from "../../database/execute.ts"
import type { Organization } from "../../domain/EntityType.ts"
import type { Unavailable } from "../../domain/errors.ts"
import type { Health as Report } from "../../wire/admin/health.ts"
import { examine, type Finding, type Installation } from "./Doctor.ts"
import { BACKED_UP } from "./backupRecord.ts"

type Shown = Report["findings"][number]

/** To which administrators a check is shown; a check that isn't listed is for operators alone. */
const SHOWN: Readonly<Record<string, "always" | "alone">> = {
  postgres: "always",
  schema: "always",
  extensions: "always",
  standbys: "always",
  clock: "always",
  roles: "alone",
  pooler: "alone",
  organizations: "alone",
  tables: "alone",
  indexes: "alone",
  "mapped tables": "alone",
  statistics: "alone",
  connections: "alone",
  disk: "alone",
  moves: "alone"
}

/** Findings are this old at most. An examination opens connections and reads the catalog, so callers share one. */
const FRESH = "5 seconds"

export class Health extends Context.Service<
  Health,
  { readonly of: (organization: Organization) => Effect.Effect<Omit<Report, "mayBackUp">, Unavailable> }
>()("max/services/Health") {
  static readonly layer = (installation: Installation) =>
    Layer.effect(
      Health,
      Effect.gen(function* () {
        const { app } = yield* Database
        const examination = yield* Effect.cachedWithTTL(
          Effect.map(examine(installation), (findings) => ({ findings, at: new Date() })),
          (exit) => (Exit.isSuccess(exit) ? FRESH : 0)
        )
        return Health.of({
          of: Effect.fn("Health.of")(function* (organization) {
            const [row] = yield* orUnavailable(app<{ alone: boolean; backup: string | null }>`
              SELECT (SELECT count(*) FROM max.organizations) = 1 AS alone,
                (SELECT to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') FROM max.audit_log
                  WHERE organization_id = ${organization.id} AND chain = 'changes' AND action = ${BACKED_UP}::text
                  ORDER BY sequence DESC LIMIT 1) AS backup`)
            const { alone, backup } = row!
            const { at, findings } = yield* examination
            return {
              at: at.toISOString(),
              findings: shownOf(findings, alone),
              ...(backup === null ? {} : { lastBackup: backup })
            }
          })
        })
      })
    )
}

const shownOf = (findings: ReadonlyArray<Finding>, alone: boolean): ReadonlyArray<Shown> => {
  const shown = findings.flatMap(({ check, mend = [], message, status }): ReadonlyArray<Shown> => {
    if (check === "connection") return [{ check, ...CONNECTION[status] }]
    const to = SHOWN[check]
    return to === "always" || (to === "alone" && alone) ? [{ check, state: status, message, mend }] : []
  })
  // One for all, because their number would tell of other organizations.
  return alone && shown.length === findings.length ? shown : [...shown, OTHERS]
}

const OTHERS: Shown = {
  check: "others",
  state: "operator",
  message: "Only operators see what may concern other organizations, and the addresses of servers.",
  mend: ["max doctor"]
}

/** The finding itself names the server. */
const CONNECTION: Readonly<Record<Finding["status"], Omit<Shown, "check">>> = {
  ok: { state: "ok", message: "The database answers its owner.", mend: [] },
  warn: { state: "warn", message: "The database's owner can connect, with a problem.", mend: ["max doctor"] },
  fail: {
    state: "fail",
    message: "The database's owner can't connect, so nothing else was checked.",
    mend: ["max doctor"]
  }
}
