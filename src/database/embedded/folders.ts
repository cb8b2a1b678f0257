/**
 * Resolves the state, data and socket folders and checks their owners and modes. As root, the data folder moves to a
 * shared place when the server's user can't enter the configured one.
 */
import { Effect } from "effect"
import { createHash } from "node:crypto"
import { constants, type Stats } from "node:fs"
import { access, chmod, chown, lstat, mkdir, realpath, stat } from "node:fs/promises"
import { basename, dirname, join } from "node:path"
import { attempt, elsewhere, EmbeddedServerError, refusal } from "./error.ts"
import { currentUser, isRoot, type ServerUser, unprivilegedUser } from "./processes.ts"

/** The checked folders of one database, and the user its server runs as. */
export interface Place {
  readonly stateDir: string
  readonly dataDir: string
  readonly user: ServerUser
  readonly server: ServerUser
  readonly notice?: string
}

export const settle = Effect.fnUntraced(function* (options: {
  readonly dataDir: string
  readonly stateDir: string
}): Effect.fn.Return<Place, EmbeddedServerError> {
  const user = yield* currentUser
  const stateDir = yield* openStateFolder(options.stateDir, user)
  if (!isRoot(user)) return { stateDir, dataDir: yield* resolveFolder(options.dataDir), user, server: user }

  const server = yield* unprivilegedUser
  const configured = yield* Effect.promise(() => canonical(options.dataDir))
  if (yield* canEnter(dirname(configured), server)) {
    const dataDir = yield* resolveFolder(configured)
    // Parents just created follow root's umask and may be closed to others.
    if (yield* canEnter(dirname(dataDir), server)) return { stateDir, dataDir, user, server }
  }
  const dataDir = join(yield* sharedFolder(user), digest(configured, 16))
  const notice = `The database is in ${dataDir}: its server runs as user ${server.name}, which can't enter ${configured}.`
  return { stateDir, dataDir, user, server, notice }
})

export const exists = (path: string): Effect.Effect<boolean> =>
  Effect.promise(() =>
    lstat(path).then(
      () => true,
      () => false
    )
  )

export const digest = (text: string, length: number): string =>
  createHash("sha256").update(text).digest("hex").slice(0, length)

const openStateFolder = Effect.fnUntraced(function* (path: string, user: ServerUser) {
  const [folder, stats] = yield* attempt(`Max can't use its state folder ${path}`, async () => {
    await makeFolder(path)
    const folder = await realpath(path)
    return [folder, await stat(folder)] as const
  })
  if (stats.uid !== user.uid) {
    return yield* refusal(
      `The state folder ${path} belongs to uid ${stats.uid}, not to you (uid ${user.uid}): use a folder that you own.`
    )
  }
  if ((stats.mode & 0o077) !== 0) {
    return yield* refusal(
      `Other users can read the state folder ${path}, which holds the database's password: chmod 700 ${path}`
    )
  }
  return folder
})

/** Creates a private folder and its parents; false when it existed. */
export const makeFolder = async (path: string): Promise<boolean> => {
  await mkdir(dirname(path), { recursive: true })
  // A recursive mkdir reports a read-only disk as a missing folder.
  return mkdir(path, { mode: 0o700 }).then(
    () => true,
    (cause: NodeJS.ErrnoException) => {
      if (cause.code === "EEXIST") return false
      throw cause
    }
  )
}

/** Creates the path's parents and resolves its symbolic links. */
const resolveFolder = (path: string): Effect.Effect<string, EmbeddedServerError> =>
  attempt(`Max can't use the database folder ${path}`, async () => {
    await mkdir(dirname(path), { recursive: true })
    return canonical(path)
  })

/** Resolves the symbolic links of the existing part of a path. */
const canonical = (path: string): Promise<string> =>
  realpath(path).catch(async () => join(await canonical(dirname(path)), basename(path)))

