/**
 * Proposing: resolve → evaluate → document → store. Reading happens as the reading role; one short transaction under a lock
 * on the person then counts, refuses or stores (`store.ts`).
 */
import { Effect, Result } from "effect"
import type { Database } from "../../database/Database.ts"
import { orUnavailable } from "../../database/execute.ts"
import type { Confirmation } from "../../domain/Action.ts"
import type { ChangeStep } from "../../domain/Change.ts"
import { type Call, callOf, callSignature, documented } from "./calls/Call.ts"
import { PEOPLE, typeByKey } from "../../domain/EntityType.ts"
import {
  Decided,
  InvalidInput,
  NotAllowed,
  type NotYet,
  type Stale,
  type TooManyCalls,
  type Unavailable,
  UnknownName
} from "../../domain/errors.ts"
import { encodeId, nextId } from "../../domain/ids.ts"
import { printable } from "../../domain/text.ts"
import { showId } from "../../domain/values.ts"
import type { Caller } from "./callers.ts"
import { canonicalJson, documentOf, seal, sha256 } from "./document.ts"
import { evaluate, type StalePlan } from "./evaluate.ts"
import { confirmationFor, leastOf } from "./level.ts"
import type { ChangeLimits } from "./limits.ts"
import type { Judged } from "./preview.ts"
import { type Prepared, shownIdOf } from "./resolve.ts"
import type { ChangeEvent, NewChange, Stored, Via } from "./records.ts"
import { changeByKey, storeChange } from "./store.ts"
import { signatureOf, type Unit, unitOf } from "./Unit.ts"

/** How a proposal is stored. */
export interface Proposing {
  readonly via: Via
  /** What is sent to other systems after the rows are written. */
  readonly calls?: ReadonlyArray<Call> | undefined
  /** `drafted`: hidden until its turn is kept. */
  readonly state: "drafted" | "open"
  /** The conversation that it belongs to. */
  readonly sessionId?: string | undefined
  /** The reference of the trace. */
  readonly reference?: string | undefined
  /** The caller's idempotency key: the same key is the same change, whatever became of it. */
  readonly key?: string | undefined
  /** The least confirmation, where the channel asks for more than the action does. */
  readonly atLeast?: Confirmation | undefined
  /** The draft that this one replaces, which it continues. */
  readonly continues?: Stored | undefined
  readonly undoes?: string | undefined
  /** Of an undo: the names of actions that it doesn't take back. */
  readonly remains?: ReadonlyArray<string> | undefined
  /** Refuses the evaluated steps, of an undo whose rows have changed since. */
  readonly check?: ((steps: ReadonlyArray<ChangeStep>) => Effect.Effect<void, Stale>) | undefined
}

export interface Proposed {
  /** Whether the same proposal was stored before. */
  readonly known: boolean
  readonly stored: Stored
  /** Of a new change. */
  readonly judged?: Judged | undefined
}

/** The error for a change that doesn't exist or isn't the caller's. */
export const noChange = new UnknownName({ message: "There is no change with that id." })

/** The units and calls of a stored draft. Fails when the catalog has changed under it. */
export const preparedOf = (stored: Stored, caller: Caller): Effect.Effect<Prepared, Decided | UnknownName> => {
  const document = stored.state === "drafted" ? documentOf(stored) : undefined
  if (document === undefined) {
    return Effect.fail(new Decided({ message: "That draft can't be continued any more.", state: stored.state }))
  }
  const units = document.steps.map((step) => unitOf(step, caller.catalog))
  const calls = (document.calls ?? []).map((call) => callOf(call, caller))
  return units.includes(undefined) || calls.includes(undefined)
    ? Effect.fail(noChange)
    : Effect.succeed({ units: units as ReadonlyArray<Unit>, calls: calls as ReadonlyArray<Call> })
}

