/** How long what people asked is kept: as the operator has it, or shorter where the organization wants it shorter. */
import type { PgClient } from "@effect/sql-pg"
import type { Fragment } from "effect/sql/Statement"

/** The days of an organization, which is an id or a column; `least` ignores NULL. */
export const keptDays = (sql: PgClient.PgClient, organization: bigint | Fragment, days: number): Fragment =>
  sql`least(${days}::int, (SELECT o.conversation_days FROM max.organizations o WHERE o.organization_id = ${organization}))`
