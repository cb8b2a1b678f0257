/** Checks what follows the server, and whether a failover would keep what was acknowledged and reach the new leader. */
import { Effect, Redacted } from "effect"
import { lookup } from "node:dns/promises"
import { type Check, fail, ok, warn } from "./Finding.ts"

const NAME = "standbys"

/**
 * Patroni starts Postgres with the cluster's name and `hot_standby` on the command line. A standby that is gone leaves `synchronous_standby_names`
 * in place only where Postgres itself is configured: then no commit returns.
 */
const STATE = `SELECT (SELECT count(*)::int FROM pg_stat_replication) AS count,
  current_setting('synchronous_standby_names') <> '' AS names,
  current_setting('synchronous_commit') NOT IN ('off', 'local') AS waits,
  (SELECT c.setting FROM pg_settings c, pg_settings h WHERE c.name = 'cluster_name' AND c.setting <> '' AND c.source = 'command line'
    AND h.name = 'hot_standby' AND h.source = 'command line') AS cluster,
  host(inet_server_addr()) AS host, inet_server_port() AS port`

interface State {
  readonly count: number
  readonly names: boolean
  readonly waits: boolean
  readonly cluster: string | null
  readonly host: string | null
  readonly port: number | null
}

export const standbys: Check = Effect.fnUntraced(function* ({ from, inspection, owner }) {
  if (from.embedded || inspection.inRecovery) return []
  const [state] = yield* owner.unsafe<State>(STATE)
  const { cluster, count, names, waits } = state!
  const isOwn = cluster !== null && (yield* isOwnAddress(from.connect.url, state!))
  return [
    ...(count > 0
      ? [
          names && waits
            ? ok(NAME, `${count} follow this server; a commit waits for a synchronous one.`)
            : warn(
                NAME,
                `${count} follow this server asynchronously: a failover can lose acknowledged changes, such as a suspension.`,
                "synchronous_mode: true (in Patroni: patronictl edit-config)"
              )
        ]
      : names && waits
        ? [
            fail(
              NAME,
              "Commits wait for a synchronous standby, and none follows: changes don't return.",
              "Start a standby, or: ALTER SYSTEM SET synchronous_standby_names = ''; (then SELECT pg_reload_conf();)"
            )
          ]
        : cluster === null
          ? []
          : [
              warn(
                NAME,
                "No standby follows this server, the leader of a cluster: if it fails, Max waits until it is back.",
                "patronictl list (a standby whose Postgres is down: patronictl reinit CLUSTER MEMBER)"
              )
            ]),
    ...(isOwn
      ? [
          warn(
            NAME,
            "DATABASE_URL is the own address of one node of a cluster: after a failover it leads to a server that is no longer the leader, and may still answer.",
            "DATABASE_URL=postgres://… (the address of the proxy that follows the leader)"
          )
        ]
      : [])
  ]
})

/** Whether the URL's host and port are the server's own; a proxy or translated addresses make them differ. */
const isOwnAddress = (url: Redacted.Redacted<string> | undefined, { host, port }: State): Effect.Effect<boolean> => {
  if (url === undefined || host === null) return Effect.succeed(false)
  const parsed = new URL(Redacted.value(url))
  const name = parsed.searchParams.get("host") ?? parsed.hostname.replace(/^\[|\]$/g, "")
  if (Number(parsed.searchParams.get("port") ?? (parsed.port || 5432)) !== port) return Effect.succeed(false)
  return Effect.promise(() =>
    lookup(name, { all: true }).then(
      (found) => found.some(({ address }) => address === host),
      () => false
    )
  )
}
