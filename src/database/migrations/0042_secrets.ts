/**
 * Secrets that administrators set on a page, sealed or as the name of one of the operator's, and what an organization
 * sets about its model. A sealed secret opens with a key outside of the database, for its organization and name alone.
 */
import type { Migration } from "./Migration.ts"

export const secrets: Migration = {
  id: 42,
  name: "secrets",
  statements: () => [
    `CREATE TABLE max.secrets (
      organization_id bigint NOT NULL REFERENCES max.organizations (organization_id), name text NOT NULL,
      version bigint NOT NULL, sealed bytea, reference text, set_by text NOT NULL, set_at timestamptz NOT NULL DEFAULT now(),
      PRIMARY KEY (organization_id, name), CHECK ((sealed IS NULL) <> (reference IS NULL)))`,
    `CREATE TABLE max.model_settings (
      organization_id bigint PRIMARY KEY REFERENCES max.organizations (organization_id),
      model text, day_turns int CHECK (day_turns >= 0), day_tokens int CHECK (day_tokens >= 0))`
  ]
}
