// Runs the long forms of the tests of changes: a thousand random changes undone, two hundred processes killed.
import { spawnSync } from "node:child_process"
import { join } from "node:path"
import { root } from "./stale.mjs"

const tests = ["undo", "kill"].map((name) => `test/services/changes/${name}.test.ts`)
const { status } = spawnSync(
  process.execPath,
  [join(root, "node_modules/vitest/vitest.mjs"), "run", ...tests, "--maxWorkers", "1"],
  { cwd: root, stdio: "inherit", env: { ...process.env, MAX_PROVE: "on" } }
)
process.exit(status ?? 1)
