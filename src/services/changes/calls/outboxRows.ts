/** What came of the calls of a change, from the outbox, in words. */
import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import type { Beside } from "../../../database/audit.ts"
import type { CallState, ChangeCall, ChangeDocument } from "../../../domain/Change.ts"
import type { DeclaredAction } from "../../../domain/DeclaredAction.ts"
import { sha256 } from "../document.ts"

/** A call in the outbox. */
export interface Outcome {
  readonly step: number
  readonly state: CallState
  readonly problem: string | null
  readonly result: Readonly<Record<string, string>> | null
}

export const outcomesOf = (sql: PgClient.PgClient, organizationId: bigint, changeId: string) =>
  sql.unsafe<Outcome>(
    `/* max change outbox */ SELECT step, state, problem, result FROM max.change_outbox
     WHERE organization_id = $1::bigint AND change_id = $2::text ORDER BY step`,
    [organizationId, changeId]
  )

/** The definitions that calls were made with. */
export const calledActions = (
  sql: PgClient.PgClient,
  organizationId: bigint,
  calls: ReadonlyArray<Pick<ChangeCall, "action" | "version">>
) =>
  Effect.map(
    sql.unsafe<{ definition: DeclaredAction }>(
      `/* max called actions */ SELECT a.definition FROM max.actions a JOIN jsonb_to_recordset($2::jsonb) AS c(action text, version int)
         ON c.action = a.slug AND c.version = a.version WHERE a.organization_id = $1::bigint AND a.definition IS NOT NULL`,
      [organizationId, JSON.stringify(calls.map(({ action, version }) => ({ action, version })))]
    ),
    (rows) => rows.map(({ definition }) => definition)
  )

/**
 * The idempotency key of a call: the same for every attempt, and for the same change in a restored database. The digest makes it
 * another one for each change.
 */
const keyOf = (digest: string, step: number): string => sha256(`max ${digest} ${step}`).slice(0, 40)

/** Queues the calls of a change; run it in the transaction that applies the change. */
export const queueCalls = (
  sql: PgClient.PgClient,
  organizationId: bigint,
  { calls = [], change }: ChangeDocument,
  digest: string
) => {
  if (calls.length === 0) return Effect.void
  const { parameters, text } = queued(organizationId, change, calls, digest)
  return Effect.asVoid(sql.unsafe(text, parameters))
}

const queued = (
  organizationId: bigint,
  changeId: string,
  calls: NonNullable<ChangeDocument["calls"]>,
  digest: string
): Beside => ({
  text: `/* max queue calls */ INSERT INTO max.change_outbox (organization_id, change_id, step, action, version, idempotency_key)
    SELECT $1::bigint, $2::text, q.step, q.action, q.version, q.key
    FROM jsonb_to_recordset($3::jsonb) AS q(step int, action text, version int, key text)`,
  parameters: [
    organizationId,
    changeId,
    JSON.stringify(calls.map(({ action, version }, step) => ({ step, action, version, key: keyOf(digest, step) })))
  ]
})

const PENDING: ReadonlyArray<CallState> = ["queued", "trying"]

export const isPending = ({ state }: Pick<Outcome, "state">): boolean => PENDING.includes(state)

/** Sentences about what came of the calls. None says that something was done which isn't known to be done. */
export const wordsOf = (
  outcomes: ReadonlyArray<Outcome>,
  calls: ReadonlyArray<ChangeCall>,
  actions: ReadonlyArray<DeclaredAction>
): ReadonlyArray<string> =>
  outcomes.flatMap(({ problem, result, state, step }) => {
    const call = calls[step]
    if (call === undefined) return []
    const name = `“${actions.find(({ slug }) => slug === call.action)?.name ?? call.action}”`
    switch (state) {
      case "done": {
        const shown = Object.entries(result ?? {}).map(([key, text]) => `${key}: ${text}`)
        return [`${name} is done${shown.length === 0 ? "" : ` (${shown.join("; ")})`}.`]
      }
      case "queued":
      case "trying":
        return [`${name} is being sent.`]
      case "refused":
        return [`${name} was refused: ${problem ?? "the service gave no reason."}`]
      case "dead":
        return [`${name} wasn't done: ${problem ?? "the service couldn't be reached."}`]
      case "unknown":
        return [
          `It is unknown whether ${name} was done: ${problem ?? "no clear answer came."} Look there before you try again.`
        ]
    }
  })
