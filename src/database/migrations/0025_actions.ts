/**
 * Declared actions and their outbox. A version of an action is immutable, and a retired action has a last version without a
 * definition. A step is marked as tried before its service gets the request.
 */
import type { Migration } from "./Migration.ts"

export const actions: Migration = {
  id: 25,
  name: "actions",
  statements: () => [
    `CREATE TABLE max.actions (
      organization_id bigint NOT NULL, slug text NOT NULL, version int NOT NULL, definition jsonb, sha256 text NOT NULL,
      author text NOT NULL, published_at timestamptz NOT NULL DEFAULT now(),
      PRIMARY KEY (organization_id, slug, version))`,
    `CREATE TABLE max.change_outbox (
      organization_id bigint NOT NULL, change_id text NOT NULL, step int NOT NULL, action text NOT NULL, version int NOT NULL,
      idempotency_key text NOT NULL,
      state text NOT NULL DEFAULT 'queued' CHECK (state IN ('queued', 'trying', 'done', 'refused', 'unknown', 'dead')),
      unsure boolean NOT NULL DEFAULT false, attempts int NOT NULL DEFAULT 0, next_at timestamptz NOT NULL DEFAULT clock_timestamp(),
      lease text, leased_until timestamptz, status int, error text, problem text, result jsonb,
      created_at timestamptz NOT NULL DEFAULT clock_timestamp(), updated_at timestamptz NOT NULL DEFAULT clock_timestamp(),
      PRIMARY KEY (organization_id, change_id, step),
      FOREIGN KEY (organization_id, change_id) REFERENCES max.changes (organization_id, change_id) ON DELETE CASCADE)`,
    `CREATE INDEX ON max.change_outbox (organization_id, next_at) WHERE state IN ('queued', 'trying')`
  ]
}
