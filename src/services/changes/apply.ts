/**
 * Applying a change: one transaction holds the epoch, claims the change, locks its rows, compares them with what was shown,
 * writes as the narrow role, judges the rows as they are now, and records. Any refusal rolls back the claim as well.
 */
import { Effect } from "effect"
import type { SqlError } from "effect/sql"
import { appendAudit } from "../../database/audit.ts"
import type { Database } from "../../database/Database.ts"
import type { ChangeDocument, Receipt } from "../../domain/Change.ts"
import { actionByKey } from "../../domain/Action.ts"
import { typeByKey } from "../../domain/EntityType.ts"
import { NotAllowed, Stale } from "../../domain/errors.ts"
import { encodeId } from "../../domain/ids.ts"
import type { Caller } from "./callers.ts"
import { open } from "./document.ts"
import { StalePlan } from "./evaluate.ts"
import { refuseMembers } from "./propose.ts"
import { appendEvents, isoTime, type Stored, type Via } from "./records.ts"
import { type Unit, unitOf } from "./Unit.ts"
import { writeUnits } from "./writeUnits.ts"

/** Another decision came first, or the time is over: the claim found no row. */
export class NotClaimed {
  readonly _tag = "NotClaimed"
}

/** Who decides, and everyone that the change must be permitted to. */
export interface Deciding {
  readonly decider: string
  readonly via: Via
  /** The proposer, and the caller who confirms where that is another credential or person of the same plan. */
  readonly writers: readonly [Caller, ...ReadonlyArray<Caller>]
  /** A second person, who must be able to read all of it. */
  readonly approver?: Caller | undefined
  readonly started: number
}

/**
 * Shares a lock on the epoch until the transaction ends, so that a change of policy, memberships or catalog waits; claims the
 * change if the epoch is the parties'; sets the transaction's organization. The lock comes first: the claim reads from it.
 */
const CLAIM = `/* max claim */ WITH entered AS (SELECT set_config('max.organization_id', $1::bigint::text, true)),
  held AS MATERIALIZED (SELECT o.epoch FROM entered, max.organizations o WHERE o.organization_id = $1::bigint FOR SHARE OF o),
  claimed AS (UPDATE max.changes SET state = 'applied', decided_at = clock_timestamp(), decided_by = $5::text, decided_channel = $6::text
  FROM held WHERE held.epoch = $7::bigint AND organization_id = $1::bigint AND change_id = $2::text AND digest = decode($3::text, 'hex') AND state = $4::text
    AND expires_at > clock_timestamp() AND (level <> 'second' OR proposer_id <> $5::text)
    AND (level <> 'twice' OR yes_at <= clock_timestamp() - interval '1 second')
  RETURNING document, ${isoTime("decided_at")} AS at)
  SELECT held.epoch, claimed.document, claimed.at FROM held LEFT JOIN claimed ON true`

interface Claimed {
  readonly epoch: bigint
  readonly document: string | null
  readonly at: string | null
}

/** Applies a change, or fails and leaves everything as it was. */
export const apply = Effect.fnUntraced(function* (
  stored: Stored,
  { approver, decider, started, via, writers }: Deciding,
  database: Database["Service"]
): Effect.fn.Return<Receipt, StalePlan | NotClaimed | Stale | NotAllowed | SqlError.SqlError> {
  const { changeRole, changes: sql } = database
  const { catalog } = writers[0]
  const organizationId = catalog.organization.id
  return yield* Effect.gen(function* () {
    const parties = [...writers, ...(approver === undefined ? [] : [approver])]
    const [claimed] = yield* sql.unsafe<Claimed>(CLAIM, [
      organizationId,
      stored.change_id,
      stored.digest,
      approver === undefined ? "open" : "waiting",
      decider,
      via.channel,
      catalog.epoch
    ])
    if (parties.some((party) => party.catalog.epoch !== claimed?.epoch)) return yield* Effect.fail(new StalePlan())
    if (claimed?.document == null || claimed.at === null) return yield* Effect.fail(new NotClaimed())
    const document = open(claimed.document, stored.digest)
    const units = document.steps.map((step) => ({ step, unit: unitOf(step, catalog, document.undoes !== undefined) }))
    const missing = units.find(({ step, unit }) => unit === undefined || unit.type.version !== step.typeVersion)
    if (missing !== undefined) {
      const type = typeByKey(catalog, missing.step.type)
      return yield* Stale.of(
        `The columns of ${type?.pluralName.toLowerCase() ?? "this type"} have changed since you looked: nothing was changed.`
      )
    }
    yield* refuseMembers(sql, organizationId, document.steps, { catalog })
    if (changeRole !== undefined) yield* sql.unsafe("SELECT set_config('role', $1::text, true)", [changeRole])
    yield* writeUnits(
      units.map(({ unit }) => unit as Unit),
      writers,
      approver,
      sql
    )
    if (changeRole !== undefined) yield* sql.unsafe("RESET ROLE")
    const receipt = receiptOf(document, claimed.at, decider, writers[0])
    yield* record(sql, organizationId, document, stored.digest, receipt, decider, via, approver !== undefined, started)
    return receipt
  }).pipe(sql.withTransaction)
})

