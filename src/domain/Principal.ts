/** Who is asking: rebuilt on every call from the membership, never from a model or a request body. */
import { Context } from "effect"
import type { AttributeValue } from "./attributes.ts"
import type { Vouched } from "./Vouched.ts"

export type { AttributeValue }

/** A second party that acts for the principal: what may be seen is what both may see. */
export interface Actor {
  readonly id: string
  readonly roles: ReadonlyArray<string>
  readonly attributes: Readonly<Record<string, AttributeValue>>
}

/** One thing that a tool scope leaves open: an action on a type, by key, with all of its columns or with some. */
export interface ScopeGrant {
  readonly type: string
  readonly action: string
  readonly columns: "*" | ReadonlyArray<string>
}

export interface Principal {
  readonly organizationId: bigint
  /** The principal's own People entity; empty for somebody whom a host vouches for without saying who it is. */
  readonly anchorEntityId: string
  readonly roles: ReadonlyArray<string>
  /** Roles that the proof of this call carries; they count instead of the membership's. */
  readonly claimedRoles?: ReadonlyArray<string>
  readonly attributes: Readonly<Record<string, AttributeValue>>
  /** What a trusted host says of a person whom it has identified: it counts instead of a membership. */
  readonly vouched?: Vouched
  readonly actor?: Actor
  /** What the token or tool of this call may be used for, whoever holds it: it takes away and never grants. */
  readonly scope?: ReadonlyArray<ScopeGrant>
  /** The state of policy, membership and catalog that this principal was built from. */
  readonly epoch: bigint
}

/** The caller of this call. Provide it per call with `Effect.provideService`; as a Layer it would be shared. */
export class CurrentPrincipal extends Context.Service<CurrentPrincipal, Principal>()("max/domain/CurrentPrincipal") {}
