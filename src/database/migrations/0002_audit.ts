/**
 * The audit log: append-only for the role that writes it, each record chained to the previous one by its hash. An
 * organization has two chains, so that a flood of refused reads never delays a change.
 */
import type { Migration } from "./Migration.ts"

export const audit: Migration = {
  id: 2,
  name: "audit",
  statements: () => [
    `CREATE TABLE max.audit_log (
      organization_id bigint NOT NULL, chain text NOT NULL CHECK (chain IN ('changes', 'reads')), sequence bigint NOT NULL,
      at timestamptz NOT NULL, actor text NOT NULL, action text NOT NULL, subject text NOT NULL, details text NOT NULL,
      hash bytea NOT NULL, PRIMARY KEY (organization_id, chain, sequence))`
  ]
}
