/**
 * Named turns of all processes. A row is the claim of the process that answers, and after the end the events of the answer,
 * for a minute. The table is unlogged: a crash of the database frees the names. A conversation takes its turns with it.
 */
import type { Migration } from "./Migration.ts"

export const turnNames: Migration = {
  id: 16,
  name: "turn names",
  statements: () => [
    `CREATE UNLOGGED TABLE max.turn_names (
      organization_id bigint NOT NULL, anchor_id text NOT NULL, basis text NOT NULL, name text NOT NULL,
      message text NOT NULL, holder text NOT NULL, attempt int NOT NULL DEFAULT 0,
      events text NOT NULL DEFAULT '', ended boolean NOT NULL DEFAULT false, session_id text,
      created_at timestamptz NOT NULL DEFAULT clock_timestamp(), followed_until timestamptz,
      expires_at timestamptz NOT NULL, until timestamptz NOT NULL,
      PRIMARY KEY (organization_id, anchor_id, basis, name),
      FOREIGN KEY (organization_id, session_id) REFERENCES max.sessions (organization_id, session_id) ON DELETE CASCADE)`
  ]
}
