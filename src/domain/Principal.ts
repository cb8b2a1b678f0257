/** Who is asking: rebuilt on every call from the membership, never from a model or a request body. */
import { Context } from "effect"

export type AttributeValue = string | number | boolean

/** A second party that acts for the principal: what may be seen is what both may see. */
export interface Actor {
  readonly id: string
  readonly roles: ReadonlyArray<string>
  readonly attributes: Readonly<Record<string, AttributeValue>>
}

export interface Principal {
  readonly organizationId: bigint
  /** The principal's own People entity. */
  readonly anchorEntityId: string
  readonly roles: ReadonlyArray<string>
  /** Roles that the proof of this call carries; they count instead of the membership's. */
  readonly claimedRoles?: ReadonlyArray<string>
  readonly attributes: Readonly<Record<string, AttributeValue>>
  readonly actor?: Actor
  /** The state of policy, membership and catalog that this principal was built from. */
  readonly epoch: bigint
}

/** The caller of this call. Provide it per call with `Effect.provideService`; as a Layer it would be shared. */
export class CurrentPrincipal extends Context.Service<CurrentPrincipal, Principal>()("max/domain/CurrentPrincipal") {}
