/**
 * Failover of a Patroni cluster under load: what is acknowledged is kept, a suspended member is never answered, and requests
 * are answered again. docs/operate.md reports the results.
 * Usage: node scripts/failover.mjs [WORD of a fault …]
 */
import { openCluster } from "./failover/cluster.mjs"
import { openLoad } from "./failover/load.mjs"

const wanted = process.argv.slice(2)
const FAULTS = [
  ["Postgres of the leader is killed", (cluster, node) => cluster.killPostgres(node), 25],
  ["the leader's node dies", (cluster, node) => cluster.kill(node), 40],
  ["Patroni of the leader hangs, its Postgres lives", (cluster, node) => cluster.stopPatroni(node), 40],
  ["the leader's node hangs", (cluster, node) => cluster.stop(node), 45],
  ["a planned switchover", (cluster, node) => cluster.switchover(node), 20]
]

const cluster = await openCluster()
let failed = false
try {
  const load = await openLoad(cluster)
  try {
    const doctors = [await load.doctor()]
    await cluster.setSynchronous(false)
    doctors.push(await load.doctor())
    await cluster.setSynchronous(true)
    if (!doctors[0]?.includes("synchronous one") || !doctors[1]?.includes("asynchronously")) {
      console.log(`FAIL max doctor says: ${doctors.join(" / ")}`)
      failed = true
    } else console.log("ok   max doctor names asynchronous standbys")
    const chosen = FAULTS.filter(([name]) => wanted.length === 0 || wanted.some((word) => name.includes(word)))
    for (const [name, fault, seconds] of chosen) {
      await cluster.healthy()
      const node = await cluster.leader()
      load.begin()
      await load.during(5)
      const from = performance.now()
      await fault(cluster, node)
      await load.during(seconds)
      await cluster.heal(node)
      const result = await load.end(from)
      const { answered, empty, lost, outage, slowest, statuses, suspended, unexpected } = result
      const kinds = Object.entries(lost)
      const gone = kinds.reduce((sum, [, one]) => sum + one.lost, 0)
      const bad = empty + suspended.wrong + unexpected.length + gone
      console.log(
        [
          `${bad === 0 && answered > 0 ? "ok  " : "FAIL"} ${name}: no answer for ${outage.toFixed(1)} s`,
          `slowest failure ${slowest.toFixed(1)} s`,
          JSON.stringify(statuses),
          `empty answers ${empty}`,
          `answers to a suspended member ${suspended.wrong} of ${suspended.sent}`,
          ...kinds.map(([what, one]) => `acknowledged ${what} lost ${one.lost} of ${one.of}`),
          ...unexpected.slice(0, 3)
        ].join("; ")
      )
      if (bad > 0 || answered === 0) failed = true
    }
  } finally {
    await load.close()
  }
} finally {
  await cluster.close()
}
process.exit(failed ? 1 : 0)
