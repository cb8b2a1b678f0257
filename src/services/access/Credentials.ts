/**
 * Credentials that Max issues: tokens for programs, one-time sign-in links for people, and the sessions that links become.
 * Each is 256 random bits behind one prefix, bound to a membership, and stored only as a SHA-256 hash. Revoking one raises
 * the epoch, which invalidates every process's cache.
 */
import { Context, Effect, Layer, Schema } from "effect"
import { appendAudit, OPERATOR } from "../../database/audit.ts"
import { Database } from "../../database/Database.ts"
import { holdEpoch, raiseEpoch } from "../../database/epoch.ts"
import { decodeRows } from "../../database/decodeRows.ts"
import { orUnavailable } from "../../database/execute.ts"
import { isClosed, MOVED } from "../../database/moves.ts"
import type { Organization } from "../../domain/EntityType.ts"
import { NotAuthenticated, OperatorError, type Unavailable } from "../../domain/errors.ts"
import type { Principal } from "../../domain/Principal.ts"
import { quoted } from "../../domain/text.ts"
import { unavailable } from "../../observability/failures.ts"
import { acceptInvitation } from "../members/invitation.ts"
import { lockEpochFor } from "../members/suspension.ts"
import { type CredentialKind, insertCredential, type Issued, organizationIn, sha256 } from "./credential.ts"

export type { CredentialKind, Issued } from "./credential.ts"

/**
 * What a credential may be used for. `changes`: propose changes, see one's own and withdraw them. `confirm`: decide on
 * changes. Tokens without them only read. `export`: take what one may see away as a file.
 */
export const Scope = Schema.Literals(["tools", "chat", "export", "changes", "confirm", "traces", "admin"])
export type Scope = typeof Scope.Type

export const SCOPES: ReadonlyArray<Scope> = Scope.literals

export interface Token {
  readonly id: string
  readonly name: string
  readonly anchorId: string
  readonly scopes: ReadonlyArray<Scope>
  readonly createdAt: Date
  readonly expiresAt: Date
  readonly state: typeof TokenState.Type
}
const TokenState = Schema.Literals(["active", "revoked", "expired"])

const decodeTokens = decodeRows(
  Schema.Struct({
    credential_id: Schema.String,
    name: Schema.String,
    anchor_id: Schema.String,
    scopes: Schema.Array(Scope),
    created_at: Schema.Date,
    expires_at: Schema.Date,
    state: TokenState
  })
)
const decodeLinks = decodeRows(
  Schema.Struct({ anchor_id: Schema.String, kind: Schema.Literals(["link", "invitation"]) })
)

/** A credential in force. */
export interface ValidCredential {
  readonly id: string
  readonly organizationId: bigint
  readonly anchorId: string
  readonly scopes: ReadonlyArray<Scope>
  /** Of a session: the roles that the identity provider gave at sign-in, which replace the membership's. */
  readonly claimedRoles?: ReadonlyArray<string>
  /** Milliseconds until it expires, by the database's clock. */
  readonly validFor: number
  /** The organization's epoch, read by the same statement; revoking the credential raises it. */
  readonly epoch: bigint
}

/** The scopes of a session; roles decide about the data. */
const PERSON_SCOPES: ReadonlyArray<Scope> = ["tools", "chat", "export", "changes", "confirm"]
const LINK_SECONDS = 300

export class Credentials extends Context.Service<
  Credentials,
  {
    /** Creates a token for a member, for at most two years; by an operator, or by the given administrator. */
    readonly createToken: (
      organization: Organization,
      token: {
        readonly anchorId: string
        readonly name: string
        readonly scopes: ReadonlyArray<Scope>
        readonly days: number
      },
      administrator?: Principal
    ) => Effect.Effect<Issued, OperatorError | Unavailable>
    readonly tokens: (organization: Organization) => Effect.Effect<ReadonlyArray<Token>, Unavailable>
    /** Revokes a token with immediate effect in every process; by an operator, or by the given administrator. */
    readonly revokeToken: (
      organization: Organization,
      id: string,
      administrator?: Principal
    ) => Effect.Effect<void, OperatorError | Unavailable>
    /** Creates a link that signs a member in once, within five minutes unless said; by an operator, the given administrator, or the member as `actor`. */
    readonly createLink: (
      organization: Organization,
      anchorId: string,
      options?: { readonly administrator?: Principal; readonly actor?: string; readonly seconds?: number }
    ) => Effect.Effect<Issued, OperatorError | Unavailable>
    /** Exchanges a sign-in link or an invitation for a session; of concurrent attempts exactly one succeeds. */
    readonly redeemLink: (
      secret: string,
      seconds: number
    ) => Effect.Effect<Issued & { readonly organizationId: bigint }, NotAuthenticated | Unavailable>
    /** Begins a session of a member whom an identity provider has proven. */
    readonly beginSession: (
      organizationId: bigint,
      anchorId: string,
      options: { readonly seconds: number; readonly claimedRoles?: ReadonlyArray<string> | undefined }
    ) => Effect.Effect<Issued, Unavailable>
    /** Revokes a session with immediate effect in every process. */
    readonly revokeSession: (organizationId: bigint, id: string) => Effect.Effect<void, Unavailable>
    /** The credential of this kind with this secret, if it is in force. */
    readonly verify: (
      kind: CredentialKind,
      secret: string
    ) => Effect.Effect<ValidCredential, NotAuthenticated | Unavailable>
  }
