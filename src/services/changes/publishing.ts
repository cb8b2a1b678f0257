/**
 * Publishing a policy as a change. The document holds the file; the proposer's yes lets it wait, and another person who may change
 * the policy publishes it, in the transaction that claims the change. It is stale once another version is in force.
 */
import { Effect } from "effect"
import type { SqlError } from "effect/sql"
import type { Database } from "../../database/Database.ts"
import { holdEpoch } from "../../database/epoch.ts"
import { orUnavailable } from "../../database/execute.ts"
import type { Preview, PreviewCell, PreviewPolicy, PreviewStep, Publication, Receipt } from "../../domain/Change.ts"
import {
  Decided,
  InvalidInput,
  type NotAdmitted,
  NotAllowed,
  NotInScope,
  OperatorError,
  Stale,
  type TooManyCalls,
  type Unavailable
} from "../../domain/errors.ts"
import { encodeId, nextId } from "../../domain/ids.ts"
import { powersOf, problemText, publicationApprovers } from "../../permissions/Policy.ts"
import { diffPolicies } from "../../permissions/policyDiff.ts"
import { readPolicy } from "../../permissions/readPolicy.ts"
import type { Policies } from "../policies/Policies.ts"
import { insertPolicy, requireGovernable, requireVersion } from "../policies/policyVersions.ts"
import { claim, type Deciding, NotClaimed, PUBLISH, record } from "./apply.ts"
import type { Caller } from "./callers.ts"
import { canonicalJson, documentOf, seal, sha256 } from "./document.ts"
import { StalePlan } from "./evaluate.ts"
import type { ChangeLimits } from "./limits.ts"
import type { Stored, Via } from "./records.ts"
import { cut } from "./show.ts"
import { storeChange } from "./store.ts"

/** As of a change of rows. */
const DRAFT_SECONDS = 300
const NOT_IN_PERSON =
  "A member who may change the policy does this, in person: on the page /admin, in the inbox, or in a terminal."
const REPLACED = "Another version of the policy is in force by now: nothing was published."

/** A policy file, and the version that it was made from. */
export type Publishable = Pick<Publication, "replaces" | "text"> & { readonly undoes?: string | undefined }

export interface Publishing {
  readonly database: Database["Service"]
  readonly policies: Policies["Service"]
  readonly limits: ChangeLimits
}

/** The policy that a change publishes. */
export const publicationOf = (stored: Stored): Publication | undefined => documentOf(stored)?.publishes

/** Whether a caller may propose, see and approve publications: with the power `policy`, and neither as an agent nor narrowed. */
const mayChangePolicy = ({ policy, principal }: Caller): boolean =>
  principal.actor === undefined && principal.scope === undefined && powersOf(policy, principal.roles).includes("policy")

const governs = (caller: Caller, via: Via): boolean => via.administers === true && mayChangePolicy(caller)

/** Fails unless the caller may propose and approve publications through this channel. */
export const requireGoverning = (caller: Caller, via: Via): Effect.Effect<void, NotInScope> =>
  governs(caller, via) ? Effect.void : Effect.fail(new NotInScope({ message: NOT_IN_PERSON }))

/** An error in place of a refusal of the policy's services, whose details may name rows. */
const refusing = <A, E, R, F>(
  effect: Effect.Effect<A, E, R>,
  of: (message: string) => F
): Effect.Effect<A, Exclude<E, OperatorError> | F, R> =>
  Effect.catch(effect, (error) =>
    Effect.fail(error instanceof OperatorError ? of(error.message) : (error as Exclude<E, OperatorError>))
  )

