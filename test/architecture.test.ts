import { existsSync, readdirSync, readFileSync } from "node:fs"
import { builtinModules } from "node:module"
import { dirname, join, relative } from "node:path"
import { fileURLToPath } from "node:url"
import { describe, expect, it } from "vitest"

const root = join(dirname(fileURLToPath(import.meta.url)), "..")
const source = join(root, "src")

/** The import table: what the files of a folder may import besides packages and their own folder. */
const MAY_IMPORT: Readonly<Record<string, ReadonlyArray<string>>> = {
  domain: [],
  wire: ["domain"],
  permissions: ["domain"],
  observability: ["domain"],
  database: ["domain", "permissions", "observability", "env.ts"],
  services: ["domain", "wire", "permissions", "database", "observability"],
  tools: ["domain", "wire", "services", "observability"],
  agents: ["domain", "wire", "services", "tools", "observability", "env.ts"],
  channels: [
    "domain",
    "wire",
    "permissions",
    "database",
    "observability",
    "services",
    "tools",
    "agents",
    "env.ts",
    "layers.ts",
    "version.ts"
  ],
  web: ["wire"],
  "env.ts": ["domain", "env"],
  env: ["domain"]
}

/** These may import every folder: the library's surface, the process entry and the layer graph. */
const MAY_IMPORT_EVERYTHING = [
  "index.ts",
  "Max.ts",
  "MaxChanges.ts",
  "MaxInput.ts",
  "MaxLayer.ts",
  "MaxProof.ts",
  "main.ts",
  "layers.ts",
  "version.ts"
]

/** The feature folders of `services`, lowest first, and the other feature folders that each may import. */
const FEATURES: Readonly<Record<string, ReadonlyArray<string>>> = {
  audit: [],
  mail: [],
  catalog: [],
  cells: [],
  conversations: [],
  traces: [],
  members: ["audit", "catalog"],
  network: [],
  secrets: [],
  access: ["audit", "catalog", "mail", "members", "network", "secrets"],
  lookup: ["audit", "catalog", "members"],
  models: ["members", "secrets"],
  actions: ["catalog", "cells", "network"],
  changes: ["actions", "catalog", "cells", "lookup", "members", "network", "policies"],
  texting: ["catalog", "members", "secrets"],
  policies: ["catalog", "cells", "lookup", "members"],
  organizations: ["catalog", "policies"],
  import: ["catalog", "cells", "members", "policies"],
  mapping: ["catalog", "policies"],
  operations: ["catalog", "import", "mapping", "secrets"],
  exports: ["lookup", "operations"],
  administration: [
    "access",
    "audit",
    "catalog",
    "changes",
    "conversations",
    "import",
    "mail",
    "mapping",
    "members",
    "models",
    "operations",
    "organizations",
    "policies",
    "secrets",
    "texting"
  ],
  onboarding: ["access", "catalog", "members", "organizations", "policies"]
}

/** The contracts at the top of `services`, each with the feature folder that holds its parts. */
const CONTRACTS: Readonly<Record<string, string>> = {
  "services/EntityTypeCatalog.ts": "catalog",
  "services/OrgEntityStore.ts": "lookup",
  "services/EntityQueryService.ts": "lookup"
}

/** Packages that only one folder may use, so that a reader knows where to look for them. */
const DOMAIN_PACKAGES = ["libphonenumber-js"]

/** Node's modules that each folder may use. `web` runs in a browser; its build configuration runs in Node. */
const NODE_MODULES: Readonly<Record<string, ReadonlyArray<string>>> = {
  domain: ["crypto"],
  wire: [],
  permissions: [],
  observability: ["crypto", "perf_hooks"],
  tools: [],
  agents: ["crypto"],
  web: []
}

const sourcesOf = (folder: string): ReadonlyArray<string> =>
  readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => /\.(js|tsx?)$/.test(name))

const files = sourcesOf(source)

