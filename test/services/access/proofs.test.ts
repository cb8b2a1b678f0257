/** Admission by token, session and provider's JWT: the caller, its scopes, the cache, and what runs while a call is counted. */
import { layer } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { expect } from "vitest"
import { UNIDENTIFIED } from "../../../src/database/audit.ts"
import { Database } from "../../../src/database/Database.ts"
import { CurrentPosition } from "../../../src/database/positions.ts"
import type { Organization } from "../../../src/domain/EntityType.ts"
import { NotAdmitted, NotAuthenticated, TooManyCalls, Unavailable } from "../../../src/domain/errors.ts"
import { Admission, type Need, type Proof } from "../../../src/services/access/Admission.ts"
import { CallLimits } from "../../../src/services/access/CallLimits.ts"
import { Credentials, type Scope } from "../../../src/services/access/Credentials.ts"
import { FailedAuthThrottle } from "../../../src/services/access/FailedAuthThrottle.ts"
import { IdentityProviders } from "../../../src/services/access/IdentityProviders.ts"
import { subjectKey } from "../../../src/services/access/jwt.ts"
import { Refusals } from "../../../src/services/audit/Refusals.ts"
import { Memberships } from "../../../src/services/members/Memberships.ts"
import { makeOrganization } from "../../support/atlas.ts"
import { TestServices } from "../../support/database.ts"
import { memberWithToken } from "../../support/members.ts"
import { inOneMinute } from "../../support/minute.ts"
import { startProvider } from "../../support/provider.ts"

const REFUSED = NotAuthenticated.error
const PERSON: ReadonlyArray<Scope> = ["tools", "chat", "export", "changes", "confirm"]
const TOOLS: Need = { scope: "tools", calls: 0 }
const READS: Need = { scope: "tools", calls: 0, reads: true }
const bearer = (secret: string): Proof => ({ by: "bearer", secret })
const session = (secret: string): Proof => ({ by: "session", secret })

/** Admission over the services of the file; counts what it verifies and throttles, and can lose its database. */
const start = Effect.fnUntraced(function* (perPerson = 1000, hasReplicas = false) {
  const state = { verified: 0, throttled: 0, unverifiable: false, uncounted: false, read: 0 }
  const verifying = <A, E>(verified: Effect.Effect<A, E>): Effect.Effect<A, E | Unavailable> =>
    Effect.suspend((): Effect.Effect<A, E | Unavailable> => {
      state.verified += 1
      return state.unverifiable ? Effect.fail(Unavailable.error) : verified
    })
  const watched = Layer.mergeAll(
    Layer.effect(
      Credentials,
      Effect.map(Credentials, (all) =>
        Credentials.of({ ...all, verify: (kind, secret) => verifying(all.verify(kind, secret)) })
      )
    ),
    Layer.effect(
      IdentityProviders,
      Effect.map(IdentityProviders, (all) =>
        IdentityProviders.of({ ...all, verify: (jwt) => verifying(all.verify(jwt)) })
      )
    ),
    Layer.effect(
      CallLimits,
      Effect.map(CallLimits, ({ begin }) =>
        CallLimits.of({
          begin: (...call) =>
            Effect.suspend(() => (state.uncounted ? Effect.succeed(Effect.fail(Unavailable.error)) : begin(...call)))
        })
      )
    ).pipe(Layer.provide(CallLimits.layer({ perPerson, perOrganization: 10_000 }))),
    Layer.effect(
      Database,
      Effect.map(Database, (database) =>
        Database.of({ ...database, replicas: hasReplicas ? ([database.lookup] as never) : [] })
      )
    ),
    Layer.succeed(FailedAuthThrottle, {
      attempt: (authenticate) =>
        Effect.suspend(() => {
          state.throttled += 1
          return authenticate
        })
    })
  )
  const scope = yield* Effect.scope
  const admission = Context.get(
    yield* Layer.buildWithScope(Layer.fresh(Admission.layer.pipe(Layer.provide(watched))), scope),
    Admission
  )
  return {
    ...admission,
    state,
    /** Runs a read for the caller, and returns how many reads have run. */
    ask: (proof: Proof, need: Need = READS) => admission.admitted(proof, need, () => Effect.sync(() => ++state.read))
  }
})

/** A change of the organization, which gives it a new epoch. */
const change = Effect.fnUntraced(function* (organization: Organization, anchorId: string) {
  const credentials = yield* Credentials
  const { id } = yield* credentials.createToken(organization, { anchorId, name: "n", scopes: ["tools"], days: 1 })
  yield* credentials.revokeToken(organization, id)
})

