/**
 * Who may come in from outside: one way for tokens, sessions and signed tokens of identity providers, asked on every
 * request. What was found of a credential is remembered for as long as the organization's epoch stands, which is read
 * anew each time: whatever ends a credential, a membership or a provider raises it.
 */
import { Context, Effect, Layer } from "effect"
import { hash } from "node:crypto"
import { Database } from "../../database/Database.ts"
import { orUnavailable } from "../../database/execute.ts"
import { NotAdmitted, NotAuthenticated, NotInScope, type TooManyCalls, type Unavailable } from "../../domain/errors.ts"
import type { Principal } from "../../domain/Principal.ts"
import { administers } from "../../permissions/Policy.ts"
import { CallLimits, type Counting } from "./CallLimits.ts"
import { Credentials, type Presented, type Scope } from "./Credentials.ts"
import { IdentityProviders } from "./IdentityProviders.ts"
import { IdentityResolver } from "../members/IdentityResolver.ts"
import { Refusals } from "../audit/Refusals.ts"
import { FailedAuthThrottle } from "./FailedAuthThrottle.ts"

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

/** What a request asks for. */
export interface Need {
  /** What the credential has to be good for; without it any that is in force will do. */
  readonly scope?: Scope | undefined
  /** Whether the request counts against the limits. */
  readonly calls: 0 | 1
  /** Whether it only reads and holds the epoch itself: then it is done while its call is being counted. */
  readonly reads?: boolean | undefined
}

interface Known {
  readonly caller: Caller
  readonly expiresAt: number
  /** The epoch under which the credential was in force: not a later one, which may be that of its end. */
  readonly epoch: bigint
}

interface Remembered extends Known {
  /** Whether the last call was one too many. */
  refused: boolean
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

/** What a credential is remembered by; its text is kept nowhere. */
const keyOf = ({ by, secret }: Proof): string => `${by} ${hash("sha256", secret, "base64")}`

export class Admission extends Context.Service<
  Admission,
  {
    /** Lets a proof in for a scope (or for whatever it is good for), and counts a call when there is one to count. */
    readonly admit: (proof: Proof, need: Need) => Effect.Effect<Caller, AdmissionError>
    /** Does something for whom a proof lets in. What only reads may have run before the answer is that nobody is let in. */
    readonly admitted: <A, R>(
      proof: Proof,
      need: Need,
      use: (caller: Caller) => Effect.Effect<A, never, R>
    ) => Effect.Effect<A, AdmissionError, R>
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
      const throttle = yield* FailedAuthThrottle
      const known = new Map<string, Remembered>()

      const remembered = (key: string): Remembered | undefined => {
        const before = known.get(key)
        return before !== undefined && before.expiresAt > Date.now() ? before : undefined
      }

      const byCredential = Effect.fnUntraced(function* (by: "token" | "session", presented: Presented) {
        const { principal, state } = yield* identities.readmit({
          organizationId: presented.organizationId,
          anchorEntityId: presented.anchorId
        })
        const scopes = scopesOf(by, presented, administers(state.policy, principal.roles))
        return {
          caller: { principal, scopes, by, credentialId: presented.id },
          expiresAt: presented.expiresAt.getTime(),
          epoch: presented.epoch
        } satisfies Known
      })

      const byProvider = Effect.fnUntraced(function* (jwt: string) {
        const { claimedRoles, email, epoch, expiresAt, organizationId, subject } = yield* providers.verify(jwt)
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
          expiresAt: Math.min(expiresAt.getTime(), Date.now() + PROVIDER_MS),
          epoch
        } satisfies Known
      })

      const find = (proof: Proof) => throttle.attempt(look(proof))

      const look = (proof: Proof): Effect.Effect<Known, NotAuthenticated | NotAdmitted | Unavailable> => {
        if (proof.by === "session") {
          return Effect.flatMap(credentials.present("session", proof.secret), (found) => byCredential("session", found))
        }
        return proof.secret.startsWith("max_")
          ? Effect.flatMap(credentials.present("token", proof.secret), (found) => byCredential("token", found))
          : byProvider(proof.secret)
      }

      /** What is in force now, whatever was remembered. */
      const findAnew = (key: string, proof: Proof) =>
        Effect.suspend(() => {
          known.delete(key)
          return Effect.map(find(proof), (found): Remembered => {
            if (known.size >= MAX_KNOWN) known.delete(known.keys().next().value!)
            const made = { ...found, refused: false }
            known.set(key, made)
            return made
          })
        })

      const inScope = ({ caller }: Known, scope: Scope | undefined): Effect.Effect<Caller, NotInScope> =>
        scope === undefined || caller.scopes.includes(scope)
          ? Effect.succeed(caller)
          : Effect.fail(
              new NotInScope({
                message:
                  scope === "admin"
                    ? `Only somebody whose role administers may do this ("administers": true in the policy), signed in or with a token for admin.`
                    : `This token isn't for ${scope}. max token create --scope ${scope} makes one that is.`
              })
            )

      const begin = ({ caller: { principal } }: Known, calls: 0 | 1) =>
        limits.begin(principal.organizationId, principal.anchorEntityId, calls)

      /** Whether a call was granted and nothing ended or changed since what was found of its caller. */
      const stands = (found: Remembered, counting: Counting) =>
        Effect.matchEffect(counting, {
          onFailure: (error) => {
            found.refused = error._tag === "TooManyCalls"
            return Effect.fail(error)
          },
          onSuccess: ({ epoch }) => {
            found.refused = false
            return Effect.succeed(epoch === found.epoch)
          }
        })

      const admit = Effect.fnUntraced(function* (proof: Proof, need: Need) {
        const key = keyOf(proof)
        const before = remembered(key)
        // Which scopes somebody has depends on the policy: what isn't in those that are remembered is looked up anew.
        const isGood = before !== undefined && (need.scope === undefined || before.caller.scopes.includes(need.scope))
        const found = isGood ? before : yield* findAnew(key, proof)
        const caller = yield* inScope(found, need.scope)
        if (yield* stands(found, yield* begin(found, need.calls))) return caller
        return yield* inScope(yield* findAnew(key, proof), need.scope)
      })

      const admitted = <A, R>(
        proof: Proof,
        need: Need,
        use: (caller: Caller) => Effect.Effect<A, never, R>
      ): Effect.Effect<A, AdmissionError, R> =>
        Effect.suspend(() => {
          const key = keyOf(proof)
          const before = need.reads === true ? remembered(key) : undefined
          // For nobody who isn't known, and nobody whose last call was one too many, anything is done ahead.
          if (before === undefined || before.refused) return Effect.flatMap(admit(proof, need), use)
          return Effect.flatMap(inScope(before, need.scope), (caller) =>
            Effect.flatMap(begin(before, need.calls), (counting) =>
              Effect.flatMap(use(caller), (done) =>
                Effect.flatMap(stands(before, counting), (stood) =>
                  stood
                    ? Effect.succeed(done)
                    : Effect.flatMap(
                        Effect.flatMap(findAnew(key, proof), (found) => inScope(found, need.scope)),
                        use
                      )
                )
              )
            )
          )
        })

      return Admission.of({
        admit,
        admitted,
        count: ({ anchorEntityId, organizationId }) =>
          Effect.asVoid(Effect.flatten(limits.begin(organizationId, anchorEntityId, 1)))
      })
    })
  )
}