/** Whether the mode bits of every existing folder on the path let the user pass; ignores access control lists. */
export const canEnter = (path: string, user: ServerUser): Effect.Effect<boolean> =>
  Effect.promise(async () => {
    for (let folder = await nearestExisting(path); ; folder = dirname(folder)) {
      const stats = await stat(folder)
      // A file on the path is reported by mkdir.
      if (stats.isDirectory() && !mayTraverse(stats, user)) return false
      if (folder === dirname(folder)) return true
    }
  })

const nearestExisting = (path: string): Promise<string> => realpath(path).catch(() => nearestExisting(dirname(path)))

const mayTraverse = (stats: Stats, user: ServerUser): boolean =>
  (stats.mode & (stats.uid === user.uid ? 0o100 : stats.gid === user.gid ? 0o010 : 0o001)) !== 0

/** A folder of root that every user can enter, for files that a server under another uid must reach. */
export const sharedFolder = Effect.fnUntraced(function* (user: ServerUser) {
  const usual = "/var/lib/max"
  const path = yield* attempt("", () => mkdir(usual, { recursive: true, mode: 0o755 })).pipe(
    Effect.as(usual),
    Effect.catch(() =>
      attempt("Max could not create a folder for its database", () =>
        mkdir("/var/tmp/max-root", { recursive: true, mode: 0o755 })
      ).pipe(Effect.as("/var/tmp/max-root"))
    )
  )
  yield* requireOwned(path, user)
  yield* attempt(`Max can't open ${path} to its server`, () => chmod(path, 0o755))
  return path
})

/** Requires a real folder, owned by the user and writable by no other. */
export const requireOwned = Effect.fnUntraced(function* (path: string, owner: ServerUser) {
  const stats = yield* attempt(`Max can't inspect ${path}`, () => lstat(path))
  if (!stats.isDirectory()) return yield* refusal(`${path} is not a folder. ${elsewhere}`)
  if (stats.uid !== owner.uid) {
    return yield* refusal(
      `${path} belongs to uid ${stats.uid}, not to ${owner.name}, so Max doesn't use it. ${elsewhere}`
    )
  }
  if ((stats.mode & 0o022) !== 0) {
    return yield* refusal(`Other users can write into ${path}, so Max doesn't use it: chmod go-w ${path}`)
  }
})

/** `sun_path` holds 104 bytes on macOS and 108 on Linux, including the terminating zero. */
const longestSocketPath = 103
const socketName = ".s.PGSQL.5432"

export const port = 5432

/** The server's socket folder: below a private parent, or in the shared /tmp where that path is too long. */
export const socketFolderOf = (place: Place, id: string): Effect.Effect<string> => {
  const name = id.slice(0, 8)
  const candidates = isRoot(place.user) ? [`/run/max-${name}`] : [join(place.stateDir, "run", name)]
  const fitting = candidates.filter((path) => Buffer.byteLength(join(path, socketName)) <= longestSocketPath)
  return Effect.promise(async () => {
    for (const path of fitting) {
      const parent = dirname(path)
      const usable = mkdir(parent, { recursive: true, mode: 0o700 }).then(() => access(parent, constants.W_OK))
      if (
        await usable.then(
          () => true,
          () => false
        )
      )
        return path
    }
    return `/tmp/max-${place.user.uid}-${name}`
  })
}

/** Creates the socket folder if it is missing, and requires that only the server's user can enter it. */
export const openSocketFolder = Effect.fnUntraced(function* (path: string, server: ServerUser) {
  yield* attempt(`Max can't create the folder of its database socket`, async () => {
    const made = await makeFolder(path)
    if (made && server.uid !== process.geteuid?.()) await chown(path, server.uid, server.gid)
  })
  yield* requireSocketFolder(path, server)
})

/** The owner of the folder could replace the socket by one of another server. */
export const requireSocketFolder = Effect.fnUntraced(function* (path: string, server: ServerUser) {
  const stats = yield* attempt(`Max can't inspect the folder of its database socket`, () => lstat(path))
  if (!stats.isDirectory() || stats.uid !== server.uid || (stats.mode & 0o077) !== 0) {
    return yield* refusal(
      `${path}, the folder of the database's socket, must belong to ${server.name} with mode 0700: remove it and try again.`
    )
  }
})
