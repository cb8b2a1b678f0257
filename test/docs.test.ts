/** What the docs say of the repository is so. */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { expect, it } from "vitest"

const root = join(import.meta.dirname, "..")
const read = (path: string) => readFileSync(join(root, path), "utf8")

it("docs/changes.md names tests that exist, by their titles", () => {
  const rows = [...read("docs/changes.md").matchAll(/\| `([\w/.]+\.test\.ts)`: (.+?) *\|$/gm)]
  expect(rows.length).toBeGreaterThan(20)
  for (const [, file, titles] of rows) {
    const source = read(`test/${file!}`)
    for (const title of titles!.split("; ")) expect(source, file).toContain(title)
  }
})
