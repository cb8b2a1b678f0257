// Runs the long form of every test series: kill -9 at hundreds of moments, the whole corpus of permissions several times, every
// question of the matrix, and all tests with row-level security. Arguments select test files by a part of their name, or the series
// pgbouncer, rls, proxies, failover or disk. Takes about an hour.
import { spawnSync } from "node:child_process"
import { readdirSync, readFileSync } from "node:fs"
import { join, relative } from "node:path"
import { root } from "./stale.mjs"

const wanted = process.argv.slice(2)
const sources = readdirSync(join(root, "test"), { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile() && entry.name.endsWith(".ts"))
  .map((entry) => join(entry.parentPath, entry.name))
const hasSeries = (path) => /\bpartOf\(|support\/(long|linear)\.ts"/.test(readFileSync(path, "utf8"))
const files = sources
  .filter((path) => path.endsWith(".test.ts") && hasSeries(path))
  .map((path) => relative(root, path))
  .filter((path) => wanted.length === 0 || wanted.some((word) => path.includes(word)))
  .sort()
const SERIES = ["pgbouncer", "proxies", "failover", "disk", "rls"]
if (files.length === 0 && !SERIES.some((name) => wanted.includes(name))) {
  console.error(`No test series has a name with ${wanted.join(" or ")}`)
  process.exit(1)
}
/** The lookups of the suite, which also run through PgBouncer (`apt-get install pgbouncer`), in both of its modes. */
const THROUGH_PGBOUNCER = [
  "test/database/pooled.test.ts",
  "test/services/lookup",
  "test/services/mapping",
  "test/permissions/access.test.ts",
  "test/channels/http/tools.test.ts"
]
const run = (command, args, more = {}) => {
  const { status } = spawnSync(command, args, {
    cwd: root,
    stdio: "inherit",
    env: { ...process.env, MAX_TEST_LONG: "on", ...more }
  })
  if (status !== 0) process.exit(status ?? 1)
}
run(process.execPath, ["scripts/build.mjs", "--if-stale"])
if (files.length > 0) run(process.execPath, ["node_modules/vitest/vitest.mjs", "run", ...files])
const pooled = THROUGH_PGBOUNCER.filter(
  (path) => wanted.length === 0 || wanted.some((word) => path.includes(word) || word === "pgbouncer")
)
for (const mode of pooled.length === 0 ? [] : ["session", "transaction"])
  run(process.execPath, ["node_modules/vitest/vitest.mjs", "run", ...pooled], {
    MAX_TEST_LONG: "",
    MAX_TEST_POOL: mode
  })
if (wanted.length === 0 || wanted.includes("rls"))
  run(process.execPath, ["node_modules/vitest/vitest.mjs", "run", "--config", "vitest.rls.config.ts"], {
    MAX_TEST_LONG: "",
    MAX_TEST_RLS: "all"
  })
// The control: without the primary's confirmation, the test of standbys finds wrong answers.
if (wanted.length === 0 || wanted.includes("replicas"))
  run(process.execPath, ["scripts/defences.mjs", "A standby that answered although it was behind"], {
    MAX_TEST_LONG: ""
  })
// Needs Debian's packages nginx, caddy and haproxy.
if (wanted.length === 0 || wanted.includes("proxies"))
  run(process.execPath, ["node_modules/vitest/vitest.mjs", "run"], { MAX_TEST_LONG: "", MAX_TEST_PROXIES: "on" })
// Needs Debian's packages patroni, etcd-server and haproxy.
if (wanted.length === 0 || wanted.includes("failover")) run(process.execPath, ["scripts/failover.mjs"])
// Needs Debian's Postgres, and root to mount a small disk.
if (wanted.length === 0 || wanted.includes("disk")) run(process.execPath, ["scripts/diskFull.mjs"])
