/** The state folder's record of a data folder: its password, its id, and the device and inode that tell it from a copy. */
import { Effect, Option, Redacted, Schema } from "effect"
import type { BigIntStats } from "node:fs"
import { lstat, open, readFile, rename } from "node:fs/promises"
import { join } from "node:path"
import { attempt, elsewhere, EmbeddedServerError, refusal } from "./error.ts"
import { exists } from "./folders.ts"
import type { ServerUser } from "./processes.ts"

const Registration = Schema.fromJsonString(
  Schema.Struct({
    cluster: Schema.String,
    device: Schema.String,
    /** Absent when the user removed it by hand, to accept a restored copy: the next start records the folder's own. */
    inode: Schema.optionalKey(Schema.String),
    uid: Schema.Int,
    gid: Schema.Int
  })
)
export type Registration = typeof Registration.Type

const idName = "max-installation"

export const readId = (cluster: string): Effect.Effect<string | undefined> =>
  Effect.promise(() => readFile(join(cluster, idName), "utf8").catch(() => "")).pipe(
    Effect.map((text) => /^[0-9a-f]{32}$/.exec(text.trim())?.[0])
  )

export const readRegistration = Effect.fnUntraced(function* (
  home: string
): Effect.fn.Return<Registration | undefined, EmbeddedServerError> {
  const path = join(home, "registration.json")
  if (!(yield* exists(path))) return undefined
  const text = yield* attempt("Max can't read a registration", () => readFile(path, "utf8"))
  const registration = Schema.decodeOption(Registration)(text)
  if (Option.isNone(registration)) return yield* refusal(`${path} is damaged: restore it. ${elsewhere}`)
  return registration.value
})

/**
 * A moved folder keeps device and inode. A remounted one, such as on btrfs or a network disk, keeps path and inode. A
 * copy keeps neither pair and is refused.
 */
export const requireSameFolder = Effect.fnUntraced(function* (cluster: string, registered: Registration, home: string) {
  const stats = yield* attempt(`Max can't inspect ${cluster}`, () => lstat(cluster, { bigint: true }))
  const [device, inode] = [String(stats.dev), String(stats.ino)]
  const accepted = registered.inode === undefined
  const same = registered.inode === inode && (registered.cluster === cluster || registered.device === device)
  if (!accepted && !same) {
    return yield* refusal(
      `${cluster} is a copy of the database folder ${registered.cluster} and may have been changed, so Max doesn't start it. ${elsewhere} If it is your own backup, remove "inode" from ${join(home, "registration.json")}.`
    )
  }
  if (accepted || registered.cluster !== cluster || registered.device !== device) {
    yield* writeRegistration(home, { ...registered, cluster, device, inode })
  }
})

export const registrationOf = (cluster: string, stats: BigIntStats, server: ServerUser): Registration => ({
  cluster,
  device: String(stats.dev),
  inode: String(stats.ino),
  uid: server.uid,
  gid: server.gid
})

export const writeRegistration = (home: string, registration: Registration): Effect.Effect<void, EmbeddedServerError> =>
  attempt("Max can't write into its state folder", async () => {
    const path = join(home, "registration.json")
    const partial = `${path}.${process.pid}`
    await writeNew(partial, Schema.encodeSync(Registration)(registration))
    await rename(partial, path)
    await syncFolder(home)
  })

/** The id is a file of the cluster: an archive unpacked over the cluster replaces or removes it. */
export const writeId = (cluster: string, id: string, owner: ServerUser | undefined): Promise<void> =>
  writeNew(join(cluster, idName), id, owner)

export const writePassword = (home: string, password: string): Promise<void> => writeNew(join(home, "secret"), password)

export const readPassword = Effect.fnUntraced(function* (home: string, user: ServerUser) {
  const path = join(home, "secret")
  const stats = yield* attempt("Max can't find its database password", () => lstat(path))
  if (!stats.isFile() || stats.uid !== user.uid || (stats.mode & 0o077) !== 0) {
    return yield* refusal(`${path} must be a file that only you can read: chmod 600 ${path}`)
  }
  const text = yield* attempt("Max can't read its database password", () => readFile(path, "utf8"))
  return Redacted.make(text.trim())
})

/** Creates a private file and syncs it: losing the password in a power cut would lose the data. */
export const writeNew = async (path: string, text: string, owner?: ServerUser): Promise<void> => {
  // "wx" never follows a symbolic link that another user placed there first.
  const file = await open(path, "wx", 0o600)
  try {
    await file.writeFile(text)
    if (owner !== undefined) await file.chown(owner.uid, owner.gid)
    await file.sync()
  } finally {
    await file.close()
  }
}

export const syncFolder = async (path: string): Promise<void> => {
  const folder = await open(path, "r")
  await folder.sync().finally(() => folder.close())
}
