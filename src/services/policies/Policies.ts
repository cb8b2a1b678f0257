/**
 * Immutable policy versions. Publication requires passing tests and commits the version together with a new epoch, in
 * one transaction. The checks hold for the epoch they ran in, so publication fails if the epoch has changed.
 */
import { Context, Effect, Layer, Schema } from "effect"
import { Database } from "../../database/Database.ts"
import { holdEpoch } from "../../database/epoch.ts"
import { orUnavailable } from "../../database/execute.ts"
import type { Catalog, Organization } from "../../domain/EntityType.ts"
import { type NotAdmitted, OperatorError, type Unavailable } from "../../domain/errors.ts"
import { type PolicyChange, diffPolicies } from "../../permissions/policyDiff.ts"
import { type PolicyDocument, printPolicy } from "../../permissions/policyDocument.ts"
import { type EditResult } from "../../permissions/editPolicy.ts"
import { lintPolicy } from "../../permissions/lint.ts"
import { Policy, type PolicyTest, type Problem, problemText } from "../../permissions/Policy.ts"
import { readPolicy } from "../../permissions/readPolicy.ts"
import type { PolicyVersion } from "../../wire/admin/policy.ts"
import type { Principal } from "../../domain/Principal.ts"
import { IdentityResolver } from "../members/IdentityResolver.ts"
import { OrganizationState, type State } from "../catalog/OrganizationState.ts"
import { makeRowEvaluator } from "./rowEvaluator.ts"
import { readAssignments } from "./assignments.ts"
import { documentInForce } from "./documentInForce.ts"
import { oversizedPlans } from "./oversizedPlans.ts"
import { insertPolicy, requireGovernable, requireVersion } from "./policyVersions.ts"
import { failureLines, makeTestRunner } from "./runPolicyTests.ts"
import type { TestOutcome } from "./testOutcome.ts"
import { makeSubjectReader } from "./reviewSubject.ts"

export interface Published {
  readonly version: number
  readonly policy: Policy
}

/** The result of checking a file without publishing it. */
export interface Checked {
  readonly policy: Policy
  readonly catalog: Catalog
  readonly warnings: ReadonlyArray<Problem>
  readonly tests: ReadonlyArray<TestOutcome>
  /** The differences from the version in force. */
  readonly changes: ReadonlyArray<PolicyChange>
}

export interface PublishOptions {
  /** The version that must be in force; publication is refused otherwise. */
  readonly replacing?: number | undefined
  /** Publishes under the epoch that admitted the administrator, and leaves an active member with the power `policy`. */
  readonly administrator?: Principal | undefined
  /** Publishes though the policy in force asks for a second person's approval; the audit log says so. */
  readonly withoutApproval?: boolean | undefined
}

/** A file that can be published in the epoch. */
export interface Prepared {
  readonly policy: Policy
  readonly epoch: bigint
}

type Fault = OperatorError | NotAdmitted | Unavailable

const refused = (problems: ReadonlyArray<Problem>) =>
  OperatorError.of(
    `The policy was not published: ${problems.length} problem${problems.length === 1 ? "" : "s"}.`,
    problems.map(problemText)
  )

const CHANGED = "The organization changed during publication. Publish again."

const decodePolicy = Schema.decodeUnknownSync(Policy)