/** Stores a publication as an open change, which its proposer confirms. The file is read, and its tests run, as for publishing. */
export const proposePublication = Effect.fnUntraced(function* (
  { replaces, text, undoes }: Publishable,
  via: Via,
  caller: Caller,
  { database, limits, policies }: Publishing
): Effect.fn.Return<
  { readonly known: boolean; readonly stored: Stored },
  NotInScope | NotAdmitted | InvalidInput | Stale | Decided | TooManyCalls | Unavailable
> {
  yield* requireGoverning(caller, via)
  const { catalog, policy, principal } = caller
  const { anchorEntityId: proposer, organizationId } = principal
  const { organization } = catalog
  yield* refusing(policies.prepare(organization, text), (message) => InvalidInput.of(message))
  const { version } = yield* refusing(policies.current(organization), (message) => InvalidInput.of(message))
  if (version !== replaces)
    return yield* Stale.of(
      `Version ${version} of the policy is in force, not ${replaces}: another one has been published.`
    )
  const changeId = encodeId(nextId())
  const approvers = publicationApprovers(policy)
  const publishes: Publication = { replaces, sha256: sha256(text), text }
  const { digest, text: document } = seal({
    v: 2,
    organization: String(organizationId),
    change: changeId,
    proposer,
    steps: [],
    publishes,
    level: "second",
    approvers,
    ...(undoes === undefined ? {} : { undoes })
  })
  return yield* orUnavailable(
    storeChange(
      database.changes,
      organizationId,
      via,
      {
        changeId,
        state: "open",
        level: "second",
        approvers,
        destructive: false,
        rows: 1,
        proposerId: proposer,
        actor: undefined,
        scope: undefined,
        sessionId: undefined,
        reference: undefined,
        key: sha256(canonicalJson([PUBLISH, replaces, publishes.sha256, undoes ?? null])),
        digest,
        document,
        seconds: DRAFT_SECONDS,
        undoes,
        steps: [],
        calls: [{ action: PUBLISH, version: 1, values: {} }],
        limits: []
      },
      [{ phase: "opened", outcome: "ok" }],
      limits,
      { callersKey: false, isCounted: false, replaces: undefined }
    )
  )
})

/** Publishes the policy of a change that another person approves, or fails and leaves everything as it was. */
export const applyPublication = Effect.fnUntraced(function* (
  stored: Stored,
  publication: Publication,
  deciding: Deciding,
  { database, policies }: Publishing
): Effect.fn.Return<
  Receipt,
  StalePlan | NotClaimed | NotInScope | NotAdmitted | Stale | NotAllowed | SqlError.SqlError | Unavailable
> {
  const { approver, decider, started, via, writers } = deciding
  const [proposer] = writers
  const { epoch, organization } = proposer.catalog
  if (approver === undefined) return yield* Effect.fail(new NotClaimed())
  if (approver.catalog.epoch !== epoch) return yield* Effect.fail(new StalePlan())
  yield* requireGoverning(approver, via)
  if (!mayChangePolicy(proposer))
    return yield* NotAllowed.of("Its proposer may not change the policy any more: nothing was published.")
  const notAllowed = (message: string) => NotAllowed.of(message)
  const { epoch: of, policy } = yield* refusing(policies.prepare(organization, publication.text), notAllowed)
  if (of !== epoch) return yield* Effect.fail(new StalePlan())
  const { changes: sql } = database
  const document = documentOf(stored)!
  return yield* Effect.gen(function* () {
    // Alone, because publishing raises the epoch: a lock that is shared first could not be raised beside another one.
    if ((yield* holdEpoch(sql, organization.id)) !== epoch) return yield* Effect.fail(new StalePlan())
    const receipt: Receipt = { state: "applied", message: "Published.", rows: 1, at: "", by: decider, entities: [] }
    const at = yield* claim(sql, stored, deciding, { epoch, receipt, document })
    if (at === null) return yield* Effect.fail(new NotClaimed())
    yield* refusing(requireVersion(sql, organization.id, publication.replaces), () => Stale.of(REPLACED))
    yield* refusing(requireGovernable(sql, organization, policy), notAllowed)
    const version = yield* insertPolicy(sql, organization.id, publication.text, policy, document.proposer, {
      change: stored.change_id,
      approver: decider
    })
    const done: Receipt = { ...receipt, message: `Published: version ${version} is in force.`, at, version }
    yield* sql.unsafe(
      "UPDATE max.changes SET receipt = $3::jsonb WHERE organization_id = $1::bigint AND change_id = $2::text",
      [organization.id, stored.change_id, JSON.stringify(done)]
    )
    yield* record(sql, organization.id, document, stored.digest, decider, via, true, started)
    return done
  }).pipe(sql.withTransaction)
})

