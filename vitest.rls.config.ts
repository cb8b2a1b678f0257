/**
 * Repeats the tests that read rows with row-level security switched on: those that import a migrated database from
 * `support/database.ts`, directly or indirectly. Row-level security can't affect the others.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { dirname, join, relative } from "node:path"
import { fileURLToPath } from "node:url"
import { defineConfig, mergeConfig } from "vitest/config"
import { configOf } from "./vitest.config.ts"

const root = dirname(fileURLToPath(import.meta.url))
const databases = join(root, "test/support/database.ts")

/**
 * Excluded: the first two create their databases themselves and test what happens before the switch. The last one compares with a variant
 * that writes without transactions, which name the organization for row-level security: with it, that variant writes nothing at all.
 */
const EXCLUDED = ["database/migrate", "database/upgrade", "services/changes/kill"]

/**
 * Left to `npm run prove -- rls` (MAX_TEST_RLS=all): long, and mostly about what row-level security doesn't touch, such as mapped tables,
 * query plans and backups.
 */
const PROVED = [
  "database/fairness",
  "database/plans",
  "database/silent",
  "services/actions/kill",
  "services/mapping/kinds",
  "services/mapping/recheck",
  "services/mapping/relations",
  "services/mapping/strange",
  "services/operations/Backup",
  "services/operations/Doctor"
]
const isWhole = process.env["MAX_TEST_RLS"] === "all"
const excluded = isWhole ? EXCLUDED : [...EXCLUDED, ...PROVED]
/** A fifth of the corpora; all of them in `npm run prove -- rls`. */
const part: Record<string, string> = { MAX_TEST_PART: isWhole ? "1" : "0.2" }

const cache = new Map<string, boolean>()
const readsRows = (path: string): boolean => {
  const before = cache.get(path)
  if (before !== undefined || path === databases) return before ?? true
  cache.set(path, false)
  // An import in the text of a generated script names no file here.
  const imports = [...readFileSync(path, "utf8").matchAll(/(?:from|import) "(\.[^"]+\.ts)"/g)].map(([, name]) =>
    join(dirname(path), name!)
  )
  const found = imports.some((name) => name.startsWith(join(root, "test")) && existsSync(name) && readsRows(name))
  cache.set(path, found)
  return found
}

const include = ["conformance", "database", "permissions", "services", "tools"]
  .flatMap((folder) =>
    readdirSync(join(root, "test", folder), { recursive: true, encoding: "utf8" }).map((name) =>
      join(root, "test", folder, name)
    )
  )
  .filter((path) => path.endsWith(".test.ts") && !excluded.some((name) => path.endsWith(`/test/${name}.test.ts`)))
  .filter(readsRows)
  .map((path) => relative(root, path))
  .sort()

export default mergeConfig(configOf(include, include), defineConfig({ test: { env: { MAX_TEST_RLS: "on", ...part } } }))