export class Policies extends Context.Service<
  Policies,
  {
    /** The file of the policy in force: publishing it again changes nothing. */
    readonly current: (
      organization: Organization
    ) => Effect.Effect<{ readonly version: number; readonly document: string }, Fault>
    /** The file and the normalized policy of a version. */
    readonly version: (
      organization: Organization,
      version: number
    ) => Effect.Effect<{ readonly document: string; readonly policy: Policy }, OperatorError | Unavailable>
    /** All versions, newest first. */
    readonly list: (organization: Organization) => Effect.Effect<ReadonlyArray<PolicyVersion>, Unavailable>
    /** Checks a file, or returns the problems because of which it can't be read. */
    readonly inspect: (
      organization: Organization,
      text: string
    ) => Effect.Effect<Checked | { readonly problems: ReadonlyArray<Problem> }, Exclude<Fault, OperatorError>>
    /** Reads a file, runs its tests and lints it. Fails only when the file can't be read. */
    readonly check: (organization: Organization, text: string) => Effect.Effect<Checked, Fault>
    /** Publishes a file, or fails and leaves the policy in force unchanged. */
    readonly publish: (
      organization: Organization,
      text: string,
      author: string,
      options?: PublishOptions
    ) => Effect.Effect<Published, Fault>
    /** Reads a file and runs its tests, as publishing does. */
    readonly prepare: (organization: Organization, text: string) => Effect.Effect<Prepared, Fault>
    /** Publishes an edit of the version in force; a dry run or an edit without changes publishes nothing. */
    readonly change: (
      organization: Organization,
      edit: (document: PolicyDocument, policy: Policy, catalog: Catalog) => EditResult,
      author: string,
      options?: { readonly dryRun?: boolean | undefined }
    ) => Effect.Effect<{ readonly version: number | undefined; readonly changes: ReadonlyArray<PolicyChange> }, Fault>
  }
