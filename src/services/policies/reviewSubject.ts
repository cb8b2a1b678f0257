/** Resolves the person that a policy review is about: a member, or any person with hypothetical roles. */
import { Effect } from "effect"
import { DISPLAY_NAME, type Organization, peopleOf } from "../../domain/EntityType.ts"
import { type NotAdmitted, OperatorError, type Unavailable } from "../../domain/errors.ts"
import type { AttributeValue, Principal } from "../../domain/Principal.ts"
import { quoted } from "../../domain/text.ts"
import { entityId, parseId } from "../../domain/values.ts"
import type { IdentityResolver } from "../members/IdentityResolver.ts"
import { readIdentifier, readPersonId } from "../members/identifier.ts"
import type { OrganizationState, State } from "../catalog/OrganizationState.ts"
import { all } from "../../domain/Predicate.ts"
import type { RowEvaluator } from "./rowEvaluator.ts"
import { type Visibility, OPERATOR_VISIBILITY } from "./visibility.ts"

export interface ReviewSubject {
  readonly principal: Principal
  readonly name: string
  readonly state: State
}

export interface SubjectRequest {
  /** An e-mail address or phone number; or a member, by entity id. */
  readonly as: string | { readonly anchorId: string }
  /** Hypothetical roles that replace the membership's, so that the person needn't be a member. */
  readonly roles?: ReadonlyArray<string> | undefined
  readonly attributes?: Readonly<Record<string, AttributeValue>> | undefined
}

export const makeSubjectReader =
  (identities: IdentityResolver["Service"], states: OrganizationState["Service"], evaluator: RowEvaluator) =>
  (
    organization: Organization,
    wanted: SubjectRequest,
    visibilityFor: (state: State) => Visibility = () => OPERATOR_VISIBILITY
  ): Effect.Effect<ReviewSubject, OperatorError | NotAdmitted | Unavailable> =>
    Effect.gen(function* () {
      const { as } = wanted
      const label = typeof as === "string" ? quoted(as) : "This person"
      const personId = typeof as === "string" ? readPersonId(as) : undefined
      const identifier = typeof as === "string" && personId === undefined ? readIdentifier(as, organization) : undefined
      if (typeof as === "string" && personId === undefined && identifier === undefined)
        return yield* OperatorError.of(`${label} is no e-mail address, phone number or id:ID.`)
      const named = personId === undefined ? undefined : yield* identities.byId(organization, personId)
      if (personId !== undefined && named === undefined)
        return yield* OperatorError.of(`No person has the id ${quoted(personId)}.`)
      const { membership, state } = yield* states.read(
        organization.id,
        identifier === undefined
          ? { by: "anchor", id: typeof as === "string" ? named! : as.anchorId }
          : { by: "identifier", ...identifier }
      )
      if (membership === undefined && (wanted.roles === undefined || typeof as !== "string")) {
        return yield* OperatorError.withCommand(
          `${label} is not an active member, so nothing is visible to them.`,
          "To list the members: max member list"
        )
      }
      const anchorEntityId =
        membership?.anchorId ?? named ?? (yield* resolveUnique(identities, organization, identifier!, label))
      const people = peopleOf(state.catalog)
      const visible = people && visibilityFor(state).of(people)
      const [row] =
        people === undefined || visible === undefined
          ? []
          : yield* evaluator.rows(people, state.catalog, [], {
              ids: [parseId(anchorEntityId, people.mapping?.id.type) ?? entityId(anchorEntityId)],
              where: { of: all(visible.rows, visible.cell(DISPLAY_NAME)) },
              limit: 1
            })
      return {
        state,
        name: row === undefined || row.name === "" ? (typeof as === "string" ? as : "this person") : row.name,
        principal: {
          organizationId: organization.id,
          anchorEntityId,
          roles: wanted.roles ?? membership?.roles ?? [],
          attributes: wanted.attributes ?? membership?.attributes ?? {},
          epoch: state.catalog.epoch
        }
      }
    })

const resolveUnique = Effect.fnUntraced(function* (
  identities: IdentityResolver["Service"],
  organization: Organization,
  identifier: Parameters<IdentityResolver["Service"]["identify"]>[1],
  label: string
) {
  const [id, second] = yield* identities.identify(organization, identifier)
  if (id !== undefined && second === undefined) return id
  return yield* OperatorError.of(
    id === undefined
      ? `No person has the identifier ${label}. Import the person first.`
      : `Several people have the identifier ${label}. Use an identifier of exactly one person.`
  )
})
