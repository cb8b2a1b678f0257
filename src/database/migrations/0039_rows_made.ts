/** The rows that a change has added to mapped tables, whose ids the database gave, for their history and for undoing it. */
import type { Migration } from "./Migration.ts"

export const rowsMade: Migration = {
  id: 39,
  name: "rows made",
  statements: () => [`ALTER TABLE max.changes ADD COLUMN made jsonb`]
}
