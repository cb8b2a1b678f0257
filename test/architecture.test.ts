import { readdirSync, readFileSync } from "node:fs"
import { dirname, join, relative } from "node:path"
import { fileURLToPath } from "node:url"
import { describe, expect, it } from "vitest"

const source = join(dirname(fileURLToPath(import.meta.url)), "..", "src")

/** What the files of a folder may import besides effect and their own folder. */
const MAY_IMPORT: Readonly<Record<string, ReadonlyArray<string>>> = {
  domain: [],
  permissions: ["domain"],
  database: ["domain", "permissions", "env.ts"],
  services: ["domain", "permissions", "database"],
  tools: ["domain", "services"],
  agents: ["domain", "services", "tools", "env.ts"],
  observability: ["domain", "env.ts", "version.ts"],
  channels: [
    "domain",
    "permissions",
    "database",
    "services",
    "tools",
    "agents",
    "observability",
    "env.ts",
    "layers.ts",
    "observability.ts",
    "version.ts"
  ],
  web: []
}
const TOP = ["index.ts", "Max.ts", "main.ts", "layers.ts", "env.ts", "observability.ts", "version.ts"]
const ENV_MAY_IMPORT = ["domain"]

/** Packages that only one folder may use, so that a reader knows where to look for them. */
const PACKAGES: Readonly<Record<string, ReadonlyArray<string>>> = {
  domain: ["libphonenumber-js"]
}

const files = readdirSync(source, { recursive: true, encoding: "utf8" }).filter((name) => /\.tsx?$/.test(name))

const importsOf = (file: string): ReadonlyArray<string> =>
  [...readFileSync(join(source, file), "utf8").matchAll(/(?:from|import\()\s*"([^"]+)"/g)].map((match) => match[1]!)

const resolved = (file: string, specifier: string): string => relative(source, join(source, dirname(file), specifier))

const room = (file: string): string => file.split("/")[0]!

describe("the import table", () => {
  it("is kept by every file", () => {
    const broken = files.flatMap((file) => {
      if (TOP.includes(file) && file !== "env.ts") return []
      const allowed = file === "env.ts" ? ENV_MAY_IMPORT : MAY_IMPORT[room(file)]
      if (allowed === undefined) return [`${file} is in no room of the table`]
      return importsOf(file)
        .filter((specifier) => specifier.startsWith("."))
        .map((specifier) => resolved(file, specifier))
        .filter((target) => !target.startsWith("..") && room(target) !== room(file) && !allowed.includes(room(target)))
        .map((target) => `${file} imports ${target}`)
    })
    expect(files.length).toBeGreaterThan(30)
    expect(broken).toEqual([])
  })

  it("lets domain use nothing but effect and the phone number library", () => {
    const packages = files
      .filter((file) => room(file) === "domain")
      .flatMap(importsOf)
      .filter((specifier) => !specifier.startsWith(".") && specifier !== "effect" && !specifier.startsWith("effect/"))
      .map((specifier) => specifier.split("/")[0]!)
    expect(new Set(packages)).toEqual(new Set(PACKAGES["domain"]))
  })

  it("has no cycle", () => {
    const graph = new Map(
      files.map((file) => [
        file,
        importsOf(file)
          .filter((specifier) => specifier.startsWith("."))
          .map((specifier) => resolved(file, specifier))
      ])
    )
    const done = new Set<string>()
    const cycles: Array<string> = []
    const visit = (file: string, path: ReadonlyArray<string>) => {
      if (path.includes(file)) {
        cycles.push([...path.slice(path.indexOf(file)), file].join(" → "))
        return
      }
      if (done.has(file)) return
      for (const next of graph.get(file) ?? []) visit(next, [...path, file])
      done.add(file)
    }
    for (const file of files) visit(file, [])
    expect(cycles).toEqual([])
  })

  it("lets only env.ts read configuration", () => {
    const readers = files.filter(
      (file) =>
        file !== "env.ts" &&
        /process\.env(?!\["NO_COLOR"\])|\bConfig\b.*from "effect"/.test(readFileSync(join(source, file), "utf8"))
    )
    expect(readers).toEqual([])
  })
})
