/** The server process of an installation: found by its pid file, launched, stopped. */
import { Effect, Schedule } from "effect"
import type { ChildProcess } from "node:child_process"
import { closeSync, openSync } from "node:fs"
import { open, readFile, rename, rm, rmdir, stat } from "node:fs/promises"
import { join } from "node:path"
import type { Binaries } from "./binaries.ts"
import { attempt, EmbeddedServerError, NotYet, refusal } from "./error.ts"
import { openSocketFolder, port } from "./folders.ts"
import type { Installation } from "./installation.ts"
import { identify, isAlive } from "./processes.ts"
import { complaintIn, spawnProgram } from "./programs.ts"

/** A live server of ours, as its pid file describes it. */
export interface Postmaster {
  readonly pid: number
  readonly socketDir: string
  readonly port: number
  readonly ready: boolean
}

export const socketOf = (server: { readonly socketDir: string; readonly port: number }): string =>
  join(server.socketDir, `.s.PGSQL.${server.port}`)

/** The installation's server if it lives, ready or not; a pid that another program has by now doesn't count. */
export const findPostmaster = (installation: Installation): Effect.Effect<Postmaster | undefined> =>
  Effect.promise(async () => {
    const postmaster = await readPidFile(installation)
    return postmaster !== undefined && (await isOurs(postmaster.pid, installation)) ? postmaster : undefined
  })

const pidFileOf = (installation: Installation): string => join(installation.cluster, "postmaster.pid")

/** Lines: pid, folder, start, port, socket folder, address, shared memory, status (absent while it is being written). */
const readPidFile = async (installation: Installation): Promise<Postmaster | undefined> => {
  const text = await readFile(pidFileOf(installation), "utf8").catch(() => "")
  const lines = text.split("\n").map((line) => line.trim())
  const pid = Number(lines[0])
  if (!Number.isInteger(pid) || pid <= 1) return undefined
  return { pid, socketDir: lines[4] ?? "", port: Number(lines[3]), ready: lines[7] === "ready" }
}

const isOurs = async (pid: number, installation: Installation): Promise<boolean> => {
  const found = await identify(pid)
  if (found?.uid !== installation.server.uid || !found.command.includes("postgres")) return false
  // A server works in its cluster, wherever that was moved; who may not see where has its command line.
  return (
    found.command.includes(` -D ${installation.cluster} `) || isSameFolder(`/proc/${pid}/cwd`, installation.cluster)
  )
}

const isSameFolder = async (one: string, other: string): Promise<boolean> => {
  const [a, b] = await Promise.all([one, other].map((path) => stat(path).catch(() => undefined)))
  return a !== undefined && a.dev === b?.dev && a.ino === b.ino
}

/** Has a server end its sessions and stop, and waits until it has. */
export const stopPostmaster = Effect.fnUntraced(function* (pid: number, installation: Installation) {
  yield* Effect.sync(() => signal(pid, "SIGINT"))
  yield* Effect.promise(() => isOurs(pid, installation)).pipe(
    Effect.repeat({
      while: (lives) => lives,
      schedule: Schedule.spaced("10 millis").pipe(Schedule.upTo({ duration: "10 seconds" }))
    })
  )
})

/** Keeps /run and /tmp tidy; goes on if a server runs again or the folder isn't empty. */
export const removeSocketFolder = Effect.fnUntraced(function* (socketDir: string, installation: Installation) {
  if ((yield* findPostmaster(installation)) !== undefined) return
  yield* Effect.promise(() => rmdir(socketDir).catch(() => undefined))
})

const signal = (pid: number, name: NodeJS.Signals): void => {
  try {
    process.kill(pid, name)
  } catch {
    // It ended by itself.
  }
}

/** Starts the server and waits until it takes connections; the caller holds the installation's lock. */
export const launch = Effect.fnUntraced(function* (
  installation: Installation,
  binaries: Binaries,
  socketDir: string
): Effect.fn.Return<Postmaster, EmbeddedServerError | NotYet> {
  yield* openSocketFolder(socketDir, installation.server)
  yield* clearLeftovers(installation, socketDir)
  yield* writeSettingFiles(installation)
  const log = yield* openLog(installation)
  const child = yield* spawnProgram({
    path: binaries.postgres,
    args: argumentsOf(installation, socketDir),
    server: installation.server,
    stdio: ["ignore", log.fd, log.fd]
  }).pipe(Effect.ensuring(Effect.sync(() => closeSync(log.fd))))
  child.unref()
  return yield* untilReady(installation, child, log).pipe(
    Effect.onInterrupt(() => (child.pid === undefined ? Effect.void : stopPostmaster(child.pid, installation)))
  )
})

/**
 * Postgres clears the files of a dead server itself, but refuses when their pid is in use again, by whatever program.
 * Nobody else launches while we hold the lock, so a pid that isn't our server's is stale.
 */
const clearLeftovers = (installation: Installation, socketDir: string): Effect.Effect<void, EmbeddedServerError> =>
  attempt("Max can't clear up after its last database server", async () => {
    const left = await readPidFile(installation)
    if (left !== undefined && isAlive(left.pid)) await rm(pidFileOf(installation), { force: true })
    const socket = socketOf({ socketDir, port })
    await Promise.all([rm(socket, { force: true }), rm(`${socket}.lock`, { force: true })])
  })

