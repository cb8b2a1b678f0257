/**
 * Stored traces: one row each, with spans in export format. Span names and self times are columns, so that one aggregate
 * shows where the time went. Unlogged: a crash may lose traces.
 */
import type { Migration } from "./Migration.ts"

export const traces: Migration = {
  id: 7,
  name: "traces",
  statements: () => [
    `CREATE UNLOGGED TABLE max.traces (
      organization_id bigint NOT NULL, trace_id text COLLATE "C" NOT NULL, root_span_id text COLLATE "C" NOT NULL,
      reference text COLLATE "C" NOT NULL, started_at timestamptz NOT NULL, name text NOT NULL, microseconds bigint NOT NULL,
      failure text, denied boolean NOT NULL, span_names text[] NOT NULL, self_microseconds bigint[] NOT NULL,
      document text NOT NULL, bytes int NOT NULL, PRIMARY KEY (organization_id, trace_id, root_span_id))`,
    `CREATE INDEX ON max.traces (organization_id, started_at, trace_id)`,
    `CREATE UNLOGGED TABLE max.traced_statements (
      organization_id bigint NOT NULL, hash text COLLATE "C" NOT NULL, statement text NOT NULL,
      seen_at timestamptz NOT NULL DEFAULT now(), PRIMARY KEY (organization_id, hash))`
  ]
}
