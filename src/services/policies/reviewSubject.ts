/** The persons whom operators ask about: a member as it is, or anybody with roles that are tried on. */
import { Effect } from "effect"
import { DISPLAY_NAME, type Organization, peopleOf } from "../../domain/EntityType.ts"
import { type NotAdmitted, OperatorError, type Unavailable } from "../../domain/errors.ts"
import type { AttributeValue, Principal } from "../../domain/Principal.ts"
import { quoted } from "../../domain/text.ts"
import { entityId, parseId } from "../../domain/values.ts"
import type { IdentityResolver } from "../members/IdentityResolver.ts"
import { readIdentifier } from "../members/identifier.ts"
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
  /** Roles to have instead of the membership's: the person needn't be a member then. */
  readonly roles?: ReadonlyArray<string> | undefined
  readonly attributes?: Readonly<Record<string, AttributeValue>> | undefined
}

export const makeSubjectReader =
  (identities: IdentityResolver["Service"], states: OrganizationState["Service"], judge: RowEvaluator) =>
  (
    organization: Organization,
    wanted: SubjectRequest,
    lensFor: (state: State) => Visibility = () => OPERATOR_VISIBILITY
  ): Effect.Effect<ReviewSubject, OperatorError | NotAdmitted | Unavailable> =>
    Effect.gen(function* () {
      const { as } = wanted
      const called = typeof as === "string" ? quoted(as) : "This person"
      const identifier = typeof as === "string" ? readIdentifier(as, organization) : undefined
      if (typeof as === "string" && identifier === undefined)
        return yield* new OperatorError({ message: `${called} is neither an e-mail address nor a phone number.` })
      const { membership, state } = yield* states.read(
        organization.id,
        typeof as === "string" ? { by: "identifier", ...identifier! } : { by: "anchor", id: as.anchorId }
      )
      if (membership === undefined && (wanted.roles === undefined || identifier === undefined)) {
        return yield* new OperatorError({
          message: `${called} is no active member, and whoever isn't sees nothing at all. max member list shows who is.`
        })
      }
      const anchorEntityId = membership?.anchorId ?? (yield* onlyOne(identities, organization, identifier!, called))
      const people = peopleOf(state.catalog)
      const open = people && lensFor(state).open(people)
      const [row] =
        people === undefined || open === undefined
          ? []
          : yield* judge.rows(people, state.catalog, [], {
              ids: [parseId(anchorEntityId, people.mapping?.id.type) ?? entityId(anchorEntityId)],
              where: { of: all(open.rows, open.cell(DISPLAY_NAME)) },
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

const onlyOne = Effect.fnUntraced(function* (
  identities: IdentityResolver["Service"],
  organization: Organization,
  identifier: Parameters<IdentityResolver["Service"]["identify"]>[1],
  called: string
) {
  const [id, second] = yield* identities.identify(organization, identifier)
  if (id !== undefined && second === undefined) return id
  return yield* new OperatorError({
    message:
      id === undefined
        ? `Nobody has ${called}: import the person first.`
        : `Several people have ${called}: only an identifier of one person can be asked about.`
  })
})
