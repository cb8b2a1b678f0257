/**
 * Reviews policies: explains access, simulates another policy and previews roles. Its queries run without a plan, so only
 * operators' commands may use them. `explainAs` and `explainRowAs` limit the answer to the asker's own plan and serve
 * administrators.
 */
import { Context, Effect, Layer } from "effect"
import { Database } from "../../database/Database.ts"
import type { Statement } from "../../database/sql/ResolvedQuery.ts"
import {
  type Catalog,
  DISPLAY_NAME,
  type EntityType,
  type Organization,
  STATUS,
  typeBySlug
} from "../../domain/EntityType.ts"
import { type NotAdmitted, OperatorError, Unavailable } from "../../domain/errors.ts"
import { leafCount, NEVER } from "../../domain/Predicate.ts"
import { DEFAULT_LIMIT } from "../../domain/Query.ts"
import { closest, quoted } from "../../domain/text.ts"
import type { TypeExplanation } from "../../wire/admin/policy.ts"
import { Action, type Policy, problemText } from "../../permissions/Policy.ts"
import { bindPredicate } from "../../permissions/bindPredicate.ts"
import { isInForce, rulesFor } from "../../permissions/PermissionEngine.ts"
import { readPolicy } from "../../permissions/readPolicy.ts"
import { readScope } from "../../permissions/ToolScope.ts"
import { type Admitted, IdentityResolver } from "../members/IdentityResolver.ts"
import { OrganizationState, type State } from "../catalog/OrganizationState.ts"
import { OrgEntityStore } from "../OrgEntityStore.ts"
import { bindingOf, explainType } from "./explainType.ts"
import { explainRow, type RowExplanation } from "./explainRow.ts"
import { type Preview, previewRoles } from "./previewRoles.ts"
import {
  type Visibility,
  visibilityOf,
  onVisibleTargets,
  OPERATOR_VISIBILITY,
  seesWholeCondition
} from "./visibility.ts"
import { makeRowEvaluator, plannedAccess } from "./rowEvaluator.ts"
import { simulatePolicy, type Simulation } from "./simulatePolicy.ts"
import { makeSubjectReader, type ReviewSubject, type SubjectRequest } from "./reviewSubject.ts"

export interface Question extends SubjectRequest {
  readonly type: string
  /** A policy file that replaces the policy in force. */
  readonly file?: string | undefined
  /** A tool scope that narrows the access, in the syntax of `readScope`. */
  readonly scope?: ReadonlyArray<string> | undefined
}

/** A question that an administrator may ask about a member. */
export interface AskedByMember {
  /** The member's verified e-mail address, phone number or entity id. */
  readonly as: SubjectRequest["as"]
  readonly type: string
}

type Fault = OperatorError | NotAdmitted | Unavailable

/** Leaves of the conditions that one explanation evaluates, each reference with the asker's own condition on its targets. */
const MAX_EXPLAINED_LEAVES = 20_000

export class PolicyReview extends Context.Service<
  PolicyReview,
  {
    /** Explains a person's access to a type. */
    readonly explain: (organization: Organization, question: Question) => Effect.Effect<TypeExplanation, Fault>
    /** Explains a person's access to one row, by external or entity id, and its cells. */
    readonly explainRow: (
      organization: Organization,
      question: Question & { readonly id: string }
    ) => Effect.Effect<RowExplanation, Fault>
    /**
     * Explains within the asker's own visibility; the channel authorizes the asker. Fails with an OperatorError when a
     * rule reads data that is hidden from the asker. References to hidden targets count as unknown.
     */
    readonly explainAs: (asking: Admitted, question: AskedByMember) => Effect.Effect<TypeExplanation, Fault>
    readonly explainRowAs: (
      asking: Admitted,
      question: AskedByMember & { readonly id: string }
    ) => Effect.Effect<RowExplanation, Fault>
    /** The statement of the person's unfiltered lookup of a type; undefined when the type is denied. */
    readonly statement: (organization: Organization, question: Question) => Effect.Effect<Statement | undefined, Fault>
    /** The changes that a file would make for a person, compared with the policy in force. */
    readonly simulate: (
      organization: Organization,
      question: Question & { readonly file: string }
    ) => Effect.Effect<Simulation, Fault>
    /** Simulates a file within the asker's own visibility, under the conditions of `explainAs`. */
    readonly simulateAs: (
      asking: Admitted,
      question: AskedByMember & { readonly file: string }
    ) => Effect.Effect<Simulation, Fault>
    /** What each role of a file would see of each type. */
    readonly preview: (organization: Organization, file: string) => Effect.Effect<ReadonlyArray<Preview>, Fault>
    /** The types of the organization, and the roles of its policy. */
    readonly names: (
      organization: Organization
    ) => Effect.Effect<{ readonly catalog: Catalog; readonly roles: ReadonlyArray<string> }, NotAdmitted | Unavailable>
  }
