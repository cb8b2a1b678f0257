/**
 * Proposing: resolve → evaluate → document → store. Reading happens as the reading role; one short transaction under a lock
 * on the person then counts, refuses or stores.
 */
import { Effect } from "effect"
import type { SqlError } from "effect/sql"
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
import { type ChangeLimits, holdPerson, requireWithin } from "./limits.ts"
import { type ChangeEvent, DECIDABLE, insertChange, PENDING, readChange, type Stored, type Via } from "./records.ts"
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

/** A transaction that ends with an error of the caller has stored what it should, so it commits. */
type Stored_ =
  | { readonly _tag: "Stored"; readonly proposed: Proposed }
  | { readonly _tag: "Refused"; readonly error: NotAllowed }

export const propose = Effect.fnUntraced(function* (
  units: ReadonlyArray<Unit>,
  proposing: Proposing,
  caller: Caller,
  database: Database["Service"],
  limits: ChangeLimits,
  resolvedMs: number
): Effect.fn.Return<
  Proposed,
  StalePlan | Stale | NotAllowed | InvalidInput | UnknownName | Decided | NotYet | TooManyCalls | Unavailable
> {
  const { principal } = caller
  const started = performance.now()
  const sql = database.changes
  const organizationId = principal.organizationId
  const who = principal.anchorEntityId
  const key = keyOf(units, proposing)
  if (proposing.key !== undefined) {
    // Before the rows are looked at: the change with this key may have been applied by now.
    const known = yield* orUnavailable(knownChange(sql, organizationId, who, key, proposing))
    if (known !== undefined) return yield* repeated(known, units, proposing)
  }
  const evaluated = yield* evaluate(units, caller, database).pipe(
    // An attempt that the policy refuses is stored, so that it counts: each one tells something.
    Effect.catchTag("NotAllowed", (error) => Effect.succeed(error))
  )
  if (!(evaluated instanceof NotAllowed) && proposing.check !== undefined) yield* proposing.check(evaluated)
  const events: ReadonlyArray<ChangeEvent> = [
    { phase: "resolved", outcome: "ok", ms: Math.round(resolvedMs) },
    { phase: "planned", outcome: "ok", ms: Math.round(performance.now() - started) },
    ...(proposing.state === "open" ? [{ phase: "opened", outcome: "ok" } as const] : [])
  ]
  const destructive = units.some(({ action }) => action.category === "destructive")
  const changeId = encodeId(nextId())
  const stored = yield* Effect.gen(function* () {
    yield* holdPerson(sql, organizationId, who)
    const known = yield* knownChange(sql, organizationId, who, key, proposing)
    if (known !== undefined) return { _tag: "Stored", proposed: yield* repeated(known, units, proposing) } as const
    if (proposing.continues !== undefined && !(evaluated instanceof NotAllowed))
      yield* removeDraft(sql, organizationId, who, proposing.continues.change_id)
    const rows = evaluated instanceof NotAllowed ? 0 : evaluated.length
    yield* requireWithin(sql, organizationId, who, limits, { destructive, rows })
    const blank = {
      changeId,
      destructive,
      rows,
      proposerId: who,
      actor: principal.actor,
      scope: principal.scope,
      sessionId: proposing.sessionId,
      reference: proposing.reference,
      key,
      seconds: Math.min(...units.map(({ action }) => action.seconds)),
      undoes: proposing.undoes
    }
    if (evaluated instanceof NotAllowed) {
      const attempt = {
        ...blank,
        state: "failed",
        level: "none",
        approvers: [],
        digest: "",
        document: null,
        steps: []
      } as const
      yield* insertChange(sql, organizationId, proposing.via, attempt, [{ phase: "failed", outcome: "not-allowed" }])
      return { _tag: "Refused", error: evaluated } as const
    }
    yield* refuseMembers(sql, organizationId, evaluated, caller)
    const { approvers, level } = yield* confirmationFor(sql, units, evaluated, proposing.atLeast, caller)
    const { digest, text } = seal({
      v: 1,
      organization: String(organizationId),
      change: changeId,
      proposer: who,
      ...(principal.actor === undefined ? {} : { actor: principal.actor.id }),
      steps: evaluated,
      level,
      ...(approvers.length === 0 ? {} : { approvers }),
      ...(proposing.undoes === undefined ? {} : { undoes: proposing.undoes }),
      ...(proposing.key === undefined ? {} : { request: requestOf(units) })
    })
    const { state } = proposing
    const change = { ...blank, state, level, approvers, digest, document: text, steps: evaluated }
    yield* insertChange(sql, organizationId, proposing.via, change, events)
    const stored = yield* readChange(sql, organizationId, changeId)
    if (stored === undefined) return yield* Effect.die(new Error("The change was stored, and isn't there"))
    return { _tag: "Stored", proposed: { known: false, stored } } as const
  }).pipe(
    sql.withTransaction,
    orUnavailable<Stored_, Decided | NotYet | NotAllowed | InvalidInput | TooManyCalls | SqlError.SqlError, never>
  )
  return stored._tag === "Stored" ? stored.proposed : yield* stored.error
})

/** The idempotency key: of the caller's key, or of the conversation and the steps. A create's id is new each time. */
const keyOf = (units: ReadonlyArray<Unit>, { key, sessionId, undoes }: Proposing): string =>
  key === undefined
    ? sha256(canonicalJson(["steps", sessionId ?? null, undoes ?? null, units.map(signatureOf)]))
    : sha256(canonicalJson(["key", key]))

type Sql = Database["Service"]["changes"]

const knownChange = Effect.fnUntraced(function* (
  sql: Sql,
  organizationId: bigint,
  who: string,
  key: string,
  proposing: Proposing
) {
  // A pending one whose time is over keeps its key until it is marked.
  const [row] = yield* sql.unsafe<{ change_id: string }>(
    `WITH expired AS (UPDATE max.changes SET state = 'expired', decided_at = clock_timestamp() WHERE organization_id = $1::bigint
       AND proposer_id = $2::text AND key = decode($3::text, 'hex') AND state IN ${DECIDABLE} AND expires_at <= clock_timestamp()
       RETURNING change_id)
     SELECT c.change_id FROM max.changes c WHERE c.organization_id = $1::bigint AND c.proposer_id = $2::text
       AND c.key = decode($3::text, 'hex') AND c.rows > 0
       AND ($4::boolean OR (c.state IN ${PENDING} AND NOT EXISTS (SELECT 1 FROM expired e WHERE e.change_id = c.change_id)))
     ORDER BY c.created_at DESC LIMIT 1`,
    [organizationId, who, key, proposing.key !== undefined]
  )
  return row === undefined ? undefined : yield* readChange(sql, organizationId, row.change_id)
})

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

const removeDraft = Effect.fnUntraced(function* (sql: Sql, organizationId: bigint, who: string, changeId: string) {
  const gone = yield* sql.unsafe(
    `DELETE FROM max.changes WHERE organization_id = $1::bigint AND change_id = $2::text AND proposer_id = $3::text AND state = 'drafted' RETURNING 1`,
    [organizationId, changeId, who]
  )
  if (gone.length === 0)
    return yield* new Decided({ message: "That draft can't be continued any more.", state: "open" })
})

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