>()("max/services/Credentials") {
  static readonly layer = Layer.effect(
    Credentials,
    Effect.gen(function* () {
      const { admission, app } = yield* Database

      const verify = Effect.fn("Credentials.verify")(function* (kind: CredentialKind, secret: string) {
        const organizationId = organizationIn(secret)
        if (organizationId === undefined) return yield* NotAuthenticated.error
        const [row] = yield* orUnavailable(admission<{
          credential_id: string | null
          anchor_id: string
          scopes: ReadonlyArray<Scope>
          claimed_roles: ReadonlyArray<string> | null
          valid_for: number
          epoch: bigint
          closed: boolean
        }>`/* max present */ SELECT c.credential_id, c.anchor_id, c.scopes, c.claimed_roles, o.epoch,
              ${admission.literal(isClosed("k.id"))} AS closed,
              (extract(epoch FROM c.expires_at - now()) * 1000)::float8 AS valid_for
            FROM (SELECT ${organizationId}::bigint AS id) k
              LEFT JOIN max.organizations o ON o.organization_id = k.id
              LEFT JOIN max.credentials c ON c.organization_id = o.organization_id
                AND c.sha256 = ${sha256(secret)} AND c.kind = ${kind} AND c.ended_at IS NULL AND c.expires_at > now()`)
        // Of an organization that moved away, no credential is left here; of one that arrives, it may not be here yet.
        if (row?.closed === true) return yield* unavailable(MOVED)
        if (row === undefined || row.credential_id === null) return yield* NotAuthenticated.error
        return {
          id: row.credential_id,
          organizationId,
          anchorId: row.anchor_id,
          scopes: row.scopes,
          ...(row.claimed_roles === null ? {} : { claimedRoles: row.claimed_roles }),
          validFor: row.valid_for,
          epoch: row.epoch
        } satisfies ValidCredential
      })

      /** Stores a session and records it; call it in a transaction. */
      const beginSession = Effect.fnUntraced(function* (
        organizationId: bigint,
        anchorId: string,
        options: { readonly seconds: number; readonly claimedRoles?: ReadonlyArray<string> | undefined }
      ) {
        const issued = yield* insertCredential(app, organizationId, {
          kind: "session",
          anchorId,
          name: "session",
          scopes: PERSON_SCOPES,
          ...options
        })
        yield* appendAudit(app, organizationId, "changes", [
          { actor: anchorId, action: "session.begun", subject: issued.id }
        ])
        return issued
      })

      return Credentials.of({
        createToken: Effect.fn("Credentials.createToken")(function* (organization, token, administrator) {
          const { anchorId, days, name, scopes } = token
          if (name.trim() === "" || name.trim().length > 100) {
            return yield* OperatorError.of("--name must have 1 to 100 characters.")
          }
          if (!Number.isInteger(days) || days < 1 || days > 730) {
            return yield* OperatorError.of("--days must be between 1 and 730.")
          }
          return yield* Effect.gen(function* () {
            yield* lockEpochFor(app, organization, administrator)
            const issued = yield* insertCredential(app, organization.id, {
              kind: "token",
              anchorId,
              name: name.trim(),
              scopes,
              seconds: days * 86_400
            })
            yield* appendAudit(app, organization.id, "changes", [
              {
                actor: administrator?.anchorEntityId ?? OPERATOR,
                action: "token.created",
                subject: issued.id,
                details: { person: anchorId, name: name.trim(), scopes, until: issued.expiresAt.toISOString() }
              }
            ])
            return issued
          }).pipe(app.withTransaction, orUnavailable)
        }),

        tokens: Effect.fn("Credentials.tokens")(function* (organization) {
          const rows = yield* app`
            SELECT credential_id, name, anchor_id, scopes, created_at, expires_at,
              CASE WHEN ended_at IS NOT NULL THEN 'revoked' WHEN expires_at <= now() THEN 'expired' ELSE 'active' END AS state
            FROM max.credentials WHERE organization_id = ${organization.id} AND kind = 'token'
            ORDER BY created_at, credential_id`.pipe(orUnavailable, decodeTokens)
          return rows.map((row) => ({
            id: row.credential_id,
            name: row.name,
            anchorId: row.anchor_id,
            scopes: row.scopes,
            createdAt: row.created_at,
            expiresAt: row.expires_at,
            state: row.state
          }))
        }),

        revokeToken: Effect.fn("Credentials.revokeToken")(function* (organization, id, administrator) {
          const revoked = yield* Effect.gen(function* () {
            yield* lockEpochFor(app, organization, administrator)
            const rows = yield* app<{ anchor_id: string }>`
                  UPDATE max.credentials SET ended_at = now() WHERE organization_id = ${organization.id}
                    AND credential_id = ${id} AND kind = 'token' AND ended_at IS NULL RETURNING anchor_id`
            if (rows.length > 0) {
              yield* raiseEpoch(app, organization.id, [
                {
                  actor: administrator?.anchorEntityId ?? OPERATOR,
                  action: "token.revoked",
                  subject: id,
                  details: { person: rows[0]!.anchor_id }
                }
              ])
            }
            return rows.length > 0
          }).pipe(app.withTransaction, orUnavailable)
          if (!revoked) {
            return yield* OperatorError.withCommand(
              `No active token has the id ${quoted(id)}.`,
              "max token list shows the tokens."
            )
          }
        }),

        createLink: Effect.fn("Credentials.createLink")(function* (
          organization,
          anchorId,
          { actor = OPERATOR, administrator, seconds = LINK_SECONDS } = {}
        ) {
          return yield* Effect.gen(function* () {
            yield* lockEpochFor(app, organization, administrator)
            const issued = yield* insertCredential(app, organization.id, {
              kind: "link",
              anchorId,
              name: "sign-in link",
              scopes: [],
              seconds
            })
            yield* appendAudit(app, organization.id, "changes", [
              { actor: administrator?.anchorEntityId ?? actor, action: "sign-in.offered", subject: anchorId }
            ])
            return issued
          }).pipe(app.withTransaction, orUnavailable)
        }),

        redeemLink: Effect.fn("Credentials.redeemLink")(function* (secret, seconds) {
          // A read rejects guessed links; only a valid one costs a transaction.
          const { organizationId } = yield* verify("link", secret).pipe(
            Effect.catchTag("NotAuthenticated", () => verify("invitation", secret))
          )
          const session = yield* Effect.gen(function* () {
            yield* holdEpoch(app, organizationId)
            const [link] = yield* app`
                  UPDATE max.credentials SET ended_at = now() WHERE organization_id = ${organizationId}
                    AND kind IN ('link', 'invitation') AND sha256 = ${sha256(secret)} AND ended_at IS NULL
                    AND expires_at > now() RETURNING anchor_id, kind`.pipe(decodeLinks)
            if (link === undefined) return undefined
            if (link.kind === "invitation" && !(yield* acceptInvitation(app, organizationId, link.anchor_id)))
              return undefined
            return yield* beginSession(organizationId, link.anchor_id, { seconds })
          }).pipe(app.withTransaction, orUnavailable)
          return session === undefined ? yield* NotAuthenticated.error : { ...session, organizationId }
        }),

        beginSession: Effect.fn("Credentials.beginSession")((organizationId, anchorId, options) =>
          beginSession(organizationId, anchorId, options).pipe(app.withTransaction, orUnavailable)
        ),

        revokeSession: Effect.fn("Credentials.revokeSession")((organizationId, id) =>
          Effect.gen(function* () {
            const [revoked] = yield* app<{ anchor_id: string }>`
                  UPDATE max.credentials SET ended_at = now() WHERE organization_id = ${organizationId}
                    AND credential_id = ${id} AND kind = 'session' AND ended_at IS NULL RETURNING anchor_id`
            if (revoked === undefined) return
            yield* raiseEpoch(app, organizationId, [{ actor: revoked.anchor_id, action: "session.ended", subject: id }])
          }).pipe(app.withTransaction, orUnavailable)
        ),

        verify
      })
    })
  )
}
