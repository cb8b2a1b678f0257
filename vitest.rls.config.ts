/**
 * The tests that ask a database for rows, once more with row-level security: those that come to a migrated database of
 * `support/database.ts` by what they import. What has none can't differ.
 */
import { readdirSync, readFileSync } from "node:fs"
import { dirname, join, relative } from "node:path"
import { fileURLToPath } from "node:url"
import { defineConfig, mergeConfig } from "vitest/config"
import base from "./vitest.config.ts"

const root = dirname(fileURLToPath(import.meta.url))
const databases = join(root, "test/support/database.ts")

/** These make their databases themselves, and whatever they are about comes before the switch. */
const BEFORE = ["database/embedded/EmbeddedServer", "database/migrate", "database/upgrade"]

const known = new Map<string, boolean>()
const comesToRows = (path: string): boolean => {
  const before = known.get(path)
  if (before !== undefined || path === databases) return before ?? true
  known.set(path, false)
  const imports = [...readFileSync(path, "utf8").matchAll(/(?:from|import) "(\.[^"]+\.ts)"/g)].map(([, name]) =>
    join(dirname(path), name!)
  )
  const found = imports.some((name) => name.startsWith(join(root, "test")) && comesToRows(name))
  known.set(path, found)
  return found
}

const include = ["conformance", "database", "permissions", "services", "tools"]
  .flatMap((folder) =>
    readdirSync(join(root, "test", folder), { recursive: true, encoding: "utf8" }).map((name) =>
      join(root, "test", folder, name)
    )
  )
  .filter((path) => path.endsWith(".test.ts") && !BEFORE.some((name) => path.endsWith(`/test/${name}.test.ts`)))
  .filter(comesToRows)
  .map((path) => relative(root, path))
  .sort()

export default mergeConfig(
  { ...base, test: { ...base.test, include: [] } },
  defineConfig({ test: { include, env: { MAX_TEST_RLS: "on" } } })
)
