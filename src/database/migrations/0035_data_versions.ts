/** A number per organization that every write of its rows replaces, so that a standby can be compared with its primary. */
import type { Migration } from "./Migration.ts"

export const dataVersions: Migration = {
  id: 35,
  name: "data versions",
  // Beside max.organizations, whose row changes lock in share mode: two of them could not both go on to update it.
  statements: () => [
    `CREATE TABLE max.data_versions (organization_id bigint PRIMARY KEY, version bigint NOT NULL) WITH (fillfactor = 50)`
  ]
}