>()("max/services/Policies") {
  static readonly layer = Layer.effect(
    Policies,
    Effect.gen(function* () {
      const { app, search } = yield* Database
      const states = yield* OrganizationState
      const evaluator = makeRowEvaluator(search)
      const runTests = makeTestRunner(evaluator, makeSubjectReader(yield* IdentityResolver, states, evaluator))

      const inForce = Effect.fnUntraced(function* (organization: Organization) {
        return (yield* states.read(organization.id, { by: "none" })).state
      })

      /** Reads and validates a file without running its tests. */
      const tryRead = Effect.fnUntraced(function* (organization: Organization, text: string, { catalog }: State) {
        const reading = readPolicy(text, catalog)
        if ("problems" in reading) return reading
        const assignments = yield* readAssignments(search, organization.id)
        const problems = yield* oversizedPlans(reading.policy, catalog, assignments.roleSets)
        return problems.length > 0 ? { problems } : { ...reading, assignments }
      })

      const read = Effect.fnUntraced(function* (organization: Organization, text: string, state: State) {
        const reading = yield* tryRead(organization, text, state)
        return "problems" in reading ? yield* refused(reading.problems) : reading
      })

      const inspect = Effect.fnUntraced(function* (organization: Organization, text: string) {
        const state = yield* inForce(organization)
        const { catalog } = state
        const reading = yield* tryRead(organization, text, state)
        if ("problems" in reading) return reading
        const { assignments, policy, tests } = reading
        return {
          policy,
          catalog,
          warnings: lintPolicy(policy, catalog, Date.now(), assignments),
          tests: yield* runTests(organization, policy, tests),
          changes: diffPolicies(state.policy, policy, catalog)
        } satisfies Checked
      })

      const requirePassingTests = Effect.fnUntraced(function* (
        organization: Organization,
        policy: Policy,
        tests: ReadonlyArray<PolicyTest>
      ) {
        const failures = failureLines(yield* runTests(organization, policy, tests))
        if (failures.length === 0) return
        return yield* OperatorError.of(
          `The policy was not published: not all of its ${tests.length} test${tests.length === 1 ? "" : "s"} pass.`,
          failures
        )
      })

      const prepare = Effect.fnUntraced(function* (organization: Organization, text: string, state: State) {
        const { policy, tests } = yield* read(organization, text, state)
        yield* requirePassingTests(organization, policy, tests)
        const prepared: Prepared = { policy, epoch: state.catalog.epoch }
        return prepared
      })

      const publish = Effect.fnUntraced(function* (
        organization: Organization,
        text: string,
        author: string,
        state: State,
        { administrator, replacing, withoutApproval }: PublishOptions = {}
      ) {
        if (administrator !== undefined && administrator.epoch !== state.catalog.epoch)
          return yield* OperatorError.of(CHANGED)
        const { publishing } = state.policy
        if (publishing !== undefined && withoutApproval !== true)
          return yield* OperatorError.withCommand(
            `A second person (${publishing.approvers.join(" or ")}) approves each publication here.`,
            "To propose the file: max policy publish FILE --propose"
          )
        const { policy } = yield* prepare(organization, text, state)
        const version = yield* Effect.gen(function* () {
          // The tests ran outside this transaction, so that they don't block suspensions. They hold only for their epoch.
          if ((yield* holdEpoch(app, organization.id)) !== state.catalog.epoch) return undefined
          if (replacing !== undefined) yield* requireVersion(app, organization.id, replacing)
          if (administrator !== undefined) yield* requireGovernable(app, organization, policy)
          return yield* insertPolicy(
            app,
            organization.id,
            text,
            policy,
            author,
            publishing === undefined ? {} : { withoutApproval: true }
          )
        }).pipe(app.withTransaction, orUnavailable)
        return version === undefined ? yield* OperatorError.of(CHANGED) : { version, policy }
      })

      const versionOf = Effect.fnUntraced(function* (organization: Organization, version: number | undefined) {
        const [row] = yield* orUnavailable(search<{ version: number; document: string; rules: unknown }>`
          SELECT p.version, p.document, p.rules FROM max.organizations o
          JOIN max.policies p ON p.organization_id = o.organization_id AND p.version = coalesce(${version ?? null}::int, o.policy_version)
          WHERE o.organization_id = ${organization.id}`)
        return row
      })

      return Policies.of({
        current: Effect.fn("Policies.current")(function* (organization) {
          const row = yield* versionOf(organization, undefined)
          if (row === undefined) return yield* OperatorError.of("There is no policy yet, so all access is denied.")
          const { catalog } = (yield* states.read(organization.id, { by: "none" })).state
          return {
            version: row.version,
            document: documentInForce(row.document, decodePolicy(row.rules), catalog)
          }
        }),

        version: Effect.fn("Policies.version")(function* (organization, version) {
          const row = yield* versionOf(organization, version)
          if (row === undefined)
            return yield* OperatorError.withCommand(
              `There is no version ${version}.`,
              "To list the versions: max policy list"
            )
          return { document: row.document, policy: decodePolicy(row.rules) }
        }),

        list: Effect.fn("Policies.list")(function* (organization) {
          const rows = yield* orUnavailable(search<{
            version: number
            author: string
            published_at: string
            sha256: string
            rules: number
            in_force: boolean
          }>`
            SELECT p.version, p.author, to_char(p.published_at AT TIME ZONE o.time_zone, 'YYYY-MM-DD HH24:MI') AS published_at,
              p.sha256, jsonb_array_length(p.rules -> 'rules') AS rules, p.version = o.policy_version AS in_force
            FROM max.policies p JOIN max.organizations o USING (organization_id)
            WHERE organization_id = ${organization.id} ORDER BY p.version DESC`)
          return rows.map(({ in_force, published_at, ...row }) => ({
            ...row,
            publishedAt: published_at,
            inForce: in_force
          }))
        }),

        inspect: Effect.fn("Policies.inspect")(inspect),

        check: Effect.fn("Policies.check")(function* (organization, text) {
          const found = yield* inspect(organization, text)
          return "problems" in found ? yield* refused(found.problems) : found
        }),

        publish: Effect.fn("Policies.publish")(function* (organization, text, author, options) {
          return yield* publish(organization, text, author, yield* inForce(organization), options)
        }),

        prepare: Effect.fn("Policies.prepare")(function* (organization, text) {
          return yield* prepare(organization, text, yield* inForce(organization))
        }),

        change: Effect.fn("Policies.change")(function* (organization, edit, author, options) {
          const state = yield* inForce(organization)
          const row = yield* versionOf(organization, undefined)
          if (row === undefined)
            return yield* OperatorError.withCommand("There is no policy yet.", "To create one: max policy new")
          const edited = edit(JSON.parse(row.document) as PolicyDocument, state.policy, state.catalog)
          if ("problems" in edited)
            return yield* OperatorError.of("Nothing was changed.", edited.problems.map(problemText))
          const text = printPolicy(edited.document)
          const { policy, tests } = yield* read(organization, text, state)
          const changes = diffPolicies(state.policy, policy, state.catalog)
          if (options?.dryRun === true) yield* requirePassingTests(organization, policy, tests)
          if (options?.dryRun === true || changes.length === 0) return { version: undefined, changes }
          return {
            version: (yield* publish(organization, text, author, state, { replacing: row.version })).version,
            changes
          }
        })
      })
    })
  )
}
