/**
 * Slow-client attacks with slowhttptest. Each runs until the server has closed every connection or the time limit passes,
 * while another client sends four requests per second.
 */
import { spawn } from "node:child_process"
import { mkdirSync, readdirSync, readlinkSync } from "node:fs"

const CONNECTIONS = 1000
/** Seconds. */
const LONGEST = 240

const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms))

/** The attacks: options of slowhttptest, and the path. `sign` tells how the cookie is passed. */
export const waysOf = (world, asset) => {
  const cookie = ["-j", world.cookie]
  // slowhttptest has no option for headers; a cookie alone would be refused before the body, for its origin.
  const upload = `multipart/form-data; boundary=slow\r\nAuthorization: Bearer ${world.admin}`
  return {
    headers: { what: "slow headers", options: ["-H", "-i", "5"], path: "/v1/session" },
    body: {
      what: "slow body",
      options: ["-B", "-i", "5", "-s", "8192", "-t", "POST", "-f", "application/json"],
      path: "/v1/session"
    },
    upload: {
      what: "slow upload of a file",
      options: ["-B", "-i", "5", "-s", "8192", "-t", "POST", "-f", upload],
      path: "/v1/admin/import"
    },
    range: { what: "overlapping ranges", options: ["-R", "-a", "5", "-b", "2000"], path: asset },
    read: {
      what: "slow read of an answer",
      options: ["-X", "-w", "10", "-y", "20", "-n", "5", "-z", "5", "-k", "3"],
      path: "/openapi.json"
    },
    stop: {
      what: "reading stops for good, ten answers asked for",
      options: ["-X", "-w", "10", "-y", "20", "-n", "1000", "-z", "5", "-k", "10"],
      path: "/openapi.json"
    },
    listen: {
      what: "a listener who doesn't read",
      options: ["-X", "-w", "10", "-y", "20", "-n", "1000", "-z", "5", "-k", "1", ...cookie],
      path: "/v1/traces/live",
      longest: 420
    }
  }
}

const socketsOf = (pid) =>
  readdirSync(`/proc/${pid}/fd`).filter((fd) => {
    try {
      return readlinkSync(`/proc/${pid}/fd/${fd}`).startsWith("socket:")
    } catch {
      return false
    }
  }).length

/** Sends requests periodically, as an unrelated client. */
const askAgain = (world) => {
  const times = []
  let failed = 0
  const over = new AbortController()
  const done = (async () => {
    while (!over.signal.aborted) {
      const from = performance.now()
      const answer = await fetch(`${world.url}/v1/tools/listEntityTypes`, {
        method: "POST",
        headers: { authorization: `Bearer ${world.other}`, "content-type": "application/json" },
        body: "{}",
        signal: AbortSignal.timeout(10_000)
      }).catch(() => undefined)
      await answer?.text().catch(() => {})
      if (answer?.status !== 200) failed += 1
      times.push(performance.now() - from)
      await sleep(250)
    }
  })()
  return async () => {
    over.abort()
    await done
    times.sort((a, b) => a - b)
    return { asked: times.length, failed, median: times[times.length >> 1], most: times.at(-1) }
  }
}

/** Runs one attack, and reports its progress every ten seconds. */
export const slow = async (world, { longest = LONGEST, options, path, what }, folder) => {
  mkdirSync(folder, { recursive: true })
  const [before, memoryBefore] = [socketsOf(world.pid), world.residentBytes()]
  const stop = askAgain(world)
  const from = performance.now()
  const seconds = () => (performance.now() - from) / 1000
  const child = spawn(
    "slowhttptest",
    [
      "-c",
      String(CONNECTIONS),
      "-r",
      "200",
      "-l",
      String(longest),
      "-p",
      "10",
      ...options,
      "-u",
      `${world.url}${path}`
    ],
    { cwd: folder, stdio: ["ignore", "pipe", "pipe"] }
  )
  let said = ""
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (said += chunk))
  const ended = new AbortController()
  child.on("close", () => ended.abort())
  let [most, memory, last, reported] = [0, 0, 0, 0]
  while (!ended.signal.aborted && seconds() < longest + 20) {
    await sleep(250)
    const open = Math.max(0, socketsOf(world.pid) - before - 1)
    most = Math.max(most, open)
    memory = Math.max(memory, world.residentBytes())
    if (open > 0) last = seconds()
    if (seconds() - reported > 10) {
      reported = seconds()
      console.log(`  ${reported.toFixed(0)} s: ${open} open, ${(world.residentBytes() / 1e6).toFixed(0)} MB`)
    }
    // All connections were opened and closed; slowhttptest's remaining work is irrelevant.
    if (open === 0 && seconds() > 20 && seconds() - last > 5) child.kill("SIGINT")
  }
  if (!ended.signal.aborted) child.kill("SIGKILL")
  const others = await stop()
  const text = said.replace(/\x1b\[[\d;]*m/g, "")
  const end = /Exit status:\s*(.*)/.exec(text)?.[1] ?? "ended"
  const left = Math.max(0, socketsOf(world.pid) - before - 1)
  console.log(
    `${what}: at most ${most} concurrently open, ${left === 0 ? `the last closed after ${last.toFixed(0)} s` : `${left} LEFT OPEN after ${seconds().toFixed(0)} s`} (${end}); ` +
      `others asked ${others.asked} times, ${others.failed} not answered, median ${others.median.toFixed(0)} ms, at most ${others.most.toFixed(0)} ms; ` +
      `memory ${(memoryBefore / 1e6).toFixed(0)} to ${(memory / 1e6).toFixed(0)} MB`
  )
  return left === 0 && others.failed === 0
}
