/**
 * Passkeys (WebAuthn): a person adds one in a session and signs in with it later. The authenticator verifies the person
 * and signs a challenge for this site only; Max stores the public key. A passkey admits a member like a sign-in link.
 */
import { Context, Effect, Layer, Schema } from "effect"
import { createHash } from "node:crypto"
import { appendAudit, OPERATOR } from "../../database/audit.ts"
import { Database } from "../../database/Database.ts"
import { decodeRows } from "../../database/decodeRows.ts"
import { orUnavailable } from "../../database/execute.ts"
import type { Organization } from "../../domain/EntityType.ts"
import {
  InvalidInput,
  type NotAdmitted,
  NotAllowed,
  NotAuthenticated,
  OperatorError,
  type Unavailable
} from "../../domain/errors.ts"
import { encodeId, nextId } from "../../domain/ids.ts"
import type { Principal } from "../../domain/Principal.ts"
import { quoted } from "../../domain/text.ts"
import { IdentityResolver } from "../members/IdentityResolver.ts"
import { Credentials, type Issued } from "./Credentials.ts"
import { creationOptions, namedIn, requestOptions, type Site, verifyAnswer, verifyMade } from "./webAuthn.ts"
import { isChallenge, makeChallenge, makeChallengeKey } from "./passkeyChallenge.ts"

export type { Site } from "./webAuthn.ts"

/** A person's session, the only credential that adds passkeys. */
export interface PersonSession {
  readonly principal: Principal
  readonly credentialId: string
}

export interface Passkey {
  readonly id: string
  readonly name: string
  readonly createdAt: Date
  readonly usedAt: Date | null
}

/** Passkeys of one person. */
const MAX_PASSKEYS = 20
const SIGN_IN = "sign-in"
/** The session adds passkeys for as long after the sign-in, so that a stolen cookie can't outlive itself by one. */
const FRESH = "1 hour"

const decodePasskeys = decodeRows(
  Schema.Struct({
    passkey_id: Schema.String,
    anchor_id: Schema.String,
    name: Schema.String,
    created_at: Schema.Date,
    used_at: Schema.NullOr(Schema.Date)
  })
)

export class Passkeys extends Context.Service<
  Passkeys,
  {
    readonly list: (principal: Principal) => Effect.Effect<ReadonlyArray<Passkey>, Unavailable>
    /** What the browser needs to make a passkey; within an hour after the sign-in. */
    readonly beginAdding: (session: PersonSession, site: Site) => Effect.Effect<object, NotAllowed | Unavailable>
    /** Stores the passkey that the browser made. */
    readonly finishAdding: (
      session: PersonSession,
      site: Site,
      made: { readonly name: string; readonly response: object }
    ) => Effect.Effect<Passkey, InvalidInput | NotAllowed | Unavailable>
    /** Ends a passkey of this person; false if there is none with this id. */
    readonly remove: (principal: Principal, id: string) => Effect.Effect<boolean, Unavailable>
    /** Every passkey of an organization, with its person, for operators. */
    readonly all: (
      organization: Organization
    ) => Effect.Effect<ReadonlyArray<Passkey & { readonly anchorId: string }>, Unavailable>
    /** Ends a passkey of any person, as the operator. */
    readonly end: (organization: Organization, id: string) => Effect.Effect<void, OperatorError | Unavailable>
    /** What the browser needs to sign in. The answer is the same whether there are passkeys or not. */
    readonly beginSignIn: (site: Site) => Effect.Effect<object, Unavailable>
    /** Exchanges the browser's answer for a session; of equal answers exactly one succeeds. */
    readonly finishSignIn: (
      site: Site,
      response: object,
      seconds: number
    ) => Effect.Effect<Issued, NotAuthenticated | NotAdmitted | Unavailable>
  }
