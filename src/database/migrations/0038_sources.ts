/** The source of a conversation: the ticket or e-mail that it answers, which is answered once. */
import type { Migration } from "./Migration.ts"

export const sources: Migration = {
  id: 38,
  name: "sources",
  statements: () => [
    `ALTER TABLE max.sessions ADD COLUMN source text, ADD COLUMN source_id text, ADD COLUMN source_from text`,
    `CREATE UNIQUE INDEX ON max.sessions (organization_id, anchor_id, source, source_id) WHERE source IS NOT NULL`
  ]
}
