/**
 * What the state folder remembers of a data folder, and how a folder is told from a copy of it.
 */
import { Effect, Option, Redacted, Schema } from "effect"
import type { BigIntStats } from "node:fs"
import { lstat, open, readFile, rename } from "node:fs/promises"
import { join } from "node:path"
import { attempt, elsewhere, EmbeddedServerError, refusal } from "./error.ts"
import { exists } from "./folders.ts"
import type { ServerUser } from "./processes.ts"

/** What the state folder remembers of a data folder. Device and inode are what a copy can't have. */
const Registration = Schema.fromJsonString(
  Schema.Struct({
    cluster: Schema.String,
    device: Schema.String,
    /** Left out by hand, it is taken from the folder: how someone vouches for a backup of their own. */
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
 * A folder that was moved keeps device and inode; one whose disk got another device number (as btrfs and network
 * disks do at every boot) keeps path and inode; a copy keeps neither.
 */
export const requireSameFolder = Effect.fnUntraced(function* (cluster: string, known: Registration, home: string) {
  const stats = yield* attempt(`Max can't look at ${cluster}`, () => lstat(cluster, { bigint: true }))
  const [device, inode] = [String(stats.dev), String(stats.ino)]
  const vouched = known.inode === undefined
  const same = known.inode === inode && (known.cluster === cluster || known.device === device)
  if (!vouched && !same) {
    return yield* refusal(
      `${cluster} is a copy of the database folder ${known.cluster} and may have been changed, so Max doesn't start it. ${elsewhere} If it is your own backup, take "inode" out of ${join(home, "registration.json")}.`
    )
  }
  if (vouched || known.cluster !== cluster || known.device !== device) {
    yield* writeRegistration(home, { ...known, cluster, device, inode })
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

/** The id goes into the cluster, so that an archive unpacked over it brings its own or none. */
export const writeId = (cluster: string, id: string, owner: ServerUser | undefined): Promise<void> =>
  writeNew(join(cluster, idName), id, owner)

export const writePassword = (home: string, password: string): Promise<void> => writeNew(join(home, "secret"), password)

export const readPassword = Effect.fnUntraced(function* (home: string, user: ServerUser) {
  const path = join(home, "secret")
  const stats = yield* attempt("Max can't find its database password", () => lstat(path))
  if (!stats.isFile() || stats.uid !== user.uid || (stats.mode & 0o077) !== 0) {
    return yield* refusal(`${path} should be a file that only you can read: chmod 600 ${path}`)
  }
  const text = yield* attempt("Max can't read its database password", () => readFile(path, "utf8"))
  return Redacted.make(text.trim())
})

/** Creates a private file and waits for the disk: losing the password to a power cut would lose the data. */
export const writeNew = async (path: string, text: string, owner?: ServerUser): Promise<void> => {
  // Never follows a link that someone else put there first.
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
