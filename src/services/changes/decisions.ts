/** The yes to a change, the proposer's or the approver's. Each condition is part of the statement that decides. */
import { Effect, type Exit, Fiber } from "effect"
import type { SqlError } from "effect/sql"
import type { Database } from "../../database/Database.ts"
import { orUnavailable } from "../../database/execute.ts"
import { faultOf, isDrift } from "../../database/fault.ts"
import type { Receipt } from "../../domain/Change.ts"
import {
  type DecisionError,
  InvalidInput,
  type NotAdmitted,
  NotAllowed,
  type NotInScope,
  NotYet,
  Stale,
  type Unavailable,
  type UnknownName
} from "../../domain/errors.ts"
import type { Principal } from "../../domain/Principal.ts"
import type { Admitted, IdentityResolver, Readmitted } from "../members/IdentityResolver.ts"
import type { EntityQueryService } from "../EntityQueryService.ts"
import { apply, type Deciding } from "./apply.ts"
import { requireSame } from "./calls/references.ts"
import type { Caller, makeCallers } from "./callers.ts"
import { documentOf, isDigest } from "./document.ts"
import { noChange } from "./propose.ts"
import { applyPublication, publicationOf, type Publishing } from "./publishing.ts"
import { NOT_TAKEN } from "./taken.ts"
import { appendEvents, PENDING, readChange, type Stored, type Via } from "./records.ts"
import { audit, decide, ELSEWHERE, LOCKED, settled } from "./settle.ts"

export interface Decision {
  readonly changeId: string
  /** The digest of the preview that the person saw. */
  readonly digest: string
  /** At the second confirmation of level `twice`: the number of rows, as the person typed it. */
  readonly rows?: number | undefined
  readonly via: Via
}

/** What came of a confirmation: applied, or what it needs now. */
export type Confirmed =
  | { readonly _tag: "Applied"; readonly receipt: Receipt }
  /** Level `twice`: confirm again with the number of rows, a second later at the earliest. */
  | { readonly _tag: "Again"; readonly rows: number }
  /** Level `second`: waits for another person. */
  | { readonly _tag: "Waiting"; readonly approvers: ReadonlyArray<string> }

export interface Deciders extends Publishing {
  readonly identities: IdentityResolver["Service"]
  readonly callerOf: ReturnType<typeof makeCallers>
  readonly queries: EntityQueryService["Service"]
  /** How long a change waits for another person. */
  readonly approvalHours: number
  /** Has the mapping of an organization checked again, after a statement failed because of it. */
  readonly suspect: (organizationId: bigint) => void
}

/** Changes of policy, memberships or catalog during a confirmation, each of which costs an attempt. */
const MAX_ATTEMPTS = 3
const TOO_SOON = "Confirm again in a moment: the second confirmation is at least a second after the first."

/** Whether a person has one of the roles that may approve a change. */
const mayApprove = ({ approvers, level, proposer_id }: Stored, { anchorEntityId, roles }: Principal): boolean =>
  level === "second" && proposer_id !== anchorEntityId && roles.some((role) => approvers.includes(role))

/** A change that the caller may know of: its own, one that it may approve, or one that it decided. */
export const requireChange = Effect.fnUntraced(function* (
  principal: Principal,
  changeId: string,
  database: Database["Service"]
) {
  const stored = yield* orUnavailable(readChange(database.changes, principal.organizationId, changeId))
  const who = principal.anchorEntityId
  const own = stored?.proposer_id === who
  const others =
    stored !== undefined && stored.state !== "open" && (mayApprove(stored, principal) || stored.decided_by === who)
  if (stored === undefined || who === "" || stored.state === "drafted" || !(own || others)) return yield* noChange
  return stored
})

