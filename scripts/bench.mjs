// Bundles bench/main.ts (Node 20 doesn't run TypeScript) and runs it with the arguments given.
import { build } from "esbuild"
import { mkdtempSync, rmSync } from "node:fs"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { root } from "./stale.mjs"

// Inside the package, so that the bundle resolves the package and its dependencies.
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
// Contestants in separate processes run the same bundle.
process.env.MAX_BENCH = join(folder, "bench.mjs")
await import(pathToFileURL(join(folder, "bench.mjs")).href)
