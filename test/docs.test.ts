/** What the docs say of the repository is so. */
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { expect, it } from "vitest"

const root = join(import.meta.dirname, "..")
const read = (path: string) => readFileSync(join(root, path), "utf8")

/** The titles that a page's rows name and that their test files don't have. */
const missing = (rows: ReadonlyArray<RegExpExecArray>) =>
  rows.flatMap(([, file, titles]) => {
    const source = read(`test/${file!}`)
    return titles!.split("; ").filter((title) => !source.includes(title))
  })

/** Each file of cells such as "`file`: title; title; `file`: title", with its titles. */
const filesNamed = (cells: ReadonlyArray<RegExpExecArray>) =>
  cells.flatMap(([, cell]) => [...cell!.matchAll(/`([\w/.]+\.test\.ts)`: (.+?)(?=; `|$)/g)])

it("docs/security.md names a test for each attack on changes", () => {
  const cells = [...read("docs/security.md").matchAll(/^\| A\d+ .*\| (`[\w/.]+\.test\.ts`: .+?) *\|$/gm)]
  expect(cells).toHaveLength(31)
  expect(missing(filesNamed(cells))).toEqual([])
})

it("docs/changes.md names tests that exist, by their titles", () => {
  const rows = [...read("docs/changes.md").matchAll(/\| `([\w/.]+\.test\.ts)`: (.+?) *\|$/gm)]
  expect(rows.length).toBeGreaterThan(20)
  expect(missing(rows)).toEqual([])
})

it("docs/actions.md names a test for each line that asked for actions, in order", () => {
  const rows = [...read("docs/actions.md").matchAll(/^\| ([SE]\d+) .*\| `([\w/.]+\.test\.ts)`: (.+?) *\|$/gm)]
  const numbers = (letter: string, first: number, last: number) =>
    Array.from({ length: last - first + 1 }, (_, at) => `${letter}${first + at}`)
  expect(rows.map(([, line]) => line)).toEqual([...numbers("S", 1, 30), ...numbers("E", 4, 15)])
  expect(missing(rows.map(([row, , file, titles]) => [row, file, titles] as unknown as RegExpExecArray))).toEqual([])
})

it("docs/operate.md names tests that exist, by their titles", () => {
  const cells = [...read("docs/operate.md").matchAll(/\| (`[\w/.]+\.test\.ts`: .+?) *\|$/gm)]
  expect(cells.length).toBeGreaterThan(12)
  expect(missing(filesNamed(cells))).toEqual([])
})

const filesIn = (folder: string, ending: RegExp) =>
  readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
    .filter((name) => ending.test(name))
    .map((name) => join(folder, name))

it("docs/troubleshooting.md quotes texts that Max has", () => {
  const sources = filesIn("src", /\.tsx?$/).map(read)
  // A row begins with the text in backticks; of a reason, the text that its row quotes.
  const quoted = [...read("docs/troubleshooting.md").matchAll(/^(?:\| )?`([^`]* [^`]*)`/gm)].map(([, text]) => text!)
  expect(quoted.length).toBeGreaterThan(25)
  const parts = (text: string) =>
    text
      .replace(/ \(ref …\)$/, "")
      .split("…")
      .map((part) => part.trim())
  const isThere = (text: string) => sources.some((source) => parts(text).every((part) => source.includes(part)))
  expect(quoted.filter((text) => !isThere(text))).toEqual([])
})

/** The names of a page's headings in addresses, as GitHub makes them. */
const anchorsOf = (text: string) =>
  [...text.replaceAll(/^```[^]*?^```/gm, "").matchAll(/^#{1,6} (.+)$/gm)].map(([, title]) =>
    title!
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, "")
      .replaceAll(" ", "-")
  )

it("the docs link to files and headings that exist", () => {
  const pages = ["README.md", "CONTRIBUTING.md", "AGENTS.md", ...filesIn("docs", /\.md$/)]
  const broken = pages.flatMap((page) =>
    [
      ...read(page)
        .replaceAll(/^ *```[^]*?^ *```/gm, "")
        .matchAll(/\]\((?!https?:|mailto:)([^)#\s]*)(?:#([^)\s]+))?\)/g)
    ]
      .filter(([, file = "", anchor]) => {
        const path = file === "" ? page : join(dirname(page), file)
        return (
          !existsSync(join(root, path)) ||
          (anchor !== undefined && path.endsWith(".md") && !anchorsOf(read(path)).includes(anchor))
        )
      })
      .map(([link]) => `${page}: ${link}`)
  )
  expect(broken).toEqual([])
})

it("docs/README.md names every page of the docs", () => {
  const index = read("docs/README.md")
  const pages = filesIn("docs", /\.md$/).filter((path) => !/^docs\/(README\.md|adr\/)/.test(path))
  expect(pages.filter((path) => !index.includes(`](${path.slice("docs/".length)})`))).toEqual([])
})
