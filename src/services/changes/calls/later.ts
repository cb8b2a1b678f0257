/** What a call takes from the answers to earlier calls of its change: filled in when those are done, or one clear problem. */
import type { PgClient } from "@effect/sql-pg"
import { Effect, Result } from "effect"
import type { ChangeCall } from "../../../domain/Change.ts"
import type { CallValues, DeclaredAction } from "../../../domain/DeclaredAction.ts"
import type { Organization } from "../../../domain/EntityType.ts"
import { readField } from "../../actions/fieldValues.ts"
import { MAX_RESULT, type Sent } from "../../actions/send.ts"
import { type OrganizationRow, organizationOf } from "../../catalog/OrganizationState.ts"
import { calledActions, type Outcome, outcomesOf } from "./outboxRows.ts"

/** A result that wasn't cut when it was stored. */
export const wholeResult = (text: string | undefined): string | undefined =>
  text === undefined || ([...text].length >= MAX_RESULT && text.endsWith("…")) ? undefined : text

/** What an earlier call was answered, for a field that takes it; undefined before it is done, and where that answer hasn't it. */
export const answeredFor = (
  { later = {} }: ChangeCall,
  slug: string,
  outcomes: ReadonlyArray<Outcome>
): string | undefined => {
  const source = Object.hasOwn(later, slug) ? later[slug] : undefined
  const outcome = outcomes.find(({ state, step }) => step === source?.call && state === "done")
  const results = outcome?.result ?? {}
  return source === undefined || !Object.hasOwn(results, source.result)
    ? undefined
    : wholeResult(results[source.result])
}

/** The values with which a call is sent, each filled in one checked like one that a person gives; the failure is a problem in words. */
const filled = (
  call: ChangeCall,
  fields: DeclaredAction["fields"],
  outcomes: ReadonlyArray<Outcome>,
  organization: Organization,
  nameOf: (call: number) => string
): Result.Result<CallValues, string> => {
  const values: Record<string, string> = { ...call.values }
  for (const [slug, source] of Object.entries(call.later ?? {})) {
    const field = fields.find((one) => one.slug === slug)
    const text = answeredFor(call, slug, outcomes)
    if (field === undefined || text === undefined || text.trim() === "")
      return Result.fail(`“${nameOf(source.call)}” has answered no ${source.result}, which this takes.`)
    const read = readField(field, text, organization)
    if (Result.isFailure(read))
      return Result.fail(`“${nameOf(source.call)}” has answered no ${field.name} that this takes: ${read.failure}.`)
    values[slug] = read.success
  }
  return Result.succeed(values)
}

/** The values of a call that is due, when the calls before it are done; or that it isn't sent. */
export const valuesToSend = Effect.fnUntraced(function* (
  sql: PgClient.PgClient,
  organizationId: bigint,
  changeId: string,
  call: ChangeCall,
  calls: ReadonlyArray<ChangeCall>,
  { fields }: DeclaredAction
) {
  if (call.later === undefined) return Result.succeed(call.values)
  const outcomes = yield* outcomesOf(sql, organizationId, changeId)
  const actions = yield* calledActions(sql, organizationId, calls)
  const [row] = yield* sql.unsafe<OrganizationRow>(
    `/* max organization of call */ SELECT organization_id, slug, name, country, time_zone, external_key FROM max.organizations
     WHERE organization_id = $1::bigint`,
    [organizationId]
  )
  const nameOf = (at: number) => actions.find(({ slug }) => slug === calls[at]?.action)?.name ?? ""
  return Result.mapError(filled(call, fields, outcomes, organizationOf(row!), nameOf), (problem): Sent => ({
    _tag: "Refused",
    error: "no-result",
    problem
  }))
})
