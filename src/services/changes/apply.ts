/**
 * Applying a change: one transaction holds the epoch, claims the change, locks its rows, compares them with what was shown,
 * writes as the narrow role, judges the rows as they are now, and records. Any refusal rolls back the claim as well.
 */
import { Array as Arr, Effect } from "effect"
import type { SqlError } from "effect/sql"
import { appendHeld, leaveRoleHoldingAudit } from "../../database/audit.ts"
import { newDataVersion } from "../../database/dataVersion.ts"
import type { Database } from "../../database/Database.ts"
import type { ChangeDocument, ChangeStep, Receipt } from "../../domain/Change.ts"
import { typeByKey } from "../../domain/EntityType.ts"
import { NotAllowed, type NotYet, Stale } from "../../domain/errors.ts"
import { queueCalls } from "./calls/outboxRows.ts"
import { showId } from "../../domain/values.ts"
import type { WriteAction } from "../../permissions/WritePlan.ts"
import { type Caller, requireKnown } from "./callers.ts"
import { documentOf } from "./document.ts"
import { StalePlan } from "./evaluate.ts"
import { whyLasting } from "./lasting.ts"
import type { Made } from "./made.ts"
import { deletedPeople, refuseMembers } from "./propose.ts"
import { appendEvents, insertEvents, isoTime, type Stored, type Via } from "./records.ts"
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
 * change if the epoch is the parties', with its receipt, its steps and what it undoes; sets the transaction's organization and, where one is given, its role.
 * The lock comes first: the claim reads from it. The role comes last, because its rights are those of the next statement.
 */
const CLAIM = `/* max claim */ WITH entered AS (SELECT set_config('max.organization_id', $1::bigint::text, true)),
  held AS MATERIALIZED (SELECT o.epoch FROM entered, max.organizations o WHERE o.organization_id = $1::bigint FOR SHARE OF o),
  claimed AS (UPDATE max.changes SET state = 'applied', decided_at = statement_timestamp(), decided_by = $5::text, decided_channel = $6::text,
    receipt = $8::jsonb || jsonb_build_object('at', ${isoTime("statement_timestamp()")})
  FROM held WHERE held.epoch = $7::bigint AND organization_id = $1::bigint AND change_id = $2::text AND digest = decode($3::text, 'hex') AND state = $4::text
    AND expires_at > clock_timestamp() AND (level <> 'second' OR proposer_id <> $5::text)
    AND (level <> 'twice' OR yes_at <= clock_timestamp() - interval '1 second') AND document IS NOT NULL
  RETURNING receipt ->> 'at' AS at),
  stepped AS (INSERT INTO max.change_steps (organization_id, change_id, step, action_key, action_version, type_key, entity_id, columns, applied_at)
    SELECT $1::bigint, $2::text, s.n, s.action, s.version, s.type, s.entity, ARRAY(SELECT jsonb_array_elements_text(s.columns)), statement_timestamp()
    FROM claimed, ROWS FROM (jsonb_to_recordset($11::jsonb) AS (action text, version int, type text, entity text, columns jsonb))
      WITH ORDINALITY s(action, version, type, entity, columns, n)),
  undone AS (UPDATE max.changes u SET undone_by = $2::text FROM claimed WHERE u.organization_id = $1::bigint AND u.change_id = $10::text)
  SELECT held.epoch, claimed.at, CASE WHEN $9::text IS NOT NULL THEN set_config('role', $9::text, true) END AS role
  FROM held LEFT JOIN claimed ON true`

interface Claimed {
  readonly epoch: bigint
  readonly at: string | null
}

/** Claims a change for the transaction, and returns the time of the decision; NULL when another one came first. */
export const claim = Effect.fnUntraced(function* (
  sql: Database["Service"]["changes"],
  { change_id, digest }: Stored,
  { approver, decider, via, writers: [writer] }: Deciding,
  {
    epoch,
    receipt,
    role,
    document
  }: {
    readonly epoch: bigint
    readonly receipt: Receipt
    readonly role?: string | undefined
    readonly document: ChangeDocument
  }
) {
  const [claimed] = yield* sql.unsafe<Claimed>(CLAIM, [
    writer.catalog.organization.id,
    change_id,
    digest,
    approver === undefined ? "open" : "waiting",
    decider,
    via.channel,
    epoch,
    JSON.stringify(receipt),
    role ?? null,
    document.undoes ?? null,
    JSON.stringify(document.steps.map(appliedStep))
  ])
  return claimed?.epoch === epoch ? claimed.at : yield* Effect.fail(new StalePlan())
})

