/**
 * Who may come in from outside: one way for tokens, sessions and signed tokens of identity providers, asked on every
 * request. What was found of a credential is remembered for as long as the organization's epoch stands, which is read
 * anew each time: whatever ends a credential, a membership or a provider raises it.
 */
import { Context, Effect, Layer } from "effect"
import { Database } from "../database/Database.ts"
import { orUnavailable } from "../database/read.ts"
import { NotAdmitted, NotAuthenticated, NotInScope, type TooManyCalls, type Unavailable } from "../domain/errors.ts"
import type { Principal } from "../domain/Principal.ts"
import { administers } from "../permissions/Policy.ts"
import { CallLimits } from "./CallLimits.ts"
import { Credentials, type Presented, type Scope, sha256 } from "./Credentials.ts"
import { IdentityProviders } from "./IdentityProviders.ts"
import { IdentityResolver } from "./IdentityResolver.ts"
import { Refusals } from "./Refusals.ts"
import { Strangers } from "./Strangers.ts"

/** A proof as it was sent. */
export interface Proof {
  readonly by: "bearer" | "session"
  readonly secret: string
}

/** Somebody who was let in. */
export interface Caller {
  readonly principal: Principal
  readonly scopes: ReadonlyArray<Scope>
  readonly by: "token" | "session" | "provider"
  /** The token's or session's id; a provider's token has none. */
  readonly credentialId?: string
}

interface Known {
  readonly caller: Caller
  readonly expiresAt: number
}

/**
 * What a credential is good for in these hands, as the policy is now. A token is for what it was made for, and for
 * administering only when its member's roles are; at a browser whoever administers may see where the time goes, too.
 */
const scopesOf = (by: "token" | "session", { scopes }: Presented, may: boolean): ReadonlyArray<Scope> =>
  by === "token" ? scopes.filter((scope) => scope !== "admin" || may) : may ? [...scopes, "admin", "traces"] : scopes

/** What a person whom an identity provider vouches for may do; what exactly is decided by roles. */
const PROVIDER_SCOPES: ReadonlyArray<Scope> = ["tools", "chat"]
/** A provider's key that is withdrawn is not believed for longer than this. */
const PROVIDER_MS = 60_000
const MAX_KNOWN = 5000

export type AdmissionError = NotAuthenticated | NotInScope | NotAdmitted | TooManyCalls | Unavailable

export class Admission extends Context.Service<
  Admission,
  {
    /** Lets a proof in for a scope (or for whatever it is good for), and counts a call when there is one to count. */
    readonly admit: (
      proof: Proof,
      need: { readonly scope?: Scope | undefined; readonly calls: 0 | 1 }
    ) => Effect.Effect<Caller, AdmissionError>
    /** Counts a call of somebody who was let in without one, such as one of several in a message. */
    readonly count: (principal: Principal) => Effect.Effect<void, TooManyCalls | Unavailable>
  }
>()("max/services/Admission") {
  static readonly layer = Layer.effect(
    Admission,
    Effect.gen(function* () {
      const { admission } = yield* Database
      const credentials = yield* Credentials
      const identities = yield* IdentityResolver
      const limits = yield* CallLimits
      const providers = yield* IdentityProviders
      const refusals = yield* Refusals
      const strangers = yield* Strangers
      const known = new Map<string, Known>()

      const remember = (key: string, found: Known) => {
        if (known.size >= MAX_KNOWN) known.delete(known.keys().next().value!)
        known.set(key, found)
        return found.caller
      }

      const byCredential = Effect.fnUntraced(function* (by: "token" | "session", presented: Presented) {
        const { principal, state } = yield* identities.readmit({
          organizationId: presented.organizationId,
          anchorEntityId: presented.anchorId
        })
        const scopes = scopesOf(by, presented, administers(state.policy, principal.roles))
        return {
          caller: { principal, scopes, by, credentialId: presented.id },
          expiresAt: presented.expiresAt.getTime()
        } satisfies Known
      })

      const byProvider = Effect.fnUntraced(function* (jwt: string) {
        const { claimedRoles, email, expiresAt, organizationId, subject } = yield* providers.verify(jwt)
        // A subject that is bound decides alone: an address never lets in whom a subject was bound to keep out.
        const [bound] = yield* orUnavailable(admission<{ anchor_id: string }>`/* max bound */
          SELECT anchor_id FROM max.identifiers WHERE organization_id = ${organizationId}
            AND ((kind = 'subject' AND key = ${subject ?? null}::text) OR (kind = 'email' AND key = ${email ?? null}::text))
          ORDER BY kind = 'subject' DESC LIMIT 1`)
        if (bound === undefined) {
          refusals.record({ organizationId, actor: "nobody", action: "admission.refused", subject: "provider" })
          return yield* NotAdmitted.error
        }
        const { principal } = yield* identities.readmit({
          organizationId,
          anchorEntityId: bound.anchor_id,
          ...(claimedRoles === undefined ? {} : { claimedRoles })
        })
        return {
          caller: { principal, scopes: PROVIDER_SCOPES, by: "provider" },
          expiresAt: Math.min(expiresAt.getTime(), Date.now() + PROVIDER_MS)
        } satisfies Known
      })

      const find = (proof: Proof) => strangers.attempt(look(proof))

      const look = (proof: Proof): Effect.Effect<Known, NotAuthenticated | NotAdmitted | Unavailable> => {
        if (proof.by === "session") {
          return Effect.flatMap(credentials.present("session", proof.secret), (found) => byCredential("session", found))
        }
        return proof.secret.startsWith("max_")
          ? Effect.flatMap(credentials.present("token", proof.secret), (found) => byCredential("token", found))
          : byProvider(proof.secret)
      }

      const inScope = (caller: Caller, scope: Scope | undefined): Effect.Effect<void, NotInScope> =>
        scope === undefined || caller.scopes.includes(scope)
          ? Effect.void
          : Effect.fail(
              new NotInScope({
                message:
                  scope === "admin"
                    ? `Only somebody whose role administers may do this ("administers": true in the policy), signed in or with a token for admin.`
                    : `This token isn't for ${scope}. max token create --scope ${scope} makes one that is.`
              })
            )

      const admit = Effect.fnUntraced(function* (
        proof: Proof,
        need: { readonly scope?: Scope | undefined; readonly calls: 0 | 1 }
      ) {
        const key = `${proof.by} ${sha256(proof.secret).toString("base64")}`
        const before = known.get(key)
        const remembered = before !== undefined && before.expiresAt > Date.now() ? before.caller : undefined
        // Which scopes somebody has depends on the policy: what isn't in those that are remembered is looked up anew.
        const isGood = remembered !== undefined && (need.scope === undefined || remembered.scopes.includes(need.scope))
        const caller = isGood ? remembered : remember(key, yield* find(proof))
        yield* inScope(caller, need.scope)
        const { anchorEntityId, organizationId } = caller.principal
        const { epoch } = yield* limits.take(organizationId, anchorEntityId, need.calls)
        if (epoch === caller.principal.epoch) return caller
        // Something ended or changed since this was remembered: whatever is in force now decides.
        known.delete(key)
        const now = remember(key, yield* find(proof))
        yield* inScope(now, need.scope)
        return now
      })

      return Admission.of({
        admit,
        count: ({ anchorEntityId, organizationId }) => Effect.asVoid(limits.take(organizationId, anchorEntityId, 1))
      })
    })
  )
}
