/**
 * Changes: proposals with their steps and events. A document is immutable; after the retention period it is removed, and its
 * digest stays. Events are append-only, as the audit log is.
 */
import type { Migration } from "./Migration.ts"

export const changes: Migration = {
  id: 20,
  name: "changes",
  statements: () => [
    `CREATE TABLE max.changes (
      organization_id bigint NOT NULL, change_id text NOT NULL,
      state text NOT NULL CHECK (state IN ('drafted', 'open', 'waiting', 'applied', 'rejected', 'withdrawn', 'expired', 'stale', 'failed')),
      level text NOT NULL CHECK (level IN ('none', 'once', 'twice', 'second')), approvers text[] NOT NULL DEFAULT '{}',
      destructive boolean NOT NULL, rows int NOT NULL,
      proposer_id text NOT NULL, actor jsonb, scope jsonb, credential_id text, channel text NOT NULL,
      session_id text, turn int, reference text, key bytea NOT NULL, digest bytea NOT NULL, document text,
      yes_at timestamptz, created_at timestamptz NOT NULL DEFAULT clock_timestamp(), expires_at timestamptz NOT NULL,
      decided_at timestamptz, decided_by text, decided_channel text, receipt jsonb,
      undoes text, undone_by text, replaced_by text,
      PRIMARY KEY (organization_id, change_id))`,
    `CREATE UNIQUE INDEX ON max.changes (organization_id, proposer_id, key) WHERE state IN ('drafted', 'open', 'waiting')`,
    `CREATE INDEX ON max.changes (organization_id, state, expires_at)`,
    `CREATE INDEX ON max.changes (organization_id, proposer_id, created_at)`,
    `CREATE INDEX ON max.changes (organization_id, session_id, created_at)`,
    `CREATE TABLE max.change_steps (
      organization_id bigint NOT NULL, change_id text NOT NULL, step int NOT NULL, action_key text NOT NULL,
      action_version int NOT NULL, type_key text, entity_id text, columns text[] NOT NULL DEFAULT '{}', applied_at timestamptz,
      PRIMARY KEY (organization_id, change_id, step),
      FOREIGN KEY (organization_id, change_id) REFERENCES max.changes (organization_id, change_id) ON DELETE CASCADE)`,
    `CREATE INDEX ON max.change_steps (organization_id, type_key, entity_id, applied_at)`,
    `CREATE TABLE max.change_events (
      organization_id bigint NOT NULL, change_id text NOT NULL, sequence int NOT NULL,
      at timestamptz NOT NULL DEFAULT clock_timestamp(), phase text NOT NULL, who text NOT NULL, credential_id text,
      channel text NOT NULL, ms int, outcome text NOT NULL, detail jsonb NOT NULL DEFAULT '{}',
      PRIMARY KEY (organization_id, change_id, sequence))`,
    `CREATE INDEX ON max.change_events (organization_id, at)`
  ]
}
