/**
 * Admission of remote callers by token, session or identity provider's JWT, evaluated on every request. The result of a
 * credential is cached with the organization's epoch and checked against the current one each time: revoking a
 * credential, a membership or a provider raises it.
 */
import { Context, Effect, Layer } from "effect"
import { hash } from "node:crypto"
import { UNIDENTIFIED } from "../../database/audit.ts"
import { Database } from "../../database/Database.ts"
import { CurrentPosition } from "../../database/positions.ts"
import { NotAdmitted, NotAuthenticated, NotInScope, type TooManyCalls, type Unavailable } from "../../domain/errors.ts"
import { FurtherCalls } from "../../domain/FurtherCalls.ts"
import type { Principal } from "../../domain/Principal.ts"
import { administers } from "../../permissions/Policy.ts"
import { boundMember } from "./boundMember.ts"
import { CallLimits, type Counting } from "./CallLimits.ts"
import { Credentials, type Scope, type ValidCredential } from "./Credentials.ts"
import { IdentityProviders } from "./IdentityProviders.ts"
import { IdentityResolver } from "../members/IdentityResolver.ts"
import { Refusals } from "../audit/Refusals.ts"
import { FailedAuthThrottle } from "./FailedAuthThrottle.ts"

/** A credential as the client sent it. */
export interface Proof {
  readonly by: "bearer" | "session"
  readonly secret: string
}

/** An admitted caller. */
export interface Caller {
  readonly principal: Principal
  readonly scopes: ReadonlyArray<Scope>
  readonly by: "token" | "session" | "provider"
  /** The token's or session's id; undefined for a provider's JWT. */
  readonly credentialId?: string
  /** When the credential expires, in milliseconds since 1970. */
  readonly expiresAt: number
}

/** What a request needs from its caller. */
export interface Need {
  /** The required scope; without one every valid credential suffices. */
  readonly scope?: Scope | undefined
  /** Whether the request counts against the rate limits. */
  readonly calls: 0 | 1
  /** Whether the request only reads and checks the epoch itself: it then runs while its call is being counted. */
  readonly reads?: boolean | undefined
}

interface Authenticated {
  readonly caller: Caller
  /** By this process's monotonic clock (`performance.now`), because its wall clock may differ from the database's. */
  readonly validUntil: number
  /** The epoch read together with the credential; a later one may already include its revocation. */
  readonly epoch: bigint
}

interface Cached extends Authenticated {
  /** Whether the last call exceeded a rate limit. */
  throttled: boolean
}

/**
 * The effective scopes of a credential under the current policy. A token keeps `admin` only while its member's roles
 * administer; an administrator's session gains `admin` and `traces`.
 */
const scopesOf = (
  by: "token" | "session",
  { scopes }: ValidCredential,
  isAdministrator: boolean
): ReadonlyArray<Scope> =>
  by === "token"
    ? scopes.filter((scope) => scope !== "admin" || isAdministrator)
    : isAdministrator
      ? [...scopes, "admin", "traces"]
      : scopes

/** The scopes of a provider's JWT; roles decide about the data. */
const PROVIDER_SCOPES: ReadonlyArray<Scope> = ["tools", "chat"]
/** How long a verified JWT is cached, and so the longest use of a withdrawn signing key, in milliseconds. */
const PROVIDER_CACHE_MS = 60_000
const MAX_CACHED = 5000

export type AdmissionError = NotAuthenticated | NotInScope | NotAdmitted | TooManyCalls | Unavailable

/** The cache key of a credential: a hash, so that no secret stays in memory. */
const keyOf = ({ by, secret }: Proof): string => `${by} ${hash("sha256", secret, "base64")}`

export class Admission extends Context.Service<
  Admission,
  {
    /** Admits a proof for the needed scope, and counts the call if the request counts. */
    readonly admit: (proof: Proof, need: Need) => Effect.Effect<Caller, AdmissionError>
    /** Runs `use` for the admitted caller. With `reads` it may run speculatively: its result is discarded on refusal. */
    readonly admitted: <A, R>(
      proof: Proof,
      need: Need,
      use: (caller: Caller) => Effect.Effect<A, never, R>
    ) => Effect.Effect<A, AdmissionError, R>
    /** Counts a call of a caller who was admitted without one, such as a tool call within an MCP message. */
    readonly count: (principal: Principal) => Effect.Effect<void, TooManyCalls | Unavailable>
  }