const member = Effect.fnUntraced(function* (slug: string, role = "admin", scopes?: ReadonlyArray<Scope>) {
  const organization = yield* makeOrganization(slug)
  const email = `lena@${slug}.com`
  const { anchorId, id, token } = yield* memberWithToken(organization, email, [role], scopes)
  const members = yield* Memberships
  return {
    organization,
    anchorId,
    id,
    proof: bearer(token),
    change: change(organization, anchorId),
    becomes: (next: string) => members.add(organization, { identifier: email, roles: [next] })
  }
})

/** The monotonic clock of this process, so much later. */
const later = (milliseconds: number) => {
  const now = performance.now.bind(performance)
  return Effect.acquireRelease(
    Effect.sync(() => void (performance.now = () => now() + milliseconds)),
    () => Effect.sync(() => void (performance.now = now))
  )
}

const isAbout = (found: number, wanted: number) => {
  expect(found).toBeLessThanOrEqual(wanted + 60_000)
  expect(found).toBeGreaterThan(wanted - 600_000)
}

layer(TestServices, { excludeTestServices: true })("admission", (it) => {
  it.effect("of a token gives its member, scopes and end", () =>
    Effect.gen(function* () {
      const { admit, state } = yield* start()
      const { anchorId, id, organization, proof } = yield* member("token", "member", ["tools", "traces"])
      const { expiresAt, principal, ...caller } = yield* admit(proof, TOOLS)
      expect(caller).toEqual({ scopes: ["tools", "traces"], by: "token", credentialId: id })
      expect(principal).toMatchObject({
        organizationId: organization.id,
        anchorEntityId: anchorId,
        roles: ["member"]
      })
      isAbout(expiresAt, Date.now() + 86_400_000)
      expect((yield* admit(proof, { calls: 0 })).credentialId).toBe(id)
      // Each proof has its own caller.
      const other = yield* member("token-other")
      expect((yield* admit(other.proof, TOOLS)).principal.anchorEntityId).toBe(other.anchorId)
      expect((yield* admit(proof, TOOLS)).principal.anchorEntityId).toBe(anchorId)
      expect(state.verified, "each is verified once").toBe(2)
    })
  )

  it.effect("of a session gives the scopes of a person, and of an administrator two more", () =>
    Effect.gen(function* () {
      const { admit } = yield* start()
      const credentials = yield* Credentials
      const { anchorId, becomes, organization } = yield* member("session")
      const { id, secret } = yield* credentials.beginSession(organization.id, anchorId, { seconds: 7200 })
      const { expiresAt, principal, ...caller } = yield* admit(session(secret), TOOLS)
      expect(caller).toEqual({ scopes: [...PERSON, "admin", "traces"], by: "session", credentialId: id })
      expect(principal.roles).toEqual(["admin"])
      isAbout(expiresAt, Date.now() + 7_200_000)
      yield* becomes("member")
      expect((yield* admit(session(secret), TOOLS)).scopes).toEqual(PERSON)
      const claiming = yield* credentials.beginSession(organization.id, anchorId, {
        seconds: 60,
        claimedRoles: ["admin", "sales"]
      })
      expect((yield* admit(session(claiming.secret), TOOLS)).principal.claimedRoles).toEqual(["admin", "sales"])
      expect(principal).not.toHaveProperty("claimedRoles")
    })
  )

  it.effect("refuses a proof of another kind, and an invented one", () =>
    Effect.gen(function* () {
      const { admit } = yield* start()
      const credentials = yield* Credentials
      const { anchorId, organization, proof } = yield* member("kinds")
      const { secret } = yield* credentials.beginSession(organization.id, anchorId, { seconds: 60 })
      yield* admit(proof, TOOLS)
      yield* admit(session(secret), TOOLS)
      for (const wrong of [session(proof.secret), bearer(secret), bearer("max_x"), bearer("x.y.z"), session("x")])
        expect(yield* Effect.flip(admit(wrong, TOOLS))).toEqual(REFUSED)
    })
  )

  it.effect("needs the scope, which a token of an administrator's keeps only while its member administers", () =>
    Effect.gen(function* () {
      const { admit, admitted, state } = yield* start()
      const { owner } = yield* Database
      const { becomes, id, proof } = yield* member("scopes", "admin", ["tools", "admin"])
      expect((yield* admit(proof, { scope: "admin", calls: 0 })).scopes).toEqual(["tools", "admin"])
      const chat = "This token lacks the scope chat. max token create --scope chat creates one with it."
      expect(yield* Effect.flip(admit(proof, { scope: "chat", calls: 0 }))).toMatchObject({
        _tag: "NotInScope",
        message: chat
      })
      const refused = yield* Effect.flip(
        admitted(proof, { scope: "chat", calls: 0, reads: true }, () => Effect.sync(() => (state.read += 1)))
      )
      expect([refused.message, state.read]).toEqual([chat, 0])
      yield* becomes("member")
      const admin = `This needs a role with "administers" in the policy, and a session or a token with the scope admin.`
      for (const _ of [1, 2])
        expect((yield* Effect.flip(admit(proof, { scope: "admin", calls: 0 }))).message).toBe(admin)
      expect((yield* admit(proof, TOOLS)).scopes).toEqual(["tools"])
      // A scope that the cached caller lacks is looked up again.
      yield* owner`UPDATE max.credentials SET scopes = '{tools,chat}' WHERE credential_id = ${id}`
      expect((yield* admit(proof, { scope: "chat", calls: 0 })).scopes).toEqual(["tools", "chat"])
    })
  )

  it.effect("ends with the role that gave the scope, also for a read that ran before its count", () =>
    Effect.gen(function* () {
      const { admit, ask, state } = yield* start()
      const { becomes, proof } = yield* member("role", "admin", ["tools", "admin"])
      const need: Need = { scope: "admin", calls: 0, reads: true }
      yield* ask(proof, need)
      yield* becomes("member")
      expect((yield* Effect.flip(ask(proof, need)))._tag).toBe("NotInScope")
      expect(state.read).toBe(2)
      yield* becomes("admin")
      yield* admit(proof, { scope: "admin", calls: 0 })
      yield* becomes("member")
      expect((yield* Effect.flip(admit(proof, { scope: "admin", calls: 0 })))._tag).toBe("NotInScope")
    })
  )

  it.effect("verifies a credential once per epoch, and again when it has expired by the monotonic clock", () =>
    Effect.gen(function* () {
      const { admit, state } = yield* start()
      const { change, proof } = yield* member("cached")
      for (const _ of [1, 2, 3]) yield* admit(proof, TOOLS)
      expect([state.verified, state.throttled]).toEqual([1, 1])
      yield* change
      for (const _ of [1, 2]) yield* admit(proof, TOOLS)
      // The throttle is for credentials that were never admitted.
      expect([state.verified, state.throttled]).toEqual([2, 1])
      yield* Effect.scoped(
        Effect.gen(function* () {
          yield* later(86_400_000 + 600_000)
          yield* admit(proof, TOOLS)
          expect([state.verified, state.throttled]).toEqual([3, 1])
        })
      )
    })
  )

  it.effect("forgets a refused credential, but not one that it couldn't verify", () =>
    Effect.gen(function* () {
      const { admit, state } = yield* start()
      const credentials = yield* Credentials
      const { change, id, organization, proof } = yield* member("forgotten")
      yield* admit(proof, TOOLS)
      yield* change
      state.unverifiable = true
      expect((yield* Effect.flip(admit(proof, TOOLS)))._tag).toBe("Unavailable")
      state.unverifiable = false
      yield* admit(proof, TOOLS)
      expect(state.throttled).toBe(1)
      yield* credentials.revokeToken(organization, id)
      expect(yield* Effect.flip(admit(proof, TOOLS))).toEqual(REFUSED)
      expect(state.throttled).toBe(1)
      expect(yield* Effect.flip(admit(proof, TOOLS))).toEqual(REFUSED)
      expect(state.throttled).toBe(2)
    })
  )

  it.effect("lets a read run before its count only if the caller is cached, and runs it again under a new epoch", () =>
    Effect.gen(function* () {
      const { ask, state } = yield* start()
      const { change, proof } = yield* member("speculative")
      expect(yield* ask(proof)).toBe(1)
      expect(yield* ask(proof)).toBe(2)
      expect(state.verified).toBe(1)
      yield* change
      expect(yield* ask(proof), "its first result is discarded").toBe(4)
      expect(state.verified).toBe(2)
      for (const need of [TOOLS, { ...READS, reads: false }]) {
        yield* change
        const before = state.read
        expect(yield* ask(proof, need)).toBe(before + 1)
      }
    })
  )

  it.effect("lets no read run before the count of a caller who called too often, until a call is admitted again", () =>
    inOneMinute(
      Effect.fnUntraced(
        function* (suffix) {
          const { admit, ask, count, state } = yield* start(2)
          const { change, proof } = yield* member(`often${suffix}`)
          const call: Need = { ...READS, calls: 1 }
          const { principal } = yield* admit(proof, call)
          yield* count(principal)
          expect(yield* Effect.flip(count(principal))).toBeInstanceOf(TooManyCalls)
          expect(yield* ask(proof)).toBe(1)
          expect(yield* Effect.flip(ask(proof, call))).toBeInstanceOf(TooManyCalls)
          expect(state.read).toBe(2)
          expect(yield* Effect.flip(ask(proof, call))).toBeInstanceOf(TooManyCalls)
          expect(state.read).toBe(2)
          yield* ask(proof)
          expect(state.read).toBe(3)
          yield* change
          yield* ask(proof)
          expect(state.read, "again before its count").toBe(5)
          state.uncounted = true
          expect((yield* Effect.flip(ask(proof)))._tag).toBe("Unavailable")
          state.uncounted = false
          expect(state.read).toBe(6)
          yield* change
          yield* ask(proof)
          expect(state.read, "a failed count is no limit").toBe(8)
        },
        (effect) => Effect.scoped(effect)
      )
    )
  )

  it.effect("gives a read the position that its count reads, where there are standbys", () =>
    Effect.gen(function* () {
      const plain = yield* start()
      const { organization, proof } = yield* member("position")
      const positionIn = ({ admitted }: typeof plain) =>
        admitted(proof, READS, () =>
          Effect.flatMap(CurrentPosition, (current) =>
            current === undefined
              ? Effect.succeed(undefined)
              : Effect.map(current.read, (read) => ({ organizationId: current.organizationId, read }))
          )
        )
      for (const _ of [1, 2]) expect(yield* positionIn(plain)).toBeUndefined()
      const standby = yield* start(1000, true)
      const { principal } = yield* standby.admit(proof, TOOLS)
      const found = yield* positionIn(standby)
      expect(found).toEqual({ organizationId: organization.id, read: { epoch: principal.epoch, version: null } })
      standby.state.uncounted = true
      expect((yield* Effect.flip(positionIn(standby)))._tag).toBe("Unavailable")
    })
  )

  it.effect("of a provider's JWT gives the member bound to it, for a minute", () =>
    Effect.gen(function* () {
      const provider = yield* Effect.acquireRelease(
        Effect.promise(() => startProvider()),
        ({ stop }) => Effect.promise(() => stop())
      )
      const { admit, state } = yield* start()
      const { anchorId, organization } = yield* member("provider")
      const providers = yield* IdentityProviders
      const members = yield* Memberships
      const { owner } = yield* Database
      yield* providers.add(organization, { issuer: provider.issuer, audience: "max", roleClaim: "roles" })
      const subject = subjectKey(provider.issuer, "lena")
      yield* members.add(organization, { identifier: "lena@provider.com", roles: ["admin"], subject })
      const exp = Math.floor(Date.now() / 1000) + 7200
      const jwt = yield* Effect.promise(() => provider.sign({ sub: "lena", exp, roles: ["member"] }))
      const { principal, ...caller } = yield* admit(bearer(jwt), TOOLS)
      expect(caller).toEqual({ scopes: ["tools", "chat"], by: "provider", expiresAt: exp * 1000 })
      expect(caller).not.toHaveProperty("credentialId")
      expect(principal).toMatchObject({ anchorEntityId: anchorId, claimedRoles: ["member"], roles: ["member"] })
      yield* admit(bearer(jwt), TOOLS)
      expect(state.verified).toBe(1)
      expect(yield* Effect.flip(admit(session(jwt), TOOLS))).toEqual(REFUSED)
      const before = state.verified
      for (const [ahead, verifications] of [
        [10_000, 0],
        [61_000, 1]
      ] as const)
        yield* Effect.scoped(
          Effect.gen(function* () {
            yield* later(ahead)
            yield* admit(bearer(jwt), TOOLS)
            expect(state.verified - before, String(ahead)).toBe(verifications)
          })
        )
      const soon = Math.floor(Date.now() / 1000) + 50
      const short = yield* Effect.promise(() => provider.sign({ sub: "lena", exp: soon, roles: ["member"] }))
      yield* admit(bearer(short), TOOLS)
      const verified = state.verified
      yield* Effect.scoped(
        Effect.gen(function* () {
          yield* later(51_000)
          yield* admit(bearer(short), TOOLS)
          expect(state.verified, "no longer than the JWT").toBe(verified + 1)
        })
      )
      const plain = yield* Effect.promise(() => provider.sign({ sub: "stranger" }))
      expect(yield* Effect.flip(admit(bearer(plain), TOOLS))).toEqual(NotAdmitted.error)
      const refusals = yield* Refusals
      yield* refusals.flush
      const recorded = yield* owner<{ actor: string; subject: string }>`
        SELECT actor, subject FROM max.audit_log
        WHERE organization_id = ${organization.id} AND action = 'admission.refused'`
      expect(recorded).toEqual([{ actor: UNIDENTIFIED, subject: "provider" }])
    })
  )
})
