/** Passkeys: public keys of people's authenticators, and what makes each challenge of a sign-in count once. */
import type { Migration } from "./Migration.ts"

export const passkeys: Migration = {
  id: 32,
  name: "passkeys",
  statements: () => [
    `CREATE TABLE max.passkeys (
      organization_id bigint NOT NULL, credential bytea NOT NULL, passkey_id text NOT NULL, anchor_id text NOT NULL,
      public_key bytea NOT NULL, counter bigint NOT NULL, name text NOT NULL,
      created_at timestamptz NOT NULL DEFAULT now(), used_at timestamptz,
      PRIMARY KEY (organization_id, credential), UNIQUE (organization_id, passkey_id),
      FOREIGN KEY (organization_id, anchor_id) REFERENCES max.memberships (organization_id, anchor_id))`,
    // The one row has organization 0: a challenge is made before the person is known. Unlogged, like the spent challenges:
    // a crash of the database empties both, so that no challenge from before it counts.
    `CREATE UNLOGGED TABLE max.challenge_keys (organization_id bigint PRIMARY KEY CHECK (organization_id = 0), key bytea NOT NULL)`,
    `CREATE UNLOGGED TABLE max.spent_challenges (
      organization_id bigint NOT NULL, sha256 bytea NOT NULL, spent_at timestamptz NOT NULL DEFAULT now(),
      PRIMARY KEY (organization_id, sha256))`
  ]
}
