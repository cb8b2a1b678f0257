/** What the docs say of the repository is so. */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { expect, it } from "vitest"

const root = join(import.meta.dirname, "..")
const read = (path: string) => readFileSync(join(root, path), "utf8")

const namesTests = (rows: ReadonlyArray<RegExpExecArray>, least: number) => {
  expect(rows.length).toBeGreaterThanOrEqual(least)
  for (const [, file, titles] of rows) {
    const source = read(`test/${file!}`)
    for (const title of titles!.split("; ")) expect(source, file).toContain(title)
  }
}

it("docs/security.md names a test for each attack on changes", () =>
  namesTests([...read("docs/security.md").matchAll(/^\| A\d+ .*\| `([\w/.]+\.test\.ts)`: (.+?) *\|$/gm)], 31))

it("docs/changes.md names tests that exist, by their titles", () => {
  namesTests([...read("docs/changes.md").matchAll(/\| `([\w/.]+\.test\.ts)`: (.+?) *\|$/gm)], 20)
})
