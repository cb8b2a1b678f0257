// Bundles bench/main.ts (Node 20 doesn't run TypeScript) and runs it with the arguments given.
import { build } from "esbuild"
import { mkdtempSync, rmSync } from "node:fs"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { root } from "./stale.mjs"

// In the package, so that it finds the package by its name and what is installed.
const folder = mkdtempSync(join(root, ".bench-"))
process.on("exit", () => rmSync(folder, { recursive: true, force: true }))
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