const specifiersIn = (text: string): ReadonlyArray<string> =>
  [...text.matchAll(/(?:from|import\(|import)\s*"([^"]+)"/g)].map((match) => match[1]!)

const importsOf = (path: string): ReadonlyArray<string> => specifiersIn(readFileSync(path, "utf8"))

/** Imports that are left after compilation: `import type` is erased. */
const runtimeImportsOf = (path: string): ReadonlyArray<string> =>
  specifiersIn(readFileSync(path, "utf8").replaceAll(/^import type [^"]*"[^"]+"/gm, ""))

/** The files of a folder that a file of it imports, as paths from the folder. */
const localImports = (folder: string, file: string, imports = importsOf): ReadonlyArray<string> =>
  imports(join(folder, file))
    .filter((specifier) => specifier.startsWith("."))
    .map((specifier) => relative(folder, join(folder, dirname(file), specifier)))
    .filter((target) => !target.startsWith(".."))

const topOf = (file: string): string => file.split("/")[0]!

const featureOf = (file: string): string | undefined => {
  const [top, folder, ...rest] = file.split("/")
  return top !== "services" ? undefined : rest.length === 0 ? CONTRACTS[file] : folder
}

const cyclesIn = (graph: ReadonlyMap<string, ReadonlyArray<string>>): ReadonlyArray<string> => {
  const done = new Set<string>()
  const cycles: Array<string> = []
  const visit = (node: string, path: ReadonlyArray<string>) => {
    if (path.includes(node)) {
      cycles.push([...path.slice(path.indexOf(node)), node].join(" → "))
      return
    }
    if (done.has(node)) return
    for (const next of graph.get(node) ?? []) visit(next, [...path, node])
    done.add(node)
  }
  for (const node of graph.keys()) visit(node, [])
  return cycles
}

const graphOf = (folder: string): ReadonlyMap<string, ReadonlyArray<string>> =>
  new Map(sourcesOf(folder).map((file) => [file, localImports(folder, file)]))

describe("the layout of src", () => {
  it("keeps every import within the import table", () => {
    const broken = files
      .filter((file) => !MAY_IMPORT_EVERYTHING.includes(file))
      .flatMap((file) => {
        const allowed = MAY_IMPORT[topOf(file)]
        if (allowed === undefined) return [`${file} is in no folder of the import table`]
        return localImports(source, file)
          .filter((target) => topOf(target) !== topOf(file) && !allowed.includes(topOf(target)))
          .map((target) => `${file} imports ${target}`)
      })
    expect(files.length).toBeGreaterThan(300)
    expect(broken).toEqual([])
  })

  it("lets web import only types from wire, so that no schema is in a browser bundle", () => {
    const pages = files.filter((file) => topOf(file) === "web")
    const wireImports = (imports: typeof importsOf) =>
      pages.flatMap((file) =>
        localImports(source, file, imports)
          .filter((target) => topOf(target) === "wire")
          .map((target) => `${file} imports ${target}`)
      )
    expect(wireImports(importsOf).length).toBeGreaterThan(10)
    expect(wireImports(runtimeImportsOf)).toEqual([])
  })

  it("allows exactly the named imports between the feature folders of services", () => {
    const edges = new Map(Object.keys(FEATURES).map((feature) => [feature, new Set<string>()]))
    const misplaced: Array<string> = []
    for (const file of files.filter((name) => topOf(name) === "services")) {
      const feature = featureOf(file)
      const known = feature === undefined ? undefined : edges.get(feature)
      if (known === undefined) {
        misplaced.push(file)
        continue
      }
      for (const target of localImports(source, file).map(featureOf)) {
        if (target !== undefined && target !== feature) known.add(target)
      }
    }
    expect(misplaced).toEqual([])
    expect(Object.fromEntries([...edges].map(([feature, targets]) => [feature, [...targets].sort()]))).toEqual(FEATURES)
  })

  it("orders the feature folders without a cycle", () => {
    expect(cyclesIn(new Map(Object.entries(FEATURES)))).toEqual([])
  })

  it("keeps at most ten files at the top of services", () => {
    expect(files.filter((file) => file.startsWith("services/") && file.split("/").length === 2).length).toBeLessThan(11)
  })

  it("has no import cycle in src, bench or test", () => {
    for (const folder of ["src", "bench", "test"]) expect(cyclesIn(graphOf(join(root, folder)))).toEqual([])
  })

  it("has no source or test of more than 600 lines", () => {
    const long = ["src", "bench", "test"].flatMap((folder) =>
      sourcesOf(join(root, folder))
        .map((file) => ({ file: `${folder}/${file}`, text: readFileSync(join(root, folder, file), "utf8") }))
        .filter(({ file, text }) => !file.includes("/fixtures/") && text.split("\n").length > 601)
        .map(({ file }) => file)
    )
    expect(long).toEqual([])
  })

  it("lets domain use no package but effect and the phone number library", () => {
    const packages = files
      .filter((file) => topOf(file) === "domain")
      .flatMap((file) => importsOf(join(source, file)))
      .filter((specifier) => !/^(\.|effect(\/|$)|node:)/.test(specifier))
      .map((specifier) => specifier.split("/")[0]!)
    expect(new Set(packages)).toEqual(new Set(DOMAIN_PACKAGES))
  })

  it("imports Node's modules only where the table allows them", () => {
    const broken = files
      .filter((file) => NODE_MODULES[topOf(file)] !== undefined && !file.endsWith("config.ts"))
      .flatMap((file) =>
        importsOf(join(source, file))
          .filter((specifier) => specifier.startsWith("node:") || builtinModules.includes(specifier))
          .filter((specifier) => !NODE_MODULES[topOf(file)]!.includes(specifier.replace("node:", "")))
          .map((specifier) => `${file} imports ${specifier}`)
      )
    expect(broken).toEqual([])
  })

  it("lets only env.ts read configuration", () => {
    const readers = files.filter(
      (file) =>
        topOf(file) !== "env" &&
        file !== "env.ts" &&
        /process\.env(?!\["NO_COLOR"\])|\bConfig\b.*from "effect"/.test(readFileSync(join(source, file), "utf8"))
    )
    expect(readers).toEqual([])
  })

  it("has one file for every relative import", () => {
    const missing = files.flatMap((file) =>
      localImports(source, file)
        .filter((target) => !existsSync(join(source, target)))
        .map((target) => `${file} imports ${target}`)
    )
    expect(missing).toEqual([])
  })
})
