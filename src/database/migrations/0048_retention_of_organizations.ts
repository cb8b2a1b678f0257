/** For how many days an organization keeps unused conversations, if it wants them shorter than the operator does. */
import type { Migration } from "./Migration.ts"

export const retentionOfOrganizations: Migration = {
  id: 48,
  name: "retention of organizations",
  statements: () => [
    `ALTER TABLE max.organizations ADD COLUMN conversation_days int CHECK (conversation_days BETWEEN 1 AND 3650)`
  ]
}
