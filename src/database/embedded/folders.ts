/**
 * Where things live and who may write there: the user's state folder, the data folder (another one than asked when
 * the server's user could not enter it), the socket folder.
 */
import { Effect } from "effect"
import { createHash } from "node:crypto"
import { constants, type Stats } from "node:fs"
import { access, chmod, chown, lstat, mkdir, realpath, stat } from "node:fs/promises"
import { basename, dirname, join } from "node:path"
import { attempt, elsewhere, EmbeddedServerError, refusal } from "./error.ts"
import { currentUser, isRoot, type ServerUser, unprivilegedUser } from "./processes.ts"

/** The folders of one database, settled and checked, and the user its server runs as. */
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
  const asked = yield* Effect.promise(() => canonical(options.dataDir))
  if (yield* canEnter(dirname(asked), server)) {
    const dataDir = yield* resolveFolder(asked)
    // Parents that were just made follow root's umask and may be closed.
    if (yield* canEnter(dirname(dataDir), server)) return { stateDir, dataDir, user, server }
  }
  const dataDir = join(yield* sharedFolder(user), digest(asked, 16))
  const notice = `The database is in ${dataDir}: its server runs as user ${server.name}, who can't enter ${asked}.`
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
      `The state folder ${path} belongs to uid ${stats.uid}, not to you (uid ${user.uid}): use one of your own.`
    )
  }
  if ((stats.mode & 0o077) !== 0) {
    return yield* refusal(
      `Others can look into the state folder ${path}, which holds the database's password: chmod 700 ${path}`
    )
  }
  return folder
})

/** Makes a private folder and its parents; false when it was there. */
export const makeFolder = async (path: string): Promise<boolean> => {
  await mkdir(dirname(path), { recursive: true })
  // Not recursive, as that reports a read-only disk as a missing folder.
  return mkdir(path, { mode: 0o700 }).then(
    () => true,
    (cause: NodeJS.ErrnoException) => {
      if (cause.code === "EEXIST") return false
      throw cause
    }
  )
}

/** The path with its parents made and its symbolic links resolved. */
const resolveFolder = (path: string): Effect.Effect<string, EmbeddedServerError> =>
  attempt(`Max can't use the database folder ${path}`, async () => {
    await mkdir(dirname(path), { recursive: true })
    return canonical(path)
  })

/** The path without symbolic links, as far as it exists. */
const canonical = (path: string): Promise<string> =>
  realpath(path).catch(async () => join(await canonical(dirname(path)), basename(path)))

/** Whether the user may pass through every existing folder up to this one; access lists are not looked at. */
export const canEnter = (path: string, user: ServerUser): Effect.Effect<boolean> =>
  Effect.promise(async () => {
    for (let folder = await nearestExisting(path); ; folder = dirname(folder)) {
      const stats = await stat(folder)
      // That a file isn't a folder is for mkdir to say.
      if (stats.isDirectory() && !mayTraverse(stats, user)) return false
      if (folder === dirname(folder)) return true
    }
  })

const nearestExisting = (path: string): Promise<string> => realpath(path).catch(() => nearestExisting(dirname(path)))

const mayTraverse = (stats: Stats, user: ServerUser): boolean =>
  (stats.mode & (stats.uid === user.uid ? 0o100 : stats.gid === user.gid ? 0o010 : 0o001)) !== 0

/** Root's folder that every user can enter, for what a server under another uid has to reach. */
export const sharedFolder = Effect.fnUntraced(function* (user: ServerUser) {
  const usual = "/var/lib/max"
  const path = yield* attempt("", () => mkdir(usual, { recursive: true, mode: 0o755 })).pipe(
    Effect.as(usual),
    Effect.catch(() =>
      attempt("Max found no folder for its database", () =>
        mkdir("/var/tmp/max-root", { recursive: true, mode: 0o755 })
      ).pipe(Effect.as("/var/tmp/max-root"))
    )
  )
  yield* requireOwned(path, user)
  yield* attempt(`Max can't open ${path} to its server`, () => chmod(path, 0o755))
  return path
})

/** Fails unless the path is a real folder of that user into which nobody else can write. */
export const requireOwned = Effect.fnUntraced(function* (path: string, owner: ServerUser) {
  const stats = yield* attempt(`Max can't look at ${path}`, () => lstat(path))
  if (!stats.isDirectory()) return yield* refusal(`${path} is not a folder. ${elsewhere}`)
  if (stats.uid !== owner.uid) {
    return yield* refusal(
      `${path} belongs to uid ${stats.uid}, not to ${owner.name}, so Max doesn't use it. ${elsewhere}`
    )
  }
  if ((stats.mode & 0o022) !== 0) {
    return yield* refusal(`Others can write into ${path}, so Max doesn't use it: chmod go-w ${path}`)
  }
})

/** A socket's whole path must fit into 104 bytes on macOS and 108 on Linux, with its end. */
const longestSocketPath = 103
const socketName = ".s.PGSQL.5432"

export const port = 5432

/** The path of the server's socket folder: private parents first, the shared /tmp where their path is too long. */
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

/** Makes the socket folder if need be, and fails unless it is the server user's alone. */
export const openSocketFolder = Effect.fnUntraced(function* (path: string, server: ServerUser) {
  yield* attempt(`Max can't make the folder of its database socket`, async () => {
    const made = await makeFolder(path)
    if (made && server.uid !== process.geteuid?.()) await chown(path, server.uid, server.gid)
  })
  yield* requireSocketFolder(path, server)
})

/** Whoever owns the folder could put a server of their own behind the socket. */
export const requireSocketFolder = Effect.fnUntraced(function* (path: string, server: ServerUser) {
  const stats = yield* attempt(`Max can't look at the folder of its database socket`, () => lstat(path))
  if (!stats.isDirectory() || stats.uid !== server.uid || (stats.mode & 0o077) !== 0) {
    return yield* refusal(
      `${path} should be a folder with mode 0700 of ${server.name} for the database's socket, and isn't: remove it and try again.`
    )
  }
})
