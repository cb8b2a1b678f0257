/**
 * Checks the ownership of data folders. A Postgres folder can run commands (archive_command, preloaded libraries), so
 * Max starts or joins only one that it created for this user and registered in the state folder.
 */
import { Effect, Redacted } from "effect"
import { randomBytes } from "node:crypto"
import { chmod, chown, lstat, mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises"
import { join } from "node:path"
import type { Binaries } from "./binaries.ts"
import { attempt, elsewhere, EmbeddedServerError, NotYet, refusal } from "./error.ts"
import { digest, exists, makeFolder, type Place, requireOwned } from "./folders.ts"
import { isRoot, type ServerUser, withLock } from "./processes.ts"
import { runInitdb } from "./programs.ts"
import {
  readId,
  readPassword,
  readRegistration,
  registrationOf,
  requireSameFolder,
  syncFolder,
  writeId,
  writeNew,
  writePassword,
  writeRegistration
} from "./registration.ts"

/** A data folder that Max created and registered. */
export interface Installation {
  readonly id: string
  /** Owned by the current user; `cluster` inside it belongs to the server's user. */
  readonly dataDir: string
  readonly cluster: string
  /** Its folder in the state folder: password, registration, log. */
  readonly home: string
  readonly lock: string
  readonly server: ServerUser
  readonly password: Redacted.Redacted<string>
}

const clusterName = "pg"

/** Whether the data folder has a database. */
export const hasCluster = (place: Place): Effect.Effect<boolean> => exists(join(place.dataDir, clusterName))

/** The installation of the data folder. Creates it in a new or empty folder; refuses any other content. */
export const openInstallation = Effect.fnUntraced(function* (
  place: Place,
  major: string,
  binaries: Effect.Effect<Binaries, EmbeddedServerError>
): Effect.fn.Return<Installation, EmbeddedServerError | NotYet> {
  const existing = yield* readInstallation(place, major)
  if (existing !== undefined) return existing
  const create = Effect.gen(function* () {
    // Another process may have created it before this one got the lock.
    return (yield* readInstallation(place, major)) ?? (yield* createInstallation(place, yield* binaries))
  })
  return yield* attempt("Max can't use its state folder", () => makeFolder(installationsIn(place))).pipe(
    Effect.andThen(withLock(lockOf(place), create))
  )
})

/** Reads the installation again: the folder can be replaced while a process runs. */
export const recheck = Effect.fnUntraced(function* (place: Place, major: string) {
  const installation = yield* readInstallation(place, major)
  return installation ?? (yield* refusal(`The database folder ${place.dataDir} is gone: restore it or restart Max.`))
})

const installationsIn = (place: Place): string => join(place.stateDir, "embedded")
const homeOf = (place: Place, id: string): string => join(installationsIn(place), id)
const lockOf = (place: Place): string => join(installationsIn(place), `${digest(place.dataDir, 16)}.lock`)

const readInstallation = Effect.fnUntraced(function* (
  place: Place,
  major: string
): Effect.fn.Return<Installation | undefined, EmbeddedServerError> {
  const cluster = join(place.dataDir, clusterName)
  if (!(yield* exists(cluster))) return undefined
  yield* requireOwned(place.dataDir, place.user)
  const id = yield* readId(cluster)
  const registration = id === undefined ? undefined : yield* readRegistration(homeOf(place, id))
  if (id === undefined || registration === undefined) return yield* notRegistered(place.dataDir)
  const home = homeOf(place, id)
  const server = { uid: registration.uid, gid: registration.gid, name: `uid ${registration.uid}` }
  yield* requireOwned(cluster, server)
  yield* requireSameFolder(cluster, registration, home)
  yield* requireMajor(place.dataDir, cluster, major)
  yield* requireNoOverrides(cluster)
  return {
    id,
    dataDir: place.dataDir,
    cluster,
    home,
    lock: lockOf(place),
    server,
    password: yield* readPassword(home, place.user)
  }
})

const notRegistered = (dataDir: string): EmbeddedServerError =>
  refusal(
    `${dataDir} has a Postgres database that your Max didn't create. Starting it could run its commands, so it stays untouched. ${elsewhere}`
  )

const requireMajor = Effect.fnUntraced(function* (dataDir: string, cluster: string, major: string) {
  const text = yield* attempt(`Max can't read ${cluster}`, () => readFile(join(cluster, "PG_VERSION"), "utf8"))
  const found = text.trim().slice(0, 20)
  if (found !== major) {
    return yield* refusal(
      `${dataDir} was written by Postgres ${found} and this Max brings Postgres ${major}: export the data with the Max that wrote it, or set MAX_DATA_DIR to a new folder.`
    )
  }
})

/** Max passes settings on the command line and disables ALTER SYSTEM, so any setting in this file came from elsewhere. */
const requireNoOverrides = Effect.fnUntraced(function* (cluster: string) {
  const path = join(cluster, "postgresql.auto.conf")
  const text = yield* Effect.promise(() => readFile(path, "utf8").catch(() => ""))
  if (text.split("\n").some((line) => !/^\s*(#|$)/.test(line))) {
    return yield* refusal(`${path} has settings that Max didn't write, so it doesn't start this database: remove them.`)
  }
})

const createInstallation = Effect.fnUntraced(function* (
  place: Place,
  binaries: Binaries
): Effect.fn.Return<Installation, EmbeddedServerError> {
  yield* claimFolder(place)
  const id = randomBytes(16).toString("hex")
  const password = randomBytes(32).toString("base64url")
  return yield* attempt("Max can't write into its state folder", async () => {
    await mkdir(homeOf(place, id), { mode: 0o700 })
    await writePassword(homeOf(place, id), password)
  }).pipe(
    Effect.andThen(fillCluster(place, binaries, id, password)),
    Effect.onError(() => discard(place, id))
  )
})

/** Claims a new or empty folder, or one where an earlier attempt was killed. */
const claimFolder = Effect.fnUntraced(function* (place: Place) {
  const { dataDir } = place
  yield* attempt(`Max can't use the database folder ${dataDir}`, () => makeFolder(dataDir))
  const stats = yield* attempt(`Max can't inspect ${dataDir}`, () => lstat(dataDir))
  if (stats.uid !== place.user.uid) yield* requireOwned(dataDir, place.user)
  const entries = yield* attempt(`Max can't read ${dataDir}`, () => readdir(dataDir))
  const leftovers = new Set<string>()
  for (const entry of entries.filter((name) => !ignoredEntries.includes(name))) {
    const id = /^init-([0-9a-f]{32})(\.secret)?$/.exec(entry)?.[1]
    if (id === undefined || !(yield* exists(homeOf(place, id)))) {
      return yield* entries.includes("PG_VERSION")
        ? notRegistered(dataDir)
        : refusal(`${dataDir} isn't empty and your Max didn't create it, so it stays untouched. ${elsewhere}`)
    }
    leftovers.add(id)
  }
  yield* Effect.forEach(leftovers, (id) => discard(place, id), { discard: true })
  // As root, the server's user must traverse this folder to reach the cluster.
  yield* attempt(`Max can't use ${dataDir}`, () => chmod(dataDir, isRoot(place.user) ? 0o711 : 0o700))
})

/** Entries that a folder may have and still count as empty. */
const ignoredEntries = ["lost+found", ".DS_Store", ".gitignore"]

/** Runs initdb in a temporary folder and renames it at the end, so that a cluster is complete or absent. */
const fillCluster = Effect.fnUntraced(function* (
  place: Place,
  binaries: Binaries,
  id: string,
  password: string
): Effect.fn.Return<Installation, EmbeddedServerError> {
  const { dataDir, server } = place
  const [home, cluster, partial] = [homeOf(place, id), join(dataDir, clusterName), partialOf(place, id)]
  const passwordFile = `${partial}.secret`
  const owner = isRoot(place.user) ? server : undefined
  yield* attempt("Max can't create its database folder", async () => {
    await writeNew(passwordFile, password, owner)
    await mkdir(partial, { mode: 0o700 })
    if (owner !== undefined) await chown(partial, owner.uid, owner.gid)
  })
  yield* runInitdb({ initdb: binaries.initdb, cluster: partial, passwordFile, server })
  const stats = yield* attempt("Max can't finish its database folder", async () => {
    await rm(passwordFile)
    await writeId(partial, id, owner)
    return lstat(partial, { bigint: true })
  })
  yield* writeRegistration(home, registrationOf(cluster, stats, server))
  yield* attempt("Max can't finish its database folder", async () => {
    // Keeps the database out of the project's version control.
    await writeFile(join(dataDir, ".gitignore"), "*\n")
    await rename(partial, cluster)
    await syncFolder(dataDir).catch(() => undefined)
  }).pipe(Effect.uninterruptible)
  return { id, dataDir, cluster, home, lock: lockOf(place), server, password: Redacted.make(password) }
})

const partialOf = (place: Place, id: string): string => join(place.dataDir, `init-${id}`)

/** Removes the files of a failed attempt; retries, because its initdb may still be writing. */
const discard = Effect.fnUntraced(function* (place: Place, id: string) {
  if ((yield* readId(join(place.dataDir, clusterName))) === id) return
  const leftovers = [partialOf(place, id), `${partialOf(place, id)}.secret`, homeOf(place, id)]
  yield* Effect.promise(async () => {
    for (const path of leftovers) {
      await rm(path, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 }).catch(() => undefined)
    }
  })
})
