/** Running Postgres' own programs: their user, their environment, and what they last complained about. */
import { Effect } from "effect"
import { type ChildProcess, spawn, type StdioOptions } from "node:child_process"
import { elsewhere, EmbeddedServerError, reasonOf, refusal } from "./error.ts"
import { exists } from "./folders.ts"
import { type ServerUser, spawnAs } from "./processes.ts"

interface Program {
  readonly path: string
  readonly args: ReadonlyArray<string>
  readonly server: ServerUser
  readonly stdio: StdioOptions
}

/** Starts the program in a session of its own: a Ctrl-C in our terminal isn't meant for it. */
export const spawnProgram = (program: Program): Effect.Effect<ChildProcess, EmbeddedServerError> =>
  Effect.callback<ChildProcess, unknown>((resume) => {
    try {
      const child = spawn(program.path, program.args, {
        ...spawnAs(program.server),
        // The caller's folder may be closed to the server's user, and its PG* and LD_* variables are not for Postgres.
        cwd: "/",
        env: { PATH: "/usr/bin:/bin", LC_ALL: "C", TZ: "UTC" },
        stdio: program.stdio,
        detached: true
      })
      child.once("error", (cause) => resume(Effect.fail(cause)))
      child.once("spawn", () => resume(Effect.succeed(child)))
    } catch (cause) {
      resume(Effect.fail(cause))
    }
  }).pipe(Effect.catch((cause) => explainSpawn(program, cause)))

const explainSpawn = Effect.fnUntraced(function* (
  program: Program,
  cause: unknown
): Effect.fn.Return<never, EmbeddedServerError> {
  const code = cause instanceof Error && "code" in cause ? cause.code : undefined
  if (code === "ENOENT" && (yield* exists(program.path))) {
    return yield* refusal(
      "The embedded database doesn't run on this system: it needs glibc, which Alpine Linux and other musl systems lack. Set DATABASE_URL to a Postgres server."
    )
  }
  if (code === "EPERM" && spawnAs(program.server).uid !== undefined) {
    return yield* refusal(
      `Postgres doesn't run as root and this system doesn't let Max run it as ${program.server.name}: run Max as a normal user, or set DATABASE_URL to a Postgres server.`
    )
  }
  return yield* refusal(
    `The embedded database doesn't start: ${reasonOf(cause)}. Set DATABASE_URL to a Postgres server.`
  )
})

/** What went wrong, in a program's own words: its first complaint, as the others follow from it, else its last line. */
export const complaintIn = (output: string): string => {
  const lines = output
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "")
  const at = lines.findIndex((line) => severity.test(line))
  if (at === -1) return lines.at(-1)?.slice(0, 300) ?? "it ended without a word, as on a full disk"
  const complaint = lines[at]?.replace(severity, "$1: ").slice(0, 300) ?? ""
  // "Check free disk space", where Postgres says so.
  const hint = lines[at + 1]?.match(/HINT: +(.*)$/)?.[1]
  return hint === undefined ? complaint : `${complaint} (${hint})`
}

/** With what stands before it: the time and process, or what initdb was about to do. */
const severity = /^.*?\b(PANIC|FATAL|ERROR|error): +/

const initdbDeadline = "90 seconds"

/** Fills an empty folder with a new cluster owned by `max_owner`. */
export const runInitdb = Effect.fnUntraced(function* (options: {
  readonly initdb: string
  readonly cluster: string
  readonly passwordFile: string
  readonly server: ServerUser
}): Effect.fn.Return<void, EmbeddedServerError> {
  const child = yield* spawnProgram({
    path: options.initdb,
    server: options.server,
    stdio: ["ignore", "pipe", "pipe"],
    args: [
      `--pgdata=${options.cluster}`,
      `--pwfile=${options.passwordFile}`,
      "--username=max_owner",
      "--auth=scram-sha-256",
      "--encoding=UTF8",
      "--locale=C",
      "--locale-provider=builtin",
      "--builtin-locale=C.UTF-8",
      "--no-instructions"
    ]
  })
  const { code, output } = yield* outcome(child).pipe(
    Effect.onInterrupt(() => Effect.sync(() => killGroup(child))),
    Effect.timeoutOrElse({
      duration: initdbDeadline,
      orElse: () => refusal(`Making the database took longer than ${initdbDeadline} and was given up. ${elsewhere}`)
    })
  )
  if (code !== 0) return yield* refusal(`Max could not make its database: ${complaintIn(output)}. ${elsewhere}`)
})

const outcome = (child: ChildProcess): Effect.Effect<{ readonly code: number | null; readonly output: string }> =>
  Effect.callback((resume) => {
    let output = ""
    const keep = (chunk: Buffer) => {
      output = (output + chunk.toString("utf8")).slice(-20_000)
    }
    child.stdout?.on("data", keep)
    child.stderr?.on("data", keep)
    child.once("close", (code) => resume(Effect.succeed({ code, output })))
  })

/** initdb runs servers of its own, which share its process group. */
const killGroup = (child: ChildProcess): void => {
  if (child.pid === undefined) return
  try {
    process.kill(-child.pid, "SIGKILL")
  } catch {
    // It ended by itself.
  }
}
