/** Checks for moves of organizations that aren't finished, and for replication that a move left behind. */
import { Effect } from "effect"
import { SCHEMA_VERSION } from "../../../database/migrations/index.ts"
import { printable } from "../../../domain/text.ts"
import { folderOf, settingsFor } from "../move/Moving.ts"
import { type Check, type Finding, ok, warn } from "./Finding.ts"

interface Row {
  readonly slug: string
  readonly incoming: boolean
  readonly place: string
  readonly closed: boolean
  readonly moved: boolean
  readonly cleaned: boolean
}

const findingOf = ({ cleaned, closed, incoming, moved, place, slug }: Row): Finding => {
  const other = printable(place)
  const folder = folderOf(place)
  const again =
    folder === undefined
      ? `max move --org ${slug} --to env:NAME (of ${other}; the same command again, or with --undo)`
      : `max move --org ${slug} --to ${printable(folder)} (the same command again, or with --undo)`
  if (cleaned && !incoming) return ok("moves", `${slug} moved to ${other}.`)
  if (moved && !incoming)
    return warn("moves", `${slug} moved to ${other}; its rows are still here.`, `max move --org ${slug} --clean`)
  if (!incoming)
    return warn(
      "moves",
      closed
        ? `${slug} is closed here and waits for the end of its move to ${other}: its requests are unavailable.`
        : `${slug} is being copied to ${other}, and imports into it are refused.`,
      again
    )
  return warn(
    "moves",
    closed
      ? `${slug} is being copied here from ${other}, where it is in force.`
      : `${slug} is in force here; its move from ${other} isn't cleaned up.`,
    `max move --org ${slug} --to env:NAME (from ${other} to here, with ${settingsFor(place)}; the same command again)`
  )
}

export const moves: Check = Effect.fnUntraced(function* ({ inspection, owner }) {
  if (inspection.schemaVersion < SCHEMA_VERSION) return []
  const rows =
    yield* owner<Row>`SELECT slug, incoming, place, closed, moved_at IS NOT NULL AS moved, cleaned_at IS NOT NULL AS cleaned
    FROM max.moves ORDER BY slug`
  const slots = yield* owner<{ name: string; size: string }>`
    SELECT s.slot_name::text AS name, pg_size_pretty(pg_wal_lsn_diff(
      CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn() ELSE pg_current_wal_lsn() END, s.restart_lsn)) AS size
    FROM pg_replication_slots s WHERE s.database = current_database() AND s.slot_name LIKE 'max\\_move\\_%' AND NOT s.active`
  return [
    ...rows.map(findingOf),
    ...slots.map(({ name, size }) =>
      warn(
        "moves",
        `No server reads the replication slot ${name}, which keeps ${size} of the log, and more with every write.`,
        "Finish or undo the move, or, if there is none:",
        `SELECT pg_drop_replication_slot('${name}');`
      )
    )
  ]
})
