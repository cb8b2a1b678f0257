// Tells whether a source is newer than the last build. Free of dependencies, because every start from a checkout runs it.
import { readdirSync, statSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"

export const root = join(dirname(fileURLToPath(import.meta.url)), "..")
export const stamp = join(root, "dist", ".built")

const newest = (path) => {
  const stat = statSync(path)
  return stat.isDirectory()
    ? readdirSync(path).reduce((latest, name) => Math.max(latest, newest(join(path, name))), stat.mtimeMs)
    : stat.mtimeMs
}

export const isStale = () => {
  const built = statSync(stamp, { throwIfNoEntry: false })?.mtimeMs ?? 0
  return ["src", "package.json", "tsconfig.json", "scripts"].some((name) => newest(join(root, name)) > built)
}
