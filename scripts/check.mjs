// All static checks: types, Effect diagnostics, lint, format, dead code, regular expressions, and that every defence patch still applies.
import { spawn } from "node:child_process"
import { delimiter, join } from "node:path"
import { root } from "./stale.mjs"

/** Regular expressions by themselves, because another program would lengthen their analysis beyond its bound; then two at a time. */
const checks = [
  ["node", "scripts/redos.mjs"],
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
  ["tsc", "-p", "."],
  ["knip"],
  ["tsc", "-p", "tsconfig.web.json"],
  ["oxlint", "--deny-warnings"],
  ["oxfmt", "--check"],
  ["node", "scripts/defences.mjs", "--check"]
]
const env = { ...process.env, PATH: [join(root, "node_modules/.bin"), process.env.PATH].join(delimiter) }

/** Whether a check passes; what it prints appears when it ends. */
const passes = ([name, ...args]) =>
  new Promise((resolve) => {
    const started = Date.now()
    const printed = []
    const child = spawn(name, args, { cwd: root, env, stdio: ["ignore", "pipe", "pipe"] })
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (piece) => printed.push(piece))
    child.on("error", (error) => printed.push(Buffer.from(`${error.message}\n`)))
    child.on("close", (status) => {
      process.stdout.write(Buffer.concat(printed))
      const seconds = ((Date.now() - started) / 1000).toFixed(1)
      console.log(`${status === 0 ? "ok  " : "FAIL"} ${name === "node" ? args[0] : name} (${seconds} s)`)
      resolve(status === 0)
    })
  })

let failed = 0
const left = checks.values()
const runLeft = async () => {
  for (const check of left) if (!(await passes(check))) failed += 1
}
if (!(await passes(left.next().value))) failed += 1
await Promise.all([runLeft(), runLeft()])
process.exit(failed === 0 ? 0 : 1)