/** The proposer's or the approver's yes. */
export const confirm = Effect.fnUntraced(function* (
  principal: Principal,
  { changeId, digest, rows, via }: Decision,
  deciders: Deciders
): Effect.fn.Return<Confirmed, DecisionError> {
  const started = performance.now()
  const { database } = deciders
  // The first attempt's admission of the caller, beside the read of the change.
  let admitting: Admitting | undefined = yield* Effect.forkChild(Effect.exit(deciders.identities.readmit(principal)))
  let stored = yield* requireChange(principal, changeId, database)
  if (!isDigest(digest)) return yield* InvalidInput.of("digest is the 64 hexadecimal digits of the preview.")
  if (stored.digest !== digest) return yield* Stale.of("This isn't the change that was shown. Look at it again.")
  const own = stored.proposer_id === principal.anchorEntityId
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const receipt = yield* settled(stored)
    if (receipt !== undefined) return { _tag: "Applied", receipt }
    if (stored.level === "second" && own) {
      if (stored.state === "open") yield* askApprovers(stored, principal, via, deciders)
      return { _tag: "Waiting", approvers: stored.approvers }
    }
    if (stored.level === "twice" && !stored.confirmed) {
      if (yield* firstYes(stored, principal, via, database)) return { _tag: "Again", rows: stored.rows }
    } else {
      if (stored.level === "twice" && rows !== stored.rows) {
        if (rows === undefined) return { _tag: "Again", rows: stored.rows }
        return yield* InvalidInput.of(`This changes ${stored.rows} rows. Type that number to confirm it.`)
      }
      const outcome = yield* tryApply(stored, own, principal, via, started, deciders, admitting)
      admitting = undefined
      if (typeof outcome !== "string") return { _tag: "Applied", receipt: outcome }
      if (outcome === "not-claimed" && stored.level === "twice") {
        stored = yield* requireChange(principal, changeId, database)
        if (stored.state === "open") return yield* NotYet.of(TOO_SOON)
        continue
      }
    }
    stored = yield* requireChange(principal, changeId, database)
  }
  return yield* NotYet.of("Permissions are being changed right now. Try again in a minute.")
})

/** One attempt; a text when another decision or a change of the epoch came first. */
const tryApply = Effect.fnUntraced(function* (
  stored: Stored,
  own: boolean,
  principal: Principal,
  via: Via,
  started: number,
  deciders: Deciders,
  admitting: Admitting | undefined
): Effect.fn.Return<
  Receipt | "stale-plan" | "not-claimed",
  NotAdmitted | NotInScope | UnknownName | NotAllowed | Stale | NotYet | Unavailable
> {
  const { database, queries } = deciders
  const deciding: Deciding = {
    decider: principal.anchorEntityId,
    via,
    started,
    ...(yield* partiesOf(stored, own, principal, deciders, admitting))
  }
  const { approver, writers } = deciding
  const parties = approver === undefined ? writers : [...writers, approver]
  const calls = documentOf(stored)?.calls ?? []
  const publication = publicationOf(stored)
  const applying: Effect.Effect<
    Receipt,
    Effect.Error<ReturnType<typeof apply | typeof applyPublication>>
  > = publication === undefined
    ? apply(stored, deciding, database)
    : applyPublication(stored, publication, deciding, deciders)
  const outcome = yield* Effect.andThen(
    requireSame(calls, parties, queries),
    orUnavailable(
      applying.pipe(
        Effect.catchTags({
          StalePlan: () => Effect.succeed("stale-plan" as const),
          NotClaimed: () => Effect.succeed("not-claimed" as const)
        }),
        Effect.catchTag("SqlError", (error): Effect.Effect<never, SqlError.SqlError | NotYet | NotAllowed> => {
          const { code } = faultOf(error)
          if (code === LOCKED) return Effect.fail(NotYet.of(ELSEWHERE))
          // A mapped table that a rule looks at isn't as it was mapped. The change stays open for when it is again.
          if (isDrift(error)) deciders.suspect(principal.organizationId)
          // Integrity constraints and values: the message names the constraint, so it stays with the operator.
          return code !== undefined && /^2[23]/.test(code) ? Effect.fail(NotAllowed.of(NOT_TAKEN)) : Effect.fail(error)
        })
      )
    )
  ).pipe(Effect.tapErrorTag(["Stale", "NotAllowed"], (error) => mark(stored, principal, via, error, database)))
  return outcome
})

