/**
 * Confirming changes by text message: off until an operator switches it on. A number has one code at a time, stored as a
 * hash; `tries` counts wrong codes from the number on any line, and is void an hour after the last one.
 */
import type { Migration } from "./Migration.ts"

export const changesByText: Migration = {
  id: 26,
  name: "changes by text",
  statements: () => [
    `ALTER TABLE max.sms_settings ADD COLUMN changes boolean NOT NULL DEFAULT false,
      ADD COLUMN tell_approvers boolean NOT NULL DEFAULT false`,
    `ALTER TABLE max.sms_outbox ADD COLUMN change_id text`,
    `CREATE TABLE max.sms_codes (
      organization_id bigint NOT NULL, phone text NOT NULL, line text, anchor_id text, change_id text, code_sha256 bytea,
      tries int NOT NULL DEFAULT 0, tried_at timestamptz,
      PRIMARY KEY (organization_id, phone))`
  ]
}
