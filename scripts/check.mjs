// All static checks: types, Effect diagnostics, lint, format, dead code, regular expressions, and that every defence patch still applies.
import { spawnSync } from "node:child_process"
import { delimiter, join } from "node:path"
import { root } from "./stale.mjs"

const checks = [
  ["tsc", "-p", "."],
  ["tsc", "-p", "tsconfig.web.json"],
  [
    "effect-tsgo",
    "diagnostics",
    "--project",
    "tsconfig.json",
    "--severity",
    "error,warning",
    "--strict",
    "--format",
    "text"
  ],
  ["oxlint", "--deny-warnings"],
  ["oxfmt", "--check"],
  ["knip"],
  ["node", "scripts/redos.mjs"],
  ["node", "scripts/defences.mjs", "--check"]
]
const env = { ...process.env, PATH: [join(root, "node_modules/.bin"), process.env.PATH].join(delimiter) }

let failed = 0
for (const [name, ...args] of checks) {
  const started = Date.now()
  const { status } = spawnSync(name, args, { cwd: root, env, stdio: "inherit" })
  console.log(
    `${status === 0 ? "ok  " : "FAIL"} ${name === "node" ? args[0] : name} (${((Date.now() - started) / 1000).toFixed(1)} s)`
  )
  if (status !== 0) failed += 1
}
process.exit(failed === 0 ? 0 : 1)
