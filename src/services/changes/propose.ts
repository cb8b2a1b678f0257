/**
 * Proposing: resolve → evaluate → document → store. Reading happens as the reading role; one short transaction under a lock
 * on the person then counts, refuses or stores (`store.ts`).
 */
import { Effect } from "effect"
import type { Database } from "../../database/Database.ts"
import { orUnavailable } from "../../database/execute.ts"
import type { Confirmation } from "../../domain/Action.ts"
import type { ChangeStep } from "../../domain/Change.ts"
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
import type { Caller } from "./callers.ts"
import { canonicalJson, open, seal, sha256 } from "./document.ts"
import { evaluate, type StalePlan } from "./evaluate.ts"
import { confirmationFor } from "./level.ts"
import type { ChangeLimits } from "./limits.ts"
import type { ChangeEvent, NewChange, Stored, Via } from "./records.ts"
import { changeByKey, storeChange } from "./store.ts"
import { signatureOf, type Unit, unitOf } from "./Unit.ts"

/** How a proposal is stored. */
export interface Proposing {
  readonly via: Via
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
  /** Refuses the evaluated steps, of an undo whose rows have changed since. */
  readonly check?: ((steps: ReadonlyArray<ChangeStep>) => Effect.Effect<void, Stale>) | undefined
}

export interface Proposed {
  /** Whether the same proposal was stored before. */
  readonly known: boolean
  readonly stored: Stored
}

/** The error for a change that doesn't exist or isn't the caller's. */
export const noChange = new UnknownName({ message: "There is no change with that id." })

/** The units of a stored draft. Fails when the catalog has changed under it. */
export const unitsOf = (stored: Stored, caller: Caller): Effect.Effect<ReadonlyArray<Unit>, Decided | UnknownName> => {
  if (stored.state !== "drafted" || stored.document === null) {
    return Effect.fail(new Decided({ message: "That draft can't be continued any more.", state: stored.state }))
  }
  const units = open(stored.document, stored.digest).steps.map((step) => unitOf(step, caller.catalog))
  return units.includes(undefined) ? Effect.fail(noChange) : Effect.succeed(units as ReadonlyArray<Unit>)
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
  const callersKey = proposing.key !== undefined
  const key = keyOf(units, proposing)
  if (callersKey) {
    yield* counted
    // Before the rows are looked at: the change with this key may have been applied by now.
    const known = yield* orUnavailable(changeByKey(sql, organizationId, who, key))
    if (known !== undefined) return yield* repeated(known, units, proposing)
  }
  const evaluated = yield* evaluate(units, caller, database).pipe(
    // An attempt that the policy refuses is stored, so that it counts: each one tells something.
    Effect.catchTag("NotAllowed", (error) => Effect.succeed(error)),
    Effect.exit,
    Effect.tap(counted),
    Effect.flatten
  )
  const refused = evaluated instanceof NotAllowed ? evaluated : undefined
  const steps = evaluated instanceof NotAllowed ? [] : evaluated
  if (refused === undefined && proposing.check !== undefined) yield* proposing.check(steps)
  yield* orUnavailable(refuseMembers(sql, organizationId, steps, caller))
  const blank = {
    changeId: encodeId(nextId()),
    destructive: units.some(({ action }) => action.category === "destructive"),
    rows: steps.length,
    proposerId: who,
    actor: principal.actor,
    scope: principal.scope,
    sessionId: proposing.sessionId,
    reference: proposing.reference,
    key,
    seconds: Math.min(...units.map(({ action }) => action.seconds)),
    undoes: proposing.undoes,
    steps
  }
  const change =
    refused === undefined
      ? { ...blank, ...(yield* sealed(blank, units, proposing, caller, sql)), state: proposing.state }
      : ({ ...blank, state: "failed", level: "none", approvers: [], digest: "", document: null } as const)
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
      replaces: refused === undefined ? proposing.continues?.change_id : undefined
    })
  )
  if (known) return yield* repeated(stored, units, proposing)
  return refused === undefined ? { known, stored } : yield* refused
})

/** The document of a change with its digest and the confirmation that it needs. */
const sealed = Effect.fnUntraced(function* (
  { changeId, proposerId, steps }: Pick<NewChange, "changeId" | "proposerId" | "steps">,
  units: ReadonlyArray<Unit>,
  { atLeast, key, undoes }: Proposing,
  caller: Caller,
  sql: Sql
) {
  const { actor, organizationId } = caller.principal
  const { approvers, level } = yield* confirmationFor(sql, units, steps, atLeast, caller)
  const { digest, text } = seal({
    v: 1,
    organization: String(organizationId),
    change: changeId,
    proposer: proposerId,
    ...(actor === undefined ? {} : { actor: actor.id }),
    steps,
    level,
    ...(approvers.length === 0 ? {} : { approvers }),
    ...(undoes === undefined ? {} : { undoes }),
    ...(key === undefined ? {} : { request: requestOf(units) })
  })
  return { level, approvers, digest, document: text }
})

/** The idempotency key: of the caller's key, or of the conversation and the steps. A create's id is new each time. */
const keyOf = (units: ReadonlyArray<Unit>, { key, sessionId, undoes }: Proposing): string =>
  key === undefined
    ? sha256(canonicalJson(["steps", sessionId ?? null, undoes ?? null, units.map(signatureOf)]))
    : sha256(canonicalJson(["key", key]))

type Sql = Database["Service"]["changes"]

const requestOf = (units: ReadonlyArray<Unit>): string => sha256(canonicalJson(units.map(signatureOf)))

/** A known change, if it is of the same actions, entities and values. */
const repeated = (
  stored: Stored,
  units: ReadonlyArray<Unit>,
  { key }: Proposing
): Effect.Effect<Proposed, InvalidInput> => {
  const document = stored.document === null ? undefined : open(stored.document, stored.digest)
  return key !== undefined && document?.request !== undefined && document.request !== requestOf(units)
    ? Effect.fail(InvalidInput.of("This key belongs to another change. Use a new key for each change."))
    : Effect.succeed({ known: true, stored })
}

/** The ids of rows in People that a change deletes, as memberships have them. */
export const deletedPeople = (steps: ReadonlyArray<ChangeStep>, { catalog }: Pick<Caller, "catalog">) =>
  steps
    .filter(({ action, type }) => action.endsWith(".delete") && typeByKey(catalog, type)?.slug === PEOPLE)
    .map(({ entity, shown }) => ({ id: encodeId(BigInt(entity)), name: shown["name"] }))

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
