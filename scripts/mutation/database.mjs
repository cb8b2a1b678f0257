// The server that mutants are tested on: an embedded one with a migrated database to copy.
// On the server of DATABASE_URL nothing is changed, and every test file migrates its own.
import { spawnSync } from "node:child_process"
import { join } from "node:path"
import { openServer } from "../server.mjs"
import { root } from "../stale.mjs"

const elsewhere = (url) => Object.assign(new URL(url), { pathname: "/postgres" }).href

export const openMutationServer = async () => {
  const { close, url } = await openServer()
  if (process.env.DATABASE_URL) return { close, env: { DATABASE_URL: url } }
  const env = { ...process.env, DATABASE_URL: url }
  const migrated = spawnSync(process.execPath, [join(root, "bin/max"), "migrate"], { env, stdio: "inherit" })
  if (migrated.status !== 0) throw new Error("The database to copy can't be prepared")
  // Nobody may be connected to a database that is copied.
  return { close, env: { DATABASE_URL: elsewhere(url), MAX_TEST_TEMPLATE: new URL(url).pathname.slice(1) } }
}
