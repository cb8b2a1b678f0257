/**
 * Third-party programs to compare Max with: installed from npm with exact versions into bench/peers when a benchmark needs
 * them, and never part of the package.
 */
import { spawnSync } from "node:child_process"
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { createRequire } from "node:module"
import { join } from "node:path"
import { pathToFileURL } from "node:url"

/** Sets of packages, each installed in its own folder. */
const PEERS = {
  pg: { pg: "8.23.1" },
  casl: { pg: "8.23.1", "@casl/ability": "7.0.1", "@ucast/sql": "1.0.0-alpha.12" },
  postgraphile: { postgraphile: "5.1.5", pg: "8.23.1", graphql: "16.12.0" },
  zenstack: {
    "@zenstackhq/orm": "3.9.4",
    "@zenstackhq/plugin-policy": "3.9.4",
    "@zenstackhq/cli": "3.9.4",
    pg: "8.23.1"
  },
  dbhub: { "@bytebase/dbhub": "1.4.0" },
  toolbox: { "@toolbox-sdk/server": "1.12.0" },
  "server-postgres": { "@modelcontextprotocol/server-postgres": "0.6.2" },
  "postgres-mcp-server": { "@henkey/postgres-mcp-server": "1.0.7" }
} as const
export type PeerName = keyof typeof PEERS

export interface Peer {
  readonly folder: string
  readonly load: (name: string) => Promise<Record<string, unknown>>
  readonly resolve: (name: string) => string
}

/** The programs, or one line that explains their absence. */
export const installPeer = (name: PeerName): Peer | string => {
  const folder = join(process.cwd(), "bench", "peers", name)
  const wanted = `${JSON.stringify({ private: true, dependencies: PEERS[name] }, null, 2)}\n`
  const manifest = join(folder, "package.json")
  const done = join(folder, "installed")
  if (!existsSync(done) || readFileSync(done, "utf8") !== wanted) {
    mkdirSync(folder, { recursive: true })
    writeFileSync(manifest, wanted)
    const { status, stderr } = spawnSync(
      "npm",
      ["install", "--silent", "--no-audit", "--no-fund", "--ignore-scripts", "--no-package-lock"],
      { cwd: folder, encoding: "utf8", timeout: 300_000 }
    )
    if (status !== 0) return `npm install failed: ${oneLine(stderr) || `exit ${status}`}`
    writeFileSync(done, wanted)
  }
  const require = createRequire(manifest)
  return {
    folder,
    resolve: require.resolve,
    load: (module) => import(pathToFileURL(require.resolve(module)).href)
  }
}

/** The first informative line of an error. */
export const oneLine = (error: unknown): string =>
  String(error instanceof Error ? error.message : error)
    .split("\n")
    .map((line) => line.trim())
    .find((line) => line !== "" && !line.startsWith("npm warn")) ?? ""
