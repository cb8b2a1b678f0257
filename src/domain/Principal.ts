/** The caller's identity and rights, built for every call from the membership and never from a model or a request body. */
import { Context } from "effect"
import type { AttributeValue } from "./attributes.ts"
import type { Vouched } from "./Vouched.ts"

export type { AttributeValue }

/** A second party that acts for the principal. Access is the intersection of both plans. */
export interface Actor {
  readonly id: string
  readonly roles: ReadonlyArray<string>
  readonly attributes: Readonly<Record<string, AttributeValue>>
}

/** One grant of a tool scope: an action on a type, on all or some of its columns, by key. */
export interface ScopeGrant {
  readonly type: string
  readonly action: string
  readonly columns: "*" | ReadonlyArray<string>
}

export interface Principal {
  readonly organizationId: bigint
  /** The principal's own People entity; empty when a host asserts a principal without a subject. */
  readonly anchorEntityId: string
  readonly roles: ReadonlyArray<string>
  /** Roles from the credential of this call; they replace the membership's. */
  readonly claimedRoles?: ReadonlyArray<string>
  readonly attributes: Readonly<Record<string, AttributeValue>>
  /** Asserted by the host, which has authenticated the person; it replaces a membership. */
  readonly vouched?: Vouched
  readonly actor?: Actor
  /** The tool scope of this call's token or tool. It only narrows access. */
  readonly scope?: ReadonlyArray<ScopeGrant>
  /** The epoch of the policy, membership and catalog that this principal was built from. */
  readonly epoch: bigint
}

/** The principal of this call. Provide it per call with `Effect.provideService`: a Layer would share it between calls. */
export class CurrentPrincipal extends Context.Service<CurrentPrincipal, Principal>()("max/domain/CurrentPrincipal") {}
