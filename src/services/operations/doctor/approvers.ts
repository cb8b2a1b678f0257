/** Checks the webhooks that tell of changes that wait for another person. */
import { Effect } from "effect"
import { printable } from "../../../domain/text.ts"
import { type Check, ok, warn } from "./Finding.ts"

const NAME = "webhooks"
/** The migration that has these webhooks. */
const WEBHOOKS = 44

interface Row {
  readonly slug: string
  readonly error: string | null
  readonly failed: number
}

/** What came of the latest notice, and how many of the last week failed. */
export const approvers: Check = Effect.fnUntraced(function* ({ inspection, owner }) {
  if (inspection.schemaVersion < WEBHOOKS) return []
  const rows = yield* owner<Row>`SELECT o.slug, n.error, n.failed
    FROM max.approver_webhooks w JOIN max.organizations o ON o.organization_id = w.organization_id, LATERAL (
      SELECT (array_agg(s.error ORDER BY s.updated_at DESC))[1] AS error, count(*) FILTER (WHERE s.state = 'failed')::int AS failed
      FROM max.approver_notices s WHERE s.organization_id = w.organization_id AND s.updated_at > now() - interval '7 days') n
    ORDER BY o.slug`
  const failing = rows.filter(({ error }) => error !== null)
  if (rows.length > 0 && failing.length === 0)
    return [ok(NAME, `${rows.length === 1 ? "1 webhook tells" : `${rows.length} webhooks tell`} approvers.`)]
  return failing.map(({ error, failed, slug }) =>
    warn(
      NAME,
      `The webhook of ${printable(slug)} doesn't tell approvers: ${printable(error ?? "")} (${failed} given up in a week).`,
      ...mendOf(error ?? "", slug)
    )
  )
})

const mendOf = (error: string, slug: string): ReadonlyArray<string> =>
  error === "secret"
    ? ["Bring its secret to where max serve runs, under the name that this shows:", `max change webhook --org ${slug}`]
    : error === "host"
      ? ["Its host is private: list it in MAX_PRIVATE_HOSTS, or declare another:", `max change webhook --org ${slug}`]
      : ["Look at what it answers, or declare another:", `max change webhook --org ${slug}`]
