/** Checks the room on the server's disk. */
import { Effect } from "effect"
import { SqlError } from "effect/sql"
import { statfs } from "node:fs/promises"
import { faultOf } from "../../../database/fault.ts"
import { type Check, fail, ok, warn } from "./Finding.ts"

const GB = 1024 ** 3
const sized = (bytes: number) =>
  bytes < GB ? `${Math.ceil(bytes / 1024 ** 2)} MB` : `${(bytes / GB).toFixed(bytes < 10 * GB ? 1 : 0)} GB`

const DISK_FULL = "53100"
/** What the probe writes, which is also what has to be free: one segment of the write-ahead log. */
const PROBE_MB = 16
/**
 * Sorts more than its memory, so that Postgres writes a temporary file and removes it: the free space of another machine's disk
 * can't be read with SQL. An empty `temp_tablespaces` places the file on the database's own disk.
 */
const PROBE = `SELECT count(*) FROM (SELECT repeat(md5(g::text), 32) AS x FROM generate_series(1, ${PROBE_MB * 1024}) g ORDER BY 1 OFFSET 0) sorted`
const PROBE_SETTINGS = `SELECT set_config('work_mem', '64kB', true), set_config('temp_tablespaces', '', true),
  set_config('max_parallel_workers_per_gather', '0', true)`

export const disk: Check = Effect.fnUntraced(function* ({ from, owner }) {
  const [row] = yield* owner<{ size: string; folder: string | null }>`
      SELECT pg_database_size(current_database())::text AS size,
        CASE WHEN pg_has_role('pg_read_all_settings', 'USAGE') THEN current_setting('data_directory') END AS folder`
  const size = sized(Number(row!.size))
  const folder = row!.folder
  const free =
    !from.embedded || folder === null
      ? undefined
      : yield* Effect.promise(() =>
          statfs(folder).then(
            ({ bavail, bsize }) => bavail * bsize,
            () => undefined
          )
        )
  if (free !== undefined) {
    const room = `The database takes ${size}; ${sized(free)} are free.`
    const remedy = "Free space on that disk, or: max move --to a folder on another"
    return [free < 0.1 * GB ? fail("disk", room, remedy) : free < GB ? warn("disk", room, remedy) : ok("disk", room)]
  }
  const probed = yield* Effect.result(
    owner.withTransaction(Effect.andThen(owner.unsafe(PROBE_SETTINGS), owner.unsafe(PROBE)))
  )
  if (probed._tag === "Success")
    return [ok("disk", `The database takes ${size}; the server's disk has room for ${PROBE_MB} MB more, at least.`)]
  return SqlError.isSqlError(probed.failure) && faultOf(probed.failure).code === DISK_FULL
    ? [
        fail(
          "disk",
          `The server's disk is full: changes, imports and conversations fail; lookups may. The database takes ${size}.`,
          "Free space on that disk, or enlarge it. Never delete files of Postgres' folder by hand."
        )
      ]
    : [ok("disk", `The database takes ${size}. The free space of the server's disk is unknown from this machine.`)]
})
