/** Runs the Postgres programs as the server's user, in a clean environment, and extracts their error messages. */
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
  /** The working directory; `/` by default, because the server's user may not be able to enter the caller's. */
  readonly folder?: string
  readonly variables?: Readonly<Record<string, string>>
}

/** Runs a program to its end; `output` is the end of what it wrote to its pipes. Interruption kills its process group. */
export const runProgram = Effect.fnUntraced(function* (program: Program) {
  const child = yield* spawnProgram(program)
  return yield* outcomeOf(child).pipe(Effect.onInterrupt(() => Effect.sync(() => killGroup(child))))
})

/** Starts the program in its own session, so that a Ctrl-C in the terminal doesn't reach it. */
const spawnProgram = (program: Program): Effect.Effect<ChildProcess, EmbeddedServerError> =>
  Effect.callback<ChildProcess, unknown>((resume) => {
    try {
      const child = spawn(program.path, program.args, {
        ...spawnAs(program.server),
        cwd: program.folder ?? "/",
        // Not the caller's environment: its PG* and LD_* variables would change the server.
        env: { PATH: "/usr/bin:/bin", LC_ALL: "C", TZ: "UTC", ...program.variables },
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

/** The first error message of a program's output, since later ones follow from it; otherwise the last line. */
export const complaintIn = (output: string): string => {
  const lines = output
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "")
  const at = lines.findIndex((line) => severity.test(line))
  if (at === -1) return lines.at(-1)?.slice(0, 300) ?? "it exited without a message, as on a full disk"
  const complaint = lines[at]?.replace(severity, "$1: ").slice(0, 300) ?? ""
  // Such as "Check free disk space".
  const hint = lines[at + 1]?.split("HINT: ", 2)[1]?.trimStart()
  return hint === undefined ? complaint : `${complaint} (${hint})`
}

/** Also matches the prefix of the line: time and process id, or the step that initdb was in. */
const severity = /^.*?\b(PANIC|FATAL|ERROR|error): +/

const initdbDeadline = "90 seconds"

/** Creates a cluster with the superuser `max_owner` in an empty folder. */
export const runInitdb = Effect.fnUntraced(function* (options: {
  readonly initdb: string
  readonly cluster: string
  readonly passwordFile: string
  readonly server: ServerUser
}): Effect.fn.Return<void, EmbeddedServerError> {
  const { code, output } = yield* runProgram({
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
  }).pipe(
    Effect.timeoutOrElse({
      duration: initdbDeadline,
      orElse: () => refusal(`Creating the database took longer than ${initdbDeadline} and was stopped. ${elsewhere}`)
    })
  )
  if (code !== 0) return yield* refusal(`Max could not create its database: ${complaintIn(output)}. ${elsewhere}`)
})

const outcomeOf = (child: ChildProcess): Effect.Effect<{ readonly code: number | null; readonly output: string }> =>
  Effect.callback((resume) => {
    let output = ""
    const append = (chunk: Buffer) => {
      output = (output + chunk.toString("utf8")).slice(-20_000)
    }
    child.stdout?.on("data", append)
    child.stderr?.on("data", append)
    child.once("close", (code) => resume(Effect.succeed({ code, output })))
  })

/** The servers that initdb starts share its process group. */
const killGroup = (child: ChildProcess): void => {
  if (child.pid === undefined) return
  try {
    process.kill(-child.pid, "SIGKILL")
  } catch {
    // It has exited already.
  }
}
