/**
 * Text messages: which numbers are an organization's, who has written to them, what came in and what goes out. A sender
 * is a person's number on one of ours (`line`). The process with the sender's lease answers, so that one process at a time
 * handles a sender's messages in order. `due_at` is the time of the next poll.
 */
import type { Migration } from "./Migration.ts"

export const sms: Migration = {
  id: 8,
  name: "sms",
  statements: () => [
    `CREATE TABLE max.sms_settings (
      organization_id bigint PRIMARY KEY, contact text, open_role text)`,
    // A number belongs to one organization, so this key spans organizations.
    `CREATE TABLE max.sms_numbers (
      organization_id bigint NOT NULL, phone text NOT NULL, provider text NOT NULL, account text NOT NULL, secret text NOT NULL,
      created_at timestamptz NOT NULL DEFAULT now(),
      PRIMARY KEY (organization_id, phone), CONSTRAINT sms_numbers_phone_key UNIQUE (phone))`,
    `CREATE TABLE max.sms_senders (
      organization_id bigint NOT NULL, line text NOT NULL, phone text NOT NULL, anchor_id text NOT NULL DEFAULT '',
      session_id text, choices text[] NOT NULL DEFAULT '{}', heard_at timestamptz, refused_at timestamptz,
      stopped_at timestamptz, exchange bytea, exchanges int NOT NULL DEFAULT 0, exchanged_at timestamptz,
      hour bigint NOT NULL DEFAULT 0, in_hour int NOT NULL DEFAULT 0,
      due_at timestamptz, lease text, leased_until timestamptz,
      PRIMARY KEY (organization_id, line, phone))`,
    `CREATE INDEX ON max.sms_senders (organization_id, line, due_at)`,
    `CREATE INDEX ON max.sms_senders (organization_id, line, leased_until)`,
    `CREATE INDEX ON max.sms_senders (organization_id, phone)`,
    `CREATE TABLE max.sms_inbox (
      organization_id bigint NOT NULL, provider text NOT NULL, message_id text NOT NULL, line text NOT NULL, phone text NOT NULL,
      body text NOT NULL, media int NOT NULL DEFAULT 0, anchor_id text NOT NULL DEFAULT '', state text NOT NULL DEFAULT 'waiting',
      attempts int NOT NULL DEFAULT 0, text_id text, received_at timestamptz NOT NULL DEFAULT clock_timestamp(),
      PRIMARY KEY (organization_id, provider, message_id))`,
    `CREATE INDEX ON max.sms_inbox (organization_id, line, phone, state, received_at)`,
    `CREATE INDEX ON max.sms_inbox (organization_id, received_at)`,
    `CREATE TABLE max.sms_outbox (
      organization_id bigint NOT NULL, text_id text NOT NULL, line text NOT NULL, phone text NOT NULL, anchor_id text NOT NULL DEFAULT '',
      message_id text NOT NULL, kind text NOT NULL, body text NOT NULL, segments int NOT NULL, epoch bigint NOT NULL,
      state text NOT NULL CHECK (state IN ('queued', 'trying', 'dead', 'accepted', 'sent', 'delivered', 'undelivered')),
      error text, attempts int NOT NULL DEFAULT 0, provider_id text, created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
      next_at timestamptz NOT NULL DEFAULT now(), tried_at timestamptz, updated_at timestamptz NOT NULL DEFAULT now(),
      PRIMARY KEY (organization_id, text_id), UNIQUE (organization_id, line, message_id, kind))`,
    `CREATE INDEX ON max.sms_outbox (organization_id, line, phone, created_at)`,
    `CREATE INDEX ON max.sms_outbox (organization_id, created_at)`,
    `CREATE TABLE max.sms_days (
      organization_id bigint NOT NULL, day date NOT NULL, segments int NOT NULL, PRIMARY KEY (organization_id, day))`
  ]
}
