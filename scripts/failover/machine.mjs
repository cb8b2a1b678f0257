/** Ports, processes and Debian's Postgres on this machine. */
import { execFileSync } from "node:child_process"
import { readdirSync, readFileSync } from "node:fs"
import { createServer } from "node:net"
import { join } from "node:path"

/** Below the range from which the system takes ports of outgoing connections. */
export const freePort = () =>
  new Promise((resolve) => {
    const server = createServer()
    const attempt = () => server.listen(20_000 + Math.floor(Math.random() * 12_000), "127.0.0.1")
    server.on("error", attempt)
    server.on("listening", () => {
      const { port } = server.address()
      server.close(() => resolve(port))
    })
    attempt()
  })

export const until = async (what, holds, seconds = 90) => {
  const end = Date.now() + seconds * 1000
  for (;;) {
    if (await holds().catch(() => false)) return
    if (Date.now() > end) throw new Error(`${what}: not within ${seconds} s`)
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
}

/** Postgres doesn't run as root. */
export const account = () => {
  if (process.getuid() !== 0) return {}
  const [uid, gid] = ["-u", "-g"].map((flag) => Number(execFileSync("id", [flag, "postgres"], { encoding: "utf8" })))
  return { uid, gid }
}

export const binaries = () => {
  const folder = "/usr/lib/postgresql"
  const newest = readdirSync(folder).sort((one, other) => Number(other) - Number(one))[0]
  return join(folder, newest, "bin")
}

/** The processes of a process group's leader and all that descend from it. */
export const descendants = (pid) => {
  const parents = new Map()
  for (const entry of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
    try {
      const stat = readFileSync(`/proc/${entry}/stat`, "utf8")
      parents.set(Number(entry), Number(stat.slice(stat.lastIndexOf(")") + 4).split(" ")[0]))
    } catch {}
  }
  const found = [pid]
  for (const one of found) for (const [child, parent] of parents) if (parent === one) found.push(child)
  return found
}
export const commandOf = (pid) => {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8")
  } catch {
    return ""
  }
}
export const hasEnded = ({ exitCode, signalCode }) => exitCode !== null || signalCode !== null
export const signal = (pids, name) => {
  for (const pid of pids)
    try {
      process.kill(pid, name)
    } catch {}
}
