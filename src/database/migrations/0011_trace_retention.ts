/** Supports following new traces and limiting their total size. */
import type { Migration } from "./Migration.ts"

export const traceRetention: Migration = {
  id: 11,
  name: "trace retention",
  statements: () => [
    `ALTER TABLE max.traces ADD COLUMN stored_at timestamptz NOT NULL DEFAULT now()`,
    `CREATE INDEX ON max.traces (stored_at)`,
    `CREATE INDEX ON max.traces (started_at)`
  ]
}
