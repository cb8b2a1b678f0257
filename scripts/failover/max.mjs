/** Max on a database: its commands, an organization of 200 people, and `max serve`. */
import { spawn } from "node:child_process"
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { root } from "../stale.mjs"

const MAX = join(root, "dist/bin/max.js")
const LIMITS = [
  "CALLS_PER_PERSON",
  "CALLS_PER_ORGANIZATION",
  "DAY_TURNS",
  "SMS_PER_NUMBER",
  "SMS_SEGMENTS",
  "WRITES_PER_MINUTE",
  "DESTRUCTIVE_PER_HOUR",
  "CHANGED_ROWS_PER_DAY"
]

export const sleep = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds))

export const openMax = (databaseUrl) => {
  const home = mkdtempSync(join(tmpdir(), "max-prove-"))
  chmodSync(home, 0o755)
  const env = {
    PATH: process.env.PATH,
    HOME: home,
    MAX_STATE_DIR: join(home, "state"),
    DATABASE_URL: databaseUrl,
    MAX_HTTP_PORT: "0",
    MAX_ORG: "atlas",
    ...Object.fromEntries(LIMITS.map((name) => [`MAX_${name}`, "1000000"]))
  }
  const start = (more, args) => {
    const child = spawn(process.execPath, [MAX, ...args], {
      cwd: home,
      env: { ...env, ...more },
      stdio: ["ignore", "pipe", "pipe"]
    })
    const running = { child, said: "" }
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (running.said += chunk))
    running.ended = new Promise((resolve) => child.on("close", (code) => resolve({ code, said: running.said })))
    return running
  }
  /** A command's exit code and output, with more settings. */
  const runWith = (more, ...args) => start(more, args).ended
  const run = (...args) => runWith({}, ...args)
  /** The output of a command that must succeed. */
  const must = async (...args) => {
    const { code, said } = await run(...args)
    if (code !== 0) throw new Error(`max ${args[0]}: ${code} ${said}`)
    return said
  }
  let server
  let address
  return {
    home,
    run,
    runWith,
    must,
    initialize: async () => {
      await must("migrate")
      await must("init", "--org", "atlas", "--country", "US", "--time-zone", "America/New_York")
      const people = Array.from({ length: 200 }, (_, i) => `p${i},Person Number ${i},person${i}@example.com`)
      writeFileSync(join(home, "people.csv"), ["id,name,email", ...people].join("\n"))
      await must("import", "people.csv", "--type", "people")
    },
    /** A new administrator's token. */
    tokenOf: async (email, ...scopes) => {
      await must("member", "add", email, "--role", "admin")
      const named = ["--name", "load", ...scopes.flatMap((scope) => ["--scope", scope])]
      return /max_\S+/.exec(await must("token", "create", email, ...named))[0]
    },
    idOf: async (wanted) =>
      JSON.parse(await must("member", "list", "--json")).find(({ name }) => name === wanted).anchorId,
    /** Starts `max serve`; its address. */
    serve: async (more = {}) => {
      server = start(more, ["serve"])
      while (!/Max answers at/.test(server.said)) {
        if (server.child.exitCode !== null) throw new Error(`max serve: ${server.said}`)
        await sleep(50)
      }
      address = /Max answers at (\S+);/.exec(server.said)[1]
      return address
    },
    ask: async (token, path, body) => {
      const from = performance.now()
      try {
        const answer = await fetch(address + path, {
          method: "POST",
          headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
          body: JSON.stringify(body ?? {}),
          signal: AbortSignal.timeout(60_000)
        })
        const text = await answer.text()
        return { status: answer.status, text, from, to: performance.now() }
      } catch (error) {
        return { status: 0, text: String(error), from, to: performance.now() }
      }
    },
    close: async () => {
      server?.child.kill("SIGTERM")
      await server?.ended
      rmSync(home, { recursive: true, force: true })
    }
  }
}
