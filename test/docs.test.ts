/** What the docs say of the repository is so. */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { expect, it } from "vitest"

const root = join(import.meta.dirname, "..")
const read = (path: string) => readFileSync(join(root, path), "utf8")

/** The titles that a page's rows name and that their test files don't have. */
const missing = (rows: ReadonlyArray<RegExpExecArray>) =>
  rows.flatMap(([, file, titles]) => {
    const source = read(`test/${file!}`)
    return titles!.split("; ").filter((title) => !source.includes(title))
  })

it("docs/security.md names a test for each attack on changes", () => {
  const rows = [...read("docs/security.md").matchAll(/^\| A\d+ .*\| `([\w/.]+\.test\.ts)`: (.+?) *\|$/gm)]
  expect(rows).toHaveLength(31)
  expect(missing(rows)).toEqual([])
})

it("docs/changes.md names tests that exist, by their titles", () => {
  const rows = [...read("docs/changes.md").matchAll(/\| `([\w/.]+\.test\.ts)`: (.+?) *\|$/gm)]
  expect(rows.length).toBeGreaterThan(20)
  expect(missing(rows)).toEqual([])
})

it("docs/operate.md names tests that exist, by their titles", () => {
  const cells = [...read("docs/operate.md").matchAll(/\| (`[\w/.]+\.test\.ts`: .+?) *\|$/gm)]
  expect(cells.length).toBeGreaterThan(12)
  // A file's titles, and then those of the next file.
  const rows = cells.flatMap(([, cell]) => [...cell!.matchAll(/`([\w/.]+\.test\.ts)`: (.+?)(?=; `|$)/g)])
  expect(missing(rows)).toEqual([])
})
