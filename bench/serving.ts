/** The built `max serve`, as a process of its own. */
import { Effect } from "effect"
import { spawn, spawnSync } from "node:child_process"
import { join } from "node:path"
import { Database } from "../src/database/Database.ts"
import { outside, urlOf } from "./outside.ts"

/** The options of docs/performance: by default Node collects garbage late. */
const HEAP_MB = 96

/** Settings without the limits of calls that `max serve` has. */
export const UNLIMITED = {
  MAX_LOOKUP_TIMEOUT: "5000",
  MAX_SEARCH_TIMEOUT: "60000",
  MAX_CALLS_PER_PERSON: "1000000",
  MAX_CALLS_PER_ORGANIZATION: "100000000"
}

/** The built `max serve` on this process's database: its address, and its memory in megabytes. */
export const serving = Effect.fnUntraced(function* (settings: Readonly<Record<string, string>> = {}) {
  const { owner } = yield* Database
  spawnSync(process.execPath, [join("bin", "max"), "--version"], { stdio: "ignore" })
  return yield* Effect.acquireRelease(
    Effect.callback<{ readonly port: number; readonly end: () => void; readonly megabytes: () => number }>((resume) => {
      const child = spawn(
        process.execPath,
        [`--max-old-space-size=${HEAP_MB}`, join("dist", "bin", "max.js"), "serve"],
        {
          env: {
            PATH: process.env["PATH"],
            HOME: process.env["HOME"],
            DATABASE_URL: urlOf(outside(owner)),
            MAX_HTTP_PORT: "0",
            ...settings
          },
          stdio: ["ignore", "pipe", "pipe"]
        }
      )
      let said = ""
      const hear = (chunk: Buffer) => {
        said += chunk.toString()
        const port = /Max answers at http:\/\/[^ ]*:(\d+)/.exec(said)?.[1]
        if (port === undefined) return
        const megabytes = () =>
          Number(spawnSync("ps", ["-o", "rss=", "-p", String(child.pid)], { encoding: "utf8" }).stdout) / 1024
        resume(Effect.succeed({ port: Number(port), end: () => void child.kill("SIGTERM"), megabytes }))
      }
      child.stdout.on("data", hear)
      child.stderr.on("data", hear)
      child.on("close", () => resume(Effect.die(new Error(said))))
    }),
    ({ end }) => Effect.sync(end)
  )
})
