/**
 * The webhook that tells of changes that wait for another person, and one notice for each such change. Of the secret that signs
 * them, only its reference is stored.
 */
import type { Migration } from "./Migration.ts"

export const approverWebhooks: Migration = {
  id: 44,
  name: "approver webhooks",
  statements: () => [
    // An organization without a row has no webhook.
    `CREATE TABLE max.approver_webhooks (
      organization_id bigint PRIMARY KEY REFERENCES max.organizations (organization_id),
      url text NOT NULL, secret text NOT NULL, set_at timestamptz NOT NULL DEFAULT clock_timestamp())`,
    `CREATE TABLE max.approver_notices (
      organization_id bigint NOT NULL, change_id text NOT NULL,
      state text NOT NULL CHECK (state IN ('queued', 'told', 'failed')), attempts int NOT NULL DEFAULT 1,
      next_at timestamptz NOT NULL DEFAULT clock_timestamp(), lease text, leased_until timestamptz, error text,
      updated_at timestamptz NOT NULL DEFAULT clock_timestamp(),
      PRIMARY KEY (organization_id, change_id),
      FOREIGN KEY (organization_id, change_id) REFERENCES max.changes (organization_id, change_id) ON DELETE CASCADE)`
  ]
}