export const propose = Effect.fnUntraced(function* (
  units: ReadonlyArray<Unit>,
  proposing: Proposing,
  caller: Caller,
  database: Database["Service"],
  limits: ChangeLimits,
  resolvedMs: number,
  counted: Effect.Effect<void, TooManyCalls | Unavailable>
): Effect.fn.Return<
  Proposed,
  StalePlan | Stale | NotAllowed | InvalidInput | UnknownName | Decided | NotYet | TooManyCalls | Unavailable
> {
  const { principal } = caller
  const started = performance.now()
  const sql = database.changes
  const organizationId = principal.organizationId
  const who = principal.anchorEntityId
  const { calls = [] } = proposing
  const callersKey = proposing.key !== undefined
  const key = keyOf(units, proposing)
  if (callersKey) {
    yield* counted
    // Before the rows are looked at: the change with this key may have been applied by now.
    const known = yield* orUnavailable(changeByKey(sql, organizationId, who, key))
    if (known !== undefined) return yield* repeated(known, units, proposing)
  }
  const { judged, refused, ...written } = yield* judge(units, proposing, caller, sql).pipe(
    // What is stored counts with it; a stale plan is judged again.
    Effect.tapError((error) => (error._tag === "StalePlan" ? Effect.void : counted))
  )
  const change: NewChange = {
    changeId: written.changeId,
    state: refused === undefined ? proposing.state : "failed",
    level: written.level,
    approvers: written.approvers,
    destructive: [...units, ...calls].some(({ action }) => action.category === "destructive"),
    rows: refused === undefined ? written.steps.length + calls.length : 0,
    proposerId: who,
    actor: principal.actor,
    scope: principal.scope,
    sessionId: proposing.sessionId,
    reference: proposing.reference,
    key,
    digest: written.digest,
    document: written.text,
    seconds: Math.min(...[...units, ...calls].map(({ action }) => action.seconds)),
    undoes: proposing.undoes,
    steps: written.steps,
    calls: refused === undefined ? calls.map(documented) : [],
    limits: calls.map(({ action }) => action)
  }
  const events: ReadonlyArray<ChangeEvent> =
    refused === undefined
      ? [
          { phase: "resolved", outcome: "ok", ms: Math.round(resolvedMs) },
          { phase: "planned", outcome: "ok", ms: Math.round(performance.now() - started) },
          ...(proposing.state === "open" ? [{ phase: "opened", outcome: "ok" } as const] : [])
        ]
      : [{ phase: "failed", outcome: "not-allowed" }]
  const { known, stored } = yield* orUnavailable(
    storeChange(sql, organizationId, proposing.via, change, events, limits, {
      callersKey,
      isCounted: callersKey,
      replaces: refused === undefined ? proposing.continues?.change_id : undefined
    })
  )
  if (known) return yield* repeated(stored, units, proposing)
  return refused === undefined ? { known, stored, judged } : yield* refused
})

/** What is stored of a proposal, by what the caller may see and do. */
interface Written extends Pick<NewChange, "changeId" | "steps" | "level" | "approvers" | "digest"> {
  readonly text: string | null
  readonly judged?: Judged
  readonly refused?: NotAllowed
}

const judge = Effect.fnUntraced(function* (
  units: ReadonlyArray<Unit>,
  proposing: Proposing,
  caller: Caller,
  sql: Sql
): Effect.fn.Return<Written, StalePlan | Stale | NotAllowed | NotYet | InvalidInput | UnknownName | Unavailable> {
  const changeId = encodeId(nextId())
  const { calls = [] } = proposing
  const evaluated = yield* Effect.result(
    units.length === 0 ? Effect.succeed({ steps: [], proposerName: undefined }) : evaluate(units, caller)
  )
  if (Result.isFailure(evaluated)) {
    if (!(evaluated.failure instanceof NotAllowed)) return yield* Effect.fail(evaluated.failure)
    // An attempt that the policy refuses is stored, so that it counts: each one tells something.
    return { changeId, steps: [], level: "none", approvers: [], digest: "", text: null, refused: evaluated.failure }
  }
  const { proposerName, steps } = evaluated.success
  if (proposing.check !== undefined) yield* proposing.check(steps)
  yield* orUnavailable(refuseMembers(sql, caller.principal.organizationId, steps, caller))
  const { approvers, level } = yield* confirmationFor(
    sql,
    units,
    calls,
    steps,
    leastOf(proposing.via.channel, proposing.atLeast),
    caller
  )
  const { actor, anchorEntityId, organizationId } = caller.principal
  const { digest, document, text } = seal({
    v: 1,
    organization: String(organizationId),
    change: changeId,
    proposer: anchorEntityId,
    ...(actor === undefined ? {} : { actor: actor.id }),
    steps,
    ...(calls.length === 0 ? {} : { calls: calls.map(documented) }),
    level,
    ...(approvers.length === 0 ? {} : { approvers }),
    ...(proposing.undoes === undefined ? {} : { undoes: proposing.undoes }),
    ...(proposing.remains === undefined || proposing.remains.length === 0 ? {} : { remains: proposing.remains }),
    ...(proposing.key === undefined ? {} : { request: requestOf(units, proposing) })
  })
  const written: Written = { changeId, steps, level, approvers, digest, text }
  // Without rows, no statement has read the proposer's name.
  return units.length === 0 ? written : { ...written, judged: { document, proposerName } }
})

