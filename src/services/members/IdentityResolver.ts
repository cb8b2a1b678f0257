/**
 * Identification and admission of people, two separate steps. Identifying finds the People with an identifier and grants
 * nothing. Admitting requires a verified identifier that is bound to an active membership.
 */
import { pseudonym } from "../../domain/pseudonym.ts"
import { Context, Effect, Layer } from "effect"
import { UNIDENTIFIED } from "../../database/audit.ts"
import { Database } from "../../database/Database.ts"
import { runWithin } from "../../database/execute.ts"
import { compileIdentify } from "../../database/sql/identify.ts"
import { columnByKey, type Organization, peopleOf } from "../../domain/EntityType.ts"
import { NotAdmitted, type Unavailable } from "../../domain/errors.ts"
import type { Principal } from "../../domain/Principal.ts"
import { showId } from "../../domain/values.ts"
import { Vouched } from "../../domain/Vouched.ts"
import { type Membership, OrganizationState, type State } from "../catalog/OrganizationState.ts"
import { Refusals } from "../audit/Refusals.ts"
import type { Identifier } from "./identifier.ts"
import { makeSubjectResolver } from "./assertedSubject.ts"

/** The part of a principal that readmission retains: its identity and the attributes of the call. */
export type Readmitted = Pick<Principal, "organizationId" | "anchorEntityId" | "actor" | "claimedRoles" | "vouched">

export interface Admitted {
  readonly principal: Principal
  readonly state: State
}

/** Limit of identified people; callers only distinguish none, one and several. */
const MAX_IDENTIFIED = 10

export class IdentityResolver extends Context.Service<
  IdentityResolver,
  {
    /** Entity ids of the People with this identifier. The only read of rows without a plan; it returns ids only. */
    readonly identify: (
      organization: Organization,
      identifier: Identifier
    ) => Effect.Effect<ReadonlyArray<string>, NotAdmitted | Unavailable>
    /** The entity id of the person with this external id or, in a mapped table, key; grants nothing. */
    readonly byId: (
      organization: Organization,
      id: string
    ) => Effect.Effect<string | undefined, NotAdmitted | Unavailable>
    /** The principal whose active membership has this verified identifier. */
    readonly admit: (
      organization: Organization,
      identifier: Identifier
    ) => Effect.Effect<Admitted, NotAdmitted | Unavailable>
    /** The principal that a trusted host asserts; it needs no membership, but a suspended one refuses it. */
    readonly vouch: (organization: Organization, vouched: Vouched) => Effect.Effect<Admitted, NotAdmitted | Unavailable>
    /** Reloads a principal: the same person with the current roles, attributes and epoch. */
    readonly readmit: (principal: Readmitted) => Effect.Effect<Admitted, NotAdmitted | Unavailable>
  }
>()("max/services/IdentityResolver") {
  static readonly layer = Layer.effect(
    IdentityResolver,
    Effect.gen(function* () {
      const { search } = yield* Database
      const refusals = yield* Refusals
      const states = yield* OrganizationState

      const refuse = (organizationId: bigint, actor: string, subject: string) => {
        refusals.record({ organizationId, actor, action: "admission.refused", subject })
        const attributes = {
          "max.denied": true,
          ...(actor === UNIDENTIFIED ? {} : { "max.caller": pseudonym({ organizationId, anchorEntityId: actor }) })
        }
        return Effect.andThen(Effect.annotateCurrentSpan(attributes), Effect.fail(NotAdmitted.error))
      }

      /** `who` is the person or identifier that the refusal is recorded under. */
      const admitted = (
        state: State,
        membership: Membership | undefined,
        call: Pick<Principal, "actor" | "scope" | "claimedRoles">,
        who: { readonly anchorId: string } | { readonly kind: Identifier["kind"] }
      ) => {
        const organizationId = state.catalog.organization.id
        if (membership === undefined) {
          return "anchorId" in who
            ? refuse(organizationId, who.anchorId, "membership")
            : refuse(organizationId, UNIDENTIFIED, who.kind)
        }
        return Effect.succeed<Admitted>({
          state,
          principal: {
            organizationId,
            anchorEntityId: membership.anchorId,
            roles: call.claimedRoles ?? membership.roles,
            attributes: membership.attributes,
            ...(call.claimedRoles === undefined ? {} : { claimedRoles: call.claimedRoles }),
            ...(call.actor === undefined ? {} : { actor: call.actor }),
            ...(call.scope === undefined ? {} : { scope: call.scope }),
            epoch: state.catalog.epoch
          }
        })
      }

      const identify = Effect.fn("IdentityResolver.identify")(function* (
        organization: Organization,
        identifier: Identifier
      ) {
        const { state } = yield* states.read(organization.id, { by: "none" })
        const people = peopleOf(state.catalog)
        const column = people && columnByKey(people, identifier.kind)
        if (people === undefined || column === undefined) return []
        const statement = compileIdentify(people, column, identifier.key, state.catalog, MAX_IDENTIFIED)
        const rows = yield* runWithin<{ id: bigint | string }>(search, organization.id, statement)
        return [...new Set(rows.map((row) => showId(row.id, people.mapping?.id.type)))]
      })

      const subjectOf = makeSubjectResolver(search, states, identify)

      /** A host's assertion is valid for its own organization, unless the person's membership is suspended. */
      const assertedByHost = Effect.fnUntraced(function* ({ anchorEntityId, vouched, ...call }: Readmitted) {
        const { barred, state } = yield* states.read(
          call.organizationId,
          anchorEntityId === "" ? { by: "none" } : { by: "anchor", id: anchorEntityId }
        )
        const { organization } = state.catalog
        if (barred || !Vouched.is(vouched) || vouched.organization !== organization.slug)
          return yield* refuse(organization.id, anchorEntityId, barred ? "membership" : "vouched")
        const { attributes, roles } = vouched
        const principal = { ...call, anchorEntityId, vouched, roles, attributes, epoch: state.catalog.epoch }
        return { state, principal } satisfies Admitted
      })

      return IdentityResolver.of({
        identify,
        byId: Effect.fn("IdentityResolver.byId")((organization, id) => subjectOf(organization, { externalId: id })),
        vouch: Effect.fn("IdentityResolver.vouch")(function* (organization, vouched) {
          const anchorEntityId = yield* subjectOf(organization, vouched.subject)
          if (anchorEntityId === undefined) return yield* refuse(organization.id, UNIDENTIFIED, "vouched")
          return yield* assertedByHost({ organizationId: organization.id, anchorEntityId, vouched })
        }),
        admit: Effect.fn("IdentityResolver.admit")(function* (organization, identifier) {
          const { membership, state } = yield* states.read(organization.id, { by: "identifier", ...identifier })
          return yield* admitted(state, membership, {}, identifier)
        }),
        readmit: Effect.fn("IdentityResolver.readmit")(function* (principal) {
          if (principal.vouched !== undefined) return yield* assertedByHost(principal)
          const { membership, state } = yield* states.read(principal.organizationId, {
            by: "anchor",
            id: principal.anchorEntityId
          })
          return yield* admitted(state, membership, principal, { anchorId: principal.anchorEntityId })
        })
      })
    })
  )
}
