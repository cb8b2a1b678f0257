/** Latency of single commands: the built command line, with a new embedded database and with an existing one. */
import { spawn } from "node:child_process"
import { chmodSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Timed } from "./figures.ts"

/** Runs `max` from this checkout and returns the milliseconds until it exits; fails with the command. */
const timed = (args: ReadonlyArray<string>, home: string): Promise<number> =>
  new Promise((resolve, reject) => {
    const started = performance.now()
    const child = spawn(process.execPath, [join("bin", "max"), ...args], {
      env: {
        PATH: process.env["PATH"],
        HOME: home,
        MAX_DATA_DIR: join(home, "data"),
        MAX_STATE_DIR: join(home, "state")
      },
      stdio: ["ignore", "ignore", "pipe"]
    })
    let said = ""
    child.stderr.on("data", (chunk: Buffer) => (said += chunk.toString()))
    child.on("error", reject)
    child.on("close", (code) =>
      code === 0
        ? resolve(performance.now() - started)
        : reject(new Error(`max ${args.join(" ")} ended with ${code}: ${said}`))
    )
  })

const MCP_MS = 1000
const SAID = [
  {
    method: "initialize",
    params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "bench", version: "1" } }
  },
  { method: "tools/list", params: {} }
].map((message, id) => `${JSON.stringify({ jsonrpc: "2.0", id, ...message })}\n`)

/** Milliseconds until `max mcp` answers a client's immediate request for its tools. */
const untilTools = (home: string): Promise<number> =>
  new Promise((resolve, reject) => {
    const started = performance.now()
    const child = spawn(process.execPath, [join("bin", "max"), "mcp", "--org", "bench", "--as", "ada@example.com"], {
      env: {
        PATH: process.env["PATH"],
        HOME: home,
        MAX_DATA_DIR: join(home, "data"),
        MAX_STATE_DIR: join(home, "state")
      },
      stdio: ["pipe", "pipe", "inherit"]
    })
    let answered = ""
    let ready: number | undefined
    child.stdout.on("data", (chunk: Buffer) => {
      answered += chunk.toString()
      if (ready !== undefined || !answered.includes('"findEntities"')) return
      ready = performance.now() - started
      child.stdin.end()
    })
    child.on("error", reject)
    child.on("close", () => (ready === undefined ? reject(new Error(`max mcp said: ${answered}`)) : resolve(ready)))
    child.stdin.write(SAID.join(""))
  })

const FIND = ["find", "people", "email=ada@example.com", "--org", "bench", "--as", "ada@example.com"]

export const cold = async (): Promise<ReadonlyArray<Timed>> => {
  const home = mkdtempSync(join(tmpdir(), "max-bench-cold-"))
  chmodSync(home, 0o755)
  const measured: Array<Timed> = []
  const measure = async (scenario: string, args: ReadonlyArray<string>) => {
    measured.push({ scenario, ms: await timed(args, home), ok: true })
  }
  try {
    // The first run builds when a source is newer than the build.
    await timed(["--version"], home)
    await measure("max --version", ["--version"])
    await measure("a new embedded database, with an organization in it", [
      "init",
      "--org",
      "bench",
      "--country",
      "US",
      "--time-zone",
      "UTC"
    ])
    await timed(["member", "add", "ada@example.com", "--role", "admin", "--create", "--org", "bench"], home)
    await measure("max find, the embedded database starting", FIND)
    await measure("max find, once more", FIND)
    for (const scenario of ["max mcp, until a client has the tools", "max mcp, once more"]) {
      const ms = await untilTools(home)
      measured.push({ scenario, ms, target: MCP_MS, ok: ms <= MCP_MS })
    }
  } finally {
    rmSync(home, { recursive: true, force: true })
  }
  return measured
}
