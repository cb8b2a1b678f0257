/** Organizations that are closed here, because they moved to another database or are arriving from one (`max.moves`). */

/** Whether the organization of an SQL expression is closed here. Statements over several organizations leave such out. */
export const isClosed = (organization: string): string =>
  `EXISTS (SELECT FROM max.moves v WHERE v.organization_id = ${organization} AND v.closed)`

/** The cause of `Unavailable` for its requests. */
export const MOVED = "moved"
