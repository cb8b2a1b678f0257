/** The built command line as a process, the way people run it. */
import { spawn } from "node:child_process"
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

/** Starts `max` and leaves it running. */
export const spawnMax = (args: ReadonlyArray<string>, env: Readonly<Record<string, string>>) =>
  spawn(process.execPath, [program, ...args], { env: environment(env), stdio: ["ignore", "pipe", "pipe"] })

/** Runs `max` with an environment of its own: nothing of the tests' own settings reaches it but what is given. */
export const runMax = (
  args: ReadonlyArray<string>,
  env: Readonly<Record<string, string>>,
  input?: string
): Promise<Ran> =>
  new Promise((resolve, reject) => {
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

/** `max serve` as people run it, once it says where it answers. */
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
    // A test that fails in the middle leaves nothing running.
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
