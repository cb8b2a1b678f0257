// Everything that holds the line without running the product: types, Effect's own diagnostics, lint, format, dead code.
import { spawnSync } from "node:child_process"
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
  ["knip"]
]

let failed = 0
for (const [name, ...args] of checks) {
  const started = Date.now()
  const { status } = spawnSync("npx", ["--no-install", name, ...args], { cwd: root, stdio: "inherit" })
  console.log(`${status === 0 ? "ok  " : "FAIL"} ${name} (${((Date.now() - started) / 1000).toFixed(1)} s)`)
  if (status !== 0) failed += 1
}
process.exit(failed === 0 ? 0 : 1)