/** Both lie in the data folder, which is ours alone: not in the cluster, whose own copies nobody reads. */
const settingFilesOf = (installation: Installation) => ({
  config: join(installation.dataDir, "postgresql.conf"),
  hba: join(installation.dataDir, "pg_hba.conf")
})

const writeSettingFiles = (installation: Installation): Effect.Effect<void, EmbeddedServerError> =>
  attempt("Max can't write its database's settings", async () => {
    const { config, hba } = settingFilesOf(installation)
    await replaceFile(
      config,
      "# Max gives every setting on the command line, and writes this file anew at each start.\n"
    )
    await replaceFile(hba, "local all all scram-sha-256\n")
  })

/** The server's other user must be able to read it, whatever root's umask. */
const replaceFile = async (path: string, text: string): Promise<void> => {
  const partial = `${path}.new`
  await rm(partial, { force: true })
  const file = await open(partial, "wx", 0o644)
  try {
    await file.writeFile(text)
    await file.chmod(0o644)
  } finally {
    await file.close()
  }
  await rename(partial, path)
}

/** The command line beats every file, postgresql.auto.conf too, which Postgres insists on reading from the cluster. */
const argumentsOf = (installation: Installation, socketDir: string): ReadonlyArray<string> => {
  const { config, hba } = settingFilesOf(installation)
  const settings = {
    config_file: config,
    hba_file: hba,
    listen_addresses: "",
    port: String(port),
    unix_socket_directories: socketDir,
    unix_socket_permissions: "0700",
    ...laptop,
    ...quietLog,
    ...noCommands
  }
  return [
    "-D",
    installation.cluster,
    ...Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`])
  ]
}

const laptop = {
  cluster_name: "max",
  max_connections: "100",
  // Room for a restore of some two thousand tables, which is one transaction.
  max_locks_per_transaction: "256",
  shared_buffers: "128MB",
  fsync: "on",
  full_page_writes: "on",
  synchronous_commit: "on",
  password_encryption: "scram-sha-256",
  timezone: "UTC"
}

/** Statements, their values and the rows that errors quote are people's data and stay out of the log. */
const quietLog = {
  log_destination: "stderr",
  logging_collector: "off",
  log_timezone: "UTC",
  log_min_messages: "log",
  log_min_error_statement: "panic",
  log_error_verbosity: "terse",
  log_statement: "none",
  log_min_duration_statement: "-1",
  log_parameter_max_length: "0",
  log_parameter_max_length_on_error: "0",
  log_checkpoints: "off",
  log_connections: "",
  log_disconnections: "off"
}

/** Every setting that names a program or a library to load. */
const noCommands = {
  allow_alter_system: "off",
  archive_mode: "off",
  archive_command: "",
  archive_library: "",
  archive_cleanup_command: "",
  restore_command: "",
  recovery_end_command: "",
  shared_preload_libraries: "",
  session_preload_libraries: "",
  local_preload_libraries: "",
  dynamic_library_path: "$libdir",
  extension_control_path: "$system",
  jit: "off",
  ssl: "off",
  ssl_passphrase_command: "",
  oauth_validator_libraries: "",
  primary_conninfo: ""
}

interface Log {
  readonly path: string
  readonly fd: number
  /** Where this start's lines begin. */
  readonly from: number
}

const largestLog = 1_000_000

const openLog = (installation: Installation): Effect.Effect<Log, EmbeddedServerError> =>
  attempt("Max can't write its database's log", async () => {
    const path = logOf(installation)
    const size = await stat(path).then(
      (s) => s.size,
      () => 0
    )
    if (size > largestLog) await rename(path, `${path}.1`)
    return { path, fd: openSync(path, "a", 0o600), from: size > largestLog ? 0 : size }
  })

const logOf = (installation: Installation): string => join(installation.home, "server.log")

const untilReady = (
  installation: Installation,
  child: ChildProcess,
  log: Log
): Effect.Effect<Postmaster, EmbeddedServerError | NotYet> =>
  Effect.suspend(() => look(installation, child, log)).pipe(
    Effect.retry({
      while: (error) => error._tag === "NotYet" && child.exitCode === null && child.signalCode === null,
      schedule: Schedule.spaced("5 millis").pipe(Schedule.upTo({ duration: "20 seconds" }))
    })
  )

const look = Effect.fnUntraced(function* (
  installation: Installation,
  child: ChildProcess,
  log: Log
): Effect.fn.Return<Postmaster, EmbeddedServerError | NotYet> {
  if (child.exitCode !== null || child.signalCode !== null) return yield* explainExit(log)
  const postmaster = yield* Effect.promise(() => readPidFile(installation))
  if (postmaster?.pid === child.pid && postmaster?.ready) return postmaster
  return yield* new NotYet({ message: "the server is still starting" })
})

/** What another start, or the last sessions of a killed server, cause; both pass. */
const passing = /lock file .* already exists|pre-existing shared memory block/

const explainExit = Effect.fnUntraced(function* (log: Log): Effect.fn.Return<never, EmbeddedServerError | NotYet> {
  const text = yield* attempt("Max can't read its database's log", () => readFile(log.path))
  const complaint = complaintIn(text.subarray(log.from).toString("utf8"))
  if (passing.test(complaint)) return yield* new NotYet({ message: complaint })
  return yield* refusal(
    `The embedded database doesn't start: ${complaint} (log: ${log.path}). Set DATABASE_URL to a Postgres server, or MAX_DATA_DIR to a new folder.`
  )
})
