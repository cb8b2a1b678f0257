/** Tokens, sign-in links, invitations and sessions: what is in force, for whom, for how long, and what is recorded. */
import { layer } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import { expect } from "vitest"
import { Database } from "../../../src/database/Database.ts"
import type { Organization } from "../../../src/domain/EntityType.ts"
import { NotAuthenticated } from "../../../src/domain/errors.ts"
import { encodeId } from "../../../src/domain/ids.ts"
import { Credentials, type Scope, SCOPES } from "../../../src/services/access/Credentials.ts"
import { type CredentialKind, insertCredential } from "../../../src/services/access/credential.ts"
import { IdentityResolver } from "../../../src/services/members/IdentityResolver.ts"
import { Memberships } from "../../../src/services/members/Memberships.ts"
import { makeOrganization } from "../../support/atlas.ts"
import { TestServices } from "../../support/database.ts"

const DAY = 86_400_000
const REFUSED = NotAuthenticated.error
const PERSON: ReadonlyArray<Scope> = ["tools", "chat", "export", "changes", "confirm"]

/** An organization with a member who administers it. */
const company = Effect.fnUntraced(function* (slug: string) {
  const organization = yield* makeOrganization(slug)
  const members = yield* Memberships
  const email = `lena@${slug}.com`
  const { anchorId } = yield* members.add(organization, { identifier: email, roles: ["admin"], create: {} })
  const { owner } = yield* Database
  const identities = yield* IdentityResolver
  return {
    organization,
    anchorId,
    principal: Effect.map(identities.admit(organization, { kind: "email", key: email }), ({ principal }) => principal),
    epoch: Effect.map(
      owner<{ epoch: bigint }>`SELECT epoch FROM max.organizations WHERE organization_id = ${organization.id}`,
      ([row]) => row!.epoch
    ),
    /** The recorded events with one of these names, oldest first. */
    events: (...actions: ReadonlyArray<string>) =>
      Effect.map(
        owner<{ actor: string; action: string; subject: string; details: string }>`
          SELECT actor, action, subject, details FROM max.audit_log
          WHERE organization_id = ${organization.id} AND action = ANY(${actions}::text[]) ORDER BY sequence`,
        (rows) => rows.map(({ details, ...row }) => ({ ...row, details: JSON.parse(details) as unknown }))
      )
  }
})

const tokenFor = Effect.fnUntraced(function* (organization: Organization, anchorId: string, name = "nightly") {
  const credentials = yield* Credentials
  return yield* credentials.createToken(organization, { anchorId, name, scopes: ["tools", "traces"], days: 2 })
})

const refused = Effect.fnUntraced(function* (kind: CredentialKind, secret: string) {
  const { verify } = yield* Credentials
  expect(yield* Effect.flip(verify(kind, secret))).toEqual(REFUSED)
})

const rowOf = (id: string) =>
  Effect.flatMap(Database, ({ owner }) =>
    Effect.map(
      owner<{ kind: string; name: string; scopes: ReadonlyArray<string>; ended: boolean }>`
        SELECT kind, name, scopes, ended_at IS NOT NULL AS ended FROM max.credentials WHERE credential_id = ${id}`,
      ([row]) => row
    )
  )

const expire = (id: string) =>
  Effect.flatMap(
    Database,
    ({ owner }) =>
      owner`UPDATE max.credentials SET expires_at = now() - interval '1 second' WHERE credential_id = ${id}`
  )

/** About this long, by the clocks of the database and of this process. */
const isAbout = (found: number, wanted: number) => {
  expect(found).toBeLessThanOrEqual(wanted + 60_000)
  expect(found).toBeGreaterThan(wanted - 600_000)
}

