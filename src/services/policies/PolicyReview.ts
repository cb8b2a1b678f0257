/**
 * What is asked about policies: why somebody sees something, what another policy would change, and what each role would
 * see. It reads rows without a plan, so it is for commands of operators only, which the command line alone has; whoever
 * else asks is answered through its own plan (`explainAs`).
 */
import { Context, Effect, Layer } from "effect"
import { Database } from "../../database/Database.ts"
import type { Statement } from "../../database/sql/ResolvedQuery.ts"
import {
  type Catalog,
  DISPLAY_NAME,
  type EntityType,
  type Organization,
  peopleOf,
  STATUS,
  typeBySlug
} from "../../domain/EntityType.ts"
import { type NotAdmitted, OperatorError, Unavailable } from "../../domain/errors.ts"
import { encodeId, decodeId } from "../../domain/ids.ts"
import { NEVER } from "../../domain/Predicate.ts"
import { DEFAULT_LIMIT } from "../../domain/Query.ts"
import { closest, quoted } from "../../domain/text.ts"
import { type Policy, problemText } from "../../permissions/Policy.ts"
import { readPolicy } from "../../permissions/readPolicy.ts"
import { readScope } from "../../permissions/ToolScope.ts"
import { type Admitted, IdentityResolver } from "../members/IdentityResolver.ts"
import { OrganizationState, type State } from "../catalog/OrganizationState.ts"
import { OrgEntityStore } from "../OrgEntityStore.ts"
import { type Explanation, explainType, isInForce, rulesForReading } from "./explainType.ts"
import { explainRow, type RowExplanation } from "./explainRow.ts"
import { firstMembers } from "./assignments.ts"
import { type Visibility, visibilityOf, OPERATOR_VISIBILITY, seesWholeCondition } from "./visibility.ts"
import { makeRowEvaluator, plannedAccess } from "./rowEvaluator.ts"
import { simulatePolicy, type Simulation } from "./simulatePolicy.ts"
import { makeSubjectReader, type ReviewSubject, type SubjectRequest } from "./reviewSubject.ts"

export interface Question extends SubjectRequest {
  readonly type: string
  /** A policy file to ask about in place of the policy in force. */
  readonly file?: string | undefined
  /** A tool scope to look through, as `ToolScope` reads it. */
  readonly scope?: ReadonlyArray<string> | undefined
}

/** What one role would see of one type, as the person that stands for it. */
export interface Preview {
  readonly role: string
  /** Who stands for the role, and whether it has it. */
  readonly as: string
  readonly isMember: boolean
  readonly type: string
  readonly total: number
  readonly visible: number
  readonly columns: ReadonlyArray<{ readonly column: string; readonly rows: number }>
  readonly examples: ReadonlyArray<{ readonly name: string; readonly columns: ReadonlyArray<string> }>
}

/** What somebody who is no operator may ask: about a member as it is, and about one row by its entity id. */
export interface AskedByMember {
  /** A verified e-mail address or phone number of the member, or its entity id. */
  readonly as: SubjectRequest["as"]
  readonly type: string
}

const MAX_PREVIEWED = 2

type Fault = OperatorError | NotAdmitted | Unavailable

