/** PgBouncer before the server of a test run. */
import { Effect } from "effect"
import { execFileSync, spawn } from "node:child_process"
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { createServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"

const freePort = Effect.promise(
  () =>
    new Promise<number>((resolve) => {
      const server = createServer()
      server.listen(0, "127.0.0.1", () => {
        const address = server.address()
        server.close(() => resolve(typeof address === "object" && address !== null ? address.port : 0))
      })
    })
)

const userOf = (host: string) =>
  host.startsWith("/") ? execFileSync("stat", ["-c", "%U", host], { encoding: "utf8" }).trim() : "daemon"

/** Its address; the scope's end stops it. In transaction mode, two server connections of a role serve all of its clients. */
export const startPgBouncer = Effect.fnUntraced(function* (serverUrl: string, mode: string) {
  const { hostname, password, port: urlPort, searchParams, username } = new URL(serverUrl)
  const host = searchParams.get("host") ?? hostname
  const port = searchParams.get("port") ?? urlPort
  const listen = yield* freePort
  const folder = yield* Effect.acquireRelease(
    Effect.sync(() => mkdtempSync(join(tmpdir(), "max-pgbouncer-"))),
    (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
  )
  const owner = decodeURIComponent(username)
  writeFileSync(join(folder, "users.txt"), `"${owner}" "${decodeURIComponent(password)}"\n`)
  writeFileSync(
    join(folder, "pgbouncer.ini"),
    `[databases]
* = host=${host} port=${port === "" ? "5432" : port}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${listen}
unix_socket_dir =
auth_type = scram-sha-256
auth_file = ${join(folder, "users.txt")}
auth_user = ${owner}
pool_mode = ${mode}
default_pool_size = ${mode === "transaction" ? 2 : 40}
max_client_conn = 1000
logfile = ${join(folder, "log")}
`
  )
  chmodSync(folder, 0o777)
  // Not as root, and as a user that may use the server's socket.
  const user = process.getuid?.() === 0 ? userOf(host) : undefined
  const asUser = user === undefined ? [] : ["-u", user]
  yield* Effect.acquireRelease(
    Effect.callback<ReturnType<typeof spawn>>((resume) => {
      const child = spawn("pgbouncer", [...asUser, join(folder, "pgbouncer.ini")], {
        stdio: ["ignore", "ignore", "pipe"]
      })
      let said = ""
      child.stderr.on("data", (chunk: Buffer) => {
        said += chunk.toString()
        if (said.includes("process up")) resume(Effect.succeed(child))
      })
      child.on("error", () => resume(Effect.die(new Error("MAX_TEST_POOL needs pgbouncer on the PATH"))))
      child.on("exit", (code) => resume(Effect.die(new Error(`pgbouncer ended with ${code}: ${said}`))))
    }),
    (child) => Effect.sync(() => child.kill("SIGKILL"))
  )
  return `postgres://127.0.0.1:${listen}/`
})