/** An admission of the caller that runs beside other reads. */
type Admitting = Fiber.Fiber<Exit.Exit<Admitted, NotAdmitted | Unavailable>>

/** The proposer as of now and the person who confirms, each with the plans of this moment. */
const partiesOf = Effect.fnUntraced(function* (
  stored: Stored,
  own: boolean,
  principal: Principal,
  { callerOf, identities }: Deciders,
  admitting: Admitting | undefined
): Effect.fn.Return<Pick<Deciding, "writers" | "approver">, NotAdmitted | UnknownName | NotAllowed | Unavailable> {
  const admit = (who: Readmitted & Pick<Principal, "scope">) => Effect.map(identities.readmit(who), callerOf)
  const confirming: Caller =
    admitting === undefined ? yield* admit(principal) : callerOf(yield* Effect.flatten(Fiber.join(admitting)))
  // The credential that proposed narrows the change for good: confirming with another one doesn't widen it.
  const proposer = {
    organizationId: principal.organizationId,
    anchorEntityId: stored.proposer_id,
    ...(stored.actor === null ? {} : { actor: stored.actor }),
    ...(stored.scope === null ? {} : { scope: stored.scope })
  }
  if (!own) {
    // The roles that let this person approve may be gone by now.
    if (!mayApprove(stored, confirming.principal)) return yield* noChange
    const writer = yield* admit(proposer).pipe(
      Effect.catchTag("NotAdmitted", () =>
        Effect.fail(NotAllowed.of("Its proposer has no access any more: nothing was changed."))
      )
    )
    return { writers: [writer], approver: confirming }
  }
  if (stored.actor === null && stored.scope === null) return { writers: [confirming] }
  const { claimedRoles, vouched } = principal
  const narrowed = yield* admit({
    ...proposer,
    ...(claimedRoles === undefined ? {} : { claimedRoles }),
    ...(vouched === undefined ? {} : { vouched })
  })
  return { writers: [narrowed, confirming] }
})

/** Ends a change that can't be applied. If this never runs, the next confirmation finds the same. */
const mark = (
  stored: Stored,
  principal: Principal,
  via: Via,
  error: Stale | NotAllowed,
  { changes: sql }: Database["Service"]
) => {
  const state = error._tag === "Stale" ? "stale" : "failed"
  return Effect.ignore(
    orUnavailable(
      Effect.gen(function* () {
        const ended = yield* sql.unsafe(
          `UPDATE max.changes SET state = $3::text, decided_at = clock_timestamp(), decided_by = $4::text, decided_channel = $5::text
           WHERE organization_id = $1::bigint AND change_id = $2::text AND state IN ${PENDING} RETURNING 1`,
          [principal.organizationId, stored.change_id, state, principal.anchorEntityId, via.channel]
        )
        if (ended.length === 0) return
        yield* appendEvents(sql, principal.organizationId, stored.change_id, principal.anchorEntityId, via, [
          { phase: state, outcome: error._tag }
        ])
        if (state === "failed") yield* audit(sql, stored, principal, "change.failed")
      }).pipe(sql.withTransaction)
    )
  )
}

/** The first of two confirmations; false when another decision came first. */
const firstYes = (stored: Stored, principal: Principal, via: Via, database: Database["Service"]) =>
  decide(database, stored, principal, via, "yes_at = clock_timestamp()", "c.state = 'open' AND c.yes_at IS NULL", [
    { phase: "confirmed", outcome: "first" }
  ])

const askApprovers = (stored: Stored, principal: Principal, via: Via, { approvalHours, database }: Deciders) =>
  decide(
    database,
    stored,
    principal,
    via,
    `state = 'waiting', yes_at = clock_timestamp(), expires_at = clock_timestamp() + make_interval(hours => ${approvalHours})`,
    "c.state = 'open'",
    [{ phase: "confirmed", outcome: "waiting" }]
  )
