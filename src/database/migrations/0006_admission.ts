/**
 * Admission: issued credentials, trusted identity providers, and each person's calls in the current minute. The calls
 * table is unlogged: a crash of the database loses its counts.
 */
import type { Migration } from "./Migration.ts"

export const admission: Migration = {
  id: 6,
  name: "admission",
  statements: () => [
    `CREATE TABLE max.credentials (
      organization_id bigint NOT NULL, credential_id text NOT NULL,
      kind text NOT NULL CHECK (kind IN ('token', 'session', 'link')), sha256 bytea NOT NULL, anchor_id text NOT NULL,
      name text NOT NULL, scopes text[] NOT NULL, created_at timestamptz NOT NULL DEFAULT now(),
      expires_at timestamptz NOT NULL, ended_at timestamptz,
      PRIMARY KEY (organization_id, credential_id), UNIQUE (organization_id, sha256),
      FOREIGN KEY (organization_id, anchor_id) REFERENCES max.memberships (organization_id, anchor_id))`,
    // An issuer with an audience identifies one organization, so this unique key spans organizations.
    `CREATE TABLE max.identity_providers (
      organization_id bigint NOT NULL, issuer text NOT NULL, audience text NOT NULL, jwks_url text NOT NULL,
      role_claim text, created_at timestamptz NOT NULL DEFAULT now(),
      PRIMARY KEY (organization_id, issuer, audience),
      CONSTRAINT identity_providers_issuer_audience_key UNIQUE (issuer, audience))`,
    `CREATE UNLOGGED TABLE max.calls (
      organization_id bigint NOT NULL, who text NOT NULL, minute bigint NOT NULL, calls int NOT NULL, granted int NOT NULL,
      PRIMARY KEY (organization_id, who)) WITH (fillfactor = 50)`
  ]
}
