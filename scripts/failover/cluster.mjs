/**
 * A Patroni cluster on this machine with the files of docs/failover: etcd, three nodes and haproxy, which are Debian's
 * packages (`apt-get install patroni etcd-server haproxy`).
 */
import { execFileSync, spawn } from "node:child_process"
import { chownSync, chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir, userInfo } from "node:os"
import { join } from "node:path"
import { root } from "../stale.mjs"
import { account, binaries, commandOf, descendants, freePort, hasEnded, signal, until } from "./machine.mjs"

const NODES = ["n1", "n2", "n3"]
const PASSWORD = "secret"
/** What the standbys of a leader that dies haven't received. */
const LAG_MS = 500

export const openCluster = async () => {
  const folder = mkdtempSync(join(tmpdir(), "max-failover-"))
  chmodSync(folder, 0o755)
  const who = account()
  const bin = binaries()
  const own = (path) => (who.uid === undefined ? path : (chownSync(path, who.uid, who.gid), path))
  const env = { PATH: `${bin}:${process.env.PATH}`, HOME: folder, USER: userInfo().username }
  own(folder)
  const children = []
  // Also after an error, no process keeps running.
  process.on("exit", () => {
    for (const { pid } of children) signal(descendants(pid), "SIGKILL")
    rmSync(folder, { recursive: true, force: true, maxRetries: 10 })
  })
  const start = (command, args) => {
    const child = spawn(command, args, { ...who, cwd: folder, env, stdio: ["ignore", "pipe", "pipe"] })
    children.push(child)
    let said = ""
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (said += chunk))
    child.on("error", (error) => (said += String(error)))
    return { child, said: () => said }
  }

  const [etcdPort, peerPort, proxyPort] = await Promise.all([freePort(), freePort(), freePort()])
  const etcdUrl = `http://127.0.0.1:${etcdPort}`
  const peerUrl = `http://127.0.0.1:${peerPort}`
  const settings = {
    name: "e1",
    "data-dir": join(folder, "etcd"),
    "log-level": "error",
    "listen-client-urls": etcdUrl,
    "advertise-client-urls": etcdUrl,
    "listen-peer-urls": peerUrl,
    "initial-advertise-peer-urls": peerUrl,
    "initial-cluster": `e1=${peerUrl}`
  }
  const etcd = start("etcd", [
    "--enable-v2",
    ...Object.entries(settings).flatMap(([name, value]) => [`--${name}`, value])
  ])
  await until("etcd", async () => (await fetch(`${etcdUrl}/health`)).ok)

  // Addresses, folders and passwords of the published file are replaced; everything else is as published.
  const published = readFileSync(join(root, "docs/failover/patroni.yml"), "utf8")
  const nodes = []
  for (const name of NODES) {
    const [port, rest] = [await freePort(), await freePort()]
    const data = join(folder, name)
    mkdirSync(data, { mode: 0o700 })
    own(data)
    const file = join(folder, `${name}.yml`)
    const text = published
      .replaceAll("name: n1", `name: ${name}`)
      .replaceAll("10.0.0.10:2379", `127.0.0.1:${etcdPort}`)
      .replaceAll("10.0.0.11:8008", `127.0.0.1:${rest}`)
      .replaceAll("10.0.0.11:5432", `127.0.0.1:${port}`)
      .replaceAll("10.0.0.0/24", "127.0.0.1/32")
      .replaceAll("/var/lib/postgresql/15/max", data)
      .replaceAll("/var/lib/postgresql/.pgpass-patroni", join(folder, `${name}.pgpass`))
      .replaceAll("/usr/lib/postgresql/15/bin", bin)
      .replaceAll("/var/run/postgresql", folder)
      .replaceAll("change-me", PASSWORD)
    if (/10\.0\.0|\/var\//.test(text)) throw new Error("docs/failover/patroni.yml has an address that isn't replaced")
    writeFileSync(file, text, { mode: 0o600 })
    own(file)
    nodes.push({ name, port, rest, file, data })
  }
  for (const node of nodes) {
    node.patroni = start("patroni", [node.file])
    await until(`${node.name}`, async () => (await fetch(`http://127.0.0.1:${node.rest}/health`)).ok).catch((error) => {
      throw new Error(`${error.message}\n${node.patroni.said()}`)
    })
  }

  let proxy = readFileSync(join(root, "docs/failover/haproxy.cfg"), "utf8").replace(
    "10.0.0.9:5432",
    `127.0.0.1:${proxyPort}`
  )
  nodes.forEach(({ port, rest }, index) => {
    proxy = proxy.replace(`10.0.0.1${index + 1}:5432 check port 8008`, `127.0.0.1:${port} check port ${rest}`)
  })
  if (proxy.includes("10.0.0.")) throw new Error("docs/failover/haproxy.cfg has an address that isn't replaced")
  writeFileSync(join(folder, "haproxy.cfg"), proxy)
  const haproxy = start("haproxy", ["-db", "-f", join(folder, "haproxy.cfg")])

  /** The cluster as the living nodes see it. */
  const members = async () => {
    for (const { rest } of nodes) {
      try {
        const answer = await fetch(`http://127.0.0.1:${rest}/cluster`, { signal: AbortSignal.timeout(1000) })
        return (await answer.json()).members
      } catch {}
    }
    return []
  }
  const leader = async () => {
    const name = (await members()).find(({ role }) => role === "leader" || role === "master")?.name
    return nodes.find((node) => node.name === name)
  }
  const standby = async (wanted) => {
    const name = (await members()).find(({ role }) => role === wanted)?.name
    return nodes.find((node) => node.name === name)
  }
  // A former leader counts as running before it is rewound to the new one's timeline; only then it streams from it.
  const streaming = () => query(superuser, "SELECT count(*) FROM pg_stat_replication WHERE state = 'streaming'")
  const isHealthy = async (synchronous) => {
    const all = await members()
    return (
      all.length === NODES.length &&
      all.every(({ state }) => state === "running" || state === "streaming") &&
      all.filter(({ role }) => role === "sync_standby").length === (synchronous ? 1 : 0) &&
      all.filter(({ role }) => role === "leader").length === 1 &&
      Number(streaming()) === NODES.length - 1
    )
  }
  const healthy = (synchronous = true) =>
    until(
      "a leader with its standbys, one of them synchronous if that is set",
      () => isHealthy(synchronous),
      300
    ).catch(async (error) => {
      throw new Error(`${error.message}: ${JSON.stringify(await members())}\n${nodes.map(tail).join("\n")}`)
    })
  const tail = ({ name, patroni }) => `${name}: ${patroni.said().split("\n").slice(-8).join("\n")}`
  const postmaster = ({ data }) => Number(readFileSync(join(data, "postmaster.pid"), "utf8").split("\n")[0])
  const url = (user, password, database) => `postgres://${user}:${password}@127.0.0.1:${proxyPort}/${database}`

  const superuser = url("postgres", PASSWORD, "postgres")
  const query = (address, sql) =>
    execFileSync(join(bin, "psql"), ["-XAtq", "-d", address, "-c", sql], { encoding: "utf8", env }).trim()

  await healthy()
  // Before its first checks haproxy takes every node for the leader.
  const isLeading = async () => query(superuser, "SELECT pg_is_in_recovery()") === "f"
  let led = 0
  await until("the proxy leads to the leader", async () => (led = (await isLeading()) ? led + 1 : 0) >= 10)
  return {
    healthy,
    leader,
    standby,
    superuser,
    query,
    /** Ends what the node runs, without warning, while its standbys lack the changes of the last moments. */
    kill: async (node) => {
      const sending = descendants(postmaster(node)).filter((pid) => /walsender/.test(commandOf(pid)))
      if (sending.length !== NODES.length - 1) throw new Error(`${sending.length} standbys follow the leader`)
      signal(sending, "SIGSTOP")
      await new Promise((resolve) => setTimeout(resolve, LAG_MS))
      signal([...descendants(node.patroni.child.pid), ...descendants(postmaster(node))], "SIGKILL")
    },
    killPostgres: (node) => signal([postmaster(node)], "SIGKILL"),
    stop: (node) => signal([...descendants(node.patroni.child.pid), ...descendants(postmaster(node))], "SIGSTOP"),
    stopPatroni: (node) => signal([node.patroni.child.pid], "SIGSTOP"),
    switchover: async (node) => {
      const { name: candidate } = await standby("sync_standby")
      await fetch(`http://127.0.0.1:${node.rest}/switchover`, {
        method: "POST",
        body: JSON.stringify({ leader: node.name, candidate })
      })
    },
    /** Whether commits wait for a standby. */
    setSynchronous: async (is) => {
      const { rest } = await leader()
      const body = JSON.stringify({ synchronous_mode: is })
      await fetch(`http://127.0.0.1:${rest}/config`, { method: "PATCH", body })
      const names = () => query(superuser, "SHOW synchronous_standby_names")
      await until("the setting", async () => (names() !== "") === is)
    },
    nodes,
    /** Ends nodes, and waits until the leader has noticed. */
    stopAll: (some) => {
      for (const node of some)
        signal([...descendants(node.patroni.child.pid), ...descendants(postmaster(node))], "SIGKILL")
    },
    unfollowed: () =>
      until("no standby", async () => query(superuser, "SELECT count(*) FROM pg_stat_replication") === "0"),
    healAll: async (some) => {
      for (const node of some) {
        await until("the end of Patroni", async () => hasEnded(node.patroni.child))
        node.patroni = start("patroni", [node.file])
      }
      await healthy(false)
    },
    /** Starts again what a fault has ended or stopped. */
    heal: async (node, synchronous = true) => {
      const { pid } = node.patroni.child
      const postgres = (() => {
        try {
          return descendants(postmaster(node))
        } catch {
          return []
        }
      })()
      signal([...descendants(pid), ...postgres], "SIGCONT")
      if (hasEnded(node.patroni.child)) node.patroni = start("patroni", [node.file])
      await healthy(synchronous)
    },
    close: async () => {
      haproxy.child.kill("SIGTERM")
      for (const { patroni } of nodes) {
        signal(descendants(patroni.child.pid), "SIGCONT")
        patroni.child.kill("SIGTERM")
      }
      await Promise.race([
        Promise.all(
          nodes.map(({ patroni: { child } }) => child.exitCode ?? new Promise((done) => child.on("close", done)))
        ),
        new Promise((done) => setTimeout(done, 20_000))
      ])
      for (const node of nodes)
        try {
          signal([postmaster(node)], "SIGQUIT")
        } catch {}
      etcd.child.kill("SIGTERM")
      rmSync(folder, { recursive: true, force: true, maxRetries: 10 })
    }
  }
}