>()("max/services/Admission") {
  static readonly layer = Layer.effect(
    Admission,
    Effect.gen(function* () {
      const { admission, replicas } = yield* Database
      const credentials = yield* Credentials
      const identities = yield* IdentityResolver
      const limits = yield* CallLimits
      const providers = yield* IdentityProviders
      const refusals = yield* Refusals
      const throttle = yield* FailedAuthThrottle
      const cache = new Map<string, Cached>()

      const lookUp = (key: string): Cached | undefined => {
        const cached = cache.get(key)
        return cached !== undefined && cached.validUntil > performance.now() ? cached : undefined
      }

      const byCredential = Effect.fnUntraced(function* (by: "token" | "session", credential: ValidCredential) {
        const { principal, state } = yield* identities.readmit({
          organizationId: credential.organizationId,
          anchorEntityId: credential.anchorId,
          ...(credential.claimedRoles === undefined ? {} : { claimedRoles: credential.claimedRoles })
        })
        const scopes = scopesOf(by, credential, administers(state.policy, principal.roles))
        return {
          caller: { principal, scopes, by, credentialId: credential.id, expiresAt: Date.now() + credential.validFor },
          validUntil: performance.now() + credential.validFor,
          epoch: credential.epoch
        } satisfies Authenticated
      })

      const byProvider = Effect.fnUntraced(function* (jwt: string) {
        const identity = yield* providers.verify(jwt)
        const { claimedRoles, epoch, expiresAt, organizationId } = identity
        const anchorEntityId = yield* boundMember(admission, identity)
        if (anchorEntityId === undefined) {
          refusals.record({ organizationId, actor: UNIDENTIFIED, action: "admission.refused", subject: "provider" })
          return yield* NotAdmitted.error
        }
        const { principal } = yield* identities.readmit({
          organizationId,
          anchorEntityId,
          ...(claimedRoles === undefined ? {} : { claimedRoles })
        })
        return {
          caller: { principal, scopes: PROVIDER_SCOPES, by: "provider", expiresAt: expiresAt.getTime() },
          validUntil: performance.now() + Math.min(expiresAt.getTime() - Date.now(), PROVIDER_CACHE_MS),
          epoch
        } satisfies Authenticated
      })

      const authenticate = ({
        by,
        secret
      }: Proof): Effect.Effect<Authenticated, NotAuthenticated | NotAdmitted | Unavailable> => {
        if (by === "bearer" && !secret.startsWith("max_")) return byProvider(secret)
        const kind = by === "session" ? "session" : "token"
        return Effect.flatMap(credentials.verify(kind, secret), (credential) => byCredential(kind, credential))
      }

      /**
       * Authenticates a proof again, and replaces its cache entry. The throttle applies to credentials that this process has
       * never admitted: a change of the epoch must not lock out active callers of an attacker's address.
       */
      const reload = (key: string, proof: Proof) =>
        Effect.suspend(() => {
          const authentication = authenticate(proof)
          return (cache.has(key) ? authentication : throttle.attempt(authentication)).pipe(
            Effect.tapError(({ _tag }) => Effect.sync(() => _tag !== "Unavailable" && cache.delete(key))),
            Effect.map((authenticated): Cached => {
              cache.delete(key)
              if (cache.size >= MAX_CACHED) cache.delete(cache.keys().next().value!)
              const entry = { ...authenticated, throttled: false }
              cache.set(key, entry)
              return entry
            })
          )
        })

      const inScope = ({ caller }: Authenticated, scope: Scope | undefined): Effect.Effect<Caller, NotInScope> =>
        scope === undefined || caller.scopes.includes(scope)
          ? Effect.succeed(caller)
          : Effect.fail(
              new NotInScope({
                message:
                  scope === "admin"
                    ? `This needs a role with "administers" in the policy, and a session or a token with the scope admin.`
                    : `This token lacks the scope ${scope}. max token create --scope ${scope} creates one with it.`
              })
            )

      const count = ({ anchorEntityId, organizationId }: Principal, calls: number) =>
        Effect.asVoid(Effect.flatten(limits.begin(organizationId, anchorEntityId, calls)))

      const beginCount = ({ caller: { principal } }: Authenticated, calls: 0 | 1) =>
        limits.begin(principal.organizationId, principal.anchorEntityId, calls)

      /** Awaits the count of a call, and says whether the cached caller is current: of the same epoch. */
      const isCurrent = (cached: Cached, counting: Counting) =>
        Effect.matchEffect(counting, {
          onFailure: (error) => {
            cached.throttled = error._tag === "TooManyCalls"
            return Effect.fail(error)
          },
          onSuccess: ({ epoch }) => {
            cached.throttled = false
            return Effect.succeed(epoch === cached.epoch)
          }
        })

      const admit = Effect.fnUntraced(function* (proof: Proof, need: Need) {
        const key = keyOf(proof)
        const cached = lookUp(key)
        // Scopes depend on the policy, so a scope that the cached caller lacks reloads the entry.
        const isUsable = cached !== undefined && (need.scope === undefined || cached.caller.scopes.includes(need.scope))
        const entry = isUsable ? cached : yield* reload(key, proof)
        const caller = yield* inScope(entry, need.scope)
        if (yield* isCurrent(entry, yield* beginCount(entry, need.calls))) return caller
        return yield* inScope(yield* reload(key, proof), need.scope)
      })

      /** The position that the count reads serves the lookups that run meanwhile. */
      const proven = <A, R>(
        effect: Effect.Effect<A, never, R>,
        { caller: { principal } }: Cached,
        counting: Counting
      ): Effect.Effect<A, never, R> => {
        if (replicas.length === 0) return effect
        const read = Effect.matchEffect(counting, {
          onFailure: () => Effect.undefined,
          onSuccess: ({ epoch, version }) => Effect.succeed(epoch === undefined ? undefined : { epoch, version })
        })
        return Effect.provideService(effect, CurrentPosition, { organizationId: principal.organizationId, read })
      }

      const admitted = <A, R>(
        proof: Proof,
        need: Need,
        answer: (caller: Caller) => Effect.Effect<A, never, R>
      ): Effect.Effect<A, AdmissionError, R> =>
        Effect.suspend(() => {
          const use = (caller: Caller) => Effect.provideService(answer(caller), FurtherCalls, count)
          const key = keyOf(proof)
          const cached = need.reads === true ? lookUp(key) : undefined
          // Speculative work runs only for cached, unthrottled callers.
          if (cached === undefined || cached.throttled) return Effect.flatMap(admit(proof, need), use)
          return Effect.flatMap(inScope(cached, need.scope), (caller) =>
            Effect.flatMap(beginCount(cached, need.calls), (counting) =>
              Effect.flatMap(proven(use(caller), cached, counting), (result) =>
                Effect.flatMap(isCurrent(cached, counting), (current) =>
                  current
                    ? Effect.succeed(result)
                    : Effect.flatMap(
                        Effect.flatMap(reload(key, proof), (entry) => inScope(entry, need.scope)),
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
        count: (principal) => count(principal, 1)
      })
    })
  )
}
