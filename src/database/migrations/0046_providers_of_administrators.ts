/**
 * The id of the administrator who added an identity provider; NULL: an operator's command did. The provider of an administrator is asked
 * at public addresses only, and at those that the operator lists.
 */
import type { Migration } from "./Migration.ts"

export const providersOfAdministrators: Migration = {
  id: 46,
  name: "providers of administrators",
  statements: () => [`ALTER TABLE max.identity_providers ADD COLUMN added_by text`]
}