>()("max/services/Passkeys") {
  static readonly layer = Layer.effect(
    Passkeys,
    Effect.gen(function* () {
      const { app } = yield* Database
      const credentials = yield* Credentials
      const identities = yield* IdentityResolver

      const challengeKey = makeChallengeKey(app)

      /** The passkeys of a person, or of all. */
      const stored = (organizationId: bigint, anchorId: string | null) =>
        app`SELECT passkey_id, anchor_id, name, created_at, used_at FROM max.passkeys WHERE organization_id = ${organizationId}
          AND (${anchorId}::text IS NULL OR anchor_id = ${anchorId}::text) ORDER BY created_at, passkey_id`.pipe(
          orUnavailable,
          decodePasskeys
        )

      /** Deletes a passkey, of this person or of any, and records it. */
      const deletePasskey = (organizationId: bigint, id: string, actor: string, anchorId: string | null) =>
        Effect.gen(function* () {
          const [removed] = yield* app<{
            anchor_id: string
          }>`DELETE FROM max.passkeys WHERE organization_id = ${organizationId}
            AND passkey_id = ${id} AND (${anchorId}::text IS NULL OR anchor_id = ${anchorId}::text) RETURNING anchor_id`
          if (removed === undefined) return false
          yield* appendAudit(app, organizationId, "changes", [
            { actor, action: "passkey.removed", subject: id, details: { person: removed.anchor_id } }
          ])
          return true
        }).pipe(app.withTransaction, orUnavailable)

      /** Fails unless the session began lately, and not by an identity provider that decides about roles. */
      const mayAdd = Effect.fnUntraced(function* ({ credentialId, principal: { organizationId } }: PersonSession) {
        const [row] = yield* orUnavailable(app<{ fresh: boolean; claimed: boolean }>`
          SELECT created_at > now() - ${FRESH}::interval AS fresh, claimed_roles IS NOT NULL AS claimed FROM max.credentials
          WHERE organization_id = ${organizationId} AND credential_id = ${credentialId} AND kind = 'session'`)
        if (row?.claimed === true)
          return yield* NotAllowed.of("Your organization's sign-in decides about your roles. Sign in there.")
        if (row?.fresh !== true)
          return yield* NotAllowed.of("Sign out and in again, then add the passkey within the hour.")
      })

      const addPurpose = ({ credentialId, principal }: PersonSession) =>
        `add ${principal.organizationId} ${principal.anchorEntityId} ${credentialId}`

      /** The name that the device shows beside the passkey: an address of the person, or the site. */
      const labelOf = ({ anchorEntityId, organizationId }: Principal, site: Site) =>
        Effect.map(
          orUnavailable(app<{ key: string }>`SELECT key FROM max.identifiers WHERE organization_id = ${organizationId}
            AND anchor_id = ${anchorEntityId} AND kind = 'email' ORDER BY key LIMIT 1`),
          ([row]) => row?.key ?? site.id
        )

      return Passkeys.of({
        list: Effect.fn("Passkeys.list")(({ anchorEntityId, organizationId }) =>
          Effect.map(stored(organizationId, anchorEntityId), (rows) => rows.map(passkeyOf))
        ),

        beginAdding: Effect.fn("Passkeys.beginAdding")(function* (session, site) {
          yield* mayAdd(session)
          const { principal } = session
          const { anchorEntityId, organizationId } = principal
          const known = yield* orUnavailable(app<{ credential: Uint8Array }>`SELECT credential FROM max.passkeys
            WHERE organization_id = ${organizationId} AND anchor_id = ${anchorEntityId}`)
          if (known.length >= MAX_PASSKEYS) return yield* NotAllowed.of("You have 20 passkeys. Remove one first.")
          const challenge = makeChallenge(yield* challengeKey, addPurpose(session))
          return yield* creationOptions(site, {
            challenge,
            known: known.map(({ credential }) => credential),
            label: yield* labelOf(principal, site),
            principal
          })
        }),

        finishAdding: Effect.fn("Passkeys.finishAdding")(function* (session, site, { name, response }) {
          yield* mayAdd(session)
          const { anchorEntityId, organizationId } = session.principal
          const label = name.trim() === "" ? "Passkey" : name.trim()
          const key = yield* challengeKey
          const { counter, credential, publicKey } = yield* verifyMade(site, response, (challenge) =>
            isChallenge(key, addPurpose(session), challenge)
          )
          const passkeyId = encodeId(nextId())
          const [row] = yield* Effect.gen(function* () {
            const rows = yield* app`
              INSERT INTO max.passkeys (organization_id, credential, passkey_id, anchor_id, public_key, counter, name)
              SELECT ${organizationId}, ${credential}, ${passkeyId}, ${anchorEntityId}, ${Buffer.from(publicKey)}, ${counter}, ${label}
              WHERE ${MAX_PASSKEYS}::int > (SELECT count(*) FROM max.passkeys WHERE organization_id = ${organizationId} AND anchor_id = ${anchorEntityId})
              ON CONFLICT DO NOTHING RETURNING passkey_id, anchor_id, name, created_at, used_at`.pipe(decodePasskeys)
            if (rows.length > 0)
              yield* appendAudit(app, organizationId, "changes", [
                { actor: anchorEntityId, action: "passkey.added", subject: passkeyId }
              ])
            return rows
          }).pipe(app.withTransaction, orUnavailable)
          return row === undefined ? yield* NotAllowed.of("This passkey is stored already.") : passkeyOf(row)
        }),

        remove: Effect.fn("Passkeys.remove")(({ anchorEntityId, organizationId }, id) =>
          deletePasskey(organizationId, id, anchorEntityId, anchorEntityId)
        ),

        all: Effect.fn("Passkeys.all")((organization) =>
          Effect.map(stored(organization.id, null), (rows) =>
            rows.map((row) => ({ ...passkeyOf(row), anchorId: row.anchor_id }))
          )
        ),

        end: Effect.fn("Passkeys.end")(function* (organization, id) {
          if (yield* deletePasskey(organization.id, id, OPERATOR, null)) return
          return yield* OperatorError.of(`No passkey has the id ${quoted(id)}. max passkey list shows the passkeys.`)
        }),

        beginSignIn: Effect.fn("Passkeys.beginSignIn")(function* (site) {
          return yield* requestOptions(site, makeChallenge(yield* challengeKey, SIGN_IN))
        }),

        finishSignIn: Effect.fn("Passkeys.finishSignIn")(function* (site, given, seconds) {
          const named = namedIn(given)
          if (named === undefined) return yield* UNKNOWN
          const { credential, organizationId } = named
          const [row] = yield* orUnavailable(app<{ anchor_id: string; public_key: Uint8Array }>`
            SELECT anchor_id, public_key FROM max.passkeys
            WHERE organization_id = ${organizationId} AND credential = ${credential}`)
          if (row === undefined) return yield* UNKNOWN
          const key = yield* challengeKey
          let answered = ""
          const counter = yield* verifyAnswer(site, given, row.public_key, (challenge) => {
            answered = challenge
            return isChallenge(key, SIGN_IN, challenge)
          })
          if (counter === undefined) return yield* UNKNOWN
          // Refuses a suspended member before a session exists.
          yield* identities.readmit({ organizationId, anchorEntityId: row.anchor_id })
          const isUsed = yield* Effect.gen(function* () {
            const [spent] = yield* app`INSERT INTO max.spent_challenges (organization_id, sha256)
              VALUES (${organizationId}, ${createHash("sha256").update(answered).digest()}) ON CONFLICT DO NOTHING RETURNING 1`
            if (spent === undefined) return false
            yield* app`DELETE FROM max.spent_challenges WHERE organization_id = ${organizationId} AND spent_at < now() - interval '1 hour'`
            const [used] = yield* app`UPDATE max.passkeys SET counter = ${counter}, used_at = now()
              WHERE organization_id = ${organizationId} AND credential = ${credential}
                AND (counter < ${counter} OR (counter = 0 AND ${counter}::bigint = 0)) RETURNING 1`
            if (used !== undefined) return true
            // The counter went back: two devices have this passkey, and one of them isn't the person's.
            const [ended] = yield* app<{ passkey_id: string }>`DELETE FROM max.passkeys
              WHERE organization_id = ${organizationId} AND credential = ${credential} RETURNING passkey_id`
            if (ended !== undefined)
              yield* appendAudit(app, organizationId, "changes", [
                {
                  actor: row.anchor_id,
                  action: "passkey.ended",
                  subject: ended.passkey_id,
                  details: { reason: "copied" }
                }
              ])
            return undefined
          }).pipe(app.withTransaction, orUnavailable)
          if (isUsed === undefined) return yield* COPIED
          if (!isUsed) return yield* UNKNOWN
          return yield* credentials.beginSession(organizationId, row.anchor_id, { seconds })
        })
      })
    })
  )
}

const UNKNOWN = new NotAuthenticated({ message: "This passkey isn't valid here. Sign in with a link." })
const COPIED = new NotAuthenticated({
  message: "This passkey may have been copied, so it was removed. Sign in with a link, and add a new passkey."
})

const passkeyOf = (row: {
  readonly passkey_id: string
  readonly name: string
  readonly created_at: Date
  readonly used_at: Date | null
}): Passkey => ({ id: row.passkey_id, name: row.name, createdAt: row.created_at, usedAt: row.used_at })
