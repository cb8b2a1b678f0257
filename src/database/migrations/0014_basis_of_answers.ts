/**
 * Stores with each answer what it was made from (`Basis`). Answers stored earlier have no basis: only operators see them, and
 * a text that waits in the outbox is asked again.
 */
import type { Migration } from "./Migration.ts"

export const basisOfAnswers: Migration = {
  id: 14,
  name: "basis of answers",
  statements: () => [
    `ALTER TABLE max.turns ADD COLUMN basis text, ADD COLUMN expires_at timestamptz`,
    `ALTER TABLE max.sms_outbox ADD COLUMN expires_at timestamptz`
  ]
}
