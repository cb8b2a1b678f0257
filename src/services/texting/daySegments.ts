/** The segments that an organization's texts of a day may have, counted in one row. */
import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"

interface Spending {
  readonly organizationId: bigint
  /** Where the organization's day begins. */
  readonly timeZone: string
  readonly segments: number
  /** The most of a day. */
  readonly limit: number
}

/** Counts segments of today if they fit; false otherwise. */
export const spendSegments = (sql: PgClient.PgClient, { limit, organizationId, segments, timeZone }: Spending) =>
  Effect.map(
    sql`INSERT INTO max.sms_days AS d (organization_id, day, segments)
      SELECT ${organizationId}::bigint, (now() AT TIME ZONE ${timeZone})::date, ${segments}::int
      WHERE ${segments}::int <= ${limit}::int
      ON CONFLICT (organization_id, day) DO UPDATE SET segments = d.segments + excluded.segments
      WHERE d.segments + excluded.segments <= ${limit}::int RETURNING 1 AS one`,
    (rows) => rows.length > 0
  )