/** The idempotency key: of the caller's key, or of the conversation and the steps. A create's id is new each time. */
const keyOf = (units: ReadonlyArray<Unit>, { calls, key, sessionId, undoes }: Proposing): string =>
  key === undefined
    ? sha256(canonicalJson(["steps", sessionId ?? null, undoes ?? null, signatures(units, calls)]))
    : sha256(canonicalJson(["key", key]))

type Sql = Database["Service"]["changes"]

/** A create's id is new each time, so where another step names it, its place stands. */
const signatures = (units: ReadonlyArray<Unit>, calls: ReadonlyArray<Call> = []) => {
  const made = new Map(
    units
      .flatMap((unit, at) => (unit.op === "create" ? [unit.id, shownIdOf(unit)].map((id) => [id, `new ${at}`]) : []))
      .map(([id, name]) => [id!, name!] as const)
  )
  const parts = [...units.map(signatureOf), ...calls.map(callSignature)]
  return made.size === 0 ? parts : placed(parts, made)
}

const placed = (value: unknown, made: ReadonlyMap<string, string>): unknown =>
  typeof value === "string"
    ? (made.get(value) ?? value)
    : Array.isArray(value)
      ? value.map((part) => placed(part, made))
      : typeof value === "object" && value !== null
        ? Object.fromEntries(Object.entries(value).map(([key, part]) => [key, placed(part, made)]))
        : value

const requestOf = (units: ReadonlyArray<Unit>, { calls }: Proposing): string =>
  sha256(canonicalJson(signatures(units, calls)))

/** A known change, if it is of the same actions, entities and values. */
const repeated = (
  stored: Stored,
  units: ReadonlyArray<Unit>,
  proposing: Proposing
): Effect.Effect<Proposed, InvalidInput> => {
  const document = documentOf(stored)
  return proposing.key !== undefined &&
    document?.request !== undefined &&
    document.request !== requestOf(units, proposing)
    ? Effect.fail(InvalidInput.of("This key belongs to another change. Use a new key for each change."))
    : Effect.succeed({ known: true, stored })
}

/** The ids of rows in People that a change deletes, as memberships have them. */
export const deletedPeople = (steps: ReadonlyArray<ChangeStep>, { catalog }: Pick<Caller, "catalog">) =>
  steps
    .filter(({ action, type }) => action.endsWith(".delete") && typeByKey(catalog, type)?.slug === PEOPLE)
    .map(({ entity, shown, type }) => ({
      id: showId(entity, typeByKey(catalog, type)?.mapping?.id.type),
      name: shown["name"]
    }))

/** Refuses to delete the row of a member: its membership would lead nowhere. */
export const refuseMembers = Effect.fnUntraced(function* (
  sql: Sql,
  organizationId: bigint,
  steps: ReadonlyArray<ChangeStep>,
  caller: Pick<Caller, "catalog">
) {
  const people = deletedPeople(steps, caller)
  if (people.length === 0) return
  const [member] = yield* sql.unsafe<{ anchor_id: string }>(
    "SELECT anchor_id FROM max.memberships WHERE organization_id = $1::bigint AND anchor_id = ANY($2::text[]) LIMIT 1",
    [organizationId, people.map(({ id }) => id)]
  )
  if (member === undefined) return
  const name = people.find(({ id }) => id === member.anchor_id)?.name
  return yield* NotAllowed.of(
    `${name === null || name === undefined ? "This person" : printable(name)} is a member and can't be deleted: suspend the member instead.`
  )
})