export class PolicyReview extends Context.Service<
  PolicyReview,
  {
    /** Why a person sees what it sees of a type. */
    readonly explain: (organization: Organization, question: Question) => Effect.Effect<Explanation, Fault>
    /** Why a person sees one row, by external or entity id, and each of its cells. */
    readonly explainRow: (
      organization: Organization,
      question: Question & { readonly id: string }
    ) => Effect.Effect<RowExplanation, Fault>
    /**
     * The same for a member who may ask about others, which the channel decides: of what is open to it and of nothing
     * else. Refused with an OperatorError where the rules look at what isn't.
     */
    readonly explainAs: (asking: Admitted, question: AskedByMember) => Effect.Effect<Explanation, Fault>
    readonly explainRowAs: (
      asking: Admitted,
      question: AskedByMember & { readonly id: string }
    ) => Effect.Effect<RowExplanation, Fault>
    /** The statement of the person's lookup of the type, without filters; none where the type is denied. */
    readonly statement: (organization: Organization, question: Question) => Effect.Effect<Statement | undefined, Fault>
    /** What a file would change for a person, against the policy in force. */
    readonly simulate: (
      organization: Organization,
      question: Question & { readonly file: string }
    ) => Effect.Effect<Simulation, Fault>
    /** What each role of a file would see. */
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
      const judge = makeRowEvaluator(search)
      const subjectOf = makeSubjectReader(yield* IdentityResolver, states, judge)

      const prepare = Effect.fnUntraced(function* (organization: Organization, question: Question) {
        const found = yield* subjectOf(organization, question)
        const { catalog } = found.state
        const type = yield* typeNamed(question.type, catalog)
        const policy = question.file === undefined ? found.state.policy : yield* policyOf(question.file, catalog)
        for (const role of question.roles ?? []) yield* roleNamed(role, policy)
        const scope = question.scope === undefined ? undefined : readScope(question.scope, catalog)
        if (scope !== undefined && "problems" in scope)
          return yield* new OperatorError({ message: "The scope can't be read.", details: scope.problems })
        const subject: ReviewSubject =
          scope === undefined ? found : { ...found, principal: { ...found.principal, scope: scope.scope } }
        return { subject, type, policy }
      })

      /** Both persons in one state: whoever lost its plan a moment ago has none here. */
      const lookThrough = Effect.fnUntraced(function* (asking: Admitted, { as, type: slug }: AskedByMember) {
        const now = Date.now()
        const lensFor = ({ catalog, policy }: State) => visibilityOf(policy, catalog, asking.principal, now)
        const subject = yield* subjectOf(asking.state.catalog.organization, { as }, lensFor)
        const { catalog, policy } = subject.state
        if (asking.principal.epoch !== catalog.epoch) return yield* Unavailable.error
        const lens: Visibility = lensFor(subject.state)
        const open = catalog.types.filter((one) => lens.open(one) !== undefined)
        const type = yield* typeNamed(slug, { ...catalog, types: open })
        const rules = rulesForReading(policy, subject.principal.roles, type).filter((rule) => isInForce(rule, now))
        if (!rules.every((rule) => seesWholeCondition(lens, rule.where, type, catalog)))
          return yield* new OperatorError({
            message: `What decides about ${type.slug} here isn't all open to you. An operator can look: max policy explain`
          })
        return { lens, now, policy, subject, type }
      })

      return PolicyReview.of({
        explain: Effect.fn("PolicyReview.explain")(function* (organization, question) {
          const { policy, subject, type } = yield* prepare(organization, question)
          return yield* explainType(judge, subject, policy, type, OPERATOR_VISIBILITY, Date.now())
        }),

        explainAs: Effect.fn("PolicyReview.explainAs")(function* (asking, question) {
          const { lens, now, policy, subject, type } = yield* lookThrough(asking, question)
          return yield* explainType(judge, subject, policy, type, lens, now)
        }),

        explainRowAs: Effect.fn("PolicyReview.explainRowAs")(function* (asking, question) {
          const { lens, now, policy, subject, type } = yield* lookThrough(asking, question)
          return yield* explainRow(judge, store, subject, policy, type, question.id, lens, now)
        }),

        explainRow: Effect.fn("PolicyReview.explainRow")(function* (organization, question) {
          const { policy, subject, type } = yield* prepare(organization, question)
          return yield* explainRow(judge, store, subject, policy, type, question.id, OPERATOR_VISIBILITY, Date.now())
        }),

        statement: Effect.fn("PolicyReview.statement")(function* (organization, question) {
          const { policy, subject, type } = yield* prepare(organization, question)
          const { catalog } = subject.state
          const sight = plannedAccess(policy, catalog, subject.principal, type, Date.now())
          if (sight.plan._tag === "Denied") return undefined
          const { cells, where } = sight.plan
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
          return yield* simulatePolicy(judge, subject, subject.state.policy, policy, type, Date.now())
        }),

        preview: Effect.fn("PolicyReview.preview")(function* (organization, file) {
          const { state } = yield* states.read(organization.id, { by: "nobody" })
          const { catalog } = state
          const policy = yield* policyOf(file, catalog)
          const stand = yield* standIns(organization, state.catalog, Object.keys(policy.roles))
          return yield* Effect.forEach(
            stand.flatMap((one) => catalog.types.map((type) => ({ ...one, type }))),
            Effect.fnUntraced(function* ({ anchorId, attributes, isMember, name, role, type }) {
              const principal = {
                organizationId: organization.id,
                anchorEntityId: anchorId,
                roles: [role],
                attributes,
                epoch: catalog.epoch
              }
              const sight = plannedAccess(policy, catalog, principal, type, Date.now())
              const judgements = [sight.rows, ...type.columns.map(({ key }) => sight.cell(key))].map((of) => ({ of }))
              const { counts, total } = yield* judge.counts(type, catalog, judgements)
              const rows = yield* judge.rows(type, catalog, judgements, {
                where: { of: sight.rows },
                limit: MAX_PREVIEWED
              })
              return {
                role,
                as: name,
                isMember,
                type: type.slug,
                total,
                visible: counts[0]!,
                columns: type.columns.map(({ slug }, index) => ({ column: slug, rows: counts[index + 1]! })),
                examples: rows.map((row) => ({
                  name: row.name,
                  columns: type.columns.filter((_, index) => row.truths[index + 1]).map(({ slug }) => slug)
                }))
              } satisfies Preview
            })
          )
        }),

        names: Effect.fn("PolicyReview.names")(function* (organization) {
          const { state } = yield* states.read(organization.id, { by: "nobody" })
          return { catalog: state.catalog, roles: Object.keys(state.policy.roles) }
        })
      })

      /** For each role a member that has it, else the first person there is. */
      function standIns(organization: Organization, catalog: Catalog, roles: ReadonlyArray<string>) {
        return Effect.gen(function* () {
          const people = peopleOf(catalog)
          const members = yield* firstMembers(search, organization.id)
          const fallback = people === undefined ? [] : yield* judge.rows(people, catalog, [], { limit: 1 })
          return yield* Effect.forEach(
            roles,
            Effect.fnUntraced(function* (role) {
              const member = members.find((one) => one.roles.includes(role))
              const anchorId = member?.anchor_id ?? fallback[0]?.id ?? encodeId(0n)
              const [row] =
                people === undefined
                  ? []
                  : yield* judge.rows(people, catalog, [{ of: NEVER }], {
                      ids: [(decodeId(anchorId) ?? 0n).toString()],
                      limit: 1
                    })
              return {
                role,
                anchorId,
                attributes: member?.attributes ?? {},
                isMember: member !== undefined,
                name: row?.name ?? "nobody"
              }
            })
          )
        })
      }
    })
  )
}

const typeNamed = (slug: string, catalog: Catalog): Effect.Effect<EntityType, OperatorError> => {
  const type = typeBySlug(catalog, slug)
  if (type !== undefined) return Effect.succeed(type)
  const known = catalog.types.map((one) => one.slug)
  const near = closest(slug, known)
  return Effect.fail(
    new OperatorError({
      message: `There is no type ${quoted(slug)}. ${near === undefined ? `There is: ${known.join(", ")}.` : `Did you mean ${near}?`}`
    })
  )
}

const roleNamed = (role: string, policy: Policy): Effect.Effect<void, OperatorError> => {
  const known = Object.keys(policy.roles)
  return known.includes(role)
    ? Effect.void
    : Effect.fail(new OperatorError({ message: `There is no role ${quoted(role)}. There is: ${known.join(", ")}.` }))
}

const policyOf = (file: string, catalog: Catalog): Effect.Effect<Policy, OperatorError> => {
  const reading = readPolicy(file, catalog)
  return "policy" in reading
    ? Effect.succeed(reading.policy)
    : Effect.fail(
        new OperatorError({ message: "The policy can't be read.", details: reading.problems.map(problemText) })
      )
}