/** What the history of rows keeps of a step: no values. */
const appliedStep = ({ action, after, before, entity, type, version }: ChangeStep) => ({
  action,
  version,
  type,
  entity,
  columns: [...new Set([...Object.keys(before), ...Object.keys(after)])].toSorted()
})

/** Applies a change, or fails and leaves everything as it was. */
export const apply = Effect.fnUntraced(function* (
  stored: Stored,
  deciding: Deciding,
  database: Database["Service"]
): Effect.fn.Return<Receipt, StalePlan | NotClaimed | Stale | NotAllowed | NotYet | SqlError.SqlError> {
  const { changeRole, changes: sql } = database
  const { approver, decider, started, via, writers } = deciding
  const { catalog } = writers[0]
  const organizationId = catalog.organization.id
  const parties = [...writers, ...(approver === undefined ? [] : [approver])]
  if (parties.some((party) => party.catalog.epoch !== catalog.epoch)) return yield* Effect.fail(new StalePlan())
  // The claim finds the row by this digest, and a document is never replaced.
  const document = documentOf(stored)
  if (document === undefined) return yield* Effect.fail(new NotClaimed())
  const planned = document.steps.map((step) => ({ step, unit: unitOf(step, catalog, document.undoes !== undefined) }))
  const missing = planned.find(({ step, unit }) => unit?.type.version !== step.typeVersion)
  const units = planned.flatMap(({ unit }) => (unit === undefined ? [] : [unit]))
  const gone = (document.calls ?? []).find(
    ({ action, version }) =>
      !writers.every(({ actions }) => actions.some((one) => one.slug === action && one.version === version))
  )
  const named = (document.calls ?? []).map(({ action }) => action)
  for (const writer of writers) yield* requireKnown(named, writer)
  const receipt = receiptOf(document, units, decider, catalog)
  // Memberships are read as the service, after the claim has locked the epoch.
  const deletesPeople = deletedPeople(document.steps, { catalog }).length > 0
  return yield* Effect.gen(function* () {
    const at = yield* claim(sql, stored, deciding, {
      epoch: catalog.epoch,
      receipt,
      role: deletesPeople ? undefined : changeRole,
      document
    })
    if (missing !== undefined) {
      const type = typeByKey(catalog, missing.step.type)
      return yield* Stale.of(
        `The columns of ${type?.pluralName.toLowerCase() ?? "this type"} have changed since you looked: nothing was changed.`
      )
    }
    if (gone !== undefined)
      return yield* writers.every(({ actions }) => actions.some(({ slug }) => slug === gone.action))
        ? Stale.of("The action has been published anew since you looked: nothing was changed.")
        : NotAllowed.of("You may not use this action any more: nothing was changed.")
    if (at === null) return yield* Effect.fail(new NotClaimed())
    // A role that may write all of Max's data has no place in tables of other programs.
    if (changeRole === undefined && units.some(({ type }) => type.mapping !== undefined))
      return yield* NotAllowed.of(NO_ROLE)
    if (deletesPeople) {
      yield* refuseMembers(sql, organizationId, document.steps, { catalog })
      if (changeRole !== undefined) yield* sql.unsafe("SELECT set_config('role', $1::text, true)", [changeRole])
    }
    const made = yield* writeUnits(units, writers, approver, sql)
    yield* record(sql, organizationId, document, stored.digest, decider, via, approver !== undefined, started)
    const done = { ...receipt, at }
    return Object.keys(made).length === 0 ? done : yield* recordMade(sql, organizationId, document, made, done)
  }).pipe(sql.withTransaction)
})

const NO_ROLE =
  "Rows of mapped tables can't be changed here: this database has no role that writes them. Nothing was changed."

/** The receipt, whose time the claim sets. What becomes of calls is known later. */
const receiptOf = (
  document: ChangeDocument,
  units: ReadonlyArray<Unit>,
  by: string,
  catalog: Caller["catalog"]
): Receipt => ({
  state: "applied",
  message: [
    units.length === 0 ? "Confirmed." : `Done: ${summaryOf(units)}.`,
    ...(document.remains ?? []).map(notTakenBack)
  ].join(" "),
  rows: units.length + (document.calls?.length ?? 0),
  ...(document.calls === undefined ? {} : { calls: document.calls.length }),
  ...(whyLasting(document, catalog) === undefined ? {} : { lasting: true }),
  at: "",
  by,
  entities: units.map(({ action, id, type }) => ({
    actionId: action.slug,
    entityTypeId: type.slug,
    entityId: showId(id, type.mapping?.id.type)
  }))
})

