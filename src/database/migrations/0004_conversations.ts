/**
 * Conversations and their cost. A session belongs to an anchor of an organization; a turn stores the texts and references,
 * never a tool's result. `spending` counts the day's budget in one row, shared by all processes.
 */
import type { Migration } from "./Migration.ts"

export const conversations: Migration = {
  id: 4,
  name: "conversations",
  statements: () => [
    `CREATE TABLE max.sessions (
      organization_id bigint NOT NULL, session_id text NOT NULL, anchor_id text NOT NULL, focus jsonb NOT NULL DEFAULT '[]',
      turns int NOT NULL DEFAULT 0, lease text, leased_until timestamptz,
      created_at timestamptz NOT NULL DEFAULT now(), updated_at timestamptz NOT NULL DEFAULT now(),
      PRIMARY KEY (organization_id, session_id))`,
    `CREATE INDEX ON max.sessions (organization_id, anchor_id, updated_at)`,
    `CREATE INDEX ON max.sessions (organization_id, updated_at)`,
    `CREATE TABLE max.turns (
      organization_id bigint NOT NULL, session_id text NOT NULL, position int NOT NULL, epoch bigint NOT NULL,
      asked text NOT NULL, answered text NOT NULL, refs jsonb NOT NULL, model text NOT NULL,
      input_tokens int NOT NULL, output_tokens int NOT NULL, reference text NOT NULL, created_at timestamptz NOT NULL DEFAULT now(),
      PRIMARY KEY (organization_id, session_id, position),
      FOREIGN KEY (organization_id, session_id) REFERENCES max.sessions (organization_id, session_id) ON DELETE CASCADE)`,
    `CREATE TABLE max.usage (
      organization_id bigint NOT NULL, day date NOT NULL, anchor_id text NOT NULL, model text NOT NULL,
      turns int NOT NULL, input_tokens bigint NOT NULL, output_tokens bigint NOT NULL,
      PRIMARY KEY (organization_id, day, anchor_id, model))`,
    `CREATE TABLE max.spending (
      organization_id bigint NOT NULL, day date NOT NULL, turns int NOT NULL, tokens bigint NOT NULL,
      PRIMARY KEY (organization_id, day))`
  ]
}