/** A preview with what a publication changes, for viewers who may change the policy; the others can't decide on it. */
export const withPublication = Effect.fnUntraced(function* (
  preview: Preview,
  stored: Stored,
  viewer: Caller,
  via: Via,
  { policies }: Pick<Publishing, "policies">
): Effect.fn.Return<Preview, NotAdmitted | Unavailable> {
  const publication = publicationOf(stored)
  if (publication === undefined) return preview
  const { digest, ...rest } = preview
  const step: PreviewStep = {
    actionId: PUBLISH,
    action: "Publish the policy",
    entityTypeId: "",
    entityId: "",
    displayName: `Over version ${publication.replaces}`,
    cells: []
  }
  if (!governs(viewer, via)) return { ...rest, steps: [step], complete: false }
  const isPending = stored.state === "open" || stored.state === "waiting"
  const policy = yield* isPending
    ? whatItWouldDo(publication, viewer, policies)
    : whatItDid(publication, viewer, policies)
  return {
    ...rest,
    ...(digest === undefined || policy.problems.length > 0 ? {} : { digest }),
    steps: [{ ...step, cells: cellsOf(policy) }],
    policy
  }
})

const MARKS: Readonly<Record<string, string>> = { "+": "Added", "-": "Removed", "~": "Changed" }

/** The same as cells, which every channel shows. */
const cellsOf = ({ changes, problems, tests, warnings }: PreviewPolicy): ReadonlyArray<PreviewCell> =>
  [
    ...changes.map(({ mark, what }) => ({ name: MARKS[mark]!, becomes: what })),
    ...warnings.map((becomes) => ({ name: "Warning", becomes })),
    ...(tests === undefined || tests.count === 0
      ? []
      : [{ name: "Tests", becomes: `${tests.count - tests.failing.length} of ${tests.count} pass` }]),
    ...problems.map((becomes) => ({ name: "Problem", becomes }))
  ].map(({ becomes, name }, index) => ({ columnId: String(index), name, becomes: cut(becomes) }))

const whatItWouldDo = Effect.fnUntraced(function* (
  { replaces, text }: Publication,
  { catalog: { organization } }: Caller,
  policies: Policies["Service"]
): Effect.fn.Return<PreviewPolicy, NotAdmitted | Unavailable> {
  const found = yield* policies.inspect(organization, text)
  if ("problems" in found) return { replaces, changes: [], warnings: [], problems: found.problems.map(problemText) }
  const current = yield* orNothing(policies.current(organization))
  return {
    replaces,
    changes: found.changes,
    warnings: found.warnings.map(problemText),
    tests: {
      count: found.tests.length,
      failing: found.tests.filter(({ failures }) => failures.length > 0).map(({ title }) => title)
    },
    problems: current?.version === replaces ? [] : [REPLACED]
  }
})

const whatItDid = Effect.fnUntraced(function* (
  { replaces, text }: Publication,
  { catalog }: Caller,
  policies: Policies["Service"]
): Effect.fn.Return<PreviewPolicy, Unavailable> {
  const before = yield* orNothing(policies.version(catalog.organization, replaces))
  const reading = readPolicy(text, catalog)
  const changes =
    before === undefined || "problems" in reading ? [] : diffPolicies(before.policy, reading.policy, catalog)
  return { replaces, changes, warnings: [], problems: [] }
})

const orNothing = <A, E, R>(effect: Effect.Effect<A, E | OperatorError, R>) =>
  Effect.catchIf(
    effect,
    (error) => error instanceof OperatorError,
    () => Effect.succeed(undefined)
  )

/** What undoes a publication: the file of the version that it replaced, over the version that it put in force. */
export const replacedFile = Effect.fnUntraced(function* (
  { change_id: undoes, receipt }: Stored,
  { replaces }: Publication,
  { catalog }: Caller,
  { policies }: Pick<Publishing, "policies">
) {
  const replaced = policies.version(catalog.organization, replaces)
  const { document: text } = yield* refusing(replaced, (message) => Stale.of(message))
  return { text, replaces: receipt?.version ?? 0, undoes }
})
