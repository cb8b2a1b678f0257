/**
 * Failover of a Patroni cluster under load: what is acknowledged is kept, a suspended member is never answered, and requests
 * are answered again. docs/operate.md reports the results.
 * Usage: node scripts/failover.mjs [WORD of a fault …]
 */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { openCluster } from "./failover/cluster.mjs"
import { openLoad } from "./failover/load.mjs"
import { root } from "./stale.mjs"

const wanted = process.argv.slice(2)
/** Requests are answered again within so many seconds: one and a half times what Patroni waits for a leader. */
const MOST = 1.5 * Number(/^ *ttl: (\d+)$/m.exec(readFileSync(join(root, "docs/failover/patroni.yml"), "utf8"))[1])
/** A leader whose Patroni hangs keeps its Postgres: it answers at its own address, from a state that is over. */
const atItsOwnAddress = async (load, { port }) =>
  `at the former leader's own address a suspended member is ${(await load.isAnsweredAt(port)) ? "" : "not "}answered`
const FAULTS = [
  { name: "Postgres of the leader is killed", fault: (cluster, node) => cluster.killPostgres(node), seconds: 25 },
  { name: "the leader's node dies", fault: (cluster, node) => cluster.kill(node), seconds: 40 },
  {
    name: "Patroni of the leader hangs, its Postgres lives",
    fault: (cluster, node) => cluster.stopPatroni(node),
    seconds: 40,
    also: atItsOwnAddress
  },
  { name: "the leader's node hangs", fault: (cluster, node) => cluster.stop(node), seconds: 45 },
  {
    name: "the synchronous standby's node dies",
    fault: (cluster, node) => cluster.stopAll([node]),
    of: (cluster) => cluster.standby("sync_standby"),
    seconds: 25
  },
  {
    name: "the other standby's node dies",
    fault: (cluster, node) => cluster.stopAll([node]),
    of: (cluster) => cluster.standby("replica"),
    seconds: 15
  },
  { name: "a planned switchover", fault: (cluster, node) => cluster.switchover(node), seconds: 20 },
  // The control: the same fault loses acknowledged changes without synchronous_mode.
  {
    name: "control without synchronous_mode: the leader's node dies",
    fault: (cluster, node) => cluster.kill(node),
    seconds: 40,
    loses: true
  }
]
/** What `max doctor` must say, by its address and the cluster's state. */
const DOCTOR = {
  proxy: /a commit waits for a synchronous one/,
  asynchronous: /follow this server asynchronously/,
  node: /the own address of one node of a cluster/,
  standby: /The server is a standby/,
  alone: /No standby follows this server/
}

const cluster = await openCluster()
let failed = false
try {
  const load = await openLoad(cluster)
  try {
    const expectDoctor = async (kind, node) => {
      const said = await load.doctor(node?.port)
      const isRight = DOCTOR[kind].test(said) && (kind === "node" || !DOCTOR.node.test(said))
      console.log(`${isRight ? "ok  " : "FAIL"} max doctor, ${kind}${isRight ? "" : `: ${said}`}`)
      failed ||= !isRight
    }
    const chosen = FAULTS.filter(({ name }) => wanted.length === 0 || wanted.some((word) => name.includes(word)))
    if (wanted.length === 0 || wanted.includes("doctor")) {
      const leader = await cluster.leader()
      const [other, last] = cluster.nodes.filter((node) => node !== leader)
      await expectDoctor("proxy")
      await expectDoctor("node", leader)
      await expectDoctor("standby", other)
      await cluster.setSynchronous(false)
      await expectDoctor("asynchronous")
      cluster.stopAll([other, last])
      await cluster.unfollowed()
      await expectDoctor("alone")
      await cluster.healAll([other, last])
      await cluster.setSynchronous(true)
    }
    for (const { also, fault, loses = false, name, of = (whole) => whole.leader(), seconds } of chosen) {
      if (loses) await cluster.setSynchronous(false)
      else await cluster.healthy()
      const node = await of(cluster)
      load.begin()
      await load.during(5)
      const from = performance.now()
      await fault(cluster, node)
      await load.during(seconds)
      const more = also === undefined ? [] : [await also(load, node)]
      await cluster.heal(node, !loses)
      const result = await load.end(from)
      const { answered, empty, lost, outage, slowest, statuses, suspended, unexpected } = result
      const kinds = Object.entries(lost)
      const gone = kinds.reduce((sum, [, one]) => sum + one.lost, 0)
      const isRight =
        answered > 0 &&
        empty === 0 &&
        outage <= MOST &&
        (loses ? gone > 0 : gone === 0 && suspended.wrong === 0 && unexpected.length === 0)
      console.log(
        [
          `${isRight ? "ok  " : "FAIL"} ${name}: no answer for ${outage.toFixed(1)} s`,
          `slowest failure ${slowest.toFixed(1)} s`,
          JSON.stringify(statuses),
          `empty answers ${empty}`,
          `answers to a suspended member ${suspended.wrong} of ${suspended.sent}`,
          ...kinds.map(([what, one]) => `acknowledged ${what} lost ${one.lost} of ${one.of}`),
          ...more,
          ...unexpected.slice(0, 3)
        ].join("; ")
      )
      failed ||= !isRight
      if (loses) await cluster.setSynchronous(true)
    }
  } finally {
    await load.close()
  }
} finally {
  await cluster.close()
}
process.exit(failed ? 1 : 0)