const notTakenBack = (name: string): string => `“${name}” wasn't taken back.`

const PAST: Readonly<Record<WriteAction, string>> = { create: "added", update: "changed", delete: "deleted" }

/** Such as `3 people changed, 1 meeting added`; names and values are for previews. */
const summaryOf = (units: ReadonlyArray<Unit>): string =>
  Object.values(Arr.groupBy(units, ({ action }) => action.key))
    .map((same) => {
      const [{ op, type }] = same
      return `${same.length} ${(same.length === 1 ? type.name : type.pluralName).toLowerCase()} ${PAST[op]}`
    })
    .join(", ")

/** Records what was applied, as the service again: the events, and the audit log, whose lock comes last. */
export const record = Effect.fnUntraced(function* (
  sql: Database["Service"]["changes"],
  organizationId: bigint,
  document: ChangeDocument,
  digest: string,
  decider: string,
  via: Via,
  approved: boolean,
  started: number
) {
  const { change, steps, undoes } = document
  yield* leaveRoleHoldingAudit(sql, organizationId, "changes")
  yield* queueCalls(sql, organizationId, document, digest)
  if (undoes !== undefined)
    yield* appendEvents(sql, organizationId, undoes, decider, via, [{ phase: "undone", outcome: "ok" }])
  const details = auditDetails(document, digest, decider)
  if (approved)
    yield* appendHeld(sql, organizationId, "changes", {
      actor: decider,
      action: "change.approved",
      subject: change,
      details
    })
  const ms = Math.round(performance.now() - started)
  yield* appendHeld(
    sql,
    organizationId,
    "changes",
    {
      actor: decider,
      action: undoes === undefined ? "change.applied" : "change.undone",
      subject: change,
      details
    },
    insertEvents(organizationId, change, decider, via, [
      { phase: approved ? "approved" : "confirmed", outcome: "ok" },
      { phase: "applied", outcome: "ok", ms, detail: { rows: steps.length } }
    ]),
    // Also under the audit log's lock, so that two changes take the two locks in one order.
    ...(steps.length === 0 ? [] : [newDataVersion(organizationId)])
  )
})

/** Records the ids that the database gave to the rows of a change. */
const recordMade = Effect.fnUntraced(function* (
  sql: Database["Service"]["changes"],
  organizationId: bigint,
  { change, steps }: ChangeDocument,
  made: Made,
  receipt: Receipt
) {
  // Only rows of mapped tables are made, whose ids are shown as they are.
  const entities = receipt.entities.map((entity, index) => ({
    ...entity,
    entityId: made[steps[index]!.entity]?.entity ?? entity.entityId
  }))
  yield* sql.unsafe(
    `/* max rows made */ WITH stepped AS (UPDATE max.change_steps SET entity_id = $4::jsonb -> entity_id ->> 'entity'
       WHERE organization_id = $1::bigint AND change_id = $2::text AND $4::jsonb ? entity_id)
     UPDATE max.changes SET made = $4::jsonb, receipt = receipt || jsonb_build_object('entities', $3::jsonb)
     WHERE organization_id = $1::bigint AND change_id = $2::text`,
    [organizationId, change, JSON.stringify(entities), JSON.stringify(made)]
  )
  return { ...receipt, entities }
})

/** The action of a change that publishes a policy, which no rule is about. */
export const PUBLISH = "policy.publish"

/** What the audit log says of a change: never a value. The digest proves later which document was decided on. */
export const auditDetails = (
  document: ChangeDocument,
  digest: string,
  decider: string
): Readonly<Record<string, unknown>> => ({
  digest,
  proposer: document.proposer,
  decider,
  actions:
    document.publishes === undefined
      ? [...new Set([...document.steps, ...(document.calls ?? [])].map(({ action }) => action))]
      : [PUBLISH],
  columns: [...new Set(document.steps.flatMap(({ after }) => Object.keys(after)))].toSorted(),
  rows: document.steps.length + (document.calls?.length ?? 0),
  ...(document.publishes === undefined ? {} : { policy: document.publishes.sha256 }),
  ...(document.undoes === undefined ? {} : { undoes: document.undoes })
})
