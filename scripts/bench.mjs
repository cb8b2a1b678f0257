// Bundles bench/main.ts (Node 20 doesn't run TypeScript) and runs it with the arguments given.
import { build } from "esbuild"
import { mkdtempSync, rmSync, symlinkSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { root } from "./stale.mjs"

const folder = mkdtempSync(join(tmpdir(), "max-bench-"))
process.on("exit", () => rmSync(folder, { recursive: true, force: true }))
symlinkSync(join(root, "node_modules"), join(folder, "node_modules"))
await build({
  entryPoints: [join(root, "bench/main.ts")],
  outfile: join(folder, "bench.mjs"),
  bundle: true,
  format: "esm",
  platform: "node",
  target: "node20.19",
  packages: "external",
  logLevel: "warning"
})
// Contestants that are processes of their own run the same bundle.
process.env.MAX_BENCH = join(folder, "bench.mjs")
await import(pathToFileURL(join(folder, "bench.mjs")).href)
