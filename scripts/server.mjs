// A Postgres server for many test runs: that of DATABASE_URL, or an embedded one in a temporary folder. It has a migrated
// template database, by name.
import { build } from "esbuild"
import { mkdtempSync, rmSync, symlinkSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { root } from "./stale.mjs"

export const openServer = async () => {
  const folder = mkdtempSync(join(tmpdir(), "max-server-"))
  process.on("exit", () => rmSync(folder, { recursive: true, force: true }))
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"))
  const outfile = join(folder, "server.mjs")
  await build({
    entryPoints: [join(root, "test/support/server.ts")],
    outfile,
    bundle: true,
    format: "esm",
    platform: "node",
    packages: "external",
    logLevel: "warning"
  })
  const { default: start } = await import(pathToFileURL(outfile).href)
  const provided = {}
  const close = await start({ provide: (name, value) => (provided[name] = value) })
  return { provided, url: provided.serverUrl, template: provided.template, close }
}
