/** Coming in by a browser: invitations that wait to be accepted, and sign-in at identity providers. */
import type { Migration } from "./Migration.ts"

export const signingIn: Migration = {
  id: 24,
  name: "signing in",
  statements: () => [
    `ALTER TABLE max.credentials DROP CONSTRAINT credentials_kind_check, ADD CONSTRAINT credentials_kind_check
      CHECK (kind IN ('token', 'session', 'link', 'invitation'))`,
    // The roles that a provider's claim gave at sign-in, where the provider decides about roles.
    `ALTER TABLE max.credentials ADD COLUMN claimed_roles text[]`,
    // A membership that waits for its invitation to be accepted is suspended, and has this time.
    `ALTER TABLE max.memberships ADD COLUMN invited_at timestamptz`,
    // With a name, the sign-in page offers the provider. The secret is a reference (env: or file:), never the text.
    `ALTER TABLE max.identity_providers ADD COLUMN sign_in_name text, ADD COLUMN client_secret text`
  ]
}
