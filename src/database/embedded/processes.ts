/** Identifies processes across reuse of pids, selects the user a server runs as, and holds lock files. */
import { Effect } from "effect"
import { execFile } from "node:child_process"
import { readFile, rename, rm, stat, writeFile } from "node:fs/promises"
import { promisify } from "node:util"
import { attempt, EmbeddedServerError, NotYet, refusal } from "./error.ts"

const run = promisify(execFile)

export const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return true
  } catch (cause) {
    return cause instanceof Error && "code" in cause && cause.code === "EPERM"
  }
}

/** Distinguishes a process from a later one with the same pid. */
interface ProcessIdentity {
  readonly command: string
  readonly started: string
  readonly uid: number
}

/** The process with this pid; undefined when there is none or it is a zombie. */
export const identify = async (pid: number): Promise<ProcessIdentity | undefined> => {
  if (!isAlive(pid)) return undefined
  return (process.platform === "linux" ? identifyByProc(pid) : identifyByPs(pid)).catch(() => undefined)
}

const identifyByProc = async (pid: number): Promise<ProcessIdentity | undefined> => {
  const [line, command, folder] = await Promise.all([
    readFile(`/proc/${pid}/stat`, "utf8"),
    readFile(`/proc/${pid}/cmdline`, "utf8"),
    stat(`/proc/${pid}`)
  ])
  // The second field, the program's name in parentheses, may contain spaces and parentheses: count from its end.
  const fields = line.slice(line.lastIndexOf(")") + 2).split(" ")
  if (fields[0] === "Z") return undefined
  return { command: command.replaceAll("\0", " "), started: fields[19] ?? "", uid: folder.uid }
}

const identifyByPs = async (pid: number): Promise<ProcessIdentity | undefined> => {
  const { stdout } = await run("ps", ["-ww", "-o", "stat=,uid=,lstart=,command=", "-p", String(pid)], {
    env: { PATH: "/usr/bin:/bin", LC_ALL: "C" }
  })
  const text = stdout.trim()
  const match = /^(\S+)\s+(\d+)\s+(\S+\s+\S+\s+\d+\s+[\d:]+\s+\d+)(?=\s)/.exec(text)
  if (match === null || match[1]?.startsWith("Z")) return undefined
  return { uid: Number(match[2]), started: match[3] ?? "", command: text.slice(match[0].length).trimStart() }
}

/** The user that server processes run as. */
export interface ServerUser {
  readonly uid: number
  readonly gid: number
  readonly name: string
}

export const isRoot = (user: ServerUser): boolean => user.uid === 0

/** This process's user; fails where the system has no user ids (Windows). */
export const currentUser: Effect.Effect<ServerUser, EmbeddedServerError> = Effect.suspend(() => {
  const uid = process.geteuid?.()
  const gid = process.getegid?.()
  return uid === undefined || gid === undefined
    ? refusal(`Max has no embedded database on ${process.platform}. Set DATABASE_URL to a Postgres server, or use WSL.`)
    : Effect.succeed({ uid, gid, name: `uid ${uid}` })
})

/** Postgres refuses to run as root, and initdb requires a named user: as root, the server runs as the first that exists. */
const candidates = ["max", "postgres", "nobody"]

export const unprivilegedUser: Effect.Effect<ServerUser, EmbeddedServerError> = Effect.gen(function* () {
  const passwd = yield* attempt("Max could not look up a user for the database server", () =>
    readFile("/etc/passwd", "utf8")
  )
  const users = passwd.split("\n").map((line) => line.split(":"))
  for (const name of candidates) {
    const user = users.find((fields) => fields[0] === name)
    const uid = Number(user?.[2])
    const gid = Number(user?.[3])
    if (uid > 0 && gid > 0) return { uid, gid, name }
  }
  return yield* refusal(
    `Postgres doesn't run as root and this system has no user "postgres" or "nobody". Run Max as a normal user, or set DATABASE_URL to a Postgres server.`
  )
})

/** The spawn options that change a child process to the user; empty when it is the current user. */
export const spawnAs = (user: ServerUser): { readonly uid?: number; readonly gid?: number } =>
  user.uid === process.geteuid?.() ? {} : { uid: user.uid, gid: user.gid }

/** Runs `use` while holding the lock file; fails with `NotYet` while another live process holds it. */
export const withLock = <A, E>(
  path: string,
  use: Effect.Effect<A, E>
): Effect.Effect<A, E | EmbeddedServerError | NotYet> =>
  Effect.acquireUseRelease(
    takeLock(path),
    () => use,
    () => Effect.promise(() => rm(path, { force: true }).catch(() => undefined))
  )

const takeLock = Effect.fnUntraced(function* (path: string) {
  const mine = yield* Effect.promise(() => identify(process.pid))
  const content = `${process.pid} ${mine?.started ?? ""}`
  const taken = yield* attempt("Max could not lock its database", async () => {
    if (await createLock(path, content)) return true
    if (!(await discardStaleLock(path))) return false
    return createLock(path, content)
  })
  if (!taken) return yield* new NotYet({ message: "another Max process is preparing the database" })
})

const createLock = async (path: string, content: string): Promise<boolean> => {
  try {
    await writeFile(path, content, { flag: "wx", mode: 0o600 })
    return true
  } catch (cause) {
    if (cause instanceof Error && "code" in cause && cause.code === "EEXIST") return false
    // A full disk creates the file but can't write it.
    await rm(path, { force: true })
    throw cause
  }
}

/**
 * Two processes may find the same stale lock, and the slower one would then delete the faster one's new lock. So this
 * renames the file first, reads what it renamed, and restores a live lock.
 */
const discardStaleLock = async (path: string): Promise<boolean> => {
  const stale = await readFile(path, "utf8").catch(() => undefined)
  if (stale === undefined) return true
  if (await isHeld(path, stale)) return false
  const aside = `${path}.${process.pid}`
  await rename(path, aside).catch(() => undefined)
  const moved = await readFile(aside, "utf8").catch(() => undefined)
  if (moved !== undefined && moved !== stale) await createLock(path, moved)
  await rm(aside, { force: true })
  return moved === stale
}

const isHeld = async (path: string, content: string): Promise<boolean> => {
  const [pid, started] = content.split(" ", 2).map((part) => part.trim())
  // Created but not yet written: treat it as held for 5 seconds.
  if (!pid)
    return (
      Date.now() -
        (await stat(path).then(
          (s) => s.mtimeMs,
          () => 0
        )) <
      5_000
    )
  const holder = await identify(Number(pid))
  return holder !== undefined && holder.started === started
}
