/** Runs the built command line as a child process. */
import { type ChildProcess, fork, spawn } from "node:child_process"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"

export const program = join(dirname(fileURLToPath(import.meta.url)), "..", "..", "dist", "bin", "max.js")

export interface Ran {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

const environment = (env: Readonly<Record<string, string>>) => ({
  ...Object.fromEntries(["PATH", "HOME", "LANG", "TMPDIR"].map((name) => [name, process.env[name] ?? ""])),
  ...env
})

/** Starts `max` without waiting for it to exit. */
export const spawnMax = (args: ReadonlyArray<string>, env: Readonly<Record<string, string>>) =>
  spawn(process.execPath, [program, ...args], { env: environment(env), stdio: ["ignore", "pipe", "pipe"] })

/**
 * Runs `max` to completion. It inherits no settings from the test process, only those in `env`. Commands on a running database
 * share one process that has loaded the program; any other gets a process of its own.
 */
export const runMax = (
  args: ReadonlyArray<string>,
  env: Readonly<Record<string, string>>,
  input?: string
): Promise<Ran> => {
  const isShared = input === undefined && env["DATABASE_URL"] !== undefined && !OF_A_PROCESS.some((name) => name in env)
  const idle = isShared ? idleMax() : undefined
  return idle === undefined ? runAlone(args, env, input) : runShared(idle, args, env)
}

/** Settings that a process reads as it starts. */
const OF_A_PROCESS = ["HOME", "NODE_OPTIONS"]

let shared: ChildProcess | undefined
let isBusy = false

/** The shared process, unless it runs another command. */
const idleMax = (): ChildProcess | undefined => {
  if (isBusy) return undefined
  if (shared?.connected !== true) {
    shared = fork(join(import.meta.dirname, "sharedMax.mjs"), [program], { env: environment({}), stdio: ["ignore", "inherit", "inherit", "ipc"] }) // prettier-ignore
    shared.unref()
    shared.channel?.unref()
  }
  return shared
}

const runShared = (child: ChildProcess, args: ReadonlyArray<string>, env: Readonly<Record<string, string>>) =>
  new Promise<Ran>((resolve, reject) => {
    isBusy = true
    child.ref()
    child.channel?.ref()
    const died = (code: number | null) => {
      isBusy = false
      reject(new Error(`The shared process ended with ${code}`))
    }
    child.once("exit", died)
    child.once("message", ({ isReusable, ...ran }: Ran & { readonly isReusable: boolean }) => {
      isBusy = false
      child.off("exit", died)
      if (!isReusable) {
        shared = undefined
        child.kill("SIGKILL")
      }
      child.unref()
      child.channel?.unref()
      resolve(ran)
    })
    child.send({ args, env: environment(env) })
  })

const runAlone = (args: ReadonlyArray<string>, env: Readonly<Record<string, string>>, input: string | undefined) =>
  new Promise<Ran>((resolve, reject) => {
    const child = spawn(process.execPath, [program, ...args], {
      env: environment(env),
      stdio: [input === undefined ? "ignore" : "pipe", "pipe", "pipe"]
    })
    child.stdin?.end(input)
    let stdout = ""
    let stderr = ""
    child.stdout!.on("data", (chunk: Buffer) => (stdout += chunk.toString()))
    child.stderr!.on("data", (chunk: Buffer) => (stderr += chunk.toString()))
    child.on("error", reject)
    child.on("close", (code) => resolve({ code, stdout, stderr }))
  })

/** Starts `max serve` and resolves once it prints its address. */
export const serveMax = (
  env: Readonly<Record<string, string>>,
  command: ReadonlyArray<string> = [process.execPath, program, "serve"]
) =>
  new Promise<{
    url: string
    pid: number
    said: () => string
    end: (signal: NodeJS.Signals) => void
    ended: Promise<number | null>
  }>((resolve, reject) => {
    const child = spawn(command[0]!, command.slice(1), { env: environment(env), stdio: ["ignore", "pipe", "pipe"] })
    // Kill the server even if the test fails before it ends it.
    process.once("exit", () => child.kill("SIGKILL"))
    let said = ""
    const ended = new Promise<number | null>((done) => child.on("close", done))
    const listen = (chunk: Buffer) => {
      said += chunk.toString()
      const url = /Max answers at (\S+);/.exec(said)?.[1]
      if (url === undefined) return
      resolve({ url, pid: child.pid!, said: () => said, ended, end: (signal) => void child.kill(signal) })
    }
    child.stdout.on("data", listen)
    child.stderr.on("data", listen)
    child.on("error", reject)
    void ended.then((code) => reject(new Error(`ended with ${code}: ${said}`)))
  })