layer(TestServices, { excludeTestServices: true })("a credential", (it) => {
  it.effect("is a token with its member, scopes, lifetime and epoch", () =>
    Effect.gen(function* () {
      const credentials = yield* Credentials
      const { anchorId, epoch, events, organization } = yield* company("token")
      const before = yield* epoch
      const { expiresAt, id, secret } = yield* tokenFor(organization, anchorId, "  nightly ")
      const { validFor, ...valid } = yield* credentials.verify("token", secret)
      expect(valid).toEqual({
        id,
        organizationId: organization.id,
        anchorId,
        scopes: ["tools", "traces"],
        epoch: before
      })
      expect(valid).not.toHaveProperty("claimedRoles")
      isAbout(validFor, 2 * DAY)
      isAbout(expiresAt.getTime() - Date.now(), 2 * DAY)
      expect(yield* events("token.created")).toEqual([
        {
          actor: "operator",
          action: "token.created",
          subject: id,
          details: { person: anchorId, name: "nightly", scopes: ["tools", "traces"], until: expiresAt.toISOString() }
        }
      ])
    })
  )

  it.effect("counts for its own kind and organization, unexpired and not ended, with all its characters", () =>
    Effect.gen(function* () {
      const { anchorId, organization } = yield* company("valid")
      const other = yield* company("elsewhere")
      const { id, secret } = yield* tokenFor(organization, anchorId)
      for (const kind of ["session", "link", "invitation"] as const) yield* refused(kind, secret)
      const moved = secret.replace(encodeId(organization.id), encodeId(other.organization.id))
      const invented = secret.replace(encodeId(organization.id), encodeId(organization.id + 1n))
      const last = secret.at(-1) === "A" ? "B" : "A"
      for (const wrong of [moved, invented, secret.slice(0, -1) + last, `${secret}A`, "", "max__x", "a token"])
        yield* refused("token", wrong)
      const { verify } = yield* Credentials
      expect((yield* verify("token", secret)).id).toBe(id)
      yield* expire(id)
      yield* refused("token", secret)
    })
  )

  it.effect("has a name of 1 to 100 characters and lasts 1 to 730 days if it is a token", () =>
    Effect.gen(function* () {
      const credentials = yield* Credentials
      const { anchorId, organization } = yield* company("bounds")
      const create = (name: string, days: number) =>
        Effect.match(credentials.createToken(organization, { anchorId, name, scopes: ["tools"], days }), {
          onFailure: ({ message }) => message,
          onSuccess: () => "created"
        })
      for (const name of ["", " ".repeat(3), "x".repeat(101)])
        expect(yield* create(name, 1)).toBe("--name must have 1 to 100 characters.")
      for (const days of [0, -1, 1.5, 731]) expect(yield* create("n", days)).toBe("--days must be between 1 and 730.")
      expect(yield* create(` ${"x".repeat(100)} `, 1)).toBe("created")
      expect(yield* create("n", 730)).toBe("created")
      expect((yield* credentials.tokens(organization)).map(({ name }) => name)).toEqual(["x".repeat(100), "n"])
    })
  )

  it.effect("is listed with its state if it is a token of the organization", () =>
    Effect.gen(function* () {
      const credentials = yield* Credentials
      const { anchorId, organization } = yield* company("listed")
      const other = yield* company("unlisted")
      yield* tokenFor(other.organization, other.anchorId)
      const active = yield* tokenFor(organization, anchorId, "one")
      const expired = yield* tokenFor(organization, anchorId, "two")
      const revoked = yield* tokenFor(organization, anchorId, "three")
      yield* expire(expired.id)
      yield* credentials.revokeToken(organization, revoked.id)
      yield* credentials.createLink(organization, anchorId)
      yield* credentials.beginSession(organization.id, anchorId, { seconds: 60 })
      const [first, ...rest] = yield* credentials.tokens(organization)
      isAbout(Date.now() - first!.createdAt.getTime(), 0)
      expect(first).toEqual({
        id: active.id,
        name: "one",
        anchorId,
        scopes: ["tools", "traces"],
        createdAt: first!.createdAt,
        expiresAt: active.expiresAt,
        state: "active"
      })
      expect(rest.map(({ id, state }) => [id, state])).toEqual([
        [expired.id, "expired"],
        [revoked.id, "revoked"]
      ])
    })
  )

  it.effect("that is a token is revoked once, under a new epoch, by an operator or an administrator", () =>
    Effect.gen(function* () {
      const credentials = yield* Credentials
      const { anchorId, epoch, events, organization, principal } = yield* company("revoked")
      const one = yield* tokenFor(organization, anchorId)
      const two = yield* tokenFor(organization, anchorId)
      const session = yield* credentials.beginSession(organization.id, anchorId, { seconds: 60 })
      const other = yield* company("neighbour")
      const stale = yield* principal
      const before = yield* epoch
      yield* credentials.revokeToken(organization, one.id)
      yield* refused("token", one.secret)
      expect(yield* epoch).not.toBe(before)
      const conflict = yield* Effect.flip(credentials.revokeToken(organization, two.id, stale))
      expect(conflict.message).toContain("Something else changed this organization")
      expect(yield* rowOf(two.id)).toMatchObject({ ended: false })
      yield* credentials.revokeToken(organization, two.id, yield* principal)
      yield* refused("token", two.secret)
      const ended = yield* epoch
      for (const [where, id] of [
        [organization, two.id],
        [organization, session.id],
        [other.organization, one.id],
        [organization, "zzz"]
      ] as const) {
        const fault = yield* Effect.flip(credentials.revokeToken(where, id))
        expect(fault.message).toBe(`No active token has the id "${id}".`)
      }
      expect(yield* epoch).toBe(ended)
      expect(yield* events("token.revoked")).toEqual([
        { actor: "operator", action: "token.revoked", subject: one.id, details: { person: anchorId } },
        { actor: anchorId, action: "token.revoked", subject: two.id, details: { person: anchorId } }
      ])
    })
  )

  it.effect("that is a sign-in link becomes one session of its member", () =>
    Effect.gen(function* () {
      const credentials = yield* Credentials
      const { anchorId, events, organization } = yield* company("link")
      const link = yield* credentials.createLink(organization, anchorId)
      expect(yield* rowOf(link.id)).toMatchObject({ kind: "link", name: "sign-in link", scopes: [] })
      isAbout((yield* credentials.verify("link", link.secret)).validFor, 300_000)
      const session = yield* credentials.redeemLink(link.secret, 7200)
      expect(session.organizationId).toBe(organization.id)
      const { validFor, ...valid } = yield* credentials.verify("session", session.secret)
      expect(valid).toMatchObject({ id: session.id, organizationId: organization.id, anchorId, scopes: PERSON })
      expect(SCOPES).toEqual([...PERSON, "traces", "admin"])
      isAbout(validFor, 7_200_000)
      expect(yield* rowOf(session.id)).toMatchObject({ kind: "session", name: "session" })
      expect(yield* Effect.flip(credentials.redeemLink(link.secret, 7200))).toEqual(REFUSED)
      expect(yield* Effect.flip(credentials.redeemLink(session.secret, 7200))).toEqual(REFUSED)
      const token = yield* tokenFor(organization, anchorId)
      expect(yield* Effect.flip(credentials.redeemLink(token.secret, 7200))).toEqual(REFUSED)
      expect(yield* events("session.begun")).toEqual([
        { actor: anchorId, action: "session.begun", subject: session.id, details: {} }
      ])
    })
  )

  it.effect(
    "that is a link lasts as long as said, and names the operator, administrator or member who offered it",
    () =>
      Effect.gen(function* () {
        const credentials = yield* Credentials
        const { anchorId, events, organization, principal } = yield* company("offered")
        const members = yield* Memberships
        const email = "another@offered.com"
        const another = (yield* members.add(organization, { identifier: email, roles: ["admin"], create: {} })).anchorId
        const stale = yield* principal
        yield* credentials.revokeToken(organization, (yield* tokenFor(organization, anchorId)).id)
        const conflict = yield* Effect.flip(credentials.createLink(organization, anchorId, { administrator: stale }))
        expect(conflict.message).toContain("Something else changed this organization")
        yield* credentials.createLink(organization, anchorId)
        yield* credentials.createLink(organization, another, { administrator: yield* principal, actor: another })
        const own = yield* credentials.createLink(organization, anchorId, { actor: "member", seconds: 7200 })
        isAbout((yield* credentials.verify("link", own.secret)).validFor, 7_200_000)
        const event = { action: "sign-in.offered", subject: anchorId, details: {} }
        expect(yield* events("sign-in.offered")).toEqual([
          { ...event, actor: "operator" },
          { ...event, actor: anchorId, subject: another },
          { ...event, actor: "member" }
        ])
      })
  )

  it.effect("that is a link used up while its redemption waits for the organization's lock gives no session", () =>
    Effect.gen(function* () {
      const credentials = yield* Credentials
      const { owner } = yield* Database
      const { anchorId, events, organization } = yield* company("race")
      const { id, secret } = yield* credentials.createLink(organization, anchorId)
      const locked = yield* Deferred.make<void>()
      const redemption = yield* Effect.forkChild(
        Effect.andThen(Deferred.await(locked), Effect.flip(credentials.redeemLink(secret, 60)))
      )
      yield* Effect.gen(function* () {
        yield* owner`SELECT 1 FROM max.organizations WHERE organization_id = ${organization.id} FOR UPDATE`
        yield* Deferred.succeed(locked, undefined)
        const waits = owner`SELECT 1 FROM pg_locks WHERE NOT granted AND transactionid = pg_current_xact_id()::xid`
        while (redemption.pollUnsafe() === undefined && (yield* waits).length === 0) yield* Effect.sleep(5)
        yield* owner`UPDATE max.credentials SET ended_at = now() WHERE credential_id = ${id}`
      }).pipe(owner.withTransaction)
      expect(yield* Fiber.join(redemption)).toEqual(REFUSED)
      expect(yield* events("session.begun")).toEqual([])
    })
  )

  it.effect("that is an invitation admits its member once, unless the invitation was decided otherwise", () =>
    Effect.gen(function* () {
      const credentials = yield* Credentials
      const { app, owner } = yield* Database
      const { anchorId, events, organization } = yield* company("invited")
      const invite = Effect.andThen(
        owner`UPDATE max.memberships SET suspended_at = now(), invited_at = now() WHERE anchor_id = ${anchorId}`,
        insertCredential(app, organization.id, {
          kind: "invitation",
          anchorId,
          name: "invitation",
          scopes: [],
          seconds: 60
        })
      )
      const { secret } = yield* invite
      const session = yield* credentials.redeemLink(secret, 60)
      expect((yield* credentials.verify("session", session.secret)).anchorId).toBe(anchorId)
      expect(yield* Effect.flip(credentials.redeemLink(secret, 60))).toEqual(REFUSED)
      const withdrawn = yield* invite
      yield* owner`UPDATE max.memberships SET invited_at = NULL WHERE anchor_id = ${anchorId}`
      expect(yield* Effect.flip(credentials.redeemLink(withdrawn.secret, 60))).toEqual(REFUSED)
      // A sign-in link doesn't accept an invitation.
      yield* invite
      const link = yield* credentials.createLink(organization, anchorId)
      yield* credentials.redeemLink(link.secret, 60)
      expect((yield* events("invitation.accepted", "session.begun")).map(({ action }) => action)).toEqual([
        "invitation.accepted",
        "session.begun",
        "session.begun"
      ])
      expect(yield* owner`SELECT 1 FROM max.memberships WHERE anchor_id = ${anchorId} AND invited_at IS NULL`).toEqual(
        []
      )
    })
  )

  it.effect("that is a session carries the provider's roles, and ends once, under a new epoch", () =>
    Effect.gen(function* () {
      const credentials = yield* Credentials
      const { anchorId, epoch, events, organization } = yield* company("session")
      const { id, secret } = yield* credentials.beginSession(organization.id, anchorId, {
        seconds: 600,
        claimedRoles: ["sales", "support"]
      })
      const { validFor, ...valid } = yield* credentials.verify("session", secret)
      expect(valid).toMatchObject({ id, anchorId, scopes: PERSON, claimedRoles: ["sales", "support"] })
      isAbout(validFor, 600_000)
      const token = yield* tokenFor(organization, anchorId)
      const before = yield* epoch
      yield* credentials.revokeSession(organization.id, token.id)
      yield* credentials.revokeSession(organization.id + 1n, id)
      expect([yield* epoch, yield* rowOf(token.id), (yield* rowOf(id))!.ended]).toMatchObject([
        before,
        { ended: false },
        false
      ])
      yield* credentials.revokeSession(organization.id, id)
      yield* refused("session", secret)
      const ended = yield* epoch
      expect(ended).not.toBe(before)
      yield* credentials.revokeSession(organization.id, id)
      expect(yield* epoch).toBe(ended)
      expect(yield* events("session.begun", "session.ended")).toEqual([
        { actor: anchorId, action: "session.begun", subject: id, details: {} },
        { actor: anchorId, action: "session.ended", subject: id, details: {} }
      ])
    })
  )
})