const receiptOf = (document: ChangeDocument, at: string, by: string, { catalog }: Caller): Receipt => ({
  state: "applied",
  message: `Done: ${summaryOf(document, catalog)}.`,
  rows: document.steps.length,
  at,
  by,
  entities: document.steps.map(({ action, entity, type }) => ({
    actionId: actionByKey(catalog, action)?.slug ?? action,
    entityTypeId: typeByKey(catalog, type)?.slug ?? type,
    entityId: encodeId(BigInt(entity))
  }))
})

const PAST: Readonly<Record<string, string>> = { create: "added", update: "changed", delete: "deleted" }

/** Such as `3 people changed, 1 meeting added`; names and values are for previews. */
const summaryOf = ({ steps }: ChangeDocument, catalog: Caller["catalog"]): string => {
  const counts = new Map<string, number>()
  for (const { action } of steps) counts.set(action, (counts.get(action) ?? 0) + 1)
  return [...counts]
    .map(([key, count]) => {
      const action = actionByKey(catalog, key)!
      const type = typeByKey(catalog, action.subject.type)!
      return `${count} ${(count === 1 ? type.name : type.pluralName).toLowerCase()} ${PAST[action.executor.op]}`
    })
    .join(", ")
}

/** Records what was applied: the receipt, the steps, the event, what it undoes, and last the audit log, which has a lock. */
const record = Effect.fnUntraced(function* (
  sql: Database["Service"]["changes"],
  organizationId: bigint,
  document: ChangeDocument,
  digest: string,
  receipt: Receipt,
  decider: string,
  via: Via,
  approved: boolean,
  started: number
) {
  yield* sql.unsafe(
    `/* max receipt */ WITH steps AS (
       UPDATE max.change_steps SET applied_at = clock_timestamp() WHERE organization_id = $1::bigint AND change_id = $2::text),
     undone AS (UPDATE max.changes SET undone_by = $2::text WHERE organization_id = $1::bigint AND change_id = $4::text)
     UPDATE max.changes SET receipt = $3::jsonb WHERE organization_id = $1::bigint AND change_id = $2::text`,
    [organizationId, document.change, JSON.stringify(receipt), document.undoes ?? null]
  )
  const ms = Math.round(performance.now() - started)
  yield* appendEvents(sql, organizationId, document.change, decider, via, [
    { phase: approved ? "approved" : "confirmed", outcome: "ok" },
    { phase: "applied", outcome: "ok", ms, detail: { rows: receipt.rows } }
  ])
  if (document.undoes !== undefined)
    yield* appendEvents(sql, organizationId, document.undoes, decider, via, [{ phase: "undone", outcome: "ok" }])
  const details = auditDetails(document, digest, decider)
  yield* appendAudit(sql, organizationId, "changes", [
    ...(approved ? [{ actor: decider, action: "change.approved", subject: document.change, details }] : []),
    {
      actor: decider,
      action: document.undoes === undefined ? "change.applied" : "change.undone",
      subject: document.change,
      details
    }
  ])
})

/** What the audit log says of a change: never a value. The digest proves later which document was decided on. */
export const auditDetails = (
  document: ChangeDocument,
  digest: string,
  decider: string
): Readonly<Record<string, unknown>> => ({
  digest,
  proposer: document.proposer,
  decider,
  actions: [...new Set(document.steps.map(({ action }) => action))],
  columns: [...new Set(document.steps.flatMap(({ after }) => Object.keys(after)))].toSorted(),
  rows: document.steps.length,
  ...(document.undoes === undefined ? {} : { undoes: document.undoes })
})
