/** A new credential: 256 random bits behind one prefix and the organization, stored only as a hash. */
import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import type { SqlError } from "effect/sql"
import { createHash, randomBytes } from "node:crypto"
import { decodeId, encodeId, nextId } from "../../domain/ids.ts"

export type CredentialKind = "token" | "session" | "link" | "invitation"

export interface Issued {
  readonly id: string
  /** Shown once: only its hash is stored. */
  readonly secret: string
  readonly expiresAt: Date
}

interface NewCredential {
  readonly kind: CredentialKind
  readonly anchorId: string
  readonly name: string
  readonly scopes: ReadonlyArray<string>
  readonly seconds: number
  /** The roles that an identity provider gave, which replace the membership's. */
  readonly claimedRoles?: ReadonlyArray<string> | undefined
}

const FORMAT = /^max_([a-z]{1,14})_[A-Za-z0-9_-]{43}$/

/** The organization that a secret names; the credential's row must belong to it. */
export const organizationIn = (secret: string): bigint | undefined => {
  const match = FORMAT.exec(secret)
  return match === null ? undefined : decodeId(match[1]!)
}

export const sha256 = (text: string): Buffer => createHash("sha256").update(text).digest()

/** Stores a credential and returns its secret. Expired ones are deleted; tokens stay listed. */
export const insertCredential = (
  app: PgClient.PgClient,
  organizationId: bigint,
  { anchorId, claimedRoles, kind, name, scopes, seconds }: NewCredential
): Effect.Effect<Issued, SqlError.SqlError> =>
  Effect.gen(function* () {
    const id = encodeId(nextId())
    const secret = `max_${encodeId(organizationId)}_${randomBytes(32).toString("base64url")}`
    const [row] = yield* app<{ expires_at: Date }>`
      INSERT INTO max.credentials (organization_id, credential_id, kind, sha256, anchor_id, name, scopes, claimed_roles, expires_at)
      VALUES (${organizationId}, ${id}, ${kind}, ${sha256(secret)}, ${anchorId}, ${name}, ${scopes}::text[],
        ${claimedRoles ?? null}::text[], now() + make_interval(secs => ${seconds}::int)) RETURNING expires_at`
    yield* app`DELETE FROM max.credentials WHERE organization_id = ${organizationId} AND kind <> 'token'
      AND expires_at < now() - interval '1 day'`
    return { id, secret, expiresAt: row!.expires_at }
  })