>()("max/services/PolicyReview") {
  static readonly layer = Layer.effect(
    PolicyReview,
    Effect.gen(function* () {
      const { search } = yield* Database
      const states = yield* OrganizationState
      const store = yield* OrgEntityStore
      const evaluator = makeRowEvaluator(search)
      const subjectOf = makeSubjectReader(yield* IdentityResolver, states, evaluator)

      const prepare = Effect.fnUntraced(function* (organization: Organization, question: Question) {
        const member = yield* subjectOf(organization, question)
        const { catalog } = member.state
        const type = yield* typeNamed(question.type, catalog)
        const policy = question.file === undefined ? member.state.policy : yield* policyOf(question.file, catalog)
        for (const role of question.roles ?? []) yield* roleNamed(role, policy)
        const scope = question.scope === undefined ? undefined : readScope(question.scope, catalog)
        if (scope !== undefined && "problems" in scope)
          return yield* OperatorError.of("The scope is invalid.", scope.problems)
        const subject: ReviewSubject =
          scope === undefined ? member : { ...member, principal: { ...member.principal, scope: scope.scope } }
        return { subject, type, policy }
      })

      /** Plans the asker in the member's state. Fails as Unavailable if the asker was admitted in another epoch. */
      const prepareAs = Effect.fnUntraced(function* (
        asking: Admitted,
        { as, file, type: slug }: AskedByMember & { readonly file?: string }
      ) {
        const now = Date.now()
        const visibilityFor = ({ catalog, policy }: State) => visibilityOf(policy, catalog, asking.principal, now)
        const subject = yield* subjectOf(asking.state.catalog.organization, { as }, visibilityFor)
        const { catalog, policy } = subject.state
        if (asking.principal.epoch !== catalog.epoch) return yield* Unavailable.error
        const visibility: Visibility = visibilityFor(subject.state)
        const visibleTypes = catalog.types.filter((candidate) => visibility.of(candidate) !== undefined)
        const type = yield* typeNamed(slug, { ...catalog, types: visibleTypes })
        const other = file === undefined ? policy : yield* policyOf(file, catalog)
        const rules = [policy, ...(other === policy ? [] : [other])].flatMap((each) =>
          (file === undefined ? (["read"] as const) : Action.literals)
            .flatMap((action) => rulesFor(each, subject.principal.roles, type, action))
            .filter((rule) => isInForce(rule, now))
        )
        const refused = (why: string) =>
          OperatorError.of(`The rules for ${type.slug} ${why}. Ask an operator to run: max policy explain`)
        if (!rules.every((rule) => seesWholeCondition(visibility, rule.where, type, catalog)))
          return yield* refused("read data that you may not see")
        const size = rules.reduce((sum, { where }) => {
          const bound = bindPredicate(where, type, bindingOf(subject), true, true)
          return sum + leafCount(onVisibleTargets(visibility, bound, type, catalog))
        }, 0)
        if (size > MAX_EXPLAINED_LEAVES) return yield* refused("are too large to explain within your own access")
        return { visibility, now, policy, other, subject, type }
      })

      return PolicyReview.of({
        explain: Effect.fn("PolicyReview.explain")(function* (organization, question) {
          const { policy, subject, type } = yield* prepare(organization, question)
          return yield* explainType(evaluator, subject, policy, type, OPERATOR_VISIBILITY, Date.now())
        }),

        explainAs: Effect.fn("PolicyReview.explainAs")(function* (asking, question) {
          const { visibility, now, policy, subject, type } = yield* prepareAs(asking, question)
          return yield* explainType(evaluator, subject, policy, type, visibility, now)
        }),

        explainRowAs: Effect.fn("PolicyReview.explainRowAs")(function* (asking, question) {
          const { visibility, now, policy, subject, type } = yield* prepareAs(asking, question)
          return yield* explainRow(evaluator, store, subject, policy, type, question.id, visibility, now)
        }),

        explainRow: Effect.fn("PolicyReview.explainRow")(function* (organization, question) {
          const { policy, subject, type } = yield* prepare(organization, question)
          return yield* explainRow(
            evaluator,
            store,
            subject,
            policy,
            type,
            question.id,
            OPERATOR_VISIBILITY,
            Date.now()
          )
        }),

        statement: Effect.fn("PolicyReview.statement")(function* (organization, question) {
          const { policy, subject, type } = yield* prepare(organization, question)
          const { catalog } = subject.state
          const access = plannedAccess(policy, catalog, subject.principal, type, Date.now())
          if (access.plan._tag === "Denied") return undefined
          const { cells, where } = access.plan
          return yield* store.statement(
            {
              type,
              plan: where,
              filters: [],
              limit: DEFAULT_LIMIT,
              name: cells.get(DISPLAY_NAME) ?? NEVER,
              status: cells.get(STATUS) ?? NEVER,
              select: type.columns.flatMap((column) => {
                const mask = cells.get(column.key)
                return mask === undefined || column.storage._tag !== "Value" ? [] : [{ column, mask }]
              }),
              hops: "array",
              pool: "search",
              label: type.slug
            },
            catalog
          )
        }),

        simulate: Effect.fn("PolicyReview.simulate")(function* (organization, question) {
          const { policy, subject, type } = yield* prepare(organization, question)
          return yield* simulatePolicy(
            evaluator,
            subject,
            subject.state.policy,
            policy,
            type,
            OPERATOR_VISIBILITY,
            Date.now()
          )
        }),

        simulateAs: Effect.fn("PolicyReview.simulateAs")(function* (asking, question) {
          const { visibility, now, other, policy, subject, type } = yield* prepareAs(asking, question)
          return yield* simulatePolicy(evaluator, subject, policy, other, type, visibility, now)
        }),

        preview: Effect.fn("PolicyReview.preview")(function* (organization, file) {
          const { state } = yield* states.read(organization.id, { by: "none" })
          const { catalog } = state
          const policy = yield* policyOf(file, catalog)
          return yield* previewRoles(search, evaluator, organization, policy, catalog)
        }),

        names: Effect.fn("PolicyReview.names")(function* (organization) {
          const { state } = yield* states.read(organization.id, { by: "none" })
          return { catalog: state.catalog, roles: Object.keys(state.policy.roles) }
        })
      })
    })
  )
}

const typeNamed = (slug: string, catalog: Catalog): Effect.Effect<EntityType, OperatorError> => {
  const type = typeBySlug(catalog, slug)
  if (type !== undefined) return Effect.succeed(type)
  const known = catalog.types.map((one) => one.slug)
  const near = closest(slug, known)
  return Effect.fail(
    OperatorError.of(
      `There is no type ${quoted(slug)}. ${near === undefined ? `Known: ${known.join(", ")}.` : `Did you mean ${near}?`}`
    )
  )
}

const roleNamed = (role: string, policy: Policy): Effect.Effect<void, OperatorError> => {
  const known = Object.keys(policy.roles)
  return known.includes(role)
    ? Effect.void
    : Effect.fail(OperatorError.of(`There is no role ${quoted(role)}. Known: ${known.join(", ")}.`))
}

const policyOf = (file: string, catalog: Catalog): Effect.Effect<Policy, OperatorError> => {
  const reading = readPolicy(file, catalog)
  return "policy" in reading
    ? Effect.succeed(reading.policy)
    : Effect.fail(OperatorError.of("The policy is invalid.", reading.problems.map(problemText)))
}
