/**
 * The server process of an installation: found by its pid file, started by pg_ctl, stopped by a signal.
 *
 * Finding and stopping do without pg_ctl: `pg_ctl status` takes any live process with the recorded pid for the server,
 * and `pg_ctl stop` finds no server whose data folder was moved while it runs.
 */
import { Effect, Schedule } from "effect"
import { closeSync, openSync } from "node:fs"
import { open, readFile, rename, rm, rmdir, stat } from "node:fs/promises"
import { totalmem } from "node:os"
import { dirname, join } from "node:path"
import type { Binaries } from "./binaries.ts"
import { attempt, EmbeddedServerError, NotYet, refusal } from "./error.ts"
import { openSocketFolder, port } from "./folders.ts"
import type { Installation } from "./installation.ts"
import { identify, isAlive } from "./processes.ts"
import { complaintIn, runProgram } from "./programs.ts"

/** A live server of an installation, as its pid file describes it. */
export interface Postmaster {
  readonly pid: number
  readonly socketDir: string
  readonly port: number
  readonly ready: boolean
}

export const socketOf = (server: { readonly socketDir: string; readonly port: number }): string =>
  join(server.socketDir, `.s.PGSQL.${server.port}`)

/** The installation's live server, ready or not; undefined when the recorded pid belongs to another program. */
export const findPostmaster = (installation: Installation): Effect.Effect<Postmaster | undefined> =>
  Effect.promise(async () => {
    const postmaster = await readPidFile(installation)
    return postmaster !== undefined && (await isServerOf(postmaster.pid, installation)) ? postmaster : undefined
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

const isServerOf = async (pid: number, installation: Installation): Promise<boolean> => {
  const process = await identify(pid)
  if (process?.uid !== installation.server.uid || !process.command.includes("postgres")) return false
  // The working directory follows a moved cluster; systems without /proc have only the command line.
  return (
    process.command.includes(` -D ${installation.cluster} `) || isSameFolder(`/proc/${pid}/cwd`, installation.cluster)
  )
}

const isSameFolder = async (one: string, other: string): Promise<boolean> => {
  const [a, b] = await Promise.all([one, other].map((path) => stat(path).catch(() => undefined)))
  return a !== undefined && a.dev === b?.dev && a.ino === b.ino
}

/** Stops a server (fast shutdown: its sessions are ended) and waits for its exit, at most 10 seconds. */
export const stopPostmaster = Effect.fnUntraced(function* (pid: number, installation: Installation) {
  try {
    process.kill(pid, "SIGINT")
  } catch {
    // It has exited already.
  }
  yield* Effect.promise(() => isServerOf(pid, installation)).pipe(
    Effect.repeat({
      while: (lives) => lives,
      schedule: Schedule.spaced("10 millis").pipe(Schedule.upTo({ duration: "10 seconds" }))
    })
  )
})

/** Keeps /run and /tmp tidy; does nothing while a server runs or the folder has files. */
export const removeSocketFolder = Effect.fnUntraced(function* (socketDir: string, installation: Installation) {
  if ((yield* findPostmaster(installation)) !== undefined) return
  yield* Effect.promise(() => rmdir(socketDir).catch(() => undefined))
})

const START_SECONDS = 20

/** Starts the server and waits until it accepts connections; the caller holds the installation's lock. */
export const launch = Effect.fnUntraced(function* (
  installation: Installation,
  binaries: Binaries,
  socketDir: string
): Effect.fn.Return<Postmaster, EmbeddedServerError | NotYet> {
  yield* openSocketFolder(socketDir, installation.server)
  yield* clearLeftovers(installation, socketDir)
  yield* writeSettingFiles(installation)
  const log = yield* openLog(installation)
  const options = argumentsOf(installation, socketDir).map(shellQuoted).join(" ")
  // pg_ctl passes the server's path and -D through a shell without escaping: hence a relative path, and PGDATA.
  const { code, output } = yield* runProgram({
    path: binaries.pgCtl,
    args: ["start", "--silent", "--wait", "--timeout", String(START_SECONDS), "-p", "./postgres", "--options", options],
    folder: dirname(binaries.pgCtl),
    variables: { PGDATA: installation.cluster },
    server: installation.server,
    // The server inherits the log: its user can't open files of the state folder.
    stdio: ["ignore", log.fd, "pipe"]
  }).pipe(Effect.ensuring(Effect.sync(() => closeSync(log.fd))))
  const postmaster = yield* findPostmaster(installation)
  if (code === 0 && postmaster !== undefined) return postmaster
  if (postmaster !== undefined) return yield* new NotYet({ message: "the server is still starting" })
  return yield* explainExit(log, output)
})

/**
 * Postgres removes the files of a dead server, but refuses to start when another process has got the recorded pid. The
 * caller holds the launch lock, so a pid that isn't the installation's server is stale.
 */
const clearLeftovers = (installation: Installation, socketDir: string): Effect.Effect<void, EmbeddedServerError> =>
  attempt("Max can't remove the files of its last database server", async () => {
    const left = await readPidFile(installation)
    if (left !== undefined && isAlive(left.pid)) await rm(pidFileOf(installation), { force: true })
    const socket = socketOf({ socketDir, port })
    await Promise.all([rm(socket, { force: true }), rm(`${socket}.lock`, { force: true })])
  })

/** Both are in the data folder, which only the current user can write; the cluster's own copies are never read. */
const settingFilesOf = (installation: Installation) => ({
  config: join(installation.dataDir, "postgresql.conf"),
  hba: join(installation.dataDir, "pg_hba.conf")
})

const writeSettingFiles = (installation: Installation): Effect.Effect<void, EmbeddedServerError> =>
  attempt("Max can't write its database's settings", async () => {
    const { config, hba } = settingFilesOf(installation)
    await replaceFile(config, "# Max passes every setting on the command line and rewrites this file at each start.\n")
    await replaceFile(hba, "local all all scram-sha-256\n")
  })

/** As root, the server's user must be able to read the file, whatever root's umask. */
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

/** The command line overrides every file, including postgresql.auto.conf, which Postgres always reads from the cluster. */
const argumentsOf = (installation: Installation, socketDir: string): ReadonlyArray<string> => {
  const { config, hba } = settingFilesOf(installation)
  const settings = {
    config_file: config,
    hba_file: hba,
    listen_addresses: "",
    port: String(port),
    unix_socket_directories: socketDir,
    unix_socket_permissions: "0700",
    ...forOneMachine,
    ...quietLog,
    ...noCommands
  }
  return [
    "-D",
    installation.cluster,
    ...Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`])
  ]
}

const shellQuoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`

/** `shared_buffers` for an amount of memory in bytes: a quarter, as Postgres recommends, and 128 MB to 8 GB. The memory is taken as pages are read. */
export const sharedBuffersOf = (memory: number): string =>
  `${Math.min(8192, Math.max(128, Math.floor(memory / 4 / 2 ** 20)))}MB`

/** The bytes of memory that this process may use: all of the machine's, or its container's. Node reports no limit as 0 or as more than there is. */
const memory = Math.min(totalmem(), process.constrainedMemory() || Infinity)

const forOneMachine = {
  cluster_name: "max",
  max_connections: "100",
  // Enough for a restore of some two thousand tables in one transaction.
  max_locks_per_transaction: "256",
  shared_buffers: sharedBuffersOf(memory),
  fsync: "on",
  full_page_writes: "on",
  synchronous_commit: "on",
  password_encryption: "scram-sha-256",
  timezone: "UTC"
}

/** Keeps personal data out of the log: statements, parameters and the rows that error messages quote. */
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

/** Clears every setting that names a command or a library to load. */
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
  /** The offset of this start's first line. */
  readonly from: number
}

const largestLog = 1_000_000

const openLog = (installation: Installation): Effect.Effect<Log, EmbeddedServerError> =>
  attempt("Max can't write its database's log", async () => {
    const path = join(installation.home, "server.log")
    const size = await stat(path).then(
      (s) => s.size,
      () => 0
    )
    if (size > largestLog) await rename(path, `${path}.1`)
    return { path, fd: openSync(path, "a", 0o600), from: size > largestLog ? 0 : size }
  })

/**
 * Conflicts with a concurrent start or with the last sessions of a killed server, and a stop by another process that joined
 * and left while pg_ctl still waited: a retry succeeds.
 */
const isTransient = (complaint: string, log: string): boolean =>
  (complaint.includes("lock file ") && complaint.includes(" already exists")) ||
  complaint.includes("pre-existing shared memory block") ||
  log.includes("received fast shutdown request")

const explainExit = Effect.fnUntraced(function* (
  log: Log,
  output: string
): Effect.fn.Return<never, EmbeddedServerError | NotYet> {
  const file = yield* attempt("Max can't read its database's log", () => readFile(log.path))
  const text = file.subarray(log.from).toString("utf8")
  const complaint = complaintIn(`${text}\n${output}`)
  if (isTransient(complaint, text)) return yield* new NotYet({ message: complaint })
  return yield* refusal(
    `The embedded database doesn't start: ${complaint} (log: ${log.path}). Set DATABASE_URL to a Postgres server, or MAX_DATA_DIR to a new folder.`
  )
})
